"""The search space: a graph prepared once for the estimate, the choice of a device, the boundary plan and the run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from kernels_ti.blocks.balls import choose_radius
from kernels_ti.blocks.groups import BlockBatches, BlockGroup, LabelledBlocks
from kernels_ti.blocks.restriction import Restricted, restricted_cases
from kernels_ti.errors import OptionError, parameter
from kernels_ti.graph import Graph
from kernels_ti.options import Options, Snapshot
from kernels_ti.state import STATE_WORD_BITS, GroupState, Layout, Totals

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, eq=False)
class Begun:
    """The first states of the groups of a batch, or of one part of it, where the host has begun the search."""

    groups: tuple[GroupState, ...]
    totals: Totals = field(default_factory=Totals)  # The counts of the host
    # The cycles that were found on the way, as vertices of the input graph in canonical cycle order, if they are kept
    found: list[list[int]] = field(default_factory=list)


class SearchSpace:
    """A graph with the bounds and the restriction of a search, and its blocks.

    It has several cases only if edges are to be avoided, see `kernels_ti.blocks.restriction.restricted_cases`. The
    cases are searched one after another. The choice of a device, an estimate, a forecast, a boundary plan and the run
    take it. Each part is made when it is first needed, and then kept. An OptionError is raised for a vertex that does
    not exist or is in both `through` and `avoid`, for a bound below 3 if the graph is simple, and for the expansion of
    the paper if it is not.
    """

    def __init__(self, graph: Graph, options: Options | None = None) -> None:
        self.graph = graph
        self.options = options or Options()
        wanted = self.options
        if wanted.expansion == "paper" and not graph.is_simple:
            raise OptionError(
                "the expansion of the paper is for simple undirected graphs, and this graph "
                f"{'is directed' if graph.directed else 'has self-loops or parallel edges'}"
            )
        self.cases: tuple[Restricted, ...] = restricted_cases(
            graph, wanted.through, wanted.avoid, wanted.avoid_edges, wanted.max_length
        )
        self._batches: dict[tuple[Layout, int], BlockBatches] = {}

    @classmethod
    def of(cls, graph: Graph | SearchSpace, options: Options | None = None) -> SearchSpace:
        """Return a space unchanged, or make one of a graph.

        An OptionError says that the space has other bounds or another restriction than the options.
        """
        if not isinstance(graph, SearchSpace):
            return cls(graph, options)
        if options is not None and _bounds(options) != _bounds(graph.options):
            raise OptionError("the search space was made with other bounds, or for other vertices, than the run")
        return graph

    @property
    def longest(self) -> int:
        """Vertices of the longest cycle that is possible."""
        return min(self.graph.n, self.options.max_length or self.graph.n)

    @cached_property
    def radius(self) -> int | None:
        """Edges from the root of a ball; see `kernels_ti.blocks.balls.choose_radius`."""
        return choose_radius(self.cases[0].graph, self.options.max_length)

    @cached_property
    def blocks(self) -> tuple[LabelledBlocks, ...]:
        """The blocks in which wanted cycles can lie, for each case."""
        return tuple(LabelledBlocks(case.graph, case.root, case.required) for case in self.cases)

    def layout(self, options: Options, arch: str, word_bits: int) -> Layout:
        """Choose how the graph is laid out in blocks, for a run on an arch with words of `word_bits` bits."""
        if options.expansion == "paper":
            return Layout(whole=True, grain=word_bits)
        if options.through:
            return Layout(grain=word_bits if options.part is None else STATE_WORD_BITS)
        if options.part is not None:  # the parts of one search may run on different devices
            return Layout(nested=True, grain=STATE_WORD_BITS, radius=self.radius)
        # In blocks of two words the CPU's search changes to rows of one word by itself: one kernel instead of two.
        nested = arch == "cpu" and max(blocks.longest for blocks in self.blocks) > 2 * word_bits
        return Layout(nested=nested, grain=word_bits, radius=self.radius)

    def batches(self, layout: Layout | None = None, word_bits: int = STATE_WORD_BITS) -> BlockBatches:
        """Return the blocks in batches, see `kernels_ti.blocks.groups.LabelledBlocks.batches`.

        The default layout is that of an estimate: no nested blocks, and balls where the length is bounded.
        """
        key = (layout or Layout(radius=self.radius), word_bits)
        if key not in self._batches:
            edges = np.array([max(case.graph.m, 1) for case in self.cases], np.float64)
            self._batches[key] = BlockBatches.joined([blocks.batches(*key) for blocks in self.blocks], edges)
        return self._batches[key]

    def smaller_blocks(self, layout: Layout) -> str:
        """Return what makes the blocks of a layout smaller, for an error about memory; empty if nothing does."""
        if layout.whole:
            return ""
        return f"{'a smaller ' if self.options.max_length else ''}{parameter('max_length')}"

    def begun(self, batch: int, groups: list[BlockGroup]) -> Begun | None:
        """Return the work of a batch where the space itself begins the search; None where the seeds begin it.

        The cycles are counted as the run keeps its totals.
        """
        return None

    def scaled(self, batch: int, cycles: dict[int, Number]) -> dict[int, Number]:
        """Return the part of the run's totals that the cycles found in a batch stand for, by length."""
        return cycles

    def found_times(self, length: int) -> int:
        """Return how often the totals of a run contain each cycle of this length."""
        return 1

    def snapshot(self, totals: Totals, *, finished: bool, is_piece: bool = False, **more: Any) -> Snapshot:
        """Return the snapshot of the totals of a run; `is_piece` if other runs search the rest of the same search."""
        return Snapshot.of_totals(totals.paths, totals.cycles, self.options.lengths, finished=finished, **more)


def _bounds(options: Options) -> tuple[object, ...]:
    return (options.lengths, options.through, options.avoid, options.avoid_edges, options.symmetry)
