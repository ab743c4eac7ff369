"""The command as a user drives it: a process, its output, its exit code."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import app
from app.commands.options import ARCHES, EXPANSIONS
from app.commands.terminal import bytes_text, result_table, seconds_text, short_number
from app.events import Finished, Progress, Started, event_from_json

ROOT = Path(app.__file__).parent.parent
DATA = ROOT.parent / "shared" / "data"
LONG = "grid:7x10"
REFERENCE = ("--arch", "reference")
KEYS = [
    "graph", "n", "m", "max_degree", "triangles", "chordless_cycles", "total", "by_length", "frontier", "paths",
    "complete", "arch", "device", "seconds",
]  # fmt: skip
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}


def command(*arguments):
    return [sys.executable, "-m", "app", *map(str, arguments)]


def chordless(*arguments, **more):
    return subprocess.run(
        command(*arguments), **{"capture_output": True, "text": True, "timeout": 120, "env": ENVIRONMENT, **more}
    )


def count(*arguments, **more):
    done = chordless("count", *arguments, "--json", **more)
    return json.loads(done.stdout), done.returncode


def fails(done, exit_code, *words):
    """Check that a run said in one line what was wrong."""
    assert done.returncode == exit_code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("chordless")
    assert done.stderr.count("\n") == 1, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
    return True


@contextlib.contextmanager
def running(*arguments, tmp_path, until=Progress):
    """Start a long run in a process group of its own, wait for an event; yield it and its engine's pid."""
    events = tmp_path / "events.jsonl"
    process = subprocess.Popen(
        command(*arguments, *REFERENCE, "--events", events),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    try:
        pid = None
        deadline = time.monotonic() + 60
        while pid is None and time.monotonic() < deadline:
            time.sleep(0.05)
            lines = events.read_text().split("\n")[:-1] if events.exists() else []
            read = [event_from_json(line) for line in lines]
            if any(isinstance(event, until) for event in read):
                pid = next(event.pid for event in read if isinstance(event, Started))
        assert pid is not None, "the search did not begin"
        yield process, pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


# Help and usage


def test_help_names_every_command_and_exit_code():
    done = chordless("--help")
    assert done.returncode == 0
    for word in ("count", "list", "info", "generate", "overlap", "exit codes", "130", "chordless count grid:7x10"):
        assert word in done.stdout
    assert chordless().stdout == done.stdout


@pytest.mark.parametrize("name", ["count", "list", "info", "generate", "overlap"])
def test_help_of_a_command_has_an_example_and_fits_80_columns(name):
    done = chordless(name, "--help", env={**ENVIRONMENT, "COLUMNS": "80"})
    assert done.returncode == 0
    assert f"  chordless {name} " in done.stdout or f"  chordless {name}\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_help_of_count_lists_formats_and_specs():
    text = chordless("count", "--help").stdout
    for word in ("graphml", "mtx", "grid:7x10", "gnp:60,0.1,1", "petersen", "les_miserables"):
        assert word in text


def test_version():
    done = chordless("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("chordless ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("cuont", "petersen"),
        ("count",),
        ("count", "petersen", "--min-length", "2"),
        ("count", "petersen", "--min-length", "9", "--max-length", "8"),
        ("count", "petersen", "--limit", "0"),
        ("count", "petersen", "--timeout", "-1"),
        ("count", "petersen", "--timeout", "soon"),
        ("count", "petersen", "--threads", "two"),
        ("count", "petersen", "--arch", "tpu"),
        ("count", "petersen", "--ar", "cpu"),
        ("list", "petersen", "-o", "cycles.csv"),
        ("count", "petersen", "extra"),
    ],
)
def test_wrong_usage_is_two_lines(arguments):
    done = chordless(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("chordless")
    assert done.stderr.count("\n") <= 2


def test_choices_are_those_of_the_engine():
    from kernels_ti import device
    from kernels_ti.run import Options

    assert ("auto", *device.ARCHES) == ARCHES
    assert [Options(expansion=expansion).expansion for expansion in EXPANSIONS] == list(EXPANSIONS)


# Counting


def test_json_has_exactly_the_promised_keys():
    result, exit_code = count("grid:5x6", *REFERENCE)
    assert exit_code == 0
    assert list(result) == KEYS
    assert list(result["frontier"]) == ["peak", "by_length"]
    assert list(result["seconds"]) == ["setup", "enumerate", "total"]
    assert (result["n"], result["m"], result["max_degree"]) == (30, 49, 4)
    assert (result["triangles"], result["chordless_cycles"], result["total"]) == (0, 749, 749)
    assert sum(result["by_length"].values()) == 749
    assert result["frontier"]["peak"] == max(result["frontier"]["by_length"].values())
    assert result["complete"] is True
    assert result["arch"] == "reference"


@pytest.mark.parametrize("arch", ["reference", "cpu"])
def test_bounds_apply_to_every_count(arch):
    result, exit_code = count("wheel:9", "--arch", arch, "--min-length", "4")
    assert exit_code == 0
    assert (result["triangles"], result["total"], result["by_length"]) == (0, 1, {"9": 1})
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


def test_graph_without_cycles_and_without_edges():
    assert chordless("count", "path:5", *REFERENCE).returncode == 0
    result, exit_code = count("path:1", *REFERENCE)
    assert (exit_code, result["total"], result["by_length"], result["frontier"]["peak"]) == (0, 0, {}, 0)


def test_reads_standard_input():
    edges = "1 2\n2 3\n3 4\n4 1\n"
    result, exit_code = count("-", *REFERENCE, input=edges)
    assert (exit_code, result["n"], result["total"]) == (0, 4, 1)


def test_simplify_and_format_reach_the_reader():
    loops = "1 1\n1 2\n2 3\n3 1\n2 1\n"
    assert fails(chordless("count", "-", *REFERENCE, input=loops), 2, "--simplify")
    result, exit_code = count("-", *REFERENCE, "--simplify", "--format", "edgelist", input=loops)
    assert (exit_code, result["triangles"]) == (0, 1)
    assert fails(chordless("count", "-", *REFERENCE, "--format", "visio", input=loops), 2, "visio", "edgelist")


def test_bad_graphs_are_one_line(tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("1 2\n2 three four five\n")
    assert fails(chordless("count", bad, *REFERENCE), 2, "bad.txt:2")
    assert fails(chordless("count", tmp_path / "none.txt", *REFERENCE), 2, "none.txt")
    assert fails(chordless("count", "grid:0x4", *REFERENCE), 2, "grid:0x4")
    assert fails(chordless("count", "gird:3x4", *REFERENCE), 2, "grid")
    assert fails(chordless("list", tmp_path, *REFERENCE), 2, "folder")


def test_a_missing_arch_is_exit_3():
    if any(Path("/dev").glob("nvidia[0-9]*")):
        pytest.skip("this machine has an NVIDIA GPU")
    assert fails(chordless("count", "petersen", "--arch", "cuda"), 3, "cuda")


def test_timeout_is_exit_4_and_says_so():
    result, exit_code = count(LONG, *REFERENCE, "--timeout", "0.5")
    assert (exit_code, result["complete"]) == (4, False)
    assert result["total"] > 0
    done = chordless("count", LONG, *REFERENCE, "--timeout", "0.01m")
    assert done.returncode == 4
    assert "not complete: stopped by --timeout after" in done.stdout


def test_limit_of_a_count_is_a_lower_bound():
    result, exit_code = count(LONG, *REFERENCE, "--limit", "100")
    assert (exit_code, result["complete"]) == (4, False)
    assert result["total"] >= 100
    result, exit_code = count("cycle:5", *REFERENCE, "--limit", "1")
    assert (exit_code, result["complete"]) == (0, True)


def test_plain_progress_goes_to_standard_error_only():
    done = chordless("count", LONG, *REFERENCE, "--timeout", "3", "--progress", "plain", "--json")
    assert "waiting" in done.stderr
    assert json.loads(done.stdout)["total"] > 0
    quiet = chordless("count", LONG, *REFERENCE, "--timeout", "3", "--progress", "plain", "-q")
    assert quiet.stderr == ""


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
    assert fails(chordless("count", "petersen", *REFERENCE, "--events", "/dev/full"), 1, "No space left")


# Listing


def test_list_prints_names_in_cycle_order():
    done = chordless("list", "grid:2x3", *REFERENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == ["0,0 0,1 1,1 1,0", "0,1 0,2 1,2 1,1"]


@pytest.mark.parametrize("arch", ["reference", "cpu"])
def test_list_counts_what_count_counts(arch):
    lines = chordless("list", "grid:5x6", "--arch", arch).stdout.splitlines()
    assert len(lines) == len(set(lines)) == 749


def test_list_to_files(tmp_path):
    text, lines = tmp_path / "cycles.txt", tmp_path / "cycles.jsonl"
    done = chordless("list", "petersen", *REFERENCE, "-o", text)
    assert (done.returncode, done.stdout) == (0, "")
    assert "22 cycles in" in done.stderr
    assert chordless("list", "petersen", *REFERENCE, "-o", lines, "-q").stderr == ""
    from_text = [[int(name) for name in line.split(" ")] for line in text.read_text().splitlines()]
    assert from_text == [json.loads(line) for line in lines.read_text().splitlines()]
    assert len(from_text) == 22


def test_names_with_blanks_are_separated_by_tabs(tmp_path):
    graph = tmp_path / "web.net"
    graph.write_text('*Vertices 3\n1 "blue crab"\n2 "eel"\n3 "shad"\n*Edges\n1 2\n2 3\n1 3\n')
    done = chordless("list", graph, *REFERENCE)
    assert done.stdout == "blue crab\teel\tshad\n"


@pytest.mark.parametrize("limit", [1, 10, 3435])
def test_limit_of_a_listing_is_exact(limit):
    done = chordless("list", "grid:6x6", *REFERENCE, "--limit", limit)
    assert done.returncode == 4
    assert len(done.stdout.splitlines()) == limit
    assert "not complete: stopped by --limit" in done.stderr


def test_a_reader_that_has_enough_is_no_error():
    listing = subprocess.Popen(
        command("list", LONG, *REFERENCE), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    with listing:
        first = listing.stdout.readline()
        listing.stdout.close()
        assert first
        assert listing.wait(60) == 4
        assert listing.stderr.read() == ""


def test_a_closed_pipe_is_quiet_for_every_command():
    for arguments in (["--help"], ["count", "petersen", *REFERENCE], ["generate", "grid:200x200"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            command(*arguments), stdout=writer, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=60, check=False
        )
        os.close(writer)
        assert (done.returncode, done.stderr) == (4, b"")


@pytest.mark.parametrize("arguments", [("list", "grid:6x6", *REFERENCE), ("generate", "grid:9x9"), ("--help",)])
def test_a_full_disk_is_one_line(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command(*arguments),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "chordless: error: cannot write standard output: No space left on device\n"


def test_an_unwritable_output_is_one_line(tmp_path):
    assert fails(chordless("list", "petersen", *REFERENCE, "-o", tmp_path / "no" / "c.txt"), 1, "cannot write")
    assert fails(chordless("generate", "petersen", "-o", tmp_path / "no" / "g.txt"), 1, "cannot write")


# Signals and death


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_reports_what_was_found(tmp_path, number, exit_code):
    with running("count", LONG, "--json", tmp_path=tmp_path) as (process, _):
        os.killpg(process.pid, number)
        output, errors = process.communicate(timeout=30)
    assert process.returncode == exit_code
    assert errors == ""
    result = json.loads(output)
    assert list(result) == KEYS
    assert result["complete"] is False


def test_an_interrupt_before_the_search_ends_everything_at_once():
    process = subprocess.Popen(
        command("count", "-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=ENVIRONMENT, start_new_session=True,
    )  # fmt: skip
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        deadline = time.monotonic() + 60
        while not children.read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read().startswith("chordless: error: interrupted")
        assert process.stdout.read() == ""
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_a_live_line_on_a_terminal_is_taken_away_at_the_end():
    screen, terminal = pty.openpty()
    environment = {**ENVIRONMENT, "TERM": "xterm"}
    done = chordless(
        "count", LONG, *REFERENCE, "--timeout", "2", capture_output=False, stdout=subprocess.PIPE, stderr=terminal,
        env=environment,
    )  # fmt: skip
    os.close(terminal)
    shown = os.read(screen, 1 << 16).decode()
    os.close(screen)
    lines = shown.split("\r\x1b[K")
    assert len(lines) > 2
    assert lines[0] == lines[-1] == ""
    assert all("cycles" in line and len(line) < 80 for line in lines[1:-1])
    assert "\x1b" not in done.stdout


def test_an_interrupted_listing_ends_with_a_whole_line(tmp_path):
    path = tmp_path / "cycles.txt"
    with running("list", LONG, "-o", path, tmp_path=tmp_path) as (process, _):
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    lines = path.read_text().split("\n")
    assert lines.pop() == ""
    assert f"{len(lines):,} cycles in" in errors


def test_an_interrupt_is_heard_while_the_reader_sleeps(tmp_path):
    with running("list", "complete:200", tmp_path=tmp_path, until=Started) as (process, _):
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(30) == 130


def test_the_second_signal_ends_everything_at_once(tmp_path):
    with running("count", LONG, tmp_path=tmp_path) as (process, pid):
        os.kill(pid, signal.SIGSTOP)
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        os.kill(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (130, "")
    assert errors == "chordless: error: interrupted, nothing to report\n"


def test_an_engine_that_is_killed_is_an_error_with_its_last_words(tmp_path):
    with running("count", LONG, tmp_path=tmp_path) as (process, pid):
        os.kill(pid, signal.SIGKILL)
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (1, "")
    assert errors.startswith("chordless: error: the engine was killed (SIGKILL)")
    assert errors.count("\n") == 1


# The other commands


def test_generate_writes_what_count_reads(tmp_path):
    path = tmp_path / "grid.txt"
    assert chordless("generate", "grid:5x6", "-o", path).returncode == 0
    assert path.read_text() == chordless("generate", "grid:5x6").stdout
    result, _ = count(path, *REFERENCE)
    assert (result["graph"], result["total"]) == (str(path), 749)
    assert fails(chordless("generate", "gird:5x6"), 2, "gird")


def test_overlap_writes_what_count_reads(tmp_path):
    web = tmp_path / "web.net"
    web.write_text("*Vertices 5\n1 a\n2 b\n3 c\n4 d\n5 dirt\n*Arcs\n1 2\n1 3\n2 4\n3 4\n5 1\n5 4\n")
    types = tmp_path / "types.clu"
    types.write_text("*Vertices 5\n1\n1\n1\n1\n2\n")
    done = chordless("overlap", web, "--types", types)
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if not line.startswith("#")] == ["2 3"]
    assert fails(chordless("overlap", tmp_path / "none.net"), 2, "none.net")


def test_info_has_a_row_for_every_arch():
    done = chordless("info")
    assert done.returncode == 0
    for arch in ARCHES[1:]:
        assert f"\n{arch} " in done.stdout
    result = json.loads(chordless("info", "--json").stdout)
    assert [report["arch"] for report in result["arches"]] == list(ARCHES[1:])
    usable = {report["arch"]: report["available"] for report in result["arches"]}
    assert usable["reference"]
    assert usable["cpu"]
    assert result["versions"]["numpy"]


# What people see


def finished(by_length, **more):
    values = {
        "reason": "complete", "graph": "g", "n": 9, "m": 9, "max_degree": 9, "cycles": sum(by_length.values()),
        "cycles_by_length": by_length, "paths": 0, "frontier": 0, "frontier_by_length": {}, "listed": 0,
        "device_bytes": 0, "arch": "cpu", "device": "d", "setup_seconds": 1.0, "enumerate_seconds": 1.0,
        "total_seconds": 1.0, **more,
    }  # fmt: skip
    return Finished(**values)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("lengths", [1, 16, 17, 60, 61, 500])
def test_the_table_fits_80_columns_and_loses_nothing(tmp_path, encoding, lengths):
    by_length = {3 + i: 10**i % 99_999_999_999 + 1 for i in range(lengths)}
    with (tmp_path / "table").open("w", encoding=encoding) as stream:
        lines = list(result_table(finished(by_length), None, stream))
        print(*lines, file=stream, sep="\n")
    assert max(map(len, lines)) <= 80
    table = lines[lines.index("") + 2 : -2]
    numbers = [word for line in table for word in line.split() if word.replace(",", "").isdigit() or "-" in word]
    if lengths <= 60:
        assert sorted(int(number.replace(",", "")) for number in numbers) == sorted([*by_length, *by_length.values()])
    else:
        counts = [int(word.replace(",", "")) for word in numbers if "-" not in word]
        assert sum(counts) == sum(by_length.values())


def test_numbers_for_people():
    assert [seconds_text(s) for s in (0.00049, 0.0344, 12.34, 245, 11520)] == [
        "0.5 ms", "34 ms", "12.3 s", "4 min 05 s", "3 h 12 min",
    ]  # fmt: skip
    assert [bytes_text(size) for size in (0, 1023, 1536, 150 << 30)] == ["0 bytes", "1023 bytes", "1.5 KiB", "150 GiB"]
    assert [short_number(value) for value in (0, 950, 12300, 4.56e6, 1e21)] == [
        "0", "950", "12.3 k", "4.56 M", "1e+06 P",
    ]  # fmt: skip
