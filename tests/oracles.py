"""Other people's answers to compare with, and graphs to ask about."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from itertools import combinations, pairwise

import networkx as nx
import pytest
from hypothesis import strategies as st

from kernels_ti import Graph
from kernels_ti.reference.algorithm import search
from kernels_ti.state import Frames, Totals


def grid(rows: int, columns: int) -> Graph:
    """Grid graph, vertices numbered row by row."""
    across = [(r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)]
    down = [(r * columns + c, r * columns + c + columns) for r in range(rows - 1) for c in range(columns)]
    return Graph.from_edges(rows * columns, across + down)


def disjoint_union(graphs: Iterable[nx.Graph]) -> tuple[Graph, list[int]]:
    """Put graphs side by side; also say at which vertex each one begins."""
    edges, starts, n = [], [], 0
    for graph in graphs:
        index = {node: n + i for i, node in enumerate(graph)}
        edges += [(index[u], index[v]) for u, v in graph.edges()]
        starts.append(n)
        n += len(graph)
    return Graph.from_edges(n, edges), starts


def levels_of(graph: Graph, *, max_length: int | None = None) -> Totals:
    """Run the whole search in plain Python, and return its counts by length."""
    totals = Totals()
    for _ in search(graph, totals, max_length=max_length):
        pass
    return totals


def networkx_cycles(graph: Graph, length_bound: int | None = None) -> list[list[int]]:
    """Chordless cycles as networkx finds them; its cycles of fewer than three vertices do not count here."""
    other = nx.Graph()
    other.add_nodes_from(range(graph.n))
    other.add_edges_from(graph.edges().tolist())
    return [cycle for cycle in nx.chordless_cycles(other, length_bound, backend="networkx") if len(cycle) > 2]


@st.composite
def small_graphs(draw: st.DrawFn) -> Graph:
    """Draw a simple graph of 3 to 11 vertices and up to 30 edges."""
    n = draw(st.integers(3, 11))
    pairs = list(combinations(range(n), 2))
    return Graph.from_edges(n, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=30)))


def by_length(cycles: Iterable[Iterable[int]]) -> dict[int, int]:
    """Count cycles by number of vertices."""
    return dict(sorted(Counter(len(list(cycle)) for cycle in cycles).items()))


def nauty(*command: str, stdin: bytes = b"") -> bytes:
    """Run a program of nauty, under the name that this system gives it."""
    for name in (command[0], f"nauty-{command[0]}"):
        if shutil.which(name):
            return subprocess.run([name, *command[1:]], input=stdin, capture_output=True, check=True).stdout
    pytest.skip(f"needs {command[0]} of nauty (Debian package nauty)")


def check_cycles(graph: Graph, cycles: list[list[int]]) -> None:
    """Each is a cycle, has no chord, is written the canonical way, and none comes twice."""
    neighbours = [set(graph.neighbours(v).tolist()) for v in range(graph.n)]
    for cycle in cycles:
        members = set(cycle)
        assert len(members) == len(cycle) >= 3, f"{cycle} visits a vertex twice or is too short"
        assert all(v in neighbours[u] for u, v in pairwise([*cycle, cycle[0]])), f"{cycle} is not a cycle"
        assert all(len(neighbours[u] & members) == 2 for u in cycle), f"{cycle} has a chord"
        assert cycle[0] == min(cycle), f"{cycle} does not start at its smallest vertex"
        assert cycle[1] < cycle[-1], f"{cycle} does not go to its smaller neighbour first"
    assert len({tuple(cycle) for cycle in cycles}) == len(cycles), "a cycle comes twice"


def waiting_in(pieces: Iterable[Frames]) -> dict[int, int]:
    """Count the waiting paths of each length in frames, one extension after another."""
    waiting: dict[int, int] = {}
    for frames in pieces:
        for length, extensions in zip(frames.length.tolist(), frames.extensions.tolist(), strict=True):
            waiting[length + 1] = waiting.get(length + 1, 0) + sum(map(int.bit_count, extensions))
    return waiting
