"""Tiny graphs are searched in the process that was asked, with the results that an engine has."""

from __future__ import annotations

import json
import time

import pytest
from chordless.cli import main
from chordless.engine.at_once import LARGEST_FILE, searched_at_once
from chordless.protocol.orders import RunCommand
from test_layers import loaded_by


def command(graph, **options):
    return RunCommand(graph, time.time(), **options)


@pytest.mark.parametrize("words", [["count", "petersen"], ["list", "petersen"], ["first", "petersen", "--length", "6"]])
def test_a_tiny_graph_needs_no_taichi_and_no_other_process(words):
    code = (
        "import subprocess; from chordless.cli import main; subprocess.Popen = None; "
        f"assert main({words!r}) == 0; import sys; "
        "print([name for name in ('taichi', 'networkx') if name in sys.modules])"
    )
    _, printed = loaded_by(code)
    assert printed.splitlines()[-1] == "[]"


TIMES = ("seconds", "peak_memory_bytes")


@pytest.mark.parametrize(
    "words",
    [
        ("count", "petersen", "--json"),
        ("count", "grid:4x4", "--min-length", "6", "--max-length", "10", "--json"),
        ("count", "heawood", "--through", "5,6", "--json"),
        ("count", "karate", "--avoid", "2", "--avoid-edge", "0-1", "--json"),
        ("count", "petersen", "--per-vertex", "--per-edge", "--json"),
        ("count", "petersen", "--limit", "1", "--json"),
        ("count", "path:5", "--json"),
        ("list", "petersen", "-o", "-"),
        ("list", "grid:4x4", "--through-edge", "0,0-0,1"),
    ],
)
def test_it_prints_what_an_engine_prints(capfd, words):
    outcomes = []
    for more in ((), ("--arch", "reference")):
        exit_code = main([*words, *more])
        printed = capfd.readouterr()
        outcomes.append((exit_code, printed))
    (here, ours), (there, theirs) = outcomes
    assert here == there
    assert here in (0, 4)
    if "--json" not in words:
        assert ours == theirs
        return
    first, second = json.loads(ours.out), json.loads(theirs.out)
    assert list(first) == list(second)
    assert set(first["seconds"]) == set(second["seconds"])
    for name in TIMES:
        del first[name], second[name]
    assert first == second


def test_events_are_recorded_as_those_of_an_engine(tmp_path, capfd):
    for name, more in (("here", ()), ("there", ("--arch", "reference"))):
        assert main(["count", "petersen", "--quiet", "--events", str(tmp_path / name), *more]) == 0
    ours, theirs = ([json.loads(line) for line in (tmp_path / name).open()] for name in ("here", "there"))
    assert [event["event"] for event in ours] == ["started", "finished"]
    assert list(map(set, ours)) == [set(event) for event in theirs if event["event"] != "progress"]


@pytest.mark.parametrize(
    "options",
    [
        {"arch": "cpu"},
        {"arch": "reference"},
        {"threads": 1},
        {"memory": 1 << 30},
        {"part": (1, 2)},
        {"checkpoint": "folder"},
        {"method": "boundary"},
        {"expansion": "paper"},
    ],
)
def test_what_only_an_engine_can_do_is_left_to_it(options):
    assert searched_at_once(command("petersen", **options)) is None


def test_larger_graphs_are_left_to_an_engine(tmp_path):
    file = tmp_path / "cycle.txt"
    file.write_text("1 2\n2 3\n3 1\n")
    assert searched_at_once(command(str(file))) is not None
    file.write_text("1 2\n2 3\n3 1\n" + "#" * LARGEST_FILE)
    for graph in (str(file), "-", "grid:7x10", "tutte"):
        assert searched_at_once(command(graph)) is None


def test_a_bad_graph_is_one_line(capfd):
    assert main(["count", "cycle:2"]) == 2
    assert capfd.readouterr().err.startswith("chordless: error: cycle:2: ")
