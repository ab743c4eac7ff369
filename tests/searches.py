"""Hypothesis strategies: small graphs, and searches in them with the cycles that are wanted."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from kernels_ti import Graph
from kernels_ti.options import Lengths
from kernels_ti.reference.algorithm import chordless_cycles


@st.composite
def graphs(draw, most=11):
    n = draw(st.integers(3, most))
    pairs = list(itertools.combinations(range(n), 2))
    return Graph.from_edges(n, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=30)))


@st.composite
def searches(draw):
    """Return a graph, bounds and a restriction, and the cycles within them."""
    graph = draw(graphs())
    shortest = draw(st.integers(3, 5))
    longest = draw(st.none() | st.integers(shortest, shortest + 4))
    parity = draw(st.sampled_from([None, None, "odd", "even"]))
    through = draw(st.sets(st.integers(0, graph.n - 1), max_size=2))
    avoid = draw(st.sets(st.integers(0, graph.n - 1), max_size=2)) - through
    edges = [edge for edge in graph.edges().tolist() if not set(edge) <= through]
    avoid_edges = draw(st.lists(st.sampled_from(edges), unique_by=tuple, max_size=2)) if edges else []
    wanted = [
        cycle
        for cycle in chordless_cycles(graph)
        if len(cycle) in Lengths(shortest, longest, parity)
        and through <= set(cycle)
        and not avoid & set(cycle)
        and not any(set(edge) <= set(cycle) for edge in avoid_edges)
    ]
    bounds = {
        "min_length": shortest, "max_length": longest, "parity": parity, "through": sorted(through),
        "avoid": sorted(avoid), "avoid_edges": avoid_edges,
    }  # fmt: skip
    return graph, bounds, wanted
