"""The function `load_graph` of the public API of `chordless`."""

from __future__ import annotations

import os

from kernels_ti import Graph


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
        ``edgelist``, ``dimacs``, ``pajek``, ``graphml``, ``gml``, ``graph6``, ``mtx``, ``adjlist``, ``sdf`` or
        ``smiles``; by default the name or the content of the file decides.
    encoding : str, optional
        The encoding of the file, such as ``latin-1``; by default UTF-8.
    memory : int, optional
        Bytes that reading may use; a file may have an eighth of it. By default most of the free memory.

    Returns
    -------
    Graph
        The names of its vertices are strings.

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

    limits = Limits(memory=memory)
    return load.load_graph(
        os.fspath(source),
        simplify=simplify,
        directed=directed,
        multigraph=multigraph,
        file_format=file_format,
        encoding=encoding,
        limits=limits,
    ).graph
