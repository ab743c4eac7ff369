"""``chordless bench start``: short commands, cold and warm, and the reading of a large file."""

from __future__ import annotations

from pathlib import Path

import pytest
from benches import REFERENCE, probed_once, report, run
from chordless.bench import process, start
from chordless.bench.process import Ended
from chordless.graphs.load import load_graph

from kernels_ti.taichi_door.libraries import library

__all__ = ["probed_once"]


def test_bench_start_measures_cold_and_warm_and_a_large_file(capsys, monkeypatch):
    short = (("--help",), ("count", "cycle:5"))
    monkeypatch.setattr(start, "DEFAULT_STARTS", short)
    exit_code, result, _ = report(capsys, "start", *REFERENCE, "--lines", "500")
    assert (exit_code, result["problems"], result["settings"]["lines"]) == (0, [], 500)
    assert [row["command"] for row in result["rows"]] == ["--help", "count cycle:5 --arch reference", "500 lines"]
    names = [[one["name"] for one in row["series"]] for row in result["rows"]]
    assert names == [["warm"], ["cold", "warm"], ["read"]]
    assert all(one["median"] > 0 for row in result["rows"] for one in row["series"])
    assert [row["memory_per_byte"] is not None for row in result["rows"]] == [False, False, True]


@pytest.mark.slow
def test_bench_start_measures_graphs_of_the_user_until_there_are_cycles(capsys):
    assert run("start", *REFERENCE, "complete:6") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("count complete:6 --min-length 4 --limit 1 --arch reference  cold")
    assert lines[2].split()[0] == "warm"
    assert max(map(len, lines)) <= 120


def test_on_cuda_a_search_that_is_worth_a_gpu_is_measured_alone(tmp_path):
    (row,) = start.rows(tmp_path, [], "cuda", None, 1)
    assert row.title == "count grid:8x10 --arch cuda"


def test_a_start_that_fails_is_a_problem(capsys, tmp_path):
    exit_code, result, errors = report(capsys, "start", *REFERENCE, str(tmp_path / "none.txt"))
    assert exit_code == 1
    assert "no such file" in result["problems"][0]
    assert "no such file" in errors


def test_the_cold_run_has_no_kernels_and_the_warm_run_those_of_the_cold(tmp_path, monkeypatch):
    seen = []

    def look(arguments, environment):
        cache = Path(environment["XDG_CACHE_HOME"])
        seen.append(sorted(path.name for path in cache.iterdir()))
        (cache / "kernel").touch()
        return Ended(0, 1.0, "", "")

    monkeypatch.setattr(process, "run_process", look)
    monkeypatch.setenv(library().variable("OFFLINE_CACHE_FILE_PATH"), str(tmp_path / "other"))
    for row in start.rows(tmp_path, ["cycle:5"], "auto", None, 1):
        row.measure(2)
    assert seen == [[], ["kernel"], [], ["kernel"]]


def test_the_large_edge_list_is_the_same_each_time(tmp_path):
    for name in ("one", "other"):
        start.write_large_edge_list(tmp_path / name, 300)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    assert 250 < load_graph(str(tmp_path / "one")).graph.m <= 300
