"""The shortest and the lightest chordless cycles by shortest paths, against all cycles of other programs."""

from __future__ import annotations

import itertools
import random

import networkx as nx
import pytest
from brute_force import chordless_cycles, edge_weight, wanted
from directed_graphs import KINDS, random_graph
from hypothesis import given
from hypothesis import strategies as st
from searches import searches

from kernels_ti import OptionError, Options, as_graph, longest_cycle, shortest_path
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.cheapest import cheapest_cycle
from kernels_ti.device.memory import resident_bytes


def checked(graph, options, cycles, value, cost):
    """Compare the cheapest cycle with all cycles that are wanted."""
    found = cheapest_cycle(SearchSpace(graph, options), cost)
    assert found.complete
    if not cycles:
        assert (found.ways, found.kept) == (0, [])
        return
    values = [value(cycle) for cycle in cycles]
    ((cheapest, cycle),) = found.kept
    assert (cheapest, found.ways) == (min(values), values.count(min(values)))
    assert tuple(cycle) in set(map(tuple, cycles))
    assert value(tuple(cycle)) == cheapest


@given(searches())
def test_the_shortest_cycles_within_bounds_are_found_and_counted(search):
    graph, bounds, cycles = search
    options = Options(**{name: tuple(map(tuple, v)) if name == "avoid_edges" else v for name, v in bounds.items()})
    checked(graph, options, cycles, len, None)


@given(searches(), st.integers(0, 9), st.randoms(use_true_random=False))
def test_the_lightest_cycles_by_vertices_are_found_and_counted(search, least, numbers):
    graph, bounds, cycles = search
    weights = [numbers.randint(least, 9) for _ in range(graph.n)]
    checked(graph, Options(**bounds), cycles, lambda cycle: sum(weights[v] for v in cycle), lambda u, v: weights[v])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize("seed", range(40))
def test_the_lightest_cycles_by_edges_are_found_in_every_kind_of_graph(kind, least, seed):
    numbers = random.Random(seed)
    n = 8
    original = random_graph(kind, seed, n, numbers.choice([0.2, 0.35, 0.5]))
    graph = as_graph(original)
    edges = [(u, v) for u, v, *_ in original.edges]
    directed = original.is_directed()
    weights = {pair: numbers.randint(least, 6) for pair in itertools.product(range(n), repeat=2)}
    if not directed:
        weights |= {(v, u): weight for (u, v), weight in weights.items() if u < v}
    through = numbers.sample(range(n), numbers.choice([0, 0, 1, 2]))
    bounds = {
        "min_length": numbers.choice([3, 4, 5] if graph.is_simple else [1, 2, 3, 4, 5]),
        "max_length": numbers.choice([None, None, 5, 6]),
        "through": through,
        "avoid": [v for v in numbers.sample(range(n), 1) if v not in through and numbers.random() < 0.5],
    }
    cycles = wanted(chordless_cycles(n, edges, directed=directed), **bounds)
    checked(
        graph,
        Options(**{name: tuple(v) if isinstance(v, list) else v for name, v in bounds.items()}),
        cycles,
        len,
        None,
    )
    checked(
        graph,
        Options(**{name: tuple(v) if isinstance(v, list) else v for name, v in bounds.items()}),
        cycles,
        lambda cycle: edge_weight(cycle, weights, directed=directed),
        lambda u, v: weights[u, v],
    )


def test_a_negative_cost_is_refused():
    with pytest.raises(ValueError, match="negative"):
        cheapest_cycle(SearchSpace(as_graph(nx.cycle_graph(5))), lambda u, v: u - 1)


def test_a_search_without_room_for_its_arcs_is_refused_before():
    ladder = as_graph(nx.ladder_graph(50_000))
    memory = resident_bytes() + (64 << 20)
    with pytest.raises(OptionError, match=r"is too small: .* a search by shortest paths takes 122 MiB more$"):
        longest_cycle(ladder, shortest=True, memory=memory)
    with pytest.raises(OptionError, match="is too small"):
        shortest_path(ladder, 0, 99_999, memory=memory)


def test_a_search_that_is_ended_says_that_it_is_not_complete():
    assert not cheapest_cycle(SearchSpace(as_graph(nx.cycle_graph(5))), enough=lambda: True).complete
