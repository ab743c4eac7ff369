"""Conversion of graphs of other libraries. They are recognised by their methods; no library is imported."""

from __future__ import annotations

from collections.abc import Hashable
from os import PathLike
from types import ModuleType
from typing import Any

import numpy as np

from kernels_ti.errors import GraphError, OptionError, require_flags, type_of
from kernels_ti.graph import Graph
from kernels_ti.library_graphs import is_frame


def as_graph(graph: Any, *, simplify: bool = False) -> Graph:
    """Return a graph of any library as a `Graph`.

    Parameters
    ----------
    graph : Graph, graph of networkx, igraph or rustworkx, RDKit molecule, scipy sparse matrix, numpy array, data frame
        A graph of a library may be directed and have self-loops and parallel edges. A molecule has its atoms, with
        their indices in RDKit, for vertices and its bonds for edges. A matrix, array or frame is the adjacency matrix
        of a simple undirected graph; `Graph.from_numpy` and the like make directed ones.
    simplify : bool
        Drop self-loops, repeated edges and directions.

    Returns
    -------
    Graph
        A `Graph` comes back as it is, with `simplify` as a simple undirected one.

    Raises
    ------
    GraphError
        If it has another type. For a matrix, unless `simplify`, also if it is not that of a simple undirected graph.
    OptionError
        If `simplify` is neither True nor False.

    Examples
    --------
    >>> import networkx
    >>> from chordless import as_graph
    >>> as_graph(networkx.petersen_graph())
    Graph(n=10, m=15)
    """
    require_flags(simplify=simplify)
    if isinstance(graph, Graph):
        return graph.underlying() if simplify else graph
    if isinstance(graph, type):
        raise GraphError(f"the class {graph.__name__} is not a graph: give an instance of it")
    if isinstance(graph, ModuleType):
        raise GraphError(f"the module {graph.__name__} is not a graph")
    for methods, of_library in (
        (("is_directed", "edges"), Graph.from_networkx),
        (("is_directed", "get_edgelist"), Graph.from_igraph),
        (("edge_list", "node_indices"), Graph.from_rustworkx),
        (("tocoo",), Graph.from_scipy),
    ):
        if all(hasattr(graph, name) for name in methods):
            return of_library(graph, simplify=simplify)
    if hasattr(graph, "GetNumAtoms") and hasattr(graph, "GetBonds"):
        return Graph.from_rdkit(graph)
    if is_frame(graph):
        return Graph.from_pandas(graph, simplify=simplify)
    if isinstance(graph, np.ndarray):
        return Graph.from_numpy(graph, simplify=simplify)
    hint = ""
    if isinstance(graph, (str, PathLike)):
        hint = "; chordless.load_graph reads a file and makes the graph of a spec"
    elif isinstance(graph, (list, tuple)):
        hint = "; Graph.from_edges makes one of a list of edges, numpy.array of a list of rows"
    raise GraphError(
        f"{type_of(graph)} is not a graph: give a Graph, a graph of networkx, igraph or rustworkx, a "
        f"molecule of RDKit, or an adjacency matrix of scipy, numpy or pandas{hint}"
    )


def attribute_weights(graph: Any, name: str, *, simplify: bool = False) -> dict[Any, Any]:
    """Return an attribute of a networkx graph: of its edges if any of them has it, else of its nodes.

    Self-loops are left out if the graph is simplified. An OptionError says that the graph has no attributes, that
    neither an edge nor a node has this one, or that parallel edges have different weights.
    """
    if not (hasattr(graph, "is_directed") and hasattr(graph, "adj")):
        raise OptionError(f"weight={name!r} names an attribute of a networkx graph: give a mapping for other graphs")
    edges: dict[Any, Any] = {}
    for u, v, weight in graph.edges(data=name):
        if weight is None or (simplify and u == v):
            continue
        # By identity first, so that NaN is named where weights are checked.
        if edges.setdefault((u, v), weight) not in (weight,):
            raise OptionError(f"the edge {u} - {v} has two weights, {edges[u, v]!r} and {weight!r}")
    nodes: dict[Hashable, Any] = {v: weight for v, weight in graph.nodes(data=name) if weight is not None}
    if not edges and not nodes:
        if not graph.number_of_edges():
            # There is no cycle and no path that could weigh anything.
            return dict.fromkeys(graph, 0)
        raise OptionError(f"no edge and no node of the graph has an attribute {name!r}")
    return edges or nodes
