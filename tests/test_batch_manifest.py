"""Manifests of batches: what they ask for, and what is wrong with them."""

from __future__ import annotations

import os
from pathlib import Path

import networkx as nx
import pytest
from batches import graph6, lines_in
from chordless.protocol.orders import BatchJob
from program import chordless

from kernels_ti import OptionError


@pytest.mark.slow
def test_a_manifest_with_lists_limits_and_timeouts(tmp_path):
    graph6(tmp_path / "two.g6", [nx.cycle_graph(5), nx.complete_graph(4)])
    (tmp_path / "jobs.toml").write_text(
        '[defaults]\nmax_length = 8\ncycles = "cycles"\n'
        '[[jobs]]\ngraph = ["two.g6", "grid:3x3"]\ntask = "list"\ncycles_format = "jsonl"\n'
        '[[jobs]]\ngraph = "grid:4x4"\nmin_length = 5\n'
        '[[jobs]]\ngraph = "grid:8x8"\nmax_length = 36\nlimit = 10\ntimeout = "1m"\narch = "reference"\n'
    )
    planned = chordless("batch", "--manifest", tmp_path / "jobs.toml", "--dry-run")
    assert (planned.returncode, planned.stderr) == (0, "")
    assert [line.split()[1] for line in planned.stdout.splitlines()] == ["2", "1", "1", "1"]
    assert "cycles of 3 to 36 vertices, limit 10, timeout 60 s, on reference" in planned.stdout
    assert not (tmp_path / "cycles").exists()
    output = tmp_path / "out.jsonl"
    done = chordless("batch", "--manifest", tmp_path / "jobs.toml", "-o", output)
    assert done.returncode == 4, done.stderr
    assert "1 stopped by a limit" in done.stderr
    lines = lines_in(output)
    assert [line["by_length"] for line in lines[:4]] == [{"5": 1}, {"3": 4}, {"4": 4, "8": 1}, {"8": 4}]
    assert (lines[4]["status"], lines[4]["complete"], lines[4]["arch"]) == ("limit", False, "reference")
    for line in lines[:3]:
        assert len(lines_in(Path(line["listing"]))) == line["total"]
        assert os.path.dirname(line["listing"]) == str(tmp_path / "cycles")
    assert lines[3]["listing"] is None


def toml(text):
    return f'[[jobs]]\ngraph = "petersen"\n{text}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are no jobs; each begins with a line [[jobs]] and has a key graph"),
        ("jobs = 3", "jobs: must be tables, [[jobs]]"),
        ("[job]", "job: there is no such key; did you mean jobs?"),
        ("[[jobs]]\n[[jobs]\n", "4: not TOML"),
        (toml("max_lenght = 3"), "job 1: max_lenght: there is no such key; did you mean max_length?"),
        (toml("max_length = 0"), "job 1: max_length: a cycle has at least 1 vertex, not 0"),
        (toml("max_length = 4.5"), "job 1: max_length: 4.5 is not a whole number"),
        (toml("min_length = 5\nmax_length = 4"), "petersen: the maximum length 4 is less than the minimum 5"),
        (toml('timeout = "soon"'), "job 1: timeout: 'soon' is not a time: seconds above 0, or 90s, 5m, 2h"),
        (toml('task = "draw"'), "job 1: task: 'draw' is not one of count, list"),
        (toml('task = "list"'), "job 1: cycles: is missing; a list needs a folder to write to, here or by --cycles"),
        (toml('format = "cbor"'), "job 1: format: there is no file format 'cbor'; the formats are edgelist,"),
        (toml('task = "list"\ncycles = "a\\u0000"'), "job 1: cycles: 'a\\x00' is not a name in quotes"),
        (toml("simplify = 1"), "job 1: simplify: 1 is neither true nor false"),
        ("[[jobs]]\n", "job 1: graph: is missing; a file, a pattern, a spec, or a list of these"),
        ("[[jobs]]\ngraph = []\n", "job 1: graph: [] is no graph"),
        ('[[jobs]]\ngraph = "nothing/*.g6"\n', "nothing/*.g6: no file matches this pattern"),
        (toml("") + toml(""), "petersen is given twice"),
        ('[defaults]\ngraph = "petersen"\n', "defaults: graph: belongs to a job, [[jobs]]"),
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_read(tmp_path, text, message):
    from chordless.batch.manifest import read_manifest

    path = tmp_path / "jobs.toml"
    path.write_text(text if "4: not" not in message else f"\n\n{text}")
    with pytest.raises(OptionError) as caught:
        read_manifest(str(path), BatchJob(""))
    assert str(caught.value).startswith(f"{path}:")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_manifest_may_begin_with_a_byte_order_mark(tmp_path):
    from chordless.batch.manifest import read_manifest

    path = tmp_path / "jobs.toml"
    path.write_text('[[jobs]]\ngraph = "petersen"\n', encoding="utf-8-sig")
    assert [job.graph for job in read_manifest(str(path), BatchJob(""))] == ["petersen"]
