"""The protocol between the engine and its client: every event and command reads back as it was."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from chordless.protocol.codec import command_from_json, command_to_json, event_from_json, event_to_json
from chordless.protocol.events import Checkpointed, DeviceReport, Failed, Finished, Log, Paused, Progress, Started
from chordless.protocol.orders import CheckpointCommand, GoCommand, PauseCommand, ProbeCommand, RunCommand, StopCommand
from chordless.protocol.recording import timed_event

from kernels_ti import EngineError, SizeError
from kernels_ti.errors import CheckpointError


@pytest.mark.parametrize("error", [SizeError("too large"), CheckpointError("damaged"), EngineError("died")])
def test_a_failure_keeps_its_kind_and_its_exit_code(error):
    reported = Failed(type(error).__name__, str(error), error.exit_code).to_error()
    assert (type(reported), str(reported), reported.exit_code) == (type(error), str(error), error.exit_code)


EVENTS = [
    Started("a b", 1, 2, 3, "cpu", "device", 0.5, 77, {"limit": None}, directory="/tmp/run"),
    Progress(
        1.5, 2**70, 3, 4, {3: 2**65, 10: 1}, {4: 2**64}, 1 << 40, 9, 0.25, 1 << 33, 7.5e7, 7e7, None, None, {9: 4}
    ),
    Paused(),
    Checkpointed("run/checkpoint", 2**70, 3, 4),
    Finished("timeout", "g", 1, 2, 3, 4, {3: 4}, 5, 6, {3: 7}, 8, 9, "cuda", "H\u00e9", 0.1, 0.2, 0.3, 0.5, 6, "run"),
    Failed("GraphError", "no such file", 2),
    DeviceReport("vulkan", False, message="no driver"),
    Log("[Taichi] something"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_an_event_reads_back_as_it_was(event):
    line = event_to_json(event, time=12.5)
    assert "\n" not in line
    assert event_from_json(line) == event


COMMANDS = [
    RunCommand(
        "x",
        1.5,
        arch="reference",
        limit=3,
        output="-",
        part=(1, 4),
        memory=1 << 28,
        checkpoint="run",
        checkpoint_every=0.5,
        resume=True,
    ),
    ProbeCommand("cpu"),
    StopCommand(),
    PauseCommand(),
    GoCommand(),
    CheckpointCommand(),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_reads_back_as_it_was(command):
    assert command_from_json(command_to_json(command)) == command


def test_events_of_later_programs():
    known = json.loads(event_to_json(EVENTS[1]))
    assert event_from_json(json.dumps({**known, "share_done": 0.5})) == EVENTS[1]
    first = {"event": "progress", "seconds": 1, "paths": 2, "cycles": 3, "frontier": 4, "device_bytes": 5}
    of_version_1 = json.dumps({**first, "frontier_by_length": {}, "cycles_by_length": {"4": 3}})
    assert event_from_json(of_version_1) == Progress(1, 2, 3, 4, {}, {4: 3}, 5)
    newer = {**json.loads(event_to_json(EVENTS[0])), "version": 99}
    with pytest.raises(EngineError, match="version 99"):
        event_from_json(json.dumps(newer))


@pytest.mark.parametrize(
    "line",
    [
        "", "[]", "{", "[" * 100_000, '{"event": "dance"}', '{"event": ["log"]}', '{"event": "failed"}', b"\xff",
        '{"event": "log", "text": 5}', '{"event": "log", "text": null}',
    ],
)  # fmt: skip
def test_what_is_no_event_is_an_error(line):
    with pytest.raises(EngineError):
        event_from_json(line)


@pytest.mark.parametrize(
    "wrong",
    [
        {"cycles_by_length": {"x": 1}}, {"cycles_by_length": {"3": "x"}}, {"frontier_by_length": [1]},
        {"cycles_by_length": {"3": float("inf")}}, {"share": "half"}, {"cycles": None}, {"cycles_low": "few"},
        {"seconds": []},
    ],
    ids=str,
)  # fmt: skip
def test_an_event_with_a_wrong_value_is_an_error(wrong):
    with pytest.raises(EngineError, match=r"^the message 'progress' is .*wrong: ."):
        event_from_json(json.dumps({**json.loads(event_to_json(EVENTS[1])), **wrong}))


def test_options_of_a_run_read_back_as_they_were():
    asked = {"part": (1, 2), "through": ("a", "b"), "avoid_edges": (), "parity": "odd", "timeout": 5}
    read = event_from_json(event_to_json(replace(EVENTS[0], options=asked)))
    assert read.options == json.loads(json.dumps(asked))


@pytest.mark.parametrize("wrong", [{"part": 5}, {"part": [1]}, {"through": [5]}, {"parity": "x"}], ids=str)
def test_options_of_a_run_that_no_command_has_are_an_error(wrong):
    with pytest.raises(EngineError, match=r"^the message 'started' is .*wrong: ."):
        event_from_json(json.dumps({**json.loads(event_to_json(EVENTS[0])), "options": wrong}))


@pytest.mark.parametrize("time", [None, True, "1", -1, 1e300, float("inf"), float("nan")])
def test_a_time_that_no_clock_shows_is_an_error(time):
    with pytest.raises(EngineError, match="not an event with its time"):
        timed_event(event_to_json(EVENTS[0], time=time).encode())


@pytest.mark.parametrize("wrong", [{"edges": 5}, {"vertices": [{"name": 1, "cycles": -9}]}, {"edges": [[]]}], ids=str)
def test_counts_for_edges_that_no_run_has_are_an_error(wrong):
    with pytest.raises(EngineError, match=r"^the message 'finished' is wrong: .*(edges|vertices) is"):
        event_from_json(json.dumps({**json.loads(event_to_json(EVENTS[4])), "participation": wrong}))


_WORKER = {
    "address": "tcp://a:1", "device": "cpu", "standing": "idle", "paths": 3, "seconds": 1.0, "leases": 2,
    "transfer_seconds": 0.1, "bytes_sent": 5, "bytes_back": 6, "share": 1.0, "memory_bytes": 7, "failure": "",
    "device_seconds": 0.1, "kernel_seconds": 0.2,
}  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"workers": [5]}, {"workers": [{"share": 1.0}]}, {"workers": [{**_WORKER, "share": 253402300799}]},
        {"workers": [{**_WORKER, "standing": 1}]}, {"workers": [{**_WORKER, "leases": 10**400}]},
        {"waiting_by_length": {"3": 10**400}}, {"paths": 10**400}, {"enumerate_seconds": 10**400},
        {"share": float("nan")},
        {"boundary": {}}, {"boundary": {"width": 1, "states": "x"}}, {"best": {}}, {"best": {"weight": 3}},
        {"notes": [5]}, {"options": {"timeout": float("nan")}}, {"pid": -1},
        {"options": {"between": ["a"]}}, {"options": {"between": ["a", "b", "c"]}},
    ],
    ids=lambda wrong: str(wrong)[:60],
)  # fmt: skip
def test_what_no_picture_can_show_is_an_error(wrong):
    """Whether it lies in a field or deeper: the dashboard and the report would fail while they draw it."""
    whole = EVENTS[0 if wrong.keys() & {"notes", "options", "pid"} else 4]
    with pytest.raises(EngineError, match=r"^the message '\w+' is .*wrong: ."):
        event_from_json(json.dumps({**json.loads(event_to_json(whole)), **wrong}))


def test_workers_and_numbers_of_cycles_of_any_size_are_read():
    event = replace(EVENTS[4], workers=[_WORKER], cycles=10**400, best={"weight": None}, cycles_by_length={4: 10**400})
    assert event_from_json(event_to_json(event)) == event
