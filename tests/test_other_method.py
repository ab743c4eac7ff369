"""The line that says that a count along a boundary would finish what a search did not."""

from __future__ import annotations

import shlex

import pytest
from chordless.cli import main
from chordless.commands.options import order_of
from chordless.commands.other_method import other_method
from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand
from program import chordless

SEARCH = ("count", "grid:9x9", "--arch", "reference", "--limit", "1")
LINE = "`chordless count grid:9x9 --method boundary` would count them all in about 1 s\n"


def stopped(n=60, share=0.001, reason="timeout", seconds=2.0):
    return Finished(
        reason, "g", n, 0, 0, 9, {4: 9}, 9, 1, {3: 9}, 0, 0, "cpu", "a CPU", 0.5, seconds, seconds + 0.5, share=share
    )


def test_a_stopped_count_names_the_other_method():
    done = chordless(*SEARCH)
    assert (done.returncode, done.stderr) == (4, LINE)


def test_nothing_is_said_to_who_wants_quiet():
    done = chordless(*SEARCH, "-q")
    assert (done.returncode, done.stderr) == (4, "")


def test_a_graph_from_standard_input_is_not_read_again():
    edges = chordless("generate", "grid:9x9").stdout
    done = chordless("count", "-", *SEARCH[2:], input=edges)
    assert (done.returncode, done.stderr) == (4, "")


def test_the_line_keeps_what_is_looked_for_and_drops_how_it_was_searched(tmp_path):
    path = tmp_path / "my grid.txt"
    assert chordless("generate", "grid:6x10", "-o", path).returncode == 0
    command = RunCommand(
        str(path), 0.0, arch="cuda", threads=2, max_length=20, limit=9, simplify=True, avoid=("0,1",), expansion="paper"
    )
    line = f"`chordless count '{path}' --max-length 20 --method boundary --avoid 0,1 --simplify` would count them all"
    assert (other_method(command, stopped()) or "").startswith(line)


@pytest.mark.parametrize(
    "options",
    [["--cluster", "local:2"], ["--cluster", "local", "--gpus", "0"], ["--symmetry"], ["--proof"], ["--limit", "3"]],
)
def test_the_line_is_one_that_count_accepts(options, monkeypatch):
    asked = []
    monkeypatch.setattr("chordless.commands.count.act", lambda options: asked.append(options) or 0)
    assert main(["count", "grid:6x10", *options]) == 0
    line = other_method(order_of(RunCommand, asked[0]), stopped())
    assert main(shlex.split(line.split("`")[1])[1:]) == 0
    assert asked[1].method == "boundary"


@pytest.mark.parametrize(
    ("command", "finished"),
    [
        (RunCommand("grid:6x10", 0.0), stopped(share=0.9)),  # the search itself would have been done before
        (RunCommand("grid:6x10", 0.0), stopped(reason="complete")),
        (RunCommand("grid:6x10", 0.0), stopped(n=10**6)),  # too long to be read again
        (RunCommand("grid:6x10", 0.0, part=(1, 2)), stopped()),
        (RunCommand("grid:6x10", 0.0, per_edge=True), stopped()),
        (RunCommand("gnp:80,0.1,1", 0.0), stopped()),  # no small boundary
        # A search of a second, which a limit stopped at once: its share tells nothing
        (RunCommand("gnp:70,0.1,1", 0.0, limit=10), stopped(n=70, share=1e-16, reason="limit", seconds=0.001)),
    ],
)
def test_nothing_is_said_where_it_would_not_help(command, finished):
    assert other_method(command, finished) is None
