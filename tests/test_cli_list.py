"""``chordless list`` as a user drives it: lines to pipes and files, limits, readers that leave."""

from __future__ import annotations

import json
import os
import shlex
import subprocess

import pytest
from chordless.protocol.codec import event_from_json
from chordless.protocol.events import Progress
from patience import PATIENCE
from program import ENVIRONMENT, LONG, REFERENCE, chordless, command, without_progress


def test_list_prints_names_in_cycle_order():
    done = chordless("list", "grid:2x3", *REFERENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == ["0,0 0,1 1,1 1,0", "0,1 0,2 1,2 1,1"]


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["reference", "cpu"])
def test_list_counts_what_count_counts(arch):
    lines = chordless("list", "grid:5x6", "--arch", arch).stdout.splitlines()
    assert len(lines) == len(set(lines)) == 749


@pytest.mark.slow
def test_list_to_files(tmp_path):
    text, lines = tmp_path / "cycles.txt", tmp_path / "cycles.jsonl"
    done = chordless("list", "petersen", *REFERENCE, "-o", text)
    assert (done.returncode, done.stdout) == (0, "")
    assert "22 cycles in" in done.stderr
    assert chordless("list", "petersen", *REFERENCE, "-o", lines, "-q").stderr == ""
    from_text = [[int(name) for name in line.split(" ")] for line in text.read_text().splitlines()]
    assert from_text == [json.loads(line) for line in lines.read_text().splitlines()]
    assert len(from_text) == 22


def test_names_with_blanks_are_separated_by_tabs(tmp_path):
    graph = tmp_path / "web.net"
    graph.write_text('*Vertices 3\n1 "blue crab"\n2 "eel"\n3 "shad"\n*Edges\n1 2\n2 3\n1 3\n')
    done = chordless("list", graph, *REFERENCE)
    assert done.stdout == "blue crab\teel\tshad\n"


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 10, 3435])
def test_limit_of_a_listing_is_exact(limit):
    done = chordless("list", "grid:6x6", *REFERENCE, "--limit", limit)
    assert done.returncode == 4
    assert len(done.stdout.splitlines()) == limit
    assert "not complete: stopped by --limit" in done.stderr


def test_a_reader_that_has_enough_is_no_error():
    listing = subprocess.Popen(
        command("list", LONG, *REFERENCE), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    with listing:
        first = listing.stdout.readline()
        listing.stdout.close()
        assert first
        assert listing.wait(PATIENCE) == 4
        assert without_progress(listing.stderr.read()) == ""


def test_a_sleeping_reader_holds_up_neither_progress_nor_the_timeout(tmp_path):
    events = tmp_path / "events.jsonl"
    listing = subprocess.Popen(
        command("list", "complete:200", *REFERENCE, "--timeout", "1", "--events", events),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    with listing:
        assert listing.wait(PATIENCE) == 4
        lines = len(listing.stdout.read().splitlines())
        errors = listing.stderr.read()
    assert "stopped by --timeout after" in errors
    assert f"; {lines:,} cycles" in errors
    reports = [event_from_json(line) for line in events.read_text().splitlines()]
    assert any(isinstance(report, Progress) and report.listed == lines for report in reports)


def test_names_that_the_locale_cannot_write_are_listed_all_the_same(tmp_path):
    graph = tmp_path / "gr\u00e4ph.txt"
    graph.write_text("# n=3 m=3\n# label 1 K\u00e4se\n# label 2 b\n# label 3 c\n1 2\n2 3\n1 3\n", encoding="utf-8")
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}
    assert chordless("list", graph, *REFERENCE, env=environment, encoding="utf-8").stdout == "K\u00e4se b c\n"
    assert "gr\\xe4ph.txt" in chordless("count", graph, *REFERENCE, env=environment).stdout


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="needs /dev/fd")
@pytest.mark.parametrize("graph", ["grid:3x3", "grid:6x7"])
@pytest.mark.parametrize(
    "line", ["{} -o /dev/stdout", "{} -o /proc/self/fd/1", "{} -o /dev/fd/3 3>&1", "{} -o >(cat) | cat"]
)
def test_cycles_go_to_the_descriptor_that_is_named(graph, line):
    """A small graph is listed in this process, a larger one by an engine, whose own descriptors are others."""
    listed = shlex.join(command("list", graph))
    done = subprocess.run(
        ["bash", "-c", line.format(listed)], capture_output=True, text=True, env=ENVIRONMENT, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(chordless("list", graph).stdout.splitlines())


@pytest.mark.parametrize(
    ("name", "why"), [("/dev/stderr", "standard error has the messages"), ("/dev/fd/999", "there is no such open file")]
)
def test_an_output_that_no_engine_can_write_is_refused(name, why):
    for asked in (["list"], ["sample"], ["paths", "--list"]):
        ends = ["0,0", "5,6"] if asked[0] == "paths" else []
        done = chordless(*asked, "grid:6x7", *ends, "-o", name)
        assert (done.returncode, done.stdout) == (2, "")
        assert why in done.stderr
