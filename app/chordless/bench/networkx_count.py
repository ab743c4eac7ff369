"""Count with networkx, in a process of its own that can be killed."""

from __future__ import annotations

import time

import networkx as nx


def main(edge_list: str) -> None:
    """Print the number of cycles of three or more vertices and the seconds that it took to enumerate them.

    Parameters
    ----------
    edge_list : str
        A file of a line ``n m`` and lines ``u v``, vertices from 0.
    """
    with open(edge_list, encoding="ascii") as lines:
        n, _ = map(int, next(lines).split())
        graph = nx.Graph()
        graph.add_nodes_from(range(n))
        graph.add_edges_from(tuple(map(int, line.split())) for line in lines)
    start = time.perf_counter()
    # networkx takes an edge in both directions, and a loop, for a cycle as well.
    count = sum(1 for cycle in nx.chordless_cycles(graph, backend="networkx") if len(cycle) > 2)
    print(f"cycles {count} sec {time.perf_counter() - start:.6f}")
