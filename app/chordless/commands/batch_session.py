"""One run of the engine on behalf of a command about many graphs: signals, progress, recording, exit code."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chordless.batch.client import BatchClient
from chordless.commands.session import STOPPED_EXIT_CODE, InterruptedRunError, Signals, recording_of
from chordless.commands.terminal import BatchDisplay, is_live
from chordless.protocol.events import BatchFinished, BatchProgress, Failed
from chordless.protocol.orders import BatchCommand, BatchJob
from kernels_ti import EngineError

FAILED_EXIT_CODE = 5
_TICK_SECONDS = 0.1


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
                event = batch.poll(_TICK_SECONDS)
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
