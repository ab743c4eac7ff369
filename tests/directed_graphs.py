"""Directed graphs and multigraphs to search, and their chordless cycles as networkx and the definition give them."""

import itertools
import random
from collections.abc import Iterable, Iterator

import networkx as nx

from kernels_ti import Graph, Options
from kernels_ti.reference.algorithm import chordless_cycles
from kernels_ti.short_cycles import short_cycles

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def all_digraphs(n: int) -> Iterator[nx.DiGraph]:
    """Yield every digraph on n vertices, without self-loops."""
    arcs = list(itertools.permutations(range(n), 2))
    for chosen in itertools.product((False, True), repeat=len(arcs)):
        yield _made(nx.DiGraph, n, itertools.compress(arcs, chosen))


def all_multigraphs(n: int, most: int) -> Iterator[nx.MultiGraph]:
    """Yield every multigraph on n vertices with up to `most` parallel edges, without self-loops."""
    pairs = list(itertools.combinations(range(n), 2))
    for counts in itertools.product(range(most + 1), repeat=len(pairs)):
        yield _made(nx.MultiGraph, n, (pair for pair, count in zip(pairs, counts, strict=True) for _ in range(count)))


def random_graph(kind: type, seed: int, n: int, probability: float, loops: float = 0.1) -> nx.Graph:
    """Make a random graph of a class of networkx, with self-loops, and with parallel edges if it may have them."""
    generator, graph = random.Random(seed), _made(kind, n, ())
    for u, v in itertools.product(range(n), repeat=2):
        if u == v:
            if generator.random() < loops:
                graph.add_edge(u, u)
        elif graph.is_directed() or u < v:
            while generator.random() < probability:
                graph.add_edge(u, v)
                if not graph.is_multigraph():
                    break
    return graph


def by_definition(graph: nx.Graph) -> list[tuple[int, ...]]:
    """Return the chordless cycles that networkx finds, less those that have a chord by its own definition.

    networkx 3.6.1 overlooks chords that are parallel edges: the graph induced on such a cycle has more edges than
    vertices.
    """
    found = nx.chordless_cycles(graph, backend="networkx")
    return sorted(
        canonical(cycle, directed=graph.is_directed())
        for cycle in found
        if graph.subgraph(cycle).number_of_edges() == len(cycle)
    )


def by_counting_arcs(arcs: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Find the chordless cycles of a digraph slowly: a cycle has as many arcs as vertices, a path one less.

    Nothing of this is shared with the searches or with networkx. Each cycle begins at its smallest vertex.
    """
    there = set(arcs)
    heads: dict[int, list[int]] = {}
    for u, v in there:
        heads.setdefault(u, []).append(v)
    found, waiting = [], [(v,) for v in heads]
    while waiting:
        path = waiting.pop()
        within = sum(pair in there for pair in itertools.product(path, repeat=2))
        if within == len(path) and (path[-1], path[0]) in there:
            found.append(path)
        elif within == len(path) - 1:
            waiting += [(*path, v) for v in heads.get(path[-1], ()) if v > path[0]]
    return sorted(found)


def canonical(cycle: list[int], *, directed: bool) -> tuple[int, ...]:
    """Rotate a cycle to its smallest vertex; if it has no direction, the smaller neighbour follows."""
    at = cycle.index(min(cycle))
    forward = cycle[at:] + cycle[:at]
    return tuple(forward if directed or forward[1:2] <= forward[-1:] else [forward[0], *forward[:0:-1]])


def by_reference(graph: Graph) -> list[tuple[int, ...]]:
    """Return all chordless cycles, those of one and two vertices included, by the reference."""
    short = short_cycles(graph, Options(min_length=1))
    return sorted(map(tuple, [*short, *chordless_cycles(graph)]))


def _made(kind: type, n: int, edges) -> nx.Graph:
    graph = kind()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    return graph
