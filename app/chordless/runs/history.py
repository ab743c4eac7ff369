"""The list of runs: a summary of each run directory in a folder, read from few bytes; and deleting one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from chordless.files import is_leftover, open_to_read, remove, sync_folder
from chordless.graphs.readers.incoming import shown_name
from chordless.protocol.codec import event_from_json
from chordless.protocol.events import Checkpointed, Event, Failed, Finished, Paused, Progress, Started
from chordless.protocol.orders import Pick, RunCommand
from chordless.runs.directory import EDGE_LIST, FILES, RunDirectory
from chordless.runs.mailbox import is_at_work
from kernels_ti import EngineError
from kernels_ti.errors import CheckpointError
from kernels_ti.folders import take_lock

RunStage = Literal["running", "paused", "complete", "stopped", "failed", "lost", "damaged"]

# The checkpoint is deleted first, so that a partly deleted run cannot be resumed. run.json is deleted last, so that
# such a run is still listed, as damaged, and can be deleted again.
_FIRST, _LAST = "checkpoint", "run.json"
_OF_A_RUN = {"checkpoint.new", "commands", "cycles", "detached.log", EDGE_LIST, *FILES}

_PIECE_BYTES = 1 << 14
# At most this much of a recording is read: from its end, and at its beginning.
_MOST_BYTES, _HEAD_BYTES = 1 << 21, 1 << 16
_SECONDS_FOR_THE_LOCK = 0.5


@dataclass(frozen=True)
class RunSummary:
    """The summary of a run directory."""

    path: Path
    graph: str  # Its title: a spec, or the path of a file
    # `n`, `m`: vertices and edges; None if the run never said
    n: int | None
    m: int | None
    # `arch`, `device`: what it ran on last, or the arch that was asked for
    arch: str
    device: str
    # `cycles`, `listed`: found so far, and of those in the output. None are listed by a run that counts.
    cycles: int
    listed: int
    lists: bool  # Whether its cycles are kept in the folder
    seconds: float  # Time of the search in all sessions; of a run that is not over, up to its last report
    share: float  # Share of the search that is done, 0 to 1
    # ``running`` or ``paused``: an engine is in it. ``lost``: none is, and the recording breaks off.
    stage: RunStage
    why: str  # Why it was stopped, failed, or is damaged; empty otherwise
    began: float  # Wall-clock time, seconds
    disk_bytes: int  # The size of the folder on the disk
    pick: Pick = "all"  # Which cycles it was asked for, see `chordless.protocol.orders.RunCommand`
    has_checkpoint: bool = True  # Whether there is one in the folder
    command: RunCommand | None = None  # What it was asked for; None if that cannot be read
    level: int = 0  # Vertices of the longest paths that wait
    unlisted: int = 0  # Cycles that a stopped listing has in its checkpoint, but not in the list
    pid: int = 0  # The process of the engine that is in it

    @property
    def is_at_work(self) -> bool:
        """Whether an engine is in it."""
        return self.stage in ("running", "paused")

    @property
    def can_resume(self) -> bool:
        """Whether the engine can resume it: something is left to search or to count, and there is a checkpoint."""
        return self.stage in ("stopped", "failed", "lost") and self.has_checkpoint


def list_runs(folder: Path, elsewhere: Iterable[Path] = ()) -> list[RunSummary]:
    """Summarize every run directory in a folder, which may be missing, and those `elsewhere`, the newest first.

    Only the ends of long recordings are read. An EngineError says that the folder cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            paths = [Path(entry.path) for entry in entries if entry.is_dir()]
    except FileNotFoundError:
        paths = []
    except OSError as error:
        raise EngineError(f"cannot read {folder}: {error.strerror}") from error
    here = {path.resolve() for path in paths}
    paths += [path for path in elsewhere if path.resolve() not in here]
    found = [summary for path in paths if (summary := summarize(path)) is not None]
    return sorted(found, key=lambda summary: (-summary.began, summary.path.name))


def summarize(path: Path) -> RunSummary | None:
    """Summarize one run directory; None if it has no ``run.json``, or one that this program has not written."""
    run = RunDirectory(path)
    try:
        status = os.stat(path / _LAST)
        names = set(os.listdir(path)) - {_LAST}
    except OSError:
        return None
    graph, arch, lists, began = path.name, "", False, status.st_mtime
    pick: Pick = "all"
    command: RunCommand | None = None
    events: list[Event] = []
    try:
        command = run.command()
        began = float(run.began_with()["began"] or began)
        graph, arch, lists = command.graph, command.arch, command.output_format == "parts"
        pick = command.pick
        events = _telling_events(run.events)
        stage, why = _stage(path, events)
    except CheckpointError as error:
        if _foreign(names) or (status.st_size and not names):
            # A file of that name from another program.
            return None
        stage, why = ("running", "") if is_at_work(path) else ("damaged", str(error).removeprefix(f"{path}{os.sep}"))
    except (OSError, ValueError) as error:
        stage, why = "damaged", f"{_LAST} cannot be read: {error}"
    start = next((event for event in events if isinstance(event, (Finished, Started))), None)
    counts = next((event for event in events if isinstance(event, (Finished, Progress, Checkpointed))), None)
    report = next((event for event in events if isinstance(event, (Finished, Progress))), None)
    unlisted = 0
    if lists and pick == "all" and stage == "stopped" and isinstance(counts, (Finished, Checkpointed)):
        # The last counts are those of the checkpoint.
        unlisted = counts.cycles - counts.listed
    seconds = 0.0 if report is None else report.enumerate_seconds if isinstance(report, Finished) else report.seconds
    return RunSummary(
        path=path,
        graph=shown_name(start.graph if start else graph),
        n=start.n if start else None,
        m=start.m if start else None,
        arch=start.arch if start else arch,
        device=start.device if start else "",
        cycles=counts.cycles if counts else 0,
        listed=counts.listed if counts else 0,
        lists=lists,
        seconds=seconds,
        share=report.share if report else 0.0,
        stage=stage,
        why=why,
        began=began,
        disk_bytes=_disk_bytes(path),
        pick=pick,
        has_checkpoint=_FIRST in names,
        command=command,
        level=max(report.waiting_by_length, default=0) if report else 0,
        pid=start.pid if isinstance(start, Started) and stage in ("running", "paused") else 0,
        unlisted=unlisted,
    )


def foreign_files(path: Path) -> list[str]:
    """List the files in a run directory that do not belong to the run, such as an export of its cycles."""
    return sorted(_foreign(set(os.listdir(path))))


def _foreign(names: set[str]) -> set[str]:
    return {name for name in names - _OF_A_RUN if not is_leftover(name, _FIRST)}


def delete_run(path: Path) -> None:
    """Delete a run directory with everything in it. If the process is killed meanwhile, the run is listed as damaged.

    It can be deleted again, but not resumed. Raises CheckpointError if an engine is at work in it or it is no run
    directory, EngineError for a file that stays.
    """
    if path.is_symlink():
        # Earlier versions linked the folder of a run that was wanted elsewhere.
        delete_run(path.resolve())
        path.unlink()
        return
    if summarize(path) is None:
        raise CheckpointError(f"{path} is not the folder of a run: nothing was deleted")
    if is_at_work(path):
        raise _at_work(path)
    try:
        lock = os.open(path / _LAST, os.O_RDWR)
        try:
            # Another dashboard that looks at the run holds the lock as well, for a moment.
            if not take_lock(lock, _SECONDS_FOR_THE_LOCK):
                raise _at_work(path)
            others = sorted(set(os.listdir(path)) - {_FIRST, _LAST})
            (path / _FIRST).unlink(missing_ok=True)
            sync_folder(path)
            for name in others:
                remove(path / name)
            (path / _LAST).unlink()
            path.rmdir()
        finally:
            os.close(lock)
    except OSError as error:
        raise EngineError(f"cannot delete {error.filename or path}: {error.strerror}") from error


def _stage(path: Path, events: list[Event]) -> tuple[RunStage, str]:
    if is_at_work(path):
        newest = next((event for event in events if isinstance(event, (Paused, Progress, Started))), None)
        return "paused" if isinstance(newest, Paused) else "running", ""
    missing = [name for name in (_FIRST, "graph.json") if not (path / name).exists()]
    if missing:
        return "damaged", f"it has no {' and no '.join(missing)}"
    last = next((event for event in events if isinstance(event, (Finished, Failed, Started, Progress))), None)
    if isinstance(last, Finished):
        return ("complete", "") if last.complete else ("stopped", last.reason)
    if isinstance(last, Failed):
        return ("stopped", "interrupted") if last.stopped else ("failed", last.message)
    return "lost", ""


def _telling_events(path: Path) -> list[Event]:
    """Read the last events of a recording up to one with counts, the newest first, and the first that tells the graph.

    The checkpoint decides whether a run can be resumed, so a line that is not an event is skipped here.
    """
    events: list[Event] = []
    try:
        with open_to_read(path) as stream:
            for line in _last_lines(stream):
                with contextlib.suppress(EngineError):
                    events.append(event_from_json(line))
                    if isinstance(events[-1], (Finished, Progress)):
                        break
            if not any(isinstance(event, (Finished, Started)) for event in events):
                events.extend(_first_start(stream))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from error
    return events


def _first_start(stream: IO[bytes]) -> Iterator[Started]:
    stream.seek(0)
    for line in stream.read(_HEAD_BYTES).split(b"\n")[:-1]:
        with contextlib.suppress(EngineError):
            event = event_from_json(line)
            if isinstance(event, Started):
                yield event
                return


def _last_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield complete lines from the end of a file backwards, leaving out an incomplete last line."""
    start = stream.seek(0, os.SEEK_END)
    least = max(start - _MOST_BYTES, 0)
    tail, is_torn = b"", True
    while start > least:
        size = min(_PIECE_BYTES, start - least)
        start -= size
        stream.seek(start)
        tail, *lines = (stream.read(size) + tail).split(b"\n")
        if lines and is_torn:
            lines.pop()
            is_torn = False
        yield from (line for line in reversed(lines) if line)
    if start == 0 and tail and not is_torn:
        yield tail


def _disk_bytes(path: Path) -> int:
    total = 0
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                total += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    total += _disk_bytes(Path(entry.path))
    except OSError:
        # The folder was deleted or renamed meanwhile.
        return total
    return total


def _at_work(path: Path) -> CheckpointError:
    return CheckpointError(f"an engine is at work in {path}: stop it first")
