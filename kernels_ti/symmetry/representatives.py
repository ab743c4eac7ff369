"""Chordless paths up to symmetry: one representative of each orbit."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import bits_of
from kernels_ti.blocks.block_group import BlockGroup
from kernels_ti.graph import Graph
from kernels_ti.reference.algorithm import rows_in_bits
from kernels_ti.state import STATE_WORD_BITS, Frames
from kernels_ti.symmetry.automorphisms import Automorphisms

MOST_STABILIZERS = 4000
"""Stabilizers that are asked for. A path that is left then is searched with the size of its orbit as it is."""

MOST_IMAGES = 100_000_000
"""A bound on the same, for large graphs: a stabilizer of n vertices has up to n generators, each with n images."""


@dataclass(frozen=True)
class Representative:
    """A directed chordless path that stands for its orbit."""

    path: tuple[int, ...]  # Vertices; three or more
    orbit: int  # Paths in its orbit


@dataclass(frozen=True, eq=False)
class Representatives:
    """The directed chordless paths of a graph up to symmetry, at the points where the search goes on."""

    paths: list[Representative]
    closed: list[Representative]  # Cycles that were closed on the way, in cycle order
    automorphisms: int  # Size of the group

    @cached_property
    def orbits(self) -> list[int]:
        """The different sizes of the orbits of the paths, the largest first."""
        return sorted({each.orbit for each in self.paths}, reverse=True)


def representatives(
    group: Automorphisms, graph: Graph, longest: int, root: int | None = None, required: tuple[int, ...] = ()
) -> Representatives:
    """Make one directed chordless path of each orbit, vertex by vertex.

    The automorphisms that fix all vertices of a path act on its extensions. One extension of each orbit is taken. A
    path on which only the identity is left is not extended further: each of its extensions is an orbit of its own.

    The group is that of the graph, and maps the vertices `required` of every cycle to itself. The longest cycle that is
    wanted has `longest` vertices. With a `root`, only the paths that begin there are made, under the automorphisms that
    fix it.
    """
    _, _, near = rows_in_bits(graph)
    begins = [(root, 1)] if root is not None else group.orbits((), range(graph.n))
    everything = (1 << graph.n) - 1
    waiting: deque[tuple[tuple[int, ...], int]] = deque()
    waiting.extend(((v,), size) for v, size in begins)
    order = group.order(() if root is None else (root,))
    closed: list[Representative] = []
    done: list[Representative] = []
    asked, most = 0, min(MOST_STABILIZERS, MOST_IMAGES // max(graph.n, 1) ** 2)
    while waiting:
        path, size = waiting.popleft()
        first, last, length = path[0], path[-1], len(path)
        if length >= longest:
            continue
        # Extensions that are not compared are orbits of their own.
        is_alone = size == order or asked >= most
        if length > 2 and is_alone:
            done.append(Representative(path, size))
            continue
        asked += not is_alone
        # Made anew for each path: of all that wait, these bit rows would take a thousand times what the paths do.
        allowed = everything & ~sum(1 << v for v in path)
        for v in path[1:-1]:
            allowed &= ~near[v]
        among = list(bits_of(near[last] & allowed))
        for v, orbit in [(v, 1) for v in among] if is_alone else group.orbits(path, among):
            longer = (*path, v)
            if length > 1 and near[first] >> v & 1:
                if set(required) <= set(longer):
                    closed.append(Representative(longer, size * orbit))
            else:
                waiting.append((longer, size * orbit))
    return Representatives(done, closed, order)


def frames_of(group: BlockGroup, paths: list[tuple[int, ...]], *, members: bool) -> Frames:
    """Make the frames of some chordless paths in a group of one block, each with its last vertex as only extension.

    The paths have three or more vertices of the input graph each. With `members` the frames have members.
    """
    label = {v: at for at, v in enumerate(group.vertex_of_row.tolist())}
    near = [0] * group.rows
    for row, other in zip(group.row_of_entry.tolist(), group.neighbour.tolist(), strict=True):
        near[row] |= 1 << other
    everything = (1 << group.rows) - 1
    allowed, extensions, begun, ends = [], [], [], []
    for path in paths:
        first, *inner, last = (label[v] for v in path)
        free = everything & ~(1 << first | 1 << last)
        had = 1 << first
        for row in inner:
            free &= ~(near[row] | 1 << row)
            had |= 1 << row
        allowed.append(free)
        extensions.append(1 << last)
        begun.append(had)
        ends.append(first)
    words = -(-group.words * group.word_bits // STATE_WORD_BITS)
    return Frames(
        _rows(allowed, words),
        _rows(extensions, words),
        _rows(begun, words) if members else None,
        np.array(ends, np.int32),
        np.array([len(path) - 1 for path in paths], np.int32),
        np.full(len(paths), 1 / max(len(paths), 1)),
    )


def _rows(bits: list[int], words: int) -> npt.NDArray[np.uint64]:
    size = words * STATE_WORD_BITS // 8
    rows = np.frombuffer(b"".join(row.to_bytes(size, "little") for row in bits), "<u8")
    return rows.astype(np.uint64).reshape(-1, words)
