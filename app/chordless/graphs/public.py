"""The functions `load_graph` and `overlap_graph` of the public API of `chordless`."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from kernels_ti import Graph, GraphError, OptionError, as_graph
from kernels_ti.errors import require_flags
from kernels_ti.library_graphs import is_frame
from kernels_ti.options import require_memory


def load_graph(
    source: str | os.PathLike[str],
    *,
    simplify: bool = False,
    directed: bool = False,
    multigraph: bool = False,
    file_format: str | None = None,
    encoding: str | None = None,
    memory: int | None = None,
) -> Graph:
    """Load a graph from a file or make the graph of a spec.

    Parameters
    ----------
    source : str or os.PathLike
        A path, or a spec such as ``grid:7x10``; an existing file wins. In a file of many graphs, ``FILE:12`` is that
        of line 12. ``-`` is standard input.
    simplify : bool
        Drop self-loops, repeated edges and directions: the graph is simple and undirected.
    directed : bool
        Take each edge as an arc from its first vertex to the second, where the format does not say.
    multigraph : bool
        Keep self-loops and repeated edges instead of refusing them. A directed graph may have self-loops anyway.
    file_format : str, optional
        ``edgelist``, ``dimacs``, ``pajek``, ``graphml``, ``gml``, ``graph6``, ``mtx``, ``adjlist``, ``matrix``,
        ``json``, ``table``, ``metis``, ``sdf`` or ``smiles``; by default the name or the content of the file decides.
    encoding : str, optional
        The encoding of the file, such as ``latin-1``; by default UTF-8.
    memory : int, optional
        Bytes that reading may use, 64 MiB at least; a file may have an eighth of it. By default most of the free
        memory.

    Returns
    -------
    Graph
        The names of the vertices of a file are strings; those of a spec are as `generate` makes them.

    Warns
    -----
    UserWarning
        For each part of the file that is left out or interpreted: a heading, weights, commas that could be separators,
        a molecule that RDKit would reject.

    Raises
    ------
    GraphError
        If there is no such graph, or the file is not such a graph. The message names the file and,
        where it is known, the line.
    OptionError
        For a format or an encoding that does not exist.

    Examples
    --------
    >>> from chordless import count_cycles, load_graph
    >>> count_cycles(load_graph("cycle:5"), arch="cpu").by_length
    {5: 1}
    """
    from chordless.graphs import load
    from chordless.graphs.readers.incoming import Limits

    require_memory(memory)
    require_flags(simplify=simplify, directed=directed, multigraph=multigraph)
    if not isinstance(source, (str, os.PathLike)):
        raise GraphError(f"a graph is loaded by the name of its file or kind, not {source!r}; as_graph takes objects")
    limits = Limits(memory=memory)
    loaded = load.load_graph(
        os.fspath(source),
        simplify=simplify,
        directed=directed,
        multigraph=multigraph,
        file_format=file_format,
        encoding=encoding,
        limits=limits,
    )
    for note in loaded.notes:
        warnings.warn(note, stacklevel=2)
    return loaded.graph


def overlap_graph(web: Any, *, types: str | os.PathLike[str] | None = None, encoding: str | None = None) -> Graph:
    """Make the niche overlap graph of a food web: two species are joined if they share a living prey.

    Parameters
    ----------
    web : str, os.PathLike, pandas.DataFrame, Graph, directed graph of networkx, igraph or rustworkx, matrix
        A file: a Pajek network, a predation matrix, a list of lines ``prey -> predator``, or a directed graph in
        another format. A data frame is a predation matrix: an entry that is neither 0 nor missing says that the
        species of its column eats that of its row. In a directed graph an arc leads from the prey to the predator. A
        square matrix of numpy or scipy has the same species in rows, as prey, and in columns, as predators.
    types : str or os.PathLike, optional
        Of a file: a Pajek partition with the type of each vertex, 1 for the living ones. By default the ``.clu`` beside
        the file; where there is none, and with ``"none"``, every vertex is living, as in a web in memory.
    encoding : str, optional
        The encoding of a file, such as ``latin-1``; by default UTF-8.

    Returns
    -------
    Graph
        Simple and undirected, with all species of the web.

    Warns
    -----
    UserWarning
        For each part of a file that is left out or interpreted, and where a file has no types.

    Raises
    ------
    GraphError
        If there is no such web, or its links have no direction.
    OptionError
        For `types` or `encoding` of a web that is no file.

    Examples
    --------
    >>> import networkx
    >>> from chordless import overlap_graph
    >>> overlap_graph(networkx.DiGraph([("grass", "hare"), ("grass", "goose"), ("hare", "fox")])).edges().tolist()
    [[1, 2]]
    """
    from chordless.graphs.overlap import overlap_of_links, read_food_web, warning_of_missing_types

    if isinstance(web, (str, os.PathLike)):
        if types is not None and not isinstance(types, (str, os.PathLike)):
            raise OptionError(f"types is the name of a file, or 'none', not {types!r}")
        read = read_food_web(os.fspath(web), None if types is None else os.fspath(types), encoding)
        for note in read.notes:
            warnings.warn(note, stacklevel=2)
        if read.lacks_types:
            warnings.warn(warning_of_missing_types([os.fspath(web)], 'types="none"'), stacklevel=2)
        return read.overlap
    if types is not None or encoding is not None:
        raise OptionError("types and encoding are of a file; leave out of a web in memory what is not living")
    if is_frame(web):
        graph = Graph.from_pandas(web, directed=True)
    elif isinstance(web, np.ndarray):
        graph = Graph.from_numpy(web, directed=True)
    elif hasattr(web, "tocoo"):
        graph = Graph.from_scipy(web, directed=True)
    else:
        graph = as_graph(web)
    if not graph.directed:
        raise GraphError(
            "a food web is a directed graph, with an arc from the prey to the predator; this one has edges"
        )
    return overlap_of_links(map(tuple, graph.edges().tolist()), graph.names)
