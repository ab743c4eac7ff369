"""Cycles on the host until the caller takes them; bit rows may lie side by side, in memory that grows where it is."""

from __future__ import annotations

import math
import mmap
from contextlib import suppress

import numpy as np

from kernels_ti.cycles import Cycles
from kernels_ti.errors import EngineError, SizeError, bytes_text, parameter
from kernels_ti.options import Lengths
from kernels_ti.state import STATE_WORD_BITS, Rows, populations

FIRST_BYTES = 16 << 20  # Bytes that are reserved at first. The system gives memory only where it is written to.
GROWTH = 2


class RowStore:
    """Rows of the same number of words, one behind the other, which take `most` bytes at most.

    Rows whose number of bits is not among `lengths` are dropped. A row is written once, to the place where it stays:
    the memory grows without a copy where the system can move it.
    """

    def __init__(self, words: int, lengths: Lengths | None = None, most: float = math.inf) -> None:
        self._words = words
        self._lengths = lengths
        self._most = most
        self._count = 0
        self._memory: mmap.mmap | None = None

    def __len__(self) -> int:
        return self._count

    def room(self, count: int) -> Rows:
        """Return the place behind the rows, shape (count, words), to be written to.

        It is valid until the next call of a method. Nobody may hold it, or a view of it, when that call grows the
        memory. An EngineError says that the system has no memory for them, a SizeError that they have no room.
        """
        size = 8 * self._words * (self._count + count)
        require_fit(self._count + count, size, self._most)
        if self._memory is None or len(self._memory) < size:
            self._grow(max(size, FIRST_BYTES if self._memory is None else GROWTH * len(self._memory)))
        return self._rows(self._count, count)

    def keep(self, count: int) -> None:
        """Keep the first `count` rows of the last `room`."""
        if self._lengths is not None:
            rows = self._rows(self._count, count)
            wanted = rows[self._lengths.among(populations(rows))]
            count = len(wanted)
            rows[:count] = wanted
        self._count += count

    def add(self, rows: Rows) -> None:
        """Copy some rows behind the others."""
        self.room(len(rows))[:] = rows
        self.keep(len(rows))

    def take(self) -> Rows:
        """Return all rows, shape (k, words). They belong to the caller; the store is empty again."""
        if self._memory is None:
            return np.empty((0, self._words), np.uint64)
        self._resize(self._memory, max(8 * self._words * self._count, mmap.PAGESIZE))
        rows = self._rows(0, self._count)
        self._memory, self._count = None, 0
        return rows

    def _rows(self, first: int, count: int) -> Rows:
        if not self._words or self._memory is None:
            return np.empty((count, self._words), np.uint64)
        flat: Rows = np.frombuffer(self._memory, np.uint64, count * self._words, 8 * self._words * first)
        return flat.reshape(count, self._words)

    def _grow(self, size: int) -> None:
        size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        if self._memory is None:
            self._memory = _reserved(size)
        elif not self._resize(self._memory, size):
            before, self._memory = self._memory, _reserved(size)
            kept = 8 * self._words * self._count
            self._memory[:kept] = before[:kept]

    def _resize(self, memory: mmap.mmap, size: int) -> bool:
        """Give a memory another size; return whether the system can do that without a copy."""
        with suppress(SystemError, OSError):  # not Linux
            memory.resize(size)
            return True
        return False


def _reserved(size: int) -> mmap.mmap:
    try:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise EngineError(
            f"the system has no {size / 2**20:,.0f} MiB for the cycles found: enumerate_cycles(...).batches() gives "
            "them slice by slice"
        ) from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without large pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def require_fit(cycles: int, taken: int, room: float) -> None:
    """Raise a SizeError if the bytes taken by the cycles found so far are more than there is room for."""
    if taken > room:
        raise SizeError(
            f"{cycles:,} cycles found so far take {bytes_text(taken)}, more than the {bytes_text(max(room, 0))} that "
            f"memory allows here: set a limit, or take them from enumerate_cycles ({parameter('memory')} sets another)"
        )


class Kept:
    """The cycles of the wanted lengths found since they were last taken: as lists of vertices or as bit rows.

    After `gather` all rows lie side by side in `store`.
    """

    def __init__(self, vertices: int, lengths: Lengths, *, as_rows: bool) -> None:
        self._vertices = vertices
        self._words = -(-vertices // STATE_WORD_BITS)
        self._lengths = lengths if lengths.exclude_some_found else None
        self._as_rows = as_rows
        self._cycles: list[Cycles] = []
        self._rows: list[Rows] = []
        self.store: RowStore | None = None

    def __bool__(self) -> bool:
        return bool(self._cycles or self._rows or self.store)

    def gather(self, room: float) -> None:
        """Put all rows into one store from now on, of `room` bytes at most, behind those that wait already."""
        self.store = RowStore(self._words, self._lengths, room)
        waiting, self._rows = self._rows, []
        for rows in waiting:
            self.store.add(rows)

    def add(self, found: Cycles | Rows) -> None:
        """Keep cycles until they are taken."""
        if isinstance(found, Cycles) and self._as_rows:
            found = found.rows(self._vertices)
        if not len(found):
            return
        if isinstance(found, Cycles):
            self._cycles.append(found)
        elif self.store is not None:
            self.store.add(found)
        else:
            self._rows.append(found)

    def take_cycles(self) -> Cycles:
        """Take the cycles that were kept as lists of vertices."""
        found, self._cycles = Cycles.joined(self._cycles), []
        return found if self._lengths is None else found.chosen(self._lengths.among(found.lengths))

    def take_rows(self) -> Rows:
        """Take the cycles that were kept as bit rows, shape (k, ceil(n / 64))."""
        if self.store is not None:
            return self.store.take()
        taken, self._rows = self._rows, []
        found: Rows = taken[0] if len(taken) == 1 else np.concatenate([np.empty((0, self._words), np.uint64), *taken])
        return found if self._lengths is None else found[self._lengths.among(populations(found))]
