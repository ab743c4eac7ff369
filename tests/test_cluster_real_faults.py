"""Faults of workers in processes of their own while a search goes on: the network, the disk, leases, late comers."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chordless.engine import process
from oracles import grid
from patience import PATIENCE
from program import ENVIRONMENT, chordless
from real_clusters import (
    BRISK,
    added_worker,
    advanced,
    leases,
    relayed_worker,
    running,
    separate_cluster,
    worker_processes,
)

from kernels_ti import EngineError, Options, Run, open_device
from kernels_ti.cluster.connect import connected
from kernels_ti.cluster.driver import ClusterRun
from kernels_ti.cluster.leases import Pace
from kernels_ti.cluster.workers import DaskWorkers

pytestmark = pytest.mark.slow
pytest.importorskip("distributed", reason="needs Dask (pip install distributed)")


def fail_from_now_on() -> None:
    """Let each lease of this process fail."""
    from kernels_ti.cluster import on_worker

    def fail(*_: Any) -> None:
        raise EngineError("the device has no room")

    on_worker._searched = fail  # type: ignore[assignment]


def test_a_pause_of_the_network_between_the_scheduler_and_a_worker_changes_nothing(tmp_path: Path) -> None:
    """The others do its work meanwhile, and it is used again; an answer that was on its way does not count twice."""
    graph = grid(8, 10)
    pace = Pace(shortest=0.1, longest=0.1, patience=1.0)
    with (
        separate_cluster(tmp_path) as (file, _),
        relayed_worker(tmp_path, file) as relays,
        connected(str(file)) as client,
    ):
        client.wait_for_workers(2, timeout=PATIENCE)
        far = next(address for address in client.nthreads() if address.endswith(str(relays[1].port)))
        run = ClusterRun(graph, DaskWorkers(client), arch="cpu", pace=pace)

        def far_view() -> Any:
            return next(view for view in run.worker_views() if view.address == far)

        try:
            advanced(run, lambda: leases(run) >= 4 and far_view().leases >= 1)
            for relay in relays:
                relay.pause()
            advanced(run, lambda: far_view().standing == "silent")
            before, others = far_view().leases, leases(run)
            advanced(run, lambda: leases(run) > others)
            assert not run.finished, "the search is too short for this pause"
            for relay in relays:
                relay.go_on()
            advanced(run, lambda: far_view().leases > before)
            advanced(run)
            assert run.snapshot().cycles == 71_535_910
        finally:
            run.close()


class Evaluated:
    """Becomes the value of an expression where it is unpacked: the workers cannot import from the tests."""

    def __init__(self, expression: str) -> None:
        self._expression = expression

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return eval, (self._expression,)


def test_a_worker_that_stops_while_its_answer_is_fetched_holds_up_no_other() -> None:
    stops = "__import__('os').kill(__import__('os').getpid(), __import__('signal').SIGSTOP)"
    stops_when_packed = f"lambda *_: type('Stops', (), {{'__reduce__': lambda _: (str, ({stops},))}})()"
    with connected("local:2") as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        processes = client.run(os.getpid)
        stopped, other = processes
        workers = DaskWorkers(client)
        try:
            wanted = set(range(400))
            for number in wanted:
                workers.call(other, "", number, Evaluated("lambda key, number: number"), ())
                if number % 40 == 20:
                    workers.call(stopped, "", 1000 + number, Evaluated(stops_when_packed), ())
            began = time.monotonic()
            while wanted:
                wanted -= {reply.value for reply in workers.replies(0.1)}
                assert time.monotonic() - began < PATIENCE
        finally:
            os.kill(processes[stopped], signal.SIGCONT)
            workers.close()


def test_a_worker_that_joins_late_gets_leases(tmp_path: Path) -> None:
    with separate_cluster(tmp_path) as (file, _), running(grid(9, 10), str(file), pace=BRISK) as (run, _):
        advanced(run, lambda: leases(run) >= 2)
        with added_worker(tmp_path, file):
            advanced(run, lambda: len([view for view in run.worker_views() if view.leases]) == 2)
            assert not run.finished, "the search is too short for a worker that joins late"
            advanced(run)
            assert run.snapshot().cycles == 668_179_142


def have_another(program: str) -> None:
    """Let this process have another version of a program."""
    from kernels_ti.cluster import on_worker

    own = on_worker.versions()
    on_worker.versions = lambda: {**own, program: "0.1"}


def test_workers_with_another_version_are_refused_by_name_and_the_other_goes_on() -> None:
    said: list[str] = []
    with connected("local:4") as client:
        client.wait_for_workers(4, timeout=PATIENCE)
        addresses = list(client.nthreads())
        others = dict(zip(addresses, ("chordless", "taichi", "numpy"), strict=False))
        for address, program in others.items():
            client.run(have_another, program, workers=[address])
        run = ClusterRun(grid(6, 7), DaskWorkers(client), arch="cpu", pace=BRISK, tell=said.append)
        try:
            run.wait_for_workers(others_seconds=PATIENCE)
            advanced(run)
        finally:
            run.close()
        assert run.snapshot().cycles == 13_350
        for address, program in others.items():
            (line,) = [line for line in said if address in line]
            assert line.startswith(f"the worker {address} is not used: it has {program} 0.1, not ")
        assert [view.leases > 0 for view in run.worker_views() if view.address == addresses[3]] == [True]


def test_a_lease_that_fails_on_three_workers_ends_the_run_and_the_rest_can_be_searched_here() -> None:
    graph = grid(7, 10)
    with running(graph, "local:3", pace=BRISK) as (run, client):
        client.wait_for_workers(3, timeout=PATIENCE)
        advanced(run, lambda: leases(run) >= 3 and len(run.worker_views()) == 3)
        client.run(fail_from_now_on)
        # Each worker has two leases: it may be given up before one of them has failed on all three.
        ends = r"(a lease failed 3 times|no worker of the cluster can be used).*: the device has no room"
        with pytest.raises(EngineError, match=ends):
            advanced(run)
        run.settle()
        state = run.state()
    rest = Run(graph, open_device("cpu"), state=state)
    while not rest.finished:
        rest.advance()
    assert rest.snapshot().cycles == 8_136_453


def test_a_worker_whose_disk_is_full_searches_and_lists_like_the_other() -> None:
    """It writes no file for a search: what it finds travels with its answers."""
    graph, found = grid(6, 7), set()
    with running(graph, "local:2", pace=BRISK, options=Options(collect=True)) as (run, client):
        full = worker_processes(client)[0]
        resource.prlimit(full, resource.RLIMIT_FSIZE, (0, 0))  # each write to a file fails
        while not run.finished:
            run.advance()
            found |= {frozenset(cycle) for cycle in run.take_cycles().named(range(graph.n))}
        assert min(view.leases for view in run.worker_views()) > 0
        assert run.snapshot().cycles == len(found) == 13_350


def test_kills_during_a_listing_lose_no_cycle_and_double_none() -> None:
    graph, found, killed = grid(7, 9), [], set[int]()
    with running(graph, "local:2", pace=BRISK, options=Options(collect=True, rows=True)) as (run, client):
        while not run.finished:
            before = leases(run)
            advanced(run, lambda before=before: leases(run) >= before + 2)
            found.append(run.take_rows())
            victims = [pid for pid in worker_processes(client) if pid not in killed]
            if victims and len(killed) < 4 and not run.finished:
                os.kill(victims[0], signal.SIGKILL)
                killed.add(victims[0])
        found.append(run.take_rows())
        rows = np.concatenate(found)
        assert killed
        assert len(rows) == len(np.unique(rows, axis=0)) == run.snapshot().cycles == 1_535_427


IMPATIENT = (
    "import functools; from kernels_ti.cluster import driver, leases; "
    "driver.Pace = functools.partial(leases.Pace, scheduler_patience=2.0); "
)


def test_a_killed_scheduler_ends_the_command_with_a_line_and_a_checkpoint(tmp_path: Path) -> None:
    boot = process._BOOT.replace("from chordless.worker", f"{IMPATIENT}from chordless.worker")
    code = (
        "import sys; from chordless.engine import process; from chordless.cli import main; "
        f"process._BOOT = {boot!r}; sys.exit(main())"
    )
    folder = tmp_path / "run"
    with separate_cluster(tmp_path) as (file, scheduler):
        arguments = [
            "count", "grid:7x12", "--cluster", str(file), "--arch", "cpu", "--checkpoint", str(folder),
            "--checkpoint-every", "0.2", "--progress", "none",
        ]  # fmt: skip
        command = [sys.executable, "-c", code, *arguments]
        with subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as client:
            began, events = time.monotonic(), folder / "events.jsonl"
            while not (events.exists() and events.read_text().count('"checkpointed"') >= 2):
                assert client.poll() is None
                assert time.monotonic() - began < PATIENCE
                time.sleep(0.1)
            scheduler.kill()
            _, said = client.communicate(timeout=PATIENCE)
    assert client.returncode == 1
    assert "the scheduler of the cluster has not answered for" in said
    assert "Traceback" not in said
    done = chordless("resume", folder, "--json")
    assert json.loads(done.stdout)["total"] == 228_834_188
