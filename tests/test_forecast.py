"""When a run estimates itself: not where a probe would hold the search up, or take more than there is for it."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from chordless import generate
from chordless.engine import forecast as engine_forecast
from chordless.engine.forecast import Forecast
from chordless.engine.loop import Search
from chordless.protocol.orders import RunCommand

from kernels_ti import Options
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.state import Layout, RunState


@pytest.mark.slow
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
    monkeypatch.setattr(engine_forecast, "_SECONDS_BEFORE_FORECAST", 0.0)
    monkeypatch.setattr(engine_forecast, "_SHARE_OF_FORECAST", 0.0)
    space = SearchSpace(generate(spec), Options(max_length=max_length))
    forecast = Forecast(space, within_budget=within_budget)
    # A probe that a busy machine breaks off tells nothing yet.
    for _ in range(1000 if expected else 10):
        if not forecast.fields:
            forecast.improve()
    assert bool(forecast.fields) == expected


def test_walks_that_do_not_fit_into_a_probe_make_the_next_one_longer(monkeypatch):
    """Otherwise the first walk would be the last, and one walk tells no range."""
    monkeypatch.setattr(engine_forecast, "_SECONDS_BEFORE_FORECAST", 0.0)
    monkeypatch.setattr(engine_forecast, "_SHARE_OF_FORECAST", 0.0)
    monkeypatch.setattr(engine_forecast, "_PROBE_SECONDS", 1e-6)
    forecast = Forecast(SearchSpace(generate("grid:8x10")))
    for _ in range(1000):
        if forecast.fields.get("cycles_high") is None:
            forecast.improve()
    assert forecast.fields["cycles_high"] is not None


def test_a_short_run_is_not_probed():
    forecast = Forecast(SearchSpace(generate("grid:20x20")))
    forecast.improve()
    assert not forecast.fields


def test_a_graph_of_many_edges_is_refused_by_their_number(monkeypatch):
    """Its blocks take seconds to make, in which nobody would be obeyed."""
    monkeypatch.setattr(engine_forecast, "_SECONDS_BEFORE_FORECAST", 0.0)
    space = SearchSpace(generate("complete:500"))
    monkeypatch.setattr(SearchSpace, "batches", lambda *_: pytest.fail("the blocks were made"))
    forecast = Forecast(space)
    forecast.improve()
    assert not forecast.fields


@pytest.mark.parametrize(
    ("total", "low", "high", "branching", "cycles", "expected"),
    [
        (None, None, None, 0.2, 470, 0.2),  # no estimate yet
        (1000.0, 900.0, 1100.0, 0.2, 470, 0.47),  # a good one
        (690e6, 430e6, 2.2e9, 0.2, 324.3e6, 0.47),
        (1000.0, 100.0, 1e4, 0.2, 90, 0.2),  # a rough one leaves room
        (1000.0, 100.0, 1e4, 0.001, 470, 0.047),
        (1000.0, 500.0, 1e4, 0.9, 100, 0.2),
        (1000.0, 900.0, 1100.0, 0.2, 1050, 1050 / 1100),  # more than was thought
        (473e6, 216e6, 1090e6, 0.45, 440e6, 0.45),  # the middle of a wide range is no end
        (1000.0, 900.0, 1100.0, 0.9, 1200, 0.9),  # more than was thought possible
        (1000.0, 900.0, None, 0.3, 470, 0.3),  # no upper end
        (1000.0, None, None, 0.3, 1470, 0.3),
    ],
)
def test_the_share_is_that_of_the_cycles_once_their_number_is_known(total, low, high, branching, cycles, expected):
    forecast = Forecast(SearchSpace(generate("grid:4x4")))
    forecast.fields = {"cycles_estimate": total, "cycles_low": low, "cycles_high": high}
    assert forecast.share(branching, cycles) == pytest.approx(expected)


@dataclass(frozen=True)
class Part:
    """A search of which a part is done."""

    share: float = 0.1
    cycles: int = 40
    finished: bool = False
    compiling: bool = False


def test_a_checkpoint_keeps_the_share_that_was_told_so_that_it_never_falls_after_a_stop(tmp_path):
    kept, snapshot = [], Part()
    run = SimpleNamespace(
        snapshot=lambda: snapshot, state=lambda: RunState(Layout(), 0, (), share=0.1), advance=lambda: snapshot,
        finished=False,
    )  # fmt: skip
    channel = SimpleNamespace(paused=False, stop_asked=True, send=lambda event: None, obey=lambda: None)
    keeper = SimpleNamespace(
        directory=SimpleNamespace(path=tmp_path),
        is_due=lambda: False,
        write=lambda state, *_, **more: kept.append(state),
    )
    forecast = Forecast(SearchSpace(generate("grid:4x4")))
    forecast.fields = {"cycles_estimate": 100.0, "cycles_low": 90.0, "cycles_high": 110.0}
    search = Search(RunCommand("grid:4x4", 0.0), channel, run, None, keeper, forecast)
    reason, told = search.go()
    assert (reason, told.share, kept[0].share) == ("interrupted", 0.4, 0.4)
