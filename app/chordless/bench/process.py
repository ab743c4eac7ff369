"""A child process in a group of its own, that is waited for exactly and leaves nobody behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from kernels_ti import EngineError

_OUTPUT_READ = 1 << 16


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Attributes
    ----------
    exit_code : int or None
        None if its time was up.
    seconds : float
        From before it was started until it ended.
    printed, errors : str
        The end of its standard output and of its standard error.
    """

    exit_code: int | None
    seconds: float
    printed: str
    errors: str

    @property
    def last_words(self) -> str:
        """The last line that is not empty, of standard error or else of standard output, after a colon."""
        lines = [line.strip() for line in (self.printed + "\n" + self.errors).splitlines() if line.strip()]
        return f": {lines[-1][:200]}" if lines else ""


def module_command(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command line that calls ``main(*arguments)`` of a module of this program in a process of its own.

    It looks for modules where this process does, and nowhere else.
    """
    boot = f"import sys; sys.path[:] = sys.argv[{1 + len(arguments)}:]; from {module} import main; "
    call = f"main(*sys.argv[1:{1 + len(arguments)}])"
    return (sys.executable, "-c", boot + call, *arguments, *sys.path)


def run_process(arguments: Sequence[str], timeout: float | None = None) -> Ended:
    """Run a program to its end.

    Parameters
    ----------
    arguments : sequence of str
    timeout : float, optional
        Seconds after which it is killed. However this function is left, all processes that the program started,
        and that stayed in its group, are killed.

    Raises
    ------
    EngineError
        If it cannot be started.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        try:
            process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
            )
        except OSError as error:
            raise EngineError(f"cannot start {arguments[0]}: {error.strerror}") from error
        time_is_up = threading.Event()

        def end() -> None:
            time_is_up.set()
            _kill_group(process.pid)

        # A timer and a plain wait: waiting with a time-out looks only every 50 ms.
        timer = threading.Timer(timeout if timeout is not None else threading.TIMEOUT_MAX, end)
        timer.daemon = True
        timer.start()
        try:
            exit_code = process.wait()
            seconds = time.perf_counter() - start
        finally:
            timer.cancel()
            _kill_group(process.pid)
            process.wait()
        return Ended(None if time_is_up.is_set() else exit_code, seconds, _end_of(output), _end_of(errors))


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _end_of(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _OUTPUT_READ))
    return file.read().decode(errors="replace")
