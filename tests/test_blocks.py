"""Biconnected blocks and their bit rows."""

from collections.abc import Iterable

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laid_out import block_batches

from kernels_ti import Graph
from kernels_ti.blocks.biconnected import biconnected_edges
from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.cycles import canonical
from kernels_ti.reference.algorithm import chordless_cycles
from kernels_ti.state import Layout


def groups_of(graph: Graph, word_bits: int, *, whole: bool = False, nested: bool = False) -> list[BlockGroup]:
    """The one batch of a layout without balls, begun on the device itself."""
    (groups,) = block_batches(graph, Layout(whole, nested, grain=word_bits), word_bits)
    return groups


def edge_sets(blocks: Iterable[Iterable[tuple[int, int]]]) -> list[list[tuple[int, int]]]:
    return sorted(sorted((min(u, v), max(u, v)) for u, v in block) for block in blocks)


def blocks_of(graph: Graph) -> list[list[tuple[int, int]]]:
    edges, component = biconnected_edges(graph)
    return edge_sets(edges[component == i].tolist() for i in range(component.max(initial=-1) + 1))


def edges_in(group: BlockGroup) -> set[tuple[int, int]]:
    """The edges of the input graph that the bit rows of a group hold."""
    found = set()
    for row, words in enumerate(group.bit_rows().tolist()):
        bits = sum(word << (group.word_bits * w) for w, word in enumerate(words))
        while bits:
            low = (bits & -bits).bit_length() - 1
            bits &= bits - 1
            u, v = group.vertex_of_row[[row, group.first_row[row] + low]].tolist()
            found.add((min(u, v), max(u, v)))
    return found


@given(st.integers(1, 30), st.floats(0, 0.4), st.integers(0, 10**6))
def test_components_equal_those_of_networkx(n: int, p: float, seed: int) -> None:
    graph = nx.gnp_random_graph(n, p, seed=seed)
    expected = [block for block in nx.biconnected_component_edges(graph) if len(block) > 1]
    assert blocks_of(Graph.from_networkx(graph)) == edge_sets(expected)


@pytest.mark.parametrize("word_bits", [32, 64])
def test_groups_hold_every_edge_of_every_block(word_bits: int) -> None:
    joined = nx.disjoint_union_all([nx.cycle_graph(k) for k in (3, 31, 32, 33, 64, 65, 70, 5)] + [nx.path_graph(9)])
    joined.add_edges_from([(0, 4), (40, 70)])
    graph = Graph.from_networkx(joined)
    groups = groups_of(graph, word_bits)
    assert [group.words for group in groups] == [1, 2] if word_bits == 64 else [1, 2, 3]
    assert sum(len(edges_in(group)) for group in groups) == 3 + 31 + 32 + 33 + 64 + 65 + 70 + 5
    expected = {edge for block in blocks_of(graph) for edge in block}
    assert set().union(*map(edges_in, groups)) == expected
    for group in groups:
        lengths = np.diff(np.flatnonzero(np.diff(group.first_row, prepend=-1, append=-1)))
        assert lengths.max() == group.longest_block
        assert (-(-lengths // word_bits) == group.words).all()


def test_a_forest_gives_nothing_to_search() -> None:
    forest = Graph.from_networkx(nx.disjoint_union(nx.balanced_tree(2, 4), nx.path_graph(7)))
    assert groups_of(forest, 64) == []
    assert groups_of(Graph.from_edges(0, []), 32) == []
    assert groups_of(Graph.from_edges(5, []), 32, whole=True) == []


def test_whole_is_one_block_whatever_the_graph() -> None:
    graph = Graph.from_networkx(nx.disjoint_union(nx.cycle_graph(4), nx.path_graph(80)))
    (group,) = groups_of(graph, 32, whole=True)
    assert (group.rows, group.longest_block, group.words) == (84, 84, 3)
    assert not group.first_row.any()


def test_rows_of_a_block_are_in_the_order_of_its_degree_labelling() -> None:
    star_of_cycles = nx.Graph([(0, k) for k in range(1, 7)] + [(k, k % 6 + 1) for k in range(1, 7)])
    (group,) = groups_of(Graph.from_networkx(star_of_cycles), 64)
    assert group.vertex_of_row.tolist()[0] == 1, "a rim vertex has the least degree"
    pairs = [(int(u), int(group.neighbour[e])) for u, e in zip(group.seed_roots, group.seed_entries, strict=True)]
    assert all(u < x for u, x in pairs)
    assert group.pairs_of_seed.sum() == sum(
        d * (d - 1) // 2 for d in (np.count_nonzero(group.neighbour[group.row_of_entry == u] > u) for u in range(7))
    )


def test_a_long_chain_of_blocks_needs_no_recursion() -> None:
    chain = nx.Graph()
    for k in range(3000):
        nx.add_cycle(chain, [2 * k, 2 * k + 1, 2 * k + 2])
    assert np.bincount(biconnected_edges(Graph.from_networkx(chain))[1]).tolist() == [3] * 3000


@settings(max_examples=50)
@given(st.integers(3, 22), st.floats(0.05, 0.5), st.integers(0, 10**6))
def test_nested_blocks_have_every_root_once_with_all_that_it_can_reach(n: int, p: float, seed: int) -> None:
    """With words of 4 bits, so that small graphs nest deeply."""
    graph = Graph.from_networkx(nx.gnp_random_graph(n, p, seed=seed))
    found = []
    for group in groups_of(graph, 4, nested=True):
        rows = Graph(group.row_ptr.astype(np.int64), group.neighbour.astype(np.int64))
        least = np.zeros(rows.n, bool)
        for cycle in chordless_cycles(rows):
            least[:] = False
            least[min(cycle)] = True
            if group.is_root[least].all():
                found.append(canonical(group.vertex_of_row[cycle].tolist()))
    assert sorted(found) == sorted(chordless_cycles(graph))


def test_nested_blocks_shrink_by_half() -> None:
    graph = Graph.from_networkx(nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 20)))
    groups = groups_of(graph, 64, nested=True)
    assert [group.words for group in groups] == [1, 2, 4, 7]
    assert groups[-1].is_root.sum() == 400 - 64 * 4
    assert not groups[-1].is_root[-256:].any()


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("grain", [32, 64])
def test_a_layout_means_the_same_on_every_device(grain: int, nested: bool) -> None:
    """So a state that was saved on one is valid on the other: same groups, rows, seeds and labels."""
    graph = Graph.from_networkx(
        nx.disjoint_union_all([nx.cycle_graph(k) for k in (5, 33, 90, 130)] + [nx.grid_graph((9, 30))])
    )
    (wide,), (narrow,) = (block_batches(graph, Layout(nested=nested, grain=grain), bits) for bits in (64, 32))
    by_grain = [group.words for group in (wide if grain == 64 else narrow)]
    assert by_grain == sorted(set(by_grain))
    assert [group.words for group in wide] == [-(-words * grain // 64) for words in by_grain]
    assert [group.words for group in narrow] == [words * grain // 32 for words in by_grain]
    for group, other in zip(wide, narrow, strict=True):
        for name in ("first_row", "row_ptr", "neighbour", "vertex_of_row", "is_root", "seed_entries"):
            assert (getattr(group, name) == getattr(other, name)).all(), name
        assert (group.bit_rows().view(np.uint32)[:, : other.words] == other.bit_rows()).all()


def test_batches_are_counted_from_the_first_and_end() -> None:
    batches = block_batches(Graph.from_networkx(nx.petersen_graph()), Layout(), 64)
    assert len(batches) == len(list(batches)) == 1
    assert batches.shares.tolist() == [1.0]
    with pytest.raises(IndexError):
        batches[1]
