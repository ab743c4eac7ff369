"""Feeds: an engine of one's own, the recording of another's, a replay."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from chordless.engine.process import EngineProcess
from chordless.graphs.load import load_graph
from chordless.protocol.codec import event_to_json
from chordless.protocol.events import Checkpointed, Failed, Finished, Log, Paused, Progress, Started
from chordless.protocol.orders import PauseCommand, ProbeCommand, RunCommand
from chordless.tui.feeds import EngineFeed, FollowFeed, ReplayFeed
from chordless.tui.run_words import cycle_range, graph_and_device
from chordless.tui.session import RunSession
from chordless.words.numbers import CycleRange
from patience import PATIENCE
from test_export import make_run

from kernels_ti import EngineError
from kernels_ti.errors import CheckpointError
from tui.slow_runs import at_full_speed, command


class Watched:
    """A session that is begun, and what it was told."""

    def __init__(self, feed):
        self.feed = feed
        self.session = RunSession(feed)
        self.batches = []
        self.states = []
        take = self.session._take

        def watched_take(batch):
            self.batches.append((time.monotonic(), batch))
            take(batch)
            self.states.append(self.session.state)

        self.session._take = watched_take
        self.session.begin(lambda: None)

    @property
    def events(self):
        return [event for _, batch in self.batches for _, event in batch]

    def wait_for(self, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, self.session.state
            time.sleep(0.01)

    def wait_for_event(self, kind, after=0):
        self.wait_for(lambda: any(isinstance(event, kind) for event in self.events[after:]))
        return len(self.events)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.feed.close()
        self.feed.join(PATIENCE)
        assert not self.feed._thread.is_alive()


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.slow
def test_an_engine_is_fed_controlled_and_followed(tmp_path, slow, monkeypatch):
    # Only what a follower cannot do without is recorded.
    monkeypatch.setattr("chordless.engine.process._SHARE_BETWEEN_RECORDS", 1e9)
    run = tmp_path / "run"
    with Watched(EngineFeed(command(run))) as own:
        own.wait_for_event(Progress)
        assert own.session.can_control
        assert own.session.owns_engine
        with Watched(FollowFeed(run)) as other:
            other.wait_for_event(Started)
            assert other.session.can_control
            assert not other.session.owns_engine
            other.feed.pause()
            for watched in (own, other):
                watched.wait_for(lambda watched=watched: watched.session.state.phase == "paused")
            own.feed.go_on()
            for watched in (own, other):
                watched.wait_for(lambda watched=watched: watched.session.state.phase == "running")
            other.feed.checkpoint()
            seen = other.wait_for_event(Checkpointed)
            other.feed.pause()
            other.wait_for_event(Paused, seen)
            other.feed.go_on()
            own.wait_for(lambda: own.session.state.phase == "running")
            own.feed.stop()
            for watched in (own, other):
                watched.wait_for_event(Finished)
                watched.wait_for(lambda watched=watched: not watched.session.is_at_work)
                # Who follows learns from the next look that the engine is gone, and its directory free.
                watched.wait_for(lambda watched=watched: watched.session.state.can_resume)
                state = watched.session.state
                assert (state.phase, state.reason) == ("finished", "interrupted")
                assert not watched.session.can_control
            assert own.session.state.cycles_by_length == other.session.state.cycles_by_length
            # The follower sees the next session as well.
            at_full_speed(monkeypatch)
            monkeypatch.setattr("chordless.engine.process._SHARE_BETWEEN_RECORDS", 0.005)
            with Watched(EngineFeed(command(run, resume=True))) as again:
                again.wait_for_event(Finished)
                other.wait_for(lambda: other.session.state.reason == "complete")
            assert other.session.state.cycles == again.session.state.cycles
            assert not other.session.state.can_resume


@pytest.mark.slow
def test_a_killed_engine_leaves_a_run_that_is_gone_on_with_where_it_was(tmp_path, slow, monkeypatch):
    # The last report before the end is recorded, however few are.
    monkeypatch.setattr("chordless.engine.process._SHARE_BETWEEN_RECORDS", 1e9)
    run = tmp_path / "run"
    with Watched(EngineFeed(command(run))) as own:
        seen = own.wait_for_event(Started)
        own.wait_for(lambda: len(own.events) > seen + 10)
        assert os.getpriority(os.PRIO_PROCESS, own.feed.pid) > os.getpriority(os.PRIO_PROCESS, 0)
        os.kill(own.feed.pid, signal.SIGKILL)
        own.wait_for(lambda: not own.session.is_at_work)
    before = own.session.state
    assert (before.phase, before.can_resume) == ("failed", True)
    assert "was killed (SIGKILL)" in before.error
    # Batches come at most ten times a second; the last one does not wait.
    times = [at for at, batch in own.batches[:-1] if batch]
    assert len(times) > 5
    assert times[-1] - times[0] > 0.1 * (len(times) - 2)
    at_full_speed(monkeypatch)
    with Watched(EngineFeed(command(run, resume=True))) as own:
        # What is known already is shown while the engine gets ready.
        own.wait_for(lambda: own.states)
        first = own.states[0]
        assert (first.phase, first.error, first.can_resume) == ("starting", None, False)
        assert (first.graph, first.cycles) == (before.graph, before.cycles)
        assert [line.text for line in first.log] == [line.text for line in before.log]
        own.wait_for_event(Finished, len(own.batches[0][1]))
        assert own.session.state.reason == "complete"
        assert "resumed: " in " ".join(line.text for line in own.session.state.log)


def test_a_recording_that_is_damaged_is_no_reason_not_to_ask_the_engine(tmp_path):
    run = tmp_path / "run"
    make_run(run, load_graph("cycle:5").graph)
    (run / "events.jsonl").write_text("nonsense\n")
    with Watched(EngineFeed(command(run, resume=True))) as own:
        own.wait_for(lambda: not own.session.is_at_work)
    assert "events.jsonl: line 1: not a line of JSON" in own.session.state.log[0].text
    # The run was complete: so says the engine, not the recording.
    assert isinstance(own.events[-1], (Finished, Failed))
    assert "JSON" not in (own.session.state.error or "")


def test_orders_and_the_end_may_come_at_once_from_several_threads():
    for _ in range(5):
        engine = EngineProcess(ProbeCommand("reference"))
        ordering = threading.Thread(target=lambda engine=engine: [engine.send(PauseCommand()) for _ in range(3000)])
        ordering.start()
        engine.close()
        engine.close()
        ordering.join()
        engine.stop()
        # The pipe of another file now has its number: nothing may be written into it.
        assert engine._closed


@pytest.mark.usefixtures("slow")
def test_a_run_whose_processes_all_died_is_lost(tmp_path, monkeypatch):
    monkeypatch.setattr("chordless.tui.feeds.feed._SECONDS_BETWEEN_LOOKS", 0.1)
    run = tmp_path / "run"
    with EngineProcess(command(run)) as engine:
        while not isinstance(engine.poll(60), Progress):
            pass
        with Watched(FollowFeed(run)) as other:
            other.wait_for_event(Started)
            # Its client is silent: nobody records how it ended.
            os.kill(engine.pid, signal.SIGKILL)
            other.wait_for(lambda: other.session.state.phase == "lost")
            assert other.session.state.can_resume
            assert not other.session.can_control
            with pytest.raises(EngineError, match="no engine is at work"):
                other.feed.stop()
    monkeypatch.setattr("chordless.tui.feeds.feed._SECONDS_BETWEEN_LOOKS", 3600.0)
    with Watched(FollowFeed(run)) as later:
        later.wait_for(lambda: later.session.state.phase == "lost")


def test_closing_ends_the_engine_and_stopping_before_the_search_does(tmp_path):
    run = tmp_path / "run"
    with Watched(EngineFeed(command(run))) as own:
        own.feed.stop()
        own.wait_for(lambda: not own.session.is_at_work)
    assert own.session.state.error == "stopped before the search began"
    assert graph_and_device(own.session.state, "  ", 99) == "  grid:6x9"
    assert is_gone(own.feed.pid)
    with Watched(EngineFeed(RunCommand("grid:7x10", time.monotonic(), arch="reference"))) as own:
        own.wait_for_event(Started)
    assert own.session.state.log[0].text.startswith("search began: grid:7x10")
    assert is_gone(own.feed.pid)


@pytest.mark.usefixtures("slow")
def test_ending_a_session_keeps_what_was_found(tmp_path):
    own = Watched(EngineFeed(command(tmp_path / "run")))
    own.wait_for(lambda: own.session.state.cycles)
    own.session.end()
    assert is_gone(own.feed.pid)
    state = own.session.state
    assert (state.phase, state.reason) == ("finished", "interrupted")
    assert state.checkpoint_cycles == state.cycles


def test_a_recording_is_followed_line_by_line(tmp_path):
    run = tmp_path / "run"
    make_run(run, load_graph("cycle:5").graph)
    size = ("cycle:5", 5, 5, 2)
    events = (
        Started(*size, "cpu", "a CPU", 0.5, 1, {}, directory=str(run)),
        Progress(1.0, 9, 1, 0, {3: 9}, {5: 1}, 0),
        Finished("complete", *size, 1, {5: 1}, 9, 0, {3: 9}, 0, 0, "cpu", "a CPU", 0.5, 2.0, 2.5, 1.0),
    )
    lines = [event_to_json(event, time=1.0).encode() + b"\n" for event in events]
    (run / "events.jsonl").write_bytes(b"".join(lines))
    with Watched(FollowFeed(run)) as other:
        other.wait_for_event(Finished)
        count = len(other.events)
        assert count == len(lines)
        assert other.session.state.cycles == 1
        log = json.dumps({"event": "log", "text": "héllo", "time": 5.0}, ensure_ascii=False).encode() + b"\n"
        with (run / "events.jsonl").open("ab", buffering=0) as stream:
            for part in (log[:30], log[30:42], log[42:] + log[:3]):
                assert len(other.events) == count
                stream.write(part)
                time.sleep(0.3)
        other.wait_for_event(Log, count)
        assert other.events[count:] == [Log("héllo")]
        # Put back from a copy, it is read from the start.
        (run / "events.jsonl").write_bytes(lines[0])
        other.wait_for_event(Started, count)
        (run / "events.jsonl").unlink()
        time.sleep(0.3)
        assert other.session.state.phase != "failed"


@pytest.mark.parametrize(
    "wrong",
    [
        "nonsense",
        '{"event": "log", "text": 1, "time": 1.0}',
        '{"event": "progress", "time": 1.0, "seconds": 1, "paths": 1, "cycles": null, "frontier": 1, "share": "half",'
        ' "frontier_by_length": {}, "cycles_by_length": {"x": 1}, "device_bytes": 0}',
    ],
)
def test_a_damaged_recording_says_where(tmp_path, wrong):
    run = tmp_path / "run"
    make_run(run, load_graph("cycle:5").graph)
    good = event_to_json(Log("a"), time=1.0)
    (run / "events.jsonl").write_text(f"{good}\n{good}\n{wrong}\n{good}\n")
    with Watched(FollowFeed(run)) as other:
        other.wait_for(lambda: other.session.state.phase == "failed")
    words = f"the recording cannot be read from line 3 of {run / 'events.jsonl'} on: "
    assert other.session.state.error.startswith(words)


def test_whatever_goes_wrong_in_a_feed_is_told(tmp_path, monkeypatch):
    run = tmp_path / "run"
    make_run(run, load_graph("cycle:5").graph)
    monkeypatch.setattr(FollowFeed, "_read", lambda self: 1 / 0)
    with Watched(FollowFeed(run)) as other:
        other.wait_for_event(Failed)
    assert other.session.state.error == "internal error: ZeroDivisionError: division by zero"
    assert "Traceback" in other.events[-1].traceback


@pytest.mark.usefixtures("slow")
def test_the_end_is_told_before_the_engine_is_said_to_be_gone():
    """Who waits for the end of the engine looks then whether the run can go on."""
    feed = EngineFeed(RunCommand("petersen", time.monotonic(), arch="reference"))
    at_work = {}
    feed.begin(lambda batch: at_work.update({type(event): feed.at_work for _, event in batch}))
    feed.join(PATIENCE)
    assert at_work[Finished]
    assert not feed.at_work


def test_a_run_whose_folder_is_gone_cannot_be_resumed(tmp_path, slow):
    run = tmp_path / "run"
    with Watched(EngineFeed(command(run))) as own:
        own.wait_for_event(Progress)
        run.rename(tmp_path / "moved")
        own.feed.checkpoint()
        own.wait_for(lambda: own.session.state.phase == "failed")
    error = own.session.state.error
    assert error.startswith(f"{run} is no longer the folder of this run: it was moved, replaced or removed.")
    assert error.endswith(f"chordless resume {tmp_path / 'moved'}")
    assert not own.session.state.can_resume


def test_no_run_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="there is no run"):
        FollowFeed(tmp_path)


def recording(path, times):
    lines = [json.dumps({"event": "log", "text": str(i), "time": when}) for i, when in enumerate(times)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_replay_keeps_to_the_recorded_times(tmp_path, monkeypatch):
    monkeypatch.setattr("chordless.tui.feeds.replay._LONGEST_WAIT", 0.5)
    path = recording(tmp_path / "events", [100.0, 100.0, 102.0, 103.0, 99999.0, 99998.0])
    began = time.monotonic()
    with Watched(ReplayFeed(path, speed=4)) as played:
        played.wait_for(lambda: not played.feed.at_work and len(played.events) == 6)
    at = {event.text: when for when, batch in played.batches for _, event in batch}
    # None comes early. On a busy machine each may come late.
    assert at["2"] - began > 0.5
    assert at["3"] - began > 0.75
    assert at["4"] - began > 1.25
    assert [when for _, batch in played.batches for when, _ in batch][:3] == [100.0, 100.0, 102.0]
    assert not played.session.can_control
    with pytest.raises(EngineError, match="no engine here"):
        played.feed.pause()


def test_a_replay_at_once_and_its_end(tmp_path):
    path = recording(tmp_path / "events", [float(1000 * i) for i in range(5000)])
    with path.open("a") as stream:
        stream.write('{"event": "lo')
    with Watched(ReplayFeed(path, speed=0)) as played:
        played.wait_for(lambda: played.session.state.phase == "lost")
    assert len(played.events) == 5000
    assert not played.session.state.can_resume


def test_a_replay_pauses_goes_back_and_begins_again(tmp_path):
    path = recording(tmp_path / "events", [1000.0 + i for i in range(101)])
    feed = ReplayFeed(path, speed=0)
    assert feed.length == 100.0
    with Watched(feed) as played:
        played.wait_for(lambda: feed.has_ended)
        assert (feed.position, len(played.session.state.log)) == (100.0, 101)
        feed.seek(-60)
        played.wait_for(lambda: len(played.session.state.log) == 40)
        assert (feed.position, feed.paused, feed.has_ended) == (39.0, True, False)
        assert played.session.state.phase == "starting", "as it was then"
        feed.seek(20.5)
        played.wait_for(lambda: len(played.session.state.log) == 61)
        assert feed.paused
        feed.hurry(1024)
        feed.hurry(1024)
        feed.toggle()
        played.wait_for(lambda: feed.has_ended)
        assert len(played.session.state.log) == 101
        feed.toggle()
        played.wait_for(lambda: not feed.has_ended)
        played.wait_for(lambda: feed.has_ended)
        assert [line.text for line in played.session.state.log] == [str(i) for i in range(101)]
        feed.toggle()
        feed.seek(-1000)
        played.wait_for(lambda: len(played.session.state.log) == 1)


def test_what_is_no_recording_is_refused(tmp_path):
    with pytest.raises(EngineError, match=r"cannot read .*: No such file"):
        ReplayFeed(tmp_path / "none")
    with pytest.raises(EngineError, match="cannot read /dev/zero: this is a device, not a file"):
        ReplayFeed(Path("/dev/zero"))
    with pytest.raises(EngineError, match=r"cannot read .*events\.jsonl: No such file"):
        ReplayFeed(tmp_path)
    for content in ("", "0 1\n", '{"event": "log", "text": "x"}\n'):
        path = Path(tmp_path / "file")
        path.write_text(content)
        with pytest.raises(EngineError, match=r": line 1: .*: this is not a recording made with --events"):
            ReplayFeed(path)
    path = recording(tmp_path / "events", [1.0, 2.0])
    path.write_text(path.read_text() + "nonsense\n")
    with Watched(ReplayFeed(path, speed=0)) as played:
        played.wait_for_event(Failed)
    assert f"{path}: line 3: not a line of JSON" in played.session.state.error


def test_a_machine_without_cuda_has_no_warning_of_it_in_the_log():
    look = "from kernels_ti.device.device import cuda_is_here; cuda_is_here()"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert "libcuda" not in done.stdout + done.stderr


def test_an_engine_at_work_that_says_nothing_is_quiet(monkeypatch):
    monkeypatch.setattr("chordless.tui.session._SECONDS_OF_QUIET", 0.0)
    feed = SimpleNamespace(at_work=True, base=lambda state: state, settle=lambda state: state, directory=None)
    session = RunSession(feed)
    before = session.quiet_seconds
    assert session.quiet_seconds >= before >= 0.0
    monkeypatch.setattr(session, "_heard", session._heard - 100)
    assert session.quiet_seconds >= 100
    session._take(((1.0, Started("petersen", 10, 15, 3, "cpu", "", 0.1, 1)), (2.0, Paused())))
    assert session.quiet_seconds == 0.0
    session._take(((3.0, Progress(1.0, 9, 9, 9, {}, {}, 0)),))
    monkeypatch.setattr(session, "_heard", session._heard - 100)
    assert session.quiet_seconds >= 100
    feed.at_work = False
    assert session.quiet_seconds == 0.0


def test_the_estimate_before_the_start_stands_until_the_engine_knows_more():
    feed = SimpleNamespace(at_work=True, base=lambda state: state, settle=lambda state: state, directory=None)
    session = RunSession(feed, CycleRange(480.0, 260.0, 1300.0))

    def shown_after(cycles, middle, low, high):
        estimate = {"cycles_estimate": middle, "cycles_low": low, "cycles_high": high}
        session._take(((1.0, Progress(1.0, 9, cycles, 9, {}, {}, 0, **estimate)),))
        known = cycle_range(session.state)
        return known.middle, known.low, known.high

    assert shown_after(9, None, None, None) == (480.0, 260.0, 1300.0)
    assert shown_after(94, 720.0, 94.0, None) == (480.0, 260.0, 1300.0)
    # Never below what was found.
    assert shown_after(270, 720.0, 94.0, 61e3) == (480.0, 270.0, 1300.0)
    assert shown_after(280, 700.0, 600.0, 900.0) == (700.0, 600.0, 900.0)
