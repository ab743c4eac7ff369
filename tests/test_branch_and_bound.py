"""Branch and bound for the longest cycles: their number is that of a whole count, and fewer paths are searched."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from chordless import generate
from hypothesis import given, settings
from oracles import by_length, networkx_cycles
from searches import searches

from kernels_ti import Options, Run, as_graph, longest_cycle, open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.symmetry.space import worthwhile

TWO_BLOCKS = as_graph(nx.disjoint_union(nx.gnp_random_graph(36, 0.12, seed=5), nx.gnp_random_graph(20, 0.3, seed=2)))
"""Rows of several words on a GPU, with labels that no vertex has."""


def raised(run):
    """Search for a slice; after it a cycle is to be as long as the longest so far."""
    so_far = run.advance()
    run.least_length = max(so_far.cycles_by_length, default=run.least_length)


def ran(space, arch):
    """Return the last snapshot of a run, and the cycles that it met."""
    run, lists = Run(space, open_device(arch)), []
    while not run.finished:
        raised(run)
        found = run.take_cycles()
        lists += np.split(found.vertices, found.offsets[1:-1]) if len(found) else []
    return run.snapshot(), lists


def greatest(counts):
    return max(((length, count) for length, count in counts.items() if count), default=None)


@pytest.mark.slow
@pytest.mark.parametrize("collect", [False, True])
@pytest.mark.parametrize("graph", [TWO_BLOCKS, generate("grid:5x6"), generate("king:5x5")], ids=["two", "grid", "king"])
def test_the_number_of_the_longest_is_that_of_a_whole_count(arch, graph, collect):
    right = by_length(networkx_cycles(graph))
    last, lists = ran(SearchSpace(graph, Options(pruned=True, collect=collect)), arch)
    assert greatest(last.cycles_by_length) == greatest(right)
    assert all(count <= right[length] for length, count in last.cycles_by_length.items())
    longest = [cycle for cycle in lists if len(cycle) == max(right)]
    assert len({tuple(sorted(cycle)) for cycle in longest}) == len(longest) == collect * right[max(right)]


@pytest.mark.slow
@given(searches())
@settings(max_examples=60)
def test_bounds_parity_and_required_vertices_are_obeyed(search):
    graph, bounds, wanted = search
    bounds |= {name: tuple(bounds[name]) for name in ("through", "avoid")}
    bounds["avoid_edges"] = tuple(map(tuple, bounds["avoid_edges"]))
    last, _ = ran(SearchSpace(graph, Options(pruned=True, **bounds)), "cpu")
    assert greatest(last.cycles_by_length) == greatest(by_length(wanted))


@pytest.mark.slow
@pytest.mark.parametrize("collect", [False, True])
def test_several_required_vertices(arch, collect):
    graph = generate("grid:5x6")
    through = (7, 22)
    right = by_length(cycle for cycle in networkx_cycles(graph) if set(through) <= set(cycle))
    last, _ = ran(SearchSpace(graph, Options(pruned=True, through=through, collect=collect)), arch)
    assert greatest(last.cycles_by_length) == greatest(right)


@pytest.mark.parametrize("seed", range(6))
def test_directed_graphs(arch, seed):
    graph = as_graph(nx.gnp_random_graph(14, 0.25, seed=seed, directed=True))
    whole, _ = ran(SearchSpace(graph, Options()), arch)
    last, _ = ran(SearchSpace(graph, Options(pruned=True)), arch)
    assert greatest(last.cycles_by_length) == greatest(whole.cycles_by_length)


def test_up_to_symmetry(arch):
    graph = generate("hypercube:5")
    symmetric = worthwhile(SearchSpace(graph, Options(pruned=True)))
    assert symmetric is not None
    last, _ = ran(symmetric, arch)
    assert greatest(last.cycles_by_length) == (14, 4800)


@pytest.mark.slow
def test_a_long_search_looks_at_fewer_paths(arch):
    """The first slice tells of long cycles, and those after it drop what cannot be as long."""
    graph = generate("gnp:56,0.2,3")
    whole, _ = ran(SearchSpace(graph, Options()), "cpu")
    space = SearchSpace(graph, Options(pruned=True, min_length=max(whole.cycles_by_length)))
    last, _ = ran(space, arch)
    assert last.cycles_by_length == dict([greatest(whole.cycles_by_length)])
    assert last.paths < whole.paths / 4


@pytest.mark.parametrize(("spec", "fewer"), [("gnp:56,0.2,3", 30), ("king:7x7", 50), ("grid:7x7", 20)])
@pytest.mark.slow_on("vulkan")
def test_the_edges_among_the_vertices_that_are_left_bound_a_path(arch, spec, fewer):
    """The number of these vertices alone leaves a tenth, a fourteenth and a fifth of the paths."""
    whole, _ = ran(SearchSpace(generate(spec), Options()), "cpu")
    length, count = greatest(whole.cycles_by_length)
    last, _ = ran(SearchSpace(generate(spec), Options(pruned=True, min_length=length)), arch)
    assert last.cycles_by_length == {length: count}
    assert last.paths < whole.paths / fewer


def test_a_state_goes_on_with_the_length_that_was_found(arch):
    graph = generate("gnp:48,0.2,3")
    options = Options(pruned=True)
    right, _ = ran(SearchSpace(graph, Options()), "cpu")
    begun = Run(graph, open_device(arch), options)
    raised(begun)
    while not begun.snapshot().cycles and not begun.finished:
        raised(begun)
    state = begun.state()
    state = replace(state, groups=tuple(replace(group, frames=tuple(group.frames)) for group in state.groups))
    run = Run(graph, open_device(arch), options, state)
    run.least_length = max(run.snapshot().cycles_by_length, default=run.least_length)
    while not run.finished:
        raised(run)
    assert greatest(run.snapshot().cycles_by_length) == greatest(right.cycles_by_length)


def test_the_longest_cycle_of_a_search_is_one():
    graph = generate("gnp:60,0.2,3")
    whole, _ = ran(SearchSpace(graph, Options()), "cpu")
    best = longest_cycle(graph, method="search", arch="cpu")
    assert (best.length, best.ways) == greatest(whole.cycles_by_length)
    inside = nx.Graph(graph.edges().tolist()).subgraph(best.cycle)
    assert nx.is_connected(inside)
    assert np.all([degree == 2 for _, degree in inside.degree])


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 3, 40, 1000])
def test_the_k_longest_are_those_of_a_whole_search(arch, k):
    graph = generate("gnp:48,0.2,3")
    whole, _ = ran(SearchSpace(graph, Options()), "cpu")
    lengths = [length for length, count in sorted(whole.cycles_by_length.items(), reverse=True) for _ in range(count)]
    best = longest_cycle(graph, k=k, method="search", arch=arch)
    assert [len(cycle) for cycle in best.cycles] == lengths[:k]
    assert len(set(map(frozenset, best.cycles))) == k
    assert best.ways == lengths.count(lengths[0])
