"""Ctrl-C, SIGTERM and death, at every moment of a run."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from chordless.engine import process as process_module
from chordless.protocol.codec import event_from_json
from chordless.protocol.events import Started
from patience import PATIENCE
from program import (
    COUNT_KEYS,
    ENVIRONMENT,
    LONG,
    ROOT,
    chordless,
    command,
    count,
    events_in,
    lines_of,
    running,
    slow_command,
    without_progress,
)
from test_export import read_columns


def has_found_cycles(run):
    """Return whether a run has reported cycles: its first report may come while a kernel is compiled."""
    if not (run / "events.jsonl").exists():
        return False
    text = (run / "events.jsonl").read_text()
    events = [event_from_json(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    return any(event.name == "progress" and event.cycles for event in events)


def signalled_at_import(module, at_import):
    """Return how `generate petersen` ended in which Python ran some lines of code where a module was to be loaded."""
    scripts = (ROOT / "pyproject.toml").read_text()
    entry, function = re.search(r'^chordless = "(.+):(.+)"$', scripts, re.M).groups()
    code = (
        "import builtins, os, signal, sys\n"
        "load = builtins.__import__\n"
        "def loaded(name, *more):\n"
        f"    if name == {module!r}:\n"
        f"{textwrap.indent(at_import, ' ' * 8)}\n"
        "    return load(name, *more)\n"
        f"sys.modules.pop({module!r}, None)\n"
        "builtins.__import__ = loaded\n"
        f"from {entry} import {function}\n"
        f"sys.exit({function}())"
    )
    started = [sys.executable, "-c", code, "generate", "petersen"]
    done = subprocess.run(started, capture_output=True, text=True, timeout=PATIENCE, env=ENVIRONMENT)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("module", ["typing", "argparse", "chordless.cli", "kernels_ti"])
def test_ctrl_c_while_modules_are_loaded_ends_in_one_line(module):
    ended = signalled_at_import(module, "os.kill(os.getpid(), signal.SIGINT)")
    assert ended == (130, "", "chordless: error: interrupted\n")


@pytest.mark.parametrize(
    ("number", "exit_code", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "ended by SIGTERM")]
)
def test_a_signal_that_a_library_turns_into_an_error_ends_in_one_line(number, exit_code, said):
    # numpy does so while it loads its compiled modules.
    turned = (
        f"try:\n    os.kill(os.getpid(), {int(number)})\n"
        "except KeyboardInterrupt:\n    raise ImportError('numpy cannot be loaded') from None"
    )
    assert signalled_at_import("numpy", turned) == (exit_code, "", f"chordless: error: {said}\n")


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_reports_what_was_found(tmp_path, number, exit_code):
    with running("count", LONG, "--json", tmp_path=tmp_path) as (process, _):
        os.killpg(process.pid, number)
        output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == exit_code
    errors = without_progress(errors)
    # Who sends SIGTERM gets no advice.
    assert errors == "" or (
        number == signal.SIGINT and errors.startswith(f"`chordless count {LONG} --method boundary`")
    )
    assert errors.count("\n") <= 1
    result = json.loads(output)
    assert list(result) == COUNT_KEYS
    assert result["complete"] is False


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.slow
def test_a_signal_leaves_a_checkpoint_and_says_where(tmp_path, number, exit_code):
    run = tmp_path / "run"
    process = subprocess.Popen(
        slow_command("count", "grid:6x9", "--arch", "cpu", "--checkpoint", run, "--json"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, start_new_session=True,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE
        while not has_found_cycles(run) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, number)
        output, errors = process.communicate(timeout=PATIENCE)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == exit_code
    said = without_progress(errors).splitlines()
    assert said[0] == f"to go on from the checkpoint: chordless resume {run}"
    # Whoever waits may be told of the other method.
    assert all("--method boundary" in line for line in said[1:])
    result = json.loads(output)
    assert (result["complete"], result["checkpoint"]) == (False, str(run))
    expected, _ = count("grid:6x9", "--arch", "cpu")
    resumed = json.loads(chordless("resume", run, "--json").stdout)
    assert resumed["by_length"] == expected["by_length"]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("subcommand", ["sample", "longest", "estimate"])
def test_a_signal_ends_what_works_without_an_engine_in_one_line(tmp_path, subcommand, number, exit_code):
    os.mkfifo(tmp_path / "graph.txt")
    process = subprocess.Popen(
        command(subcommand, tmp_path / "graph.txt"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=ENVIRONMENT,
    )  # fmt: skip
    try:
        # The reader of a pipe is there once it can be opened for writing: the command is at work.
        with open(tmp_path / "graph.txt", "w"):
            process.send_signal(number)
            output, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, output) == (exit_code, "")
    said = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    when = "" if subcommand == "estimate" else " before the search began, nothing to report"
    assert without_progress(errors) == f"chordless: error: {said}{when}\n"


def reported_after(number, exit_code, arguments, has_found):
    """Return the JSON that a process prints if it gets a signal once it has found something; it is not complete."""
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        deadline = time.monotonic() + PATIENCE
        while not has_found(process):
            assert process.poll() is None
            assert time.monotonic() < deadline
        process.send_signal(number)
        output, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == exit_code
    result = json.loads(output)
    assert result["complete"] is False
    return result


@pytest.mark.slow
@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.slow_on(signal.SIGTERM)
def test_a_signal_reports_the_longest_cycle_so_far(tmp_path, number, exit_code):
    events = tmp_path / "events.jsonl"
    ask = command("longest", "grid:10x12", "--method", "search", "--json", "--arch", "cpu", "--events", events)

    def has_found(_process):
        time.sleep(0.05)
        return events.exists() and re.search(r'"cycles": [1-9]', events.read_text())

    result = reported_after(number, exit_code, ask, has_found)
    # There are many more cycles of this length than there are short ones.
    assert 8 < result["length"] == len(result["cycle"]) <= result["no_longer_than"]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.slow_on(signal.SIGTERM)
def test_a_signal_reports_the_longest_path_so_far(number, exit_code, tmp_path):
    events = tmp_path / "events.jsonl"
    ask = ("paths", "grid:8x10", "--all-pairs", "--method", "search", "--arch", "cpu", "--json", "--longest")

    def has_found(_process):
        time.sleep(0.05)
        return events.exists() and re.search(r'"cycles": [1-9]', events.read_text())

    result = reported_after(number, exit_code, command(*ask, "--events", events), has_found)
    assert 1 < result["length"] == len(result["path"]) <= result["no_longer_than"] <= 80


@pytest.mark.slow
@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_reports_the_paths_so_far(number, exit_code, tmp_path):
    events = tmp_path / "events.jsonl"
    ask = ("paths", "grid:8x10", "--all-pairs", "--method", "search", "--arch", "cpu", "--json", "--events", events)

    def has_found(_process):
        time.sleep(0.05)
        return events.exists() and re.search(r'"cycles": [1-9]', events.read_text())

    result = reported_after(number, exit_code, command(*ask), has_found)
    assert result["total"] > 1


@contextlib.contextmanager
def compiling(*arguments, tmp_path):
    """Start a search whose first slice holds Python's lock for hours, as a long compilation does; yield the process."""
    hold = (
        "import ctypes, kernels_ti.run as run; advance = run.Run.advance; run.Run.advance = lambda self: "
        "ctypes.PyDLL(None).sleep(9999) if self.snapshot().compiling else advance(self); "
    )
    boot = process_module._BOOT.replace("from chordless.worker", hold + "from chordless.worker")
    code = (
        "import sys; from chordless.engine import process; from chordless.cli import main; "
        f"process._BOOT = {boot!r}; sys.exit(main())"
    )
    events = tmp_path / "events.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments), "--arch", "cpu", "--events", str(events)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, start_new_session=True,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE
        while not (events.exists() and '"compiling": true' in events.read_text()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.slow_on(signal.SIGTERM)
def test_a_signal_ends_a_compilation_and_reports_what_is_known(tmp_path, number, exit_code):
    with compiling("count", "king:5x5", "--method", "search", "--json", tmp_path=tmp_path) as process:
        os.killpg(process.pid, number)
        output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == exit_code
    result = json.loads(output)
    assert list(result) == COUNT_KEYS
    # The triangles are known before the search.
    assert (result["complete"], result["by_length"]) == (False, {"3": 64})


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["npy", "parquet", "arrow"])
@pytest.mark.slow_on("arrow")
def test_a_signal_ends_the_compilation_of_a_listing_and_leaves_whole_files(tmp_path, suffix):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / f"cycles.{suffix}"
    with compiling("list", "grid:6x9", "-o", path, tmp_path=tmp_path) as process:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143
    said = without_progress(errors)
    if suffix == "npy":
        assert said.startswith("not complete: interrupted after ")
        assert said.endswith(f"; 0 cycles in {path}\n")
        assert np.load(path).shape == (0, 1)
        assert os.listdir(folder) == [path.name]
    elif said.startswith("not complete: "):
        # The signal came before the compilation: the search was stopped in good order.
        assert said.endswith(f"; 0 cycles in {path}\n")
        assert read_columns(path).num_rows == 0
        assert os.listdir(folder) == [path.name]
    else:
        assert said == f"chordless: error: interrupted while kernels were compiled; no part of {path} is kept\n"
        assert os.listdir(folder) == []


@pytest.mark.slow
def test_a_run_that_is_interrupted_while_it_compiles_goes_on(tmp_path):
    run = tmp_path / "run"
    with compiling("list", "grid:4x5", "-o", f"{run}/", tmp_path=tmp_path) as process:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "chordless resume" in errors
    assert chordless("resume", run).returncode == 0
    assert lines_of(run) == sorted(chordless("list", "grid:4x5").stdout.splitlines())


def test_a_hang_up_leaves_no_engine(tmp_path):
    with running("count", LONG, tmp_path=tmp_path) as (process, pid):
        os.killpg(process.pid, signal.SIGHUP)
        process.communicate(timeout=PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while Path(f"/proc/{pid}/stat").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not Path(f"/proc/{pid}/stat").exists()


def test_an_interrupt_before_the_search_ends_everything_at_once():
    process = subprocess.Popen(
        command("count", "-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=ENVIRONMENT, start_new_session=True,
    )  # fmt: skip
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        deadline = time.monotonic() + PATIENCE
        while not children.read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert without_progress(process.stderr.read()).startswith("chordless: error: interrupted")
        assert process.stdout.read() == ""
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_an_interrupted_listing_ends_with_a_whole_line(tmp_path):
    path = tmp_path / "cycles.txt"
    with running("list", LONG, "-o", path, tmp_path=tmp_path) as (process, _):
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    lines = path.read_text().split("\n")
    assert lines.pop() == ""
    assert f"{len(lines):,} cycles in" in errors


@pytest.mark.slow
def test_a_terminal_that_is_closed_leaves_a_checkpoint(tmp_path):
    run = tmp_path / "run"
    line = slow_command("count", "grid:6x9", "--arch", "cpu", "--checkpoint", run, "--json")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(line[0], line, ENVIRONMENT)
    try:
        deadline = time.monotonic() + PATIENCE
        while not has_found_cycles(run):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.close(terminal)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 129
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finished = events_in(run)[-1]
    assert (finished.name, finished.reason) == ("finished", "interrupted")
    assert 0 < finished.cycles < 196_918
    assert json.loads(chordless("resume", run, "--json").stdout)["total"] == 196_918


def test_an_interrupt_is_heard_while_the_reader_sleeps(tmp_path):
    with running("list", "complete:200", tmp_path=tmp_path, until=Started) as (process, _):
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) == 130


def test_a_draw_that_is_interrupted_says_how_much_of_it_was_written():
    line = command("sample", "grid:5x5", "-k", 3_000_000, "--method", "boundary")
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        written = 1 + process.stdout.read().count("\n")
        errors = process.stderr.read()
    assert 0 < written < 3_000_000
    assert process.returncode == 130
    assert without_progress(errors) == f"chordless: error: interrupted, {written:,} cycles written\n"


def test_the_second_signal_ends_everything_at_once(tmp_path):
    with running("count", LONG, tmp_path=tmp_path) as (process, pid):
        os.kill(pid, signal.SIGSTOP)
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        # Again where a slow machine took the second for a repeat of the first.
        for _ in range(10):
            os.kill(process.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                output, errors = process.communicate(timeout=10)
                break
    assert (process.returncode, output) == (130, "")
    assert without_progress(errors) == "chordless: error: interrupted, nothing to report\n"


def test_an_engine_that_is_killed_is_an_error_with_its_last_words(tmp_path):
    with running("count", LONG, tmp_path=tmp_path) as (process, pid):
        os.kill(pid, signal.SIGKILL)
        output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (1, "")
    errors = without_progress(errors)
    assert errors.startswith("chordless: error: the engine was killed (SIGKILL)")
    assert errors.count("\n") == 1
