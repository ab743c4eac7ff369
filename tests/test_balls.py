"""Balls around roots: the same cycles as in whole blocks, in little memory."""

import tracemalloc
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from chordless import generate
from hypothesis import given, settings
from hypothesis import strategies as st
from laid_out import block_batches
from oracles import by_length, check_cycles, grid, networkx_cycles

from kernels_ti import Device, Graph, Options, Run
from kernels_ti.blocks import balls as balls_module
from kernels_ti.blocks.balls import LARGEST_WHOLE, Sample, balls, batch_ends, choose_radius, later_degrees, worthwhile
from kernels_ti.blocks.degree_labelling import degree_labelling, relabelled
from kernels_ti.blocks.groups import BlockBatches
from kernels_ti.reference.algorithm import canonical, chordless_cycles
from kernels_ti.state import Layout


def cycles_through_roots(batches: BlockBatches, max_length: int) -> list[list[int]]:
    """The cycles that a search of all groups would find, by the reference."""
    found = []
    for groups in batches:
        for group in groups:
            rows = Graph(group.row_ptr.astype(np.int64), group.neighbour.astype(np.int64))
            for cycle in chordless_cycles(rows, max_length=max_length):
                if group.is_root[min(cycle)]:
                    found.append(canonical(group.vertex_of_row[cycle].tolist()))
    return found


@pytest.mark.slow
@settings(max_examples=150)
@given(st.integers(3, 40), st.floats(0.5, 6), st.integers(3, 12), st.integers(0, 10**6))
def test_the_ball_of_each_root_has_the_cycles_of_which_it_is_the_least(
    n: int, degree: float, max_length: int, seed: int
) -> None:
    graph = Graph.from_networkx(nx.gnp_random_graph(n, min(degree / n, 1), seed=seed))
    by_label, vertex_of = relabelled(graph, degree_labelling(graph))
    union, label_of, sizes = balls(by_label, later_degrees(by_label), np.arange(n), max_length // 2)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    assert (np.diff(label_of)[np.diff(first) == 0] > 0).all(), "the labels of a ball ascend"
    found = [
        canonical(vertex_of[label_of[cycle]].tolist())
        for cycle in chordless_cycles(union, max_length=max_length)
        if min(cycle) == first[cycle[0]]
    ]
    assert sorted(found) == sorted(chordless_cycles(graph, max_length=max_length))


KINDS = {
    "planar": lambda: generate("planar:1500,3"),
    "grid": lambda: grid(25, 30),
    "cubic": lambda: generate("regular:3,600,1"),
    "tree-like": lambda: Graph.from_networkx(nx.gnm_random_graph(900, 1050, seed=2)),
    "ring of cliques": lambda: Graph.from_networkx(nx.ring_of_cliques(150, 5)),
    "small blocks too": lambda: Graph.from_networkx(
        nx.disjoint_union_all([nx.grid_2d_graph(24, 24), nx.petersen_graph(), nx.complete_graph(70), nx.path_graph(9)])
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_length", [3, 4, 7, 8])
def test_large_sparse_blocks_are_searched_in_balls(kind: str, max_length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut into several batches, and each batch into several pieces."""
    monkeypatch.setattr(balls_module, "BATCH_BYTES", 1 << 16)
    monkeypatch.setattr(balls_module, "ENTRIES_AT_ONCE", 3000)
    graph = KINDS[kind]()
    batches = block_batches(graph, Layout(nested=True, radius=choose_radius(graph, max_length)), 64)
    assert len(batches) > 1
    assert batches.shares.sum() == pytest.approx(1)
    assert (batches.shares > 0).all()
    groups = [group for groups in batches for group in groups]
    assert max((group.longest_block for group in groups), default=0) < LARGEST_WHOLE // 2
    assert all(group.words in (1, 2, 4) for group in groups)
    found = cycles_through_roots(batches, max_length)
    assert sorted(found) == sorted(chordless_cycles(graph, max_length=max_length))


def test_blocks_stay_whole_where_balls_are_no_smaller() -> None:
    dense = nx.gnp_random_graph(700, 0.05, seed=1)
    graph = Graph.from_networkx(nx.disjoint_union(nx.convert_node_labels_to_integers(nx.grid_2d_graph(26, 26)), dense))
    batches = block_batches(graph, Layout(radius=choose_radius(graph, 8)), 64)
    assert len(batches) == 2
    assert [(group.words, group.rows) for group in batches[0]] == [(11, 700)]
    assert [group.words for group in batches[1]] == [1]
    assert batches.shares[0] == pytest.approx(dense.number_of_edges() / graph.m)


def test_balls_that_take_long_to_make_are_not_worthwhile() -> None:
    """A ball in four has half the block: far fewer words on the average, but too many rows."""
    block = np.array([100_000])
    roots = np.arange(0, 100_000, 1000)
    small, mixed = np.full(100, 10), np.where(np.arange(100) % 4, 10, 50_000)
    assert worthwhile(Sample(roots, small), block).tolist() == [True]
    assert worthwhile(Sample(roots, mixed), block).tolist() == [False]


def test_batches_are_about_equal_and_leave_no_root_out() -> None:
    roots = np.arange(0, 4_000_000, 2)
    sample = Sample(roots[::10_000], np.where(np.arange(200) < 20, 60, 10))
    ends = batch_ends(roots, sample)
    assert ends[-1] == len(roots)
    lengths = np.diff(ends, prepend=0)
    assert (lengths > 0).all()
    assert lengths[0] < lengths[-2] / 4, "where balls are large, a batch has few"
    assert batch_ends(roots[:1], sample).tolist() == [1]


def test_a_block_decides_for_itself_among_many() -> None:
    """One sparse block that is large among many small ones."""
    small = [nx.cycle_graph(6)] * 200
    graph = Graph.from_networkx(
        nx.disjoint_union_all(
            [*small[:100], nx.convert_node_labels_to_integers(nx.grid_2d_graph(30, 30)), *small[:100]]
        )
    )
    batches = block_batches(graph, Layout(radius=choose_radius(graph, 6)), 64)
    first, second = (sum(group.rows for group in batches[i]) for i in range(2))
    assert first == 200 * 6
    assert second > 900
    assert sorted(cycles_through_roots(batches, 6)) == sorted(chordless_cycles(graph, max_length=6))


def test_without_a_bound_or_a_large_graph_there_are_no_balls() -> None:
    assert choose_radius(grid(40, 40), None) is None
    assert choose_radius(grid(40, 40), 1600) is None
    assert choose_radius(grid(16, 32), 8) is None
    assert choose_radius(grid(40, 40), 9) == 4
    forest = Graph.from_networkx(nx.path_graph(1000))
    (groups,) = block_batches(forest, Layout(radius=choose_radius(forest, 8)), 64)
    assert groups == []


def test_a_layout_means_the_same_on_every_device() -> None:
    graph = generate("planar:2000,5")
    layout = Layout(nested=True, radius=6)
    wide, narrow = block_batches(graph, layout, 64), block_batches(graph, layout, 32)
    assert wide.shares.tolist() == narrow.shares.tolist()
    for groups, others in zip(wide, narrow, strict=True):
        for group, other in zip(groups, others, strict=True):
            assert other.words == 2 * group.words
            assert (group.neighbour == other.neighbour).all()
            assert (group.vertex_of_row == other.vertex_of_row).all()
            assert (group.bit_rows().view(np.uint32) == other.bit_rows()).all()


def test_a_hub_makes_large_balls_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub is the last label, so it is in the ball of every root near it; pieces shrink to one root."""
    monkeypatch.setattr(balls_module, "ENTRIES_AT_ONCE", 50)
    graph = generate("wheel:600")
    by_label, _ = relabelled(graph, degree_labelling(graph))
    union, _, sizes = balls(by_label, later_degrees(by_label), np.arange(graph.n), 2)
    assert (len(sizes), sizes.max()) == (599, 601)
    assert union.n == sizes.sum()


def test_balls_with_a_hub_at_their_rim_take_little_memory() -> None:
    """The hub has 20,000 neighbours, and is in the ball of each of them."""
    graph = generate("wheel:20000")
    by_label, _ = relabelled(graph, degree_labelling(graph))
    later, roots = later_degrees(by_label), np.arange(graph.n)
    tracemalloc.start()
    try:
        _, _, sizes = balls(by_label, later, roots, 1)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert (len(sizes), sizes.max()) == (19_999, 4)


@pytest.mark.slow
def test_a_run_in_balls_finds_all_cycles(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    if device.arch == "cpu":  # elsewhere every batch takes seconds to begin
        monkeypatch.setattr(balls_module, "BATCH_BYTES", 1 << 18)
    graph = generate("planar:1200,3")
    run = Run(graph, device, Options(max_length=8, collect=True))
    found = []
    while not run.finished:
        run.advance()
        cycles = run.take_cycles()
        found += [cycles.vertices[a:b].tolist() for a, b in pairwise(cycles.offsets.tolist())]
    check_cycles(graph, found)
    assert sorted(found) == sorted(chordless_cycles(graph, max_length=8))
    assert run.snapshot().cycles_by_length == by_length(found)


@pytest.mark.slow
def test_networkx_agrees() -> None:
    graph = grid(24, 24)
    batches = block_batches(graph, Layout(radius=choose_radius(graph, 8)), 64)
    assert by_length(cycles_through_roots(batches, 8)) == by_length(networkx_cycles(graph, 8))
