"""``chordless bench boundary`` on small grids."""

from __future__ import annotations

import pytest
from benches import probed_once, report, run  # noqa: F401 - the fixture

from kernels_ti import OptionError


def test_the_report_has_each_way(capsys):
    exit_code, found, _ = report(capsys, "boundary", "grid:5x5", "grid:1x4", "--repeat", "2")
    assert exit_code == 0
    assert [(row["graph"], row["what"]) for row in found["rows"]] == [
        (graph, way) for graph in ("grid:5x5", "grid:1x4") for way in ("total", "lengths", "longest")
    ]
    total, lengths, longest = found["rows"][:3]
    assert total["by_length"] == {"0": 229}
    assert sum(lengths["by_length"].values()) == 229
    assert longest["by_length"] == {"16": lengths["by_length"]["16"]}
    assert all(len(row["seconds"]) == 2 and row["first"] > 0 for row in found["rows"])
    assert total["command"] == "chordless count grid:5x5 --method boundary --total-only"


def test_the_table_and_its_ways(capsys):
    assert run("boundary", "grid:4x4", "--ways", "longest", "--repeat", "1", "--markdown") == 0
    assert "| grid:4x4 | longest | 12 (" in capsys.readouterr().out
    with pytest.raises(OptionError, match="--ways widest: there is no such way"):
        run("boundary", "--ways", "widest")


def test_a_failure_is_told(capsys):
    assert run("boundary", "no-such-file", "--ways", "total", "--repeat", "1") == 1
    printed = capsys.readouterr()
    assert "no-such-file total: " in printed.out + printed.err
