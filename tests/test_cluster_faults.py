"""A search on a cluster whose workers do not get ready, are refused, fail or are lost: what the run says and does."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from oracles import grid
from patience import PATIENCE
from program import chordless
from simulated_workers import QUICK, SimulatedWorkers, finished

from kernels_ti import Device, EngineError, Graph, OptionError, Run, count_cycles, open_device
from kernels_ti.cluster.connect import connected
from kernels_ti.cluster.driver import ClusterRun
from kernels_ti.cluster.on_worker import Job
from kernels_ti.cluster.workers import DaskWorkers, Reply
from kernels_ti.state import RunState

pytest.importorskip("distributed", reason="needs Dask (pip install distributed)")


@pytest.fixture
def cpu() -> Device:
    return open_device("cpu")


def assert_all_is_found_from(state: RunState, graph: Graph, device: Device) -> None:
    rest = Run(graph, device, state=state)
    while not rest.finished:
        rest.advance()
    assert rest.snapshot().cycles_by_length == count_cycles(graph, arch=device.arch).by_length


@pytest.mark.parametrize("program", ["chordless", "taichi", "numpy"])
def test_a_worker_with_other_versions_is_refused_by_name_and_the_others_go_on(program: str, cpu: Device) -> None:
    said: list[str] = []
    workers = SimulatedWorkers({"a": 1, "b": 1}, refusals={"b": f"{program} 0.1"})
    run = ClusterRun(grid(4, 4), workers, arch=cpu.arch, pace=QUICK, tell=said.append)
    assert sum(finished(run).values()) == count_cycles(grid(4, 4), arch=cpu.arch).total
    assert workers.leases["b"] == 0
    (line,) = said
    assert re.fullmatch(rf"the worker b is not used: it has {program} \S+, not 0\.1", line)
    assert [view.standing for view in run.worker_views()] == ["idle", "refused"]


def test_no_worker_that_can_be_used_is_an_error(cpu: Device) -> None:
    run = ClusterRun(grid(4, 4), SimulatedWorkers({"a": 1}, refusals={"a": "numpy 0.1"}), arch=cpu.arch, pace=QUICK)
    with pytest.raises(EngineError, match="no worker of the cluster can be used: a: it has numpy"):
        finished(run)
    with pytest.raises(EngineError, match="the cluster has had no worker for"):
        finished(ClusterRun(grid(4, 4), SimulatedWorkers({}), arch=cpu.arch, pace=QUICK))


def test_a_worker_that_does_not_get_ready_is_done_without(cpu: Device) -> None:
    said: list[str] = []
    workers = SimulatedWorkers({"a": 1, "b": 1}, unready={"a"})
    run = ClusterRun(grid(5, 6), workers, arch=cpu.arch, pace=replace(QUICK, patience=0.01), tell=said.append)
    run.wait_for_workers()
    assert finished(run) == count_cycles(grid(5, 6), arch=cpu.arch).by_length
    assert workers.leases["a"] == 0
    assert not [line for line in said if line.startswith("waiting")]


@pytest.mark.parametrize(("patience", "why"), [(0.05, "does not answer"), (9.0, "has not been ready for")])
def test_a_run_says_for_which_worker_it_waits(
    patience: float, why: str, cpu: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only worker does not get ready, until the run has said so."""
    monkeypatch.setattr("kernels_ti.cluster.watch._WAIT_IN_SILENCE", 0.2)
    workers = SimulatedWorkers({"a": 1}, unready={"a"})
    said: list[str] = []

    def tell(line: str) -> None:
        said.append(line)
        if line.startswith("waiting"):
            workers.here["b"] = 1

    run = ClusterRun(grid(4, 4), workers, arch=cpu.arch, pace=replace(QUICK, patience=patience), tell=tell)
    run.wait_for_workers(others_seconds=0.0)
    assert finished(run) == count_cycles(grid(4, 4), arch=cpu.arch).by_length
    (line,) = [line for line in said if line.startswith("waiting")]
    assert line.startswith(f"waiting for the worker a: it {why}")


@pytest.mark.parametrize("sides", [(2, 2), (2, 3), (4, 4)])
def test_what_fails_on_one_worker_is_done_by_another(sides: tuple[int, int], cpu: Device) -> None:
    graph = grid(*sides)
    workers = SimulatedWorkers({"a": 1, "b": 1}, {"a": ["fail"] * 4})
    run = ClusterRun(graph, workers, arch=cpu.arch, pace=QUICK)
    assert finished(run) == count_cycles(graph, arch=cpu.arch).by_length
    assert run.worker_views()[0].failure == "no room"


@pytest.mark.parametrize(
    ("error", "message", "standings"),
    [
        (EngineError("no room"), "a lease failed 1 times", {"idle"}),
        (ConnectionError("cut off"), "1 workers were lost with the same work", {"idle", "gone"}),
    ],
)
def test_a_good_reply_beside_one_that_fails_is_kept(
    error: Exception, message: str, standings: set[str], cpu: Device
) -> None:
    class Beside(SimulatedWorkers):
        def replies(self, seconds: float) -> list[Reply]:
            """Let the first answer fail that comes together with one of another worker."""
            some = super().replies(seconds)
            if len({reply.address for reply in some if reply.number >= 0}) == 2:
                some[0] = Reply(some[0].address, some[0].number, error=error)
            return some

    graph = grid(5, 6)
    run = ClusterRun(graph, Beside({"a": 1, "b": 1}), arch=cpu.arch, pace=replace(QUICK, tries=1, deaths=1))
    with pytest.raises(EngineError, match=message):
        finished(run)
    assert {view.standing for view in run.worker_views()} == standings
    assert_all_is_found_from(run.state(), graph, cpu)


def test_an_answer_of_a_worker_that_a_reply_beside_it_gave_up_does_not_count(cpu: Device) -> None:
    class CutOff(SimulatedWorkers):
        def replies(self, seconds: float) -> list[Reply]:
            some = super().replies(seconds)
            if len([reply for reply in some if reply.number >= 0]) == 2 and not cut:
                some[0] = Reply(some[0].address, some[0].number, error=ConnectionError("cut off"))
                cut.append(some)
            return some

    cut: list[list[Reply]] = []
    run = ClusterRun(grid(5, 6), CutOff({"a": 1}), arch=cpu.arch, pace=QUICK)
    assert finished(run) == count_cycles(grid(5, 6), arch=cpu.arch).by_length
    assert cut


def test_a_lease_that_fails_after_the_end_leaves_its_work(cpu: Device) -> None:
    graph, numbers = grid(5, 6), dict[str, int]()

    class Recording(SimulatedWorkers):
        def lease(self, address: str, key: str, number: int, state: Any, seconds: float) -> None:
            numbers.setdefault(address, number)
            super().lease(address, key, number, state, seconds)

    workers = Recording({"a": 1, "b": 1}, {"a": ["ok"] * 5 + ["fail"], "b": ["silent"] * 100})
    run = ClusterRun(graph, workers, arch=cpu.arch, pace=replace(QUICK, tries=1, patience=PATIENCE))
    with pytest.raises(EngineError, match="a lease failed 1 times"):
        finished(run)
    workers.waiting = [Reply("b", numbers["b"], error=EngineError("no room"))]
    run.settle(0.1)
    assert_all_is_found_from(run.state(), graph, cpu)


def test_workers_that_all_die_while_they_prepare_themselves_end_the_run(cpu: Device) -> None:
    class Dying(SimulatedWorkers):
        def prepare(self, address: str, job: Any) -> None:
            del self.here[address]
            self.here[f"{address}'"] = 1

    run = ClusterRun(grid(4, 4), Dying({"a": 1}), arch=cpu.arch, pace=replace(QUICK, deaths=4))
    with pytest.raises(EngineError, match="4 workers were lost while they prepared themselves"):
        finished(run)


class SlowScheduler:
    """A client whose scheduler answers a question about its workers only when it may."""

    def __init__(self) -> None:
        self.loop: Any = SimpleNamespace(asyncio_loop=asyncio.new_event_loop())
        self.scheduler = self
        self.may_answer = threading.Event()
        self.given_up = False
        threading.Thread(target=self.loop.asyncio_loop.run_forever, daemon=True).start()

    def nthreads(self) -> dict[str, int]:
        return {"a": 1}

    async def identity(self, n_workers: int) -> Any:
        try:
            while not self.may_answer.is_set():
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            self.given_up = True
            raise
        return {"workers": {"a": {"nthreads": 1, "last_seen": 5.0}}}


def test_the_driver_does_not_wait_for_a_scheduler_that_does_not_answer() -> None:
    client = SlowScheduler()
    workers = DaskWorkers(client)
    assert workers.last_seen() == {}
    assert not client.given_up
    client.may_answer.set()
    began = time.monotonic()
    while workers.last_seen() != {"a": 5.0}:
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.01)
    workers.close()
    client.loop.asyncio_loop.call_soon_threadsafe(client.loop.asyncio_loop.stop)


def test_a_worker_may_leave_just_before_it_is_asked() -> None:
    client = SlowScheduler()
    workers = DaskWorkers(client)
    assert "gone" not in workers.threads()
    workers.prepare("gone", Job("key", {}))
    replies: list[Any] = []
    began = time.monotonic()
    while not replies:
        assert time.monotonic() - began < PATIENCE
        replies = workers.replies(0.1)
    assert [(reply.address, type(reply.error)) for reply in replies] == [("gone", ConnectionError)]
    workers.close()
    client.loop.asyncio_loop.call_soon_threadsafe(client.loop.asyncio_loop.stop)


def test_a_scheduler_with_certificates_that_dask_has_not_is_named() -> None:
    pytest.importorskip("distributed", reason="needs Dask (pip install distributed)")
    before = set(threading.enumerate())
    error = pytest.raises(EngineError, match="cannot be reached: TLS expects")
    with error, connected("tls://127.0.0.1:1"):
        pass
    # One that is left open closes itself when it is collected, which hangs where a loop of Dask starts just then.
    assert not set(threading.enumerate()) - before


def numbered(key: str, number: int) -> int:
    return number


def test_a_request_that_is_given_up_takes_no_other_reply_with_it() -> None:
    """Dask asks for the results that have come meanwhile together, and has five such questions at once."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        fetch, asked, may_answer = cluster.scheduler.handlers["gather"], threading.Event(), threading.Event()

        async def slow(*arguments: Any, **more: Any) -> Any:
            asked.set()
            while not may_answer.is_set():
                await asyncio.sleep(0.01)
            return await fetch(*arguments, **more)

        cluster.scheduler.handlers["gather"] = slow
        workers = DaskWorkers(client)
        lost, other = workers.threads()
        for number in range(6):
            workers.call(lost, "", number, numbered, ())
        workers.call(other, "", 6, numbered, ())
        began = time.monotonic()
        while len(client.who_has()) < 7 or not asked.is_set():
            assert time.monotonic() - began < PATIENCE
            time.sleep(0.01)
        time.sleep(0.2)  # by now the client waits for all results
        workers.forget(lost)
        may_answer.set()
        replies: list[Any] = []
        while not replies:
            assert time.monotonic() - began < PATIENCE
            replies = workers.replies(0.1)
        assert [(reply.address, reply.value) for reply in replies] == [(other, 6)]
        workers.close()


class GivenUp(SlowScheduler):
    """A client that has closed itself, because its scheduler is gone."""

    def __init__(self) -> None:
        super().__init__()
        self.scheduler = None  # type: ignore[assignment]


def test_a_scheduler_that_is_gone_ends_the_run_with_a_line() -> None:
    client = GivenUp()
    run = ClusterRun(grid(4, 4), DaskWorkers(client), arch="cpu", pace=QUICK)
    try:
        with pytest.raises(EngineError, match="the scheduler of the cluster is gone"):
            finished(run)
        assert sum(run.state().paths_by_length.values()) == 0
    finally:
        run.close()


NONSENSE = {
    "empty": b"",
    "bytes": bytes(range(256)),
    "list": b"[1]",
    "nested": b"[" * 200_000,
    "number": b'{"address": 5}',
    "words": b'{"address": "rm -rf"}',
    "none": b'{"id": "Scheduler"}',
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_a_file_of_no_scheduler_is_an_error(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "head.json"
    file.write_bytes(NONSENSE[kind])
    with pytest.raises(OptionError, match="no file of a Dask scheduler: it has no address"), connected(str(file)):
        pass


def test_a_file_of_no_scheduler_ends_a_command_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "head.json").write_bytes(NONSENSE["nested"])
    done = chordless("count", "grid:5x5", "--cluster", "head.json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "chordless: error: head.json is no file of a Dask scheduler: it has no address such as tcp://HOST:8786"
    )
