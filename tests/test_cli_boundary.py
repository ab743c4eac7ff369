"""``chordless count --method boundary`` as a process."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from dataclasses import replace

import pytest
from chordless.engine.along_boundary import go_along_boundary
from chordless.engine.channel import CallChannel
from chordless.graphs.load import load_graph
from chordless.graphs.vertex_names import read_order
from chordless.protocol.events import Failed
from chordless.protocol.orders import RunCommand
from patience import PATIENCE
from program import ENVIRONMENT, REFERENCE, chordless, command, count, fails

from kernels_ti import Graph, SizeError

BOUNDARY = ("--method", "boundary", "--progress", "none")


def counted(*arguments):
    found, exit_code = count(*arguments)
    assert exit_code == 0
    return found


@pytest.mark.slow
def test_both_methods_count_the_same():
    found = counted("grid:6x10", *BOUNDARY)
    searched = counted("grid:6x10", "--arch", "cpu")
    assert set(found) == set(searched)
    for key in ("n", "m", "triangles", "chordless_cycles", "total", "by_length", "complete", "share"):
        assert found[key] == searched[key]
    assert (found["total"], found["method"], searched["method"]) == (800139, "boundary", "search")
    assert found["boundary"]["width"] in (7, 8)
    assert found["boundary"]["states"] > 100
    assert searched["boundary"] is None


def test_restrictions_hold_for_both_methods():
    options = ("--through", "0,33", "--avoid", "2", "--min-length", "4", "--max-length", "5")
    found = counted("karate", *options, *BOUNDARY)
    assert found["by_length"] == counted("karate", *options, *REFERENCE)["by_length"] != {}


def test_a_total_alone():
    found = counted("karate", "--total-only", *BOUNDARY)
    assert (found["triangles"], found["chordless_cycles"], found["total"]) == (45, 58, 103)
    assert found["by_length"] is None
    table = chordless("count", "karate", "--total-only", *BOUNDARY).stdout
    assert "total             103" in table
    assert "along a boundary of" in table
    assert "length" not in table


@pytest.mark.slow
def test_vertices_and_edges_are_counted_along_a_boundary_too():
    options = ("grid:4x5", "--per-vertex", "--per-edge", "--max-length", "12")
    found, searched = counted(*options, *BOUNDARY), counted(*options, "--arch", "reference")
    for kind in ("vertices", "edges"):
        assert [(entry["name"], entry["cycles"]) for entry in found[kind]] == [
            (entry["name"], entry["cycles"]) for entry in searched[kind]
        ]
    assert found["total"] == searched["total"]
    assert counted(*options, *BOUNDARY, "--threads", "1")["by_length"] == found["by_length"]
    table = chordless("count", "grid:3x3", "--per-vertex", "--total-only", *BOUNDARY).stdout
    assert "  1,1          4  80.0%\n" in table


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--limit", "4"), "--limit is for --method search"),
        (("--part", "1/2"), "--part is for --method search"),
        (("--arch", "reference"), "--arch reference is for --method search"),
        (("--arch", "vulkan"), "64-bit atomics, which Taichi does not have on Vulkan: choose cpu or cuda"),
        (("--expansion", "paper"), "--expansion is for --method search"),
        (("--total-only", "--max-length", "9"), "--total-only counts all lengths together"),
    ],
)
def test_what_only_a_search_can_do_is_refused(options, message):
    done = chordless("count", "petersen", "--method", "boundary", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_the_option_that_asks_for_a_boundary_is_named():
    done = chordless("count", "petersen", "--total-only", "--limit", "4")
    assert "--limit is for --method search: leave it out, or --total-only" in done.stderr


def test_a_total_alone_is_for_the_boundary():
    done = chordless("count", "petersen", "--total-only", "--method", "search")
    assert done.returncode == 2
    assert "--total-only needs --method boundary" in done.stderr


def test_too_wide_a_boundary_is_one_clear_line():
    done = chordless("count", "complete:300", *BOUNDARY)
    assert fails(done, 2, "a boundary of at most 254 vertices", "it has to be searched (--method search)")


@pytest.mark.parametrize("command", ["longest", "sample"])
def test_a_pick_along_too_wide_a_boundary_names_the_other_method(command):
    done = chordless(command, "complete:300", *BOUNDARY)
    assert fails(done, 2, "a boundary of at most 254 vertices", "it has to be searched (--method search)")


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (("count", *BOUNDARY, "--checkpoint"), "it has to be searched (--method search)"),
        (("longest", "--checkpoint"), "(--method search), which keeps no checkpoint: leave --checkpoint out"),
        (("sample", *BOUNDARY, "-o"), "(--method search), which keeps no checkpoint: leave -o DIR/ out"),
    ],
)
def test_a_run_without_an_order_is_not_kept_and_says_what_does_it(command, advice, tmp_path):
    done = chordless(*command, f"{tmp_path}/run/", "complete:300")
    assert fails(done, 2, "a boundary of at most 254 vertices", advice)
    assert done.stderr.endswith(f"{advice}\n")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "count"),
        ({"min_length": 2}, "count"),
        ({"max_length": 9}, None),
        ({"total_only": True}, None),
        ({"checkpoint": "kept"}, None),
        ({"between": ("0", "7"), "min_length": 2}, "paths"),
        ({"between": ("0", "7"), "min_length": 3}, None),
        ({"between": ("0", "7"), "min_length": 2, "directed": True}, "paths"),
        ({"all_pairs": True, "min_length": 2}, "paths"),
        ({"all_pairs": True, "min_length": 2, "parity": "odd"}, None),
        ({"all_pairs": True, "min_length": 2, "directed": True}, None),
        ({"per_vertex": True}, None),
    ],
)
def test_a_total_alone_is_told_of_where_it_may_be_asked_for(more, told, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("chordless.engine.boundary.host_budget", lambda _: 1 << 10)
    order = RunCommand("petersen", 0.0, method="boundary", **more)
    loaded = load_graph("petersen")
    if order.directed:
        arcs = [(u, (u + step) % 10) for u in range(10) for step in (1, 3)]
        loaded = replace(loaded, graph=Graph.from_edges(10, arcs, directed=True))
    with pytest.raises(SizeError, match=r"more than the 1\.0 KiB allowed") as error:
        go_along_boundary(order, CallChannel(lambda _: None), -1, loaded, None)
    assert ("--total-only" in str(error.value)) == (told is not None)
    assert told is None or str(error.value).endswith(f"; {told} --total-only may need less")
    # The program ends with the exit code of the error.
    assert isinstance(Failed(type(error.value).__name__, "", 2).to_error(), SizeError)


def test_a_time_out_ends_it():
    found, exit_code = count("grid:14x14", *BOUNDARY, "--timeout", "0.3")
    assert (exit_code, found["complete"]) == (4, False)
    assert found["share"] < 1


@pytest.mark.slow
def test_progress_is_shown_and_an_interrupt_ends_it():
    arguments = command("count", "grid:16x16", "--method", "boundary", "--progress", "plain")
    with subprocess.Popen(arguments, stdout=-1, stderr=-1, text=True, env=ENVIRONMENT) as process:
        # A slow machine tells of the compilation first.
        shown = next(
            (line for line in process.stderr if re.search("boundary of [0-9]+ vertices| states held", line)), None
        )
        process.send_signal(signal.SIGINT)
        table, _ = process.communicate(timeout=PATIENCE)
    assert shown, "the run ended and told nothing of its boundary"
    assert process.returncode == 130
    assert "not complete: interrupted" in table


@pytest.mark.slow
def test_an_order_is_written_and_read_again(tmp_path):
    path = tmp_path / "order.txt"
    written = counted("grid:6x10", *BOUNDARY, "--write-order", path)
    assert len(path.read_text().splitlines()) == 60
    assert counted("grid:6x10", *BOUNDARY, "--order", path)["boundary"] == written["boundary"]
    path.write_text("".join(sorted(path.read_text().splitlines(keepends=True), key=len)))
    assert counted("grid:6x10", *BOUNDARY, "--order", path)["by_length"] == written["by_length"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0\n1\n2\n", "order.txt: an order names every vertex of the graph once; 7 missing: 3, 4, 5, ..."),
        ("0\n\n1\n0\n", "order.txt, line 4: the vertex 0 was on line 1 already"),
        ("0\n10\n", "order.txt, line 2: there is no vertex '10'"),
        (None, "cannot read the order in"),
    ],
)
def test_a_bad_order_is_one_clear_line(tmp_path, text, message):
    path = tmp_path / "order.txt"
    if text is not None:
        path.write_text(text)
    assert fails(chordless("count", "petersen", *BOUNDARY, "--order", path), 2, message)


def test_an_order_may_begin_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "order.txt"
    path.write_text("\ufeff2\r\n0\r\n1\r\n")
    assert read_order(str(path), Graph.from_edges(3, [(0, 1)])) == [2, 0, 1]


def test_an_order_is_for_the_boundary(tmp_path):
    for option in ("--order", "--write-order"):
        done = chordless("count", "petersen", option, tmp_path / "order.txt", "--method", "search")
        assert done.returncode == 2
        assert f"{option} needs --method boundary" in done.stderr


@pytest.mark.slow
def test_without_a_method_it_is_chosen_and_said():
    found = chordless("count", "grid:10x10", "--json", "--progress", "none")
    assert json.loads(found.stdout)["method"] == "boundary"
    assert json.loads(found.stdout)["total"] == 7234839185
    # How long a busy machine takes is another number.
    assert re.fullmatch(
        r"counting along a boundary, about [0-9.]+ s: a search takes .* \(--method search makes it\)\n", found.stderr
    )
    asked = chordless("count", "grid:6x9", "--json", "--progress", "none", "--arch", "cpu")
    assert json.loads(asked.stdout)["method"] == "search"
    assert asked.stderr == ""


def test_a_count_that_ends_before_a_search_would_begin_is_made_along_a_boundary():
    found = chordless("count", "grid:6x8", "--json", "--progress", "none")
    assert json.loads(found.stdout)["method"] == "boundary"
    assert json.loads(found.stdout)["by_length"] == counted("grid:6x8", "--method", "search")["by_length"]
    assert found.stderr == (
        "counting along a boundary, which ends before a search would begin (--method search makes it)\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "method"),
    [
        (("--total-only",), "boundary"),
        (("--per-vertex",), "search"),
        (("--per-vertex", "--total-only"), "boundary"),
        (("--limit", "3"), "search"),
        (("--part", "1/2"), "search"),
        (("--expansion", "paper"), "search"),
        (("--arch", "reference"), "search"),
        (("--threads", "1"), "search"),
    ],
)
def test_what_one_method_alone_can_do_decides(options, method):
    found, _ = count("petersen", *options)
    assert found["method"] == method
