"""In how many cycles each vertex and each edge lies: against a count of the reference's cycles one by one."""

import io
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from chordless.commands.terminal import participation_table
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import disjoint_union, grid
from program import chordless, count

import kernels_ti.found.participation as counting
from kernels_ti import Device, Graph, OptionError, Options, Participation, Run, count_participation, open_device
from kernels_ti.reference.algorithm import chordless_cycles


def counted(graph: Graph, device: Device, wanted: str = "edges", **options: object) -> Participation:
    run = Run(graph, device, Options(participation=wanted, **options))
    while not run.finished:
        run.advance()
    return run.participation()


def one_by_one(graph: Graph, cycles: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    longest = max(map(len, cycles), default=0)
    number = {edge: i for i, edge in enumerate(map(tuple, graph.edges().tolist()))}
    vertices = np.zeros((graph.n, longest + 1), np.int64)
    edges = np.zeros((graph.m, longest + 1), np.int64)
    for cycle in cycles:
        for u, v in pairwise([*cycle, cycle[0]]):
            vertices[u, len(cycle)] += 1
            edges[number[min(u, v), max(u, v)], len(cycle)] += 1
    return vertices, edges


def check(graph: Graph, device: Device, **options: int) -> None:
    cycles = list(chordless_cycles(graph, max_length=options.get("max_length")))
    vertices, edges = one_by_one(graph, [cycle for cycle in cycles if len(cycle) >= options.get("min_length", 3)])
    found = counted(graph, device, **options)
    assert np.array_equal(found.vertices, vertices)
    assert found.edges is not None
    assert np.array_equal(found.edges, edges)
    assert found.edge_list.tolist() == graph.edges().tolist()


def several_blocks() -> Graph:
    """Blocks of one word and of nine, cut vertices among them, triangles in several; no cycle is long."""
    wide = nx.Graph()
    for i in range(260):
        nx.add_path(wide, ["a", f"x{i}", f"y{i}", "b"])
    wide.add_edges_from((f"x{i}", f"x{i + 1}") for i in range(20))
    graph, _ = disjoint_union([wide, nx.petersen_graph(), nx.complete_graph(5), nx.path_graph(4)])
    edges = [*graph.edges().tolist(), [5, 525], [522, 536]]
    return Graph.from_edges(graph.n, edges)


@pytest.mark.slow
def test_every_kind_of_block(device: Device) -> None:
    check(several_blocks(), device)


@settings(max_examples=12)
@given(n=st.integers(3, 24), degree=st.floats(1, 5), seed=st.integers(0, 10**6), least=st.integers(3, 5))
def test_random_graphs(n: int, degree: float, seed: int, least: int) -> None:
    graph = Graph.from_networkx(nx.gnp_random_graph(n, min(degree / n, 0.6), seed=seed))
    check(graph, open_device("cpu"), min_length=least, max_length=9)


def test_few_bundles_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many launches, of pieces that end anywhere."""
    monkeypatch.setattr(counting, "CYCLES_AT_ONCE", 500)
    monkeypatch.setattr(counting, "TURNED_BYTES", 3 * 64 * 64 // 8)
    monkeypatch.setattr(counting, "BUNDLES_OF_ITEM", 2)
    monkeypatch.setattr(counting, "ITEMS_AT_ONCE", 100)
    check(grid(5, 6), open_device("cpu"))


def test_balls_of_a_bounded_search() -> None:
    """Each root has a block of its own, so most bundles are nearly empty."""
    graph = grid(30, 30)
    found = counted(graph, open_device("cpu"), max_length=8)
    vertices, edges = one_by_one(graph, list(chordless_cycles(graph, max_length=8)))
    assert np.array_equal(found.vertices, vertices)
    assert np.array_equal(found.edges, edges)


def test_parts_add_up() -> None:
    graph, device = grid(5, 6), open_device("cpu")
    whole = counted(graph, device)
    parts = [counted(graph, device, part=(i, 3)) for i in (1, 2, 3)]
    total = np.zeros_like(whole.edges)
    for part in parts:
        total[:, : part.edges.shape[1]] += part.edges
    assert np.array_equal(total, whole.edges)
    assert all(part.edges.any() for part in parts)


def test_the_reference_counts_the_same() -> None:
    check(grid(4, 4), open_device("reference"))


def test_vertices_alone() -> None:
    graph, device = grid(4, 5), open_device("cpu")
    assert counted(graph, device, "vertices").edges is None
    assert np.array_equal(counted(graph, device, "vertices").vertices, counted(graph, device).vertices)


def test_only_when_it_is_asked_for() -> None:
    run = Run(grid(3, 3), open_device("cpu"))
    with pytest.raises(OptionError, match="does not count for each vertex"):
        run.participation()
    with pytest.raises(OptionError, match="collect cannot be combined with participation"):
        Options(collect=True, participation="edges")
    with pytest.raises(OptionError, match="no participation 'faces'"):
        Options(participation="faces")


@pytest.mark.slow
def test_the_command_counts_them() -> None:
    found, exit_code = count("grid:4x5", "--arch", "cpu", "--per-vertex", "--per-edge")
    vertices, edges = one_by_one(grid(4, 5), list(chordless_cycles(grid(4, 5))))
    assert exit_code == 0
    assert [entry["name"] for entry in found["vertices"]][:2] == ["0,0", "0,1"]
    assert [entry["cycles"] for entry in found["vertices"]] == vertices.sum(axis=1).tolist()
    assert [entry["cycles"] for entry in found["edges"]] == edges.sum(axis=1).tolist()
    assert found["edges"][0]["name"] == ["0,0", "0,1"]
    by_length = {str(length): int(n) for length, n in enumerate(vertices[6]) if n}
    assert found["vertices"][6]["by_length"] == by_length


def test_a_table_of_the_busiest() -> None:
    done = chordless("count", "grid:5x5", "--arch", "reference", "--per-vertex")
    assert done.returncode == 0, done.stderr
    rows = done.stdout.split("  vertex")[1].splitlines()[1:]
    assert len(rows) == 21
    shares = [float(row.split()[-1].rstrip("%")) for row in rows[:-1]]
    assert shares == sorted(shares, reverse=True)
    assert rows[-1] == "  and 5 more; --json has all of them"


def test_the_table_leaves_out_who_lies_in_no_cycle() -> None:
    def lines(counts: list[int], what: str) -> list[str]:
        entries = [{"name": name, "cycles": count} for name, count in enumerate(counts)]
        return list(participation_table(entries, what, 4, io.StringIO()))

    assert lines([0, 1, 0, 4], "vertex") == [
        "  vertex  cycles   share",
        "  3            4  100.0%",
        "  1            1   25.0%",
        "  2 of 4 vertices lie in none of these cycles",
    ]
    assert lines([0, 1], "edge")[-1] == "  1 of 2 edges lie in none of these cycles"
    assert lines([0, 0], "edge") == ["  no edge lies in any of these cycles"]


def test_no_checkpoint_of_them(tmp_path) -> None:
    done = chordless("count", "grid:3x3", "--per-edge", "--checkpoint", tmp_path / "run")
    assert done.returncode == 2
    assert "--per-vertex and --per-edge keep no checkpoint" in done.stderr
    assert not (tmp_path / "run").exists()


def test_vertices_whose_product_needs_more_than_32_bits():
    last = 60_000
    triangle = Graph.from_edges(last, [(0, last - 2), (last - 2, last - 1), (0, last - 1)])
    counted = count_participation(triangle, arch="reference")
    assert counted.edges is not None
    assert counted.edges[:, 3].tolist() == [1, 1, 1]
