"""Cycles as the search hands them out: vertices in cycle order, many in two arrays."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import running
from kernels_ti.graph import IntArray
from kernels_ti.state import STATE_WORD_BITS, Rows

CYCLES_AT_ONCE = 1 << 12
"""Cycles that are turned into rows or names at a time: their vertices stay in the second-level cache."""

_LISTS_AT_ONCE = 1 << 9
"""Lists of names that are made at a time: fewer than the new objects after which Python's garbage collector looks."""

_FEW_WORDS = 16
_MOST_SHORT_NUMBERS = 1 << 8  # Names that have a number of one byte

ObjectArray = npt.NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class Cycles:
    """Some cycles, stored one after another in two arrays."""

    offsets: IntArray  # ndarray of int64, shape (k + 1,): Cycle i is ``vertices[offsets[i]:offsets[i + 1]]``
    # Vertex indices of the input graph in cycle order; each cycle starts at its smallest vertex and goes on to that
    # vertex's smaller neighbour.
    vertices: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> IntArray:
        """Vertices of each cycle, shape (k,)."""
        return np.diff(self.offsets)

    def chosen(self, keep: npt.NDArray[np.bool_]) -> Cycles:
        """Only the cycles for which `keep`, shape (k,), is true."""
        lengths = self.lengths
        return Cycles(running(lengths[keep]), self.vertices[np.repeat(keep, lengths)])

    def part(self, start: int, stop: int) -> Cycles:
        """Cycles `start` to ``stop - 1``; their vertices are a view."""
        offsets = self.offsets[start : stop + 1]
        return Cycles(offsets - offsets[0], self.vertices[offsets[0] : offsets[-1]])

    @staticmethod
    def of_lists(cycles: list[list[int]]) -> Cycles:
        """Make `Cycles` from lists of vertices that are already in canonical cycle order."""
        offsets = running(np.array([len(cycle) for cycle in cycles], np.int64))
        return Cycles(offsets, np.array([v for cycle in cycles for v in cycle], np.int32))

    def rows(self, vertices: int) -> Rows:
        """Bit rows over `vertices` vertices, uint64, shape (k, ceil(vertices / 64))."""
        words = -(-vertices // STATE_WORD_BITS)
        rows = np.zeros((len(self), words), np.uint64)
        if not len(self):
            return rows
        bit = np.uint64(1) << (np.arange(vertices) % STATE_WORD_BITS).astype(np.uint64)
        if words <= _FEW_WORDS:
            for w in range(words):
                of_vertex = np.where(np.arange(vertices) // STATE_WORD_BITS == w, bit, np.uint64(0))
                rows[:, w] = np.bitwise_or.reduceat(of_vertex.take(self.vertices), self.offsets[:-1])
            return rows
        # No vertex comes twice in a cycle, so its bits add up.
        owner = np.repeat(np.arange(len(self)), self.lengths)
        np.add.at(rows.reshape(-1), owner * words + self.vertices // STATE_WORD_BITS, bit[self.vertices])
        return rows

    @staticmethod
    def joined(pieces: Iterable[Cycles]) -> Cycles:
        """All cycles of some pieces, in order; `pieces` may be a generator, it is consumed piece by piece."""
        lengths: list[npt.NDArray[np.int32]] = []
        parts: list[npt.NDArray[np.int32]] = []
        for piece in pieces:
            lengths.append(piece.lengths.astype(np.int32))
            parts.append(piece.vertices)
        if len(parts) == 1 and piece.vertices.dtype == np.int32:
            return piece
        vertices = np.empty(sum(map(len, parts)), np.int32)
        filled = len(vertices)
        while parts:  # from the end, so that each part is freed as soon as it is copied
            part = parts.pop()
            vertices[filled - len(part) : filled] = part
            filled -= len(part)
        return Cycles(running(np.concatenate([np.empty(0, np.int32), *lengths])), vertices)

    def named(self, names: Sequence[Hashable] | ObjectArray) -> Iterator[list[Hashable]]:
        """Yield each cycle as the list of its vertices' names, given those of the graph or their `name_array`."""
        many = len(self) > len(names) and len(names) <= _MOST_SHORT_NUMBERS
        return chain.from_iterable(self._lists_by_pickle(names) if many else self._lists_cut(names))

    def _lists_cut(self, names: Sequence[Hashable] | ObjectArray) -> Iterator[Iterable[list[Hashable]]]:
        """Cut lists from one list of names: that takes half the time of a list comprehension for each cycle."""
        of_vertex = names if isinstance(names, np.ndarray) else name_array(names)
        for start in range(0, len(self), CYCLES_AT_ONCE):
            offsets = self.offsets[start : start + CYCLES_AT_ONCE + 1]
            named = np.take(of_vertex, self.vertices[offsets[0] : offsets[-1]]).tolist()
            bounds = (offsets - offsets[0]).tolist()
            yield map(named.__getitem__, map(slice, bounds, bounds[1:]))

    def _lists_by_pickle(self, names: Sequence[Hashable] | ObjectArray) -> Iterator[list[list[Hashable]]]:
        """Make lists with the C code of pickle, which fills them with names by number: it touches each name once."""
        for start in range(0, len(self), CYCLES_AT_ONCE):
            offsets = self.offsets[start : start + CYCLES_AT_ONCE + 1]
            ends = offsets[1:] - offsets[0] + np.arange(len(offsets) - 1)
            of_vertex = np.ones(ends[-1] + 1, bool)
            of_vertex[ends] = False
            codes = np.empty(len(of_vertex), "<u2")
            codes[of_vertex] = self.vertices[offsets[0] : offsets[-1]].astype(np.uint16) << 8 | pickle.BINGET[0]
            codes[ends] = int.from_bytes(pickle.LIST + pickle.MARK, "little")
            cuts = [0, *(ends[_LISTS_AT_ONCE - 1 : -1 : _LISTS_AT_ONCE] + 1).tolist(), len(codes)]
            yield from _NamedLists(names, [codes[slice(*cut)].tobytes() for cut in pairwise(cuts)])


class _NamedLists(pickle.Unpickler):
    """Reads pickles of lists of names, which refer to each name by its number; the first one numbers them."""

    def __init__(self, names: Sequence[Hashable] | ObjectArray, pieces: list[bytes]) -> None:
        self._names, self._pieces = names, len(pieces)
        stream, before = BytesIO(), b"".join(_NAME % v for v in range(len(names)))
        for piece in pieces:
            content = before + _LISTS + piece[: -len(pickle.MARK)] + _ENDED
            stream.write(_FRAME + len(content).to_bytes(8, "little") + content)
            before = b""
        stream.seek(0)
        super().__init__(stream)

    def __iter__(self) -> Iterator[list[list[Hashable]]]:
        return (self.load() for _ in range(self._pieces))

    def persistent_load(self, number: int) -> Hashable:
        name: Hashable = self._names[number]
        return name


_NAME = pickle.BININT1 + b"%c" + pickle.BINPERSID + pickle.MEMOIZE + pickle.POP
_LISTS, _ENDED = pickle.EMPTY_LIST + pickle.MARK + pickle.MARK, pickle.APPENDS + pickle.STOP
_FRAME = pickle.PROTO + b"\x04" + pickle.FRAME  # A frame is read at once


def canonical(cycle: list[int], *, directed: bool = False) -> list[int]:
    """Rotate a cycle to its smallest vertex; if it has no direction, that vertex's smaller neighbour follows."""
    at = cycle.index(min(cycle))
    forward = cycle[at:] + cycle[:at]
    return forward if directed or forward[1:2] <= forward[-1:] else [forward[0], *reversed(forward[1:])]


def in_order(vertices: Iterable[int], following: Callable[[int], Iterable[int]]) -> list[int]:
    """Return the vertices of a chordless cycle in its order, from any of them on; each says which may follow it."""
    left = set(vertices)
    order = [left.pop()]
    while left:
        order.append(next(v for v in following(order[-1]) if v in left))
        left.remove(order[-1])
    return order


def name_array(names: Sequence[Hashable]) -> ObjectArray:
    """Return the names as an array of objects, shape (n,)."""
    array = np.empty(len(names), object)
    for v, name in enumerate(names):
        array[v] = name
    return array
