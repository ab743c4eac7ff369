"""Count with networkx, in a separate process that can be killed."""

from __future__ import annotations

import time

import networkx as nx


def main(edge_list: str) -> None:
    """Print the number of cycles of three or more vertices, and the seconds of the enumeration.

    Parameters
    ----------
    edge_list : str
        A file with a line ``n m`` and lines ``u v``. Vertices are numbered from 0.
    """
    with open(edge_list, encoding="ascii") as lines:
        n, _ = map(int, next(lines).split())
        graph = nx.Graph()
        graph.add_nodes_from(range(n))
        graph.add_edges_from(tuple(map(int, line.split())) for line in lines)
    start = time.perf_counter()
    # networkx also yields loops, and edges in both directions, as cycles.
    count = sum(1 for cycle in nx.chordless_cycles(graph, backend="networkx") if len(cycle) > 2)
    print(f"cycles {count} sec {time.perf_counter() - start:.6f}")
