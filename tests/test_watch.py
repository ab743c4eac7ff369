"""Progress and time-outs of every function that answers in one call."""

from __future__ import annotations

import inspect
import re
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace

import chordless
import networkx as nx
import numpy as np
import pytest
from oracles import grid
from python_process import run_python

from kernels_ti import (
    OptionError,
    Progress,
    TimeIsUpError,
    collect_cycles,
    count_cycles,
    count_participation,
    enumerate_cycles,
    estimate_cycles,
    longest_cycle,
    participation,
    sample_cycles,
    watch,
)
from kernels_ti.boundary import count
from kernels_ti.boundary.executors.on_cores import CoresBlock
from kernels_ti.watch import Watch


def streamed(graph, **options):
    stream = enumerate_cycles(graph, **options)
    for _ in stream.batches():
        pass
    return stream


SEARCHES = (count_cycles, collect_cycles, streamed, count_participation)
ALONG_BOUNDARY = (longest_cycle, sample_cycles, participation)
LONG = nx.grid_2d_graph(12, 13)


@pytest.mark.parametrize("function", [*SEARCHES, *ALONG_BOUNDARY])
@pytest.mark.parametrize("graph", [nx.petersen_graph(), grid(6, 6)], ids=["tiny", "grid"])
def test_every_function_says_what_it_does(function, graph) -> None:
    told: list[Progress] = []
    function(graph, progress=told.append)
    assert told[0] == Progress("reading", seconds=told[0].seconds)
    stages = {"reading", "compiling", "searching"} | ({"seeking an order"} if function in ALONG_BOUNDARY else set())
    assert {"reading", "searching"} <= {one.stage for one in told} <= stages
    assert (told[-1].stage, told[-1].share) == ("searching", 1.0)
    assert [one.seconds for one in told] == sorted(one.seconds for one in told)
    if function in SEARCHES:
        assert told[-1].cycles == count_cycles(graph).total
        assert told[-1].rate > 0 or len(graph) == 10


def test_a_count_along_a_boundary_says_what_it_does() -> None:
    told: list[Progress] = []
    total = count_cycles(grid(6, 6), method="boundary", progress=told.append).total
    assert list(dict.fromkeys(one.stage for one in told)) == ["reading", "seeking an order", "searching"]
    assert (told[-1].share, told[-1].cycles) == (1.0, total)


def test_compilation_for_a_boundary_does_not_count_against_a_timeout(monkeypatch) -> None:
    taken: list[int] = []

    def takes_long(block: CoresBlock, enough: Callable[[], bool]) -> None:
        if not taken:
            late.append(1e9)
            assert not enough()
        taken.append(block.place)
        take_vertex(block, enough)

    late, take_vertex, now = [0.0], CoresBlock.take_vertex, time.perf_counter
    monkeypatch.setattr(count, "_FEWEST_STATES", 0)
    monkeypatch.setattr(CoresBlock, "take_vertex", takes_long)
    monkeypatch.setattr(watch, "time", SimpleNamespace(perf_counter=lambda: now() + late[-1]))
    found = count_cycles(grid(6, 6), method="boundary", arch="cpu", timeout=1e8)
    assert taken
    assert found.by_length == count_cycles(grid(6, 6), arch="reference").by_length
    assert found.complete
    assert found.seconds < 1e8


@pytest.mark.parametrize("method", ["search", "boundary"])
@pytest.mark.parametrize("options", [{}, {"k": 3}, {"shortest": True}, {"k": 3, "shortest": True}], ids=str)
@pytest.mark.parametrize("graph", [nx.petersen_graph(), grid(6, 6)], ids=["tiny", "grid"])
def test_every_way_to_the_longest_cycle_is_told_to_its_end(graph, options, method) -> None:
    told: list[Progress] = []
    longest_cycle(graph, method=method, progress=told.append, **options)
    assert (told[-1].stage, told[-1].share) == ("searching", 1.0)


@pytest.mark.parametrize("function", [*SEARCHES, *ALONG_BOUNDARY])
def test_a_bar_is_silent_where_nobody_looks(function, capfd) -> None:
    function(grid(5, 5), progress=True)
    assert capfd.readouterr() == ("", "")


def test_without_standard_error_no_bar_is_shown(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert count_cycles(grid(5, 5), arch="reference", progress=True).by_length == count_cycles(grid(5, 5)).by_length


@pytest.mark.parametrize("function", [*SEARCHES, *ALONG_BOUNDARY])
def test_wrong_values_are_refused(function) -> None:
    with pytest.raises(OptionError, match="progress must be True, False or a function of one argument, not 5"):
        function(grid(3, 3), progress=5)
    for wrong in (0, -1, float("nan"), "5"):
        with pytest.raises(OptionError, match="timeout must be a number of seconds above 0"):
            function(grid(3, 3), timeout=wrong)


def test_an_error_of_the_caller_ends_the_call() -> None:
    def stop(now: Progress) -> None:
        if now.stage == "searching":
            raise LookupError("enough")

    for function in (*SEARCHES, *ALONG_BOUNDARY):
        with pytest.raises(LookupError, match="enough"):
            function(LONG, progress=stop)


@pytest.mark.slow
@pytest.mark.parametrize("function", SEARCHES)
def test_a_search_that_is_out_of_time_returns_a_part(function) -> None:
    found = function(LONG, timeout=0.3, **({"method": "search"} if function is count_cycles else {}))
    assert found.complete is False
    assert function(nx.petersen_graph(), timeout=60).complete is True


@pytest.mark.parametrize("function", ALONG_BOUNDARY)
def test_what_has_no_part_is_an_error(function) -> None:
    with pytest.raises(TimeIsUpError, match=r"^the 0\.001 s allowed were up before "):
        function(LONG, timeout=0.001)


def test_cycles_are_enumerated_up_to_a_limit() -> None:
    graph = grid(6, 6)
    every = sorted(enumerate_cycles(graph))
    for arch in ("auto", "reference"):
        found = sorted(enumerate_cycles(graph, arch=arch, limit=7))
        assert len(found) == 7
        assert set(map(tuple, found)) <= set(map(tuple, every))
        assert sum(map(len, enumerate_cycles(graph, arch=arch, limit=7).batches())) == 7
    assert sorted(enumerate_cycles(graph, limit=len(every) + 1)) == every


def test_the_clock_runs_only_while_something_is_sought() -> None:
    watch = Watch(timeout=0.05)
    time.sleep(0.06)
    assert not watch.too_late()
    with watch.searching(), watch.paused():
        time.sleep(0.06)
        assert not watch.too_late()
    with watch.searching():
        time.sleep(0.06)
        assert watch.too_late()
    assert watch.too_late()


def test_a_slow_function_is_not_called_at_every_look(monkeypatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("kernels_ti.watch.time.perf_counter", lambda: clock[0])
    told: list[Progress] = []

    def slow(now: Progress) -> None:
        told.append(now)
        clock[0] += 1.0

    watch = Watch(progress=slow)
    for _ in range(10):
        watch.look()
    assert len(told) == 1
    clock[0] += 0.2
    watch.look()
    assert len(told) == 2


def test_a_time_above_every_float_is_no_limit() -> None:
    assert chordless.count_cycles(nx.petersen_graph(), timeout=10**400).complete


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seconds", [np.float32(500), np.float16(500), Fraction(1000, 3), np.int8(100)], ids=repr)
def test_seconds_are_any_real_number(seconds) -> None:
    assert count_cycles(nx.cycle_graph(5), timeout=seconds).complete
    assert estimate_cycles(nx.cycle_graph(5), seconds=seconds).exact


def test_a_bar_draws_none_of_the_random_numbers_of_a_program() -> None:
    code = """
import random
from chordless import count_cycles, generate

before = random.getstate()
count_cycles(generate("cycle:5"), progress=True)
assert random.getstate() == before
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr


def test_a_notebook_without_widgets_gets_lines_that_cover_one_another() -> None:
    code = """
import builtins, sys
from chordless import count_cycles, generate

class ZMQInteractiveShell:
    '''Stands for the shell of a notebook, by whose name rich knows one.'''

builtins.get_ipython, sys.modules["ipywidgets"] = ZMQInteractiveShell, None
count_cycles(generate("grid:6x8"), arch="cpu", progress=True)
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    # `run_python` turns each return to the start of the line into the end of one.
    lines = list(filter(None, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", done.stderr).split("\n")))
    assert any(line.startswith("compiling") for line in lines)
    assert len(set(map(len, lines))) == 1


def test_errors_that_are_documented_can_be_imported() -> None:
    named = set()
    for name in chordless.__all__:
        text = inspect.getdoc(getattr(chordless, name)) or ""
        named |= set(re.findall(r"\b[A-Z]\w+Error\b", text))
    assert {"SizeError", "TimeIsUpError"} <= named
    assert named - {"ValueError"} <= set(chordless.__all__)
