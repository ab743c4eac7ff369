"""A graph to measure on, in every file format that the programs need."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from chordless.graphs.load import load_graph
from chordless.graphs.writers import write_edge_list, write_graph_file
from kernels_ti import Graph


@dataclass(frozen=True, eq=False)
class BenchGraph:
    """A graph with its name, and its files, which number the vertices in the same way; each is written when used."""

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
        path = self.folder / "graph.g6"
        with path.open("wb") as stream:
            write_graph_file(self.graph, str(path), stream)
        return str(path)


def new_folder(stack: ExitStack) -> Path:
    """Make an empty folder that is there until the stack is left."""
    return Path(stack.enter_context(TemporaryDirectory(prefix="chordless-bench-")))


def graphs_of(names: Sequence[str], stack: ExitStack, *, simplify: bool = False) -> list[BenchGraph]:
    """Load graphs by their files or specs, each with a folder of its own."""
    return [BenchGraph(name, load_graph(name, simplify=simplify).graph, new_folder(stack)) for name in names]
