"""``chordless first``: a hole, or a proof that there is none."""

from __future__ import annotations

import json
import os

import networkx as nx
import pytest
from chordless.cli import main, make_parser
from chordless.graphs.load import load_graph
from oracles import check_cycles
from program import REFERENCE, chordless, fails, on_full_disk


def first(capfd, *arguments):
    exit_code = main(["first", *map(str, arguments)])
    said = capfd.readouterr()
    return exit_code, said.out, said.err


@pytest.mark.parametrize("spec", ["petersen", "cycle:9", "gnp:40,0.2,1", "wheel:12"])
def test_a_hole_is_printed_and_the_exit_code_is_0(capfd, spec):
    exit_code, printed, notes = first(capfd, spec)
    assert (exit_code, notes) == (0, "")
    cycle = [int(name) for name in printed.split()]
    assert len(cycle) >= 4
    check_cycles(load_graph(spec).graph, [cycle])


@pytest.mark.parametrize("spec", ["complete:6", "path:5", "path:1", "complete:3"])
def test_a_chordal_graph_is_a_note_and_exit_code_1(capfd, spec):
    note = f"{spec} is chordal: no chordless cycle of it has 4 or more vertices\n"
    assert first(capfd, spec) == (1, "", note)
    assert first(capfd, spec, "-q") == (1, "", "")


def test_certificate_of_a_chordal_graph(capfd, tmp_path):
    path = tmp_path / "fan.txt"
    path.write_text("a b\nb c\nc d\nx a\nx b\nx c\nx d\n")
    exit_code, printed, _ = first(capfd, path, "--certificate")
    assert exit_code == 1
    graph = nx.read_edgelist(path)
    for v in printed.split():
        assert nx.density(graph.subgraph(graph[v])) == 1 or len(graph[v]) < 2, "simplicial when it is taken out"
        graph.remove_node(v)
    assert not graph
    assert first(capfd, "cycle:5", "--certificate")[:2] == (0, "0 1 2 3 4\n")


def test_names_with_white_space_are_separated_by_a_tab(capfd, tmp_path):
    path = tmp_path / "square.txt"
    path.write_text("# n=4 m=4\n# label 1 New York\n# label 2 b\n# label 3 c\n# label 4 d\n1 2\n2 3\n3 4\n4 1\n")
    assert first(capfd, path)[1] == "New York\tb\tc\td\n"


def test_json(capfd):
    exit_code, printed, notes = first(capfd, "cycle:4", "--json")
    assert (exit_code, notes) == (0, "")
    found = {"graph": "cycle:4", "n": 4, "m": 4, "min_length": 4, "cycle": [0, 1, 2, 3], "chordal": False}
    assert json.loads(printed) == {**found, "max_length": None, "elimination_ordering": None}
    exit_code, printed, _ = first(capfd, "path:3", "--json", "--certificate")
    found = json.loads(printed)
    assert (exit_code, found["cycle"], found["chordal"]) == (1, None, True)
    assert sorted(found["elimination_ordering"]) == [0, 1, 2]


@pytest.mark.slow
def test_a_longer_cycle_comes_from_the_engine():
    done = chordless("first", "petersen", "--min-length", "6", *REFERENCE)
    assert (done.returncode, done.stderr) == (0, "")
    cycle = [int(name) for name in done.stdout.split()]
    assert len(cycle) == 6
    check_cycles(load_graph("petersen").graph, [cycle])
    done = chordless("first", "petersen", "--min-length", "7", "--json", *REFERENCE)
    assert done.returncode == 1
    found = {"graph": "petersen", "n": 10, "m": 15, "min_length": 7, "cycle": None, "chordal": None}
    assert json.loads(done.stdout) == {**found, "max_length": None, "elimination_ordering": None}
    assert done.stderr == "petersen has no chordless cycles of 7 or more vertices\n"
    assert chordless("first", "complete:3", "--min-length", "3", *REFERENCE).stdout == "0 1 2\n"


def test_a_cycle_of_one_length_comes_from_the_engine(capfd):
    exit_code, printed, _ = first(capfd, "petersen", "--length", "6", *REFERENCE)
    assert (exit_code, len(printed.split())) == (0, 6)
    # The shortest hole has 5 vertices: that there is none of 4 does not make the graph chordal.
    exit_code, printed, notes = first(capfd, "petersen", "--length", "4", "--json", *REFERENCE)
    assert (exit_code, notes) == (1, "petersen has no chordless cycles of 4 vertices\n")
    found = json.loads(printed)
    assert (found["min_length"], found["max_length"], found["cycle"], found["chordal"]) == (4, 4, None, None)


def test_errors_are_exit_code_2(tmp_path):
    assert fails(chordless("first", tmp_path / "none.txt"), 2, "no such file")
    unwritable = tmp_path / "no" / "events"
    assert fails(chordless("first", "petersen", "--min-length", "5", "--events", unwritable), 2, "cannot write")
    done = chordless("first", "petersen", "--certificate", "--min-length", "5")
    assert done.returncode == 2
    assert "--certificate" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "min_length", "chordal"), [("cycle:5", 5, False), ("complete:3", 3, None), ("path:3", 3, True)]
)
def test_json_of_the_engine_says_whether_the_graph_is_chordal_where_that_is_known(spec, min_length, chordal):
    done = chordless("first", spec, "--min-length", min_length, "--json", *REFERENCE)
    assert json.loads(done.stdout)["chordal"] is chordal


@pytest.mark.parametrize("closed", [None, lambda: os.close(1)], ids=["full", "closed"])
def test_an_answer_that_cannot_be_written_is_not_the_answer_chordal(closed):
    done = on_full_disk("first", "petersen", preexec_fn=closed)
    assert done.returncode == 2
    assert done.stderr.startswith("chordless: error: cannot write standard output: ")
    assert done.stderr.count("\n") == 1


def test_no_events_are_asked_for_where_no_engine_makes_any(capfd, tmp_path):
    exit_code, printed, said = first(capfd, "petersen", "--events", tmp_path / "events.jsonl")
    assert (exit_code, printed) == (2, "")
    assert "--events needs other lengths" in said
    with pytest.raises(SystemExit):
        make_parser().parse_args(["first", "--help"])
    assert "other lengths (searched for as `chordless list` does" in capfd.readouterr().out
