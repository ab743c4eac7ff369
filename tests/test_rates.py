"""The rates of this machine: measured once, kept, and made again where the file is of no use."""

from __future__ import annotations

import json

import pytest
from chordless.engine import rates
from chordless.engine.rates import BoundaryRates, boundary_rates, rates_path


@pytest.fixture(autouse=True)
def _cache_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(rates, "_GRAPH", "grid:5x5")


def test_rates_are_measured_once_and_kept():
    first = boundary_rates()
    assert 0 < first.total < 1
    assert 0 < first.by_length < 1
    assert boundary_rates() == first
    assert json.loads(rates_path().read_text())["version"] == 1


@pytest.mark.parametrize(
    "change",
    [
        {"version": 0},
        {"machine": "another"},
        {"program": "0.0"},
        {"total": "fast"},
        {"by_length": -1.0},
        {"total": None},
    ],
)
def test_rates_of_another_machine_or_a_damaged_file_are_made_again(change):
    boundary_rates()
    kept = {**json.loads(rates_path().read_text()), "total": 7.0, "by_length": 7.0}
    rates_path().write_text(json.dumps(kept))
    assert boundary_rates() == BoundaryRates(7.0, 7.0)
    rates_path().write_text(json.dumps({**kept, **change}))
    made = boundary_rates()
    assert made != BoundaryRates(7.0, 7.0)
    assert boundary_rates() == made


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"{}"])
def test_a_damaged_file_is_made_again(content):
    boundary_rates()
    rates_path().write_bytes(content)
    made = boundary_rates()
    assert boundary_rates() == made


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "chordless").write_text("a file in the place of the folder")
    assert boundary_rates().total > 0
