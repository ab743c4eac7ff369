"""Reading weights of vertices or edges: ``v weight`` or ``u v weight`` in each line."""

from __future__ import annotations

import re
from fractions import Fraction

from chordless.graphs.readers.columns import best_separator, cells_of, decimal_of, has_data, quoted
from chordless.graphs.readers.edge_list import canonical
from chordless.graphs.readers.source import Source
from kernels_ti import Graph
from kernels_ti.boundary.values.weights import Weights, exact, key_of_edge

_LABEL = re.compile(r"^#[ \t]*label[ \t]+([^ \t]+)[ \t](.+)$", re.MULTILINE)


def read_weights(source: Source, graph: Graph, *, is_the_graph: bool = False) -> Weights:
    """Read the weights of all vertices, lines ``v weight``, or of all edges, lines ``u v weight``, of a graph.

    The lines are separated as in an edge list; it may be the edge list of the graph, `is_the_graph`, in which two words
    are an edge without a weight. Where lines ``# label ID text`` name all vertices, the others have the ids. Numbers
    have a decimal point, or all of them a comma. Comments start with # or %. A first line whose last word is not a
    number is a heading, unless it names vertices of the graph. Raises GraphError for any other line and for names that
    the graph does not have, OptionError if a weight is missing.
    """
    index = {str(name): v for v, name in enumerate(graph.names)}
    labels = dict(_LABEL.findall(source.text))
    if len(labels) == graph.n and all(label in index for label in labels.values()):
        index = {canonical(name): index[label] for name, label in labels.items()}

    def fits(cells: list[str], _separator: str | None) -> bool:
        return decimal_of(cells[-1]) is not None and all(name in index for name in cells[:-1])

    lines = [(number, line) for number, line in enumerate(source.text.split("\n"), 1) if has_data(line)]
    separator = best_separator([line for _, line in lines], fits)
    rows = [(number, cells_of(line, separator)) for number, line in lines]
    *names, last = rows[0][1] if rows else ("",)
    if len(rows) > 1 and decimal_of(last) is None and not all(name in index for name in names):
        rows.pop(0)
    if not rows:
        raise source.error("no weights: a line is `v weight` or `u v weight`")
    columns = len(rows[0][1])
    if is_the_graph and columns == 2:
        raise source.error("this edge list has no weights: right is `u v weight`", rows[0][0])
    mark = next((sign for _, cells in rows for sign in ".," if sign in cells[-1]), None)
    vertices: dict[int, Fraction] = {}
    edges: dict[tuple[int, int], Fraction] = {}
    for number, cells in rows:
        if len(cells) != columns or columns not in (2, 3) or (text := decimal_of(cells[-1])) is None:
            shape = "`v weight`" if columns == 2 else "`u v weight`"
            raise source.error(
                f"a line of weights is {shape} with a number at its end, found {quoted(' '.join(cells))}", number
            )
        for name in cells[:-1]:
            if name not in index:
                raise source.error(f"there is no vertex {quoted(name)} in the graph", number)
        if any(sign in cells[-1] and sign != mark for sign in ".,"):
            raise source.error(
                f"{cells[-1]}: some weights have a decimal point, others a comma; write all alike", number
            )
        weight = exact(text)
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
