"""When a run estimates itself: not where a probe would hold the search up, or take more than there is for it."""

from __future__ import annotations

import pytest
from chordless.engine import loop as engine_loop
from chordless.engine.loop import Forecast
from chordless.graphs.generators import generate


@pytest.mark.parametrize(
    ("spec", "max_length", "within_budget", "expected"),
    [
        ("grid:20x20", None, False, True),
        ("grid:20x20", None, True, True),
        ("grid:30x30", None, False, True),
        ("grid:30x30", None, True, False),
        ("gnp:1000,0.1,1", None, False, False),
        ("planar:4000,1", 12, False, True),
        ("planar:4000,1", 12, True, False),
        ("cycle:20001", None, False, False),
    ],
)
def test_only_what_is_probed_at_once_is_probed(monkeypatch, spec, max_length, within_budget, expected):
    monkeypatch.setattr(engine_loop, "_SECONDS_BEFORE_FORECAST", 0.0)
    monkeypatch.setattr(engine_loop, "_SHARE_OF_FORECAST", 0.0)
    forecast = Forecast(generate(spec), 3, max_length, within_budget=within_budget)
    # A probe that a busy machine breaks off tells nothing yet.
    for _ in range(1000 if expected else 10):
        if not forecast.fields:
            forecast.improve()
    assert bool(forecast.fields) == expected


def test_a_short_run_is_not_probed():
    forecast = Forecast(generate("grid:20x20"), 3, None)
    forecast.improve()
    assert not forecast.fields
