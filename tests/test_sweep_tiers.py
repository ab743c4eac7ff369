"""A search begins with kernels that are compiled quickly, and goes on with those that are compiled thoroughly."""

import pytest
from oracles import grid, levels_of

from kernels_ti import Run, open_device, taichi_door
from kernels_ti.device import compilation
from kernels_ti.sweep import search as search_sweep

pytestmark = pytest.mark.owner


def test_a_search_that_lasts_goes_on_with_a_kernel_compiled_thoroughly(monkeypatch):
    monkeypatch.setattr(search_sweep, "_compiled", set())
    monkeypatch.setattr(search_sweep, "FORESIGHT_SECONDS", 0.0)
    monkeypatch.setattr(search_sweep, "THOROUGH_SECONDS", 0.0)
    monkeypatch.setattr(search_sweep, "FIRST_BUDGET", 20)
    graph = grid(5, 6)
    run = Run(graph, open_device("cpu", threads=1))
    compiling, seconds = [], []
    while not run.finished:
        before = run.snapshot()
        after = run.advance()
        compiling.append(before.compiling)
        if before.compiling:
            seconds.append(after.seconds - before.seconds)
    assert compiling.count(True) == 2, "the kernel that is compiled quickly, then the one that is compiled thoroughly"
    assert compiling[-1] is False
    assert seconds == [0.0, 0.0], "compiling is not searching"
    assert after.cycles_by_length == levels_of(graph).cycles
    again = Run(graph, run.device)
    while not again.finished:
        assert not again.advance().compiling, "this process has the kernels"


def test_a_search_does_not_wait_for_a_kernel_that_saves_less_than_it_takes(monkeypatch):
    monkeypatch.setattr(search_sweep, "_compiled", set())
    monkeypatch.setattr(search_sweep, "FORESIGHT_SECONDS", 0.0)
    monkeypatch.setattr(search_sweep, "FIRST_BUDGET", 20)
    monkeypatch.setattr(search_sweep.kernel_cache, "holds", lambda kind: not kind.startswith("sweep"))
    run = Run(grid(5, 6), open_device("cpu", threads=1))
    compiling = []
    while not run.finished:
        compiling.append(run.snapshot().compiling)
        run.advance()
    assert compiling.count(True) == 1
    assert compiling.index(True) < 2


def test_a_search_begins_with_the_thorough_kernel_that_the_cache_holds(monkeypatch):
    tiers_used = []
    monkeypatch.setattr(search_sweep, "_compiled", set())
    monkeypatch.setattr(search_sweep.kernel_cache, "holds", lambda kind: kind.startswith("sweep 1 "))
    tier_of = search_sweep.SweepSearch._tier_of
    monkeypatch.setattr(
        search_sweep.SweepSearch, "_tier_of", lambda *asked: tiers_used.append(tier_of(*asked)) or tiers_used[-1]
    )
    run = Run(grid(5, 6), open_device("cpu", threads=1))
    while not run.finished:
        run.advance()
    assert tiers_used
    assert set(tiers_used) == {search_sweep.sweep.thorough}


def test_each_tier_of_a_kernel_is_compiled_with_its_own_setting(monkeypatch):
    open_device("cpu", threads=1)
    settings_seen = []

    class Noted:
        def __init__(self, function):
            self.function = function

        def __call__(self, **arguments):
            settings_seen.append(taichi_door.settings().cfg_optimization)

    monkeypatch.setattr(compilation, "kernel", Noted)
    kernel = compilation.Tiered(lambda: None)
    kernel.quick()
    kernel.thorough()
    assert settings_seen == [False, True]
