"""The processes of a local cluster: where they listen, what they see, how they end, and what is said of a bad one."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from patience import PATIENCE
from program import wait_for_end

from kernels_ti import DeviceError, EngineError
from kernels_ti.cluster import gpus
from kernels_ti.cluster.connect import connected, started
from kernels_ti.cluster.local import LocalWorkers

pytest.importorskip("distributed", reason="needs Dask (pip install distributed)")
pytest.importorskip("cryptography", reason="a local cluster makes certificates (pip install cryptography)")


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.mark.usefixtures("two_gpus")
def test_gpus_are_chosen_from_those_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gpus.chosen_gpus(None) == (0, 1)
    assert gpus.chosen_gpus((1,)) == (1,)
    with pytest.raises(DeviceError, match="this machine has no GPU 2: it has 0, 1"):
        gpus.chosen_gpus((0, 2))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert gpus.listed_gpus() == (1,)


@pytest.mark.parametrize(("answers", "count"), [((0, 0), 3), ((9, 0), 0), ((0, 9), 0)])
def test_nvidia_s_library_is_asked(answers: tuple[int, int], count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Library:
        def nvmlInit_v2(self) -> int:
            return answers[0]

        def nvmlDeviceGetCount_v2(self, number: Any) -> int:
            number._obj.value = 3
            return answers[1]

        def nvmlShutdown(self) -> int:
            return 0

    monkeypatch.setattr("ctypes.CDLL", lambda name: Library())
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert gpus.listed_gpus() == tuple(range(count))


@pytest.mark.usefixtures("two_gpus")
def test_no_process_starts_for_a_gpu_that_is_not_there() -> None:
    with pytest.raises(DeviceError, match="no GPU 5"), started("local", (0, 5)):
        pass
    assert not psutil.Process().children()


def told(until: Any) -> None:
    """Wait until something is true, or raises."""
    began = time.monotonic()
    while not until():
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.02)


FAKE_DASK = """
import os
class Scheduler: pass
class SpecCluster: pass
class Worker:
    def __init__(self, *_, **__): {does}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dask", "words", "lines"),
    [
        (
            "raise ImportError('this one is broken')",
            "the process that starts them has ended; its last words: .*this one is broken",
            0,
        ),
        (
            FAKE_DASK.format(does="raise ImportError('this one is broken')"),
            "it ended with exit code 1; .*this one is broken",
            2,
        ),
        (FAKE_DASK.format(does="os.kill(os.getpid(), 11)"), r"it did not reach .* 5 times .*\(SIGSEGV\)", 2),
        ("import os; os.kill(os.getpid(), 9)", "the process that starts them has ended", 4),
    ],
)
def test_workers_that_cannot_start_are_an_error_with_their_words(
    dask: str, words: str, lines: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "distributed").mkdir()
    (tmp_path / "distributed" / "__init__.py").write_text(dask)
    (tmp_path / "distributed" / "security.py").write_text("Security = dict")
    monkeypatch.syspath_prepend(tmp_path)
    said: list[str] = []
    with LocalWorkers("local:2", arch="reference", tell=said.append) as workers:
        workers.join(json.dumps({"address": "tls://127.0.0.1:1", "certificate": "", "key": ""}))
        with pytest.raises(EngineError, match=f"no worker could be started: {words}"):
            told(workers.require_some)
    assert len(said) == lines
    assert not psutil.Process().children()


def listening() -> set[tuple[str, int]]:
    """Return where this process and those below it listen."""
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    sockets = [each for process in family for each in process.net_connections()]
    return {(each.laddr.ip, each.laddr.port) for each in sockets if each.status == psutil.CONN_LISTEN}


def answer_without_certificate(place: tuple[str, int], *, encrypted: bool) -> bytes:
    """Return what a server says to somebody who asks for a page and has no certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(place, timeout=PATIENCE) as plain:
        try:
            with context.wrap_socket(plain) if encrypted else plain as asking:
                asking.sendall(b"GET / HTTP/1.0\r\n\r\n")
                return asking.recv(1 << 10)
        except (ssl.SSLError, ConnectionResetError):
            return b""


@pytest.mark.slow
def test_nobody_without_the_certificate_of_the_run_reaches_a_local_cluster() -> None:
    before = listening()
    with started("local:2", arch="reference") as workers, connected(workers) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        ports = listening() - before
        assert len(ports) == 3, "a scheduler and two workers have a port each, and no pages"
        for place in ports:
            assert place[0] == "127.0.0.1"
            for encrypted in (False, True):
                assert answer_without_certificate(place, encrypted=encrypted) == b""
        assert client.scheduler.address.startswith("tls://")


@pytest.mark.slow
@pytest.mark.usefixtures("two_gpus")
def test_each_worker_of_a_machine_with_gpus_sees_one_and_listens_here_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["", *(path for path in sys.path if path != os.getcwd())])
    with started("local", arch="cpu") as workers, connected(workers) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        seen = client.run(lambda: (os.environ["CUDA_VISIBLE_DEVICES"], os.getpid()))
        assert sorted(gpu for gpu, _ in seen.values()) == ["0", "1"]
        paths = client.run(lambda: sys.path).values()
        assert all(os.getcwd() in path and "" not in path for path in paths)
        processes = [psutil.Process(pid) for pid in (os.getpid(), *(pid for _, pid in seen.values()))]
        for process in processes:
            listening = [each.laddr.ip for each in process.net_connections() if each.status == psutil.CONN_LISTEN]
            assert set(listening) == {"127.0.0.1"}
    assert not psutil.Process().children(recursive=True)


@pytest.mark.slow
def test_workers_leave_the_terminal_s_signals_to_their_driver() -> None:
    with LocalWorkers("local:1", arch="cpu") as workers, connected(workers) as client:
        family = psutil.Process().children(recursive=True)
        (before,) = client.run(os.getpid).values()
        for process in family:
            process.send_signal(signal.SIGINT)
        assert list(client.run(os.getpid).values()) == [before]


SEEKER = """
from kernels_ti.cluster import local_worker
from kernels_ti.cluster.local import Plan

local_worker.SECONDS_TO_END = 60.0  # far more than it takes to end by itself
local_worker.work(Plan([None], 1, "reference", 1, ""))
"""


def test_a_worker_that_seeks_its_scheduler_ends_when_the_driver_has_gone(tmp_path: Path) -> None:
    from kernels_ti.cluster.servers import invitation, new_security

    with socket.socket() as mute:  # it takes connections, and never answers
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        letter = invitation(f"tls://127.0.0.1:{mute.getsockname()[1]}", new_security())
        seeker = subprocess.run(
            [sys.executable, "-c", SEEKER],
            input=letter + "\n",
            text=True,
            capture_output=True,
            check=False,
            cwd=tmp_path,
        )
    assert (seeker.returncode, seeker.stderr) == (0, "")


@pytest.mark.slow
def test_another_process_makes_workers_where_the_first_is_killed() -> None:
    said: list[str] = []
    with started("local:2", arch="reference", tell=said.append) as workers, connected(workers) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        before = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
        addresses = set(client.nthreads())
        (nursery,) = psutil.Process().children()
        nursery.kill()
        wait_for_end(before)  # workers do not outlive the process that made them
        # The scheduler may hear of their end later than this process.
        told(lambda: len(client.nthreads()) == 2 and addresses.isdisjoint(client.nthreads()))
        assert {process.pid for process in before}.isdisjoint(client.run(os.getpid).values())
    assert said == ["the process that starts the workers of this machine was killed; another takes its place"]
    assert not psutil.Process().children(recursive=True)


@pytest.mark.parametrize("of", ["distributed.Client.__init__", "kernels_ti.cluster.servers.SpecCluster"])
def test_a_lack_of_files_is_told_in_a_line(of: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import kernels_ti.cluster.servers  # noqa: F401

    def lacks(*_: object, **__: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(of, lacks)
    words = r"(cannot start|tls://127.0.0.1:\d+ cannot be reached).*Too many open files"
    with pytest.raises(EngineError, match=words), connected("local:1"):
        pass


def test_too_few_open_files_are_told_before_any_process_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda which: (63, 1024))
    told = "a local cluster of 2 workers needs 64 open files, and 63 are allowed"
    with pytest.raises(EngineError, match=told), connected("local:2"):
        pass
    assert not psutil.Process().children(recursive=True)
