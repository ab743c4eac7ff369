"""The engine process as its client sees it: events, stop, death, and that nothing is left behind."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

import app
from app.client import Engine
from app.events import (
    DeviceReport,
    Failed,
    Finished,
    Log,
    ProbeCommand,
    Progress,
    RunCommand,
    Started,
    StopCommand,
    command_from_json,
    command_to_json,
    event_from_json,
    event_to_json,
)
from kernels_ti.errors import DeviceError, EngineError, GraphError

ROOT = Path(app.__file__).parent.parent
LONG = "grid:7x10"


def run_of(graph, **more):
    return RunCommand(graph, time.time(), arch="reference", **more)


def events_of(command, **more):
    with Engine(command, **more) as engine:
        return list(engine.events())


def wait_for(engine, kind):
    while (event := engine.poll(60)) is not None:
        if isinstance(event, kind):
            return event
    raise AssertionError(f"no {kind.__name__} came")


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


EVENTS = [
    Started("a b", 1, 2, 3, "cpu", "device", 0.5, 77, {"limit": None}),
    Progress(1.5, 2**70, 3, 4, {3: 2**65, 10: 1}, {4: 2**64}, 1 << 40, 9),
    Finished("timeout", "g", 1, 2, 3, 4, {3: 4}, 5, 6, {3: 7}, 8, 9, "cuda", "H\u00e9", 0.1, 0.2, 0.3),
    Failed("GraphError", "no such file", 2),
    DeviceReport("vulkan", False, message="no driver"),
    Log("[Taichi] something"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_an_event_reads_back_as_it_was(event):
    line = event_to_json(event, time=12.5)
    assert "\n" not in line
    assert event_from_json(line) == event


@pytest.mark.parametrize("command", [run_of("x", limit=3, output="-"), ProbeCommand("cpu"), StopCommand()])
def test_a_command_reads_back_as_it_was(command):
    assert command_from_json(command_to_json(command)) == command


def test_events_of_later_programs():
    known = json.loads(event_to_json(EVENTS[1]))
    assert event_from_json(json.dumps({**known, "share_done": 0.5})) == EVENTS[1]
    newer = {**json.loads(event_to_json(EVENTS[0])), "version": 99}
    with pytest.raises(EngineError, match="version 99"):
        event_from_json(json.dumps(newer))


@pytest.mark.parametrize("line", ["", "[]", "{", '{"event": "dance"}', '{"event": "failed"}', b"\xff"])
def test_what_is_no_event_is_an_error(line):
    with pytest.raises(EngineError):
        event_from_json(line)


def test_a_run_from_start_to_end():
    started, *_, finished = events_of(run_of("grid:5x6"))
    assert isinstance(started, Started)
    assert (started.graph, started.n, started.m, started.max_degree) == ("grid:5x6", 30, 49, 4)
    assert isinstance(finished, Finished)
    assert finished.complete
    assert finished.cycles == sum(finished.cycles_by_length.values()) == 749
    assert 0 < finished.setup_seconds <= finished.total_seconds


def test_progress_is_reported_at_most_ten_times_a_second():
    events = events_of(run_of(LONG, timeout=1))
    reports = [event for event in events if isinstance(event, Progress)]
    assert 1 <= len(reports) <= 1 + 10 * events[-1].total_seconds
    assert all(earlier.cycles <= later.cycles for earlier, later in pairwise(reports))


def test_stop_ends_a_run_with_what_it_found():
    with Engine(run_of(LONG)) as engine:
        progress = wait_for(engine, Progress)
        engine.stop()
        finished = wait_for(engine, Finished)
    assert finished.reason == "interrupted"
    assert finished.cycles >= progress.cycles
    assert is_gone(engine.pid)


def test_leaving_the_block_leaves_no_child():
    with Engine(run_of(LONG)) as engine:
        wait_for(engine, Started)
    assert is_gone(engine.pid)


def test_poll_gives_up_in_time_and_after_the_end():
    with Engine(run_of(LONG)) as engine:
        wait_for(engine, Started)
        os.kill(engine.pid, signal.SIGSTOP)
        silent = [engine.poll(0.01) for _ in range(200)]
        assert silent[-1] is None
        os.kill(engine.pid, signal.SIGCONT)
        engine.stop()
        wait_for(engine, Finished)
        assert engine.poll() is None


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_child_that_dies_is_a_failure_that_says_how(number):
    with Engine(run_of(LONG)) as engine:
        os.kill(wait_for(engine, Started).pid, number)
        failed = wait_for(engine, Failed)
        assert engine.poll() is None
    assert number.name in failed.message
    assert failed.exit_code == 1
    assert isinstance(failed.to_error(), EngineError)


def test_the_last_words_of_a_child_are_kept(monkeypatch):
    boot = "import os; os.write(2, b'first\\nout of luck'); os._exit(7)"
    monkeypatch.setattr("app.client._BOOT", boot)
    failed = events_of(run_of(LONG))[-1]
    assert failed.message == "the engine ended with exit code 7 before it was done; its last words: out of luck"


def test_terminal_signals_are_left_to_the_parent():
    with Engine(run_of(LONG)) as engine:
        os.kill(engine.pid, signal.SIGINT)
        os.kill(engine.pid, signal.SIGTERM)
        pid = wait_for(engine, Started).pid
        os.kill(pid, signal.SIGINT)
        os.kill(pid, signal.SIGTERM)
        wait_for(engine, Progress)
        assert not is_gone(pid)


def test_a_child_whose_parent_dies_ends():
    code = (
        "import time; from app.client import Engine; from app.events import RunCommand, Started\n"
        f"engine = Engine(RunCommand({LONG!r}, time.time(), arch='reference'))\n"
        "print(next(event.pid for event in engine.events() if isinstance(event, Started)), flush=True)\n"
        "time.sleep(600)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    pid = int(parent.stdout.readline())
    try:
        parent.kill()
        parent.wait()
        deadline = time.monotonic() + 30
        while not is_gone(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert is_gone(pid)
    finally:
        parent.stdout.close()
        if not is_gone(pid):
            os.kill(pid, signal.SIGKILL)


def test_a_bad_graph_and_a_missing_arch_keep_their_classes():
    (failed,) = events_of(run_of("no-such-file.txt"))
    assert failed.exit_code == 2
    assert isinstance(failed.to_error(), GraphError)
    assert isinstance(Failed("DeviceError", "no CUDA", 3).to_error(), DeviceError)
    assert type(Failed("ZeroDivisionError", "internal error", 1).to_error()) is EngineError


def test_a_bug_in_the_engine_is_told_with_its_traceback():
    command = RunCommand("cycle:5", time.time(), arch="cpu", threads="two")
    (failed,) = (event for event in events_of(command) if isinstance(event, Failed))
    assert (failed.kind, failed.exit_code) == ("TypeError", 1)
    assert failed.message.startswith("internal error: TypeError")
    assert "Traceback" in failed.traceback


def test_probe_of_the_reference():
    report = events_of(ProbeCommand("reference"))[-1]
    assert isinstance(report, DeviceReport)
    assert report.available
    assert report.device


def test_recording_holds_every_event_with_its_time():
    recording = io.StringIO()
    before = time.time()
    events = events_of(run_of("grid:4x4"), recording=recording)
    lines = recording.getvalue().splitlines()
    assert [event_from_json(line) for line in lines] == events
    times = [json.loads(line)["time"] for line in lines]
    assert times == sorted(times)
    assert before - 1 < times[0] < time.time() + 1


def test_a_death_is_recorded_too():
    recording = io.StringIO()
    with Engine(run_of(LONG), recording=recording) as engine:
        wait_for(engine, Started)
        engine.kill()
        wait_for(engine, Failed)
    assert isinstance(event_from_json(recording.getvalue().splitlines()[-1]), Failed)


def test_the_child_is_our_own_wherever_it_starts(tmp_path, monkeypatch):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.chdir(tmp_path)
    assert events_of(run_of("cycle:5"))[-1].cycles == 1
