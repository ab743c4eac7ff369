"""A run that was recorded, as pictures and reports need it: where its search stood last, and what was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from chordless.protocol.events import Finished, Started
from chordless.protocol.recording import recorded
from chordless.runs.directory import RunDirectory
from chordless.runs.mailbox import is_at_work
from chordless.runs.merge import merged, read_result
from chordless.runs.state import ENDINGS, RunState
from kernels_ti import EngineError, OptionError


@dataclass(frozen=True)
class RecordedRun:
    """What a run directory, or a recording alone, tells.

    Parameters
    ----------
    path : Path
        The run directory or the recording.
    state : RunState
        Where the search stands at the end of the recording.
    finished : Finished or None
        The last event of a run that came to an end; None where the recording breaks off or goes on.
    directory : RunDirectory or None
        None for a recording alone, which has no cycles.
    program : str or None
        The version of the program that began the run, where it is known.
    """

    path: Path
    state: RunState
    finished: Finished | None
    directory: RunDirectory | None
    program: str | None = None

    @property
    def has_lengths(self) -> bool:
        """Whether the counts tell lengths apart; one along a boundary may not have."""
        return sum(self.state.cycles_by_length.values()) == self.state.cycles

    @property
    def is_along_boundary(self) -> bool:
        """Whether it is a count along a boundary, which meets no paths and has one thread."""
        return self.state.options.get("method") == "boundary"

    @property
    def title(self) -> str:
        """What was searched, in words."""
        graph = self.state.graph
        return f"the niche overlap graph of {graph}" if self.state.options.get("overlap") else graph

    def shortfall(self) -> str:
        """Say why the counts are lower bounds; empty for a complete run."""
        state = self.state
        if state.phase == "finished" and state.reason is not None:
            return "" if state.reason == "complete" else ENDINGS[state.reason]
        if state.phase == "failed":
            return "failed"
        return "broken off" if state.phase == "lost" else "still at work"


def read_run(path: str | Path) -> RecordedRun:
    """Read a run directory, or a recording that ``--events`` has made.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    RecordedRun

    Raises
    ------
    CheckpointError
        If the folder holds no run.
    OptionError
        If there is nothing of that name, or nothing recorded, or no search had begun when the recording ended; if the
        recording cannot be read, or is none.
    """
    path = Path(path)
    directory = RunDirectory(path) if path.is_dir() else None
    program = None
    if directory is not None:
        # It refuses a folder without a run.
        directory.command()
        program = json.loads((path / "run.json").read_bytes()).get("program")
    elif not path.exists():
        raise OptionError(f"{path}: there is no such run directory, and no such recording")
    recording = path if directory is None else directory.events
    try:
        events = list(recorded(recording))
    except EngineError as error:
        raise OptionError(str(error)) from error
    if not events:
        raise OptionError(f"{recording}: this is not a recording: it has not one whole line")
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
    """Read a run, or all the parts of one search as the run that would have found all.

    Parameters
    ----------
    paths : sequence of str
        One run directory or recording; or several results of parts, see `chordless.runs.merge.read_result`.

    Returns
    -------
    RecordedRun
        Of several, its directory is that of the part with the longest cycle.

    Raises
    ------
    CheckpointError, OptionError
        See `read_run` and `chordless.runs.merge.check_parts`.
    """
    if len(paths) == 1:
        return read_run(paths[0])
    results = [read_result(path) for path in paths]
    command, finished = merged(results)
    longest = max(results, key=lambda result: max(_lengths(result.finished), default=0))
    options = {key: value for key, value in asdict(command).items() if key not in ("graph", "program_start")}
    started = Started(
        finished.graph, finished.n, finished.m, finished.max_degree, finished.arch, finished.device,
        finished.setup_seconds, 0, options,
    )  # fmt: skip
    directories = [RunDirectory(Path(result.source)) for result in results if Path(result.source).is_dir()]
    began = min((_began(directory) for directory in directories), default=0.0)
    state = RunState().after([(began, started), (began, finished)])
    directory = RunDirectory(Path(longest.source)) if Path(longest.source).is_dir() else None
    return RecordedRun(Path(longest.source), state, finished, directory, finished.program)


def _lengths(finished: Finished) -> list[int]:
    return [length for length, count in finished.cycles_by_length.items() if count]


def _began(directory: RunDirectory) -> float:
    return next(time for time, _ in recorded(directory.events))
