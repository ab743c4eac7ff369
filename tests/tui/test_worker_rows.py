"""The rows of a cluster's workers on the Run screen."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from chordless.graphs.load import load_graph
from chordless.protocol.codec import event_to_json
from chordless.protocol.events import Finished, Progress, Started
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import created
from chordless.runs.state import RunState
from chordless.tui.app import ChordlessApp
from chordless.tui.settings import Settings
from chordless.tui.widgets.worker_rows import WorkerRows
from textual.app import App, ComposeResult

from tui.pilots import drive, text_of, until

STARTED = Started("g", 4, 4, 2, "cluster", "2 workers: cpu", 0.1, 1)


def worker(address: str, **more: Any) -> dict[str, Any]:
    fields = {
        "address": address, "device": "cpu X", "standing": "searching", "paths": 100, "seconds": 2.0, "leases": 3,
        "share": 0.25, "memory_bytes": 2**28, "failure": "",
    }  # fmt: skip
    return {**fields, **more}


class Rows(App[None]):
    def compose(self) -> ComposeResult:
        yield WorkerRows(id="rows")


def shown(workers: list[dict[str, Any]], size: tuple[int, int]) -> list[str]:
    """Return the lines that the widget shows."""
    lines: list[str] = []

    async def steps(pilot: Any) -> None:
        pilot.app.query_one(WorkerRows).show(workers)
        await pilot.pause()
        lines.extend(line.rstrip() for line in text_of(pilot.app).splitlines() if line.strip())

    drive(Rows(), size, steps)
    return lines


@pytest.mark.parametrize("size", [(60, 20), (160, 50)])
def test_each_worker_has_a_row_with_a_bar_and_the_lost_ones_come_last(size: tuple[int, int]) -> None:
    workers = [
        worker("tcp://a:1", standing="gone"),
        worker("tcp://b:2", share=0.5, paths=900),
        worker("tcp://c:3", standing="refused", failure="no numpy"),
    ]
    lines = shown(workers, size)
    assert [line.split()[0] for line in lines] == ["worker", "b:2", "a:1", "c:3"]
    assert " 50% █" in lines[1]
    assert "450" in lines[1]
    assert "256 MiB" in lines[1]
    assert "gone" in lines[2]
    assert "refused" in lines[3]


def test_why_a_worker_is_not_at_work_has_the_room_of_the_numbers() -> None:
    lost = worker("tcp://10.0.0.1:40001", standing="refused", failure="it has numpy 1.26.4, not 2.1.3")
    assert "refused: it has numpy 1.26.4, not 2.1.3" in shown([lost], (80, 24))[1]


def test_the_dashboard_follows_a_cluster_run_that_was_started_elsewhere(tmp_path: Path) -> None:
    def line(seconds: float, *workers: dict[str, Any]) -> str:
        progress = Progress(seconds, 1, 1, 0, {}, {}, 0, workers=list(workers))
        return event_to_json(progress, time=time.time()) + "\n"

    path = tmp_path / "run"
    with created(path, RunCommand("cycle:4", 0.0, cluster="local:2"), load_graph("cycle:4")) as directory:
        directory.checkpoint.touch()
        first = event_to_json(STARTED, time=time.time()) + "\n" + line(1.0, worker("tcp://10.0.0.1:1"))
        directory.events.write_text(first)

        async def steps(pilot: Any) -> None:
            await until(pilot, lambda: "10.0.0.1:1" in text_of(pilot.app))
            with directory.events.open("a") as stream:
                stream.write(line(2.0, worker("tcp://10.0.0.1:1"), worker("tcp://10.0.0.2:2", paths=900)))
            await until(pilot, lambda: "10.0.0.2:2" in text_of(pilot.app))

        drive(ChordlessApp(Settings(), directory=path), (80, 24), steps)


def test_many_workers_leave_room_for_the_chart() -> None:
    assert len(shown([worker(f"tcp://w:{i}") for i in range(20)], (100, 30))) <= 10


def test_a_run_on_one_machine_has_no_rows() -> None:
    assert shown([], (80, 24)) == []


def test_the_state_of_a_run_keeps_its_workers() -> None:
    state = RunState().after([(0.0, STARTED), (1.0, Progress(1.0, 1, 1, 0, {}, {}, 0, workers=[worker("tcp://a:1")]))])
    assert [each["address"] for each in state.workers] == ["tcp://a:1"]
    counts = {"cycles": 1, "cycles_by_length": {4: 1}, "paths": 1, "frontier": 0, "frontier_by_length": {}, "listed": 0}
    times = {"setup_seconds": 0.1, "enumerate_seconds": 1.0, "total_seconds": 1.1, "device_bytes": 0}
    end = Finished(
        "complete", "g", 4, 4, 2, arch="cluster", device="", workers=[worker("tcp://b:2")], **counts, **times
    )
    assert [each["address"] for each in state.after([(2.0, end)]).workers] == ["tcp://b:2"]
