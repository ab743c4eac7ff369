"""Chordless paths up to symmetry: one representative of each orbit."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import bits_of
from kernels_ti.blocks.block_group import BlockGroup
from kernels_ti.graph import Graph
from kernels_ti.state import STATE_WORD_BITS, Frames
from kernels_ti.symmetry.automorphisms import Automorphisms

MOST_STABILIZERS = 4000
"""Stabilizers that are asked for. A path that is left then is searched with the size of its orbit as it is."""


@dataclass(frozen=True)
class Representative:
    """A directed chordless path that stands for its orbit."""

    path: tuple[int, ...]  # Vertices; two or more
    orbit: int  # Paths in its orbit


@dataclass(frozen=True, eq=False)
class Representatives:
    """The directed chordless paths of a graph up to symmetry, at the points where the search goes on."""

    paths: list[Representative]
    closed: dict[int, int]  # Cycles that were closed on the way: by number of vertices, with the orbits as weights
    automorphisms: int  # Size of the group

    @cached_property
    def orbits(self) -> list[int]:
        """The different sizes of the orbits, the largest first."""
        return sorted({each.orbit for each in self.paths}, reverse=True)


def representatives(group: Automorphisms, longest: int, root: int | None = None) -> Representatives:
    """Make one directed chordless path of each orbit, vertex by vertex.

    The automorphisms that fix all vertices of a path act on its extensions. One extension of each orbit is taken. A
    path on which only the identity is left is not extended further: each of its extensions is an orbit of its own.

    Parameters
    ----------
    group : Automorphisms
        Of the graph.
    longest : int
        Vertices of the longest cycle that is wanted.
    root : int, optional
        Only the paths that begin at this vertex, under the automorphisms that fix it.
    """
    near = adjacency_bits(group.graph)
    begins = [(root, 1)] if root is not None else group.orbits((), range(group.graph.n))
    everything = (1 << group.graph.n) - 1
    waiting: deque[tuple[tuple[int, ...], int, int]] = deque()
    waiting.extend(((v,), everything & ~(1 << v), size) for v, size in begins)
    order = group.order(() if root is None else (root,))
    closed: Counter[int] = Counter()
    done: list[Representative] = []
    asked = 0
    while waiting:
        path, allowed, size = waiting.popleft()
        first, last, length = path[0], path[-1], len(path)
        if length >= longest:
            continue
        if length > 1 and (size == order or asked >= MOST_STABILIZERS):
            done.append(Representative(path, size))
            continue
        asked += 1
        rest = allowed & ~near[last] if length > 1 else allowed
        for v, orbit in group.orbits(path, list(bits_of(near[last] & allowed))):
            if length > 1 and near[first] >> v & 1:
                closed[length + 1] += size * orbit
            else:
                waiting.append(((*path, v), rest & ~(1 << v), size * orbit))
    return Representatives(done, dict(closed), order)


def frames_of(
    group: BlockGroup, paths: list[Representative], longest: int
) -> tuple[Frames | None, dict[int, int], dict[int, int]]:
    """Make the frames from which the search of some paths goes on.

    Parameters
    ----------
    group : BlockGroup
        It has one block.
    paths : list of Representative
        Paths of that block.
    longest : int
        Vertices of the longest cycle that is wanted.

    Returns
    -------
    frames : Frames or None
        None if no path can be extended.
    counted : dict of int to int
        Paths that wait, by number of vertices.
    closed : dict of int to int
        Cycles that one more vertex closes, each counted once: by number of vertices.
    """
    label = {v: at for at, v in enumerate(group.vertex_of_row.tolist())}
    near = [0] * group.rows
    for row, other in zip(group.row_of_entry.tolist(), group.neighbour.tolist(), strict=True):
        near[row] |= 1 << other
    everything = (1 << group.rows) - 1
    allowed, extensions, ends, lengths = [], [], [], []
    counted, closed = Counter[int](), Counter[int]()
    for each in paths:
        rows = [label[v] for v in each.path]
        free = everything
        for inner in rows[1:-1]:
            free &= ~near[inner]
        for row in rows:
            free &= ~(1 << row)
        grown, waits = near[rows[-1]], near[rows[0]]
        closed[len(rows) + 1] += (free & grown & waits).bit_count()
        more = free & grown & ~waits
        if more and len(rows) + 2 <= longest:
            allowed.append(free & ~grown)
            extensions.append(more)
            ends.append(rows[0])
            lengths.append(len(rows))
            counted[len(rows) + 1] += more.bit_count()
    if not ends:
        return None, {}, dict(closed)
    words = -(-group.words * group.word_bits // STATE_WORD_BITS)
    weight = np.full(len(ends), 1 / sum(counted.values()))
    frames = Frames(
        _rows(allowed, words), _rows(extensions, words), None,
        np.array(ends, np.int32), np.array(lengths, np.int32), weight,
    )  # fmt: skip
    return frames, dict(counted), dict(closed)


def adjacency_bits(graph: Graph) -> list[int]:
    """Return the neighbours of each vertex as the bits of a whole number."""
    near = [0] * graph.n
    for u, v in graph.pairs().tolist():
        near[u] |= 1 << v
        near[v] |= 1 << u
    return near


def _rows(bits: list[int], words: int) -> npt.NDArray[np.uint64]:
    size = words * STATE_WORD_BITS // 8
    rows = np.frombuffer(b"".join(row.to_bytes(size, "little") for row in bits), "<u8")
    return rows.astype(np.uint64).reshape(-1, words)
