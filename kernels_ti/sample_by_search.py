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

import numpy as np
import numpy.typing as npt

from kernels_ti.asked_search import begun, watched_slices
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.participation import CycleShares
from kernels_ti.boundary.sample import ANSWER
from kernels_ti.boundary.values.numbers import random_below
from kernels_ti.cycles import Cycles
from kernels_ti.device.memory import host_budget
from kernels_ti.errors import SizeError, time_is_up, worded
from kernels_ti.found.cycle_order import fits_in_rows
from kernels_ti.state import Rows, scattered, words_for
from kernels_ti.watch import Watch

Keys = npt.NDArray[np.uint64]

_BYTES_AT_ONCE = 1 << 26
_TAKEN_AT_ONCE = 1 << 20  # of what a search hands over: making its keys takes several times as much


class SearchedDraws:
    """k draws from all `total` cycles of a search; `smallest` are those with the smallest keys, in their order."""

    width = 0  # no boundary was gone along

    def __init__(self, smallest: Rows, total: int, k: int, seed: int) -> None:
        self.total = total
        self._smallest, self._k, self._seed = smallest, k, seed

    def rounds(self) -> Iterator[Rows]:
        """Yield the draws as bit rows, some at a time."""
        generator, came = random.Random(self._seed), np.empty(0, np.uint64)
        at_once = _at_once(self._smallest.shape[1], _BYTES_AT_ONCE)
        for start in range(0, self._k if self.total else 0, at_once):
            drawn = random_below(self.total, min(at_once, self._k - start), generator)
            places, came = _places(drawn.as_words(), came)
            yield self._smallest[places]


def draws_by_search(
    space: SearchSpace, k: int, seed: int, *, arch: str, watch: Watch, threads: int | None = None
) -> SearchedDraws:
    """Search all cycles of a search space, and draw k of them; a TimeIsUpError says that the time was up before."""
    graph, rows = space.graph, fits_in_rows(space.graph)
    smallest, total = _Smallest(k, words_for(graph.n), seed, host_budget(space.options.memory)), 0
    collecting = SearchSpace(graph, replace(space.options, collect=True, rows=rows))
    with begun(collecting, arch, threads, watch) as run:
        for _ in watched_slices(run, watch):
            with watch.searching():
                total += smallest.take_rows(run.take_rows()) if rows else smallest.take(run.take_cycles(), graph.n)
        if not run.finished:
            raise time_is_up(watch.timeout, ANSWER)
    watch.tell("searching", 1.0, total, is_last=True)
    return SearchedDraws(smallest.in_order(), total, k, seed)


def shares_by_search(space: SearchSpace, *, arch: str, watch: Watch, threads: int | None = None) -> CycleShares:
    """Count the cycles through each vertex and each edge by a search; see `draws_by_search`."""
    counting = SearchSpace(space.graph, replace(space.options, participation="edges"))
    with begun(counting, arch, threads, watch) as run:
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
    """The k cycles with the smallest keys, of those that a search hands over; `words` are those of a bit row.

    A SizeError says that they do not fit into so many bytes of memory.
    """

    def __init__(self, k: int, words: int, seed: int, memory: int) -> None:
        self._k, self._words, self._start = k, words, np.uint64(random.Random(seed).getrandbits(64))
        # Twice: they are put together, and in order.
        self._most = memory // (2 * 8 * (words + 1))
        self._rows, self._keys = [np.empty((0, words), np.uint64)], [np.empty(0, np.uint64)]
        self._held, self._largest = 0, np.uint64(2**64 - 1)

    def take(self, cycles: Cycles, n: int) -> int:
        at_once = _at_once(self._words, _TAKEN_AT_ONCE)
        for start in range(0, len(cycles), at_once):
            self.take_rows(cycles.part(start, min(start + at_once, len(cycles))).rows(n))
        return len(cycles)

    def take_rows(self, rows: Rows) -> int:
        at_once = _at_once(self._words, _TAKEN_AT_ONCE)
        for start in range(0, len(rows), at_once):
            part = rows[start : start + at_once]
            keys = _mixed(part, self._start)
            small = np.flatnonzero(keys <= self._largest)
            self._rows.append(part[small])
            self._keys.append(keys[small])
            self._held += len(small)
            if self._held > min(2 * self._k + at_once, self._most):
                self._cut()
                if self._held > self._most:
                    name, fewer = worded(f"k={self._k}", f"-k {self._k}"), worded("k", "-k")
                    raise SizeError(
                        f"{name}: of so many draws more than {self._most:,} may be different, and no more fit into "
                        f"the memory allowed: {fewer} {self._most} does"
                    )
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
        keys = scattered(keys ^ rows[:, w]) + start
    return keys


def _places(drawn: Keys, came: Keys) -> tuple[npt.NDArray[np.int64], Keys]:
    """Return for each number how many different ones came before it came first, and all that have come, in order.

    `came` are the different numbers that have come before these.
    """
    every = np.concatenate((came, drawn))
    _, first, which = np.unique(every, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[which.reshape(-1)[len(came) :]], every[np.sort(first)]


def _at_once(words: int, memory: int) -> int:
    """Return how many bit rows take so many bytes; a graph without vertices has no words."""
    return max(memory // (8 * max(words, 1)), 1)
