"""The choice between a search and a count along a boundary."""

from __future__ import annotations

import math
import time

import pytest
from chordless import generate
from chordless.engine.method import _seconds_to_seek, reason
from chordless.protocol.orders import RunCommand

from kernels_ti import Graph, Options, count_cycles
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.orders.plan import plan_of as boundary_plan
from kernels_ti.estimate.estimate import Estimator
from kernels_ti.method import MethodChoice, SearchTime, choose_method, seconds_of_faster_search
from kernels_ti.watch import Watch


def chosen(spec, memory=None, **options):
    return choose_method(SearchSpace(generate(spec), Options(**options)), memory=memory)


@pytest.mark.parametrize("spec", ["petersen", "path:100", "grid:6x8", "planar:30000,1"])
def test_a_short_search_is_made_without_a_word(spec):
    choice = chosen(spec)
    assert choice.method == "search"
    assert reason(choice) is None


def test_a_long_search_gives_way_to_a_small_boundary():
    choice = chosen("grid:10x10")
    assert choice.method == "boundary"
    assert choice.plan is not None
    assert choice.boundary_seconds < choice.search_seconds / 10
    assert chosen("grid:10x10", max_length=6).method == "search"


def test_a_search_of_seconds_gives_way_to_a_boundary_that_takes_a_moment():
    assert chosen("grid:8x10").method == "boundary"


def test_a_count_along_a_boundary_that_ends_before_a_search_would_begin_is_made():
    def chosen_with(spec, start, memory=None):
        return choose_method(SearchSpace(generate(spec), Options()), start=start, memory=memory)

    choice = chosen_with("grid:6x8", 0.5)
    assert choice.method == "boundary"
    assert choice.boundary_seconds <= 0.5
    assert "before a search would begin" in reason(choice)
    assert chosen_with("grid:6x8", choice.boundary_seconds / 2).method == "search"
    assert chosen_with("gnp:60,0.1,1", 0.5).method == "search"
    # What is too small for the states of a count may do for a GPU.
    assert chosen_with("grid:6x8", 0.5, memory=1 << 20).method == "search"


def test_an_order_is_sought_a_tenth_of_a_search_at_most(monkeypatch):
    seen = []

    def plan_of(space, *, enough, **_):
        began = time.monotonic()
        while not enough() and time.monotonic() < began + 60:
            time.sleep(0.01)
        seen.append(time.monotonic() - began)
        return boundary_plan(space, seconds=0.0)

    monkeypatch.setattr("kernels_ti.boundary.orders.plan.plan_of", plan_of)
    choice = chosen("gnp:75,0.1,1")
    assert choice.method == "search"
    assert seen[0] >= choice.search_seconds / 10
    assert seen[0] < 60


def test_a_line_is_worth_a_long_search_only():
    assert reason(MethodChoice("search", 3.0, None, math.inf)) is None
    assert reason(MethodChoice("search", 30.0, None, math.inf)) is not None
    assert "a search takes about 3 s" in reason(MethodChoice("boundary", 3.0, None, 0.1))


def test_states_that_do_not_fit_into_the_memory_give_way_to_a_search(monkeypatch):
    monkeypatch.setattr("kernels_ti.boundary.needs._STATES_MET", 1e12)
    choice = chosen("grid:10x10")
    assert (choice.method, choice.fits) == ("search", False)


def test_a_wide_boundary_gives_way_to_a_search():
    choice = chosen("gnp:110,0.1,1")
    assert choice.method == "search"
    assert choice.search_seconds > 10


def test_count_cycles_takes_what_is_chosen():
    assert count_cycles(generate("grid:10x10"), method="auto").total == 7234839185
    ring = Graph.from_edges(5, [(v, (v + 1) % 5) for v in range(5)])
    assert count_cycles(ring, method="auto", order=range(5)).frontier == {}
    assert count_cycles(ring, method="auto", arch="reference").frontier != {}


def test_a_search_that_is_surely_long_is_probed_no_further(monkeypatch):
    walks = []
    add_walk = Estimator.add_walk
    monkeypatch.setattr(Estimator, "add_walk", lambda *at, **more: walks.append(at) or add_walk(*at, **more))
    monkeypatch.setattr("kernels_ti.method._PROBING_SECONDS", 60.0)  # on a busy machine one walk may take all the time
    assert chosen("grid:12x12").method == "boundary"
    # One walk alone has no range.
    assert len(walks) == 2


def test_a_search_that_a_gpu_would_make_is_not_begun_before_the_choice(monkeypatch):
    small = generate("grid:5x9")
    assert count_cycles(small, method="search", arch="cpu").total > 0  # the CPU is open

    def never(arch, **_):
        raise AssertionError(f"a search opened {arch}")

    monkeypatch.setattr("kernels_ti.estimate.device_choice.cuda_is_here", lambda: True)
    monkeypatch.setattr("kernels_ti.asked_search.held_device", never)
    assert count_cycles(generate("grid:10x10")).total == 7234839185


@pytest.mark.parametrize(
    ("choice", "timeout", "seconds"),
    [
        (MethodChoice("boundary", 100.0, None, 0.5, probed_seconds=100.0), None, 0.0),
        (MethodChoice("boundary", 100.0, None, 5.0, probed_seconds=100.0), None, 5.0),
        (MethodChoice("search", 60.0, None, 0.5, fits=False, probed_seconds=60.0), None, 60.0),
        (MethodChoice("search", 60.0, None, 0.5, fits=False, probed_seconds=60.0), 3.0, 3.0),
        (MethodChoice("search", math.inf, probed_seconds=math.inf), 3.0, 3.0),
        (MethodChoice("search", probed_seconds=0.5), None, 0.0),
    ],
)
def test_symmetry_is_sought_for_as_long_as_the_count_takes_without_it(choice, timeout, seconds):
    assert _seconds_to_seek(RunCommand("petersen", 0.0, method="auto", timeout=timeout), choice) == seconds


@pytest.mark.parametrize(
    ("choice", "line"),
    [
        (
            MethodChoice("boundary", 86400.0, None, 3.0),
            "counting along a boundary, about 3 s: a search takes about 24 hours (--method search makes it)",
        ),
        (
            MethodChoice("boundary", math.inf, None, 3.0),
            "counting along a boundary, about 3 s: a search takes a time that is not known (--method search makes it)",
        ),
        (
            MethodChoice("search", 60.0, None, math.inf),
            "searching: a search takes about 60 s, and no small boundary was found",
        ),
        (
            MethodChoice("search", 60.0, None, 30.0),
            "searching: a search takes about 60 s, and the boundary method is not at least ten times faster",
        ),
        (
            MethodChoice("search", math.inf, None, 30.0, fits=False),
            "searching: a search takes a time that is not known, and a count by length along the boundary does not "
            "fit into the memory here",
        ),
    ],
)
def test_the_line_says_which_and_why(choice, line):
    assert reason(choice) == line


def test_a_gpu_takes_a_moment_for_states_that_take_a_core_a_minute(monkeypatch):
    """Then no search is probed."""
    probed = []
    monkeypatch.setattr(SearchTime, "probe", lambda self, _: probed.append(self))
    # On a busy machine the order takes longer.
    monkeypatch.setattr("kernels_ti.method._SECONDS_UNPROBED", math.inf)
    space = SearchSpace(generate("grid:14x14"))
    assert seconds_of_faster_search(space, "cuda", Watch()) == math.inf
    assert not probed


def test_the_choice_takes_nothing_of_the_timeout(monkeypatch):
    def choose_slowly(space, *, enough, **_):
        while not enough():
            time.sleep(0.01)
        return MethodChoice("search")

    monkeypatch.setattr("kernels_ti.method.choose_method", choose_slowly)
    found = count_cycles(generate("grid:30x30"), timeout=0.5)
    assert found.total > 0
    assert not found.complete
