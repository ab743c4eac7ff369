"""Ctrl-C, SIGTERM and death, at every moment of a run."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest
from chordless.protocol.codec import event_from_json
from chordless.protocol.events import Started
from patience import PATIENCE
from program import (
    COUNT_KEYS,
    ENVIRONMENT,
    LONG,
    chordless,
    command,
    count,
    events_in,
    running,
    slow_command,
    without_progress,
)


def has_found_cycles(run):
    """Return whether a run has reported cycles: its first report may come while a kernel is compiled."""
    if not (run / "events.jsonl").exists():
        return False
    text = (run / "events.jsonl").read_text()
    events = [event_from_json(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    return any(event.name == "progress" and event.cycles for event in events)


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_reports_what_was_found(tmp_path, number, exit_code):
    with running("count", LONG, "--json", tmp_path=tmp_path) as (process, _):
        os.killpg(process.pid, number)
        output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == exit_code
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
        assert process.stderr.read().startswith("chordless: error: interrupted")
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
