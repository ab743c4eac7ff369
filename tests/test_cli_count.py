"""``chordless count`` as a user drives it: a process, its output, its exit code."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from chordless.protocol.codec import event_from_json
from chordless.protocol.events import Finished, Started
from patience import PATIENCE
from program import COUNT_KEYS, ENVIRONMENT, LONG, REFERENCE, chordless, command, count, fails


def test_json_has_exactly_the_promised_keys():
    result, exit_code = count("grid:5x6", *REFERENCE)
    assert exit_code == 0
    assert list(result) == COUNT_KEYS
    assert list(result["frontier"]) == ["peak", "by_length"]
    assert list(result["seconds"]) == ["setup", "enumerate", "write", "other", "total"]
    assert (result["n"], result["m"], result["max_degree"]) == (30, 49, 4)
    assert (result["triangles"], result["chordless_cycles"], result["total"]) == (0, 749, 749)
    assert sum(result["by_length"].values()) == 749
    assert result["frontier"]["peak"] == max(result["frontier"]["by_length"].values())
    assert (result["complete"], result["share"], result["checkpoint"]) == (True, 1.0, None)
    assert result["peak_memory_bytes"] > 1 << 20
    assert result["arch"] == "reference"


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["reference", "cpu"])
def test_bounds_apply_to_every_count(arch):
    result, exit_code = count("wheel:9", "--arch", arch, "--min-length", "4")
    assert exit_code == 0
    assert (result["triangles"], result["total"], result["by_length"]) == (None, 1, {"9": 1})
    result, _ = count("wheel:9", "--arch", arch, "--max-length", "8")
    assert (result["triangles"], result["total"], result["by_length"]) == (9, 9, {"3": 9})


def test_table_for_people():
    done = chordless("count", "grid:5x6", *REFERENCE)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    for word in ("grid:5x6", "749", "triangles", "largest degree", "reference"):
        assert word in done.stdout
    assert "not complete" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "title"),
    [
        (("--max-length", "8"), "grid:5x6, cycles of 3 to 8 vertices"),
        (("--min-length", "5"), "grid:5x6, cycles of 5 or more vertices"),
        (("--min-length", "6", "--max-length", "6"), "grid:5x6, cycles of 6 vertices"),
        (
            ("--min-length", "5", "--max-length", "8", "--part", "2/3"),
            "grid:5x6, part 2 of 3, cycles of 5 to 8 vertices",
        ),
        (("--part", "1/1"), "grid:5x6, part 1 of 1"),
    ],
)
def test_a_count_of_some_cycles_does_not_look_like_one_of_all(bounds, title):
    assert chordless("count", "grid:5x6", "--arch", "cpu", *bounds).stdout.splitlines()[0] == title


def test_json_says_which_cycles_were_counted():
    result, _ = count("grid:5x6", "--arch", "cpu", "--min-length", "5", "--max-length", "8", "--part", "2/3")
    assert (result["graph"], result["min_length"], result["max_length"], result["part"]) == ("grid:5x6", 5, 8, [2, 3])


def test_graph_without_cycles_and_without_edges():
    assert chordless("count", "path:5", *REFERENCE).returncode == 0
    result, exit_code = count("path:1", *REFERENCE)
    assert (exit_code, result["total"], result["by_length"], result["frontier"]["peak"]) == (0, 0, {}, 0)


def test_reads_standard_input():
    edges = "1 2\n2 3\n3 4\n4 1\n"
    result, exit_code = count("-", *REFERENCE, input=edges)
    assert (exit_code, result["n"], result["total"]) == (0, 4, 1)
    assert chordless("count", "-", *REFERENCE, input=edges).stdout.splitlines()[0] == "standard input"


def test_simplify_and_format_reach_the_reader():
    loops = "1 1\n1 2\n2 3\n3 1\n2 1\n"
    assert fails(chordless("count", "-", *REFERENCE, input=loops), 2, "--simplify")
    result, exit_code = count("-", *REFERENCE, "--simplify", "--format", "edgelist", input=loops)
    assert (exit_code, result["triangles"]) == (0, 1)
    assert fails(chordless("count", "-", *REFERENCE, "--format", "visio", input=loops), 2, "visio", "edgelist")


@pytest.mark.slow
def test_bad_graphs_are_one_line(tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("1 2\n2 three four five\n")
    assert fails(chordless("count", bad, *REFERENCE), 2, "bad.txt:2")
    assert fails(chordless("count", tmp_path / "none.txt", *REFERENCE), 2, "none.txt")
    assert fails(chordless("count", "grid:0x4", *REFERENCE), 2, "grid:0x4")
    assert fails(chordless("count", "gird:3x4", *REFERENCE), 2, "grid")
    assert fails(chordless("list", tmp_path, *REFERENCE), 2, "folder")
    assert fails(chordless("count", " ", *REFERENCE), 2, "' '")


def test_a_graph_that_takes_more_memory_to_split_than_is_allowed_is_refused_before():
    done = chordless("count", "grid:2x140000", "--arch", "cpu", "--memory", "72M")
    assert fails(done, 2, "--memory 72.0 MiB is too small", "splitting the graph into blocks takes 24.6 MiB more")


def test_a_missing_arch_is_exit_3():
    if any(Path("/dev").glob("nvidia[0-9]*")):
        pytest.skip("this machine has an NVIDIA GPU")
    assert fails(chordless("count", "petersen", "--arch", "cuda"), 3, "cuda")


@pytest.mark.slow
def test_timeout_is_exit_4_and_says_so():
    result, exit_code = count(LONG, *REFERENCE, "--timeout", "1")
    assert (exit_code, result["complete"]) == (4, False)
    assert result["total"] > 0
    done = chordless("count", LONG, *REFERENCE, "--timeout", "0.01m")
    assert done.returncode == 4
    assert "not complete: stopped by --timeout after" in done.stdout


def test_limit_of_a_count_is_a_lower_bound():
    result, exit_code = count("grid:6x8", *REFERENCE, "--limit", "100")
    assert (exit_code, result["complete"]) == (4, False)
    assert result["total"] >= 100
    result, exit_code = count("cycle:5", *REFERENCE, "--limit", "1")
    assert (exit_code, result["complete"]) == (0, True)


def test_events_are_recorded_and_readable(tmp_path):
    path = tmp_path / "events.jsonl"
    assert chordless("count", "grid:5x6", *REFERENCE, "--events", path).returncode == 0
    lines = path.read_text().splitlines()
    events = [event_from_json(line) for line in lines]
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert events[-1].cycles == 749
    assert all("time" in json.loads(line) for line in lines)
    assert fails(chordless("count", "petersen", "--events", tmp_path / "no" / "events"), 1, "cannot write")
    assert fails(
        chordless("count", "petersen", *REFERENCE, "--events", "/dev/full"), 1, "cannot record", "No space left"
    )


ARCS = "1 -> 2\n2 -> 3\n3 -> 1\n3 -> 4\n4 -> 5\n5 -> 3\n4 -> 4\n1 -> 6\n6 -> 1\n"


@pytest.mark.slow
def test_a_directed_graph_is_counted_as_it_is():
    result, exit_code = count("-", *REFERENCE, "--min-length", "1", input=ARCS)
    assert exit_code == 0
    assert (result["m"], result["by_length"], result["chordless_cycles"]) == (9, {"1": 1, "2": 1, "3": 1}, 0)
    assert count("-", *REFERENCE, "--simplify", input=ARCS)[0]["by_length"] == {"3": 2}
    assert count("-", *REFERENCE, "--directed", input=ARCS.replace("->", ""))[0]["by_length"] == {"3": 1}
    assert count("-", *REFERENCE, "--multigraph", input="1 2\n1 2\n")[0]["total"] == 0
    assert count("-", "--method", "boundary", "--min-length", "1", input=ARCS)[0]["by_length"] == {
        "1": 1,
        "2": 1,
        "3": 1,
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--expansion", "paper"), ("the expansion of the paper is for simple undirected graphs", "is directed")),
        (("--directed", "--simplify"), ("--directed and --simplify exclude each other",)),
        (("--multigraph", "--simplify"), ("--multigraph and --simplify exclude each other",)),
    ],
)
def test_what_a_directed_graph_cannot_have_is_said_in_one_line(options, words):
    assert fails(chordless("count", "-", "-q", *options, input=ARCS), 2, *words)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bounds", [("--min-length", "1"), ("--min-length", "2", "--max-length", "5"), ("--length", "2")]
)
def test_bounds_below_three_are_for_every_graph(bounds):
    wanted = {} if "--length" in bounds else {"5": 1}
    assert count("cycle:5", *REFERENCE, *bounds)[0]["by_length"] == wanted


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="needs /dev/fd")
def test_a_graph_comes_from_a_descriptor_of_the_shell(tmp_path):
    (tmp_path / "graph.txt").write_text("1 2\n2 3\n3 4\n4 1\n")
    line = f"{shlex.join(command('count', '/dev/fd/9', '--json', '--arch', 'cpu'))} 9< {tmp_path}/graph.txt"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=ENVIRONMENT, timeout=PATIENCE)
    assert json.loads(done.stdout)["by_length"] == {"4": 1}, done.stderr
