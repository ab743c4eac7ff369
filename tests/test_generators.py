"""Generated graphs are those of networkx, and a wrong spec is one clear line."""

import subprocess
import sys
from collections import Counter
from itertools import combinations, product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from chordless import generate
from chordless.graphs.generators import is_spec, known_kinds
from known import generated

from kernels_ti import GraphError, count_cycles


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
        ("circulant:12,1,3", nx.circulant_graph(12, [1, 3])),
        ("circulant:8,4", nx.circulant_graph(8, [4])),
        ("paley:13", nx.paley_graph(13, create_using=nx.Graph)),
        ("prism:7", nx.circular_ladder_graph(7)),
        ("moebius:8", nx.circulant_graph(16, [1, 8])),
        ("moebius:2", nx.complete_graph(4)),
        (
            "petersen:7,2",
            nx.Graph([e for v in range(7) for e in ((v, (v + 1) % 7), (v, v + 7), (v + 7, (v + 2) % 7 + 7))]),
        ),
        ("crown:2", nx.Graph([(0, 3), (1, 2)])),
        ("crown:6", nx.Graph((u, v + 6) for u in range(6) for v in range(6) if u != v)),
        ("cocktail:6", nx.complement(nx.Graph((v, v + 6) for v in range(6)))),
        ("cocktail:1", nx.empty_graph(2)),
        ("complement:cycle:7", nx.complement(nx.cycle_graph(7))),
        ("complement:complete:4", nx.empty_graph(4)),
        ("complement:complement:path:5", nx.path_graph(5)),
        ("mycielski:1", nx.mycielski_graph(1)),
        ("mycielski:2", nx.mycielski_graph(2)),
        ("mycielski:5", nx.mycielski_graph(5)),
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


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("torus:5x6", nx.grid_graph((6, 5), periodic=True)),
        ("torus:3x4x5", nx.grid_graph((5, 4, 3), periodic=True)),
        ("king:1x4", nx.strong_product(nx.path_graph(1), nx.path_graph(4))),
        ("king:5x6", nx.strong_product(nx.path_graph(5), nx.path_graph(6))),
        ("kneser:5,2", nx.kneser_graph(5, 2)),
        ("kneser:4,3", nx.kneser_graph(4, 3)),
        ("kneser:6,1", nx.kneser_graph(6, 1)),
        ("rook:3x5", nx.cartesian_product(nx.complete_graph(3), nx.complete_graph(5))),
        ("rook:1x1", nx.cartesian_product(nx.complete_graph(1), nx.complete_graph(1))),
        ("hexagonal:3x4", nx.hexagonal_lattice_graph(3, 4)),
        ("hexagonal:1x1", nx.hexagonal_lattice_graph(1, 1)),
        ("cartesian:wheel:4+path:3", nx.cartesian_product(nx.wheel_graph(5), nx.path_graph(3))),
        ("strong:cycle:5+path:4", nx.strong_product(nx.cycle_graph(5), nx.path_graph(4))),
        ("tensor:petersen+path:2", nx.tensor_product(nx.petersen_graph(), nx.path_graph(2))),
        ("lexicographic:path:4+cycle:3", nx.lexicographic_product(nx.path_graph(4), nx.cycle_graph(3))),
    ],
)
def test_vertices_that_are_tuples_are_numbered_in_their_order(spec, expected):
    graph = generate(spec)
    assert graph.names == tuple(",".join(map(str, node)) for node in sorted(expected))
    assert edge_set(graph) == numbered(expected, sorted(expected))


def test_a_product_of_three_has_the_names_of_all():
    graph = generate("cartesian:path:2+path:3+path:4")
    grid = generate("grid:2x3x4")
    assert (graph.names, edge_set(graph)) == (grid.names, edge_set(grid))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 5), (4, 4), (3, 6), (7, 2)])
def test_queens_attack_each_other(rows, columns):
    squares = [(row, column) for row in range(rows) for column in range(columns)]
    expected = {
        (u, v)
        for (u, (a, b)), (v, (c, d)) in combinations(enumerate(squares), 2)
        if a == c or b == d or abs(a - c) == abs(b - d)
    }
    graph = generate(f"queens:{rows}x{columns}")
    assert edge_set(graph) == expected
    assert graph.names == tuple(f"{row},{column}" for row, column in squares)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 5), (2, 2), (2, 3), (4, 4), (3, 6), (7, 2), (6, 6)])
def test_pieces_attack_each_other(rows, columns):
    squares = [(row, column) for row in range(rows) for column in range(columns)]
    apart = {(u, v): (abs(a - c), abs(b - d)) for (u, (a, b)), (v, (c, d)) in combinations(enumerate(squares), 2)}
    moves = {
        "knight": lambda a, b: {a, b} == {1, 2},
        "bishop": lambda a, b: a == b,
        "rook": lambda a, b: 0 in (a, b),
    }
    for piece, may_move in moves.items():
        graph = generate(f"{piece}:{rows}x{columns}")
        assert edge_set(graph) == {pair for pair, way in apart.items() if may_move(*way)}
        assert graph.names == tuple(f"{row},{column}" for row, column in squares)


@pytest.mark.parametrize(("n", "k"), [(6, 3), (5, 1), (4, 4), (7, 2)])
def test_subsets_that_differ_in_one_thing_are_joined(n, k):
    subsets = list(combinations(range(n), k))
    graph = generate(f"johnson:{n},{k}")
    assert graph.names == tuple(",".join(map(str, subset)) for subset in subsets)
    assert edge_set(graph) == {
        (u, v) for (u, a), (v, b) in combinations(enumerate(subsets), 2) if len(set(a) & set(b)) == k - 1
    }


def test_a_triangular_grid_has_one_diagonal_in_each_square():
    grid = nx.grid_2d_graph(4, 5)
    grid.add_edges_from(((row, column), (row + 1, column + 1)) for row in range(3) for column in range(4))
    graph = generate("triangular:4x5")
    assert edge_set(graph) == numbered(grid, sorted(grid))
    assert count_cycles(graph, arch="reference").by_length[3] == 2 * 3 * 4


@pytest.mark.parametrize("spec", ["petersen", "cycle:5", "path:4", "complete:5", "bipartite:3x1", "grid:3x3"])
def test_a_line_graph_is_that_of_networkx(spec):
    graph = generate(spec)
    line = generate(f"line:{spec}")
    assert line.names == tuple(f"{graph.names[u]}-{graph.names[v]}" for u, v in graph.edges())
    edges = [tuple(edge) for edge in graph.edges().tolist()]
    place = {edge: at for at, edge in enumerate(edges)}
    drawn = nx.line_graph(nx.Graph(edges))
    assert edge_set(line) == {
        tuple(sorted((place[tuple(sorted(one))], place[tuple(sorted(other))]))) for one, other in drawn.edges()
    }


def test_petersen_alone_is_one_of_its_family():
    assert nx.is_isomorphic(nx.Graph(generate("petersen:5,2").edges().tolist()), nx.petersen_graph())


@pytest.mark.parametrize(("d", "q"), [(3, 4), (1, 5), (4, 2)])
def test_words_that_differ_in_one_letter_are_joined(d, q):
    words = list(product(range(q), repeat=d))
    graph = generate(f"hamming:{d},{q}")
    assert graph.names == (tuple(",".join(map(str, word)) for word in words) if d > 1 else tuple(range(q)))
    assert edge_set(graph) == {
        (u, v)
        for (u, a), (v, b) in combinations(enumerate(words), 2)
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
    }


@pytest.mark.parametrize(
    "spec",
    [
        "torus:3x4",
        "king:4x4",
        "queens:4x4",
        "kneser:5,2",
        "circulant:12,1,3",
        "paley:13",
        "mycielski:4",
        "hexagonal:2x3",
        "fibonacci:5",
        "sierpinski:3",
        "paley:9",
        "paley:25",
        "halved:4",
        "folded:4",
        "triangle:5",
    ],
)
def test_the_cycles_of_a_new_family_are_those_that_networkx_finds(spec):
    graph = generate(spec)
    lengths = [len(cycle) for cycle in nx.chordless_cycles(nx.Graph(graph.edges().tolist()), backend="networkx")]
    assert count_cycles(graph, arch="reference").by_length == dict(sorted(Counter(lengths).items()))


@pytest.mark.parametrize("dimension", [1, 3, 5])
def test_a_hypercube_is_numbered_by_its_corners_in_binary(dimension):
    expected = nx.grid_graph([2] * dimension)
    graph = generate(f"hypercube:{dimension}")
    assert edge_set(graph) == numbered(expected, sorted(expected))
    assert all(int(name, 2) == v for v, name in enumerate(graph.names))


@pytest.mark.parametrize("letters", [1, 2, 3, 7])
def test_a_fibonacci_cube_has_the_words_without_two_ones_side_by_side(letters):
    words = [word for word in map("".join, product("01", repeat=letters)) if "11" not in word]
    graph = generate(f"fibonacci:{letters}")
    assert graph.names == tuple(words)
    assert edge_set(graph) == {
        (u, v)
        for (u, a), (v, b) in combinations(enumerate(words), 2)
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
    }


@pytest.mark.parametrize("q", [5, 9, 25, 49, 81, 125])
def test_a_paley_graph_is_its_own_complement_and_strongly_regular(q):
    drawn = nx.Graph(generate(f"paley:{q}").edges().tolist())
    assert len(drawn) == q
    assert nx.is_strongly_regular(drawn)
    common = {len(set(drawn[u]) & set(drawn[v])) for u, v in drawn.edges()}
    assert common == {(q - 5) // 4}
    assert nx.faster_could_be_isomorphic(drawn, nx.complement(drawn))


def test_the_field_of_nine_elements_makes_the_rook_s_graph():
    assert nx.is_isomorphic(
        nx.Graph(generate("paley:9").edges().tolist()), nx.Graph(generate("rook:3x3").edges().tolist())
    )


@pytest.mark.parametrize("letters", [2, 3, 4, 6])
def test_a_halved_cube_joins_even_words_that_differ_in_two_letters(letters):
    graph = generate(f"halved:{letters}")
    assert sorted(graph.names) == sorted(
        word for word in map("".join, product("01", repeat=letters)) if word.count("1") % 2 == 0
    )
    assert edge_set(graph) == {
        (u, v)
        for (u, a), (v, b) in combinations(enumerate(graph.names), 2)
        if sum(x != y for x, y in zip(a, b, strict=True)) == 2
    }


@pytest.mark.parametrize("letters", [3, 4, 6])
def test_a_folded_cube_is_a_cube_whose_opposite_corners_are_joined(letters):
    drawn = nx.convert_node_labels_to_integers(nx.hypercube_graph(letters - 1))
    opposite = nx.Graph((v, 2 ** (letters - 1) - 1 - v) for v in drawn)
    cube = generate(f"hypercube:{letters - 1}")
    assert generate(f"folded:{letters}").names == cube.names
    assert edge_set(generate(f"folded:{letters}")) == edge_set(cube) | {
        tuple(sorted(edge)) for edge in opposite.edges()
    }


@pytest.mark.parametrize("side", [1, 2, 3, 7])
def test_a_triangle_of_points_is_half_of_a_grid_with_diagonals(side):
    graph = generate(f"triangle:{side}")
    places = [tuple(map(int, name.split(","))) for name in graph.names]
    steps = {(0, 1), (1, 0), (1, 1)}
    assert places == [(row, place) for row in range(side) for place in range(row + 1)]
    assert edge_set(graph) == {
        (u, v) for (u, a), (v, b) in combinations(enumerate(places), 2) if (b[0] - a[0], b[1] - a[1]) in steps
    }


def test_fibonacci_cubes_are_as_large_as_a000045_and_a001629_say():
    """A000045 from its fourth term on, and A001629 from its third on."""
    graphs = [generate(f"fibonacci:{n}") for n in range(1, 10)]
    assert [graph.n for graph in graphs] == [2, 3, 5, 8, 13, 21, 34, 55, 89]
    assert [graph.m for graph in graphs] == [1, 2, 5, 10, 20, 38, 71, 130, 235]


def test_sierpinski_gaskets_are_as_large_as_a067771_says():
    """A067771: (3^n + 3) / 2 points, joined by 3^n edges."""
    graphs = [generate(f"sierpinski:{n}") for n in range(1, 7)]
    assert [graph.n for graph in graphs] == [3, 6, 15, 42, 123, 366]
    assert [graph.m for graph in graphs] == [3**n for n in range(1, 7)]


def test_a_sierpinski_gasket_is_three_smaller_ones():
    drawn = nx.Graph(generate("sierpinski:2").edges().tolist())
    next_one = nx.Graph([(0, 1), (1, 2), (2, 0), (1, 3), (1, 4), (3, 4), (2, 4), (2, 5), (4, 5)])
    assert nx.is_isomorphic(drawn, next_one)
    larger = nx.Graph(generate("sierpinski:3").edges().tolist())
    assert sorted(dict(larger.degree).values()) == [2] * 3 + [4] * 12
    # Without the three points at which the smaller ones meet, they fall apart: three of six points, less two each.
    names = generate("sierpinski:3").names
    larger.remove_nodes_from([names.index(name) for name in ("2,0", "0,2", "2,2")])
    assert sorted(map(len, nx.connected_components(larger))) == [4, 4, 4]


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


@pytest.mark.parametrize("known", [pytest.param(one, id=one.graph) for one in generated()])
def test_the_sizes_are_those_of_the_published_tables(known):
    graph = generate(known.graph)
    assert (graph.n, graph.m, graph.max_degree) == (known.n, known.m, known.max_degree)


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("grid:7x", "grid:7x: the size '7x' is not made of whole numbers; right is grid:7x10"),
        ("grid", "right is grid:7x10"),
        ("grid:", "right is grid:7x10"),
        ("grid:0x4", "sizes start at 1"),
        ("grid:-1x4", "not made of whole numbers"),
        ("grid:9999999999999999999x4", "a size of more than 18 digits is too large; right is grid:7x10"),
        ("grid:٣x4", "not made of whole numbers"),
        ("grid:" + "x".join(["1"] * 40), "40 dimensions"),
        ("cycle:2", "sizes start at 3"),
        ("cycle:3x4", "1 number expected, found 2; right is cycle:100"),
        ("bipartite:5", "2 numbers expected, found 1; right is bipartite:50x50"),
        ("wheel:2", "sizes start at 3"),
        ("karate:5", "takes no size"),
        ("petersen:5", "2 numbers expected, found 1; right is petersen:7,2"),
        ("petersen:6,3", "less than half of it"),
        ("hamming:3,1", "two signs or more"),
        ("hamming:99999999,9", "more than the 5,000,000"),
        ("johnson:2,5", "no subsets of 5"),
        ("johnson:100,50", "over 10^18 vertices"),
        ("complement:", "right is complement:cycle:7"),
        ("line", "right is line:petersen"),
        ("complement:grid:999x999", "more than the 5,000,000"),
        ("line:complete:1000", "more than the 5,000,000"),
        ("line:line:line:line:line:line:line:line:line:cycle:5", "at most 8"),
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
        ("qqqq", "chordless help specs` lists the kinds"),
        ("torus:2x5", "sizes start at 3"),
        ("king:5", "2 numbers expected"),
        ("queens:9999x9999", "more than the 20,000,000"),
        ("queens:1000x1000", "more than the 20,000,000"),
        ("queens:999999999999999999x999999999999999999", "over 10^18 vertices"),
        ("kneser:5x2", "right is kneser:5,2"),
        ("kneser:2,5", "no subsets of 5"),
        ("kneser:9999999,4999999", "more than the 5,000,000"),
        ("kneser:100,50", "over 10^18 vertices"),
        ("circulant:12", "at least 2 numbers"),
        ("circulant:12,7", "from 1 to half of the 12 vertices"),
        ("circulant:12,3,3", "must differ"),
        ("circulant:12,0", "sizes start at 1"),
        ("paley:7", "a power of a prime that leaves 1"),
        ("paley:21", "a power of a prime that leaves 1"),
        ("paley:45", "a power of a prime that leaves 1"),
        ("paley:27", "a power of a prime that leaves 1"),
        ("paley:999999999999999989", "more than the 20,000,000"),
        ("mycielski:99999999999", "more than the 5,000,000"),
        ("strong:path:2", "two specs or more with +"),
        ("strong:path:2+", "two specs or more with +"),
        ("strong:path:2+strong:path:2+path:2", "must not be a product"),
        ("tensor:complete:2000+complete:2000", "more than the 5,000,000"),
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
        "specs = ('grid:7x10', 'cycle:5', 'wheel:9', 'hypercube:3', 'bipartite:2x2', 'petersen', 'karate'); "
        "[generate(spec) for spec in specs]; "
        "print([m for m in ('networkx', 'scipy', 'taichi', 'textual') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[1])
    assert done.stdout.strip() == "[]", done.stderr


def test_big_grids_are_made():
    graph = generate("grid:300x400")
    assert (graph.n, graph.m) == (120_000, 300 * 399 + 299 * 400)
    assert np.array_equal(graph.neighbours(401), [1, 400, 402, 801])


def test_names_are_those_that_the_documentation_says():
    named = {"cycle:9": 5, "petersen": 5, "karate": 5, "grid:3x3": "1,2"}
    assert {spec: generate(spec).names[5] for spec in named} == named
    assert "Valjean" in generate("les_miserables").names
