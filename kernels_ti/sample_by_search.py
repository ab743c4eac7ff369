"""Cycles drawn uniformly at random from all that a search finds.

A search meets the cycles in an order that depends on the device and on the moment. So the draws follow from the cycles
alone. Each cycle has a key, which depends on its vertices and on the seed, and the cycles with the smallest keys come
in the order of their keys: so many of them as the draws are different cycles. Which draws are the same cycle is drawn
once the number of all cycles is known.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.participation import CycleShares
from kernels_ti.boundary.sample import ANSWER
from kernels_ti.boundary.values.numbers import random_below
from kernels_ti.boundary.way_back.walks import words_for
from kernels_ti.choices import Arch
from kernels_ti.cycles import Cycles
from kernels_ti.errors import time_is_up
from kernels_ti.estimate.device_choice import arch_for
from kernels_ti.found.cycle_order import fits_in_rows
from kernels_ti.state import Rows
from kernels_ti.watch import Watch
from kernels_ti.watched import begun, watched_slices

Keys = npt.NDArray[np.uint64]

_BYTES_AT_ONCE = 1 << 26

# The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
_SHIFTS_AND_FACTORS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST_SHIFT = np.uint64(31)


class SearchedDraws:
    """Draws from all cycles that a search has found.

    Attributes
    ----------
    total : int
        How many cycles there are.
    width : int
        0: no boundary was gone along.
    """

    width = 0

    def __init__(self, smallest: Rows, total: int, k: int, seed: int) -> None:
        self.total = total
        self._smallest = smallest
        self._which = _repeats(total, k, seed) if total else np.empty(0, np.int64)

    def rounds(self) -> Iterator[Rows]:
        """Yield the draws as bit rows, some at a time."""
        at_once = _at_once(self._smallest.shape[1])
        for start in range(0, len(self._which), at_once):
            yield self._smallest[self._which[start : start + at_once]]


def draws_by_search(
    space: SearchSpace, k: int, seed: int, *, arch: str, watch: Watch, threads: int | None = None
) -> SearchedDraws:
    """Search all cycles of a search space, and draw k of them; a TimeIsUpError says that the time was up before."""
    graph, rows = space.graph, fits_in_rows(space.graph)
    smallest, total = _Smallest(k, words_for(graph.n), seed), 0
    collecting = SearchSpace(graph, replace(space.options, collect=True, rows=rows))
    with begun(collecting, arch_for(space, cast("Arch", arch), threads=threads), threads, watch) as run:
        for _ in watched_slices(run, watch):
            with watch.searching():
                total += smallest.take_rows(run.take_rows()) if rows else smallest.take(run.take_cycles(), graph.n)
        if not run.finished:
            raise time_is_up(watch.timeout, ANSWER)
    return SearchedDraws(smallest.in_order(), total, k, seed)


def shares_by_search(space: SearchSpace, *, arch: str, watch: Watch, threads: int | None = None) -> CycleShares:
    """Count the cycles through each vertex and each edge by a search; see `draws_by_search`."""
    counting = SearchSpace(space.graph, replace(space.options, participation="edges"))
    with begun(counting, arch_for(space, cast("Arch", arch), threads=threads), threads, watch) as run:
        for _ in watched_slices(run, watch):
            pass
        if not run.finished:
            raise time_is_up(watch.timeout, "the shares were counted")
        total, counted = run.snapshot().cycles, run.participation()
    assert counted.edges is not None
    return CycleShares(
        total,
        counted.vertices.sum(axis=1).tolist(),
        counted.edges.sum(axis=1).tolist(),
        counted.edge_list,
        tuple(space.graph.names),
        SearchedDraws.width,
        0,
        watch.seconds,
    )


class _Smallest:
    """The k cycles with the smallest keys, of those that a search hands over; `words` are those of a bit row."""

    def __init__(self, k: int, words: int, seed: int) -> None:
        self._k, self._words, self._start = k, words, np.uint64(random.Random(seed).getrandbits(64))
        self._rows, self._keys = [np.empty((0, words), np.uint64)], [np.empty(0, np.uint64)]
        self._held, self._largest = 0, np.uint64(2**64 - 1)

    def take(self, cycles: Cycles, n: int) -> int:
        """Take cycles of a graph with n vertices; return how many."""
        at_once = _at_once(self._words)
        for start in range(0, len(cycles), at_once):
            self.take_rows(cycles.part(start, min(start + at_once, len(cycles))).rows(n))
        return len(cycles)

    def take_rows(self, rows: Rows) -> int:
        """Take cycles as bit rows; return how many."""
        at_once = _at_once(self._words)
        for start in range(0, len(rows), at_once):
            part = rows[start : start + at_once]
            keys = _mixed(part, self._start)
            small = np.flatnonzero(keys <= self._largest)
            self._rows.append(part[small])
            self._keys.append(keys[small])
            self._held += len(small)
            if self._held > 2 * self._k + at_once:
                self._cut()
        return len(rows)

    def in_order(self) -> Rows:
        """Return the cycles as bit rows, that with the smallest key first."""
        self._cut()
        return self._rows[0][np.lexsort((*self._rows[0].T, self._keys[0]))]

    def _cut(self) -> None:
        rows, keys = np.concatenate(self._rows), np.concatenate(self._keys)
        if len(keys) > self._k:
            kept = np.argpartition(keys, self._k)[: self._k]
            rows, keys = rows[kept], keys[kept]
            self._largest = keys.max(initial=np.uint64(0))
        self._rows, self._keys, self._held = [rows], [keys], len(keys)


def _mixed(rows: Rows, start: np.uint64) -> Keys:
    """Return a key of each row: different ones for nearly all rows, and for each start as if drawn at random."""
    keys = np.full(len(rows), start)
    for w in range(rows.shape[1]):
        keys ^= rows[:, w]
        for shift, factor in _SHIFTS_AND_FACTORS:
            keys ^= keys >> np.uint64(shift)
            keys *= np.uint64(factor)
        keys ^= keys >> _LAST_SHIFT
        keys += start
    return keys


def _repeats(total: int, k: int, seed: int) -> npt.NDArray[np.int64]:
    """Draw k of so many cycles; return for each draw how many different ones came before its cycle came first."""
    digits = random_below(total, k, random.Random(seed)).digits
    _, first, which = np.unique(digits, axis=1, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[which.reshape(-1)]


def _at_once(words: int) -> int:
    return max(_BYTES_AT_ONCE // (8 * words), 1)
