"""How cycles come to the host: as bit rows over the graph, and as vertices in cycle order."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

from kernels_ti import Device, Graph, Options, Run, SizeError, as_graph, count_cycles, enumerate_cycles, open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.cycles import Cycles
from kernels_ti.device.pinned import PINNED_BYTES
from kernels_ti.found.order import CycleWalker
from kernels_ti.found.stored import ResidentBlocks, RowTables
from kernels_ti.reference.algorithm import chordless_cycles


def shuffled(graph: nx.Graph, seed: int) -> Graph:
    name = np.random.default_rng(seed).permutation(graph.number_of_nodes())
    edges = np.array(nx.convert_node_labels_to_integers(graph).edges())
    return Graph.from_edges(len(name), name[edges].tolist())


def triangles(count: int, length: int) -> nx.Graph:
    """Disjoint triangles, and a cycle that meets none of them."""
    return nx.disjoint_union_all([nx.cycle_graph(3)] * count + [nx.cycle_graph(length)])


GRAPHS = {
    "blocks that share a vertex": shuffled(nx.barbell_graph(5, 0), 1),
    "two words": shuffled(nx.disjoint_union(nx.petersen_graph(), nx.cycle_graph(60)), 2),
    "blocks whose tables are too large": shuffled(triangles(110, 7), 3),
    "rows too long for registers": shuffled(nx.disjoint_union(triangles(5, 7), nx.empty_graph(600)), 4),
}


def found(graph: Graph, device: Device, options: Options) -> list[np.ndarray] | list[Cycles]:
    run = Run(graph, device, options)
    pieces = [run.take_rows() if options.rows else run.take_cycles()]  # a part has some before its first slice
    while not run.finished:
        run.advance()
        pieces.append(run.take_rows() if options.rows else run.take_cycles())
    return pieces


def gathered(graph: Graph, options: Options, *room: int) -> list[list[int]]:
    run = Run(graph, open_device("cpu"), options)
    run.gather_rows(*room)
    while not run.finished:
        run.advance()
    return sorted(run.take_rows().tolist())


def wanted(graph: Graph, options: dict) -> list[list[int]]:
    """The vertices of the reference's cycles within the options, each sorted."""
    every = [sorted(cycle) for cycle in chordless_cycles(graph)]
    shortest, longest = options.get("min_length", 3), options.get("max_length", graph.n)
    through, avoid = set(options.get("through", ())), set(options.get("avoid", ()))
    return [c for c in every if shortest <= len(c) <= longest and through <= set(c) and not avoid & set(c)]


def bits(cycle: list[int], words: int) -> tuple[int, ...]:
    row = sum(1 << v for v in cycle)
    return tuple(row >> 64 * w & (1 << 64) - 1 for w in range(words))


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.slow_on("vulkan")
def test_rows_and_order_are_those_of_the_reference(name, arch):
    graph = GRAPHS[name]
    cycles = sorted(enumerate_cycles(graph, arch="reference"))
    traced = Cycles.joined(found(graph, open_device(arch), Options(collect=True)))
    assert sorted(traced.named(graph.names)) == cycles
    rows = np.concatenate(found(graph, open_device(arch), Options(collect=True, rows=True)))
    assert rows.dtype == np.uint64
    assert sorted(map(tuple, rows.tolist())) == sorted(bits(cycle, rows.shape[1]) for cycle in cycles)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{"min_length": 8, "max_length": 10}, {"through": (7,), "avoid": (12,)}, {"min_length": 9, "part": (2, 3)}],
    ids=["bounds", "through", "part"],
)
def test_rows_within_limits_are_those_of_the_cycles(arch, options):
    graph, device = as_graph(nx.grid_2d_graph(5, 5)), open_device(arch)
    lists = Cycles.joined(found(graph, device, Options(collect=True, **options)))
    rows = np.concatenate(found(graph, device, Options(collect=True, rows=True, **options)))
    assert 0 < len(rows) == len(np.unique(rows, axis=0))
    assert sorted(map(tuple, rows.tolist())) == sorted(bits(cycle, 1) for cycle in lists.named(range(graph.n)))
    if "part" not in options:
        kept = wanted(graph, options)
        assert sorted(map(sorted, lists.named(range(graph.n)))) == sorted(kept)


def test_pinned_memory_counts_as_memory_of_the_search():
    graph = GRAPHS["two words"]
    space = SearchSpace(graph, Options())
    group = space.batches(space.layout(Options(), "cpu", 64), 64)[0][0]
    blocks = ResidentBlocks(open_device("cpu"), group, graph.n)
    assert blocks.reserve_copies(1 << 40) == 0, "a CPU needs none"
    blocks.device = SimpleNamespace(arch="cuda")
    assert blocks.reserve_copies(1 << 40) == PINNED_BYTES
    assert blocks.reserve_copies(1 << 20) == 1 << 16


@pytest.mark.parametrize(("name", "has_tables"), list(zip(GRAPHS, (True, True, False, False), strict=True)))
def test_tables_are_made_where_they_fit_into_the_cache(name, has_tables):
    graph = GRAPHS[name]
    space = SearchSpace(graph, Options())
    groups = space.batches(space.layout(Options(), "cpu", 64), 64)[0]
    assert {RowTables.of_group(group, graph.n) is not None for group in groups} == {has_tables}


@pytest.mark.parametrize("word_bits", [32, 64])
def test_a_table_holds_the_vertices_of_every_byte_of_labels(word_bits):
    graph = GRAPHS["two words"]
    space = SearchSpace(graph, Options())
    for group in space.batches(space.layout(Options(), "cpu", word_bits), word_bits)[0]:
        tables = RowTables.of_group(group, graph.n)
        entries = tables.tables.reshape(-1, 256, tables.row_words)
        for row, (first, vertex) in enumerate(zip(group.first_row, group.vertex_of_row, strict=True)):
            table, bit = divmod(row - first, 8)
            whole, at = entries[tables.first_table[first] + table], vertex // word_bits
            has_vertex = whole[:, at] >> np.array(vertex % word_bits, whole.dtype) & np.array(1, whole.dtype)
            assert has_vertex.tolist() == [value >> bit & 1 for value in range(256)]


def test_what_was_taken_does_not_change_with_the_next_slices(monkeypatch):
    monkeypatch.setattr("kernels_ti.sweep.search.CYCLE_BYTES_PER_WORKER", 1 << 12)
    pieces, copies = [], []
    run = Run(as_graph(nx.grid_2d_graph(6, 6)), open_device("cpu"), Options(collect=True, rows=True))
    while not run.finished:
        run.advance()
        pieces.append(run.take_rows())
        copies.append(pieces[-1].copy())
    assert len(pieces) > 2
    assert all(np.array_equal(piece, copy) for piece, copy in zip(pieces, copies, strict=True))


def test_gathered_rows_are_those_of_all_slices_and_take_no_more_room_than_they_may(monkeypatch):
    monkeypatch.setattr("kernels_ti.sweep.search.CYCLE_BYTES_PER_WORKER", 1 << 12)
    graph, options = as_graph(nx.grid_2d_graph(6, 6)), Options(collect=True, rows=True)
    expected = np.concatenate(found(graph, open_device("cpu"), options))
    assert len(expected) == 3436
    assert gathered(graph, options) == sorted(expected.tolist())
    assert gathered(graph, options, 8 * 3436) == sorted(expected.tolist())
    with pytest.raises(SizeError):
        gathered(graph, options, 8 * 3435)


def test_directions_of_vertices_whose_product_needs_more_than_32_bits():
    last = 60_000
    arcs = [(0, last - 1), (last - 1, last - 2), (last - 2, 0)]
    graph = Graph.from_edges(last, arcs, directed=True)
    cycles = CycleWalker(graph).order(Cycles.of_lists([[0, last - 1, last - 2]]).rows(last))
    assert cycles.vertices.tolist() == [0, last - 1, last - 2]


@pytest.mark.parametrize("cycles", [triangles(2000, 4), nx.grid_2d_graph(6, 6)], ids=["triangles", "longer"])
def test_rows_of_a_large_graph_come_in_slices_of_bounded_size(monkeypatch, cycles):
    """A bit row has a bit for each vertex of the graph, however small the block is that the cycle lies in."""
    monkeypatch.setattr("kernels_ti.sweep.search_stage_1.CYCLE_BYTES", 1 << 20)
    monkeypatch.setattr("kernels_ti.sweep.search.ROW_BYTES_PER_WORKER", 1 << 18)
    graph = shuffled(nx.disjoint_union(cycles, nx.empty_graph(12_000)), 5)
    pieces = found(graph, open_device("cpu"), Options(collect=True, rows=True))
    assert max(piece.nbytes for piece in pieces) < 1 << 21 < sum(piece.nbytes for piece in pieces)
    assert len(np.unique(np.concatenate(pieces), axis=0)) == count_cycles(graph, arch="cpu").total
