"""Generated graphs are those of networkx, and a wrong spec is one clear line."""

import json
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from chordless.graphs.generators import generate, is_spec, known_kinds

from kernels_ti.errors import GraphError

DATA = Path(__file__).parents[1] / ".." / "shared" / "data"


def edge_set(graph):
    return {tuple(sorted(edge)) for edge in graph.edges().tolist()}


def numbered(graph, nodes=None):
    index = {node: v for v, node in enumerate(nodes or graph.nodes())}
    return {tuple(sorted((index[u], index[v]))) for u, v in graph.edges()}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("cycle:3", nx.cycle_graph(3)),
        ("cycle:100", nx.cycle_graph(100)),
        ("path:1", nx.path_graph(1)),
        ("path:5", nx.path_graph(5)),
        ("wheel:3", nx.wheel_graph(4)),
        ("wheel:100", nx.wheel_graph(101)),
        ("complete:1", nx.complete_graph(1)),
        ("complete:10", nx.complete_graph(10)),
        ("bipartite:3x5", nx.complete_bipartite_graph(3, 5)),
        ("ladder:1", nx.ladder_graph(1)),
        ("ladder:30", nx.ladder_graph(30)),
        ("gnp:60,0.1,1", nx.gnp_random_graph(60, 0.1, seed=1)),
        ("gnp:30,1,7", nx.gnp_random_graph(30, 1, seed=7)),
        ("gnp:30,.5,0", nx.gnp_random_graph(30, 0.5, seed=0)),
        ("regular:3,60,1", nx.random_regular_graph(3, 60, seed=1)),
        ("regular:0,5,1", nx.empty_graph(5)),
        ("regular:8,11,1", nx.complement(nx.random_regular_graph(2, 11, seed=1))),
    ],
)
def test_a_family_is_the_graph_of_networkx_vertex_by_vertex(spec, expected):
    graph = generate(spec)
    assert graph.n == len(expected)
    assert edge_set(graph) == {tuple(sorted(edge)) for edge in expected.edges()}
    assert graph.names == tuple(range(graph.n))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 6), (7, 10), (10, 7)])
def test_a_grid_is_numbered_row_by_row(rows, columns):
    expected = nx.grid_2d_graph(rows, columns)
    nodes = [(row, column) for row in range(rows) for column in range(columns)]
    graph = generate(f"grid:{rows}x{columns}")
    assert edge_set(graph) == numbered(expected, nodes)
    assert graph.names == tuple(f"{row},{column}" for row, column in nodes)


def test_a_grid_has_any_number_of_dimensions():
    expected = nx.grid_graph((4, 3, 2))
    graph = generate("grid:2x3x4")
    assert graph.names == tuple(",".join(map(str, node)) for node in sorted(expected))
    assert edge_set(graph) == numbered(expected, sorted(expected))
    assert edge_set(generate("grid:5")) == edge_set(generate("path:5"))


@pytest.mark.parametrize("dimension", [1, 3, 5])
def test_a_hypercube_is_numbered_by_its_corners_in_binary(dimension):
    expected = nx.grid_graph([2] * dimension)
    graph = generate(f"hypercube:{dimension}")
    assert edge_set(graph) == numbered(expected, sorted(expected))
    assert all(int(name, 2) == v for v, name in enumerate(graph.names))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 30, 1000])
def test_a_planar_graph_is_planar_of_average_degree_3(n):
    graph = generate(f"planar:{n},7")
    assert graph.n == n
    assert graph.m == 3 * n // 2 or n < 10
    assert nx.check_planarity(nx.Graph(graph.edges().tolist()))[0]


def test_a_planar_graph_is_drawn_anew_for_each_seed():
    first = generate("planar:300,1")
    assert edge_set(generate("planar:300,1")) == edge_set(first)
    common = edge_set(generate("planar:300,2")) & edge_set(first)
    assert len(common) < 0.7 * first.m
    assert len({v - u for u, v in edge_set(first)}) == 4, "edges to the right, down and along both diagonals"
    checksum = int((first.edges() * [1, 300]).sum())
    assert checksum == 20_446_941, "a seed gives the same graph in every version"


def test_every_named_graph_is_the_one_of_networkx():
    named = [kind for kind in known_kinds() if kind.example == kind.name]
    assert len(named) >= 20
    for kind in named:
        expected = getattr(nx, kind.summary.split()[0])()
        graph = generate(kind.name)
        assert {frozenset((graph.names[u], graph.names[v])) for u, v in graph.edges()} == set(
            map(frozenset, expected.edges())
        )
        assert graph.n == len(expected)
        if isinstance(graph.names[0], int):
            assert graph.names == tuple(range(graph.n))


def test_every_kind_has_an_example_that_works():
    for kind in known_kinds():
        assert is_spec(kind.example)
        assert generate(kind.example).n > 0
        assert kind.summary
        assert "\n" not in kind.summary


SPECS = {
    "petersen": "petersen",
    "karate": "karate",
    "les_miserables": "les_miserables",
    "davis_women": "davis_women",
    "florentine": "florentine",
    "desargues": "desargues",
    "heawood": "heawood",
    "moebius_kantor": "moebius_kantor",
    "hoffman_singleton": "hoffman_singleton",
    "C20_fullerene": "dodecahedral",
    "C_100": "cycle:100",
    "Wheel_100": "wheel:100",
}


def spec_of(name):
    family, *sizes = name.replace("hypercube_Q", "hypercube_").split("_")
    kind = {"K": "bipartite", "Grid": "grid", "hypercube": "hypercube"}.get(family)
    return SPECS[name] if kind is None or name in SPECS else f"{kind}:{'x'.join(sizes)}"


@pytest.mark.skipif(not DATA.exists(), reason="the shared test data is not beside the project")
def test_the_sizes_are_those_of_the_published_tables():
    rows = [row for file in ("expected.json", "table1.json") for row in json.loads((DATA / file).read_text())]
    generated = [row for row in rows if row.get("generator")]
    assert len(generated) > 20
    for row in generated:
        graph = generate(spec_of(row["name"]))
        assert (graph.n, graph.m, graph.max_degree) == (row["n"], row["m"], row["delta"]), row["name"]


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("grid:7x", "grid:7x: the size '7x' is not made of whole numbers; right is grid:7x10"),
        ("grid", "right is grid:7x10"),
        ("grid:", "right is grid:7x10"),
        ("grid:0x4", "sizes start at 1"),
        ("grid:-1x4", "not made of whole numbers"),
        ("grid:٣x4", "not made of whole numbers"),
        ("grid:" + "x".join(["1"] * 40), "40 dimensions"),
        ("cycle:2", "sizes start at 3"),
        ("cycle:3x4", "1 number expected, found 2; right is cycle:100"),
        ("bipartite:5", "2 numbers expected, found 1; right is bipartite:50x50"),
        ("wheel:2", "sizes start at 3"),
        ("petersen:5", "takes no size"),
        ("gnp:60,0.1", "right is gnp:60,0.1,1"),
        ("gnp:60,1.5,1", "from 0 to 1"),
        ("gnp:60,nan,1", "right is gnp:60,0.1,1"),
        ("regular:3,7,1", "their product even"),
        ("regular:5,5,1", "below the number of vertices"),
        ("regular:3,60", "right is regular:3,60,1"),
        ("planar:1000", "planar takes vertices, seed, separated by commas; right is planar:1000,1"),
        ("planar:20000000,1", "more than the 20,000,000"),
        ("gird:7x10", "did you mean grid"),
        ("Petersen", "did you mean petersen"),
        ("qqqq", "--help lists the kinds"),
        ("complete:10001", "50,005,000 edges are more than the 20,000,000"),
        ("grid:999999999999x999999999999", "are more than"),
        ("hypercube:99999999", "more than"),
        ("gnp:6000,0.9,1", "more than the 5,000,000"),
        ("regular:20,1000000,1", "more than the 5,000,000"),
    ],
)
def test_a_wrong_spec_is_one_clear_line(spec, part):
    with pytest.raises(GraphError) as caught:
        generate(spec)
    message = str(caught.value)
    assert part in message
    assert message.startswith(spec)
    assert "\n" not in message


@pytest.mark.parametrize("text", ["grid:7x", "petersen", "grid"])
def test_a_known_kind_makes_a_spec(text):
    assert is_spec(text)


@pytest.mark.parametrize("text", ["roads.txt", "", "gird:3x3", "Grid:3x3"])
def test_anything_else_is_no_spec(text):
    assert not is_spec(text)


def test_simple_families_do_without_networkx():
    code = (
        "import sys; from chordless.graphs.generators import generate; "
        "[generate(s) for s in ('grid:7x10', 'cycle:5', 'wheel:9', 'hypercube:3', 'bipartite:2x2')]; "
        "print([m for m in ('networkx', 'scipy', 'taichi', 'textual') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[1])
    assert done.stdout.strip() == "[]", done.stderr


def test_big_grids_are_made():
    graph = generate("grid:300x400")
    assert (graph.n, graph.m) == (120_000, 300 * 399 + 299 * 400)
    assert np.array_equal(graph.neighbours(401), [1, 400, 402, 801])
