"""``chordless bench table1``, and what both benchmarks have in common. No time is looked at but by its form."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import astuple
from pathlib import Path

import pytest
from benches import REFERENCE, TIMES, probed_once, report, run
from chordless.bench import listing, process, table1
from chordless.bench.measure import Column, Outcome, figures, markdown_table, text_table
from chordless.bench.process import Ended, WarmProcess
from chordless.bench.programs import BenchGraph
from chordless.bench.table1 import PaperFigures, PaperRow
from chordless.graphs.load import load_graph
from known import NUMBERS
from test_layers import loaded_by

from kernels_ti import ChordlessError, EngineError, OptionError

__all__ = ["probed_once"]

popen = subprocess.Popen


# The paper's figures.


def test_the_figures_are_those_of_the_paper():
    printed = json.loads((NUMBERS / "table1.json").read_text())
    assert [row.name for row in table1.ROWS] == [row["name"] for row in printed]
    for ours, expected in zip(table1.ROWS, printed, strict=True):
        assert (ours.figures is None) == ("n" not in expected)
        if ours.figures is not None:
            names = ("n", "m", "delta", "c3", "clc", "tseq_ms", "tpar_proc_ms", "tpar_total_ms", "speedup")
            assert astuple(ours.figures) == tuple(expected[name] for name in names)


# Table 1.


def test_table1_on_small_rows(capsys):
    exit_code, result, errors = report(capsys, "table1", *REFERENCE, "--rows", "wheel_100,GRID_5x6,Goiania")
    assert (exit_code, result["problems"], result["complete"]) == (0, [], True)
    assert errors == "1/3  Goiania\n2/3  Wheel_100\n3/3  Grid_5x6\n"
    assert set(result) == {
        "bench", "legend", "chordless", "command", "date", "machine", "settings", "complete", "notes", "problems",
        "rows",
    }  # fmt: skip
    assert set(result["machine"]) == {
        "cpu", "cores", "memory", "load", "system", "python", "arch", "device", "device_memory",
    }  # fmt: skip
    assert result["settings"] == {
        "arch": "reference",
        "threads": None,
        "repeat": 1,
        "sequential_timeout": 60.0,
        "sequential": None,
    }
    goiania, wheel, grid = result["rows"]
    assert (goiania["here"], goiania["agree"], goiania["paper"]["chordless_cycles"]) == (None, None, 9311)
    assert (wheel["agree"], grid["agree"]) == (True, True)
    here = wheel["here"]
    assert (here["graph"], here["n"], here["m"], here["max_degree"]) == ("wheel:100", 101, 200, 100)
    assert (here["triangles"], here["chordless_cycles"], here["by_length"]) == (100, 1, {"3": 100, "100": 1})
    assert [one["name"] for one in here["times"]] == ["T_seq", "T_par-proc", "T_par-total"]
    for one in (*here["times"], *grid["here"]["times"]):
        assert set(one) == TIMES
        assert one["stopped"] is one["error"] is None
        assert one["seconds"] == [one["median"]]
    assert grid["here"]["speedup_is_lower_bound"] is False
    sequential, _, total = (one["median"] for one in grid["here"]["times"])
    assert grid["here"]["speedup"] == pytest.approx(sequential / total, rel=0.01)


@pytest.mark.slow
def test_the_table_fits_and_has_the_paper_s_figures_beside_ours(capsys):
    assert run("table1", *REFERENCE, "--rows", "K_8_8,???") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 120
    times = ["T_seq", "proc", "total", "speedup"]
    assert lines[1].split() == ["graph", "n", "m", "Delta", "C3", "#clc", *times, *times, "agree"]
    assert lines[2].split() == ["???", *"-" * 14]
    cells = lines[3].split()
    assert cells[:10] == ["K_8_8", "16", "64", "8", "0", "784", "0.473", "0.197", "0.599", "0.790"]
    assert all(float(cell) > 0 for cell in cells[10:14])
    assert cells[14] == "yes"
    assert "a city without a name" in lines[-1]


def test_without_a_folder_the_rows_from_files_are_left_out(monkeypatch, capsys):
    rows = [row for row in table1.ROWS if row.name in ("CrystalD", "SiouxFalls", "C_100")]
    monkeypatch.setattr(table1, "ROWS", rows)
    exit_code, result, _ = report(capsys, "table1", *REFERENCE)
    assert (exit_code, [row["name"] for row in result["rows"]]) == (0, ["C_100"])
    assert any("left out" in note and "CrystalD, SiouxFalls" in note for note in result["notes"])


@pytest.fixture
def small_web(tmp_path, monkeypatch):
    """A folder with a food web of four predators in a ring and one vertex that is not alive, and its row."""
    folder = tmp_path / "data" / "webs"
    folder.mkdir(parents=True)
    arcs = [(prey, predator) for prey in range(4) for predator in (prey, (prey + 1) % 4)]
    lines = [f"{prey + 5} {predator + 1} 1" for prey, predator in arcs]
    (folder / "Small.net").write_text("*Vertices 9\n*Arcs\n" + "\n".join([*lines, "9 1 1", "9 3 1"]) + "\n")
    (folder / "Small.clu").write_text("*Vertices 9\n" + "1\n" * 8 + "2\n")

    def with_counts(**figures: int) -> str:
        right = {"n": 9, "m": 4, "max_degree": 2, "triangles": 0, "chordless_cycles": 1}
        cells = PaperFigures(**{**right, **figures}, sequential=1, processing=1, total=1, speedup=1)
        monkeypatch.setattr(table1, "ROWS", (PaperRow("Small", cells, file="Small.net"),))
        return str(tmp_path / "data")

    return with_counts


def test_a_food_web_goes_through_the_niche_overlap(small_web, capsys):
    exit_code, result, _ = report(capsys, "table1", *REFERENCE, "--data", small_web())
    (row,) = result["rows"]
    assert (exit_code, row["agree"], row["note"]) == (0, True, None)
    assert (row["here"]["n"], row["here"]["m"], row["here"]["by_length"]) == (9, 4, {"4": 1})


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [{"chordless_cycles": 2}, {"triangles": 3}])
def test_another_count_than_the_paper_s_is_a_disagreement(small_web, capsys, wrong):
    assert run("table1", *REFERENCE, "--data", small_web(**wrong)) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines()[2].endswith("NO")
    (line,) = [line for line in printed.err.splitlines() if "error" in line]
    assert line.startswith("chordless: error: Small: the counts disagree")


def test_another_size_than_the_paper_s_is_a_note(small_web, capsys):
    exit_code, result, _ = report(capsys, "table1", *REFERENCE, "--data", small_web(m=8))
    assert (exit_code, result["rows"][0]["agree"]) == (0, True)
    assert result["notes"] == ["Small: m is 4, not 8"]


def test_a_file_that_is_not_in_the_folder_leaves_dashes(small_web, tmp_path, capsys):
    small_web()
    empty = tmp_path / "empty"
    empty.mkdir()
    exit_code, result, _ = report(capsys, "table1", *REFERENCE, "--data", str(empty))
    assert (exit_code, result["rows"][0]["here"]) == (0, None)
    assert "there is no Small.net" in result["notes"][0]


def test_schedules_that_disagree_are_found(monkeypatch, capsys):
    counts = {"search": {4: 784}, "rows": {5: 784}}
    monkeypatch.setattr(
        WarmProcess,
        "once",
        lambda _, graph, wanted: Outcome(0.1, count={"c3": 0, "clc": 784}, by_length=counts[wanted]),
    )
    exit_code, result, _ = report(capsys, "table1", *REFERENCE, "--rows", "K_8_8")
    assert (exit_code, len(result["problems"])) == (1, 1)
    assert "T_par-total" in result["problems"][0]


@pytest.mark.slow
def test_the_sequential_algorithm_is_stopped_and_a_sweep_is_not(capsys):
    argv = ["table1", "--arch", "cpu", "--rows", "Grid_6x10", "--repeat", "1", "--seq-timeout", "0.2"]
    exit_code, result, _ = report(capsys, *argv)
    here = result["rows"][0]["here"]
    sequential, *ours = here["times"]
    assert (exit_code, result["rows"][0]["agree"], here["chordless_cycles"]) == (0, True, 800139)
    assert (sequential["stopped"], sequential["median"], sequential["seconds"]) == ("> 0.2 s", None, [])
    assert [len(one["seconds"]) for one in ours] == [1, 1]
    assert here["speedup_is_lower_bound"] is True
    assert here["speedup"] == pytest.approx(0.2 / ours[1]["median"], rel=0.01)


# Interruption, files, usage.


def test_an_interrupt_before_anything_was_measured(monkeypatch):
    def interrupt(*_):
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(10)

    monkeypatch.setattr(table1, "count_once", interrupt)
    with pytest.raises(ChordlessError, match="nothing to report") as caught:
        run("table1", *REFERENCE, "--rows", "K_8_8")
    assert caught.value.exit_code == 130


def test_the_report_goes_to_a_file_beside_the_table(capsys, tmp_path):
    path = tmp_path / "table1.json"
    assert run("table1", *REFERENCE, "--rows", "C_100", "--json", str(path)) == 0
    assert "C_100" in capsys.readouterr().out
    assert json.loads(path.read_text())["rows"][0]["agree"] is True
    with pytest.raises(EngineError, match="cannot write"):
        run("table1", *REFERENCE, "--rows", "C_100", "--json", str(tmp_path / "none" / "table1.json"))


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["table1", "--rows", "Grid_9x9"], "no such row; it has CrystalD, "),
        (["table1", "--rows", "Mondego"], "--data DIR says where"),
        (["table1", "--data", "/nowhere/at/all"], "no such folder"),
        (["peers", "--program", "fake=true"], "no place in it"),
        (["peers", "--program", "{el}"], "right is 'NAME=COMMAND {el}'"),
        (["peers", "--program", "fake=/nowhere/at/all {el}"], "no program /nowhere/at/all"),
        (["peers", "--program", "fake='true {el}"], "No closing quotation"),
        (["peers", "--program", "networkx=sh {el}"], "two programs of that name"),
        (["peers", "nowhere.txt"], "no such file"),
    ],
)
def test_wrong_usage_is_told_before_anything_runs(argv, words):
    with pytest.raises(ChordlessError) as caught:
        run(*argv)
    assert caught.value.exit_code == OptionError.exit_code == 2
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "BENCH"),
        (["table1", "--rows", ","], "no name is given"),
        (["peers", "--json", "grid:6x10"], "ends in .json"),
        (["peers", "--json", "--markdown"], "both print"),
        (["peers", "--repeat", "0"], "not above 0"),
    ],
)
def test_a_wrong_command_line(capsys, argv, words):
    with pytest.raises(SystemExit) as caught:
        run(*argv)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err


def test_an_engine_that_fails_leaves_the_others(monkeypatch, capsys):
    monkeypatch.setattr(process, "in_child", lambda _: "raise SystemExit('no luck')")
    exit_code, result, _ = report(capsys, "table1", *REFERENCE, "--rows", "K_8_8")
    (row,) = result["rows"]
    assert (exit_code, row["agree"], row["here"]["speedup"]) == (1, True, None)
    told = "the engine ended with exit code 1: no luck"
    assert result["problems"] == [f"K_8_8: T_par-proc: {told}", f"K_8_8: T_par-total: {told}"]
    assert [one["stopped"] for one in row["here"]["times"]] == [None, "failed", "failed"]


def test_a_missing_arch_is_told_before_anything_runs(capsys):
    if any(Path("/dev").glob("nvidia[0-9]*")):
        pytest.skip("this machine has an NVIDIA GPU")
    with pytest.raises(ChordlessError) as caught:
        run("table1", "--rows", "C_100", "--arch", "cuda")
    assert caught.value.exit_code == 3
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("kind", ["table1", "peers"])
def test_help_loads_nothing_heavy(kind):
    code = f"from chordless.cli import main; main(['bench', {kind!r}, '--help'])"
    loaded, printed = loaded_by(code)
    assert loaded == []
    assert "--markdown" in printed


# Parts.


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (0.00001234, "0.0000123"), (0.00034, "0.000340"), (0.18499, "0.185"), (0.7, "0.700"),
        (0.99951, "1.00"), (1.982, "1.98"), (9.996, "10.0"), (54.84, "54.8"), (99.96, "100"), (36955.47, "36,955"),
    ],
)  # fmt: skip
def test_numbers_have_three_figures(value, text):
    assert figures(value) == text


def test_tables():
    columns = [Column("name", left=True), Column("x", "both"), Column("y", "both")]
    rows = [["a", "1", "20"], ["long|er", "300", "4"]]
    assert list(text_table(columns, rows)) == [
        "         - both",
        "name       x   y",
        "a          1  20",
        "long|er  300   4",
    ]
    assert list(markdown_table(columns, rows))[0::3] == ["| name | both: x | both: y |", "| long\\|er | 300 | 4 |"]
    assert list(text_table(columns[:1], [])) == ["name"]


# Listing.


WAYS = [
    "count",
    "rows",
    "batches",
    "lists",
    "search",
    "search rows",
    "kept",
    ".npy",
    ".txt",
    "pipe",
    "folder",
    "Parquet",
    "Arrow",
]


def listing_row(tmp_path, ways=listing.WAYS):
    graph = BenchGraph("cycle:5", load_graph("cycle:5").graph, tmp_path)
    return listing.ListingRow(graph, WarmProcess("cpu", None), "cpu", None, ways)


def test_one_process_makes_all_searches_and_another_follows_if_it_dies(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(
        subprocess, "Popen", lambda *given, **more: started.append(popen(*given, **more)) or started[-1]
    )
    file = BenchGraph("complete:6", load_graph("complete:6").graph, tmp_path).file
    with WarmProcess("reference", None) as process:
        for wanted in ("count", "rows", "batches", "lists", "search", "search rows", "rows"):
            outcome = process.once(file, wanted)
            assert (outcome.count, outcome.seconds > 0) == ({"c3": 20, "clc": 0}, True)
        with pytest.raises(EngineError, match="keeps its cycles on the host"):
            process.once(file, "kept")
        with pytest.raises(EngineError, match="no such file"):
            process.once(str(tmp_path / "none.txt"), "rows")
        assert len(started) == 1
        os.kill(started[0].pid, signal.SIGKILL)
        with pytest.raises(EngineError, match="exit code -9"):
            process.once(file, "count")
        assert process.once(file, "count").count == {"c3": 20, "clc": 0}
    assert [each.poll() for each in started] == [-9, -9]


def test_a_way_to_list_that_loses_cycles_is_a_problem(tmp_path):
    row = listing_row(tmp_path)
    assert [one.name for one in row.series] == WAYS
    assert row.series[7].command == "chordless list cycle:5 --arch cpu --quiet -o c.npy"
    for one, seconds in zip(row.series, (0.5, 1.0, 0.75, 2.0, *range(3, 12)), strict=True):
        one.seconds, one.count = [seconds], {"cycles": 10}
    row.series[0].count = {"c3": 4, "clc": 6}
    assert list(row.problems) == []
    cells = list(row.cells())
    assert cells[0] == ("cycle:5", "10", "count", "1", "0.500", "0.500", "0.500", "20", "1.0", "-")
    assert cells[1][8:] == ("2.0", figures(80 / 1e9)), "10 rows of 8 bytes in a second"
    assert cells[2][8:] == ("1.5", "-")
    assert cells[3][6:9] == ("2.00", "5", "4.0")
    assert [line[8] for line in cells[7:]] == ["-"] * 6
    row.series[7].count = {"cycles": 9}
    assert list(row.problems) == [
        "cycle:5: the counts disagree: .npy found 9 cycles, count 4 triangles and 6 longer cycles"
    ]


def test_an_output_of_the_run_before_is_not_measured_again(tmp_path, monkeypatch):
    there = []

    def look(arguments, environment):
        output = Path(arguments[-1 - len(sys.path)])
        there.append(output.exists())
        output.write_bytes(b"1 2 3\n")
        return Ended(0, 1.0, "", "")

    monkeypatch.setattr(process, "run_process", look)
    row = listing_row(tmp_path)
    text = row.series[WAYS.index(".txt")]
    text.run_again()
    text.run_again()
    assert (there, text.count, text.error) == ([False, False], {"cycles": 1}, None)
    told = row.to_json()["series"][WAYS.index(".txt")]
    assert (told["bytes"], told["bytes_per_second"]) == (6, 6)


def test_some_ways_to_list(tmp_path, capsys):
    assert [one.name for one in listing_row(tmp_path, ["pipe", "rows"]).series] == ["count", "rows", "pipe"]
    with pytest.raises(
        OptionError, match=r"--ways csv: there is no such way; there are count, rows, batches, lists, search, "
    ):
        run("listing", "petersen", "--ways", "rows,csv")


@pytest.mark.slow
def test_bench_listing_has_every_cycle_in_every_way(capsys):
    exit_code, result, _ = report(capsys, "listing", "complete:6", "--arch", "cpu", "--repeat", "1")
    assert (exit_code, result["problems"]) == (0, [])
    [row] = result["rows"]
    assert (row["cycles"], [one["name"] for one in row["series"]]) == (20, WAYS)
    assert all(one["median"] > 0 for one in row["series"] if one["stopped"] is None)
