"""The picture of a run, folded from its events."""

from __future__ import annotations

import math
import random
import sys
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path

import pytest
from chordless.protocol.events import Checkpointed, Failed, Finished, Log, Paused, Progress, Started
from chordless.protocol.recording import timed_event
from chordless.runs import state as run_state
from chordless.runs.state import LogLine, RunState
from chordless.tui.run_words import phase_words, trouble_words
from chordless.tui.widgets.tiles import RateSparkline

RECORDING = Path(__file__).parent / "grid-9x10.jsonl"
STARTED = Started("cycle:5", 5, 5, 2, "cpu", "a CPU", 0.5, 1, {"memory": None}, directory="/runs/a")


def recorded():
    return [timed_event(line) for line in RECORDING.read_bytes().splitlines(keepends=True)]


def progress(paths, cycles, seconds=1.0, **more):
    return Progress(seconds, paths, cycles, 7, {3: paths}, {4: cycles}, 100, share=0.5, **more)


def finished(reason="complete", **more):
    values = {"checkpoint": "/runs/a", "share": 1.0, "peak_memory_bytes": 9, **more}
    return Finished(reason, "cycle:5", 5, 5, 2, 3, {4: 3}, 9, 0, {3: 9}, 0, 0, "cpu", "a CPU", 0.5, 2.0, 2.5, **values)


def phases(events):
    state, seen = RunState(), []
    for event in events:
        state = state.after([event])
        if not seen or seen[-1] != state.phase:
            seen.append(state.phase)
    return seen


def test_the_courses_have_no_gap_where_the_search_stood_still_or_went_back():
    reports = [(0.5, 10), (0.5, 10), (1.0, 30), (1.5, 60)]
    resumed = [(1.0, 30), (1.0, 30), (1.5, 50)]
    events = [STARTED, *(progress(paths, 0, seconds) for seconds, paths in reports)]
    events += [
        Failed("EngineError", "killed", 5),
        STARTED,
        *(progress(paths, 0, seconds) for seconds, paths in resumed),
    ]
    state = RunState()
    for at, event in enumerate(events):
        state = state.after([(float(at), event)])
    assert state.path_course.pieces == ({3: 10}, {3: 20}, {3: 30}, {3: 20})
    assert len(state.frontier_course.pieces) == 4
    assert RunState().after(list(enumerate(events))).path_course == state.path_course


def test_a_recorded_run():
    state = RunState().after(recorded())
    assert (state.phase, state.reason, state.share, state.frontier) == ("finished", "complete", 1.0, 0)
    assert (state.cycles, state.paths) == (668_179_142, 3_154_616_427)
    assert sum(state.cycles_by_length.values()) == state.cycles
    assert sum(state.frontier_by_length.values()) == state.paths
    assert (state.graph, state.n, state.m, state.max_degree, state.arch) == ("grid:9x10", 90, 161, 4, "cpu")
    assert (state.checkpoint_cycles, state.options["memory"]) == (668_179_142, 1 << 30)
    assert state.directory == "/home/ada/runs/grid-9x10"
    assert state.cycles_low < state.cycles_estimate < state.cycles_high
    assert not state.can_resume
    assert [line.text for line in state.log] == [
        "search began: grid:9x10 on cpu (AMD EPYC)",
        "paused",
        "goes on",
        "checkpoint at 19,250,045 cycles",
        "checkpoint at 32,173,677 cycles",
        "stopped: 32,173,677 cycles",
        "resumed: grid:9x10 on cpu (AMD EPYC)",
        "checkpoint at 535,047,660 cycles",
        "checkpoint at 668,179,142 cycles",
        "complete: 668,179,142 cycles",
    ]
    assert phases(recorded()) == ["running", "paused", "running", "finished", "running", "finished"]
    assert state.began == recorded()[0][0]
    assert state.changed == recorded()[-1][0]


def test_a_checkpoint_without_cycles_is_told_in_english():
    state = RunState().after([(1.0, STARTED), (2.0, Checkpointed("/run/checkpoint", 0, 0, 100))])
    assert state.log[-1].text == "checkpoint at 0 cycles"


def test_the_notes_of_the_reader_are_those_of_the_last_start():
    state = RunState().after([(1.0, replace(STARTED, notes=["cycle.csv:1: taken for a heading"]))])
    assert state.notes == ("cycle.csv:1: taken for a heading",)
    assert state.after([(2.0, STARTED)]).notes == ()


def test_it_does_not_matter_how_the_events_are_batched():
    events = recorded()
    whole = RunState().after(events)
    for seed in range(5):
        cuts = [0, *sorted(random.Random(seed).choices(range(len(events) + 1), k=4 * seed)), len(events)]
        state = RunState()
        for begin, end in pairwise(cuts):
            state = state.after(iter(events[begin:end]))
        assert state == whole
    assert whole.after([]) is whole


@pytest.mark.slow
def test_many_events_make_one_picture(monkeypatch):
    """A dataclass made for each event would take minutes for the recording of a long run."""
    made = []
    monkeypatch.setattr(run_state, "replace", lambda *args, **kw: (made.append(1), replace(*args, **kw))[1])
    state = RunState().after((float(i), progress(10 * i, i)) for i in range(100_000))
    assert len(made) == 1
    assert (state.paths, state.cycles, state.began, state.changed) == (999_990, 99_999, 0.0, 99_999.0)
    assert state.path_rates == (10.0,) * run_state.RATES_KEPT
    assert state.cycle_rates == (1.0,) * run_state.RATES_KEPT


def test_rates_are_of_the_time_that_was_searched():
    events = [
        (100.0, STARTED),
        # Of a resumed run: nothing says how long these took.
        (100.1, progress(1000, 100)),
        (101.1, progress(1500, 120)),
        # In a hurry.
        (101.11, progress(1600, 130)),
        (102.1, progress(1700, 140, 2.0)),
        # It waited in the pipe, and was read together with the one before.
        (102.2, progress(1900, 150, 4.0)),
        (102.2, Paused()),
        (900.0, progress(1950, 160, 4.1)),
        (901.0, progress(2050, 260, 5.1)),
    ]
    state = RunState().after(events)
    assert state.path_rates == pytest.approx((500, 200, 100, 100))
    assert state.cycle_rates == pytest.approx((20, 20, 5, 100))


def test_no_rate_is_of_the_time_in_which_kernels_compile():
    compiling = replace(progress(100, 10, 0.1), compiling=True)
    events = [
        (100.0, STARTED),
        (100.0, progress(0, 0, 0.0)),
        (100.1, compiling),
        # Compiled.
        (102.1, progress(100, 10, 0.1)),
        (103.1, progress(1100, 110, 1.1)),
    ]
    assert RunState().after(events).path_rates == pytest.approx((1000, 1000))


def test_more_cycles_than_a_float_can_hold_have_a_rate():
    events = [(100.0, STARTED), (101.0, progress(10, 0)), (102.0, progress(30, 10**400))]
    state = RunState().after(events)
    assert (state.path_rates, state.cycle_rates, state.cycles) == ((20.0,), (math.inf,), 10**400)


def test_any_rate_has_bars():
    sparkline = RateSparkline()
    sparkline.show((5.0, math.inf))
    assert sparkline.data == (0.0, 5.0, sys.float_info.max)


def test_a_run_that_was_stopped_can_be_resumed():
    state = RunState().after([(1.0, STARTED), (2.0, finished("interrupted", share=0.25))])
    assert (state.phase, state.reason, state.can_resume, state.share) == ("finished", "interrupted", True, 0.25)
    assert (state.seconds, state.peak_memory_bytes) == (2.0, 9)
    again = state.after([(3.0, STARTED)])
    assert (again.phase, again.reason, again.can_resume, again.began) == ("running", None, False, 1.0)
    done = again.after([(4.0, finished())])
    assert (done.phase, done.can_resume) == ("finished", False)
    elsewhere = RunState().after([(3.0, replace(STARTED, options={"resume": True}))])
    assert [line.text for line in elsewhere.log] == ["resumed: cycle:5 on cpu (a CPU)"]
    nowhere = RunState().after([(1.0, replace(STARTED, directory=None)), (2.0, finished("limit", checkpoint=None))])
    assert not nowhere.can_resume


def test_a_run_that_failed():
    failed = Failed("EngineError", "the engine was killed", 5)
    state = RunState().after([(1.0, STARTED), (2.0, Checkpointed("/runs/a/checkpoint", 2, 0, 99)), (3.0, failed)])
    assert (state.phase, state.error, state.can_resume) == ("failed", "the engine was killed", True)
    assert (state.checkpoint_cycles, state.checkpoint_time) == (2, 2.0)
    assert state.log[-1] == LogLine(3.0, "failed: the engine was killed")
    assert state.lost() == state
    again = state.after([(4.0, STARTED)])
    assert (again.error, again.can_resume) == (None, False)
    assert again.log[-1].text == "resumed: cycle:5 on cpu (a CPU)"
    early = RunState().after([(1.0, failed)])
    assert (early.phase, early.can_resume) == ("failed", False)


def test_a_run_that_was_lost_and_found():
    state = RunState().after([(1.0, STARTED), (2.0, progress(5, 1))]).lost()
    assert (state.phase, state.can_resume) == ("lost", True)
    assert not RunState().after([(1.0, Log("x"))]).lost().can_resume
    found = state.after([(3.0, progress(6, 1))])
    assert (found.phase, found.can_resume) == ("running", False)


def test_an_estimate_stands_until_there_is_a_newer_one():
    before = RunState(cycles_estimate=50.0, cycles_low=40.0, cycles_high=60.0)
    state = before.after([(1.0, STARTED), (2.0, progress(1, 1))])
    assert (state.cycles_estimate, state.cycles_low, state.cycles_high) == (50.0, 40.0, 60.0)
    state = state.after([(3.0, progress(2, 2, cycles_estimate=55.0, cycles_low=50.0))])
    assert (state.cycles_estimate, state.cycles_low, state.cycles_high) == (55.0, 50.0, None)


def test_the_log_is_bounded_and_keeps_the_newest():
    state = RunState().after([(float(i), Log(f"line {i}")) for i in range(run_state.LOG_LINES_KEPT + 7)])
    assert len(state.log) == run_state.LOG_LINES_KEPT
    assert (state.log[0].text, state.log[-1].text) == ("line 7", f"line {run_state.LOG_LINES_KEPT + 6}")
    assert state.phase == "starting"


def test_everything_that_a_report_says_is_in_the_picture():
    assert {item.name for item in fields(Progress)} <= {item.name for item in fields(RunState)}


def test_a_run_that_the_user_ends_at_once_is_stopped_and_has_not_failed():
    ended = Failed("EngineError", "stopped at once", 5, stopped=True)
    state = RunState().after([(1.0, STARTED), (2.0, Checkpointed("/runs/a/checkpoint", 2, 0, 99)), (3.0, ended)])
    assert (state.phase, state.reason, state.can_resume) == ("finished", "interrupted", True)
    assert state.log[-1] == LogLine(3.0, "stopped at once")
    assert phase_words(state).word == "stopped"
    assert "resume from the checkpoint at 2 cycles" in trouble_words(state, "r", "1")
    early = RunState().after([(1.0, replace(ended, message="stopped before the search began"))])
    assert trouble_words(early, "r", "1").startswith("Stopped before the search began.")
