"""A table of cycles: bit rows first, and every other form made from them."""

import gc
import os
import sys

import networkx as nx
import numpy as np
import pytest
from oracles import grid

from kernels_ti import (
    CycleTable,
    EngineError,
    Graph,
    OptionError,
    SizeError,
    as_graph,
    asked_search,
    collect_cycles,
    enumerate_cycles,
    open_device,
)
from kernels_ti.cycles import Cycles
from kernels_ti.device.memory import LEAST, SPARE
from kernels_ti.found import cycle_order
from kernels_ti.found.cycle_order import CycleOrder
from kernels_ti.found.order import CycleWalker
from kernels_ti.found.row_store import RowStore
from kernels_ti.options import Lengths

WHEELS = as_graph(nx.disjoint_union_all([nx.grid_2d_graph(4, 4), nx.petersen_graph(), nx.wheel_graph(40)]))
"""Two words, and several blocks."""

DIRECTED = Graph.from_edges(6, [(0, 1), (1, 2), (2, 0), (3, 2), (2, 4), (4, 3), (4, 5), (5, 4)], directed=True)
LARGE = as_graph(nx.disjoint_union(nx.grid_2d_graph(4, 4), nx.empty_graph(600)))


def forms(table: CycleTable) -> list[list[list]]:
    """The cycles in each form, as lists of vertices in order."""
    bounds = zip(table.offsets[:-1], table.offsets[1:], strict=True)
    return [
        [table.vertices[i:j].tolist() for i, j in bounds],
        table.lists(),
        list(table),
        [table[i] for i in range(len(table))],
    ]


@pytest.fixture
def kernels_always(monkeypatch):
    monkeypatch.setattr(cycle_order, "LEAST_FOR_KERNEL", 1)


@pytest.mark.slow
@pytest.mark.parametrize("graph", [grid(5, 5), WHEELS, LARGE], ids=["one word", "two words", "rows too long"])
def test_the_forms_of_a_table_agree_on_every_arch(graph, arch, kernels_always):
    table = collect_cycles(graph, arch=arch)
    found, *others = forms(table)
    assert sorted(found) == sorted(enumerate_cycles(graph, arch="reference"))
    assert all(other == found for other in others)
    assert [np.flatnonzero(bits).tolist() for bits in bits_of(table.rows(), graph.n)] == [sorted(c) for c in found]
    assert table.lengths.tolist() == list(map(len, found))


def bits_of(rows: np.ndarray, vertices: int) -> np.ndarray:
    return np.unpackbits(np.ascontiguousarray(rows).view(np.uint8), axis=1, bitorder="little")[:, :vertices]


def test_kernel_and_tables_put_rows_in_the_same_order(device, monkeypatch):
    table = collect_cycles(grid(6, 7), arch=device.arch)
    made = []
    for least in (1, len(table) + 1):
        monkeypatch.setattr(cycle_order, "LEAST_FOR_KERNEL", least)
        vertices = np.full(table.offsets[-1], -1, np.int32)
        CycleOrder(table.graph)(table.rows(), table.offsets, vertices)
        made.append(vertices)
    assert np.array_equal(*made)
    assert np.array_equal(made[0], CycleWalker(table.graph).order(table.rows()).vertices)


@pytest.mark.parametrize("together", [1, 5])
def test_rows_are_put_in_order_piece_by_piece(device, together, kernels_always, monkeypatch):
    """Also in the midst of a table, and where the kernel is told only some places."""
    monkeypatch.setitem(cycle_order.TOGETHER, device.arch, together)
    table = collect_cycles(grid(6, 7), arch=device.arch)
    expected = CycleWalker(table.graph).order(table.rows()).vertices
    for most in (20_000, 50_000):
        monkeypatch.setitem(cycle_order.TRACED_AT_ONCE, device.arch, most)
        vertices = np.full(len(expected), -1, np.int32)
        CycleOrder(table.graph)(table.rows(), table.offsets, vertices)
        assert np.array_equal(vertices, expected)
        begin, end = table.offsets[[7, 99]]
        CycleOrder(table.graph)(table.rows()[7:99], table.offsets[7:100], vertices[: end - begin])
        assert np.array_equal(vertices[: end - begin], expected[begin:end])


def test_a_kernel_refuses_each_row_that_is_no_chordless_cycle(device, kernels_always):
    """All sets of vertices of a small graph, each in a table of its own behind a right row."""
    graph = as_graph(nx.wheel_graph(5))
    right = {sum(1 << v for v in cycle) for cycle in nx.chordless_cycles(nx.wheel_graph(5))}
    order, good = CycleOrder(graph), min(right)
    for row in range(1 << 5):
        rows = np.array([[good], [row], [good]], np.uint64)
        offsets = np.cumsum([0, *(int(each).bit_count() for each in rows[:, 0])])
        vertices = np.zeros(offsets[-1], np.int32)
        if row in right:
            order(rows, offsets, vertices)
            assert sorted(vertices[offsets[1] : offsets[2]]) == [v for v in range(5) if row >> v & 1]
        else:
            with pytest.raises(EngineError, match="not a chordless cycle"):
                order(rows, offsets, vertices)


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (1, 5)],  # a chord beside the start
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (2, 4)],  # before the end
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3)],  # from the start to the end
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 0), (1, 4)],  # across
        [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)],  # two cycles
        [(0, 1), (0, 2), (1, 3), (2, 4), (5, 6)],  # no cycle
    ],
)
def test_a_kernel_refuses_a_cycle_with_a_chord(edges, device, kernels_always):
    graph = as_graph(nx.Graph(edges))
    rows = np.array([[(1 << graph.n) - 1]], np.uint64)
    with pytest.raises(EngineError, match="not a chordless cycle"):
        CycleOrder(graph)(rows, np.array([0, graph.n]), np.zeros(graph.n, np.int32))


def test_a_table_is_used_after_another_arch_was_opened_and_while_none_is(kernels_always):
    table = collect_cycles(grid(5, 5), arch="cpu", threads=1)
    first = table[:7].lists()
    open_device("cpu", threads=2)
    assert table[:7].lists() == first
    assert table.lists()[:7] == first


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_makes_the_other_forms_without_a_device(kernels_always):
    table = collect_cycles(grid(5, 5), arch="cpu")
    expected = collect_cycles(grid(5, 5), arch="cpu").vertices
    child = os.fork()
    if child == 0:
        os._exit(0 if sorted(table.vertices.tolist()) == sorted(expected.tolist()) else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("arch", ["cpu", "reference"])
@pytest.mark.parametrize("graph", [DIRECTED, LARGE, WHEELS], ids=["directed", "rows too long", "two words"])
def test_a_slice_has_the_cycles_of_its_numbers_and_is_complete_if_it_has_all(graph, arch):
    table = collect_cycles(graph, arch=arch, min_length=3 if graph.is_simple else 1)
    lists = table.lists()
    for which in (slice(1, 4), slice(None, None, 2), slice(-2, None), slice(None, None, -1), slice(3, 1)):
        part = table[which]
        assert (len(part), part.lists()) == (len(lists[which]), lists[which])
        assert part.complete == (len(part) == len(table))
        assert part.rows().tolist() == table.rows()[which].tolist()
    assert table.vertices.tolist() == [v for cycle in lists for v in cycle]  # now with both forms
    assert table[1:4].lists() == lists[1:4]


@pytest.mark.parametrize("collects", [True, False])
def test_the_garbage_collector_pauses_for_lists_and_is_then_as_it_was(collects, monkeypatch):
    table = collect_cycles(grid(5, 5), arch="reference")
    cycles, seen = list(table), []

    def looking(_self):
        seen.append(gc.isenabled())
        yield from cycles

    monkeypatch.setattr(CycleTable, "__iter__", looking)
    if not collects:
        gc.disable()
    try:
        assert table.lists() == cycles
        assert (seen, gc.isenabled()) == ([False], collects)
    finally:
        gc.enable()


def test_cycles_of_one_and_two_vertices_keep_their_direction():
    table = collect_cycles(DIRECTED, arch="cpu", min_length=1)
    assert sorted(table.lists()) == [[0, 1, 2], [2, 4, 3], [4, 5]]
    assert sorted(row[0] for row in table.rows().tolist()) == [0b111, 0b11100, 0b110000]


def test_rows_are_a_view_that_cannot_be_written_to():
    table = collect_cycles(grid(4, 4), arch="cpu")
    assert np.shares_memory(table.rows(), table.rows())
    with pytest.raises(ValueError, match="read-only"):
        table.rows()[0] = 0


@pytest.mark.parametrize("form", ["offsets", "vertices"])
def test_what_a_table_keeps_cannot_be_written_to(form):
    table = collect_cycles(grid(4, 4))
    found = table.lists()
    for some in (table, table[::2], CycleTable(table.graph, table.offsets, table.vertices)):
        with pytest.raises(ValueError, match="read-only"):
            getattr(some, form)[:] = 0
    assert table.lists() == found


def test_rows_of_one_search_stay_when_the_next_is_made(monkeypatch):
    monkeypatch.setattr("kernels_ti.sweep.search.CYCLE_BYTES_PER_WORKER", 1 << 12)
    table = collect_cycles(grid(6, 6), arch="cpu")
    before = table.rows().copy()
    collect_cycles(grid(6, 6), arch="cpu", min_length=8)
    assert np.array_equal(table.rows(), before)
    assert len(np.unique(before, axis=0)) == len(before)


def test_bounds_hold_for_rows_that_are_gathered():
    every = collect_cycles(grid(5, 6), arch="cpu")
    long = collect_cycles(grid(5, 6), arch="cpu", min_length=12)
    assert sorted(map(tuple, long.rows()[:, 0:1].tolist())) == sorted(
        tuple(row) for row, length in zip(every.rows().tolist(), every.lengths.tolist(), strict=True) if length >= 12
    )


def test_batches_of_rows_are_those_of_the_tables():
    tables = [table.rows() for table in enumerate_cycles(grid(5, 5), arch="cpu").batches()]
    rows = list(enumerate_cycles(grid(5, 5), arch="cpu").batches(rows=True))
    assert sorted(map(tuple, np.concatenate(rows).tolist())) == sorted(map(tuple, np.concatenate(tables).tolist()))
    assert not list(enumerate_cycles(nx.path_graph(400), arch="cpu").batches(rows=True))


def test_a_table_shows_its_first_cycles_in_a_notebook():
    square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names=["a", "<b>", "c", "d"])
    html = collect_cycles(square, arch="cpu")._repr_html_()
    assert "1 cycle of" in html
    assert "a, &lt;b&gt;, c, d" in html
    assert "more cycles" in collect_cycles(grid(4, 4), arch="cpu")._repr_html_()


@pytest.mark.parametrize("vertices", [False, True], ids=["rows", "vertices"])
@pytest.mark.parametrize(
    "names", [None, [3 * v for v in range(25)], [v << 40 for v in range(25)]], ids=["none", "narrow", "wide"]
)
def test_whole_numbers_are_as_wide_as_they_need(names, vertices):
    pyarrow = pytest.importorskip("pyarrow")
    table = collect_cycles(Graph.from_edges(25, grid(5, 5).edges().tolist(), names=names), arch="cpu")
    if vertices:
        assert table.vertices.size
    arrow = table.to_arrow()
    wide = names is not None and max(names) >> 31
    assert arrow.schema.field("vertices").type == pyarrow.list_(pyarrow.int64() if wide else pyarrow.int32())
    assert arrow["vertices"].to_pylist() == table.lists()
    assert arrow["length"].to_pylist() == table.lengths.tolist()


def test_a_data_frame_has_the_columns_of_the_arrow_table():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = collect_cycles(grid(4, 4), arch="cpu")
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert [list(cycle) for cycle in frame["vertices"]] == table.lists()


def test_a_data_frame_without_pandas_is_one_line(monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(OptionError, match=r"a data frame needs pandas: pip install 'chordless\[pandas\]'"):
        collect_cycles(grid(3, 3), arch="cpu").to_pandas()


@pytest.mark.parametrize("may_move", [True, False])
def test_a_store_keeps_rows_in_place_while_it_grows(may_move, monkeypatch):
    monkeypatch.setattr("kernels_ti.found.row_store.FIRST_BYTES", 1 << 12)
    if not may_move:
        monkeypatch.setattr(RowStore, "_resize", lambda *_: False)
    store = RowStore(3)
    for k in range(50):
        store.add(np.full((97, 3), k, np.uint64))
    store.room(10)  # that are not kept
    rows = store.take()
    assert rows.tolist() == np.repeat(np.arange(50), 97)[:, None].repeat(3, 1).tolist()
    assert (len(store), store.take().shape) == (0, (0, 3))
    store.add(np.ones((1, 3), np.uint64))
    assert rows[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("lengths", "kept"), [(Lengths(2), [3, 7, 5]), (Lengths(1, parity="odd"), [1, 7, 8]), (Lengths(2, 2), [3, 5])]
)
def test_a_store_drops_rows_whose_number_of_bits_is_not_wanted(lengths, kept):
    store = RowStore(1, lengths)
    store.add(np.array([[1], [3], [7], [8]], np.uint64))
    store.add(np.array([[5]], np.uint64))
    assert store.take()[:, 0].tolist() == kept


def test_a_store_takes_no_row_that_has_no_room():
    """Within a slice: a fast machine finds more in one than the caller may have left."""
    store = RowStore(2, most=64)
    store.add(np.ones((3, 2), np.uint64))
    with pytest.raises(SizeError, match=r"^5 cycles found so far take 80 bytes, more than the 64 bytes that memory"):
        store.room(2)
    store.add(np.zeros((1, 2), np.uint64))
    assert store.take().sum() == 6


def test_a_table_of_vertices_has_rows():
    table = CycleTable.of_pieces(grid(2, 2), [Cycles.of_lists([[0, 1, 3, 2]])])
    assert table.rows().tolist() == [[15]]


@pytest.mark.parametrize("count", [0, 1, 3, 7])
def test_offsets_are_added_up_in_pieces(count, monkeypatch):
    monkeypatch.setattr("kernels_ti.cycle_table._ROWS_AT_ONCE", 3)
    rows = np.array([[0b1011], [0b111111], [0b111], [0b1111], [0b11111], [0b111], [0b1111111]], np.uint64)[:count]
    table = CycleTable.of_rows(grid(2, 4), rows, lambda *_: None)
    assert table.offsets.tolist() == [0, 3, 9, 12, 16, 21, 24, 31][: count + 1]


@pytest.mark.parametrize("vertices", [9, 256, 257])
@pytest.mark.parametrize("count", [0, 1, 9, 512, 513, 4096, 9000])
def test_lists_have_the_very_names_of_the_graph(vertices, count):
    names = [*([v] if v % 3 else (object(), None) for v in range(vertices))]
    numbers = np.random.default_rng(count).integers
    cycles = [numbers(vertices, size=numbers(3, 10)).tolist() for _ in range(count)]
    named = list(Cycles.of_lists(cycles).named(names))
    assert [len(cycle) for cycle in named] == [len(cycle) for cycle in cycles]
    assert all(name is names[v] for lists in zip(named, cycles, strict=True) for name, v in zip(*lists, strict=True))


def test_a_part_of_cycles_is_named():
    cycles = Cycles.of_lists([[0, 1, 2], [1, 2, 3, 4], [0, 2, 4]] * 10)
    assert list(Cycles.part(cycles, 4, 30).named("abcde"))[:2] == [["b", "c", "d", "e"], ["a", "c", "e"]]


@pytest.mark.parametrize("graph", [WHEELS, LARGE], ids=["rows", "vertices"])
def test_cycles_that_do_not_fit_into_the_memory_are_refused(graph, monkeypatch):
    memory = 1 << 40
    monkeypatch.setattr(asked_search, "resident_bytes", lambda: memory - LEAST - 2 * SPARE - 100)
    with pytest.raises(SizeError, match=r"cycles found so far take .* more than the 100 bytes that memory allows"):
        collect_cycles(graph, arch="cpu", memory=memory)
    monkeypatch.setattr(asked_search, "resident_bytes", lambda: memory - LEAST - 2 * SPARE - (1 << 20))
    assert len(collect_cycles(graph, arch="cpu", memory=memory)) == len(collect_cycles(graph, arch="cpu"))
