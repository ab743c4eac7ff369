"""Reading weights of vertices or edges: ``v weight`` or ``u v weight`` in each line."""

from __future__ import annotations

from fractions import Fraction

from chordless.graphs.readers.columns import cells_of
from chordless.graphs.readers.source import Source, number_of
from kernels_ti import Graph
from kernels_ti.boundary.forward_and_back.weights import Weights, exact, key_of_edge

_SEPARATORS = ("\t", ",", ";", None)


def read_weights(source: Source, graph: Graph) -> Weights:
    """Read the weights of all vertices, or of all edges, of a graph.

    Parameters
    ----------
    source : Source
        Lines ``v weight`` or lines ``u v weight``, separated as in an edge list; it may be the edge list of the graph.
        Comments start with # or %. A first line whose last word is not a number is a heading.
    graph : Graph

    Returns
    -------
    Weights

    Raises
    ------
    GraphError
        For a line that is anything else, or that names a vertex or an edge that the graph does not have.
    OptionError
        If a vertex or an edge has no weight.
    """
    index = {str(name): v for v, name in enumerate(graph.names)}
    rows = [(number, _cells(line)) for number, line in enumerate(source.text.split("\n"), 1) if _has_data(line)]
    if len(rows) > 1 and number_of(rows[0][1][-1]) is None:
        rows.pop(0)
    if not rows:
        raise source.error("no weights: a line is `v weight` or `u v weight`")
    columns = len(rows[0][1])
    vertices: dict[int, Fraction] = {}
    edges: dict[tuple[int, int], Fraction] = {}
    for number, cells in rows:
        if len(cells) != columns or columns not in (2, 3) or number_of(cells[-1]) is None:
            shape = "`v weight`" if columns == 2 else "`u v weight`"
            raise source.error(
                f"a line of weights is {shape} with a number at its end, found {' '.join(cells)!r}", number
            )
        for name in cells[:-1]:
            if name not in index:
                raise source.error(f"there is no vertex {name!r} in the graph", number)
        weight = exact(cells[-1])
        ends = [index[name] for name in cells[:-1]]
        if columns == 2:
            is_new = vertices.setdefault(ends[0], weight) == weight
        else:
            if ends[1] not in graph.neighbours(ends[0]):
                if ends[0] == ends[1]:
                    continue  # a loop, which the graph has dropped
                raise source.error(f"there is no edge {cells[0]} - {cells[1]} in the graph", number)
            if not graph.has_edge(*ends):
                raise source.error(f"there is no arc {cells[0]} -> {cells[1]} in the graph", number)
            is_new = edges.setdefault(key_of_edge(graph, *ends), weight) == weight
        if not is_new:
            raise source.error(f"a second, different weight for {' - '.join(cells[:-1])}", number)
    return Weights.of_vertices(graph, vertices) if columns == 2 else Weights.of_edges(graph, edges)


def _has_data(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(("#", "%"))


def _cells(line: str) -> list[str]:
    for separator in _SEPARATORS:
        cells = cells_of(line.strip(), separator)
        if separator is None or len(cells) > 1:
            break
    return cells
