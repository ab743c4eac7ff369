"""Filtering and sorting millions of cycles by length."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import psutil

from chordless.cycles.read import CycleStore, Rows
from kernels_ti import EngineError, Graph, OptionError
from kernels_ti.graph import IntArray
from kernels_ti.state import populations

Order = Literal["found", "longest", "shortest"]
ORDERS: tuple[Order, ...] = ("found", "longest", "shortest")

# Bytes of rows processed between two reports. A sort also holds some arrays of 8 bytes for each cycle.
_CHUNK_BYTES = 1 << 23
_LARGEST_CHUNK = 1 << 18
_SHORTEST = 3
_LENGTHS_EXAMPLE = "write a length such as 8, a range such as 8-12, or a bound such as >=30"


@dataclass(frozen=True)
class CycleFilter:
    """Which cycles to show."""

    min_length: int = _SHORTEST
    max_length: int | None = None  # Vertices of a cycle; None stands for any number
    through: tuple[int, ...] = ()  # Vertex indices that all lie on the cycle

    @property
    def keeps_all(self) -> bool:
        """Whether every cycle passes."""
        return self == CycleFilter()

    def lengths_text(self) -> str:
        """Return the lengths as `parse_lengths` reads them; empty for all."""
        if self.max_length is None:
            return "" if self.min_length <= _SHORTEST else f">={self.min_length}"
        if self.max_length == self.min_length:
            return str(self.min_length)
        return f"<={self.max_length}" if self.min_length <= _SHORTEST else f"{self.min_length}-{self.max_length}"


def parse_lengths(text: str) -> tuple[int, int | None]:
    """Read ``8``, ``8-12``, ``>=30``, ``>30``, ``<=9``, ``<9``, or nothing for all lengths; else an OptionError."""
    words = text.replace(",", "").strip()
    if not words:
        return _SHORTEST, None
    between = re.fullmatch(r"(\d{1,9})\s*(?:-|to|\.\.)\s*(\d{1,9})", words)
    bound = re.fullmatch(r"(>=|≥|>|<=|≤|<|=|)\s*(\d{1,9})", words)
    least, greatest = _SHORTEST, None
    if between is not None:
        least, greatest = int(between[1]), int(between[2])
        if greatest < least:
            raise OptionError(f"{least} is more than {greatest}: write the smaller length first")
    elif bound is not None:
        sign, number = bound[1], int(bound[2])
        if sign in ("", "="):
            least = greatest = number
        elif sign in (">", ">=", "≥"):
            least = number + (sign == ">")
        else:
            greatest = number - (sign == "<")
    else:
        raise OptionError(f"{text.strip()!r} is not a length: {_LENGTHS_EXAMPLE}")
    if greatest is not None and greatest < _SHORTEST:
        raise OptionError(f"a cycle has at least {_SHORTEST} vertices")
    return max(least, _SHORTEST), greatest


def parse_vertices(text: str, graph: Graph) -> tuple[int, ...]:
    """Return the vertices of names, each once, separated by blanks or commas with blanks; names may have blanks."""
    index = {str(name): v for v, name in enumerate(graph.names)}
    words = text.split()
    longest = max((len(name.split()) for name in index), default=1) if len(words) > 1 else 1
    found: list[int] = []
    start = 0
    while start < len(words):
        for stop in range(min(start + longest, len(words)), start, -1):
            name = " ".join(words[start:stop])
            v = index.get(name, index.get(name.rstrip(",;")))
            if v is not None:
                break
        else:
            raise OptionError(_no_such_vertex(words[start].rstrip(",;"), list(index)))
        found.append(v)
        start = stop
    return tuple(dict.fromkeys(found))


def _no_such_vertex(name: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, names[:10_000], n=2)
    if close:
        return f"there is no vertex {name!r}; did you mean {' or '.join(close)}?"
    if not names:
        return "the graph has no vertices"
    return f"there is no vertex {name!r}; they are called {names[0]}" + (f" to {names[-1]}" if len(names) > 1 else "")


@dataclass(frozen=True, eq=False)
class CycleIndex:
    """The cycles to show and their order, with fast access to any range of lines."""

    covered: int  # Number of cycles examined, from the first that the run found
    chosen: CycleFilter = CycleFilter()
    order: Order = "found"  # Cycles of the same length are in the order in which they were found
    # uint32 or uint64, shape (k,): how many cycles were found before each of them: ascending or, where the order is by
    # length, for one length after the other from the shortest, and ascending within each. None stands for all, as
    # found.
    positions: npt.NDArray[np.unsignedinteger] | None = None
    # Cycles of length t are ``positions[starts[t]:starts[t + 1]]``, where the order is by length
    starts: IntArray | None = None

    def __len__(self) -> int:
        return self.covered if self.positions is None else len(self.positions)

    def window(self, start: int, stop: int) -> IntArray:
        """Return the positions of lines `start` to `stop`, counted from 0, shape (k,)."""
        start = min(max(start, 0), len(self))
        stop = min(max(stop, start), len(self))
        if self.positions is None:
            return np.arange(start, stop)
        if self.order != "longest":
            return self.positions[start:stop].astype(np.int64)
        pieces = [np.empty(0, np.int64)]
        for begin, first, last in self._lengths_downward(start):
            if begin >= stop:
                break
            pieces.append(self.positions[first + max(start - begin, 0) : min(last, first + stop - begin)].astype(int))
        return np.concatenate(pieces)

    def line_of(self, position: int, length: int) -> int | None:
        """Return the line of a cycle by its position and its number of vertices; None if it is not shown."""
        if self.positions is None:
            return position if 0 <= position < self.covered else None
        first, last = 0, len(self.positions)
        if self.starts is not None:
            if not 0 <= length < len(self.starts) - 1:
                return None
            first, last = int(self.starts[length]), int(self.starts[length + 1])
        found = first + int(np.searchsorted(self.positions[first:last], position))
        if found >= last or self.positions[found] != position:
            return None
        return len(self.positions) - last + found - first if self.order == "longest" else found

    def with_order(self, order: Order) -> CycleIndex | None:
        """Return the same cycles in another order if that takes no work, else None."""
        if (self.starts is None) == (order == "found"):
            return CycleIndex(self.covered, self.chosen, order, self.positions, self.starts)
        return None

    def _lengths_downward(self, line: int) -> Iterator[tuple[int, int, int]]:
        """Yield for each length, from the longest on a line: its first line, and its stretch of the positions."""
        assert self.positions is not None
        assert self.starts is not None
        k = len(self.positions)
        # The first line of a length is the number of cycles that are longer.
        length = int(np.searchsorted(self.starts, k - line, side="left")) - 1
        for t in range(length, -1, -1):
            first, last = int(self.starts[t]), int(self.starts[t + 1])
            if first < last:
                yield k - last, first, last


def needed_bytes(cycles: int, vertices: int) -> int:
    """Return the most bytes that filtering or sorting `cycles` cycles takes: a length and a position for each."""
    return cycles * (_length_type(vertices).itemsize + _position_type(cycles).itemsize)


def build_index(
    store: CycleStore,
    chosen: CycleFilter,
    order: Order,
    vertices: int,
    *,
    tell: Callable[[float], None] = lambda share: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> CycleIndex | None:
    """Filter and sort all cycles of a store, a chunk at a time; None if it was cancelled.

    `tell` gets the share that is done after each chunk. Takes 1 byte for each cycle of the store in a graph of at most
    255 vertices (2 up to 65,535, else 4), and 4 for each one that passes (8 beyond 2^32 of them); only the latter stay.
    An EngineError says that a part cannot be read, or memory is short.
    """
    count = len(store)
    if chosen.keeps_all and order == "found":
        return CycleIndex(count)
    _check_memory(count, vertices)
    chunk = max(min(_CHUNK_BYTES // max(8 * store.words, 1), _LARGEST_CHUNK), 1)
    # Length 0, which no cycle has, marks the cycles that do not pass.
    lengths = np.zeros(count, _length_type(vertices))
    of_length = np.zeros(vertices + 1, np.int64)
    mask = _mask(chosen.through)
    for start in range(0, count, chunk):
        if cancelled():
            return None
        found = _passing_lengths(store[start : start + chunk], chosen, mask)
        lengths[start : start + len(found)] = found
        of_length += np.bincount(found, minlength=vertices + 1)
        tell(0.7 * min(start + chunk, count) / count)
    if order == "found":
        # Cycles of all lengths follow one another, as if they were of one length.
        np.minimum(lengths, 1, out=lengths)
        of_length = np.array([0, of_length[1:].sum()])
    of_length[0] = 0
    starts = np.concatenate(([0], np.cumsum(of_length)))
    positions = np.empty(int(starts[-1]), _position_type(count))
    following = starts[:-1].copy()
    for start in range(0, count, _LARGEST_CHUNK):
        if cancelled():
            return None
        _place_by_length(positions, following, lengths[start : start + _LARGEST_CHUNK], start)
        tell(0.7 + 0.3 * min(start + _LARGEST_CHUNK, count) / count)
    return CycleIndex(count, chosen, order, positions, starts if order != "found" else None)


def _passing_lengths(rows: Rows, chosen: CycleFilter, mask: dict[int, np.uint64]) -> IntArray:
    lengths = populations(rows)
    passes = lengths >= chosen.min_length
    if chosen.max_length is not None:
        passes &= lengths <= chosen.max_length
    for word, bits in mask.items():
        passes &= rows[:, word] & bits == bits
    return lengths * passes


def _place_by_length(
    positions: npt.NDArray[np.unsignedinteger], following: IntArray, lengths: npt.NDArray[np.integer], start: int
) -> None:
    # A stable sort of small integers is a radix sort.
    by_length = np.argsort(lengths, kind="stable")
    counts = np.bincount(lengths)
    ends = np.cumsum(counts)
    for t in np.flatnonzero(counts):
        if t:
            at, found = int(following[t]), int(counts[t])
            positions[at : at + found] = by_length[ends[t] - found : ends[t]] + start
            following[t] += found


def _mask(through: tuple[int, ...]) -> dict[int, np.uint64]:
    bits: dict[int, int] = {}
    for v in through:
        bits[v >> 6] = bits.get(v >> 6, 0) | 1 << (v & 63)
    return {word: np.uint64(value) for word, value in bits.items()}


def _check_memory(count: int, vertices: int) -> None:
    needed, free = needed_bytes(count, vertices), psutil.virtual_memory().available
    if needed > free // 2:
        raise EngineError(
            f"to sort or filter {count:,} cycles takes {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are "
            "free, of which half may be used; in the order found, any number of cycles can be browsed"
        )


def _length_type(vertices: int) -> np.dtype[np.unsignedinteger]:
    return np.min_scalar_type(max(vertices, 1))


def _position_type(count: int) -> np.dtype[np.unsignedinteger]:
    return np.dtype(np.uint32 if count < 1 << 32 else np.uint64)
