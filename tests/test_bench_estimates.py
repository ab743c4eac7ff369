"""``chordless bench estimates``: coverage of the ranges, against counts."""

from __future__ import annotations

import json

import pytest
from program import chordless


@pytest.mark.slow
def test_ranges_are_compared_with_a_count(tmp_path):
    file = tmp_path / "estimates.json"
    arguments = ("grid:5x6", "--max-length", "12", "--seeds", "2", "--seconds", "0.2", "--json", str(file))
    done = chordless("bench", "estimates", *arguments)
    assert done.returncode == 0
    assert "100.0% of 2 ranges hold the truth; the median error of the middle is 0.0%" in done.stdout
    counted = json.loads(chordless("count", "grid:5x6", "--max-length", "12", "--json").stdout)["total"]
    (row,) = json.loads(file.read_text())["rows"]
    assert (row["cycles"], row["held"], row["estimates"]) == (counted, 2, 2)


def test_a_graph_that_cannot_be_counted_ends_it():
    done = chordless("bench", "estimates", "nothing.txt")
    assert done.returncode != 0
    assert "nothing.txt" in done.stderr
