"""A process that searches graphs on request: one start of the engine for all searches of a benchmark."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from types import TracebackType
from typing import Any

from chordless.bench.measure import Outcome, split_count
from chordless.bench.process import end_of, kill_group, module_command
from kernels_ti import EngineError


class SearchProcess:
    """Searches graphs in a child process, which is started by the first search and stays until the block is left.

    Parameters
    ----------
    arch : str
    threads : int or None
    module : str
        What runs in the child process.
    """

    def __init__(self, arch: str, threads: int | None, module: str = "chordless.bench.transfer") -> None:
        self._command = module_command(module, arch, str(threads or ""))
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> SearchProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def once(self, graph: str, wanted: str) -> Outcome:
        """Search a graph file.

        Parameters
        ----------
        graph : str
            The graph file.
        wanted : {"count", "kept", "rows", "lists"}
            Only count the cycles, keep them in the memory of the device, or bring them to the host as bit rows, or as
            lists of names.

        Returns
        -------
        Outcome
            The time covers all slices of the search, with the transfer of their cycles. The process has searched the
            same graph in the same way before, so its kernels are loaded.

        Raises
        ------
        EngineError
            If the search fails. After the death of the process, the next search starts another.
        """
        result = self.asked({"graph": graph, "wanted": wanted})
        by_length = {int(length): count for length, count in result["by_length"].items()}
        return Outcome(result["seconds"], count=split_count(by_length), by_length=by_length)

    def link_speed(self) -> float | None:
        """Return how many bytes a second the device sends to the host; None where that is not known."""
        speed: float | None = self.asked({"graph": "", "wanted": "link"})["bytes_per_second"]
        return speed

    def asked(self, request: dict[str, str]) -> dict[str, Any]:
        """Return the answer of the process to a request.

        Raises
        ------
        EngineError
            As for `once`.
        """
        try:
            answer = self._answer(json.dumps(request))
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
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("{"):  # Taichi may print lines of its own
                return line
        exit_code = self._process.wait()
        last = [line.strip() for line in end_of(self._errors).splitlines() if line.strip()]
        raise EngineError(f"the engine ended with exit code {exit_code}{f': {last[-1][:200]}' if last else ''}")

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
