"""A recorded run for pictures and reports: its last state and its options."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from chordless.protocol.events import BatchStarted, Finished, Started
from chordless.protocol.recording import recorded
from chordless.runs.directory import RunDirectory, resume_line
from chordless.runs.mailbox import is_at_work
from chordless.runs.merge import merged, read_result
from chordless.runs.state import ENDINGS, RunState
from kernels_ti import EngineError, OptionError


@dataclass(frozen=True)
class RecordedRun:
    """A run that was read from a run directory or a recording."""

    path: Path  # The run directory or the recording
    state: RunState  # At the end of the recording
    # The last event of a run that has ended; None if the recording has no end yet, or lost it
    finished: Finished | None
    directory: RunDirectory | None  # None for a recording without a directory. It has no cycles
    program: str | None = None  # The version of the program that started the run; None if it is unknown

    @property
    def has_lengths(self) -> bool:
        """Whether there are counts by length. The boundary method may give only a total."""
        return sum(self.state.cycles_by_length.values()) == self.state.cycles

    @property
    def is_along_boundary(self) -> bool:
        """Whether the boundary method was used, which expands no paths."""
        return self.state.options.get("method") == "boundary"

    @property
    def picks(self) -> bool:
        """Whether the run drew cycles at random, or looked for the best ones, and tells of no others."""
        return bool(self.state.options.get("pick", "all") != "all")

    @property
    def title(self) -> str:
        """A phrase for what was searched."""
        graph = self.state.graph
        return f"the niche overlap graph of {graph}" if self.state.options.get("overlap") else graph

    def shortfall(self) -> str:
        """Why the counts are lower bounds; "" for a complete run."""
        state = self.state
        if state.phase == "finished" and state.reason is not None:
            return "" if state.reason == "complete" else ENDINGS[state.reason]
        if state.phase == "failed":
            return "failed"
        return "broken off" if state.phase == "lost" else "still at work"


def read_run(path: str | Path) -> RecordedRun:
    """Read a run directory, or a recording made with ``--events``.

    A CheckpointError is raised if `path` is a folder without a run; an OptionError if it does not exist, cannot be
    read, or is not a recording; or if the recording ends before the search began.
    """
    path = Path(path)
    directory = RunDirectory(path) if os.path.isdir(path) else None
    program = None
    if directory is not None:
        # This raises an error for a folder without a run.
        directory.command()
        program = directory.began_with()["program"]
    elif not os.path.exists(path):
        raise OptionError(f"{path}: there is no such run directory, and no such recording")
    recording = path if directory is None else directory.events
    if not os.path.exists(recording):
        is_kept = directory is not None and directory.checkpoint.exists()
        more = f": `{resume_line(path)}` writes a new one" if is_kept else "; the run has no checkpoint to go on from"
        raise OptionError(f"{recording} is missing, which tells the course of the run{more}")
    try:
        events = list(recorded(recording, pipes=directory is None))
    except EngineError as error:
        raise OptionError(str(error)) from error
    if not events:
        raise OptionError(f"{recording}: this is not a recording: it has not one whole line")
    if any(isinstance(event, BatchStarted) for _, event in events):
        raise OptionError(
            f"{path}: this is the recording of a batch, not of one search; `chordless plot OUT.jsonl` draws its lines"
        )
    if not any(isinstance(event, Started) for _, event in events):
        raise OptionError(f"{path}: no search had begun when this was recorded, there is nothing to draw")
    state = RunState().after(events)
    if directory is None or not is_at_work(path):
        state = state.lost()
    if program is None:
        program = next((event.program for _, event in events if isinstance(event, Started)), None)
    last = next((event for _, event in reversed(events) if isinstance(event, (Started, Finished))), None)
    return RecordedRun(path, state, last if isinstance(last, Finished) else None, directory, program)


def read_runs(paths: Sequence[str]) -> RecordedRun:
    """Read a run, or merge all parts of one search into one run, see `chordless.runs.merge.read_result`.

    The directory of merged parts is that of the part with the longest cycle. Errors are those of `read_run` and
    `chordless.runs.merge.check_parts`.
    """
    if len(paths) == 1:
        return read_run(paths[0])
    results = [read_result(path) for path in paths]
    command, finished = merged(results)
    longest = max(
        results, key=lambda result: max((t for t, k in result.finished.cycles_by_length.items() if k), default=0)
    )
    options = {key: value for key, value in asdict(command).items() if key not in ("graph", "program_start")}
    started = Started(
        finished.graph, finished.n, finished.m, finished.max_degree, finished.arch, finished.device,
        finished.setup_seconds, 0, options,
    )  # fmt: skip
    directories = [RunDirectory(Path(result.source)) for result in results if Path(result.source).is_dir()]
    # A file of `count --json` does not tell when its part began.
    dated = directories if len(directories) == len(results) else []
    began = min((next(recorded(directory.events))[0] for directory in dated), default=0.0)
    state = RunState().after([(began, started), (began, finished)])
    directory = RunDirectory(Path(longest.source)) if Path(longest.source).is_dir() else None
    return RecordedRun(Path(longest.source), state, finished, directory, finished.program)
