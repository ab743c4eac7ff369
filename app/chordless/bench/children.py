"""Functions of child processes of a bench, which load only what they measure; see `process.in_child`."""

from __future__ import annotations

import json
import sys
import time

from kernels_ti import ChordlessError


def count_with_networkx(edge_list: str) -> None:
    """Print the number of cycles of three or more vertices, and the seconds of the enumeration.

    The file has a line ``n m`` and lines ``u v``. Vertices are numbered from 0.
    """
    import networkx as nx

    with open(edge_list, encoding="ascii") as lines:
        n, _ = map(int, next(lines).split())
        graph = nx.Graph()
        graph.add_nodes_from(range(n))
        graph.add_edges_from(tuple(map(int, line.split())) for line in lines)
    start = time.perf_counter()
    # networkx also yields loops, and edges in both directions, as cycles.
    count = sum(1 for cycle in nx.chordless_cycles(graph, backend="networkx") if len(cycle) > 2)
    print(f"cycles {count} sec {time.perf_counter() - start:.6f}")


def read(file: str) -> None:
    """Read, label and split a graph file. Print the seconds and the memory in bytes as JSON, or the error."""
    from chordless.graphs.load import load_graph
    from kernels_ti import Options
    from kernels_ti.blocks.search_space import SearchSpace
    from kernels_ti.device.memory import peak_memory

    try:
        start = time.perf_counter()
        SearchSpace(load_graph(file).graph, Options()).batches()
        print(json.dumps({"seconds": time.perf_counter() - start, "memory": peak_memory()}))
    except ChordlessError as error:
        print(json.dumps({"error": str(error)}))


def answer(arch: str, threads: str) -> None:
    """Answer each line of standard input, a request, with one line of JSON, until there are no more.

    The answer is what `chordless.bench.calls.answer` returns, or the error. `threads` is a number, "" for all.
    """
    from chordless.bench import calls

    for line in sys.stdin:
        request = json.loads(line)
        try:
            told = calls.answer(request["graph"], request["wanted"], arch, int(threads) if threads else None)
        except ChordlessError as error:
            told = {"error": str(error)}
        print(json.dumps(told), flush=True)
