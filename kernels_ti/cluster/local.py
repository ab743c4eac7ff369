"""A cluster of this machine's own cores or GPUs, as its driver sees it.

Its processes start before the driver reads its graph and loads Dask, because they take a second or more to load their
modules and to open their devices. See `kernels_ti.cluster.nursery` for what runs in them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from kernels_ti.cluster.address import LOCAL
from kernels_ti.cluster.gpus import chosen_gpus
from kernels_ti.device.machine import cores
from kernels_ti.errors import EngineError

CORES_PER_WORKER = 16
"""Most cores of one local worker, unless the number of workers is given."""

SECONDS_TO_END = 10.0
"""Seconds that the processes have to keep their compiled kernels once the driver lets them go."""

DRIVERS_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
"""Signals that may reach a whole group of processes; the workers leave them to their driver."""

# The processes look for modules where their driver looks, and nowhere else.
_BOOT = "import sys; sys.path[:] = sys.argv[2:]; from kernels_ti.cluster.nursery import main; main(sys.argv[1])"
_ENVIRONMENT = {"TI_SKIP_VERSION_CHECK": "ON", "ENABLE_TAICHI_HEADER_PRINT": "0"}


@dataclass(frozen=True)
class Plan:
    """What the nursery is to do.

    Attributes
    ----------
    gpus : list of (int or None)
        For each worker the GPU that it sees; None leaves it as it is.
    threads : int
        Threads of a worker.
    arch : str
        The device that a worker opens while it waits for its scheduler; ``auto`` only loads Taichi.
    device_threads : int
        Threads of that device, if it is the CPU.
    folder : str
        For the files of the workers.
    """

    gpus: list[int | None]
    threads: int
    arch: str
    device_threads: int
    folder: str


def be_quiet(line: str) -> None:
    """Drop a line of text."""


class LocalWorkers:
    """The workers of a local cluster. Their processes start now, and end with the block.

    Parameters
    ----------
    where : str
        ``local`` or ``local:N``, see `kernels_ti.cluster.address.check_cluster`.
    gpus : sequence of int, optional
    arch : str
        Where the workers will search.
    threads : int, optional
        Threads of a worker on the CPU; by default its share of the cores.
    tell : callable, optional
        Called with a line of text, on another thread, when a worker cannot be used.

    Raises
    ------
    DeviceError
        If a GPU of `gpus` does not exist.
    EngineError
        If no process can be started.
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
        each = max(cores() // count, 1)
        self._tell = tell
        self._left = count
        self._failure = ""
        self._folder = tempfile.TemporaryDirectory(prefix="chordless-workers-", ignore_cleanup_errors=True)
        self._printed = Path(self._folder.name, "printed")
        plan = Plan([*chosen] or [None] * count, each, arch, threads or each, self._folder.name)
        # Signals are blocked meanwhile: no Ctrl-C may reach the process before it ignores them.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, DRIVERS_SIGNALS)
        try:
            with open(self._printed, "wb") as printed:
                self._nursery = subprocess.Popen(
                    # A worker has a current folder of its own.
                    [sys.executable, "-c", _BOOT, json.dumps(asdict(plan)), *map(os.path.abspath, sys.path)],
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=printed,
                    env={**os.environ, **_ENVIRONMENT},
                )
        except OSError as error:
            self._folder.cleanup()
            raise EngineError(f"cannot start workers: {error.strerror}") from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self._listener = threading.Thread(target=self._listen, name="chordless-workers", daemon=True)
        self._listener.start()

    def join(self, address: str) -> None:
        """Tell the workers, also those that are started later, the address of their scheduler."""
        assert self._nursery.stdin is not None
        with suppress(BrokenPipeError):  # the nursery has ended, which `require_some` says
            self._nursery.stdin.write(address.encode() + b"\n")

    def require_some(self) -> None:
        """Raise EngineError if no worker is left."""
        if not self._left:
            raise EngineError(f"no worker could be started: {self._failure}")

    def close(self) -> None:
        """End the processes; what does not end in `SECONDS_TO_END` is killed."""
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._tell = be_quiet
        self._nursery.stdin.close()
        try:
            self._nursery.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._nursery.kill()  # the workers notice
            self._nursery.wait()
        self._listener.join()
        self._nursery.stdout.close()
        self._folder.cleanup()

    def __enter__(self) -> LocalWorkers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _listen(self) -> None:
        """Take the words of the workers that have ended for good, until the nursery ends."""
        assert self._nursery.stdout is not None
        for line in self._nursery.stdout:
            self._failure = line.decode(errors="replace").strip()
            self._left -= 1
            self._tell(f"a worker of this machine cannot be used: {self._failure}")
        self._failure = self._failure or f"the process that starts them has ended{last_words(self._printed)}"
        self._left = 0


def last_words(printed: Path) -> str:
    """Return the last line that a process printed to a file, to be appended to a message; "" if there is none."""
    with suppress(OSError):  # the process ended before it had a file
        text = printed.read_text(errors="replace").strip()
        return f"; its last words: {text.splitlines()[-1]}" if text else ""
    return ""
