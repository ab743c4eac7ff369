"""Clusters of real processes on this machine, and runs on them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from patience import PATIENCE
from program import ENVIRONMENT
from relay import Relay

from kernels_ti import Graph
from kernels_ti.cluster.connect import connected
from kernels_ti.cluster.driver import ClusterRun
from kernels_ti.cluster.leases import Pace
from kernels_ti.cluster.workers import DaskWorkers

BRISK = Pace(shortest=0.1, longest=0.1, patience=3.0)


@contextmanager
def running(graph: Graph, where: str, **more: Any) -> Iterator[tuple[ClusterRun, Any]]:
    """Begin a search on a cluster, and wait until all workers are ready that its name tells of."""
    with connected(where) as client:
        if where.startswith("local:"):
            client.wait_for_workers(int(where.removeprefix("local:")), timeout=PATIENCE)
        run = ClusterRun(graph, DaskWorkers(client), arch="cpu", **more)
        try:
            run.wait_for_workers(others_seconds=PATIENCE)
            yield run, client
        finally:
            run.close()


def advanced(run: ClusterRun, until: Any = None) -> None:
    began = time.monotonic()
    while not run.finished and not (until and until()):
        run.advance()
        assert time.monotonic() - began < PATIENCE


def worker_processes(client: Any) -> list[int]:
    return [worker["pid"] for worker in client.run(lambda: {"pid": os.getpid()}, on_error="ignore").values()]


def leases(run: ClusterRun) -> int:
    return sum(view.leases for view in run.worker_views())


@contextmanager
def separate_cluster(
    folder: Path, workers: int = 1, program: Path | None = None, memory: str = "auto"
) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """Start a scheduler and workers as a user would, each a process of its own.

    The last worker imports `kernels_ti` from the folder `program`, if that is given.
    """
    file = folder / "scheduler.json"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": ENVIRONMENT}
    scheduler_command = [
        sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
        "--scheduler-file", str(file),
    ]  # fmt: skip
    worker_command = [
        sys.executable, "-m", "dask", "worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard",
        "--host", "127.0.0.1", "--local-directory", str(folder), "--death-timeout", "60",
        "--memory-limit", memory,
    ]  # fmt: skip
    scheduler = subprocess.Popen(scheduler_command, cwd=folder, **quiet)
    try:
        began = time.monotonic()
        while not file.exists():
            assert scheduler.poll() is None
            assert time.monotonic() - began < PATIENCE
            time.sleep(0.1)
        started = []
        try:
            for number in range(workers):
                other = program is not None and number == workers - 1
                more = {"env": {**ENVIRONMENT, "PYTHONPATH": str(program)}} if other else {}
                started.append(subprocess.Popen(worker_command, cwd=folder, **{**quiet, **more}))
            yield file, scheduler
        finally:
            for worker in started:
                for child in [*psutil.Process(worker.pid).children(recursive=True), worker]:
                    child.kill()
                worker.wait()
    finally:
        scheduler.kill()
        scheduler.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def relayed_worker(folder: Path, file: Path) -> Iterator[list[Relay]]:
    """Start a worker to which the scheduler speaks, and which speaks to the scheduler, by way of relays."""
    scheduler = int(json.loads(file.read_text())["address"].rsplit(":", 1)[1])
    own = free_port()
    relays = [Relay(scheduler), Relay(own)]
    worker = subprocess.Popen(
        [
            sys.executable, "-m", "dask", "worker", f"tcp://127.0.0.1:{relays[0].port}", "--nthreads", "1",
            "--no-nanny", "--no-dashboard", "--local-directory", str(folder), "--listen-address",
            f"tcp://127.0.0.1:{own}", "--contact-address", f"tcp://127.0.0.1:{relays[1].port}",
        ],
        cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield relays
    finally:
        worker.kill()
        worker.wait()
        for relay in relays:
            relay.close()


@contextmanager
def added_worker(folder: Path, file: Path) -> Iterator[None]:
    """Start one more worker of a separate cluster."""
    worker = subprocess.Popen(
        [
            sys.executable, "-m", "dask", "worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny",
            "--no-dashboard", "--host", "127.0.0.1", "--local-directory", str(folder),
        ],
        cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
    finally:
        worker.kill()
        worker.wait()
