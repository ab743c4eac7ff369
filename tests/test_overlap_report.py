"""What ``chordless overlap --report`` says of a food web: holes, the species in them, and the line of niches."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import random
import subprocess
from functools import partial
from pathlib import PurePath

import networkx as nx
import pytest
from chordless.batch.tables import write_csv_rows
from chordless.cli import main
from chordless.commands.overlap import COLUMNS
from chordless.engine.process import finished_at
from chordless.graphs.interval import asteroidal_triple
from chordless.graphs.overlap import read_food_web
from chordless.graphs.overlap_report import report_lines, report_of_holes, report_without_holes
from chordless.protocol.events import Progress, Started
from chordless.protocol.orders import RunCommand
from food_webs import write_web
from hypothesis import given
from oracles import small_graphs
from program import chordless

from kernels_ti import Graph

REFERENCE = ("--arch", "reference")


@pytest.fixture
def web(tmp_path):
    """Write a web in which each of the groups of species eats a prey of its own."""
    return partial(write_web, tmp_path / "web.net")


def report(capfd, *arguments):
    assert main(["overlap", *map(str, arguments), "-q"]) == 0
    said = capfd.readouterr()
    assert said.err == ""
    return said.out


def joined(text):
    return " ".join(text.split())


def test_a_web_of_a_ring_has_a_hole(web, capfd):
    path = web((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (4, 0), names=["a b", *"cdefghijkl"[:10]])
    found = json.loads(report(capfd, path, "--json", *REFERENCE))
    assert (found["n"], found["living"], found["sharing_prey"], found["m"]) == (11, 11, 5, 5)
    assert (found["chordal"], found["interval"], found["asteroidal_triple"]) == (False, False, None)
    assert (found["holes"], found["holes_by_length"]) == (1, {"5": 1})
    assert [one["name"] for one in found["species"]] == ["a b", "c", "d", "e", "f"]
    assert all((one["holes"], one["holes_by_length"]) == (1, {"5": 1}) for one in found["species"])


def test_the_engine_reads_a_web_in_its_encoding(web, capfd):
    path = web((0, 1), (1, 2), (2, 3), (3, 0), names=["é", *"abcdefghijkl"[:7]])
    path.write_bytes(path.read_text(encoding="utf-8").encode("latin-1"))
    found = json.loads(report(capfd, path, "--encoding", "latin-1", "--json", *REFERENCE))
    assert (found["holes"], found["species"][0]["name"]) == (1, "é")


RING = "prey,predator\n" + "".join(f"{i},{x}\n" for i, pair in enumerate(("ab", "bc", "cd", "da")) for x in pair)


def test_a_web_that_comes_through_a_pipe_is_read_once(capfd):
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as pipe:
        with os.fdopen(theirs, "w") as web:
            web.write(RING)
        found = json.loads(report(capfd, f"/dev/fd/{pipe.fileno()}", "--json"))
    assert found["holes_by_length"] == {"4": 1}
    assert [one["name"] for one in found["species"]] == list("abcd")


def test_a_report_tells_a_note_on_the_file_once(tmp_path, capfd):
    path = tmp_path / "web.csv"
    path.write_text(RING)
    assert main(["overlap", str(path), "--json"]) == 0
    assert capfd.readouterr().err.count("taken for a heading") == 1


def test_the_holes_of_each_species_are_a_table(web, tmp_path, capfd):
    rings = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (5, 6), (6, 7), (7, 8), (8, 5), (8, 0))
    first, table = web(*rings), tmp_path / "species.csv"
    other = write_web(tmp_path / "other.net", (0, 1), (1, 2), (2, 3), (3, 0))
    assert "holes" in report(capfd, first, other, "--species", table, *REFERENCE)
    found = [json.loads(report(capfd, path, "--json", *REFERENCE)) for path in (first, other)]
    with open(table, newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {(row["web"], row["species"], row["length"], int(row["holes"])) for row in rows} == {
        (one["web"], species["name"], length, holes)
        for one in found
        for species in one["species"]
        for length, holes in species["holes_by_length"].items()
    }
    assert [len({row["length"] for row in rows if row["web"] == str(path)}) for path in (first, other)] == [2, 1]
    assert {row["complete"] for row in rows} == {"true"}
    assert main(["overlap", str(first), "--species", str(tmp_path / "species.txt")]) == 2
    assert "is written to a .csv or a .parquet file" in capfd.readouterr().err
    assert main(["overlap", str(first), "--species", str(first)]) == 2


def test_the_table_of_species_is_made_for_a_reader_that_has_enough_of_the_reports(web, tmp_path):
    first, table = web((0, 1), (1, 2), (2, 3), (3, 0)), tmp_path / "species.csv"
    other = write_web(tmp_path / "other.net", (0, 1), (1, 2), (2, 3), (3, 4), (4, 0))
    reader, writer = os.pipe()
    os.close(reader)
    done = chordless(
        "overlap", first, other, "--species", table, *REFERENCE, "-q",
        capture_output=False, stdout=writer, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (4, "")
    assert len(table.read_text().splitlines()) == 1 + 4 + 5


def test_the_report_for_people(web, capfd):
    rings = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (5, 6), (6, 7), (7, 8), (8, 5), (8, 0))
    said = report(capfd, web(*rings), "--report", *REFERENCE)
    assert all(len(line) <= 80 for line in said.splitlines()[1:])
    words = joined(said)
    for part in (
        "vertices of the web 19 living species 19 links between them 20",
        "that share prey 9 niche overlap edges 10 holes 2",
        "length holes 4 1 5 1",
        "1 50.0% 1 1 50.0% 2",
        "A graph with a hole is no interval graph",
        "J. E. Cohen (1978), Food Webs and Niche Space.",
    ):
        assert part in words, part


def test_a_search_that_was_stopped_gives_lower_bounds(web, capfd):
    # Each path of three vertices is on a cycle here: the first ones come at once.
    path = web(*nx.complete_bipartite_graph(40, 40).edges)
    exit_code = main(["overlap", str(path), "--report", *REFERENCE, "--limit", "5"])
    said = capfd.readouterr()
    assert exit_code == 4
    assert "(at least: not complete)" in said.out
    assert "cannot be ordered" in joined(said.out)


def test_an_engine_that_was_stopped_while_it_compiled_has_told_no_species(web):
    path = str(web(*nx.cycle_graph(4).edges))
    started = Started(path, 4, 4, 2, "cpu", "a processor", 0.0, 1)
    counted = finished_at(started, Progress(cycles_by_length={4: 1}), RunCommand(path, 0.0, per_vertex=True))
    told = report_of_holes(path, read_food_web(path), counted)
    assert (told.holes, told.species, told.complete) == (1, (), False)
    lines = "\n".join(report_lines(told))
    assert "(at least: not complete)" in lines
    assert "species in most of them" not in lines


def test_the_smallest_chordal_graph_that_is_no_interval_graph(web, capfd):
    # A spider: three legs of two edges.
    path = web((0, 1), (1, 2), (0, 3), (3, 4), (0, 5), (5, 6))
    found = json.loads(report(capfd, path, "--json"))
    assert (found["chordal"], found["interval"]) == (True, False)
    assert sorted(found["asteroidal_triple"]) == ["3", "5", "7"]


def test_intervals_on_a_line_have_no_asteroidal_triple():
    random.seed(1)
    for _ in range(20):
        places = sorted(random.sample(range(100), 30))
        random.shuffle(places)
        intervals = [sorted(places[2 * i : 2 * i + 2]) for i in range(15)]
        pairs = itertools.combinations(range(15), 2)
        edges = [
            (u, v) for u, v in pairs if max(intervals[u][0], intervals[v][0]) <= min(intervals[u][1], intervals[v][1])
        ]
        assert asteroidal_triple(Graph.from_edges(15, edges)) is None


def test_a_web_without_shared_prey_has_no_order_to_tell(web, capfd):
    said = joined(report(capfd, web((0,), (1,)), "--report", *REFERENCE))
    assert "Here no two species share prey." in said
    assert "above" not in said


def test_species_along_a_line_are_told_in_an_order(web, capfd):
    # Each species overlaps the next one; the last one shares no prey.
    path = web((0, 1), (1, 2), (2, 3), (4,), names=["a", "b", "c", "d", "e", *"fghi"])
    found = json.loads(report(capfd, path, "--json"))
    assert found["interval"] is True
    along = {one["name"]: (one["from"], one["to"]) for one in found["order"]}
    assert along in (
        {"a": (1, 1), "b": (1, 2), "c": (2, 3), "d": (3, 3)},
        {"d": (1, 1), "c": (1, 2), "b": (2, 3), "a": (3, 3)},
    )
    assert [one["name"] for one in found["order"]] == sorted(along, key=lambda name: along[name])
    said = joined(report(capfd, path, "--report"))
    assert "from to species along one line of niches 1 1 " in said
    assert "P. C. Gilmore, A. J. Hoffman (1964)" in said


def test_the_graph_is_written_beside_the_report(web, tmp_path, capfd):
    path = web((0, 1), (1, 2))
    plain = report(capfd, path)
    assert plain.splitlines()[-2:] == ["1 2", "2 3"]
    assert report(capfd, path, "-o", "-") == plain
    said = report(capfd, path, "--report", "-o", tmp_path / "niche.txt")
    assert (tmp_path / "niche.txt").read_text() == plain
    assert "the species can be ordered" in joined(said)


def test_only_living_species_are_counted(tmp_path):
    (tmp_path / "web.net").write_text("*Vertices 4\n*Arcs\n1 2 1\n1 3 1\n4 2 1\n")
    (tmp_path / "web.clu").write_text("*Vertices 4\n1\n1\n1\n2\n")
    found = report_without_holes("web", read_food_web(str(tmp_path / "web.net")))
    assert (found.n, found.living, found.sharing_prey, found.m) == (4, 3, 2, 1)


def test_a_web_without_a_living_species_is_refused(web, tmp_path, capfd):
    path = web((0, 1))
    (tmp_path / "web.clu").write_text("*Vertices 3\n2\n2\n3\n")
    for arguments in ((), ("--report",)):
        assert main(["overlap", str(path), *arguments]) == 2
        said = capfd.readouterr()
        assert said.out == ""
        assert f"{tmp_path / 'web.clu'}: no vertex has type 1 (living); the types are 1 living, 2 " in said.err


def test_types_that_were_taken_unasked_are_named(web, tmp_path, capfd):
    path, types = web((0, 1)), tmp_path / "web.clu"
    types.write_text("*Vertices 3\n1\n1\n1\n")
    assert main(["overlap", str(path)]) == 0
    assert capfd.readouterr().err == f"types of the vertices: {types}\n"
    for arguments in (("-q",), ("--types", str(types))):
        assert main(["overlap", str(path), *arguments]) == 0
        assert capfd.readouterr().err == ""


def test_missing_types_are_a_warning_unless_they_are_meant(web, tmp_path, capfd):
    """The species are 0 to 2; detritus 3 feeds 0 and 1."""
    path = web((0, 1), (1, 2))
    warning = f"warning: {path}: there is no web.clu beside it, so every vertex counts as a living species"
    for arguments in ((), ("--report",), ("--json",)):
        assert main(["overlap", str(path), *arguments]) == 0
        assert capfd.readouterr().err.startswith(warning)
        for meant in (("--types", "none"), ("-q",)):
            assert main(["overlap", str(path), *arguments, *meant]) == 0
            assert capfd.readouterr().err == ""
    table, network = tmp_path / "web.csv", tmp_path / "web.txt"
    table.write_text(",hare,goose\ngrass,1,1\n")
    network.write_bytes(path.read_bytes())
    assert main(["overlap", str(table), "--json"]) == 0
    assert capfd.readouterr().err == ""  # a table names species alone
    for arguments in ((network, "--json"), (table, network)):
        assert main(["overlap", *map(str, arguments), *REFERENCE]) == 0
        assert f"warning: {network}: there is no web.clu" in capfd.readouterr().err
    (tmp_path / "web.clu").write_text("*Vertices 5\n1\n1\n1\n2\n1\n")
    with_types = json.loads(report(capfd, path, "--json"))
    without = json.loads(report(capfd, path, "--json", "--types", "none"))
    assert (with_types["types"], with_types["living"], with_types["links"], with_types["m"]) == (
        str(tmp_path / "web.clu"), 4, 2, 1,
    )  # fmt: skip
    assert (without["types"], without["living"], without["links"], without["m"]) == (None, 5, 4, 2)


def test_a_web_from_standard_input_has_no_types_beside_it(web):
    done = chordless("overlap", "-", input=web((0, 1), (1, 2)).read_text())
    assert done.stderr.startswith("warning: standard input: no types come with a web that is read from there")


def table(text):
    return {PurePath(row["web"]).name: row for row in csv.DictReader(text.splitlines())}


@pytest.fixture
def webs(web, tmp_path):
    """Return a folder with a ring, a line, a spider, and a file that is no food web."""
    made = {
        "ring": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0)),
        "line": ((0, 1), (1, 2)),
        "spider": ((0, 1), (1, 2), (0, 3), (3, 4), (0, 5), (5, 6)),
    }
    folder = tmp_path / "webs"
    folder.mkdir()
    for name, groups in made.items():
        web(*groups).rename(folder / f"{name}.net")
    (folder / "words.net").write_text("no web\n")
    return folder


def test_a_pattern_of_webs_makes_one_table(webs, capfd):
    assert main(["overlap", str(webs / "*.net"), "--types", "none", *REFERENCE]) == 5
    said = capfd.readouterr()
    rows = table(said.out)
    assert list(rows) == ["line.net", "ring.net", "spider.net", "words.net"]
    columns = ("living", "links", "sharing_prey", "m", "interval", "triangles", "holes", "total", "longest", "status")
    ring, line = ([rows[name][column] for column in columns] for name in ("ring.net", "line.net"))
    assert ring == ["10", "10", "5", "5", "false", "0", "1", "1", "5", "complete"]
    assert line == ["5", "4", "3", "2", "true", "0", "0", "0", "", "complete"]
    assert (rows["spider.net"]["interval"], rows["spider.net"]["holes"]) == ("false", "0")
    assert (rows["words.net"]["status"], rows["words.net"]["n"]) == ("error", "")
    assert "a Pajek network starts with" in rows["words.net"]["error"]
    assert "1 of 4 webs failed, first: " in said.err


@pytest.mark.slow
def test_webs_by_name_make_json_lines_and_files(webs, tmp_path, capfd):
    named = [str(webs / "line.net"), str(webs / "ring.net")]
    assert main(["overlap", *named, "--json", *REFERENCE]) == 0
    said = capfd.readouterr()
    assert "warning: 2 food webs have no .clu beside them" in said.err
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert [(line["interval"], line["total"], line["longest"]) for line in lines] == [(True, 0, None), (False, 1, 5)]
    for name in ("t.jsonl", "t.csv"):
        assert main(["overlap", *named, "-o", str(tmp_path / name), "-q", *REFERENCE]) == 0
    assert (tmp_path / "t.jsonl").read_text() == said.out
    assert [row["longest"] for row in table((tmp_path / "t.csv").read_text()).values()] == ["", "5"]
    assert main(["overlap", *named, "--report", "-q", *REFERENCE]) == 0
    said = capfd.readouterr().out
    assert (said.count("links between them"), said.count("cannot be ordered")) == (2, 1)


def test_a_web_that_cannot_be_read_does_not_end_the_report_of_the_others(webs, tmp_path, capfd):
    (tmp_path / "bad.net").write_text("*Vertices 2\n1 a\n2 b\n*Arcs\n1 7\n")
    named = [str(webs / "line.net"), str(tmp_path / "bad.net"), str(webs / "ring.net")]
    species = tmp_path / "species.csv"
    assert main(["overlap", *named, "--report", "--json", "-q", "--species", str(species), *REFERENCE]) == 5
    said = capfd.readouterr()
    assert [json.loads(line)["interval"] for line in said.out.splitlines()] == [True, False]
    assert said.err.startswith(f"chordless: error: {tmp_path}/bad.net:5: ")
    assert species.read_text().count("ring.net") == 5


@pytest.mark.slow
def test_a_batch_counts_in_niche_overlap_graphs(webs, tmp_path, capfd):
    graphs, output = str(webs / "[lrs]*.net"), str(tmp_path / "out.csv")
    assert main(["batch", graphs, *REFERENCE]) == 0
    # As they are they have no circle: whoever eats is not eaten.
    assert [json.loads(line)["total"] for line in capfd.readouterr().out.splitlines()] == [0, 0, 0]
    assert main(["batch", "--overlap", graphs, "-o", output]) == 0
    assert "warning: 3 food webs have no .clu beside them" in capfd.readouterr().err
    with open(output) as stream:
        rows = [(row["m"], row["total"], row["interval"], row["status"]) for row in csv.DictReader(stream)]
    complete = "complete"
    assert rows == [("2", "0", "true", complete), ("5", "1", "false", complete), ("6", "0", "false", complete)]
    (tmp_path / "jobs.toml").write_text(f'[[jobs]]\ngraph = {json.dumps(graphs)}\noverlap = true\ntypes = "none"\n')
    assert main(["batch", "--manifest", str(tmp_path / "jobs.toml")]) == 0
    said = capfd.readouterr()
    assert "warning" not in said.err
    assert [json.loads(line)["interval"] for line in said.out.splitlines()] == [True, False, False]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--report", "-o", "-"), "standard output has the report"),
        (("--timeout", "5"), "--timeout is for the holes of a report"),
        (("--arch", "cpu"), "--arch is for the holes of a report"),
        (("b.net", "--types", "b.clu"), "--types b.clu is of one web"),
        (("b.net", "-o", "t.txt"), "written to a file.csv or a file.jsonl"),
        (("b.net", "-o", "t.csv", "--report"), "leave --report out"),
    ],
)
def test_options_that_do_not_go_together(web, capfd, arguments, words):
    assert main(["overlap", str(web((0, 1))), *arguments]) == 2
    assert words in capfd.readouterr().err


def test_a_cell_of_the_table_of_webs_is_no_formula():
    row = {**dict.fromkeys(COLUMNS), "web": "=web.net", "n": -1, "error": "@caf\udce9", "interval": True}
    text = io.StringIO()
    write_csv_rows([row], COLUMNS, text)
    assert [cell for cell in text.getvalue().splitlines()[1].split(",") if cell] == [
        "'=web.net",
        "-1",
        "true",
        "'@caf\\xe9",
    ]


@given(small_graphs())
def test_a_triple_is_found_where_there_is_one(graph):
    whole = nx.Graph()
    whole.add_nodes_from(range(graph.n))
    whole.add_edges_from(graph.edges().tolist())
    whole, _ = nx.complete_to_chordal_graph(whole)
    found = asteroidal_triple(Graph.from_edges(graph.n, sorted(whole.edges)))
    assert (found is None) == (nx.find_asteroidal_triple(whole) is None)
    for third in found or ():
        one, other = (v for v in found if v != third)
        left = whole.subgraph(set(whole) - {third, *whole[third]})
        assert nx.has_path(left, one, other)


def test_the_triple_of_a_large_chordal_web_is_found_at_once():
    """Three branches of paths from a clique in the middle; networkx takes minutes for so many vertices."""
    middle, long = 60, 300
    edges = [(u, v) for v in range(middle) for u in range(v)]
    for branch in range(3):
        path = [branch, *range(middle + branch * long, middle + (branch + 1) * long)]
        edges += itertools.pairwise(path)
    assert asteroidal_triple(Graph.from_edges(middle + 3 * long, edges)) is not None


def test_the_triple_of_a_web_with_many_ends_is_found_at_once():
    """A path of 900 vertices, each with a leaf: an interval graph but for one leaf that is two edges long."""
    n = 900
    edges = [*itertools.pairwise(range(n)), *((v, n + v) for v in range(n))]
    x, y, z = asteroidal_triple(Graph.from_edges(2 * n + 1, [*edges, (n + 450, 2 * n)]))
    assert z == 2 * n
    assert {x % n < 449, y % n < 449} == {True, False}
