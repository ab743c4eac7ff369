"""Runs that are killed at every moment, with their engine or without it, and resumed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time

import pytest
from chordless.protocol.codec import event_from_json
from chordless.protocol.events import Finished, Started
from patience import PATIENCE
from program import ENVIRONMENT, chordless, count, events_in, fails, lines_of, slow_command, whole_run, without_progress

GRAPH = "grid:6x9"
CPU = ("--arch", "cpu")
OFTEN = ("--checkpoint-every", "0.05")


class Killed:
    """A run in a process group of its own, that is killed with its engine."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            slow_command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT,
            start_new_session=True, text=True,
        )  # fmt: skip

    def wait_for(self, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, self.process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        return self.process.returncode


def sessions_in(directory, kind=b"started"):
    path = directory / "events.jsonl"
    return path.read_bytes().count(b'{"event": "%s"' % kind) if path.exists() else 0


def kill_again_and_again(directory, times, *first):
    """Begin a run, kill it at a random moment, resume it, kill that, and so on; return the checkpoints written."""
    rng = random.Random(7)
    for i in range(times):
        run = Killed(*(first if i == 0 else ("resume", directory)), *OFTEN)
        # In the middle of the search, or anywhere after or before its beginning.
        kind = b"checkpointed" if i % 3 == 0 else b"started" if i % 3 == 1 else None
        before = sessions_in(directory, kind) if kind else 0
        if kind:
            run.wait_for(lambda kind=kind, before=before: sessions_in(directory, kind) > before)
        time.sleep(rng.uniform(0, 0.1 if i % 3 == 0 else 1))
        assert run.kill() == -signal.SIGKILL, "the run was over before it was killed"
    return sessions_in(directory, b"checkpointed")


# A session finds ten thousand cycles in its first slice: the more sessions, the larger the graph must be.
TIMES, LARGER = 20, "grid:6x10"


@pytest.mark.slow
def test_a_count_that_is_killed_again_and_again(tmp_path):
    run = tmp_path / "run"
    first = ("count", LARGER, *CPU, "--threads", "1", "--checkpoint", run)
    assert kill_again_and_again(run, TIMES, *first) > 0
    done = chordless("resume", run, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["by_length"] == count(LARGER, *CPU)[0]["by_length"]


@pytest.mark.parametrize("output", ["cycles.txt", "cycles/"])
@pytest.mark.slow
def test_a_listing_that_is_killed_again_and_again(tmp_path, output):
    path = tmp_path / output
    run = path if path.suffix == "" else tmp_path / "run"
    keeping = () if path == run else ("--checkpoint", run)
    first = ("list", LARGER, *CPU, "--threads", "1", "-o", f"{tmp_path}/{output}", *keeping)
    assert kill_again_and_again(run, TIMES, *first) > 0
    done = chordless("resume", run, "--threads", "2")
    assert done.returncode == 0, done.stderr
    (tmp_path / "whole").mkdir()
    by_length, lines = whole_run(LARGER, tmp_path / "whole")
    assert f"{sum(by_length.values()):,} cycles in" in done.stderr
    assert lines_of(path) == lines


@pytest.mark.slow
def test_a_killed_engine_says_how_to_go_on(tmp_path):
    run = tmp_path / "run"
    killed = Killed("count", GRAPH, *CPU, "--checkpoint", run)
    try:
        killed.wait_for(lambda: sessions_in(run))
        os.kill(next(event.pid for event in events_in(run) if isinstance(event, Started)), signal.SIGKILL)
        errors = without_progress(killed.process.communicate(timeout=PATIENCE)[1])
    finally:
        killed.kill()
    assert killed.process.returncode == 1
    assert errors.count("\n") == 1
    assert errors.endswith(f"chordless resume {run}\n")
    assert chordless("resume", run).returncode == 0


@pytest.mark.slow
def test_a_client_that_is_killed_alone_frees_the_directory(tmp_path):
    run = tmp_path / "run"
    killed = Killed("count", GRAPH, *CPU, "--checkpoint", run)
    try:
        killed.wait_for(lambda: sessions_in(run))
        killed.process.kill()
        killed.process.wait()
        done = chordless("resume", run, "--json")
    finally:
        killed.kill()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["by_length"] == count(GRAPH, *CPU)[0]["by_length"]


@pytest.mark.slow
def test_two_engines_never_work_in_one_directory(tmp_path):
    run = tmp_path / "run"
    first = Killed("count", GRAPH, *CPU, "--threads", "1", "--checkpoint", run)
    try:
        first.wait_for(lambda: sessions_in(run))
        os.killpg(first.process.pid, signal.SIGSTOP)
        assert fails(chordless("resume", run), 2, "another engine is at work")
        assert fails(chordless("count", GRAPH, *CPU, "--checkpoint", run), 2, "holds a run already")
    finally:
        first.kill()
    assert sessions_in(run) == 1
    assert chordless("resume", run).returncode == 0


def test_a_second_ctrl_c_says_how_to_go_on(tmp_path):
    run = tmp_path / "run"
    killed = Killed("count", GRAPH, *CPU, "--checkpoint", run)
    try:
        killed.wait_for(lambda: sessions_in(run))
        engine = next(event.pid for event in events_in(run) if isinstance(event, Started))
        os.kill(engine, signal.SIGSTOP)
        deadline = time.monotonic() + PATIENCE
        while killed.process.poll() is None and time.monotonic() < deadline:
            os.kill(killed.process.pid, signal.SIGINT)
            time.sleep(0.3)
        errors = without_progress(killed.process.communicate(timeout=PATIENCE)[1])
    finally:
        killed.kill()
    assert killed.process.returncode == 130
    assert errors == (f"chordless: error: interrupted, to go on from the last checkpoint: chordless resume {run}\n")


@pytest.mark.slow
def test_the_recording_is_whole_lines_after_a_kill(tmp_path):
    run = tmp_path / "run"
    kill_again_and_again(run, 2, "count", GRAPH, *CPU, "--checkpoint", run)
    with (run / "events.jsonl").open("a") as stream:
        stream.write('{"event": "progr')
    assert chordless("resume", run).returncode == 0
    lines = (run / "events.jsonl").read_text().splitlines()
    assert all("time" in json.loads(line) for line in lines)
    assert isinstance(event_from_json(lines[-1]), Finished)
