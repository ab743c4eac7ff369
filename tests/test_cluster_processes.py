"""A search on real worker processes of this machine: killed, stopped, cut off, gone on with."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from oracles import grid
from patience import PATIENCE
from program import ENVIRONMENT, chordless, command, wait_for_end
from real_clusters import BRISK, advanced, leases, running, separate_cluster, worker_processes

from kernels_ti import EngineError, Run, count_cycles, open_device
from kernels_ti.cluster.connect import connected
from kernels_ti.cluster.driver import ClusterRun
from kernels_ti.cluster.leases import Pace
from kernels_ti.cluster.workers import DaskWorkers

pytestmark = pytest.mark.slow
pytest.importorskip("distributed", reason="needs Dask (pip install distributed)")


def test_twenty_random_kills_change_nothing() -> None:
    graph, drawn, killed = grid(8, 10), random.Random(2), set[int]()
    with running(graph, "local:2", pace=BRISK) as (run, client):
        while len(killed) < 20:
            before = leases(run)
            advanced(run, lambda before=before: leases(run) >= before + 2)
            assert not run.finished, "the search is too short for twenty kills"
            victims = [pid for pid in worker_processes(client) if pid not in killed and psutil.pid_exists(pid)]
            if victims:
                victim = drawn.choice(victims)
                os.kill(victim, signal.SIGKILL)
                killed.add(victim)
        advanced(run)
        assert any(view.standing == "gone" for view in run.worker_views())
        assert run.snapshot().cycles == 71_535_910


def test_a_stopped_worker_is_done_without_and_changes_nothing_when_it_goes_on() -> None:
    graph = grid(7, 10)
    with running(graph, "local:2", pace=BRISK) as (run, client):
        advanced(run, lambda: leases(run) >= 2)
        stopped = worker_processes(client)[0]
        os.kill(stopped, signal.SIGSTOP)
        try:
            advanced(run)
            assert run.snapshot().cycles == 8_136_453
        finally:
            os.kill(stopped, signal.SIGCONT)


def test_when_the_scheduler_is_killed_the_rest_can_be_searched_here(tmp_path: Path) -> None:
    graph = grid(7, 10)
    pace = replace(BRISK, scheduler_patience=5.0)
    with separate_cluster(tmp_path) as (file, scheduler), running(graph, str(file), pace=pace) as (run, _):
        advanced(run, lambda: leases(run) >= 2)
        scheduler.kill()
        with pytest.raises(EngineError, match="the scheduler of the cluster has not answered"):
            advanced(run)
        state = run.state()
    rest = Run(graph, open_device("cpu"), state=state)
    while not rest.finished:
        rest.advance()
    assert rest.snapshot().cycles == 8_136_453


def test_a_worker_with_another_program_is_refused_and_the_other_goes_on(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "other" / "kernels_ti").mkdir(parents=True)
    (tmp_path / "other" / "kernels_ti" / "__init__.py").write_text('__version__ = "0.1"\n')
    with separate_cluster(tmp_path, 2, tmp_path / "other") as (file, _), connected(str(file)) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        run = ClusterRun(grid(6, 8), DaskWorkers(client), arch="cpu", pace=BRISK, tell=said.append)
        try:
            advanced(run, lambda: any(view.standing == "refused" for view in run.worker_views()))
            advanced(run)
        finally:
            run.close()
    assert run.snapshot().cycles_by_length == count_cycles(grid(6, 8), arch="cpu").by_length
    # A worker that is late may have a line, too.
    (line,) = [line for line in said if "is not used" in line]
    assert re.search(
        r"is not used: (it has chordless 0\.1, not|ModuleNotFoundError: No module named 'kernels_ti)", line
    )


def test_a_worker_that_is_stopped_while_it_prepares_itself_is_named_and_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kernels_ti.cluster.watch._WAIT_IN_SILENCE", 1.0)
    with connected("local:1") as client:
        (stopped,) = worker_processes(client)
        said: list[str] = []

        def tell(line: str) -> None:
            said.append(line)
            os.kill(stopped, signal.SIGCONT)

        os.kill(stopped, signal.SIGSTOP)
        run = ClusterRun(grid(6, 7), DaskWorkers(client), arch="cpu", pace=BRISK, tell=tell)
        try:
            run.wait_for_workers()
            advanced(run)
        finally:
            os.kill(stopped, signal.SIGCONT)
            run.close()
    assert run.snapshot().cycles_by_length == count_cycles(grid(6, 7), arch="cpu").by_length
    assert said[0].startswith("waiting for the worker tls://127.0.0.1:")


def test_the_scheduler_may_pause_for_longer_than_a_lease(tmp_path: Path) -> None:
    """Nothing reaches a worker or comes from it while the scheduler is stopped: as if the network were down."""
    pace = Pace(shortest=0.1, longest=0.1, patience=1.0, scheduler_patience=60.0)
    with separate_cluster(tmp_path, 2) as (file, scheduler), running(grid(7, 10), str(file), pace=pace) as (run, _):
        advanced(run, lambda: leases(run) >= 2)
        scheduler.send_signal(signal.SIGSTOP)
        until = time.monotonic() + 6
        try:
            while time.monotonic() < until:
                run.advance()
            assert not run.finished
        finally:
            scheduler.send_signal(signal.SIGCONT)
        advanced(run)
        assert run.snapshot().cycles == 8_136_453


def test_a_worker_that_is_killed_for_its_memory_changes_nothing(tmp_path: Path) -> None:
    graph = grid(7, 10)
    with (
        separate_cluster(tmp_path, memory="500MiB") as (file, _),
        running(graph, str(file), pace=BRISK) as (run, client),
    ):
        advanced(run, lambda: leases(run) >= 2)
        client.run(exec, "import sys, numpy; sys.too_much = numpy.ones(1 << 26)", on_error="ignore")
        advanced(run, lambda: any(view.standing == "gone" for view in run.worker_views()))
        advanced(run)
        assert run.snapshot().cycles == 8_136_453


def test_a_full_disk_ends_a_listing_on_a_cluster_with_one_line() -> None:
    done = chordless("list", "grid:6x7", "--cluster", "local:1", "--arch", "cpu", "-q", "-o", "/dev/full")
    assert done.returncode == 1
    assert "cannot write /dev/full: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_count_on_a_local_cluster_says_what_each_worker_did() -> None:
    done = chordless("count", "grid:7x9", "--cluster", "local:2", "--arch", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["by_length"] == {
        str(length): count for length, count in count_cycles(grid(7, 9), arch="cpu").by_length.items()
    }
    assert (result["arch"], len(result["workers"])) == ("cluster", 2)
    for worker in result["workers"]:
        # On a busy machine a worker may still prepare itself when the other has done everything.
        assert worker["device"].startswith("cpu") or (worker["standing"], worker["leases"]) == ("preparing", 0)
        assert {"paths", "seconds"} <= worker.keys()
    assert any(worker["leases"] for worker in result["workers"])
    assert sum(worker["paths"] for worker in result["workers"]) > 0.9 * result["paths"]


def test_list_on_a_cluster_writes_each_cycle_once(tmp_path: Path) -> None:
    for where, file in (("", "here.txt"), ("local:2", "there.txt")):
        cluster = ["--cluster", where] if where else []
        done = chordless("list", "grid:6x7", "--arch", "cpu", "-o", tmp_path / file, *cluster)
        assert done.returncode == 0, done.stderr
    here, there = ((tmp_path / file).read_text().splitlines() for file in ("here.txt", "there.txt"))
    assert sorted(there) == sorted(here)


def test_a_batch_on_a_cluster_writes_the_lines_of_a_batch_here(tmp_path: Path) -> None:
    lines = []
    for where, file in (("", "here.jsonl"), ("local:2", "there.jsonl")):
        cluster = ["--cluster", where] if where else []
        graphs = ["petersen", "grid:6x7", "nothing.txt", "cycle:70"]
        (tmp_path / "nothing.txt").write_text("1 1\n")
        done = chordless("batch", *graphs, "-o", file, "--arch", "cpu", *cluster, cwd=tmp_path)
        assert done.returncode == 5, done.stderr
        read = map(json.loads, (tmp_path / file).read_text().splitlines())
        lines.append([(line["graph"], line["by_length"], line["error"], line["hash"]) for line in read])
    assert lines[0] == lines[1]


def test_first_on_a_cluster_prints_a_cycle() -> None:
    done = chordless("first", "grid:5x5", "--length", "12", "--cluster", "local:1", "--arch", "cpu", "-q")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 12


def test_a_driver_that_is_killed_leaves_no_worker_and_can_be_gone_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    arguments = command(
        "count", "grid:9x10", "--cluster", "local:2", "--arch", "cpu", "--checkpoint", folder,
        "--checkpoint-every", "0.5", "--progress", "none",
    )  # fmt: skip
    (tmp_path / "temporary").mkdir()
    environment = {**ENVIRONMENT, "TMPDIR": str(tmp_path / "temporary")}
    with subprocess.Popen(arguments, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as client:
        began = time.monotonic()
        events = folder / "events.jsonl"
        while not (events.exists() and events.read_text().count('"checkpointed"') >= 3):
            assert client.poll() is None
            assert time.monotonic() - began < PATIENCE
            time.sleep(0.2)
        family = psutil.Process(client.pid).children(recursive=True)
        engine = family[0]
        engine.kill()
        client.wait(PATIENCE)
        wait_for_end(family)
        assert not list((tmp_path / "temporary").glob("chordless-workers-*"))
    done = chordless("resume", folder, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["total"] == 668_179_142


def test_the_python_api_takes_a_client_and_the_name_of_a_cluster() -> None:
    expected = count_cycles(grid(5, 5), arch="cpu").by_length
    assert count_cycles(grid(5, 5), arch="cpu", cluster="local:1").by_length == expected
    with connected("local:1") as client:
        for _ in range(2):
            assert count_cycles(grid(5, 5), arch="cpu", cluster=client).by_length == expected
