"""The easy entry points: their limits, and the words of their errors in Python and on the command line."""

import networkx as nx
import numpy as np
import pytest
from chordless import load_graph
from oracles import grid

from kernels_ti import (
    ChordlessError,
    Graph,
    GraphError,
    OptionError,
    Options,
    Progress,
    Run,
    SizeError,
    collect_cycles,
    count_cycles,
    count_participation,
    count_paths,
    enumerate_cycles,
    estimate_cycles,
    is_chordal,
    longest_cycle,
    open_device,
    participation,
)
from kernels_ti.boundary import count as boundary_count
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.errors import in_words_of_command_line, parameter

LOOPED = np.array([[1, 1, 1], [0, 0, 1], [1, 0, 0]])
"""A triangle with a loop, each edge in one direction only."""


def test_what_is_not_simple_is_made_so_on_request() -> None:
    assert count_cycles(LOOPED, arch="reference", simplify=True).by_length == {3: 1}
    assert len(collect_cycles(LOOPED, arch="reference", simplify=True)) == 1
    assert len(list(enumerate_cycles(LOOPED, arch="reference", simplify=True))) == 1
    assert count_participation(LOOPED, arch="reference", simplify=True).top() == [(0, 1), (1, 1), (2, 1)]
    with pytest.raises(GraphError):
        count_cycles(LOOPED, arch="reference")


def test_a_search_that_reaches_its_limit_is_not_complete() -> None:
    # Each path of three vertices is on a cycle here: the first ones come at once.
    graph = nx.complete_bipartite_graph(40, 40)
    counts = count_cycles(graph, arch="reference", limit=5)
    assert counts.total >= 5
    assert not counts.complete
    table = collect_cycles(graph, arch="reference", limit=5)
    assert (len(table), len(table.vertices), table.complete) == (5, table.offsets[-1], False)
    assert not count_participation(graph, arch="reference", limit=5).complete


def test_a_search_that_is_done_before_its_limit_is_complete() -> None:
    graph = nx.petersen_graph()
    assert count_cycles(graph, arch="reference", limit=1000, timeout=1000).complete
    assert collect_cycles(graph, arch="reference", limit=22).complete
    assert not collect_cycles(graph, arch="reference", limit=21).complete
    assert count_participation(graph, arch="reference").complete


def test_batches_are_arrays_that_belong_to_the_caller_and_no_cycle_is_given_twice(monkeypatch) -> None:
    monkeypatch.setattr("kernels_ti.sweep.search.CYCLE_BYTES_PER_WORKER", 1 << 12)
    graph = grid(6, 6)
    stream = enumerate_cycles(graph, arch="cpu")
    tables, copies = [], []
    for table in stream.batches():
        tables.append(table)
        copies.append(table.lists())
    assert len(tables) > 2
    assert not any(table.complete for table in tables)
    assert [table.lists() for table in tables] == copies
    found = sorted(cycle for copy in copies for cycle in copy)
    assert found == sorted(enumerate_cycles(graph, arch="reference"))
    assert list(stream) == []


def test_the_search_waits_for_who_takes_its_cycles(monkeypatch) -> None:
    slices = []
    advance = Run.advance
    monkeypatch.setattr(Run, "advance", lambda run: slices.append(run) or advance(run))
    monkeypatch.setattr("kernels_ti.sweep.search.CYCLE_BYTES_PER_WORKER", 1 << 12)
    stream = enumerate_cycles(grid(6, 6), arch="cpu")
    assert not slices
    next(stream)
    taken = len(slices)
    assert 1 <= taken < 5
    assert next(stream) != next(stream)
    assert len(slices) == taken


def test_names_of_any_kind_are_those_of_the_graph() -> None:
    names = [("a", 1), 7, "x", None]
    square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names=names)
    assert list(enumerate_cycles(square, arch="reference")) == [names]
    assert collect_cycles(square, arch="reference").lists() == [names]


@pytest.mark.parametrize("method", ["search", "boundary"])
def test_a_count_ends_at_its_timeout(method) -> None:
    arch = "reference" if method == "search" else "auto"
    assert not count_cycles(grid(9, 16), arch=arch, method=method, timeout=0.01).complete
    assert count_cycles(grid(3, 3), arch=arch, method=method, timeout=60).complete


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": 1.5}, {"timeout": 0}, {"timeout": float("nan")}])
def test_limits_that_cannot_be_are_refused(wrong) -> None:
    with pytest.raises(OptionError, match=f"{next(iter(wrong))} must be a"):
        count_cycles(grid(2, 2), arch="reference", **wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"limit": True}, "limit must be a whole number, 1 or more, not True"),
        ({"threads": True}, "threads must be a whole number from 1 to 1024, not True"),
        ({"max_length": True}, "max_length must be a whole number, not True"),
        ({"memory": "2G"}, "memory must be a number of bytes, 1 or more, not '2G'"),
        ({"memory": -1}, "memory must be a number of bytes, 1 or more, not -1"),
        ({"memory": float("nan")}, "memory must be a number of bytes, 1 or more, not nan"),
        ({"through": None}, "through and avoid are lists of vertices, not None"),
        ({"avoid_edges": None}, "avoid_edges is a list of pairs of vertices, not None"),
        ({"avoid_edges": 5, "method": "boundary"}, "avoid_edges is a list of pairs of vertices, not 5"),
        ({"arch": "gpu"}, "there is no arch 'gpu': choose one of auto, cpu, cuda, vulkan, reference"),
        ({"arch": None}, "there is no arch None: choose one of auto, cpu, cuda, vulkan, reference"),
        ({"memory": True}, "memory must be a number of bytes, 1 or more, not True"),
        ({"simplify": "no"}, "simplify must be True or False, not 'no'"),
        ({"symmetry": 1}, "symmetry must be True or False, not 1"),
    ],
)
def test_a_wrong_value_is_one_clear_line(wrong, words) -> None:
    with pytest.raises(OptionError) as error:
        count_cycles(nx.cycle_graph(4), **{"arch": "cpu", **wrong})
    assert str(error.value) == words


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("simplify", lambda no: load_graph("petersen", simplify=no)),
        ("directed", lambda no: load_graph("petersen", directed=no)),
        ("multigraph", lambda no: Graph.from_edges(2, [(0, 1)], multigraph=no)),
        ("directed", lambda no: Graph.from_numpy(np.zeros((2, 2)), directed=no)),
        (
            "directed",
            lambda no: Graph.from_pandas(pytest.importorskip("pandas").DataFrame([[0]], ["a"], ["b"]), directed=no),
        ),
        ("simplify", lambda no: is_chordal(nx.petersen_graph(), simplify=no)),
        ("simplify", lambda no: count_paths(nx.petersen_graph(), 0, 2, simplify=no)),
        ("shortest", lambda no: longest_cycle(nx.petersen_graph(), shortest=no)),
        ("symmetry", lambda no: estimate_cycles(nx.petersen_graph(), symmetry=no)),
        ("edges", lambda no: count_participation(nx.petersen_graph(), edges=no)),
        ("edges", lambda no: participation(nx.petersen_graph()).top(edges=no)),
        ("rows", lambda no: enumerate_cycles(nx.petersen_graph()).batches(rows=no)),
    ],
)
def test_a_word_is_not_taken_for_a_yes(name, call) -> None:
    with pytest.raises(OptionError, match=f"^{name} must be True or False, not 'no'$"):
        call("no")


def test_the_yes_and_no_of_numpy_are_taken() -> None:
    twice = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 0)])
    assert count_cycles(twice, simplify=np.True_).by_length == {3: 1}
    assert count_cycles(twice, simplify=np.False_).by_length == {}


def test_integers_of_numpy_and_floats_of_bytes_are_taken() -> None:
    small = np.int16(5)
    bounded = count_cycles(nx.petersen_graph(), arch="cpu", min_length=np.int8(5), max_length=small, memory=2e9)
    assert bounded.by_length == {5: 12}
    assert type(Options(max_length=small, memory=2e9).max_length) is int
    asked = Options(part=(np.int8(1), np.int8(3)), through=(np.int8(7),), avoid_edges=((np.int8(7), np.int8(0)),))
    assert {*map(type, (*asked.part, *asked.through, *asked.avoid_edges[0]))} == {int}
    assert count_cycles(nx.petersen_graph(), arch="cpu", threads=np.int8(2)).total == 22
    assert len(longest_cycle(grid(3, 30), k=np.int8(5)).cycles) == 5


def test_a_device_is_opened_by_its_own_name() -> None:
    with pytest.raises(OptionError, match="there is no arch 'auto': choose one of cpu, cuda, vulkan, reference"):
        open_device("auto")


def test_a_run_takes_any_graph_and_only_a_device() -> None:
    run = Run(nx.petersen_graph(), open_device("reference"))
    while not run.finished:
        run.advance()
    assert run.snapshot().cycles_by_length == {5: 12, 6: 10}
    with pytest.raises(OptionError, match=r"a run needs a device, such as open_device\('cpu'\), not 'cpu'"):
        Run(nx.petersen_graph(), "cpu")


@pytest.mark.parametrize("part", ["x", (1,), (1.0, 2), [1, 2]])
def test_a_part_is_a_pair(part) -> None:
    with pytest.raises(OptionError, match=r"part is a pair of whole numbers, such as \(1, 4\), not "):
        Options(part=part)


@pytest.mark.parametrize("reason", [{"method": "boundary"}, {"order": range(4)}])
@pytest.mark.parametrize("option", [{"limit": 5}, {"expansion": "paper"}, {"arch": "reference"}])
def test_an_option_of_a_search_is_named_beside_what_asks_for_a_boundary(option, reason) -> None:
    why = "order" if "order" in reason else 'method="boundary"'
    with pytest.raises(
        OptionError, match=rf"^{next(iter(option))}.* is for the method search: leave it out, or {why}$"
    ):
        count_cycles(grid(2, 2), **option, **reason)


def test_a_count_along_a_boundary_takes_as_many_threads_as_are_given(monkeypatch) -> None:
    opened: list[int | None] = []
    monkeypatch.setattr(boundary_count, "_FEWEST_STATES", 0)
    use = BoundaryCount.use
    monkeypatch.setattr(
        BoundaryCount, "use", lambda self, device, memory: opened.append(device.threads) or use(self, device, memory)
    )
    found = count_cycles(grid(6, 6), method="boundary", arch="cpu", threads=1)
    assert (found.by_length, opened) == (count_cycles(grid(6, 6)).by_length, [1])


@pytest.mark.slow
def test_a_count_that_cannot_fit_is_refused_before_it_begins() -> None:
    told: list[Progress] = []
    with pytest.raises(
        SizeError, match=r"allowed, which are enough for about \d+ vertices. memory allows more, and me"
    ):
        count_cycles(grid(30, 30), method="boundary", memory=1 << 32, progress=told.append)
    assert {one.stage for one in told} == {"reading", "seeking an order"}
    columns = [row * 30 + column for column in range(30) for row in range(30)]
    with pytest.raises(SizeError, match=r"^the best boundary that was found has 3\d vertices"):
        count_cycles(grid(30, 30), method="boundary", memory=1 << 32, order=columns)


def test_the_vertices_and_edges_in_most_cycles_are_named() -> None:
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (4, 5)]
    counts = count_participation(Graph.from_edges(6, edges, names="abcdef"), arch="reference")
    assert counts.names == tuple("abcdef")
    assert counts.top() == [("a", 2), ("b", 2), ("c", 1), ("d", 1), ("e", 1)]
    assert counts.top(2, edges=True) == [(("a", "b"), 2), (("a", "d"), 1)]
    assert counts.top(0) == []
    alone = count_participation(grid(2, 2), arch="reference", edges=False)
    with pytest.raises(OptionError, match="edges=True"):
        alone.top(edges=True)
    assert repr(alone) == f"Participation({len(alone.names)} vertices, complete=True)"


def test_a_message_names_what_its_reader_can_set() -> None:
    error = ChordlessError(f"use {parameter('arch', 'cpu')}, or allow more with {parameter('max_length')}")
    assert str(error) == 'use arch="cpu", or allow more with max_length'
    with in_words_of_command_line():
        assert str(error) == "use --arch cpu, or allow more with --max-length"
        assert repr(error) == "ChordlessError('use --arch cpu, or allow more with --max-length')"
    assert "arch=" in str(error)


def test_python_is_told_of_the_parameter_simplify() -> None:
    with pytest.raises(GraphError, match=r"this graph is directed \(simplify=True makes it simple\)"):
        is_chordal(nx.DiGraph([(0, 1)]))
    assert is_chordal(nx.DiGraph([(0, 1), (1, 0)]), simplify=True)


@pytest.mark.slow
@pytest.mark.parametrize("is_open", [False, True])
def test_the_method_is_chosen_by_default(monkeypatch, is_open) -> None:
    """A search that is expected to take long, on a device that is open or not, is a count along a boundary."""
    graph = grid(6, 7)
    searched = count_cycles(graph, method="search")
    monkeypatch.setattr("kernels_ti.api.is_open", lambda arch="auto": is_open)
    monkeypatch.setattr("kernels_ti.api._SECONDS_WITHOUT_A_CHOICE", 0.0)
    assert count_cycles(graph).frontier == searched.frontier
    monkeypatch.setattr("kernels_ti.method.SHORT_SEARCH", -1.0)
    monkeypatch.setattr("kernels_ti.method.TIMES_FASTER", 1e-9)
    along = count_cycles(graph)
    assert (along.by_length, along.frontier, along.complete) == (searched.by_length, {}, True)
    assert count_cycles(graph, order=range(42)).frontier == {}
    for options in ({"threads": 1}, {"limit": 10**9}, {"expansion": "paper"}, {"arch": "reference"}):
        found = count_cycles(graph, **options)
        assert found.by_length == searched.by_length
        assert found.frontier
