"""A child process in its own process group, with exact timing. No process of the group stays behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
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
        None after a time-out.
    seconds : float
        Time from just before the start until the end.
    printed, errors : str
        The end of standard output, and of standard error.
    """

    exit_code: int | None
    seconds: float
    printed: str
    errors: str

    @property
    def last_words(self) -> str:
        """A colon and the last line of standard error that is not empty, or else of standard output."""
        lines = [line.strip() for line in (self.printed + "\n" + self.errors).splitlines() if line.strip()]
        return f": {lines[-1][:200]}" if lines else ""


def module_command(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command line that calls ``main(*arguments)`` of a module of this program in a new process.

    The new process gets the module search path of this process.
    """
    boot = f"import sys; sys.path[:] = sys.argv[{1 + len(arguments)}:]; from {module} import main; "
    call = f"main(*sys.argv[1:{1 + len(arguments)}])"
    return (sys.executable, "-c", boot + call, *arguments, *sys.path)


def program_command(*arguments: str) -> tuple[str, ...]:
    """Return the command line of this program with these arguments; see `module_command` for its search path."""
    boot = f"import sys; sys.path[:] = sys.argv[{1 + len(arguments)}:]; from chordless.cli import main; "
    call = f"sys.exit(main(sys.argv[1:{1 + len(arguments)}]))"
    return (sys.executable, "-c", boot + call, *arguments, *sys.path)


def run_process(
    arguments: Sequence[str], timeout: float | None = None, environment: Mapping[str, str] | None = None
) -> Ended:
    """Run a program to its end.

    Parameters
    ----------
    arguments : sequence of str
    timeout : float, optional
        Seconds after which it is killed. At the end of this function, even after an exception, all processes of its
        group are killed.
    environment : mapping of str to str, optional
        All environment variables of the program; by default those of this process.

    Raises
    ------
    EngineError
        If the program cannot be started.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
                env=environment,
            )
        except OSError as error:
            raise EngineError(f"cannot start {arguments[0]}: {error.strerror}") from error
        time_is_up = threading.Event()

        def end() -> None:
            time_is_up.set()
            kill_group(process.pid)

        # A timer and a plain wait, because a wait with a time-out has a resolution of only 50 ms.
        timer = threading.Timer(timeout if timeout is not None else threading.TIMEOUT_MAX, end)
        timer.daemon = True
        timer.start()
        try:
            exit_code = process.wait()
            seconds = time.perf_counter() - start
        finally:
            timer.cancel()
            kill_group(process.pid)
            process.wait()
        return Ended(None if time_is_up.is_set() else exit_code, seconds, end_of(output), end_of(errors))


def kill_group(leader: int) -> None:
    """Kill all processes of a group, as far as there are any."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def end_of(file: IO[bytes]) -> str:
    """Return the end of what was written to a file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _OUTPUT_READ))
    return file.read().decode(errors="replace")
