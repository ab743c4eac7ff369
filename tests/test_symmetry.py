"""Counts up to the automorphisms of a graph, against plain searches and published numbers."""

import json
import math
import random
import tracemalloc
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from chordless import generate
from oracles import by_length, networkx_cycles
from program import chordless, slowly

from kernels_ti import (
    CountEstimate,
    Expansion,
    Graph,
    OptionError,
    Options,
    Run,
    as_graph,
    count_cycles,
    longest_cycle,
    open_device,
)
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.choices import EXPANSIONS
from kernels_ti.estimate.estimate import Estimator
from kernels_ti.state import RunState
from kernels_ti.symmetry import representatives, space
from kernels_ti.symmetry.automorphisms import Automorphisms
from kernels_ti.symmetry.space import SymmetricSpace

# Coils of the 5-cube and the 6-cube by length: agreed upon by networkx and by a plain search.
CUBE_5 = {4: 80, 6: 160, 8: 1680, 10: 12096, 12: 3360, 14: 4800}
CUBE_6 = {
    4: 240, 6: 640, 8: 10_080, 10: 145_152, 12: 1_440_000, 14: 5_114_880, 16: 22_184_640, 18: 52_865_280,
    20: 42_324_480, 22: 21_219_840, 24: 3_717_120, 26: 115_200,
}  # fmt: skip


def symmetric_graphs() -> list[tuple[str, nx.Graph]]:
    """Return graphs with many automorphisms: Cayley graphs, products, glued trees, disconnected copies."""
    found: list[tuple[str, nx.Graph]] = [
        (f"circulant {n} {steps}", nx.circulant_graph(n, steps))
        for n in (7, 9, 12, 13, 16, 20)
        for steps in ([1, 2], [1, 3], [2, 3], [1, 4])
    ]
    found += [(f"torus {a}x{b}", nx.grid_2d_graph(a, b, periodic=True)) for a in (3, 4, 5) for b in (3, 4, 5)]
    found += [(f"cube {d}", nx.hypercube_graph(d)) for d in (2, 3, 4)]
    found += [(f"bipartite {a} {b}", nx.complete_bipartite_graph(a, b)) for a, b in ((2, 7), (4, 4), (5, 6))]
    found += [(f"complete {n}", nx.complete_graph(n)) for n in (1, 2, 3, 8)]
    found += [(f"cycle {n}", nx.cycle_graph(n)) for n in (3, 4, 11)]
    found += [
        ("petersen", nx.petersen_graph()),
        ("kneser", nx.kneser_graph(6, 2)),
        ("paley", nx.paley_graph(13).to_undirected()),
        ("prism", nx.cartesian_product(nx.cycle_graph(7), nx.path_graph(2))),
        ("cube times triangle", nx.cartesian_product(nx.hypercube_graph(2), nx.cycle_graph(3))),
        ("wreath", nx.lexicographic_product(nx.cycle_graph(6), nx.empty_graph(2))),
        ("strong", nx.strong_product(nx.cycle_graph(5), nx.path_graph(2))),
        ("multipartite", nx.complete_multipartite_graph(2, 2, 3)),
        ("wheel", nx.wheel_graph(9)),
        ("grid", nx.grid_2d_graph(4, 4)),
    ]
    transpositions = [(0, 1), (1, 2), (2, 3)]
    found += [
        ("permutations", cayley_graph(4, transpositions)),
        ("star of permutations", cayley_graph(4, [(0, 1), (0, 2), (0, 3)])),
        ("ring of permutations", cayley_graph(4, [*transpositions, (3, 0)])),
    ]
    copies = nx.disjoint_union_all([nx.petersen_graph()] * 2 + [nx.cycle_graph(6)] * 3 + [nx.grid_2d_graph(3, 4)])
    tree = nx.disjoint_union(nx.petersen_graph(), nx.balanced_tree(2, 3))
    tree.add_edge(0, 10)
    forest = nx.convert_node_labels_to_integers(nx.hypercube_graph(4))
    for corner in range(16):
        # Trees that tell some corners apart, which a search of the block does not notice.
        nx.add_star(forest, [corner, *(f"{corner}.{leaf}" for leaf in range(corner % 3))])
    bridged = nx.disjoint_union_all([nx.complete_bipartite_graph(3, 4)] * 3 + [nx.petersen_graph()])
    bridged.add_edges_from([(0, 7), (7, 14), (14, 21)])
    # A block that gains beside one that does not: they share a vertex.
    glued = nx.disjoint_union(nx.hypercube_graph(4), nx.gnp_random_graph(9, 0.5, seed=3))
    glued.add_edges_from([(0, 16), (0, 17)])
    rings = nx.disjoint_union(nx.cycle_graph(5), nx.petersen_graph())
    return [
        *found,
        ("copies", copies),
        ("tree", tree),
        ("forest", forest),
        ("bridged", bridged),
        ("glued", glued),
        ("rings", rings),
        ("empty", nx.Graph()),
    ]


def cayley_graph(n: int, swaps: list[tuple[int, int]]) -> nx.Graph:
    """Return the Cayley graph of the symmetric group of n with these transpositions, which is not abelian."""
    found = nx.Graph()
    for order in permutations(range(n)):
        for i, j in swaps:
            other = list(order)
            other[i], other[j] = order[j], order[i]
            found.add_edge(order, tuple(other))
    return found


def converted(graph: nx.Graph) -> Graph:
    return as_graph(nx.convert_node_labels_to_integers(graph))


@pytest.mark.parametrize(("name", "graph"), symmetric_graphs(), ids=[name for name, _ in symmetric_graphs()])
def test_symmetric_graphs_count_as_networkx_does(name: str, graph: nx.Graph) -> None:
    """The public function, with its defaults; and the search itself, which tiny graphs do without."""
    mine = converted(graph)
    wanted = by_length(networkx_cycles(mine))
    assert count_cycles(mine, symmetry=True).by_length == wanted
    assert searched(mine, Options(symmetry=True)) == wanted


def searched(graph: Graph, options: Options, arch: str = "cpu") -> dict[int, int]:
    run = Run(graph, open_device(arch), options)
    while not run.finished:
        run.advance()
    return run.snapshot().cycles_by_length


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_random_graphs_count_without_and_with_symmetry_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are forced to be searched up to symmetry, whatever their groups; with bounds and restrictions."""
    monkeypatch.setattr(SymmetricSpace, "_pays", lambda self, order, paths_of_cycle: True)
    random.seed(seed)
    for _ in range(30):
        n = random.randint(3, 14)
        graph = converted(nx.gnp_random_graph(n, random.choice((0.2, 0.35, 0.5)), seed=random.randrange(10**6)))
        if random.random() < 0.3:
            monkeypatch.setattr(representatives, "MOST_STABILIZERS", random.randint(1, 9))
        least = random.randint(3, 5)
        bounds = {
            "min_length": least,
            "max_length": random.choice((None, least + random.randint(0, 4))),
            "through": tuple(random.sample(range(n), random.choice((0, 0, 1, 2, 3)))),
            "expansion": random.choice(EXPANSIONS),
        }
        avoided = [v for v in random.sample(range(n), random.randint(0, 2)) if v not in bounds["through"]]
        edges = [edge for edge in graph.pairs().tolist() if not set(edge) <= set(bounds["through"])]
        options = Options(
            **bounds,
            avoid=tuple(avoided),
            avoid_edges=tuple(map(tuple, random.sample(edges, min(len(edges), random.choice((0, 0, 1, 2)))))),
        )
        assert searched(graph, replace(options, symmetry=True)) == searched(graph, options)


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_cubes(arch: str, expansion: Expansion) -> None:
    """The coils of the 5-cube on each arch, by both expansions."""
    assert searched(converted(nx.hypercube_graph(5)), Options(symmetry=True, expansion=expansion), arch) == CUBE_5


def test_the_6_cube() -> None:
    """149,137,552 coils, from some hundred thousand paths."""
    counts = count_cycles(nx.hypercube_graph(6), symmetry=True)
    assert counts.by_length == CUBE_6
    assert sum(counts.frontier.values()) < 1_000_000


def test_a_stopped_count_goes_on() -> None:
    """The state holds the totals of the batch that was under way."""
    graph = converted(nx.hypercube_graph(6))
    options, device = Options(symmetry=True), open_device("cpu")
    run = Run(space.space_of(graph, options), device)
    state: RunState = run.state()
    assert not run.finished
    again = Run(space.space_of(graph, options), device, state=state)
    while not again.finished:
        again.advance()
    assert again.snapshot().cycles_by_length == CUBE_6


@pytest.mark.parametrize(
    "options",
    [
        {"participation": "vertices"},
        {"participation": "edges"},
    ],
)
def test_refused_with_symmetry(options: dict[str, object]) -> None:
    """Each in one line that says what cannot be combined."""
    with pytest.raises(OptionError, match="it cannot be combined with"):
        Options(symmetry=True, **options)  # type: ignore[arg-type]


def test_directed_graphs_are_refused() -> None:
    with pytest.raises(OptionError, match="simple undirected"):
        count_cycles(nx.DiGraph([(0, 1), (1, 2), (2, 0)]), symmetry=True)


def test_a_wrong_total_is_noticed() -> None:
    """A total that cannot be divided by the number of directed paths of its cycles raises an error."""
    made = space.space_of(converted(nx.petersen_graph()), Options(symmetry=True))
    from kernels_ti import EngineError

    assert made.settled({5: 120}, finished=True) == {5: 12}
    with pytest.raises(EngineError, match="no multiple of 10"):
        made.settled({5: 121}, finished=True)


def estimated(graph: Graph, size: int, **bounds: Any) -> CountEstimate:
    estimator = Estimator(space.space_of(graph, Options(symmetry=True, **bounds)))
    for _ in range(6):
        estimator.add_walk(size)
    return estimator.estimate()


@pytest.mark.parametrize("name", ["cube 4", "torus 5x5", "copies", "glued", "rings", "complete 8", "empty"])
@pytest.mark.parametrize(
    "bounds", [{}, {"min_length": 4, "max_length": 8}, {"through": (0, 3), "avoid_edges": ((1, 2),)}]
)
def test_an_estimate_that_looks_at_every_path_is_exact(name: str, bounds: dict[str, Any]) -> None:
    graph = converted(dict(symmetric_graphs())[name])
    if "through" in bounds and not (graph.n and 2 in graph.neighbours(1)):
        bounds = {"avoid": range(graph.n)[:1]}
    found = estimated(graph, 1 << 20, **bounds)
    assert found.exact
    assert found.by_length == searched(graph, Options(**bounds))
    assert found.total.estimate == found.total.low == found.total.high


def test_an_estimate_weighs_the_orbits() -> None:
    """Six walks with 2,000 paths of a level tell the 149 million coils within three percent; they are seeded."""
    found = estimated(converted(nx.hypercube_graph(6)), 2000)
    assert not found.exact
    assert found.total.estimate == pytest.approx(sum(CUBE_6.values()), rel=0.03)
    assert found.by_length[4] == pytest.approx(CUBE_6[4])
    assert found.paths.estimate == pytest.approx(197_500, rel=0.03)


@pytest.mark.slow
def test_the_command_estimates_up_to_symmetry() -> None:
    done = chordless("estimate", "hypercube:5", "--symmetry", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["total"]["estimate"] == sum(CUBE_5.values())


@pytest.mark.slow
def test_the_command_counts_up_to_symmetry() -> None:
    done = chordless("count", "hypercube:5", "--symmetry", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert {int(length): count for length, count in result["by_length"].items()} == CUBE_5
    assert (result["automorphisms"], result["orbits_begun"], result["complete"]) == (3840, 2, True)


@pytest.mark.slow
def test_a_long_search_is_made_up_to_symmetry_by_itself() -> None:
    """One line says so; without the option, and by the method search, every path is searched."""
    done = chordless("count", "hypercube:6", "--json")
    assert done.returncode == 0
    assert done.stderr == "counting up to the 46,080 automorphisms of the graph (--method search does not)\n"
    assert json.loads(done.stdout)["total"] == sum(CUBE_6.values())


@pytest.mark.slow
def test_a_stopped_command_goes_on_and_prints_its_result_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    stopped = slowly(
        "count", "hypercube:6", "--symmetry", "--arch", "cpu", "--checkpoint", run, "--json", "--limit", "9"
    )
    assert stopped.returncode == 4, stopped.stderr
    before = json.loads(stopped.stdout)
    assert 9 <= before["total"] < sum(CUBE_6.values())
    for _ in range(2):
        resumed = chordless("resume", run, "--json")
        assert (resumed.returncode, resumed.stderr) == (0, "")
        result = json.loads(resumed.stdout)
        assert {int(length): count for length, count in result["by_length"].items()} == CUBE_6


@pytest.mark.parametrize("option", [("--per-vertex",), ("--proof",), ("--directed",)])
def test_the_command_refuses_in_one_line(option: tuple[str, ...]) -> None:
    done = chordless("count", "hypercube:4", "--symmetry", *option)
    assert done.returncode == 2
    assert f"leave {option[0]} out" in done.stderr


@pytest.mark.slow
def test_first_finds_a_longest_coil() -> None:
    """One of 115,200 among 149 million cycles, and none that is longer."""
    done = chordless("first", "hypercube:6", "--length", "26", "--symmetry", "--json")
    assert done.returncode == 0, done.stderr
    cycle = json.loads(done.stdout)["cycle"]
    assert nx.is_isomorphic(labelled_cube().subgraph(cycle), nx.cycle_graph(26))
    assert chordless("first", "hypercube:6", "--length", "28", "--symmetry").returncode == 1
    refused = chordless("first", "hypercube:6", "--symmetry")
    assert (refused.returncode, "--symmetry needs other lengths" in refused.stderr) == (2, True)


def labelled_cube() -> nx.Graph:
    return nx.relabel_nodes(nx.hypercube_graph(6), lambda corner: "".join(map(str, corner)))


def test_the_longest_cycle_is_found_up_to_symmetry() -> None:
    """Its search meets some hundred thousand paths instead of 200 million; it says how many cycles are as long."""
    found = longest_cycle(labelled_cube(), method="search", arch="cpu")
    assert (found.length, found.ways, found.complete) == (26, CUBE_6[26], True)
    assert nx.is_isomorphic(labelled_cube().subgraph(found.cycle), nx.cycle_graph(26))


def necklace(diamonds: int) -> nx.Graph:
    """Return a ring of squares, each of which shares two opposite corners with the next ones."""
    ring = nx.cycle_graph(diamonds).edges
    return nx.Graph([(end, (u, v, side)) for u, v in ring for end in (u, v) for side in "xy"])


@pytest.mark.slow
def test_a_group_larger_than_a_float() -> None:
    """Its 2^1100 and more automorphisms, of 3,300 vertices, are neither listed nor all made use of."""
    made = space.worthwhile(SearchSpace(converted(necklace(1100))))
    assert made is not None
    assert made.automorphisms == 2**1100 * 2 * 1100


@pytest.mark.parametrize(
    "graph",
    [
        nx.complete_bipartite_graph(3, 1700),  # 6 * 1700!, a number of 4,757 digits, which igraph cannot hand on
        nx.disjoint_union_all([nx.complete_bipartite_graph(3, size) for size in range(60, 120)]),
    ],
)
def test_a_graph_with_too_many_automorphisms_is_refused_or_counted_without_them(graph: nx.Graph) -> None:
    with pytest.raises(OptionError, match="more than 10\\^4000 automorphisms: count without symmetry"):
        count_cycles(graph, symmetry=True)
    assert space.worthwhile(SearchSpace(as_graph(graph))) is None


@pytest.mark.parametrize("most", [0, 40, 2000, 10**8])
def test_however_few_stabilizers_a_large_graph_asks_for(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(representatives, "MOST_IMAGES", most)
    graph = converted(necklace(7))
    assert searched(graph, Options(symmetry=True)) == {4: 7, 14: 2**7}


@pytest.mark.slow
def test_representatives_that_wait_hold_no_bit_rows() -> None:
    """Nearly every vertex of a road network is an orbit of its own, so a path waits at each edge."""
    blocks = [block for block, _ in SearchSpace(generate("planar:6000,1")).blocks[0].other_blocks()]
    roads = max(blocks, key=lambda block: block.n)
    group = Automorphisms(roads)
    tracemalloc.start()
    found = representatives.representatives(group, roads, roads.n)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found.paths) > roads.m
    assert peak < 5 * roads.n**2 // 8


def test_a_gain_is_told_without_representatives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "representatives", None)
    plain = nx.gnp_random_graph(20, 0.3, seed=1)
    assert space.worthwhile(SearchSpace(converted(nx.disjoint_union(nx.hypercube_graph(4), plain)))) is None
    assert space.worthwhile(SearchSpace(converted(nx.hypercube_graph(4)))) is not None


@pytest.mark.parametrize(
    ("vertices", "seconds", "is_sought"), [(400, 3.0, False), (400, 3.2, True), (600, math.inf, False)]
)
def test_automorphisms_that_take_longer_than_a_search_are_not_sought(
    vertices: int, seconds: float, is_sought: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Igraph looks at no clock, and takes half a minute for those of 1,000 vertices that are all joined."""
    sought: list[Graph] = []

    def refused(graph: Graph, *_: object) -> None:
        sought.append(graph)
        raise OptionError("no igraph")

    monkeypatch.setattr(space, "Automorphisms", refused)
    assert space.worthwhile(SearchSpace(generate(f"complete:{vertices}")), seconds) is None
    assert bool(sought) == is_sought
