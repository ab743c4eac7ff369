"""The engine process as its client sees it: events, stop, death, and that nothing is left behind."""

from __future__ import annotations

import io
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from chordless.engine import process
from chordless.engine.loop import Search
from chordless.engine.process import EngineProcess
from chordless.protocol.codec import event_from_json
from chordless.protocol.events import Checkpointed, DeviceReport, Failed, Finished, Log, Paused, Progress, Started
from chordless.protocol.orders import CheckpointCommand, GoCommand, PauseCommand, ProbeCommand, RunCommand
from chordless.protocol.recording import recorded
from chordless.runs.state import RunState
from patience import PATIENCE
from program import SOURCE_PATH, slow_boot

from kernels_ti import DeviceError, EngineError, GraphError, Snapshot

LONG = "grid:7x10"


def run_of(graph, **more):
    return RunCommand(graph, time.monotonic(), arch="reference", **more)


def events_of(command, **more):
    with EngineProcess(command, **more) as engine:
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


@pytest.mark.parametrize("memory", [None, 300 << 20])
def test_under_a_limit_freed_buffers_go_back_to_the_system(memory, monkeypatch):
    """Glibc keeps buffers of up to 32 MiB, which a limit of the whole process must not count as taken."""
    started = []
    monkeypatch.setattr(process.child, "start", lambda *_, env, **__: started.append(env) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        EngineProcess(RunCommand("cycle:5", time.monotonic(), memory=memory))
    assert ("MALLOC_MMAP_THRESHOLD_" in started[0]) == (memory is not None)


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


def test_events_tell_how_many_paths_of_each_length_wait():
    with EngineProcess(replace(run_of("grid:9x10"), arch="cpu")) as engine:
        while not (progress := wait_for(engine, Progress)).waiting_by_length:
            pass
        engine.stop()
        finished = wait_for(engine, Finished)
    for event in (progress, finished):
        assert 0 < sum(event.waiting_by_length.values()) == event.frontier
        assert all(count <= event.frontier_by_length[length] for length, count in event.waiting_by_length.items())


def test_pairs_of_neighbours_are_no_paths_that_wait():
    # Every pair of neighbours closes a triangle here: no path ever waits.
    reports = [event for event in events_of(replace(run_of("complete:60"), arch="cpu")) if isinstance(event, Progress)]
    assert reports
    assert all(event.frontier == event.paths == 0 for event in reports)


def test_stop_ends_a_run_with_what_it_found():
    with EngineProcess(run_of(LONG)) as engine:
        progress = wait_for(engine, Progress)
        engine.stop()
        finished = wait_for(engine, Finished)
    assert finished.reason == "interrupted"
    assert finished.cycles >= progress.cycles
    assert is_gone(engine.pid)


def kinds_until(engine, kind):
    """Return the kinds of the events up to the first of this kind."""
    found = []
    while (event := engine.poll(60)) is not None:
        found.append(type(event))
        if isinstance(event, kind):
            return found, event
    raise AssertionError(f"no {kind.__name__} came")


def test_a_poll_that_does_not_wait_returns_what_has_come():
    with EngineProcess(RunCommand("petersen", time.monotonic(), arch="reference")) as engine:
        while (event := engine.poll(0.0)) is None:
            time.sleep(0.01)
        assert isinstance(event, Started)


@pytest.mark.slow
def test_a_paused_engine_answers_and_is_silent_otherwise(tmp_path, monkeypatch):
    monkeypatch.setattr("chordless.engine.process._BOOT", slow_boot())
    run = tmp_path / "run"
    command = RunCommand("grid:6x9", time.monotonic(), arch="cpu", checkpoint=str(run), timeout=PATIENCE)
    with EngineProcess(command) as engine:
        wait_for(engine, Progress)
        engine.send(PauseCommand())
        _, paused = kinds_until(engine, Paused)
        assert paused == Paused()
        assert [engine.poll(0.3) for _ in range(2)] == [None, None]
        engine.send(CheckpointCommand())
        kinds, first = kinds_until(engine, Checkpointed)
        assert kinds == [Checkpointed]
        assert first.path == str(run / "checkpoint")
        assert first.bytes == (run / "checkpoint").stat().st_size
        engine.send(CheckpointCommand())
        kinds, second = kinds_until(engine, Checkpointed)
        assert (kinds, second.cycles) == ([Checkpointed], first.cycles)
        assert engine.poll(0.3) is None
        engine.send(GoCommand())
        kinds, progress = kinds_until(engine, Progress)
        assert (kinds, progress.cycles) == ([Progress], first.cycles)
        engine.send(PauseCommand())
        kinds_until(engine, Paused)
        engine.stop()
        kinds, finished = kinds_until(engine, Finished)
    assert kinds == [Checkpointed, Finished]
    assert (finished.reason, finished.checkpoint) == ("interrupted", str(run))
    assert engine.directory == str(run)
    monkeypatch.undo()
    with EngineProcess(replace(command, resume=True)) as engine:
        finished = wait_for(engine, Finished)
    assert finished.complete
    with EngineProcess(replace(command, checkpoint=None)) as engine:
        assert wait_for(engine, Finished).cycles_by_length == finished.cycles_by_length


def test_a_recording_has_every_step_though_not_every_report(tmp_path, monkeypatch):
    monkeypatch.setattr("chordless.engine.process._SHARE_BETWEEN_RECORDS", math.inf)
    run, told = tmp_path / "run", []
    with EngineProcess(RunCommand("grid:10x11", time.monotonic(), method="boundary", checkpoint=str(run))) as engine:
        while not isinstance(event := engine.poll(60), Finished):
            told.append((0.0, event))
    kept = list(recorded(run / "events.jsonl"))
    assert len(kept) < len(told)
    state = RunState().after(kept)
    assert len(state.states_by_step) == len(state.expected_by_step) == 110
    assert state.states_by_step == RunState().after(told).states_by_step


def test_a_recording_has_the_peak_of_the_frontier_though_not_every_report(tmp_path, monkeypatch):
    monkeypatch.setattr("chordless.engine.process._SHARE_BETWEEN_RECORDS", math.inf)
    run, told = tmp_path / "run", []
    command = RunCommand("grid:7x9", time.monotonic(), arch="cpu", expansion="paper", checkpoint=str(run))
    with EngineProcess(command) as engine:
        while not isinstance(event := engine.poll(60), Finished):
            told.append((0.0, event))
    kept = list(recorded(run / "events.jsonl"))
    assert len(kept) < len(told)
    peak = RunState().after(told).frontier_course.peak
    assert RunState().after(kept).frontier_course.peak == peak > 0


@pytest.mark.parametrize("output", [None, "run"])
@pytest.mark.slow
def test_a_run_whose_folder_is_gone_fails_with_a_sentence(tmp_path, monkeypatch, output):
    monkeypatch.setattr("chordless.engine.process._BOOT", slow_boot())
    run = tmp_path / "run"
    more = {} if output is None else {"output": str(run), "output_format": "parts"}
    with EngineProcess(
        RunCommand("grid:6x9", time.monotonic(), arch="cpu", threads=1, checkpoint=str(run), **more)
    ) as engine:
        wait_for(engine, Progress)
        run.rename(tmp_path / "moved")
        engine.send(CheckpointCommand())
        failed = wait_for(engine, Failed)
    assert failed.kind == "EngineError"
    assert failed.message.startswith(f"{run} is no longer the folder of this run: it was moved, replaced or removed.")


def test_a_pause_does_not_count_for_the_timeout():
    with EngineProcess(run_of(LONG, timeout=1.0)) as engine:
        wait_for(engine, Started)
        engine.send(PauseCommand())
        wait_for(engine, Paused)
        assert engine.poll(1.5) is None
        engine.send(GoCommand())
        assert isinstance(engine.poll(60), Progress)
        assert wait_for(engine, Finished).reason == "timeout"


@pytest.mark.parametrize(("compiles", "slices"), [(True, 2), (False, 1)])
def test_compiling_does_not_count_for_the_timeout(monkeypatch, compiles, slices):
    seconds = [0.0]
    monkeypatch.setattr("chordless.engine.loop.time", SimpleNamespace(monotonic=lambda: seconds[0]))
    snapshots = [Snapshot(compiling=compiles)]

    def advance():
        seconds[0] += 60.0
        snapshots.append(Snapshot())
        return snapshots[-1]

    run = SimpleNamespace(finished=False, snapshot=lambda: snapshots[-1], advance=advance)
    asked = dict.fromkeys(("paused", "stop_asked", "checkpoint_asked"), False)
    channel = SimpleNamespace(**asked, send=lambda event: None, obey=lambda: None)
    reason, _ = Search(RunCommand("grid:4x4", 0.0, timeout=50.0), channel, run, None).go()
    assert (reason, len(snapshots) - 1) == ("timeout", slices)


def test_a_checkpoint_that_cannot_be_is_said_on_the_log():
    with EngineProcess(run_of(LONG)) as engine:
        wait_for(engine, Started)
        engine.send(CheckpointCommand())
        assert wait_for(engine, Log).text == "no checkpoint is written: this run has no directory"


@pytest.mark.slow
def test_a_long_run_is_estimated():
    reports: list[Progress] = []
    with EngineProcess(run_of(LONG, timeout=PATIENCE)) as engine:
        while not reports or reports[-1].cycles_estimate is None:
            event = engine.poll(PATIENCE)
            assert not isinstance(event, Finished | None), "minutes without an estimate"
            if isinstance(event, Progress):
                reports.append(event)
    assert reports[0].cycles_estimate is None
    last = reports[-1]
    assert last.cycles_low is None or last.cycles_low <= last.cycles_estimate
    assert last.cycles_high is None or last.cycles_high >= last.cycles_estimate


def test_progress_tells_share_and_memory():
    with EngineProcess(run_of(LONG, timeout=1)) as engine:
        *reports, finished = [event for event in engine.events() if isinstance(event, (Progress, Finished))]
    shares = [report.share for report in reports]
    assert shares == sorted(shares)
    assert finished.share < 1
    assert all(1 << 20 < report.memory_bytes <= finished.peak_memory_bytes for report in reports)
    assert events_of(run_of("grid:4x4"))[-1].share == 1


def test_leaving_the_block_leaves_no_child():
    with EngineProcess(run_of(LONG)) as engine:
        wait_for(engine, Started)
    assert is_gone(engine.pid)


def test_poll_gives_up_in_time_and_after_the_end():
    with EngineProcess(run_of(LONG)) as engine:
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
    with EngineProcess(run_of(LONG)) as engine:
        os.kill(wait_for(engine, Started).pid, number)
        failed = wait_for(engine, Failed)
        assert engine.poll() is None
    assert number.name in failed.message
    assert not failed.stopped
    assert failed.exit_code == 1
    assert isinstance(failed.to_error(), EngineError)


def test_the_last_words_of_a_child_are_kept(monkeypatch):
    boot = "import os; os.write(2, b'first\\nout of luck'); os._exit(7)"
    monkeypatch.setattr("chordless.engine.process._BOOT", boot)
    failed = events_of(run_of(LONG))[-1]
    assert failed.message == "the engine ended with exit code 7 before it was done; its last words: out of luck"


def test_terminal_signals_are_left_to_the_parent():
    with EngineProcess(run_of(LONG)) as engine:
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        for number in numbers:
            os.kill(engine.pid, number)
        pid = wait_for(engine, Started).pid
        for number in numbers:
            os.kill(pid, number)
        wait_for(engine, Progress)
        assert not is_gone(pid)


def test_a_child_whose_parent_dies_ends():
    code = (
        "import time\nfrom chordless.engine.process import EngineProcess\n"
        "from chordless.protocol.events import Started\nfrom chordless.protocol.orders import RunCommand\n"
        f"engine = EngineProcess(RunCommand({LONG!r}, time.monotonic(), arch='reference'))\n"
        "print(next(event.pid for event in engine.events() if isinstance(event, Started)), flush=True)\n"
        "time.sleep(600)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": SOURCE_PATH}
    )
    pid = int(parent.stdout.readline())
    try:
        parent.kill()
        parent.wait()
        deadline = time.monotonic() + PATIENCE
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


def test_a_bug_in_the_engine_is_told_with_its_traceback(monkeypatch):
    bug = "import chordless.engine.search_run as run; run.loaded_graph = lambda: None; "
    boot = process._BOOT.replace("from chordless.worker", bug + "from chordless.worker")
    monkeypatch.setattr(process, "_BOOT", boot)
    command = RunCommand("cycle:5", time.monotonic(), arch="cpu")
    (failed,) = (event for event in events_of(command) if isinstance(event, Failed))
    assert (failed.kind, failed.exit_code) == ("TypeError", 1)
    assert failed.message.startswith("internal error: TypeError")
    assert "Traceback" in failed.traceback


def test_probe_of_the_reference():
    report = events_of(ProbeCommand("reference"))[-1]
    assert isinstance(report, DeviceReport)
    assert report.available
    assert report.device


def test_a_probe_of_auto_says_which_arch_that_is():
    report = events_of(ProbeCommand("auto"))[-1]
    assert isinstance(report, DeviceReport)
    assert report.arch in ("cpu", "cuda")


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
    with EngineProcess(run_of(LONG), recording=recording) as engine:
        wait_for(engine, Started)
        engine.kill()
        wait_for(engine, Failed)
    last = event_from_json(recording.getvalue().splitlines()[-1])
    assert isinstance(last, Failed)
    # The user wanted that.
    assert (last.message, last.stopped) == ("stopped at once", True)


def test_the_child_is_our_own_wherever_it_starts(tmp_path, monkeypatch):
    (tmp_path / "chordless").mkdir()
    (tmp_path / "chordless" / "__init__.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.chdir(tmp_path)
    assert events_of(run_of("cycle:5"))[-1].cycles == 1
