"""A cluster of this machine's own cores or GPUs, as its driver sees it.

Its processes start before the driver reads its graph and loads Dask, because they take a second or more to load their
modules and to open their devices. See `kernels_ti.cluster.nursery` for what runs in them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from kernels_ti import child
from kernels_ti.cluster.address import LOCAL
from kernels_ti.cluster.gpus import chosen_gpus
from kernels_ti.device.machine import cores
from kernels_ti.errors import EngineError, quantity
from kernels_ti.folders import temporary_folder

CORES_PER_WORKER = 16  # Most cores of one local worker, unless the number of workers is given

SECONDS_TO_END = 10.0  # Seconds that the processes have to keep their compiled kernels once the driver lets them go
MOST_EARLY_DEATHS = 5  # How many times in a row a process may be killed before a worker reaches the scheduler
FILES, FILES_OF_A_WORKER = 48, 8  # Files that the driver, or a worker, has open at the same time, at most
JOINED = "joined"  # File that a worker makes in its folder once it has reached the scheduler

DRIVERS_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
"""Signals that may reach a whole group of processes; the workers leave them to their driver."""

_BOOT = "from kernels_ti.cluster.nursery import main; main(sys.argv[1])"
_ENVIRONMENT = {"TI_SKIP_VERSION_CHECK": "ON", "ENABLE_TAICHI_HEADER_PRINT": "0"}


@dataclass(frozen=True)
class Plan:
    """The task of the nursery."""

    gpus: list[int | None]  # For each worker the GPU that it sees; None leaves it as it is
    threads: int  # Of a worker
    arch: str  # The device that a worker opens while it waits for its scheduler; ``auto`` only loads Taichi
    device_threads: int  # Threads of that device, if it is the CPU
    folder: str  # For the files of the workers


def be_quiet(line: str) -> None:
    """Drop a line of text."""


class LocalWorkers:
    """The workers of a local cluster. Their processes start now, and end with the block.

    `where` is ``local`` or ``local:N``, see `kernels_ti.cluster.address.check_cluster`. The workers will search on
    `arch`, on the CPU with `threads` each, by default with their share of the cores. `tell` is called with a line of
    text, on another thread, when a worker cannot be used. A DeviceError is raised if a GPU of `gpus` does not exist, an
    EngineError if no process can be started, or too few files may be open.
    """

    def __init__(
        self,
        where: str,
        gpus: Sequence[int] | None = None,
        *,
        arch: str = "auto",
        threads: int | None = None,
        tell: Callable[[str], None] = be_quiet,
    ) -> None:
        local = LOCAL.fullmatch(where)
        wanted = int(local[1]) if local and local[1] else None
        chosen = chosen_gpus(gpus) if wanted is None else ()
        count = len(chosen) or wanted or -(-cores() // CORES_PER_WORKER)
        _require_files(count)
        each = max(cores() // count, 1)
        self._tell = tell
        self._left = count
        self._failure = ""
        self._folder = temporary_folder("chordless-workers-", ignore_cleanup_errors=True)
        self._printed = Path(self._folder.name, "printed")
        self._plan = Plan([*chosen] or [None] * count, each, arch, threads or each, self._folder.name)
        self._guard = threading.Lock()
        self._invitation = ""
        self._closing = False
        try:
            self._nursery = self._started()
        except EngineError:
            self._folder.cleanup()
            raise
        self._listener = threading.Thread(target=self._listen, name="chordless-workers", daemon=True)
        self._listener.start()

    def join(self, invitation: str) -> None:
        """Invite the workers, also those started later; see `kernels_ti.cluster.servers.invitation`."""
        with self._guard:
            self._invitation = invitation + "\n"
            self._invite()

    def require_some(self) -> None:
        """Raise EngineError if no worker is left."""
        if not self._left:
            raise EngineError(f"no worker could be started: {self._failure}")

    def close(self) -> None:
        """End the processes; what does not end in `SECONDS_TO_END` is killed."""
        self._tell = be_quiet
        with self._guard:
            self._closing = True
            nursery = self._nursery
            assert nursery.stdin is not None
            nursery.stdin.close()
        try:
            nursery.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            nursery.kill()  # the system ends its workers
            nursery.wait()
        self._listener.join()
        self._folder.cleanup()

    def __enter__(self) -> LocalWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _started(self) -> subprocess.Popen[bytes]:
        """Start the process from which the workers are forked."""
        try:
            with open(self._printed, "wb") as printed:
                return child.start(
                    _BOOT,
                    json.dumps(asdict(self._plan)),
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=printed,
                    env={**os.environ, **_ENVIRONMENT},
                )
        except OSError as error:
            raise EngineError(f"cannot start workers: {error.strerror}") from error

    def _invite(self) -> None:
        assert self._nursery.stdin is not None
        with suppress(BrokenPipeError):  # the nursery has ended, which `require_some` says
            self._nursery.stdin.write(self._invitation.encode())

    def _listen(self) -> None:
        """Take the words of the workers that have ended for good; start the nursery again where it is killed."""
        early_deaths = 0
        while True:
            self._hear()
            killed = self._nursery.wait() < 0
            joined = any(Path(self._folder.name).glob(f"{self._nursery.pid}-*/{JOINED}"))
            early_deaths = 0 if joined else early_deaths + 1
            with self._guard:
                if self._closing or not killed or early_deaths >= MOST_EARLY_DEATHS:
                    break
                assert self._nursery.stdin is not None
                self._nursery.stdin.close()
                try:
                    self._nursery = self._started()
                except EngineError as error:
                    self._failure = str(error)
                    break
                self._left = len(self._plan.gpus)
                self._invite()
            self._tell("the process that starts the workers of this machine was killed; another takes its place")
        self._failure = self._failure or f"the process that starts them has ended{last_words(self._printed)}"
        self._left = 0

    def _hear(self) -> None:
        """Take the words of the workers that have ended for good, until the nursery ends."""
        assert self._nursery.stdout is not None
        with self._nursery.stdout as lines:
            for line in lines:
                self._failure = line.decode(errors="replace").strip()
                self._left -= 1
                self._tell(f"a worker of this machine cannot be used: {self._failure}")


def last_words(printed: Path) -> str:
    """Return the last line that a process printed to a file, to be appended to a message; "" if there is none."""
    with suppress(OSError):  # the process ended before it had a file
        text = printed.read_text(errors="replace").strip()
        return f"; its last words: {text.splitlines()[-1]}" if text else ""
    return ""


def _require_files(workers: int) -> None:
    """Raise EngineError if a process may open fewer files than a local cluster needs: it would wait for workers."""
    import resource

    needed, most = FILES + FILES_OF_A_WORKER * workers, resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if 0 <= most < needed:
        raise EngineError(
            f"a local cluster of {quantity(workers, 'worker')} needs {needed:,} open files, and {most:,} are allowed "
            "(`ulimit -n` tells the limit)"
        )
