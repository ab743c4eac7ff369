"""``coverage_of_estimates.py``: ranges of estimates against counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from program import chordless

SCRIPT = Path(__file__).with_name("coverage_of_estimates.py")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True)


@pytest.mark.slow
def test_ranges_are_compared_with_a_count(tmp_path):
    file = tmp_path / "estimates.json"
    done = run("grid:5x6", "--max-length", "12", "--seeds", "2", "--seconds", "0.2", "--json", str(file))
    assert done.returncode == 0
    assert "100.0% of 2 ranges hold the truth; the median error of the middle is 0.0%" in done.stdout
    counted = json.loads(chordless("count", "grid:5x6", "--max-length", "12", "--json").stdout)["total"]
    (row,) = json.loads(file.read_text())
    assert (row["cycles"], sum(row["held"]), len(row["held"])) == (counted, 2, 2)


def test_a_graph_that_cannot_be_counted_ends_it():
    done = run("nothing.txt")
    assert done.returncode != 0
    assert "nothing.txt" in done.stderr
