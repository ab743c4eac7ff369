"""Count the cycles of many small graphs together, such as a batch of molecules or all graphs of nine vertices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernels_ti.adjacency import running, spans
from kernels_ti.choices import Parity
from kernels_ti.device.device import Device, require_running
from kernels_ti.graph import IntArray
from kernels_ti.many.graphs import ManyGraphs
from kernels_ti.options import Options

MOST_VERTICES = 128  # A larger graph is left to the search of one graph

MOST_GRAPHS, MOST_EDGES = 1 << 16, 1 << 23
"""Edges that are laid out on the device at a time; each graph alone has fewer edges."""

WIDTHS = (1, 2, 4)  # Words to a bit row that kernels are compiled for, up to the largest that is needed


@dataclass(frozen=True, eq=False)
class ManyCounts:
    """How many chordless cycles each of many graphs has, by length."""

    first_count: IntArray  # int64, shape (graphs + 1,): where the counts of each graph begin
    # int64, shape (vertices + graphs,): ``cycles_by_length[first_count[i] + k]`` cycles of graph i have k vertices, for
    # k from 0 to its vertices
    cycles_by_length: IntArray
    # Graphs that are too large, or took too many steps, ascending. Their cycles are not counted here.
    left_over: IntArray

    def __len__(self) -> int:
        return len(self.first_count) - 1

    @cached_property
    def totals(self) -> IntArray:
        """Cycles of each graph, shape (graphs,)."""
        before = running(self.cycles_by_length)
        return before[self.first_count[1:]] - before[self.first_count[:-1]]

    def table(self) -> IntArray:
        """Return a row for each graph, a column for each length from 0 to the largest graph's vertices."""
        lengths = np.diff(self.first_count)
        table = np.zeros((len(self), int(lengths.max(initial=1))), np.int64)
        table[np.repeat(np.arange(len(self)), lengths), spans(np.zeros_like(lengths), lengths)] = self.cycles_by_length
        return table

    def by_length(self) -> Iterator[dict[int, int]]:
        """For each graph in turn, cycles by number of vertices, as `kernels_ti.count_cycles` gives them."""
        at = np.flatnonzero(self.cycles_by_length)
        ends = np.searchsorted(at, self.first_count)
        lengths = (at - np.repeat(self.first_count[:-1], np.diff(ends))).tolist()
        counts = self.cycles_by_length[at].tolist()
        start = 0
        for end in ends[1:].tolist():
            yield dict(zip(lengths[start:end], counts[start:end], strict=True))
            start = end


def count_many(
    graphs: ManyGraphs,
    device: Device,
    *,
    min_length: int = 3,
    max_length: int | None = None,
    parity: Parity | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ManyCounts:
    """Count the chordless cycles of many graphs together.

    One worker, or one thread of a GPU, searches each graph from the first step to the last. That suits thousands of
    small graphs. Graphs that are too large are left over; on the reference arch all are. The device is that of
    `kernels_ti.estimate.device_choice.device_for`. `progress` gets the numbers of graphs that are counted, and of their
    cycles, after every slice of about 0.1 s; an exception of it ends the count. Raises DeviceError if another arch has
    been opened since, EngineError if memory is short, OptionError for bounds below 3 or that exclude each other.
    """
    from kernels_ti.many.search import ManySearch

    options = Options(min_length=min_length, max_length=max_length, parity=parity)
    require_running(device)
    sizes = graphs.vertices
    small = (sizes <= MOST_VERTICES) & (device.arch != "reference")
    searched = small & (graphs.edge_counts >= options.min_length)
    given_up = ~small
    first_count = running(sizes + 1)
    cycles = np.zeros(first_count[-1], np.int64)
    lengths = np.arange(len(cycles)) - np.repeat(first_count[:-1], sizes + 1)
    wanted = options.lengths.among(lengths)
    done, found = int((small & ~searched).sum()), 0
    if progress is not None:
        progress(done, found)
    for words, indices in _classes(np.flatnonzero(searched), sizes, device.word_bits):
        for piece in _pieces(indices, graphs.edge_counts):
            search = ManySearch(graphs.chosen(piece), device, words, options.max_length)
            cells = spans(first_count[piece], sizes[piece] + 1)
            while not search.finished:
                search.advance()
                if progress is not None:
                    progress(done + search.counted, found + search.cycles_of_counted(wanted[cells]))
            done += search.counted
            found += search.cycles_of_counted(wanted[cells])
            cycles[cells] = search.cycles_by_length()
            given_up[piece[search.given_up]] = True
    cycles[~wanted | np.repeat(given_up, sizes + 1)] = 0
    return ManyCounts(first_count, cycles, np.flatnonzero(given_up))


def _classes(indices: IntArray, sizes: IntArray, word_bits: int) -> Iterator[tuple[int, IntArray]]:
    """Sort graphs by the words that their bit rows need; those of few words are searched several times faster."""
    needed = sizes[indices]
    smallest = 0
    for words in WIDTHS:
        fits = (needed > smallest) & (needed <= words * word_bits)
        if fits.any():
            yield words, indices[fits]
        smallest = words * word_bits


def _pieces(indices: IntArray, edge_counts: IntArray) -> Iterator[IntArray]:
    """Cut graphs into pieces that the device lays out at a time."""
    before = running(edge_counts[indices])
    start = 0
    while start < len(indices):
        fitting = int(np.searchsorted(before, before[start] + MOST_EDGES, "right")) - 1
        end = min(max(fitting, start + 1), start + MOST_GRAPHS)
        yield indices[start:end]
        start = end
