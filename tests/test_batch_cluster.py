"""A batch on a cluster: the lines are those of a batch on one machine, in the same order, whatever the workers do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from batches import ATLAS, Listener, graph6, lines_in
from chordless.batch.jobs import checked, jobs_of
from chordless.batch.output import BatchFile
from chordless.batch.runner import Batch
from chordless.batch.spread import SpreadBatch
from chordless.protocol.events import BatchFinished, Log
from chordless.protocol.orders import BatchCommand, BatchJob
from program import chordless
from simulated_workers import SimulatedWorkers

from kernels_ti.cluster.leases import Pace

QUICK = Pace(patience=0.02, no_worker_patience=0.2, scheduler_patience=0.2)
MAY_DIFFER = ("seconds", "peak_memory_bytes", "device", "frontier", "paths")
"""A graph has a frontier in its line if it was counted alone, and no other graph was at hand to count it with."""


@dataclass
class FatalGraph(SimulatedWorkers):
    """Workers that die of one graph, each time to be followed by another worker."""

    fatal: str = ""
    entries: list[int] = field(default_factory=list)

    def call(self, address: str, key: str, number: int, function: Any, arguments: tuple[Any, ...]) -> None:
        self.entries.append(len(arguments[1]))
        if any(entry.title == self.fatal for entry in arguments[1]):
            del self.here[address]
            self.here[f"after {address} {number}"] = 1
            return
        super().call(address, key, number, function, arguments)


def jobs(folder: Path) -> tuple[BatchJob, ...]:
    """Return inputs of all kinds: many graphs in a file, single ones, unreadable ones, one that is searched alone."""
    atlas = graph6(folder / "atlas.g6", ATLAS[::40])
    loop = folder / "loop.txt"
    loop.write_text("1 2\n2 2\n")
    alone = jobs_of(["grid:4x4", "petersen"], BatchJob("", arch="reference"))
    return checked([*jobs_of(["cycle:6", str(atlas), str(loop), "grid:3x4"], BatchJob("", arch="cpu")), *alone])


def spread(command: BatchCommand, workers: SimulatedWorkers, listener: Listener | None = None) -> BatchFinished:
    listener = listener or Listener()
    output = BatchFile(command.output)
    try:
        SpreadBatch(command, listener, output, lambda: workers, QUICK).go()
    finally:
        output.close()
    return listener.end


def here(command: BatchCommand) -> list[dict[str, Any]]:
    output = BatchFile(command.output)
    Batch(command, Listener(), output).go()
    output.close()
    return without_times(Path(command.output))


def without_times(path: Path) -> list[dict[str, Any]]:
    return [{key: value for key, value in line.items() if key not in MAY_DIFFER} for line in lines_in(path)]


@pytest.fixture(autouse=True)
def small_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a call have few graphs, so that workers have several."""
    monkeypatch.setattr("chordless.batch.spread.GRAPHS_AT_ONCE", 4)


@pytest.mark.slow
@pytest.mark.parametrize("faults", [(), ("ok", "die"), ("silent", "ok", "die"), ("die", "die")], ids=str)
def test_lines_and_their_order_are_those_of_one_machine(faults: Sequence[str], tmp_path: Path) -> None:
    asked = jobs(tmp_path)
    workers = SimulatedWorkers({"a": 1, "b": 1, "c": 1}, {"a": list(faults), "b": list(faults)})
    end = spread(BatchCommand(asked, str(tmp_path / "there.jsonl")), workers)
    expected = here(BatchCommand(asked, str(tmp_path / "here.jsonl")))
    assert without_times(tmp_path / "there.jsonl") == expected
    assert (end.reason, end.done, end.failed) == ("complete", len(expected), 1)
    assert end.cycles == sum(line["total"] or 0 for line in expected)
    assert len(workers.leases) > 1


def test_what_happens_to_a_worker_is_for_the_user_to_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asked = checked(jobs_of(["cycle:6"], BatchJob("", arch="reference")))
    workers = SimulatedWorkers({"a": 1, "b": 1}, refusals={"b": "numpy 0.1"})
    spread(BatchCommand(asked, str(tmp_path / "out.jsonl")), workers)
    (line,) = [line for line in capfd.readouterr().err.splitlines() if "worker" in line]
    assert Log(line).is_warning
    assert line.startswith("chordless: the worker b is not used: it has numpy")


def test_a_graph_that_kills_workers_fails_and_the_others_are_counted(tmp_path: Path) -> None:
    asked = jobs(tmp_path)
    expected = here(BatchCommand(asked, str(tmp_path / "here.jsonl")))
    fatal = expected[6]["graph"]
    workers = FatalGraph({"a": 1}, fatal=fatal)
    spread(BatchCommand(asked, str(tmp_path / "there.jsonl")), workers)
    lines = without_times(tmp_path / "there.jsonl")
    (failed,) = (line for line in lines if line["graph"] == fatal)
    assert failed["error"] == f"{fatal}: 3 workers were lost with this graph"
    assert [line for line in lines if line != failed] == [line for line in expected if line["graph"] != fatal]


def test_a_call_that_fails_fails_the_graph(tmp_path: Path) -> None:
    asked = checked(jobs_of(["cycle:6", "petersen"], BatchJob("", arch="reference")))
    spread(BatchCommand(asked, str(tmp_path / "out.jsonl")), SimulatedWorkers({"a": 1}, {"a": ["fail"]}))
    first, second = lines_in(tmp_path / "out.jsonl")
    assert (first["status"], second["status"]) == ("error", "complete")
    assert "cycle:6: internal error: ValueError: a fault" in first["error"]


def test_what_is_done_is_not_counted_again(tmp_path: Path) -> None:
    asked = jobs(tmp_path)
    output = tmp_path / "out.jsonl"
    workers = FatalGraph({"a": 1, "b": 1})
    spread(BatchCommand(asked, str(output)), workers)
    before = output.read_text().splitlines(keepends=True)
    output.write_text("".join(before[:3] + before[5:]))
    workers.entries.clear()
    end = spread(BatchCommand(asked, str(output)), workers)
    assert [line["graph"] for line in lines_in(output)] == [json.loads(line)["graph"] for line in before]
    assert sum(workers.entries) == 2
    assert (end.kept, end.done) == (len(before) - 2, len(before))


def test_a_batch_whose_lines_are_all_there_reaches_no_cluster(tmp_path: Path) -> None:
    command = BatchCommand(jobs(tmp_path), str(tmp_path / "out.jsonl"))
    done = spread(command, SimulatedWorkers({"a": 1})).done

    def reach() -> SimulatedWorkers:
        raise AssertionError("a cluster is reached")

    listener = Listener()
    output = BatchFile(command.output)
    SpreadBatch(command, listener, output, reach).go()
    output.close()
    assert (listener.end.reason, listener.end.kept) == ("complete", done)


@pytest.mark.parametrize("shared", [True, False])
def test_files_of_cycles_are_those_of_one_machine(
    shared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first worker dies with its answer; the others see the driver's folder, or send the files."""
    if not shared:
        monkeypatch.setattr("chordless.batch.cycle_files.is_seen", lambda parts: False)
    found, lines = [], []
    for number, folder in enumerate((tmp_path / "here", tmp_path / "there")):
        template = BatchJob("", arch="reference", listing=str(folder), listing_format="text")
        named = tmp_path / "named.txt"
        named.write_text("a b\nb c\nc d\nd a\n")
        asked = checked(jobs_of([str(graph6(tmp_path / "atlas.g6", ATLAS[::200])), str(named), "grid:3x4"], template))
        command = BatchCommand(asked, str(tmp_path / f"{number}.jsonl"))
        made = spread(command, SimulatedWorkers({"a": 1, "b": 1}, {"a": ["die"]})) if number else here(command)
        assert made
        found.append({file.name.rsplit("-", 1)[0]: file.read_text() for file in folder.iterdir()})
        read = lines_in(tmp_path / f"{number}.jsonl")
        lines.append([(line["graph"], line["listed"], line["status"]) for line in read])
        assert [Path(line["listing"]).parent for line in read] == [folder] * len(read)
        assert all(Path(line["listing"]).exists() for line in read)
    assert found[0] == found[1]
    assert "a b c d\n" in found[1].values()
    assert lines[0] == lines[1]


def test_a_file_that_is_too_large_to_travel_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chordless.batch.cycle_files.is_seen", lambda parts: False)
    monkeypatch.setattr("chordless.batch.cycle_files.MOST_BYTES", 100)
    template = BatchJob("", arch="reference", listing=str(tmp_path / "cycles"), listing_format="text")
    command = BatchCommand(checked(jobs_of(["cycle:5", "grid:4x5"], template)), str(tmp_path / "out.jsonl"))
    assert spread(command, SimulatedWorkers({"a": 1})).failed == 1
    small, large = lines_in(tmp_path / "out.jsonl")
    assert small["error"] is None
    assert "grid:4x5: its cycles take" in large["error"]
    assert "name a folder that all machines share" in large["error"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["stop", "fail"])
def test_a_batch_that_ends_early_keeps_the_first_lines(how: str, tmp_path: Path) -> None:
    asked = jobs(tmp_path)
    command = BatchCommand(asked, str(tmp_path / "out.jsonl"), fail_fast=how == "fail")
    end = spread(command, SimulatedWorkers({"a": 1}), Listener(stop_after=5) if how == "stop" else None)
    expected = here(BatchCommand(asked, str(tmp_path / "here.jsonl")))
    lines = without_times(tmp_path / "out.jsonl")
    assert end.reason == ("interrupted" if how == "stop" else "failed")
    assert len(lines) < len(expected)
    assert lines == expected[: len(lines)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("batch", "petersen", "--gpus", "0"), "--gpus needs --cluster local"),
        (("first", "petersen", "--cluster", "local:1"), "--cluster needs other lengths"),
        (("first", "petersen", "--length", "5", "--cluster", "nowhere"), "there is no cluster 'nowhere'"),
    ],
)
def test_what_does_not_go_with_a_cluster_is_said(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = chordless(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
