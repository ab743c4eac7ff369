"""The sequential algorithm: the oracle must itself be right."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import by_length, check_cycles, grid, levels_of, networkx_cycles

from kernels_ti import Graph, SizeError
from kernels_ti.reference.algorithm import MOST_VERTICES, canonical, chordless_cycles


@given(st.integers(0, 12), st.floats(0, 1), st.integers(0, 10**6))
def test_equals_networkx(n: int, p: float, seed: int) -> None:
    graph = Graph.from_networkx(nx.gnp_random_graph(n, p, seed=seed))
    cycles = list(chordless_cycles(graph))
    check_cycles(graph, cycles)
    assert by_length(cycles) == by_length(networkx_cycles(graph))


@given(st.integers(3, 14), st.integers(3, 9), st.integers(0, 10**6))
def test_a_length_bound_leaves_out_the_longer_ones(n: int, bound: int, seed: int) -> None:
    graph = Graph.from_networkx(nx.gnp_random_graph(n, 0.3, seed=seed))
    short = [cycle for cycle in chordless_cycles(graph) if len(cycle) <= bound]
    assert sorted(chordless_cycles(graph, max_length=bound)) == sorted(short)


def test_levels_of_grid_5x6_are_those_of_the_paper_s_search() -> None:
    levels = levels_of(grid(5, 6))
    assert sum(levels.paths.values()) == 5062
    assert max(levels.paths.values()) == 685
    assert levels.paths[3] == 20
    assert sum(levels.cycles.values()) == 749


def test_canonical_starts_at_the_smallest_vertex_then_its_smaller_neighbour() -> None:
    assert canonical([5, 2, 9, 4]) == [2, 5, 4, 9]
    assert canonical([7, 3, 1]) == [1, 3, 7]


def test_a_graph_whose_bit_rows_are_too_large_is_refused_in_one_line() -> None:
    with pytest.raises(SizeError, match=r"^the search in plain Python is for at most 65,536 vertices, .* use another"):
        next(chordless_cycles(Graph.from_edges(MOST_VERTICES + 1, [(0, 1)])))
