"""Only cycles through some vertices and edges, and not through others: the right ones, and without looking at all."""

import json
from itertools import chain

import networkx as nx
import numpy as np
import pytest
from chordless.graphs.vertex_names import edge_named, vertices_named
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import check_cycles, grid
from program import REFERENCE, chordless, count, fails, slowly

from kernels_ti import (
    Device,
    Graph,
    OptionError,
    Options,
    Run,
    Snapshot,
    collect_cycles,
    count_cycles,
    enumerate_cycles,
    longest_cycle,
    open_device,
)
from kernels_ti.blocks import restriction
from kernels_ti.blocks.restriction import restricted
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.estimate.estimate import Estimator
from kernels_ti.reference.algorithm import chordless_cycles


def wanted(graph: Graph, through: tuple[int, ...], avoid: tuple[int, ...] = (), longest: int | None = None) -> list:
    cycles = chordless_cycles(graph, max_length=longest)
    return sorted(cycle for cycle in cycles if set(through) <= set(cycle) and not set(avoid) & set(cycle))


def found(graph: Graph, device: Device, **options: object) -> tuple[list[list[int]], Snapshot]:
    run = Run(graph, device, Options(**options))
    cycles = []
    while True:
        taken = run.take_cycles()
        cycles += [taken.vertices[a:b].tolist() for a, b in zip(taken.offsets, taken.offsets[1:], strict=False)]
        if run.finished:
            return sorted(cycles), run.snapshot()
        run.advance()


def check(graph: Graph, device: Device, through: tuple[int, ...], avoid: tuple[int, ...] = (), **options: int) -> None:
    expected = wanted(graph, through, avoid, options.get("max_length"))
    cycles, snapshot = found(graph, device, through=through, avoid=avoid, collect=True, **options)
    check_cycles(graph, cycles)
    assert cycles == expected
    assert snapshot.cycles == len(expected)
    _, counted = found(graph, device, through=through, avoid=avoid, **options)
    assert counted.cycles_by_length == snapshot.cycles_by_length


def long_ring() -> Graph:
    """A grid in a ring of 700 vertices: a block of eleven words."""
    joined = nx.disjoint_union(nx.grid_2d_graph(4, 5), nx.cycle_graph(700))
    joined.add_edges_from([(0, 20), (19, 90), (7, 300)])
    return Graph.from_networkx(joined)


def check_without_edges(graph: Graph, device: Device, edges: list[tuple[int, int]], **options: object) -> list:
    expected = [
        cycle
        for cycle in wanted(graph, options.get("through", ()), options.get("avoid", ()), options.get("max_length"))
        if not any(u in cycle and v in cycle for u, v in edges)
    ]
    cycles, snapshot = found(graph, device, avoid_edges=tuple(edges), collect=True, **options)
    check_cycles(graph, cycles)
    assert cycles == expected
    _, counted = found(graph, device, avoid_edges=tuple(edges), **options)
    assert counted.cycles_by_length == snapshot.cycles_by_length
    assert counted.cycles == len(expected)
    return expected


def test_an_avoided_edge_stays_a_chord() -> None:
    square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], names="abcd")
    assert count_cycles(square, arch="cpu", avoid_edges=[("a", "c")]).by_length == {}
    assert count_cycles(square, arch="cpu", avoid_edges=[("a", "b")]).by_length == {3: 1}
    assert list(enumerate_cycles(square, arch="cpu", avoid_edges=[("a", "b")])) == [["a", "c", "d"]]


@pytest.mark.parametrize(
    "edges", [[(0, 1)], [(6, 7), (7, 8)], [(6, 7), (12, 13)], [(0, 1), (1, 2), (2, 7), (6, 11), (13, 14), (12, 17)]]
)
def test_cycles_of_a_grid_without_edges(edges: list[tuple[int, int]]) -> None:
    cpu = open_device("cpu")
    assert check_without_edges(grid(4, 5), cpu, edges)
    check_without_edges(grid(4, 5), cpu, edges, through=(7, 18), max_length=12)


def test_the_reference_and_the_paper_avoid_edges_too() -> None:
    edges = [(6, 7), (12, 13)]
    assert check_without_edges(grid(4, 5), open_device("cpu"), edges, through=(8,), avoid=(4,), expansion="paper")
    assert check_without_edges(grid(4, 5), open_device("reference"), edges, through=(8,))


@pytest.mark.slow_on("vulkan")
def test_every_device_avoids_edges(device: Device) -> None:
    assert check_without_edges(grid(4, 5), device, [(6, 7), (12, 13)])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_random_graphs_without_edges(seed: int, count: int) -> None:
    drawn = nx.gnm_random_graph(10, 20, seed=seed)
    edges = sorted(tuple(sorted(edge)) for edge in drawn.edges())[:: 20 // count][:count]
    graph = Graph.from_networkx(drawn)
    check_without_edges(graph, open_device("cpu"), edges)
    check_without_edges(graph, open_device("cpu"), edges, max_length=5)


def test_the_parts_of_a_search_without_edges_add_up() -> None:
    graph, edges = grid(4, 5), ((6, 7), (12, 13))
    whole = found(graph, open_device("cpu"), avoid_edges=edges, collect=True)[0]
    parts = [found(graph, open_device("cpu"), avoid_edges=edges, collect=True, part=(i, 3))[0] for i in (1, 2, 3)]
    assert sorted(chain(*parts)) == whole


def test_a_search_without_edges_goes_on_from_its_state() -> None:
    graph, options = grid(4, 5), Options(avoid_edges=((6, 7), (12, 13), (1, 2)))
    cpu = open_device("cpu")
    run = Run(graph, cpu, options)
    stops = 0
    while not run.finished:
        run.advance()
        if not run.finished:
            run, stops = Run(graph, cpu, options, run.state()), stops + 1
    assert stops > 2
    expected = found(graph, cpu, avoid_edges=options.avoid_edges)[1]
    assert run.snapshot().cycles_by_length == expected.cycles_by_length


def test_what_cannot_be_avoided(monkeypatch) -> None:
    graph = grid(4, 5)
    for edges, through, said in (
        ([(0, 7)], (), "there is no edge 0 - 7"),
        ([(0,)], (), "is not a pair"),
        ([(0, 99)], (), "there is no vertex 99"),
        ([(0, 1)], (0, 1), "0 and 1 are both in through, so the edge between them cannot be avoided"),
    ):
        with pytest.raises(OptionError, match=said):
            count_cycles(graph, arch="cpu", avoid_edges=edges, through=through)
    monkeypatch.setattr("kernels_ti.blocks.restriction.MOST_CASES", 3)
    with pytest.raises(OptionError, match="4 edges are too many to avoid: they make more than 3 cases"):
        SearchSpace(graph, Options(avoid_edges=((0, 1), (2, 7), (6, 11), (13, 18))))


@pytest.mark.slow
def test_edges_to_avoid_on_the_command_line() -> None:
    result, exit_code = count("grid:4x5", "--avoid-edge", "1,1-1,2", "--avoid-edge", "2,2-2,3", *REFERENCE)
    assert (exit_code, result["avoid_edges"]) == (0, ["1,1-1,2", "2,2-2,3"])
    assert result["total"] == found(grid(4, 5), open_device("cpu"), avoid_edges=((6, 7), (12, 13)))[1].cycles
    table = chordless("count", "grid:4x5", "--avoid-edge", "1,1-1,2", *REFERENCE).stdout
    assert table.startswith("grid:4x5, without the edge 1,1-1,2\n")
    assert fails(chordless("count", "grid:4x5", "--avoid-edge", "0,0-1,2", *REFERENCE), 2, "there is no edge 0,0 - 1,2")
    avoided = ["--avoid-edge", "1,1-1,2", "--avoid-edge", "2,2-2,3"]
    along, exit_code = count("grid:4x5", *avoided, "--method", "boundary")
    assert (exit_code, along["by_length"], along["method"]) == (0, result["by_length"], "boundary")
    estimate = chordless("estimate", "grid:4x5", "--avoid-edge", "1,1-1,2", "--json", "--seconds", "1", *REFERENCE)
    assert json.loads(estimate.stdout)["boundary"]["width"] > 0, estimate.stderr


THROUGH = [(0,), (7,), (0, 1), (6, 13), (0, 19), (6, 7, 8), (1, 9, 17, 12)]


@pytest.mark.parametrize("through", THROUGH)
def test_through_vertices_of_a_grid(through: tuple[int, ...]) -> None:
    check(grid(4, 5), open_device("cpu"), through)
    check(grid(4, 5), open_device("cpu"), through, avoid=(2,), max_length=12)


def test_every_device_drops_the_paths(device: Device) -> None:
    graph = grid(4, 5)
    cycles, _ = found(graph, device, through=(0, 7, 19), avoid=(2,), collect=True)
    assert cycles == wanted(graph, (0, 7, 19), (2,))


@pytest.mark.slow
def test_every_device_drops_the_paths_of_a_wide_block(device: Device) -> None:
    """Of more words than a kernel unrolls, 32 bits each or 64; and no cycle is long, which would take many launches."""
    pairs = [(2 + 2 * i, 3 + 2 * i) for i in range(260)]
    edges = [edge for x, y in pairs for edge in ((0, x), (x, y), (y, 1))]
    graph = Graph.from_edges(522, edges + [(2 * i, 2 * i + 2) for i in range(1, 20)])
    expected = wanted(graph, (0, 1, 8))
    assert len(expected) > 250
    cycles, _ = found(graph, device, through=(0, 1, 8), collect=True)
    assert cycles == expected


@pytest.mark.slow
def test_a_wide_block_through_few() -> None:
    check(long_ring(), open_device("cpu"), (100, 400))


@settings(max_examples=40)
@given(
    n=st.integers(4, 20),
    degree=st.floats(1.5, 6),
    seed=st.integers(0, 10**6),
    longest=st.sampled_from([None, None, 3, 6]),
    expansion=st.sampled_from(["two-ended", "two-ended", "paper"]),
    choose=st.randoms(use_true_random=False),
)
def test_random_graphs(n: int, degree: float, seed: int, longest: int | None, expansion: str, choose) -> None:
    graph = Graph.from_networkx(nx.gnp_random_graph(n, min(degree / n, 0.6), seed=seed))
    cycles = list(chordless_cycles(graph, max_length=longest))
    assume(cycles)
    # Vertices of one cycle, so that there is something to find.
    some = choose.choice(cycles)
    through = tuple(choose.sample(some, choose.randint(1, len(some))))
    avoid = tuple(v for v in range(n) if v not in through and choose.random() < 0.1)
    check(graph, open_device("cpu"), through, avoid, max_length=longest, expansion=expansion)


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), choose=st.randoms(use_true_random=False))
def test_parts_and_resumed_runs(seed: int, choose) -> None:
    graph = Graph.from_networkx(nx.gnp_random_graph(16, 0.25, seed=seed))
    device = open_device("cpu")
    cycles = list(chordless_cycles(graph))
    assume(cycles)
    through = tuple(choose.sample(cycles[-1], min(2, len(cycles[-1]))))
    expected = wanted(graph, through)
    parts = [found(graph, device, through=through, collect=True, part=(i, 3))[0] for i in (1, 2, 3)]
    assert sorted(chain.from_iterable(parts)) == expected
    first = Run(graph, device, Options(through=through))
    second = Run(graph, device, Options(through=through), first.state())
    while not second.finished:
        second.advance()
    assert second.snapshot().cycles == len(expected)


def test_a_cut_vertex_lies_in_several_blocks() -> None:
    device = open_device("cpu")
    graph = Graph.from_edges(9, [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 5), (5, 0), (6, 7), (7, 8), (8, 6)])
    check(graph, device, (0,))
    check(graph, device, (1, 3))
    check(graph, device, (6, 0))


def ring_of_squares(squares: int) -> Graph:
    """Squares in a row, each joined to the next by an edge, and an edge from the last to the first."""
    edges = []
    for i in range(squares):
        a = 4 * i
        edges += [(a, a + 1), (a + 1, a + 2), (a + 2, a + 3), (a + 3, a), (a + 2, (a + 4) % (4 * squares))]
    return Graph.from_edges(4 * squares, edges)


@pytest.mark.parametrize(("through", "expected"), [((1,), 1 + 2**11), ((1, 5), 2**10), ((1, 5, 9, 13, 17), 2**7)])
def test_it_prunes(through: tuple[int, ...], expected: int) -> None:
    """Of 12 squares and the ways around through one side or the other of each."""
    graph, device = ring_of_squares(12), open_device("cpu")
    _, whole = found(graph, device)
    _, part = found(graph, device, through=through)
    assert whole.cycles == 12 + 2**12
    assert part.cycles == expected
    assert part.paths < 20 * part.cycles
    assert part.paths < whole.paths * 0.75


def test_several_vertices_prune_more_than_one() -> None:
    device = open_device("cpu")
    graph = grid(6, 7)
    paths = [found(graph, device, through=through)[1].paths for through in ((), (0,), (0, 41), (0, 6, 35, 41))]
    assert paths[1] < paths[0]
    assert paths[3] < paths[2] < paths[1] / 2


def test_a_bound_leaves_only_what_is_near() -> None:
    graph = grid(40, 40)
    near = restricted(graph, through=(820,), max_length=10)
    assert near.graph.n == graph.n
    assert 0 < near.graph.m < 150
    check(graph, open_device("cpu"), (820,), max_length=10)


def test_estimates_know_of_it() -> None:
    graph = grid(5, 6)
    for through, avoid in (((0,), ()), ((0, 29), (8,)), ((), (8, 14))):
        estimator = Estimator(SearchSpace(graph, Options(through=through, avoid=avoid)))
        for _ in range(30):
            estimator.add_walk(1 << 14)
        estimate = estimator.estimate()
        assert estimate.exact
        assert estimate.total.estimate == len(wanted(graph, through, avoid))


def test_names_of_vertices_and_edges() -> None:
    graph = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names=["a", "b-c", "1,2", "b"])
    assert vertices_named(graph, ["a,1,2", "b-c"]) == (0, 2, 1)
    assert edge_named(graph, "a-b-c") == (0, 1)
    assert edge_named(graph, "b-a") == (3, 0)
    with pytest.raises(OptionError, match="there is no vertex 'd'"):
        vertices_named(graph, ["a,d"])
    with pytest.raises(OptionError, match="no edge a - 1,2"):
        edge_named(graph, "a-1,2")
    with pytest.raises(OptionError, match="no edge a - a"):
        edge_named(graph, "a-a")
    looped = Graph.from_edges(2, [(0, 1), (1, 1)], names=["a", "b"], multigraph=True)
    assert edge_named(looped, "b-b") == (1, 1)
    with pytest.raises(OptionError, match="two vertices with a - between them"):
        edge_named(graph, "a")
    with pytest.raises(OptionError, match="in both through and avoid"):
        restricted(graph, (1,), (1,))
    with pytest.raises(OptionError, match="there is no vertex 4"):
        restricted(graph, (4,))


@pytest.mark.slow
def test_the_commands_obey() -> None:
    expected = wanted(grid(4, 5), (0, 1), (7,))
    asked = ("grid:4x5", "--through-edge", "0,0-0,1", "--avoid", "1,2")
    listed = chordless("list", *asked, "--arch", "cpu")
    assert len(listed.stdout.splitlines()) == len(expected)
    counted, _ = count(*asked, "--arch", "cpu", "--per-vertex")
    assert counted["total"] == len(expected)
    assert counted["avoid"] == ["1,2"]
    assert counted["vertices"][7]["cycles"] == 0
    assert counted["vertices"][0]["cycles"] == len(expected)


@pytest.mark.slow
def test_a_checkpoint_belongs_to_its_vertices(tmp_path) -> None:
    folder = tmp_path / "run"
    asked = ("grid:7x9", "--through", "0,0,6,8", "--avoid", "2,2", "--arch", "cpu")
    _, whole = found(grid(7, 9), open_device("cpu"), through=(0, 62), avoid=(20,))
    done = slowly("count", *asked, "--checkpoint", folder, "--limit", 5)
    assert done.returncode == 4, done.stderr
    resumed = chordless("resume", folder, "--json")
    by_length = {str(length): count for length, count in whole.cycles_by_length.items()}
    assert json.loads(resumed.stdout)["by_length"] == by_length
    asked_for = json.loads((folder / "run.json").read_text())
    asked_for["command"]["avoid"] = []
    (folder / "run.json").write_text(json.dumps(asked_for))
    assert fails(chordless("resume", folder), 2, "avoid is ['2,2'] there")


@pytest.mark.parametrize("through", [(0, 1), (0, 1, 2), (2, 3)])
def test_what_is_found_before_the_first_slice_is_given_out(through: tuple[int, ...]) -> None:
    graph = nx.complete_graph(4)
    wanted = [cycle for cycle in ([0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]) if set(through) <= set(cycle)]
    assert sorted(enumerate_cycles(graph, arch="cpu", through=through)) == wanted
    assert sorted(collect_cycles(graph, arch="cpu", through=through).lists()) == wanted
    assert count_cycles(graph, arch="cpu", through=through).by_length == {3: len(wanted)}


def test_what_is_no_list_of_vertices_is_said() -> None:
    graph = nx.path_graph(3)
    lists = "through and avoid are lists of vertices: "
    for wrong, message in (
        (0, rf"{lists}\[0\], not 0"),
        ([[0]], r"no vertex \[0\]"),
        (np.array(0), rf"{lists}\[array\(0\)\], not array\(0\)"),
    ):
        with pytest.raises(OptionError, match=message):
            count_cycles(graph, through=wrong)
    with pytest.raises(OptionError, match=r"avoid_edges is a list of pairs of vertices, not array\(0\)"):
        count_cycles(graph, avoid_edges=np.array(0))
    with pytest.raises(OptionError, match=r"order is a list of all vertices, not array\(0\)"):
        count_cycles(graph, method="boundary", order=np.array(0))


def test_a_text_is_one_name() -> None:
    names = ["1", "7", "17", "4"]
    square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], names=names)
    for options in ({"through": "7"}, {"avoid": "4"}):
        assert count_cycles(square, **options).by_length == {3: 1}
        assert next(enumerate_cycles(square, **options)) == ["1", "7", "17"]
    assert longest_cycle(square, through="17", avoid="7").cycle == ["1", "17", "4"]
    for options in ({"through": "14"}, {"avoid": "74"}, {"method": "boundary", "order": "17174"}):
        with pytest.raises(OptionError, match=r"there is no vertex '\d+' in the graph"):
            count_cycles(square, **options)
    for edges, shown in (("17", "not '17'"), (["17"], "'17' is not a pair")):
        with pytest.raises(OptionError, match=f"avoid_edges is a list of pairs of vertices.*{shown}"):
            count_cycles(square, avoid_edges=edges)


def test_a_self_loop_can_be_avoided() -> None:
    looped = Graph.from_edges(4, [(0, 1), (1, 2), (2, 0), (3, 3), (2, 3)], multigraph=True)
    assert count_cycles(looped, min_length=1).by_length == {1: 1, 3: 1}
    for arch in ("auto", "cpu"):
        assert count_cycles(looped, arch=arch, min_length=1, avoid_edges=[(3, 3)]).by_length == {3: 1}
        assert count_cycles(looped, arch=arch, min_length=1, through=[3], avoid_edges=[(3, 3)]).by_length == {}
    with pytest.raises(OptionError, match="there is no edge 2 - 2 in the graph"):
        count_cycles(looped, avoid_edges=[(2, 2)])


@pytest.mark.parametrize(
    ("name", "is_one"), [("3", True), ("10", False), ("03", False), ("\u0663", False), ("9" * 5000, False)]
)
def test_the_error_about_a_number_that_is_a_text_says_whether_a_vertex_is_called_so(name, is_one):
    with pytest.raises(OptionError, match=f"there is no vertex '{name}': the graph has the vertices 0 to 9") as error:
        count_cycles(Graph.from_edges(10, nx.petersen_graph().edges), through=[name])
    assert ("without quotation marks is one" in str(error.value)) is is_one


def test_the_error_about_a_name_looks_at_no_vertex(monkeypatch):
    """A text for each of ten million vertices takes seconds."""
    monkeypatch.setattr(restriction, "range", lambda *_: pytest.fail("all vertices were looked at"), raising=False)
    error = restriction.no_vertex(Graph.from_edges(10, [(0, 1)]), "7")
    assert str(error).endswith("the graph has the vertices 0 to 9; 7 without quotation marks is one")
