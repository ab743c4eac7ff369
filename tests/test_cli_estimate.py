"""``chordless estimate`` as a user drives it: a process, its output, its exit code."""

from __future__ import annotations

import json
import math
import os
import threading
import time
from argparse import Namespace

import pytest
from chordless.cli import main, make_parser
from chordless.commands.estimate import act
from chordless.commands.trial import Trial
from chordless.graphs.load import load_graph
from chordless.protocol.events import Progress, Started
from chordless.words.numbers import duration_text, round_number
from program import REFERENCE, chordless, fails

from kernels_ti import CountEstimate, EstimatedRange
from kernels_ti.estimate.estimate import Estimator

KEYS = [
    "graph", "n", "m", "max_degree", "triangles", "total", "by_length", "paths", "exact", "probes", "walks",
    "run_seconds", "arch", "device", "trial", "boundary",
]  # fmt: skip
GRID_7_10 = 8_136_453  # more than the reference counts in the second of a trial


def estimated(*arguments, **more):
    done = chordless("estimate", *arguments, *REFERENCE, "--json", **more)
    return json.loads(done.stdout), done.returncode


def test_a_small_graph_is_counted():
    result, exit_code = estimated("petersen")
    assert exit_code == 0
    assert list(result) == KEYS
    assert (result["n"], result["m"], result["max_degree"], result["triangles"]) == (10, 15, 3, 0)
    assert result["total"] == {"estimate": 22, "low": 22, "high": 22}
    assert result["by_length"] == {"5": 12, "6": 10}
    assert result["exact"] is True
    assert result["arch"] == "reference"


def test_the_memory_is_that_of_the_probes_too(capsys, monkeypatch):
    monkeypatch.setattr("chordless.commands.estimate.host_budget", {1 << 30: 100}.__getitem__)
    assert main(["estimate", "grid:30x30", "--memory", "1GiB", *REFERENCE]) == 2
    assert "900 vertices is too large for an estimate; a maximum length, or more --memory," in capsys.readouterr().err


def test_counts_by_length_that_are_exact_are_not_rounded():
    assert "       4   1,296  " in chordless("estimate", "bipartite:9x9", *REFERENCE).stdout


@pytest.mark.slow
def test_a_large_graph_is_estimated():
    result, exit_code = estimated("grid:7x10", "--seconds", "12")
    assert exit_code == 0
    assert list(result) == KEYS
    assert result["exact"] is False
    total = result["total"]
    assert total["low"] <= total["estimate"] <= total["high"]
    assert total["estimate"] == pytest.approx(GRID_7_10, rel=0.5)
    assert sum(result["by_length"].values()) == pytest.approx(total["estimate"])
    assert result["by_length"]["4"] == pytest.approx(54, rel=0.5)
    assert result["probes"] > 1000
    assert result["walks"] > 1
    # As many a second as the trial found: cycles, or paths on a machine so slow that it found next to none.
    # Of the paths that it looks at, half lead to a cycle.
    what = ("cycles", "total", 1) if result["trial"]["cycles"] >= 1000 else ("paths", "paths", 2)
    rate = result["trial"][what[0]] / result["trial"]["seconds"]
    assert result["run_seconds"]["estimate"] == pytest.approx(what[2] * result[what[1]]["estimate"] / rate, rel=0.01)


@pytest.mark.slow
def test_the_other_method_is_named_where_it_is_the_better_one():
    done = chordless("estimate", "grid:7x10", "--seconds", "2", *REFERENCE)
    assert "--method boundary counts them without meeting each: a boundary of " in done.stdout
    result, _ = estimated("grid:7x10", "--seconds", "2")
    assert result["boundary"]["width"] in (8, 9)
    assert 0.001 < result["boundary"]["seconds"] < 1
    result, _ = estimated("complete:300")
    assert result["boundary"] is None


@pytest.mark.slow
def test_the_boundary_is_the_one_that_the_count_uses(monkeypatch, capsys):
    # The search for an order ends by itself, however loaded the machine.
    monkeypatch.setattr("chordless.commands.estimate._ORDERS_UNTIL", 1000)
    assert main(["estimate", "grid:9x10", "--seconds", "0.5", *REFERENCE, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["boundary"]["settled"] is True
    counted = json.loads(chordless("count", "grid:9x10", "--method", "boundary", "--total-only", "--json").stdout)
    assert counted["boundary"]["width"] == result["boundary"]["width"]


@pytest.mark.slow
def test_what_is_out_of_reach_is_called_so():
    """Hundreds of vertices are too wide a boundary as well."""
    done = chordless("estimate", "gnp:250,0.02,1", "--seconds", "20", "--arch", "cpu")
    # The range of probes of so few seconds is known, or too wide to be told.
    known, unknown = (
        "out of reach: there are more than 10^",
        "most likely out of reach: these few probes tell of about 10^",
    )
    assert known in done.stdout or unknown in done.stdout
    # A fast machine has tried all orders in this time.
    settled, so_far = (
        "is out of reach too: the graph has a boundary of ",
        "seems out of reach too: the best order so far has a boundary of ",
    )
    assert f"  --method boundary {settled}" in done.stdout or f"  --method boundary {so_far}" in done.stdout
    assert "years" not in done.stdout


def test_a_graph_that_takes_too_long_to_probe_is_answered_by_the_trial_alone(monkeypatch, capsys):
    monkeypatch.setattr("kernels_ti.estimate.usual_rate._SEED_WORDS_PER_SECOND", 1e-9)
    monkeypatch.setattr(Estimator, "probe", lambda *_: pytest.fail("probed"))
    arguments = ["estimate", "grid:9x10", "--seconds", "0.4", *REFERENCE]
    assert main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["exact"], result["walks"], result["run_seconds"]) == (False, 0, None)
    assert result["total"] == {"estimate": result["trial"]["cycles"], "low": result["trial"]["cycles"], "high": None}
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "  chordless cycles  at least " in printed
    assert "no probe came to its end, so more is not known: allow more time, --seconds\n" in printed


def test_probes_that_found_nothing_tell_no_time(monkeypatch, capsys):
    monkeypatch.setattr("chordless.commands.trial.Trial.goes_on", False)
    nothing = CountEstimate(0, EstimatedRange(0.0, 0.0, math.inf), {}, EstimatedRange(0.0, 0.0, math.inf), False, 1, 1)
    monkeypatch.setattr(Estimator, "estimate", lambda _: nothing)
    assert main(["estimate", "grid:9x10", "--seconds", "0.4", *REFERENCE]) == 0
    printed = capsys.readouterr().out
    assert "  chordless cycles  at least 0\n" in printed
    assert "too few probes for an estimate: allow more time, --seconds\n" in printed
    assert "would take" not in printed


@pytest.mark.parametrize(
    ("cycles_high", "paths_high", "words"),
    [
        (2e6, 2e6, "by 9 probes; 9 ranges out of 10 hold the truth\n"),
        (2e6, math.inf, "by 9 probes; 9 ranges out of 10 hold the truth; `at least` is a lower bound\n"),
        (math.inf, math.inf, "by 9 probes, too few for a range: the numbers are lower bounds\n"),
    ],
)
def test_ranges_are_spoken_of_only_where_there_are_some(cycles_high, paths_high, words, monkeypatch, capsys):
    monkeypatch.setattr("chordless.commands.trial.Trial.goes_on", False)
    told = CountEstimate(
        0, EstimatedRange(1e6, 5e5, cycles_high), {}, EstimatedRange(1e6, 5e5, paths_high), False, 9, 2
    )
    monkeypatch.setattr(Estimator, "estimate", lambda _: told)
    assert main(["estimate", "grid:9x10", "--seconds", "0.4", *REFERENCE]) == 0
    printed = capsys.readouterr().out
    assert words in printed
    assert printed.count("out of 10") == words.count("out of 10")


def test_the_usual_rate_falls_with_the_width_of_the_bit_rows(monkeypatch, capsys):
    """A search of Chicago's roads takes a thread ten times as long for each cycle as one of a grid."""
    monkeypatch.setattr("chordless.commands.trial.Trial.goes_on", False)
    told = CountEstimate(0, EstimatedRange(2e7, 1e7, 3e7), {4: 2e7}, EstimatedRange(5e7, 4e7, 6e7), False, 9, 2)
    monkeypatch.setattr(Estimator, "estimate", lambda _: told)
    arguments = ["estimate", "grid:9x10", "--seconds", "0.4", "--threads", "1", *REFERENCE, "--json"]
    seconds = []
    for words in (1, 6):
        monkeypatch.setattr(Estimator, "words", words)
        assert main(arguments) == 0
        seconds.append(json.loads(capsys.readouterr().out)["run_seconds"])
    assert seconds[0] == {"estimate": 1.0, "low": 0.4, "high": 2.4}
    assert seconds[1]["estimate"] > 8
    assert seconds[1]["low"] == pytest.approx(0.4 * seconds[1]["estimate"])


def test_a_trial_that_tells_paths_allows_for_those_without_a_cycle(monkeypatch, capsys):
    monkeypatch.setattr("chordless.commands.trial.Trial.goes_on", False)
    monkeypatch.setattr("chordless.commands.trial.Trial._measured", (0.1, 10, 1000))
    told = CountEstimate(0, EstimatedRange(2e4, 1e4, 3e4), {4: 2e4}, EstimatedRange(5e4, 4e4, 6e4), False, 9, 2)
    monkeypatch.setattr(Estimator, "estimate", lambda _: told)
    assert main(["estimate", "grid:9x10", "--seconds", "0.4", *REFERENCE, "--json"]) == 0
    seconds = json.loads(capsys.readouterr().out)["run_seconds"]
    assert seconds == pytest.approx({"estimate": 10.0, "low": 4.0, "high": 30.0})


@pytest.mark.parametrize(("high", "has_table"), [(3e5, True), (math.inf, False)])
def test_no_table_by_length_contradicts_a_lower_bound(high, has_table, monkeypatch, capsys):
    """Few probes of Anaheim found 390 cycles, and told of 10^20: too few for a number of either."""
    monkeypatch.setattr("chordless.commands.trial.Trial.goes_on", False)
    told = CountEstimate(0, EstimatedRange(1e5, 390.0, high), {40: 1e5}, EstimatedRange(1e5, 390.0, high), False, 9, 2)
    monkeypatch.setattr(Estimator, "estimate", lambda _: told)
    assert main(["estimate", "grid:9x10", "--seconds", "0.4", *REFERENCE]) == 0
    printed = capsys.readouterr().out
    assert ("\n  length  " in printed) == has_table
    assert ("at least 390\n" in printed) == (not has_table)
    assert "a search looks at more" in printed


class Engine:
    """Reports one event at each question."""

    def __init__(self, events):
        self.events = list(events)
        self.is_closed = False

    def poll(self, _):
        return self.events.pop(0) if self.events else None

    def close(self):
        self.is_closed = True


def trial_of(monkeypatch, *events):
    monkeypatch.setattr("chordless.commands.trial.EngineProcess", lambda command: Engine(events))
    options = make_parser().parse_args(["estimate", "grid:9x10"])
    options.program_start = time.monotonic()
    return Trial(options, "")


def report(seconds, cycles, **more):
    return Progress(seconds, 2 * cycles, cycles, 0, {}, {}, 0, **more)


STARTED = Started("g", 90, 161, 4, "cpu", "d", 0.1, 1, {})


def test_what_is_found_before_the_kernels_are_compiled_is_not_the_rate_of_a_trial(monkeypatch):
    loaded = load_graph("grid:9x10")
    trial = trial_of(monkeypatch, STARTED, report(0.001, 5), report(0.002, 7, compiling=True))
    assert not trial.is_searching
    assert trial.goes_on
    assert trial.has_started
    assert not trial.is_searching, "one core compiles, the others are free"
    found = trial.result(loaded)
    assert (found.cycles, found.enumerate_seconds, found.device) == (0, 0.0, "d")
    events = [report(0.001, 5, compiling=True), report(0.1, 1_000), report(0.6, 500_000)]
    trial = trial_of(monkeypatch, STARTED, *events)
    assert not trial.goes_on, "half a second of search is enough"
    assert trial.is_searching
    found = trial.result(loaded)
    assert (found.graph, found.cycles, found.paths) == ("grid:9x10", 499_995, 999_990)
    assert found.enumerate_seconds == pytest.approx(0.599)


def test_the_time_counts_from_the_start_of_the_program(monkeypatch):
    trial = trial_of(monkeypatch)
    assert trial.goes_on
    assert 1.0 < trial.seconds_left < 1.5 < trial.seconds_until(1.0) <= 2.0
    monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + 1.5)
    assert not trial.goes_on, "it has not started, so it tells nothing in time"


def test_the_engine_starts_before_the_graph_is_read(monkeypatch, capsys):
    begun = []
    monkeypatch.setattr("chordless.commands.trial.EngineProcess", lambda command: begun.append(Engine([])) or begun[0])
    monkeypatch.setattr("chordless.commands.estimate.graph_asked_for", lambda _: begun[0].poll(0) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        act(make_parser().parse_args(["estimate", "petersen"], namespace=Namespace(program_start=time.monotonic())))
    assert begun[0].is_closed


def test_a_graph_from_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("1 2\n2 3\n3 4\n4 1\n",), daemon=True)
    writer.start()
    result, exit_code = estimated(pipe)
    assert (exit_code, result["n"], result["total"]["estimate"]) == (0, 4, 1)


def test_the_answer_comes_after_two_seconds_by_default():
    assert make_parser().parse_args(["estimate", "grid:9x10"]).seconds == 2


@pytest.mark.slow
def test_the_other_method_is_not_named_where_the_search_is_faster():
    # A search of many times the seconds in which an estimate tries it.
    done = chordless("estimate", "gnp:84,0.1,1", "--seconds", "6", "--arch", "cpu")
    assert "a run would take about " in done.stdout
    # A machine on which a search takes long may be told that the boundary is out of reach, too.
    assert "--method boundary counts" not in done.stdout


@pytest.mark.slow
def test_bounds_reach_the_search_and_the_probes():
    result, _ = estimated("wheel:9", "--max-length", "8")
    assert (result["triangles"], result["by_length"]) == (9, {"3": 9})
    result, _ = estimated("grid:7x10", "--min-length", "30", "--max-length", "34", "--seconds", "10")
    assert set(result["by_length"]) <= {"30", "32", "34"}
    assert result["total"]["estimate"] > 100_000


@pytest.mark.slow
def test_tables_for_people():
    done = chordless("estimate", "petersen", *REFERENCE)
    assert done.returncode == 0
    assert done.stderr == ""
    # The same bars as those of `count`.
    for words in ("petersen", "chordless cycles  22", "counted, not estimated", "on reference", f"12  {'█' * 40}\n"):
        assert words in done.stdout
    assert "about" not in done.stdout
    done = chordless("estimate", "grid:7x10", *REFERENCE, "--seconds", "8")
    assert done.returncode == 0
    for words in ("about", "million", "a run would take about", "s/s", "on reference", "9 ranges out of 10"):
        assert words in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_forest_has_none():
    result, exit_code = estimated("path:5")
    assert (exit_code, result["total"]["estimate"], result["by_length"]) == (0, 0, {})


def test_standard_input_is_read_once():
    result, exit_code = estimated("-", input="1 2\n2 3\n3 4\n4 1\n")
    assert (exit_code, result["graph"], result["n"], result["total"]["estimate"]) == (0, "-", 4, 1)


def test_errors_are_one_line(tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("1 2\n2 three four five\n")
    assert fails(chordless("estimate", bad), 2, "bad.txt:2")
    assert fails(chordless("estimate", "-", input="1 1\n1 2\n"), 2, "--simplify")
    for wrong in (("--seconds", "0"), ("--seed", "-1"), ("--min-length", "5", "--max-length", "4")):
        done = chordless("estimate", "petersen", *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert wrong[0] in done.stderr or wrong[2] in done.stderr


@pytest.mark.parametrize("walks", [0, 3])
def test_ctrl_c_prints_what_is_known(walks, monkeypatch, capsys):
    def interrupted(estimator, seconds):
        for _ in range(walks):
            estimator.add_walk(100)
        raise KeyboardInterrupt

    monkeypatch.setattr(Estimator, "probe", interrupted)
    assert main(["estimate", "grid:7x10", *REFERENCE]) == 130
    printed = capsys.readouterr()
    assert "interrupted" in printed.err
    assert ("chordless cycles  about" in printed.out) == (walks > 0)
    assert "1e308" not in printed.out


def test_durations_and_counts_are_short():
    year = 365.25 * 86400
    texts = {0.0004: "1 ms", 0.25: "250 ms", 12.3: "12 s", 150: "2.5 minutes", 7200: "2 hours", 250_000: "2.9 days"}
    assert {seconds: duration_text(seconds) for seconds in texts} == texts
    assert duration_text(1.1 * year) == "1 year"
    assert duration_text(40 * year) == "40 years"
    assert duration_text(2.5e3 * year) == "2,500 years"
    assert duration_text(2.5e9 * year) == "2.5 billion years"
    assert duration_text(math.inf) == "longer than can be said"
    assert (round_number(12.0), round_number(7.15e7), round_number(math.inf)) == ("12", "7.2e7", "over 1e308")


@pytest.mark.slow
def test_without_one_whole_walk_there_are_lower_bounds_only():
    done = chordless("estimate", "gnp:600,0.1,1", "--seconds", "0.001", "--arch", "cpu")
    assert done.returncode == 0
    assert "at least" in done.stdout
    assert "no probe came to its end" in done.stdout
    assert "about" not in done.stdout
