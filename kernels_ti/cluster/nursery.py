"""The process from which the workers of a local cluster are forked.

It loads what every worker needs once, and forks the workers side by side. A worker that is killed is forked again. Its
driver writes the workers' invitation to its standard input, and closes that to end all; if the driver is killed, all
end at once. It has one thread and no device, because a fork keeps neither.
"""

from __future__ import annotations

import gc
import json
import os
import select
import shutil
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from kernels_ti.child import Lifeline, when_orphaned
from kernels_ti.cluster.local import DRIVERS_SIGNALS, JOINED, MOST_EARLY_DEATHS, Plan, last_words

SECONDS_TO_END = 9.0  # Seconds that the workers have to end before they are killed

_SECONDS_BETWEEN_LOOKS = 0.05
_OBJECTS_BETWEEN_COLLECTIONS = 50_000  # as in the engine: Python's own 700 slow the loading of modules down


def main(plan: str) -> None:
    """Load the modules, fork the workers of a `Plan`, which comes as JSON, and tend them until the driver has gone."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    for number in DRIVERS_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, DRIVERS_SIGNALS)
    nursery = Nursery(Plan(**json.loads(plan)))
    when_orphaned(nursery.end_at_once)
    sys.path[:] = map(os.path.abspath, sys.path)  # a worker has a current folder of its own
    from kernels_ti.cluster.local_worker import work

    gc.freeze()
    worker = nursery.tend()
    if worker is not None:
        nursery.become(worker)
        work(nursery.plan)


@dataclass(eq=False)
class _Worker:
    """One worker, whichever process it has at the moment."""

    number: int
    orders: int = -1
    lifeline: Lifeline | None = None
    process: int = 0
    early_deaths: int = 0

    def let_go(self) -> None:
        """Close the nursery's ends of the pipes to a process that has ended, or is another's."""
        self.process = 0
        os.close(self.orders)
        if self.lifeline is not None:
            self.lifeline.cut()


@dataclass(eq=False)
class Nursery:
    """Forks workers and tends them."""

    plan: Plan
    _workers: list[_Worker] = field(default_factory=list)
    _invitation: bytes = b""
    _name: str = field(default_factory=lambda: str(os.getpid()))

    def tend(self) -> _Worker | None:
        """Keep the workers alive until the driver has gone; return None then.

        In the process of each worker this returns too: that worker.
        """
        self._workers = [_Worker(number) for number in range(len(self.plan.gpus))]
        for worker in self._workers:
            if self._forked(worker):
                return worker
        while True:
            ready, _, _ = select.select([0], [], [], _SECONDS_BETWEEN_LOOKS)
            if ready and not (said := os.read(0, 1 << 12)):
                self._end()
                return None
            if ready:
                self._invitation += said
                for worker in self._workers:
                    _write(worker.orders, said)
            for worker, status in self._ended():
                worker.let_go()
                fault = self._fault(worker, status)
                if fault:
                    self._workers.remove(worker)
                    print(fault, flush=True)
                elif self._forked(worker):
                    return worker

    def become(self, worker: _Worker) -> None:
        """Make this process, which was forked just now, that of a worker."""
        assert worker.lifeline is not None
        worker.lifeline.take()
        for other in self._workers:
            if other is not worker and other.process:
                other.let_go()
        os.dup2(worker.orders, 0)
        os.close(worker.orders)
        folder = self._folder(worker)
        folder.mkdir(exist_ok=True)
        os.chdir(folder)
        Path(JOINED).unlink(missing_ok=True)
        with open("printed", "wb") as printed:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
        gpu = self.plan.gpus[worker.number]
        if gpu is not None:
            # It is set before Taichi is loaded, so the worker sees one GPU only.
            os.environ["CUDA_VISIBLE_DEVICES"] = str(gpu)

    def _forked(self, worker: _Worker) -> bool:
        """Fork the process of a worker; return whether this is that process."""
        below, orders = os.pipe()
        worker.lifeline = Lifeline()
        process = os.fork()
        if process == 0:
            os.close(orders)
            worker.orders = below
            return True
        os.close(below)
        worker.orders, worker.process = orders, process
        _write(orders, self._invitation)
        return False

    def _ended(self) -> list[tuple[_Worker, int]]:
        """Return the workers whose process has ended, with its status."""
        ended = []
        for worker in list(self._workers):
            process, status = os.waitpid(worker.process, os.WNOHANG)
            if process:
                ended.append((worker, status))
        return ended

    def _fault(self, worker: _Worker, status: int) -> str:
        """Return why a worker that has ended would end again; "" if it may be forked once more."""
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            words = last_words(self._folder(worker) / "printed")
            return f"it ended with exit code {os.WEXITSTATUS(status)}{words}"
        worker.early_deaths = 0 if (self._folder(worker) / JOINED).exists() else worker.early_deaths + 1
        if worker.early_deaths < MOST_EARLY_DEATHS:
            return ""
        how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "it ended"
        return f"it did not reach the scheduler {worker.early_deaths} times in a row ({how})"

    def _end(self) -> None:
        """Let the workers end, and wait for them; kill those that take too long. Remove their files."""
        for worker in self._workers:
            os.close(worker.orders)
        until = time.monotonic() + SECONDS_TO_END
        while self._workers and time.monotonic() < until:
            for worker, _ in self._ended():
                self._workers.remove(worker)
            time.sleep(_SECONDS_BETWEEN_LOOKS / 5)
        self._kill()

    def end_at_once(self) -> None:
        """Kill the workers, remove their files and end this process, because the driver was killed."""
        self._kill()
        os._exit(1)

    def _kill(self) -> None:
        for worker in self._workers:
            # It may have ended, and been waited for, just before.
            with suppress(ProcessLookupError, ChildProcessError):
                if worker.process:
                    os.kill(worker.process, signal.SIGKILL)
                    os.waitpid(worker.process, 0)
        shutil.rmtree(self.plan.folder, ignore_errors=True)

    def _folder(self, worker: _Worker) -> Path:
        return Path(self.plan.folder) / f"{self._name}-{worker.number}"


def _write(orders: int, text: bytes) -> None:
    with suppress(BrokenPipeError):  # the worker was killed, and will be forked again
        os.write(orders, text)
