"""Checkpoints of a count along a boundary: stops, kills, want of memory, and what goes on from them."""

from __future__ import annotations

import json
import math
import random
import signal
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from chordless.engine import boundary, keeper, search_run
from chordless.engine.channel import ClientIsGone
from chordless.protocol.events import Checkpointed, Finished, Paused, Progress
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory
from program import chordless, count
from shortage import RemaindersDoNotFit
from test_killed import Killed, sessions_in

from kernels_ti import ChordlessError, EngineError, SizeError
from kernels_ti.boundary import count as count_of_boundary
from kernels_ti.boundary import in_one_call
from kernels_ti.boundary.executors import in_passes, in_python, parts
from kernels_ti.boundary.executors.on_cores import CoresBlock
from kernels_ti.errors import CheckpointError

GRAPH = "grid:6x7"


class Client:
    """Stops a run, or dies, after some checkpoints, of which there is one for each vertex; None lets it end."""

    def __init__(self, *, stop_after=math.inf, die_after=None):
        self.mailbox = None
        self.paused = self.stop_asked = self.checkpoint_asked = False
        self.events = []
        self._stop_after, self._die_after = stop_after, die_after

    @property
    def _checkpoints(self):
        return sum(isinstance(event, Checkpointed) for event in self.events)

    def obey(self, *, wait=False):
        self.stop_asked = self._checkpoints >= self._stop_after

    def send(self, event):
        self.events.append(event)
        if self._checkpoints == self._die_after:
            raise ClientIsGone


@pytest.fixture(autouse=True)
def _a_slice_is_a_vertex(monkeypatch):
    monkeypatch.setattr(boundary, "_SLICE_SECONDS", 0.0)
    # A checkpoint follows each slice, however long the last one took to write.
    monkeypatch.setattr(keeper, "_LONG_WRITING", math.inf)


def begun(path, **options):
    return RunCommand(
        GRAPH, time.monotonic(), method="boundary", checkpoint=str(path), arch="auto", checkpoint_every=0.0, **options
    )


def resumed(path, **changes):
    return replace(RunDirectory(path).command(), program_start=time.monotonic(), **changes)


def run(command, **client):
    client = Client(**client)
    search_run.run(command, client, -1)
    (finished,) = (event for event in client.events if isinstance(event, Finished))
    return finished


OPTIONS = [{}, {"total_only": True}, {"through": ("2,3",), "avoid": ("4,4",), "min_length": 5, "max_length": 16}]


@pytest.mark.parametrize("options", OPTIONS, ids=["by length", "total", "restricted"])
def test_a_count_that_is_stopped_again_and_again(tmp_path, options):
    whole = run(replace(begun(tmp_path / "whole", **options), checkpoint=None))
    path, rng = tmp_path / "run", random.Random(3)
    part = run(begun(path, **options), stop_after=9)
    shares = [part.share]
    while not part.complete:
        part = run(resumed(path), stop_after=rng.randint(3, 20))
        shares.append(part.share)
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert (part.cycles, part.cycles_by_length) == (whole.cycles, whole.cycles_by_length)
    # A run that is complete tells its result again.
    again = run(resumed(path))
    assert (again.cycles, again.cycles_by_length) == (whole.cycles, whole.cycles_by_length)
    assert again.boundary == part.boundary == whole.boundary
    assert again.enumerate_seconds == part.enumerate_seconds


@pytest.mark.parametrize("options", OPTIONS, ids=["by length", "total", "restricted"])
def test_a_session_that_ends_before_it_counts_tells_what_was_counted(tmp_path, options):
    path = tmp_path / "run"
    part = run(begun(path, **options), stop_after=30)
    assert part.cycles > 0
    client = Client(stop_after=0)
    search_run.run(resumed(path), client, -1)
    again = client.events[-1]
    assert (again.cycles, again.cycles_by_length, again.share) == (part.cycles, part.cycles_by_length, part.share)
    assert again.boundary == part.boundary
    assert {event.cycles for event in client.events[2:] if isinstance(event, Progress)} == {part.cycles}
    assert run(resumed(path)).complete


def test_after_a_pause_the_numbers_before_it_are_told_again():
    class Pausing(Client):
        looks = 0

        def obey(self, *, wait=False):
            self.looks += 1
            self.paused = self.looks == 30 and not wait

    client = Pausing()
    search_run.run(RunCommand(GRAPH, time.monotonic(), method="boundary", arch="reference"), client, -1)
    at = client.events.index(Paused())
    before, after = client.events[at - 1], client.events[at + 1]
    assert before.cycles == after.cycles > 0
    assert after.states == before.states
    assert not after.states_by_step


@pytest.mark.parametrize("total_only", [False, True])
def test_a_count_that_is_killed_again_and_again(tmp_path, total_only):
    path = tmp_path / "run"
    whole = run(replace(begun(tmp_path / "whole", total_only=total_only), checkpoint=None))
    with pytest.raises(ClientIsGone):
        run(begun(path, total_only=total_only), die_after=5)
    for _ in range(5):
        with pytest.raises(ClientIsGone):
            run(resumed(path), die_after=4)
    assert run(resumed(path)).cycles_by_length == whole.cycles_by_length
    assert run(resumed(path)).cycles == whole.cycles


@pytest.mark.slow
def test_a_count_in_passes_that_is_stopped_and_killed_again_and_again(tmp_path, monkeypatch):
    """The passes that are made are kept."""
    monkeypatch.setattr(count_of_boundary, "_FEWEST_STATES", 0)
    monkeypatch.setattr(parts, "LARGEST_BUFFER", 300)
    monkeypatch.setattr(in_passes, "LengthsModulo", RemaindersDoNotFit)
    monkeypatch.setattr(in_passes, "cells_of_two_tables", lambda memory: 2500)
    path, vertices = tmp_path / "run", 42
    whole = run(replace(begun(tmp_path / "whole"), checkpoint=None))
    part = run(replace(begun(path), arch="cpu"), stop_after=2 * vertices)
    shares = [part.share]
    while not part.complete:
        with pytest.raises(ClientIsGone):
            run(resumed(path), die_after=vertices // 2)
        part = run(resumed(path), stop_after=vertices + 8)
        shares.append(part.share)
    assert len(shares) > 2
    assert shares == sorted(shares)
    assert max(shares[:-1]) < 1
    assert (part.cycles, part.cycles_by_length) == (whole.cycles, whole.cycles_by_length)


def test_a_run_in_passes_reports_them(monkeypatch):
    monkeypatch.setattr(count_of_boundary, "_FEWEST_STATES", 0)
    monkeypatch.setattr(parts, "LARGEST_BUFFER", 300)
    client = Client()
    search_run.run(RunCommand(GRAPH, time.monotonic(), method="boundary", arch="cpu"), client, -1)
    told = [(event.pass_number, event.passes) for event in client.events if isinstance(event, Progress)]
    assert told[0] == (0, 0)
    assert (1, 0) in told
    assert any(1 < number == passes for number, passes in told)


def test_compilation_does_not_count_against_a_timeout(monkeypatch):
    late, now, take_vertex, open_device = [0.0], time.monotonic, CoresBlock.take_vertex, boundary.open_device

    def opened_late(*arguments, **options):
        late.append(1e9)
        return open_device(*arguments, **options)

    def compiled_late(block, enough):
        if len(late) == 2:
            late.append(2e9)
            assert not enough()
        take_vertex(block, enough)

    monkeypatch.setattr(count_of_boundary, "_FEWEST_STATES", 0)
    monkeypatch.setattr(CoresBlock, "take_vertex", compiled_late)
    monkeypatch.setattr(boundary, "open_device", opened_late)
    monkeypatch.setattr(boundary, "time", SimpleNamespace(monotonic=lambda: now() + late[-1]))
    client = Client()
    order = RunCommand(GRAPH, now(), method="boundary", arch="cpu", timeout=1e8)
    search_run.run(order, client, -1)
    (finished,) = (event for event in client.events if isinstance(event, Finished))
    assert len(late) == 3
    assert finished.reason == "complete"


def test_one_that_was_stopped_while_it_sought_an_order_begins_again(tmp_path):
    path = tmp_path / "run"
    part = run(begun(path), stop_after=0)
    assert (part.complete, part.cycles, part.checkpoint) == (False, 0, str(path))
    assert run(resumed(path)).cycles == run(replace(begun(path), checkpoint=None)).cycles


def test_a_run_with_a_bad_order_leaves_no_folder(tmp_path):
    path = tmp_path / "run"
    with pytest.raises(ChordlessError, match="cannot read the order"):
        run(begun(path, order=str(tmp_path / "missing")))
    assert not path.exists()


def test_what_does_not_fit_goes_on_with_more_memory(tmp_path, monkeypatch):
    path = tmp_path / "run"
    for module in (boundary, in_one_call):
        monkeypatch.setattr(module, "host_budget", lambda memory: memory)
    with pytest.raises(SizeError, match=f"chordless resume {path} --memory SIZE"):
        run(begun(path, memory=30_000))
    assert run(resumed(path, memory=1 << 30)).cycles == run(replace(begun(path), checkpoint=None)).cycles


def test_a_count_that_runs_out_of_memory_is_kept(tmp_path, monkeypatch):
    path, real, left = tmp_path / "run", in_python.merged, iter(range(20, -1, -1))

    def merged(*arguments, **options):
        if next(left) == 0:
            raise MemoryError
        return real(*arguments, **options)

    monkeypatch.setattr(in_python, "merged", merged)
    with pytest.raises(
        EngineError, match=f"out of memory; the count is kept, and goes on with: chordless resume {path}$"
    ):
        run(begun(path))
    monkeypatch.undo()
    assert run(resumed(path)).cycles == run(replace(begun(path), checkpoint=None)).cycles


def test_one_with_other_options_is_refused(tmp_path):
    path = tmp_path / "run"
    run(begun(path), stop_after=20)
    with pytest.raises(CheckpointError, match="a run with other options: total_only is False there and True"):
        run(resumed(path, total_only=True))
    with pytest.raises(CheckpointError, match="a run with other options: max_length is None there and 9"):
        run(resumed(path, max_length=9))
    with pytest.raises(CheckpointError, match="a run with other options: method is boundary there and None"):
        run(resumed(path, method="search"))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_damaged_one_is_refused(tmp_path, share):
    path = tmp_path / "run"
    run(begun(path), stop_after=20)
    checkpoint = RunDirectory(path).checkpoint
    whole = checkpoint.read_bytes()
    checkpoint.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(CheckpointError, match="is damaged or cut short"):
        run(resumed(path))


def test_from_the_command_line(tmp_path):
    path = tmp_path / "run"
    found, exit_code = count("grid:9x9", "--method", "boundary", "--checkpoint", path)
    assert (exit_code, found["checkpoint"]) == (0, str(path))
    again = json.loads(chordless("resume", path, "--json").stdout)
    assert (again["by_length"], again["method"]) == (found["by_length"], "boundary")


@pytest.mark.slow
def test_a_process_that_is_killed_again_and_again(tmp_path):
    path = tmp_path / "run"
    rng = random.Random(5)
    for turn in range(4):
        first = ("count", "grid:13x13", "--method", "boundary", "--checkpoint", path)
        killed = Killed(*(first if turn == 0 else ("resume", path)), "--checkpoint-every", "0.05")
        before = sessions_in(path, b"checkpointed")
        killed.wait_for(lambda before=before: sessions_in(path, b"checkpointed") > before)
        time.sleep(rng.uniform(0, 0.5))
        assert killed.kill() == -signal.SIGKILL
    done = json.loads(chordless("resume", path, "--json").stdout)
    assert done["total"] == 212_201_572_752_086_670
