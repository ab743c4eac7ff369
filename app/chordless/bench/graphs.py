"""A graph to measure on, in every form that a program may want it in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from chordless.graphs.load import write_edge_list
from kernels_ti import Graph


@dataclass(frozen=True, eq=False)
class BenchGraph:
    """A graph and its files, each of them written when it is first asked for.

    All of them number the vertices alike, so that every program searches the same graph in the same order.

    Parameters
    ----------
    title : str
        What the user calls it.
    graph : Graph
    folder : Path
        An empty folder of its own, for the files.
    """

    title: str
    graph: Graph
    folder: Path

    @cached_property
    def file(self) -> str:
        """Path of an edge list as ``chordless generate`` writes it, vertices from 1."""
        path = self.folder / "graph.txt"
        # By number: names have no part in a search, and not every name fits in a file.
        with path.open("w", encoding="utf-8") as stream:
            write_edge_list(Graph(self.graph.row_ptr, self.graph.col_idx), stream)
        return str(path)

    @cached_property
    def plain_edge_list(self) -> str:
        """Path of a line ``n m`` and a line ``u v`` for each edge, vertices from 0."""
        path = self.folder / "graph.el"
        with path.open("w", encoding="ascii") as stream:
            stream.write(f"{self.graph.n} {self.graph.m}\n")
            stream.writelines(f"{u} {v}\n" for u, v in self.graph.edges().tolist())
        return str(path)

    @cached_property
    def graph6(self) -> str:
        """Path of a line of graph6."""
        import networkx as nx

        path = self.folder / "graph.g6"
        other = nx.Graph()
        other.add_nodes_from(range(self.graph.n))
        other.add_edges_from(self.graph.edges().tolist())
        path.write_bytes(nx.to_graph6_bytes(other, header=False))
        return str(path)
