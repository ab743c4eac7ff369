"""Only the cycles through some vertices, and not through others: what of a graph the search needs for them.

Nothing is found first and thrown away after. The vertices to avoid go before the search begins. A cycle through a
vertex lies in one of the vertex's blocks, and through several in the one block that has them all, within half the
length bound of each; the other blocks are not searched. One of the vertices is the root of every path; the
search drops the paths that can no longer come to the others, see `kernels_ti.step.required`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.biconnected import biconnected_edges
from kernels_ti.errors import OptionError
from kernels_ti.graph import Graph, IntArray

MOST_ROUNDS = 8
"""How often the blocks and the distances are looked at again; what is left over costs words only."""


@dataclass(frozen=True, eq=False)
class Restricted:
    """What is left of a graph for a search.

    Attributes
    ----------
    graph : Graph
        All vertices, under their names, and the edges that a wanted cycle can have.
    root : int or None
        The vertex at which all paths begin; None where cycles need not pass any.
    required : tuple of int
        The other vertices that a cycle must pass.
    """

    graph: Graph
    root: int | None = None
    required: tuple[int, ...] = ()


def restricted(
    graph: Graph, through: Sequence[int] = (), avoid: Sequence[int] = (), max_length: int | None = None
) -> Restricted:
    """Take away from a graph what no wanted cycle can have.

    Parameters
    ----------
    graph : Graph
    through : sequence of int
        Vertices that every cycle passes.
    avoid : sequence of int
        Vertices that no cycle passes.
    max_length : int or None
        Vertices of the longest cycle that is wanted.

    Returns
    -------
    Restricted

    Raises
    ------
    OptionError
        For a vertex that is not there, and for one that is both to be passed and to be avoided.
    """
    for v in (*through, *avoid):
        if not 0 <= v < graph.n:
            raise OptionError(f"there is no vertex {v}: the graph has {graph.n:,} vertices, counted from 0")
    wanted = tuple(dict.fromkeys(through))
    for v in wanted:
        if v in avoid:
            raise OptionError(f"the vertex {graph.names[v]} is both to be passed and to be avoided")
    if not wanted and not avoid:
        return Restricted(graph)
    edges = graph.edges()
    avoided = np.zeros(graph.n, np.bool_)
    avoided[list(avoid)] = True
    edges = edges[~avoided[edges].any(axis=1)]
    for _ in range(MOST_ROUNDS if wanted else 0):
        before = len(edges)
        if max_length is not None:
            edges = _within(edges, wanted, max_length // 2, graph.n)
        edges = _in_common_blocks(edges, wanted, graph.n)
        if len(edges) == before:
            break
    left = Graph.from_edge_array(edges.reshape(-1, 2), n=graph.n)
    left = Graph(left.row_ptr, left.col_idx, graph.vertex_names)
    if not wanted:
        return Restricted(left)
    # Few neighbours of the root make few paths to begin with.
    root = min(wanted, key=lambda v: (int(left.degrees[v]), v))
    return Restricted(left, root, tuple(v for v in wanted if v != root))


def _in_common_blocks(edges: IntArray, wanted: tuple[int, ...], n: int) -> IntArray:
    """Keep the edges of the blocks in which all wanted vertices lie."""
    edges, block = biconnected_edges(Graph.from_edge_array(edges.reshape(-1, 2), n=n))
    keep = np.ones(int(block.max(initial=-1)) + 1, np.bool_)
    for v in wanted:
        has = np.zeros_like(keep)
        has[block[(edges == v).any(axis=1)]] = True
        keep &= has
    return edges[keep[block]]


def _within(edges: IntArray, wanted: tuple[int, ...], radius: int, n: int) -> IntArray:
    """Keep the edges whose ends are within a distance of every wanted vertex."""
    graph = Graph.from_edge_array(edges.reshape(-1, 2), n=n)
    near = np.ones(n, np.bool_)
    for v in wanted:
        near &= _ball(graph, v, radius)
    return edges[near[edges].all(axis=1)]


def _ball(graph: Graph, centre: int, radius: int) -> npt.NDArray[np.bool_]:
    """Say for each vertex whether it is within a distance of one, shape (n,)."""
    inside = np.zeros(graph.n, np.bool_)
    inside[centre] = True
    border = np.array([centre])
    for _ in range(radius):
        begin, count = graph.row_ptr[border], graph.degrees[border]
        entry = np.repeat(begin - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
        near = graph.col_idx[entry]
        border = np.unique(near[~inside[near]])
        if not len(border):
            break
        inside[border] = True
    return inside


def vertices_called(graph: Graph, names: Iterable[Hashable]) -> tuple[int, ...]:
    """Find vertices by name, each given as it is in `Graph.names`.

    Raises
    ------
    OptionError
        For a name that no vertex has, or a name where a list of them belongs.
    """
    if not isinstance(names, Iterable):
        raise OptionError(f"through and avoid are lists of vertices: [{names!r}], not {names!r}")
    names = tuple(names)
    index = {name: v for v, name in enumerate(graph.names)} if names else {}
    found = []
    for name in names:
        try:
            found.append(index[name])
        except (KeyError, TypeError):  # it may be no name at all, but a list
            raise no_vertex(graph, name) from None
    return tuple(found)


def no_vertex(graph: Graph, name: Hashable) -> OptionError:
    """Return the error that says that no vertex has this name."""
    if not graph.n:
        return OptionError(f"there is no vertex {name!r}: the graph has none")
    if graph.vertex_names is None:
        return OptionError(f"there is no vertex {name!r}: the graph has the vertices 0 to {graph.n - 1}")
    return OptionError(f"there is no vertex {name!r} in the graph (its first is called {graph.names[0]!r})")
