"""``chordless bench boundary`` on small grids."""

from __future__ import annotations

import pytest
from benches import probed_once, report, run  # noqa: F401 - the fixture

from kernels_ti import OptionError


def test_the_report_has_each_way(capsys):
    exit_code, found, _ = report(capsys, "boundary", "grid:5x5", "grid:1x4", "--repeat", "2")
    assert exit_code == 0
    assert [(row["graph"], [way["name"] for way in row["ways"]]) for row in found["rows"]] == [
        (graph, ["total", "lengths", "longest"]) for graph in ("grid:5x5", "grid:1x4")
    ]
    total, lengths, longest = found["rows"][0]["ways"]
    assert total["by_length"] == {"0": 229}
    assert sum(lengths["by_length"].values()) == 229
    assert longest["by_length"] == {"16": lengths["by_length"]["16"]}
    assert all(len(way["seconds"]) == 2 and way["first"] > 0 for row in found["rows"] for way in row["ways"])
    assert total["command"] == "chordless count grid:5x5 --method boundary --total-only"


def test_the_table_and_its_ways(capsys):
    assert run("boundary", "grid:4x4", "--ways", "longest", "--repeat", "1", "--markdown") == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| grid:4x4 | longest | 1 | ")]
    assert line.split(" | ")[6].startswith("12 (")
    with pytest.raises(OptionError, match="--ways widest: there is no such way"):
        run("boundary", "--ways", "widest")


def test_a_failure_is_told(capsys):
    assert run("boundary", "no-such-file", "--ways", "total", "--repeat", "1") == 1
    printed = capsys.readouterr()
    assert "no-such-file: total: " in printed.out + printed.err
