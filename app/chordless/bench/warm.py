"""A process that searches graphs on request: one start of the engine for all searches of a bench."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from typing import Any

from chordless.bench.measure import Outcome, outcome_of
from chordless.bench.process import end_of, in_child, kill_group, last_line
from kernels_ti import EngineError, child


class WarmProcess:
    """A child process for searches, started by the first one; `chordless.bench.calls` does the work there."""

    def __init__(self, arch: str, threads: int | None) -> None:
        self._arguments = (arch, str(threads or ""))
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> WarmProcess:
        return self

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
