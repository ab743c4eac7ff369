"""The search space of a count with symmetry: the blocks that gain by it, with their representatives, and the others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from kernels_ti.blocks.groups import BlockBatches, BlockGroup, LabelledBlocks
from kernels_ti.blocks.restriction import Restricted
from kernels_ti.blocks.search_space import Begun, Number, SearchSpace
from kernels_ti.cycles import canonical
from kernels_ti.errors import EngineError, OptionError, parameter
from kernels_ti.graph import Graph, IntArray
from kernels_ti.options import Options, Snapshot
from kernels_ti.state import STATE_WORD_BITS, GroupState, Layout, Totals
from kernels_ti.symmetry.automorphisms import Automorphisms, tellable
from kernels_ti.symmetry.representatives import frames_of, representatives

_MOST = 1 << 1000  # the size of a group that a float still holds

# The edges of the blocks that are searched without symmetry; of each class of isomorphic others the vertices of one
# block, its group, and how many blocks it has.
_SortedBlocks = tuple[list[IntArray], list[tuple[IntArray, Automorphisms, int]]]

_STEPS_PER_SECOND = 1e7  # Vertices times edges, when igraph seeks the automorphisms of a dense graph with many
_SECONDS_UNKNOWN = 10.0  # For which they are sought where nobody knows how long a search takes

LEAST_GAIN = 2.0  # How many times fewer paths a count has to search up to symmetry, to be chosen by itself


@dataclass(frozen=True, eq=False)
class _Part:
    """Blocks that are searched together, in one batch."""

    graph: Graph  # All vertices, and the edges of these blocks
    root: int | None
    required: tuple[int, ...] = ()
    # The representatives, all with an orbit of one size; None where the blocks are searched without symmetry.
    paths: list[tuple[int, ...]] | None = None
    orbit: int = 1  # That size, times the number of blocks that this one stands for
    closed: dict[int, int] = field(default_factory=dict)  # Directed cycles that the host has found, by length
    found: list[list[int]] = field(default_factory=list)  # Those of them that stand for the others

    @cached_property
    def blocks(self) -> LabelledBlocks:
        return LabelledBlocks(self.graph, self.root, self.required)


class SymmetricSpace(SearchSpace):
    """A search space whose blocks are searched up to symmetry where that pays.

    A block is searched up to symmetry if it has more automorphisms than a cycle has directed paths from its vertices.
    Of isomorphic blocks one is searched. Blocks without enough automorphisms are searched as ever. All totals are kept
    as numbers of directed cycles, each with a first vertex: 2 l for a cycle of l vertices. `settled` divides them. An
    OptionError is raised if igraph is not installed, for options that cannot be combined with symmetry, and for more
    than 10^4000 automorphisms.

    `automorphisms` is the product of the sizes of the groups of all blocks that are searched up to symmetry. `gain` is
    about how many times fewer paths are searched: the size of the smallest of these groups over the number of directed
    paths of a cycle; 1 if blocks other than rings are searched without symmetry.
    """

    def __init__(self, graph: Graph, options: Options | None = None) -> None:
        super().__init__(graph, options)
        if not graph.is_simple:
            raise OptionError("a count with symmetry is for simple undirected graphs")
        self.automorphisms, self.gain = 1, math.inf
        self._sorted = [self._sorted_blocks(case) for case in range(len(self.cases))]

    @cached_property
    def _parts(self) -> list[_Part]:
        # Who only asks for the gain waits for no representatives, which take much memory in a large graph.
        return [
            part for number, found in enumerate(self._sorted) for part in self._made_parts(self.cases[number], found)
        ]

    @property
    def representatives(self) -> int:
        """Number of paths from which the search begins in the blocks that are searched up to symmetry."""
        return sum(len(part.paths) for part in self._parts if part.paths is not None)

    def _sorted_blocks(self, number: int) -> _SortedBlocks:
        """Sort the blocks of a case: those that are searched without symmetry, and the classes of the others."""
        case = self.cases[number]
        classes: dict[bytes, tuple[IntArray, Automorphisms, int]] = {}
        plain = [edges for ring, vertices in self.blocks[number].rings() for edges in [vertices[ring.pairs()]]]
        for block, vertices in self.blocks[number].other_blocks():
            root, required = _within(vertices, case)
            group = Automorphisms(block, required)
            order = group.order(() if root is None else (root,))
            paths_of_cycle = 2 if root is not None else 2 * min(block.n, self.longest)
            if not self._pays(order, paths_of_cycle):
                plain.append(vertices[block.pairs()])
                self.gain = 1.0
                continue
            # A root tells isomorphic blocks apart.
            form = group.canonical_form() if root is None else bytes(len(classes) + 1)
            first = classes.get(form, (vertices, group, 0))
            classes[form] = *first[:2], first[2] + 1
            self.automorphisms = tellable(self.automorphisms * order)
            self.gain = min(self.gain, min(order, _MOST) / paths_of_cycle)
        return plain, list(classes.values())

    def _made_parts(self, case: Restricted, found: _SortedBlocks) -> Iterator[_Part]:
        """Make the parts of a case; the first one has the blocks that are searched without symmetry."""
        plain, classes = found
        if plain or not classes:
            yield _Part(self._among(plain), case.root, case.required)
        for vertices, group, copies in classes:
            yield from self._symmetric_parts(case, vertices, group, copies)

    def _symmetric_parts(
        self, case: Restricted, vertices: IntArray, group: Automorphisms, copies: int
    ) -> Iterator[_Part]:
        found = representatives(group, group.graph, self.longest, *_within(vertices, case))
        closed, cycles = Counter[int](), []
        for each in found.closed:
            closed[len(each.path)] += copies * each.orbit * (len(each.path) if case.root is not None else 1)
            cycles.append(canonical(vertices[list(each.path)].tolist()))
        graph = self._among([vertices[group.graph.pairs()]])
        for orbit in found.orbits or [1]:
            paths = [tuple(vertices[list(each.path)].tolist()) for each in found.paths if each.orbit == orbit]
            yield _Part(graph, case.root, case.required, paths, orbit * copies, dict(closed), cycles)
            closed, cycles = Counter(), []

    def _among(self, edges: list[IntArray]) -> Graph:
        joined = np.concatenate([np.zeros((0, 2), np.int64), *edges])
        return Graph.from_edge_array(joined, n=self.graph.n)

    def _pays(self, order: int, paths_of_cycle: int) -> bool:
        """Whether a group is larger than the number of directed paths by which each cycle is found."""
        return order > paths_of_cycle

    def layout(self, options: Options, arch: str, word_bits: int) -> Layout:
        """Return blocks that are not nested and have no balls: the vertices of a representative have any labels."""
        # The parts of one search may run on different devices.
        return Layout(whole=options.expansion == "paper", grain=word_bits if options.part is None else STATE_WORD_BITS)

    def smaller_blocks(self, layout: Layout) -> str:
        """Return that a search without symmetry, whose blocks may be balls, has smaller ones."""
        search = f"a search without {parameter('symmetry')}"
        bounded = search if self.options.max_length else f"{parameter('max_length')} in {search}"
        return "" if layout.whole else bounded

    def batches(self, layout: Layout | None = None, word_bits: int = STATE_WORD_BITS) -> BlockBatches:
        """Return a batch for each part."""
        layout = layout or Layout()
        work = np.array([max(len(part.paths or ()), 1) for part in self._parts], np.float64)
        made = [part.blocks.batches(layout, word_bits) for part in self._parts]
        return BlockBatches.joined(made, work)

    def begun(self, batch: int, groups: list[BlockGroup]) -> Begun | None:
        """Return the frames of the representatives of a part."""
        part = self._parts[batch]
        if part.paths is None:
            return None
        (group,) = groups
        seeds = len(group.seed_entries)
        frames = frames_of(group, part.paths, members=self.options.members)
        state = GroupState(seeds, seeds, (frames,) if len(frames) else ())
        return Begun((state,), Totals(Counter(map(len, part.paths)), part.closed), part.found)

    def scaled(self, batch: int, cycles: dict[int, Number]) -> dict[int, Number]:
        """Return how many directed cycles with a first vertex the cycles that a batch has found stand for."""
        part = self._parts[batch]
        if part.paths is None:
            return {length: count * 2 * length for length, count in cycles.items()}
        # Through a root a cycle is found once in each direction.
        return {length: count * part.orbit * (1 if part.root is None else length) for length, count in cycles.items()}

    def found_times(self, length: int) -> int:
        """Return the number of directed cycles with a first vertex that a cycle of this length is."""
        return 2 * length

    def snapshot(self, totals: Totals, *, finished: bool, is_piece: bool = False, **more: Any) -> Snapshot:
        """Return the snapshot of the totals of a run; `is_piece` if other runs search the rest of the same search."""
        lengths = self.options.lengths
        if is_piece:
            wanted = sorted(length for length in totals.cycles if length in lengths)
            more["directed_by_length"] = {length: totals.cycles[length] for length in wanted}
        # The numbers of some lengths are too small where paths are dropped.
        is_whole = finished and not is_piece and not self.options.pruned
        cycles = self.settled(totals.cycles, finished=is_whole)
        return Snapshot.of_totals(totals.paths, cycles, lengths, finished=finished, **more)

    def settled(self, cycles: dict[int, int], *, finished: bool) -> dict[int, int]:
        """Return the numbers of cycles; while the search goes on, those that are certain.

        Raise EngineError if a complete total cannot be divided: then it is wrong.
        """
        settled = {}
        for length, count in cycles.items():
            settled[length], left = divmod(count, self.found_times(length))
            if finished and left:
                raise EngineError(
                    f"the count with symmetry is wrong: {count:,} directed cycles of {length} vertices are no multiple "
                    f"of {self.found_times(length)}; count without symmetry, and please report this graph"
                )
        return settled


def _within(vertices: IntArray, case: Restricted) -> tuple[int | None, tuple[int, ...]]:
    """Return the root of a case and the other vertices that it requires, by their places in a block."""
    if case.root is None:
        return None, ()
    root, *required = np.searchsorted(vertices, case.through).tolist()
    return root, tuple(required)


def worthwhile(space: SearchSpace, seconds: float = math.inf) -> SymmetricSpace | None:
    """Return the space of a count up to symmetry, if the graph has enough automorphisms for it and igraph is here.

    They are not sought where that is expected to take more than `seconds`, infinite if nobody knows how long a search
    takes.
    """
    graph = space.graph
    if graph.n * graph.m >= _STEPS_PER_SECOND * (seconds if math.isfinite(seconds) else _SECONDS_UNKNOWN):
        return None
    try:
        found = SymmetricSpace(graph, replace(space.options, symmetry=True))
    except OptionError:  # no igraph, an option that cannot be combined with symmetry, or too many automorphisms
        return None
    return found if found.gain > LEAST_GAIN else None


def space_of(graph: Graph | SearchSpace, options: Options | None) -> SearchSpace:
    """Return the search space of a graph, up to symmetry if the options say so; see `SearchSpace.of`."""
    is_symmetric = options is not None and options.symmetry and not isinstance(graph, SearchSpace)
    return (SymmetricSpace if is_symmetric else SearchSpace).of(graph, options)
