"""Graphs of third parties, which are not part of the project: food webs, roads, power systems and others."""

import json
import math
from fractions import Fraction
from itertools import combinations
from pathlib import Path, PurePath

import networkx as nx
import pytest
from chordless.cli import main
from chordless.graphs.load import load_graph
from chordless.graphs.overlap import niche_overlap, read_food_web
from directed_graphs import by_counting_arcs
from known import Known, check_counts, check_frontier, each
from test_overlap_report import REFERENCE, joined, report, table

from kernels_ti import Graph, collect_cycles, count_cycles

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
if not (DATA / "table1.json").is_file():
    pytest.skip(
        "the graphs of third parties are not in ../shared/data: tests/data/README.md says what to put there",
        allow_module_level=True,
    )

TABLES = {name: json.loads((DATA / name).read_text()) for name in ("table1.json", "expected.json")}
ROWS = [row for rows in TABLES.values() for row in rows if row.get("file")]
WEBS = [row for row in ROWS if row["file"].startswith("foodwebs/")]
KNOWN = [
    Known(
        row["name"],
        row["n"],
        row["m"],
        row["delta"],
        {int(length): count for length, count in {3: row["c3"], **row["clc_by_length"]}.items() if count},
        row.get("paths_expanded"),
        row.get("peak_T"),
    )
    for row in ROWS
    if row["clc"] is not None
]
FRONTIERS = {
    "Everglades", "Mangrovedry", "SiouxFalls", "ChicagoSketch_43", "Barcelona_60", "BerlinFriedrichshain_100",
    "dolphins", "ieee_case57",
}  # fmt: skip
COUNTED = [
    ("Everglades", *REFERENCE),
    pytest.param("Mangrovedry", "--arch", "cpu", marks=pytest.mark.slow),
    pytest.param("Floridabay", "--arch", "cpu", marks=pytest.mark.slow),
]
# Whether the niche overlap graph of a web without a hole is an interval graph.
HOLELESS = {
    "CrystalD": True, "ChesUpper": True, "Narragan": True, "Chesapeake": True, "Michigan": False, "Mondego": True,
    "Cypwet": False,
}  # fmt: skip


def graph_of(known: Known) -> Graph:
    (row,) = (row for row in ROWS if row["name"] == known.graph)
    return load_graph(str(DATA / row.get("derived", row["file"]))).graph


def test_all_tables_are_complete() -> None:
    assert (len(WEBS), len(ROWS), len(KNOWN)) == (10, 39, 31)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["name"]) for row in ROWS])
def test_sizes(row):
    graph = load_graph(str(DATA / row.get("derived", row["file"]))).graph
    assert (graph.n, graph.m, graph.max_degree) == (row["n"], row["m"], row["delta"])


@pytest.mark.parametrize("known", each(KNOWN))
@pytest.mark.slow_on("vulkan")
def test_counts_by_length(known: Known, arch: str) -> None:
    check_counts(known, graph_of(known), arch)


@pytest.mark.slow
@pytest.mark.parametrize("known", each([one for one in KNOWN if one.graph in FRONTIERS]))
@pytest.mark.slow_on("vulkan")
def test_the_paper_s_frontier(known: Known, arch: str) -> None:
    check_frontier(known, graph_of(known), arch)


# Florida Bay's web has no small boundary.
@pytest.mark.slow
@pytest.mark.parametrize("known", each([one for one in KNOWN if one.graph != "Floridabay"]))
def test_the_boundary_method_finds_the_same_counts(known: Known) -> None:
    assert count_cycles(graph_of(known), method="boundary").by_length == known.by_length


@pytest.mark.parametrize("row", [pytest.param(row, id=row["name"]) for row in WEBS])
def test_niche_overlap_graphs(row):
    graph = niche_overlap(str(DATA / row["file"]))
    assert (graph.n, graph.m, graph.max_degree) == (row["n"], row["m"], row["delta"])
    derived = load_graph(str(DATA / row["derived"])).graph
    assert derived.n == graph.n
    assert graph.edges().tolist() == derived.edges().tolist()


def test_the_vertices_are_called_as_in_the_web():
    names = niche_overlap(str(DATA / "foodwebs" / "CrystalD.net")).names
    assert names[:4] == ("microphytes", "macrophytes", "zooplankton", "benthic invertebrates")
    assert names[-1] == "Respiration"


@pytest.mark.parametrize(("name", "option", "arch"), COUNTED)
def test_the_holes_of_the_published_webs(capfd, name, option, arch):
    (row,) = (row for row in WEBS if row["name"] == name)
    found = json.loads(report(capfd, DATA / row["file"], "--json", option, arch))
    assert (found["n"], found["m"], found["complete"]) == (row["n"], row["m"], True)
    assert (found["holes"], found["holes_by_length"]) == (row["clc"], row["clc_by_length"])
    # Every hole of t species is counted at each of them.
    for length, count in found["holes_by_length"].items():
        assert sum(one["holes_by_length"].get(length, 0) for one in found["species"]) == int(length) * count
    counts = [one["holes"] for one in found["species"]]
    assert counts == sorted(counts, reverse=True)
    assert min(counts) > 0


@pytest.mark.parametrize("name", HOLELESS)
def test_published_webs_without_a_hole(capfd, name):
    """No hole is not enough for a line of niches: two of these seven have an asteroidal triple."""
    path = DATA / "foodwebs" / f"{name}.net"
    said = joined(report(capfd, path, "--report"))
    found = json.loads(report(capfd, path, "--json"))
    assert (found["chordal"], found["holes"], found["interval"]) == (True, 0, HOLELESS[name])
    assert "No hole: the graph is chordal" in said
    assert ("the species can be ordered" if HOLELESS[name] else "cannot be ordered along one line") in said
    graph = read_food_web(str(path)).overlap
    assert has_clique_path(graph) == HOLELESS[name]
    if not HOLELESS[name]:
        check_triple(graph, found["asteroidal_triple"])
        assert "; ".join(found["asteroidal_triple"]) in said


@pytest.mark.slow
def test_the_table_of_the_published_webs(capfd):
    expected = {PurePath(row["file"]).name: row for row in WEBS}
    assert main(["overlap", str(DATA / "foodwebs" / "*.net")]) == 0
    rows = table(capfd.readouterr().out)
    assert len(rows) == 10
    for name, row in rows.items():
        counted = tuple(int(row[column]) for column in ("n", "m", "triangles", "holes"))
        assert counted == tuple(expected[name][key] for key in ("n", "m", "c3", "clc"))
        assert row["interval"] == ("true" if HOLELESS.get(PurePath(name).stem, False) else "false")


def has_clique_path(graph):
    """Look for an order of the maximal cliques in which those of each vertex follow one another: a line of niches."""
    cliques = [frozenset(clique) for clique in nx.find_cliques(nx.Graph(graph.edges().tolist()))]
    waiting, seen = [(frozenset(), frozenset())], set()
    while waiting:
        placed, last = waiting.pop()
        if len(placed) == len(cliques):
            return True
        rest = [clique for clique in cliques if clique not in placed]
        # Who has been on the line, is not in the last clique and comes again, leaves a gap.
        gone = frozenset().union(*placed) - last
        for clique in rest:
            state = (placed | {clique}, clique)
            if not gone & clique and state not in seen:
                seen.add(state)
                waiting.append(state)
    return False


def check_triple(graph, triple):
    """Check the definition: any two are joined by a path without a neighbour of the third."""
    index = {str(name): v for v, name in enumerate(graph.names)}
    whole = nx.Graph(graph.edges().tolist())
    triple = [index[name] for name in triple]
    for x, y in combinations(triple, 2):
        (third,) = set(triple) - {x, y}
        rest = whole.copy()
        rest.remove_nodes_from([third, *whole.neighbors(third)])
        assert nx.has_path(rest, x, y)


def test_the_report_for_people(capfd):
    said = report(capfd, DATA / "foodwebs" / "Everglades.net", "--report", *REFERENCE)
    assert all(len(line) <= 80 for line in said.splitlines()[1:])
    words = joined(said)
    for part in (
        "vertices of the web 69 living species 63 links between them 617",
        "that share prey 58 niche overlap edges 1,214 holes 710",
        "length holes 4 568 5 130 6 12",
        "360 50.7% Rats&Mice 344 48.5% Opossum",
        "A graph with a hole is no interval graph",
        "J. E. Cohen (1978), Food Webs and Niche Space.",
    ):
        assert part in words, part


def test_a_search_that_was_stopped_gives_lower_bounds(capfd):
    web = DATA / "foodwebs" / "Floridabay.net"
    exit_code = main(["overlap", str(web), "--report", "--arch", "reference", "--limit", "5"])
    said = capfd.readouterr()
    assert exit_code == 4
    assert "(at least: not complete)" in said.out
    assert "cannot be ordered" in joined(said.out)


def test_roads_have_places_and_stations_have_names():
    roads = load_graph(str(DATA / "roads" / "SiouxFalls.txt"))
    assert len(roads.positions) == roads.graph.n == 24
    assert roads.positions[0] == (-96.77041974, 43.61282792)
    assert load_graph(str(DATA / "real" / "london_tube.txt")).graph.names[0] == "Acton Town"


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in ("Floridabay", "baydry")))
        for path in sorted(DATA.glob("foodwebs/**/*.net"))
    ],
)
def test_a_food_web_is_searched_as_it_is(path):
    web = load_graph(str(path)).graph
    assert web.directed
    cycles = by_counting_arcs(map(tuple, web.edges().tolist()))
    found = collect_cycles(web, arch="cpu", min_length=1).lists()
    assert sorted(found) == sorted([web.names[v] for v in cycle] for cycle in cycles)


def test_the_lightest_hole_of_chicago_is_measured_by_its_coordinates(capsys):
    path = str(DATA / "roads" / "ChicagoSketch.txt")
    assert main(["longest", path, "--shortest", "--weight", "distance", "--json"]) == 0
    lightest = json.loads(capsys.readouterr().out)
    loaded = load_graph(path)
    assert loaded.positions is not None
    names = [str(name) for name in loaded.graph.names]
    lengths = {
        (u, v): Fraction(f"{math.dist(loaded.positions[u], loaded.positions[v]):.3f}")
        for u, v in loaded.graph.edges().tolist()
    }
    # It has four streets, and no hole of at most eight is lighter.
    table = collect_cycles(loaded.graph, arch="cpu", min_length=4, max_length=8)
    holes = [[names.index(str(name)) for name in hole] for hole in table.lists()]
    weights = [
        sum(lengths[min(pair), max(pair)] for pair in zip(hole, [*hole[1:], hole[0]], strict=True)) for hole in holes
    ]
    assert Fraction(str(lightest["weight"])) == min(weights)
    assert weights.count(min(weights)) == lightest["ways"]
