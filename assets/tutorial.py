"""A tour of chordless in Python, to be read from top to bottom and to be run: ``python assets/tutorial.py``."""

import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

import networkx as nx
import numpy as np
from chordless import Graph, collect_cycles, count_cycles, enumerate_cycles, is_chordal

# 1. Count. Any graph of networkx will do, and of igraph and rustworkx, and adjacency matrices of numpy and scipy.
#    A chordless cycle is a cycle in which no two vertices are joined but those next to each other on it.

petersen = nx.petersen_graph()
counts = count_cycles(petersen, arch="cpu")
print("Petersen graph, cycles by length:", counts.by_length)
assert counts.by_length == {5: 12, 6: 10}

# Triangles are chordless as well; the literature often counts only the cycles of 4 or more vertices, the "holes".

karate = nx.karate_club_graph()
counts = count_cycles(karate, arch="cpu")
triangles, holes = counts.triangles, counts.chordless_cycles
print(f"Karate club: {triangles} triangles and {holes} holes, {counts.total} in all")

# 2. List. The cycles come while the search goes on, as lists of vertices in cycle order, so a loop may stop when it
#    has seen enough. A grid of 6 x 8 has 50,203; here are three of them.

grid = nx.grid_2d_graph(6, 8)
for cycle in islice(enumerate_cycles(grid, arch="cpu"), 3):
    print("one of the grid:", *cycle)

# 3. Bound the length. A maximum prunes the search: what is too long is never begun. That is how graphs are searched
#    that have more cycles than anybody could wait for, like this grid of 400 vertices.

short = count_cycles(nx.grid_2d_graph(20, 20), arch="cpu", max_length=10)
print("20 x 20 grid, up to 10 vertices:", short.by_length)
assert short.by_length[4] == 19 * 19

# 4. Have them in arrays. A collection keeps all cycles as a CSR pair: cycle i is `vertices[offsets[i]:offsets[i + 1]]`.
#    Nothing in it is a Python object, so millions of cycles are no trouble. In how many cycles does each vertex lie?

cycles = collect_cycles(grid, arch="cpu")
in_cycles = np.bincount(cycles.vertices, minlength=cycles.graph.n)
busiest = int(in_cycles.argmax())
print(f"{len(cycles):,} cycles; {cycles.graph.names[busiest]} lies on {in_cycles[busiest]:,} of them")

# The same as bit rows, one bit to a vertex: sets that numpy compares by the word.

rows = cycles.rows()
corner, opposite = (np.uint64(1) << np.uint64(v) for v in (0, cycles.graph.n - 1))
print(f"{np.count_nonzero(rows & corner):,} of them go through the corner (0, 0),", end=" ")
both = (rows & corner != 0) & (rows & opposite != 0)
print(f"{np.count_nonzero(both):,} through the opposite one as well")

# 5. Ask for a proof. A graph without holes is chordal, and then its vertices have an order in which each one's later
#    neighbours are adjacent to one another. Otherwise there is a hole. Either is found in linear time.

walls, roof = [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 4), (1, 4)]
house = Graph.from_edges(5, walls + roof, names=["a", "b", "c", "d", "roof"])
print("The house is not chordal:", *is_chordal(house).hole)
print("A tree is, in this order:", *is_chordal(nx.balanced_tree(2, 2)).elimination_ordering)

# 6. Stay with networkx. The installed package is a backend of it: its own function, our engine. With
#    `nx.config.backend_priority = ["chordless"]` it is taken by itself wherever that is faster.

if "chordless" in nx.utils.backends.backends:
    short = list(nx.chordless_cycles(petersen, length_bound=5, backend="chordless"))
    print(f"networkx, with our engine: {len(short)} cycles of up to 5 vertices")
    assert len(short) == 12

# 7. Use the command line for what is long. It writes run directories, which can be resumed after a power cut, and
#    exported: to text, JSON lines, `.npy`, or Parquet.


def chordless(*arguments: object) -> str:
    """Run ``chordless`` as the shell would; return what it printed."""
    command = [sys.executable, "-m", "chordless", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


with tempfile.TemporaryDirectory() as folder:
    run = Path(folder) / "run"
    chordless("list", "grid:5x6", "-o", f"{run}/", "--arch", "cpu", "--quiet")
    chordless("export", run, "-o", Path(folder) / "cycles.jsonl", "--quiet")
    lines = (Path(folder) / "cycles.jsonl").read_text().splitlines()
    print(f"a run directory, exported: {len(lines)} lines; the shortest is {min(lines, key=len)}")
    assert len(lines) == count_cycles(nx.grid_2d_graph(5, 6), arch="cpu").total
