"""One run of the engine for a subcommand, of a graph or of a batch: signals, progress, recording, exit code."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING

from chordless.batch.client import BatchClient
from chordless.commands.terminal import BatchDisplay, ProgressDisplay, is_live
from chordless.commands.writing import THE_GRAPH, require_other_files
from chordless.engine.at_once import searched_at_once
from chordless.engine.process import EngineProcess, record
from chordless.files import open_alone, remove_abandoned, writing
from chordless.graphs.readers.incoming import Limits
from chordless.protocol.events import BatchFinished, BatchProgress, Event, Failed, Finished, Progress, Started
from chordless.protocol.orders import BatchCommand, BatchJob, RunCommand
from chordless.runs.directory import way_on_of
from chordless.runs.elsewhere import note_folder
from chordless.termination import SAME_SIGNAL_SECONDS
from chordless.words.shown import on_terminal
from kernels_ti import ChordlessError, EngineError
from kernels_ti.errors import NoOrderError

if TYPE_CHECKING:
    from chordless.graphs.load import LoadedGraph

STOPPED_EXIT_CODE, FAILED_EXIT_CODE = 4, 5
_TICK_SECONDS, _TICK_OF_BATCH = 0.2, 0.1
_LAST_WORDS_SHOWN = 30


class InterruptedRunError(ChordlessError):
    """A signal, `number`, ended the run before there was anything to report."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number
        self.exit_code = 128 + number


class Signals:
    """Handles Ctrl-C, SIGTERM and hang-up while in force: the first stops the engine, a second kills it.

    A second hang-up changes nothing. Signals within `SAME_SIGNAL_SECONDS` count as one.
    """

    def __init__(self, engine: EngineProcess | BatchClient, display: ProgressDisplay) -> None:
        self._engine = engine
        self._display = display
        self.received: int | None = None
        self.killed = False
        self._at = 0.0
        self._terminals = [descriptor for descriptor in (1, 2) if os.isatty(descriptor)]

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Stop the engine at the first signal, kill it at the second."""
        if number == signal.SIGHUP:
            for descriptor in self._terminals:
                # The terminal is gone, so writing to it would fail.
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
            if self.received is not None:
                return
        now = time.monotonic()
        if self.received is not None and now - self._at < SAME_SIGNAL_SECONDS:
            return
        self._at = now
        if self.received is None and self._engine.search_began:
            self._engine.stop()
        else:
            self.killed = True
            self._engine.kill()
        self.received = self.received or number
        self._display.stopping = True

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """Handle the signals while the block runs."""
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup ignores it
            numbers.append(signal.SIGHUP)
        before = {number: signal.signal(number, self.handle) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def ended_by(number: int) -> str:
    """Return how a signal ended the program."""
    return "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"


def recording_of(options: argparse.Namespace, stack: contextlib.ExitStack) -> IO[str] | None:
    """Open the file of ``--events``, if one is given; the stack closes it."""
    if options.events is None:
        return None
    with writing(options.events):
        descriptor = open_alone(options.events, os.O_CREAT | os.O_TRUNC)
        return stack.enter_context(open(descriptor, "w", encoding="utf-8"))


def run_engine(command: RunCommand, options: argparse.Namespace) -> tuple[Finished, int]:
    """Run the engine to its end, showing progress and obeying signals; return its last event and the exit code."""
    live = is_live(sys.stderr) and not (command.output == "-" and sys.stdout.isatty())
    mode = "none" if options.quiet else options.progress
    _require_other_files(command, options.events)
    display = ProgressDisplay(
        mode, sys.stderr, live=live, things=f"{command.thing}s", pick=command.pick, is_resumed=command.resume
    )
    with contextlib.ExitStack() as stack:
        recording = recording_of(options, stack)
        events = searched_at_once(command)
        if events is not None:
            return _end_of(events, recording, quiet=options.quiet)
        engine = stack.enter_context(EngineProcess(command, recording=recording, impatient=True))
        if command.checkpoint is not None:
            # Nobody asked for the note: a home that cannot be written to does not matter to the run.
            with contextlib.suppress(EngineError):
                note_folder(command.checkpoint)
        stack.callback(display.clear)
        signals = Signals(engine, display)
        with signals.in_force():
            try:
                end = _follow(engine, display, quiet=options.quiet)
            except EngineError as error:
                if command.checkpoint is None or engine.directory is None:
                    raise
                raise EngineError(f"{error}; {_last_checkpoint(command.checkpoint)}") from error
        display.clear()
        resumable = command.checkpoint if engine.directory is not None else None
        if engine.was_cut_short and command.output_format in ("parquet", "arrow") and command.output is not None:
            assert signals.received is not None
            remove_abandoned(Path(os.path.realpath(command.output)))
            raise InterruptedRunError(
                signals.received, f"interrupted while kernels were compiled; no part of {command.output} is kept"
            )
        if signals.killed and signals.received is not None and not isinstance(end, Finished):
            when = "" if engine.search_began else " before the search began"
            how = "nothing to report" if resumable is None else _last_checkpoint(resumable)
            raise InterruptedRunError(signals.received, f"{ended_by(signals.received)}{when}, {how}")
        if isinstance(end, Failed):
            _explain(end, engine)
            goes_on = end.kind != NoOrderError.__name__ and "chordless resume" not in end.message
            if goes_on and resumable is not None:
                end = replace(end, message=f"{end.message}; {_last_checkpoint(resumable)}")
            raise end.to_error()
    return end, _exit_code(end, signals.received)


@dataclass(frozen=True)
class BatchOutcome:
    """How a batch ended."""

    end: BatchFinished
    deaths: int  # How many engines died on the way
    exit_code: int


def run_batch(
    command: BatchCommand,
    options: argparse.Namespace,
    *,
    meanwhile: Callable[[], None] | None = None,
    way_on: str | None = None,
) -> BatchOutcome:
    """Run the engine to its end, showing progress and obeying signals; a ChordlessError if the batch came to no end.

    `meanwhile` is called several times a second, and writes to standard output. `way_on` tells the user how to go on.
    """
    to_terminal = meanwhile is not None and sys.stdout.isatty()
    mode = "none" if options.quiet else options.progress
    display = BatchDisplay(mode, sys.stderr, live=is_live(sys.stderr) and not to_terminal)
    with contextlib.ExitStack() as stack:
        recording = recording_of(options, stack)
        batch = stack.enter_context(BatchClient(command, recording=recording))
        stack.callback(display.clear)
        signals = Signals(batch, display)
        end: BatchFinished | Failed | None = None
        with signals.in_force():
            while end is None:
                event = batch.poll(_TICK_OF_BATCH)
                if isinstance(event, (BatchFinished, Failed)):
                    end = event
                if meanwhile is not None:
                    meanwhile()
                display.show_warning(event)
                display.show_batch(event if isinstance(event, BatchProgress) else None)
        display.clear()
        if isinstance(end, Failed):
            if signals.killed and signals.received is not None:
                why = f"interrupted at once; {way_on or 'nothing more to report'}"
                raise InterruptedRunError(signals.received, why)
            hint = f"; {way_on}" if batch.search_began and way_on else ""
            raise EngineError(f"{end.message}{hint}") if batch.engine.died else end.to_error()
    exit_code = FAILED_EXIT_CODE if end.failed else STOPPED_EXIT_CODE if end.stopped else 0
    if end.reason == "interrupted" and signals.received is not None:
        exit_code = 128 + signals.received
    return BatchOutcome(end, batch.engines - 1, exit_code)


def warn_of_missing_types(jobs: Iterable[BatchJob]) -> None:
    """Print a warning to standard error if food webs have no types, and nobody says that they need none."""
    webs = [job for job in jobs if job.overlap and job.types is None]
    if not webs:
        return
    from chordless.graphs.overlap import lacks_types, warning_of_missing_types

    untyped = [web.graph for web in webs if lacks_types(web.graph, web.encoding)]
    if untyped:
        sys.stderr.write(f"warning: {warning_of_missing_types(untyped)}\n")


def _require_other_files(command: RunCommand, events: str | None) -> None:
    """Raise an OptionError if an output of a run would destroy its graph, its folder or another output."""
    to_file = command.output != "-" and command.output_format != "parts"
    outputs = {"-o": command.output if to_file else None, "--write-order": command.write_order, "--events": events}
    read = {THE_GRAPH: command.graph, "the file of --weight": command.weight, "the file of --order": command.order}
    # The listing of a resumed run stays where it is.
    require_other_files(read.items(), outputs, None if command.resume else command.checkpoint)
    require_other_files([], {"--events": events}, command.checkpoint)


def _end_of(events: Sequence[Event], recording: IO[str] | None, *, quiet: bool) -> tuple[Finished, int]:
    for event in events:
        if recording is not None:
            record(recording, event)
        if isinstance(event, Started) and not quiet:
            print_notes(event.notes)
    end = events[-1]
    assert isinstance(end, Finished)
    return end, _exit_code(end, None)


def print_way_on(finished: Finished, ended: str = "") -> None:
    """Print the command that resumes a run that was stopped, if there is a checkpoint, to standard error.

    `ended` comes first.
    """
    if finished.checkpoint is not None and not finished.complete:
        line = f"{ended}to go on from the checkpoint: {way_on_from(finished.checkpoint, finished)}"
        sys.stderr.write(f"{on_terminal(line, sys.stderr)}\n")


def way_on_from(checkpoint: str, finished: Finished) -> str:
    """Return the command that goes on from the checkpoint of a run that was stopped, and whether it begins anew."""
    is_begun = finished.share or finished.paths or finished.cycles  # A wave tells no share.
    return way_on_of(checkpoint) + ("" if is_begun else " (from the beginning, as no part was done yet)")


def graph_asked_for(options: argparse.Namespace) -> LoadedGraph:
    """Load the graph that a command line names, in this process, and print what its reader has to tell."""
    from chordless.graphs.load import load_as

    loaded = load_as(options, Limits(options.memory))
    if not getattr(options, "quiet", False):
        print_notes(loaded.notes)
    return loaded


def print_notes(notes: Sequence[str]) -> None:
    """Say on standard error what the reader of the graph has to tell."""
    for note in notes:
        sys.stderr.write(f"{on_terminal(note, sys.stderr)}\n")


def _follow(engine: EngineProcess, display: ProgressDisplay, *, quiet: bool) -> Finished | Failed:
    while not isinstance(event := engine.poll(_TICK_SECONDS), (Finished, Failed)):
        if isinstance(event, Started) and not quiet:
            display.clear()
            print_notes(event.notes)
        display.show_warning(event)
        display.show(event if isinstance(event, Progress) else None)
    return event


def _last_checkpoint(directory: str) -> str:
    return f"to go on from the last checkpoint: {way_on_of(directory)}"


def _exit_code(finished: Finished, received: int | None) -> int:
    if finished.complete:
        return 0
    return 128 + received if received is not None and finished.reason == "interrupted" else STOPPED_EXIT_CODE


def _explain(failed: Failed, engine: EngineProcess) -> None:
    if not os.environ.get("CHORDLESS_DEBUG"):
        return
    for line in list(engine.last_words)[-_LAST_WORDS_SHOWN:]:
        sys.stderr.write(f"engine: {line}\n")
    if failed.traceback is not None:
        sys.stderr.write(failed.traceback)
