"""Browsing the cycles of a run directory, while the run may still be adding some."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from chordless.cycles.index import CycleIndex
from chordless.cycles.paths import walker_of
from chordless.cycles.read import CycleStore, Rows, read_rows, row_words
from chordless.graphs.load import LoadedGraph
from chordless.runs.checkpoint import read_position
from chordless.runs.directory import RunDirectory
from chordless.runs.mailbox import is_at_work
from kernels_ti import ChordlessError, EngineError, GraphError, OptionError
from kernels_ti.cycles import Cycles
from kernels_ti.graph import IntArray

_NEW_SESSION = b'"event": "started"'


class PartRows:
    """The rows of a part, read on request; they begin at byte `offset`.

    This is not a memory map, because an engine that resumes the run cuts the file back to its checkpoint, and touching
    a mapped page that is gone kills the process.
    """

    def __init__(self, path: Path, offset: int, shape: tuple[int, int]) -> None:
        self.path = path
        self.shape = shape
        self._offset = offset

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, which: slice) -> Rows:
        """Read a slice of step 1; an EngineError if the file is gone, or shorter than it was."""
        start, stop, _ = which.indices(len(self))
        rows, words = max(stop - start, 0), self.shape[1]
        try:
            read = np.fromfile(self.path, "<u8", rows * words, offset=self._offset + start * words * 8)
        except OSError as error:
            raise EngineError(f"{self.path}: cannot be read: {error.strerror or error}") from error
        if len(read) < rows * words:
            raise EngineError(f"{self.path}: its last cycles have been cut off, the run is going on from a checkpoint")
        return read.reshape(rows, words)


@dataclass(frozen=True)
class FoundCycle:
    """A cycle to show."""

    position: int  # Number of cycles that the run found before it
    # int64, shape (length,): vertex indices in cycle order; empty where `error` says why they cannot be shown
    vertices: IntArray
    error: str | None = None


class RunCycles:
    """The cycles of a run directory, in the order in which they were found.

    While an engine is at work in the directory, all cycles in the files are shown. Afterwards only those up to the
    checkpoint are: the others are cut off when the run is resumed, and may be damaged after a crash of the machine.
    `store` and `at_work` are as of the last `refresh`; `session` increases whenever a position may stand for a
    different cycle than before. Raises CheckpointError for no run or a damaged one, OptionError for one that keeps
    no cycles, or lists to another place. `thing` is the word for one of what it has listed: ``cycle``, or ``path``.
    """

    def __init__(self, path: Path) -> None:
        self.directory = RunDirectory(Path(path))
        command = self.directory.command()
        if command.output is None:
            raise OptionError(f"this run keeps no {command.thing}s; `{command.lister} -o DIR/` does")
        if command.output_format != "parts":
            raise OptionError(
                f"the {command.thing}s of this run are in {command.output}: only run directories can be browsed"
            )
        self.thing = command.thing
        self.loaded: LoadedGraph = self.directory.graph()
        self._walker = walker_of(command, self.loaded.graph)
        self.store = CycleStore([])
        self.at_work = False
        self.session = 0
        self._checkpoint_seen: tuple[int, int] | None = None
        self._position: dict[str, int] | None = None
        self._events_read = _size(self.directory.events)
        self.refresh()

    def __len__(self) -> int:
        return len(self.store)

    def refresh(self) -> bool:
        """Update the set of cycles; return whether it has changed.

        A ChordlessError says that a part is missing or damaged. Where an engine is at work, it may just be making a new
        part, and the cycles known before stay.
        """
        was = (len(self.store), self.session, self.at_work)
        if self._has_begun_again():
            self.session += 1
        # Without a checkpoint, an engine may be about to take the lock, and must not find it taken.
        self.at_work = not self.directory.checkpoint.exists() or is_at_work(self.directory.path)
        try:
            maps = read_rows(self.directory.path, None if self.at_work else self._vouched())
        except ChordlessError:
            if self.at_work:
                return was != (len(self.store), self.session, self.at_work)
            raise
        words = row_words(self.loaded.graph.n)
        if any(rows.shape[1] != words for rows in maps):
            raise OptionError(f"{self.directory.path} holds the cycles of another graph")
        parts = [
            PartRows(Path(str(rows.filename)), rows.offset, (len(rows), words))
            for rows in maps
            if isinstance(rows, np.memmap) and rows.filename is not None
        ]
        # A store needs of a part only what a memory map offers as well: its length, its shape, a slice.
        store = CycleStore(cast("list[Rows]", parts))
        if len(store) < len(self.store):
            self.session += 1
        self.store = store
        return was != (len(self.store), self.session, self.at_work)

    def found(self, positions: IntArray) -> list[FoundCycle]:
        """Read the cycles at any positions, shape (k,), in the same order, with their vertices in cycle order."""
        if len(positions) == 0:
            return []
        try:
            cycles = self.cycles_at(positions)
            pieces = np.split(cycles.vertices, cycles.offsets[1:-1])
            return [FoundCycle(int(position), piece) for position, piece in zip(positions, pieces, strict=True)]
        except (GraphError, EngineError) as error:
            if len(positions) > 1:
                return [cycle for at in range(len(positions)) for cycle in self.found(positions[at : at + 1])]
            reason = "not a chordless cycle of this graph" if isinstance(error, GraphError) else "no longer there"
            return [FoundCycle(int(positions[0]), np.empty(0, np.int64), reason)]

    def cycles_at(self, positions: IntArray) -> Cycles:
        """Read the cycles at any positions, in the same order; a ChordlessError if one is damaged or gone."""
        return self._walker.order(self.rows_at(positions))

    def rows_at(self, positions: IntArray) -> Rows:
        """Read the cycles at any positions as bit rows, in the same order; an EngineError if one is gone."""
        # Adjacent rows of the file are read together.
        breaks = np.flatnonzero(np.diff(positions) != 1) + 1
        runs = np.split(positions, breaks)
        store = self.store
        rows = np.concatenate([store[int(run[0]) : int(run[-1]) + 1] for run in runs])
        if len(rows) != len(positions):
            raise EngineError("some of these cycles are no longer there")
        return rows

    def _vouched(self) -> dict[str, int]:
        about = self.directory.checkpoint.stat()
        seen = (about.st_mtime_ns, about.st_ino)
        if self._position is None or seen != self._checkpoint_seen:
            self._position, _ = read_position(self.directory.checkpoint)
            self._checkpoint_seen = seen
        return self._position

    def _has_begun_again(self) -> bool:
        """Return whether the recording has a new session since the last call."""
        size = _size(self.directory.events)
        if size <= self._events_read:
            return False
        with open(self.directory.events, "rb") as stream:
            # One byte less than the mark, so that no mark is seen twice.
            stream.seek(max(self._events_read - len(_NEW_SESSION) + 1, 0))
            news = stream.read(size - stream.tell())
        self._events_read = size
        return _NEW_SESSION in news


@dataclass(frozen=True)
class ShownCycles:
    """The cycles of a run that an index chooses, in its order."""

    run: RunCycles
    index: CycleIndex

    def __len__(self) -> int:
        return len(self.index)

    def read(self, start: int, stop: int) -> list[FoundCycle]:
        """Return the cycles on the lines `start` to `stop` - 1, counted from 0, as far as they exist."""
        return self.run.found(self.index.window(start, stop))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
