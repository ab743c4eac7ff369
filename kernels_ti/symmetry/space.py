"""The search space of a count with symmetry: the blocks that gain by it, with their representatives, and the others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kernels_ti.blocks.groups import BlockBatches, BlockGroup, LabelledBlocks
from kernels_ti.blocks.search_space import Begun, SearchSpace
from kernels_ti.errors import EngineError, OptionError
from kernels_ti.graph import Graph, IntArray
from kernels_ti.options import Options
from kernels_ti.state import STATE_WORD_BITS, GroupState, Layout
from kernels_ti.symmetry.automorphisms import Automorphisms
from kernels_ti.symmetry.representatives import Representative, Representatives, frames_of, representatives

LEAST_GAIN = 2.0
"""How many times fewer paths a count has to search up to symmetry, to be chosen by itself."""


@dataclass(frozen=True, eq=False)
class _Part:
    """Blocks that are searched together, in one batch."""

    graph: Graph  # All vertices, and the edges of these blocks
    root: int | None
    # The representatives, all with an orbit of one size; None where the blocks are searched without symmetry.
    paths: list[Representative] | None = None
    orbit: int = 1  # That size, times the number of blocks that this one stands for

    @cached_property
    def blocks(self) -> LabelledBlocks:
        """The blocks, labelled."""
        return LabelledBlocks(self.graph, self.root)


class SymmetricSpace(SearchSpace):
    """A search space whose blocks are searched up to symmetry where that pays.

    A block is searched up to symmetry if it has more automorphisms than a cycle has directed paths from its vertices.
    Of isomorphic blocks one is searched. Blocks without enough automorphisms are searched as ever. All totals are kept
    as numbers of directed cycles, each with a first vertex: 2 l for a cycle of l vertices, or 2 if all cycles pass a
    root. `settled` divides them. Raise OptionError if igraph is not installed, and for options that cannot be combined
    with symmetry.

    Parameters
    ----------
    options : Options, optional
        With `Options.symmetry`.

    Attributes
    ----------
    automorphisms : int
        The product of the sizes of the groups of all blocks that are searched up to symmetry.
    gain : float
        About how many times fewer paths are searched: the size of the smallest of these groups over the number of
        directed paths of a cycle; 1 if blocks other than rings are searched without symmetry.
    """

    def __init__(self, graph: Graph, options: Options | None = None) -> None:
        super().__init__(graph, options)
        if not graph.is_simple:
            raise OptionError("a count with symmetry is for simple undirected graphs")
        self._closed: Counter[int] = Counter()
        self.automorphisms, self.gain = 1, math.inf
        self._root = self.cases[0].root
        # Without any part there is no batch that could take the cycles which were closed on the way.
        self._parts = list(self._made_parts()) or [_Part(self._among([]), self._root)]

    @property
    def representatives(self) -> int:
        """Number of paths from which the search begins in the blocks that are searched up to symmetry."""
        return sum(len(part.paths) for part in self._parts if part.paths is not None)

    def _made_parts(self) -> Iterator[_Part]:
        """Divide the blocks into parts; the first one has those that are searched without symmetry."""
        case = self.cases[0]
        classes: dict[bytes, tuple[Graph, IntArray, Automorphisms, int]] = {}
        plain = [edges for ring, vertices in self.blocks[0].rings() for edges in [vertices[ring.pairs()]]]
        for block, vertices in self.blocks[0].other_blocks():
            group = Automorphisms(block)
            root = None if self._root is None else int(np.searchsorted(vertices, self._root))
            order = group.order(() if root is None else (root,))
            if not self._pays(order, min(block.n, self.longest)):
                plain.append(vertices[block.pairs()])
                self.gain = 1.0
                continue
            # A root tells isomorphic blocks apart.
            form = group.canonical_form() if root is None else bytes(len(classes) + 1)
            first = classes.get(form, (block, vertices, group, 0))
            classes[form] = *first[:3], first[3] + 1
            self.automorphisms *= order
            self.gain = min(self.gain, order / self._directed_paths(min(block.n, self.longest)))
        if plain or not classes:
            yield _Part(self._among(plain), case.root)
        for _, vertices, group, copies in classes.values():
            yield from self._symmetric_parts(vertices, group, copies)

    def _symmetric_parts(self, vertices: IntArray, group: Automorphisms, copies: int) -> Iterator[_Part]:
        root = None if self._root is None else int(np.searchsorted(vertices, self._root))
        found: Representatives = representatives(group, self.longest, root)
        for length, count in found.closed.items():
            self._closed[length] += copies * count
        graph = self._among([vertices[group.graph.pairs()]])
        for orbit in found.orbits:
            paths = [
                replace(each, path=tuple(vertices[list(each.path)].tolist()))
                for each in found.paths
                if each.orbit == orbit
            ]
            yield _Part(graph, self._root, paths, orbit * copies)

    def _among(self, edges: list[IntArray]) -> Graph:
        """Return the graph of all vertices with these edges."""
        joined = np.concatenate([np.zeros((0, 2), np.int64), *edges])
        return Graph.from_edge_array(joined, n=self.graph.n)

    def _pays(self, order: int, longest: int) -> bool:
        """Whether a group is larger than the number of directed paths by which each cycle is found."""
        return order > self._directed_paths(longest)

    def _directed_paths(self, length: int) -> int:
        """Return how often a cycle of this length is found in a search of all directed paths."""
        return 2 * length if self._root is None else 2

    def layout(self, options: Options, arch: str, word_bits: int) -> Layout:
        """Return blocks that are not nested and have no balls: the vertices of a representative have any labels."""
        return Layout(grain=word_bits)

    def batches(self, layout: Layout | None = None, word_bits: int = STATE_WORD_BITS) -> BlockBatches:
        """Return a batch for each part; without a layout, the blocks of the whole graph for an estimate."""
        if layout is None:
            return super().batches(layout, word_bits)
        work = np.array([max(1 if part.paths is None else len(part.paths), 1) for part in self._parts], np.float64)
        made = [part.blocks.batches(layout, word_bits) for part in self._parts]
        return BlockBatches.joined(made, work)

    def begun(self, batch: int, groups: list[BlockGroup]) -> Begun | None:
        """Return the frames of the representatives of a part."""
        part = self._parts[batch]
        first = Counter(self._closed if batch == 0 else {})
        if part.paths is None:
            seeds = [len(group.seed_entries) for group in groups]
            return None if not first else Begun(tuple(GroupState() for _ in seeds), {}, dict(first))
        (group,) = groups
        frames, counted, closed = frames_of(group, part.paths, self.longest)
        seeds_of_group = len(group.seed_entries)
        for length, count in closed.items():
            if length <= self.longest:
                first[length] += part.orbit * count
        state = GroupState(seeds_of_group, seeds_of_group, () if frames is None else (frames,))
        return Begun((state,), counted, dict(first))

    def scaled(self, batch: int, cycles: dict[int, int]) -> dict[int, int]:
        """Return how many directed cycles with a first vertex the cycles that a batch has found stand for."""
        part = self._parts[batch]
        if part.paths is not None:
            return {length: count * part.orbit for length, count in cycles.items()}
        return {length: count * self._directed_paths(length) for length, count in cycles.items()}

    def settled(self, cycles: dict[int, int], *, finished: bool) -> dict[int, int]:
        """Return the numbers of cycles; while the search goes on, those that are certain.

        Raise EngineError if a complete total cannot be divided: then it is wrong.
        """
        settled = {}
        for length, count in cycles.items():
            settled[length], left = divmod(count, self._directed_paths(length))
            if finished and left:
                raise EngineError(
                    f"the count with symmetry is wrong: {count:,} directed cycles of {length} vertices are no multiple "
                    f"of {self._directed_paths(length)}; count without symmetry, and please report this graph"
                )
        return settled


def worthwhile(space: SearchSpace) -> SymmetricSpace | None:
    """Return the space of a count up to symmetry, if the graph has enough automorphisms for it and igraph is here.

    Parameters
    ----------
    space : SearchSpace
        Of a count without symmetry.
    """
    try:
        found = SymmetricSpace(space.graph, replace(space.options, symmetry=True))
    except OptionError:  # no igraph, or an option that cannot be combined with symmetry
        return None
    return found if found.gain > LEAST_GAIN else None


def space_of(graph: Graph, options: Options) -> SearchSpace:
    """Return the search space of a graph, up to symmetry if the options say so."""
    return SymmetricSpace(graph, options) if options.symmetry else SearchSpace(graph, options)
