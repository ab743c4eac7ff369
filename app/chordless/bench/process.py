"""Child processes in process groups of their own: a run with exact timing, and one that searches graphs on request.

No process of a group stays behind. If this process is killed, the system kills the group, see `kernels_ti.child`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from chordless.bench.measure import Outcome, outcome_of
from kernels_ti import EngineError, child

_OUTPUT_READ = 1 << 16


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    exit_code: int | None  # None after a time-out
    seconds: float  # From just before the start until the end
    printed: str  # The end of standard output
    errors: str  # The end of standard error


def in_child(function: str) -> str:
    """Return the code of a process that calls a function of `chordless.bench.children` with its arguments."""
    return f"from chordless.bench.children import {function}; {function}(*sys.argv[1:])"


def program_command(*arguments: str) -> tuple[str, ...]:
    """Return the command line of this program with these arguments."""
    return child.command("from chordless.cli import main; sys.exit(main())", *arguments)


def run_chordless(*arguments: str, environment: Mapping[str, str] | None = None, good: Sequence[int] = (0,)) -> Ended:
    """Run this program to its end. Another exit code than a good one is an EngineError."""
    return checked(run_process(program_command(*arguments), environment=environment), "chordless ", good)


def checked(ended: Ended, name: str = "", good: Sequence[int] = (0,)) -> Ended:
    """Return how a process ended; another exit code than a good one is an EngineError."""
    if ended.exit_code not in good:
        last_words = last_line(f"{ended.printed}\n{ended.errors}")
        raise EngineError(f"{name}ended with exit code {ended.exit_code}{last_words}")
    return ended


def run_process(
    arguments: Sequence[str], timeout: float | None = None, environment: Mapping[str, str] | None = None
) -> Ended:
    """Run a program to its end. An EngineError is raised if it cannot be started.

    It is killed after `timeout` seconds. At the end of this function, even after an exception, all processes of its
    group are killed. `environment` has all its environment variables; by default those of this process.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        lifeline = child.Lifeline()
        start = time.perf_counter()
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
                pass_fds=(lifeline.below,),
                env=environment,
            )
        except OSError as error:
            lifeline.cut()
            raise EngineError(f"cannot start {arguments[0]}: {error.strerror}") from error
        lifeline.hold_group(process.pid)
        lifeline.hold(process)
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


def last_line(text: str) -> str:
    """Return a colon and the last line that is not empty; nothing if there is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f": {lines[-1][:200]}" if lines else ""


class WarmProcess(contextlib.AbstractContextManager["WarmProcess"]):
    """A child process for searches, started by the first one; `chordless.bench.calls` does the work there."""

    def __init__(self, arch: str, threads: int | None) -> None:
        self._arguments = (arch, str(threads or ""))
        self._process: subprocess.Popen[bytes] | None = None

    def __exit__(self, *_: object) -> None:
        self._end()

    def once(self, graph: str, wanted: str) -> Outcome:
        """Return the time and the counts of `asked`."""
        result = self.asked(graph, wanted)
        return outcome_of(result["seconds"], {int(length): count for length, count in result["by_length"].items()})

    def asked(self, graph: str, wanted: str) -> dict[str, Any]:
        """Return the answer to a request; an EngineError if the search fails. A process that dies is replaced."""
        try:
            answer = self._answer(json.dumps({"graph": graph, "wanted": wanted}))
        except BaseException:
            self._end()
            raise
        result: dict[str, Any] = json.loads(answer)
        if "error" in result:
            raise EngineError(result["error"])
        return result

    def _answer(self, request: str) -> str:
        if self._process is None:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the process
            self._process = child.start(
                in_child("answer"),
                *self._arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(request.encode() + b"\n")
            self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(b"{"):  # Taichi may print lines of its own
                return line.decode()
        exit_code = self._process.wait()
        raise EngineError(f"the engine ended with exit code {exit_code}{last_line(end_of(self._errors))}")

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        kill_group(process.pid)
        process.wait()
        for stream in (process.stdin, process.stdout, self._errors):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
