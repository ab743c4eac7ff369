"""Orders to an engine through its run directory: none is lost, none is obeyed twice, any process can give them."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
import threading
import time

import pytest
from chordless.protocol.codec import command_to_json
from chordless.protocol.events import Checkpointed, Finished, Paused, Progress
from chordless.protocol.orders import CheckpointCommand, GoCommand, PauseCommand, StopCommand
from chordless.runs import mailbox
from chordless.runs.mailbox import Mailbox, is_at_work, post
from patience import PATIENCE
from program import ENVIRONMENT, chordless, count, events_in, slow_command

from kernels_ti import EngineError


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """A run directory whose lock is held, and a mailbox that may be looked into at any time."""
    monkeypatch.setattr(mailbox, "SECONDS_BETWEEN_LOOKS", 0.0)
    with (tmp_path / "run.json").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield tmp_path


def test_orders_come_once_and_in_order(directory):
    box = Mailbox(directory)
    assert box.take() == []
    orders = [PauseCommand(), CheckpointCommand(), GoCommand(), StopCommand()]
    for order in orders:
        post(directory, order)
    assert box.take() == orders
    assert box.take() == []
    post(directory, orders[0])
    assert box.take() == orders[:1]
    assert [path.name for path in directory.iterdir()] == ["run.json"]


def test_orders_to_an_earlier_engine_are_thrown_away(directory):
    post(directory, StopCommand())
    assert Mailbox(directory).take() == []


def test_a_folder_in_the_place_of_the_mailbox_is_removed(directory):
    (directory / "commands").mkdir()
    assert Mailbox(directory).take() == []


@pytest.mark.parametrize("plant", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_pipe_or_a_link_in_the_place_of_the_mailbox_holds_nobody_up(directory, capsys, plant):
    box = Mailbox(directory)
    plant(directory / "commands")
    with pytest.raises(EngineError, match="commands"):
        post(directory, StopCommand())
    assert box.take() == []
    assert "commands is " in capsys.readouterr().err
    post(directory, StopCommand())
    assert box.take() == [StopCommand()]


def test_a_folder_that_comes_in_the_place_of_the_mailbox_is_told_once(directory, monkeypatch, capsys):
    monkeypatch.setattr("chordless.runs.mailbox.SECONDS_BETWEEN_LOOKS", 0.0)
    box = Mailbox(directory)
    (directory / "commands").mkdir()
    assert box.take() == box.take() == []
    assert capsys.readouterr().err.count("cannot read") == 1


def test_a_line_that_is_no_order_is_passed_over_with_a_note(directory, capsys):
    box = Mailbox(directory)
    lines = [b"\xff", '{"command": "probe", "arch": "cpu"}', "[]", command_to_json(StopCommand())]
    (directory / "commands").write_bytes(b"\n".join(x if isinstance(x, bytes) else x.encode() for x in lines) + b"\n")
    assert box.take() == [StopCommand()]
    notes = capsys.readouterr().err.splitlines()
    assert len(notes) == 3
    assert "'probe' is not an order" in notes[1]


def test_it_looks_only_now_and_then(directory, monkeypatch):
    monkeypatch.setattr(mailbox, "SECONDS_BETWEEN_LOOKS", 3600.0)
    box = Mailbox(directory)
    assert box.take() == []
    post(directory, StopCommand())
    assert box.take() == []


def test_nothing_is_left_where_no_engine_is_at_work(tmp_path):
    for place in (tmp_path, tmp_path / "none"):
        assert not is_at_work(place)
        with pytest.raises(EngineError, match="no engine is at work"):
            post(place, StopCommand())
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_in_the_place_of_the_lock_is_no_engine_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "run.json")
    assert not is_at_work(tmp_path)


def test_many_writers_and_a_reader_lose_nothing(directory):
    box, writers, each = Mailbox(directory), 4, 100

    def write():
        for _ in range(each):
            post(directory, CheckpointCommand())

    threads = [threading.Thread(target=write) for _ in range(writers)]
    for thread in threads:
        thread.start()
    taken = 0
    while any(thread.is_alive() for thread in threads):
        taken += len(box.take())
    assert taken + len(box.take()) == writers * each


@pytest.mark.slow
def test_a_run_started_elsewhere_obeys(tmp_path):
    run = tmp_path / "run"
    process = subprocess.Popen(
        slow_command("count", "grid:6x9", "--arch", "cpu", "--threads", "1", "--checkpoint", run, "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )

    def wait_for(kind, after=0):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with contextlib.suppress(FileNotFoundError, EngineError):
                events = events_in(run)
                if any(isinstance(event, kind) for event in events[after:]):
                    return len(events)
            time.sleep(0.02)
        raise AssertionError(f"no {kind.__name__}")

    try:
        seen = wait_for(Progress)
        post(run, PauseCommand())
        seen = wait_for(Paused, seen)
        cycles = [event.cycles for event in events_in(run) if isinstance(event, Progress)][-1]
        post(run, CheckpointCommand())
        seen = wait_for(Checkpointed, seen)
        assert events_in(run)[-1].cycles >= cycles
        post(run, GoCommand())
        # Of the progress of a run not every report is recorded, but the first after a pause is.
        seen = wait_for(Progress, seen)
        assert not isinstance(events_in(run)[-1], Paused)
        post(run, StopCommand())
        printed, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 4, errors
    assert not json.loads(printed)["complete"]
    assert [event.reason for event in events_in(run) if isinstance(event, Finished)] == ["interrupted"]
    done = chordless("resume", run, "--json")
    assert json.loads(done.stdout)["by_length"] == count("grid:6x9", "--arch", "cpu")[0]["by_length"]
