"""Graphs for programs: what `import chordless` offers beside the compute library."""

from __future__ import annotations

from kernels_ti import Graph, GraphError


def load_graph(source: str, *, simplify: bool = False, file_format: str | None = None) -> Graph:
    """Load a graph from a file or make the graph of a spec.

    Parameters
    ----------
    source : str
        A path, or a spec such as ``grid:7x10``; an existing file wins. See `chordless.graphs.load.load_graph`.
    simplify : bool
        Drop loops, repeated edges and directions instead of refusing them.
    file_format : str, optional
        One of `chordless.graphs.load.FORMATS`; by default the name or the content of the file decides.

    Returns
    -------
    Graph

    Raises
    ------
    GraphError
        If there is no such graph, or the file is not a finite simple undirected graph.
    OptionError
        For a format that does not exist.

    Examples
    --------
    >>> from chordless import count_cycles, load_graph
    >>> count_cycles(load_graph("cycle:5"), arch="cpu").by_length
    {5: 1}
    """
    from chordless.graphs import load

    try:
        return load.load_graph(source, simplify=simplify, file_format=file_format).graph
    except GraphError as error:
        # The readers speak to users of the command line.
        raise GraphError(str(error).replace("--simplify", "simplify=True")) from None
