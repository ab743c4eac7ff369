"""``chordless bench dashboard``: keys on a pseudo-terminal, and the times of their answers."""

from __future__ import annotations

import sys

import pytest
from chordless.bench import dashboard
from chordless.bench.dashboard import DashboardRow, percentile

# It draws what the dashboard draws, begins a search again that has ended, and ends when it is told to.
_STAND_IN = """
import os, sys, tty
tty.setraw(0)
screens = {b"1": "[1 New]", b"2": "complete[2 Run]", b"3": "[3 Cycles]", b"4": "[4 Runs]", b"5": "[5 Batch]"}
started = 0
os.write(1, b"Count all chordless cycles in petersen")
while True:
    key = os.read(0, 1)
    if key == b"\x12":
        started += 1
        os.write(1, b"[2 Run]")
    elif started > int(sys.argv[1]):
        sys.exit(7)
    else:
        os.write(1, screens[key].encode())
"""


def row(tmp_path, starts=9):
    return DashboardRow("petersen", tmp_path, (sys.executable, "-c", _STAND_IN, str(starts)))


def test_keys_are_timed_and_a_search_that_has_ended_is_begun_again(tmp_path):
    measured = row(tmp_path)
    measured.measure(10)
    (series,) = measured.series
    assert (len(series.seconds), series.error) == (10, None)
    (line,) = measured.cells()
    assert len(line) == len(dashboard.COLUMNS)
    told = measured.to_json()
    assert told["graph"] == "petersen"
    assert min(series.seconds) <= told["series"][0]["percentile_95"] + 1e-6 <= max(series.seconds) + 2e-6


def test_a_dashboard_that_ends_is_a_problem(tmp_path):
    # The second start comes after the fourth key, at which the search had ended.
    measured = row(tmp_path, starts=1)
    measured.measure(10)
    assert len(measured.series[0].seconds) == 4
    assert list(measured.problems) == ["petersen: screens: the dashboard has ended with exit code 7"]


@pytest.mark.parametrize(
    ("seconds", "late"),
    [([], None), ([3.0], 3.0), ([float(i) for i in range(20, 0, -1)], 19.0), ([1.0] * 19 + [9.0] * 2, 9.0)],
)
def test_nineteen_of_twenty_times_are_as_short_as_the_percentile(seconds, late):
    assert percentile(seconds) == late
