"""A graph to measure on, in every file format that the programs need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from chordless.graphs.load import write_edge_list
from kernels_ti import Graph


@dataclass(frozen=True, eq=False)
class BenchGraph:
    """A graph and its files. Each file is written at its first use.

    All files number the vertices in the same way, so that every program searches the same graph in the same order.

    Parameters
    ----------
    title : str
        The user's name for it.
    graph : Graph
    folder : Path
        An empty folder for the files.
    """

    title: str
    graph: Graph
    folder: Path

    @cached_property
    def file(self) -> str:
        """Path of an edge list in the format of ``chordless generate``. Vertices are numbered from 1."""
        path = self.folder / "graph.txt"
        # Numbers, not names: a search does not need names, and some names cannot be written.
        with path.open("w", encoding="utf-8") as stream:
            write_edge_list(Graph(self.graph.row_ptr, self.graph.col_idx), stream)
        return str(path)

    @cached_property
    def plain_edge_list(self) -> str:
        """Path of a file with a line ``n m`` and a line ``u v`` for each edge. Vertices are numbered from 0."""
        path = self.folder / "graph.el"
        with path.open("w", encoding="ascii") as stream:
            stream.write(f"{self.graph.n} {self.graph.m}\n")
            stream.writelines(f"{u} {v}\n" for u, v in self.graph.edges().tolist())
        return str(path)

    @cached_property
    def graph6(self) -> str:
        """Path of a graph6 file."""
        import networkx as nx

        path = self.folder / "graph.g6"
        other = nx.Graph()
        other.add_nodes_from(range(self.graph.n))
        other.add_edges_from(self.graph.edges().tolist())
        path.write_bytes(nx.to_graph6_bytes(other, header=False))
        return str(path)
