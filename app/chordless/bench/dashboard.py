"""``bench dashboard``: how soon the dashboard answers a key while it searches a graph on all cores."""

from __future__ import annotations

import fcntl
import math
import os
import pty
import select
import shlex
import signal
import struct
import subprocess
import termios
import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from itertools import cycle
from pathlib import Path
from typing import Any

from chordless.bench.measure import Column, Outcome, Series, figures, machine, series_columns
from chordless.bench.process import program_command
from chordless.bench.programs import new_folder
from chordless.bench.report import Prepared, Row
from kernels_ti import EngineError

COLUMNS = (Column("graph", left=True), *series_columns("keys"), Column("95%"))
DEFAULT_GRAPHS = ("grid:9x10",)

_ROWS, _WIDTH = 40, 120
_SCREENS = (("3", "[3 Cycles]"), ("4", "[4 Runs]"), ("5", "[5 Batch]"), ("2", "[2 Run]"))
_SECONDS_FOR_AN_ANSWER, _SECONDS_TO_LEAVE = 60.0, 60.0
_SHARE = 0.95


def prepared(options: Namespace, stack: ExitStack) -> Prepared:
    """Return a row for each graph."""
    options.arch, options.threads = "cpu", None  # As a new dashboard has it
    rows = [DashboardRow(graph, new_folder(stack)) for graph in options.graphs or DEFAULT_GRAPHS]
    return Prepared(rows, machine(options.arch))


class Terminal(AbstractContextManager["Terminal"]):
    """A program on a pseudo-terminal, with more variables in its environment. It ends with the block."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self._mine, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _WIDTH, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", **environment}
        try:
            self._process = subprocess.Popen(
                command, stdin=its, stdout=its, stderr=its, env=environment, start_new_session=True
            )
        except OSError as error:
            os.close(self._mine)
            raise EngineError(f"cannot start the dashboard: {error.strerror}") from error
        finally:
            os.close(its)
        self._shown = b""

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + _SECONDS_TO_LEAVE
        # What it still draws must be read, or it would wait for that.
        while self._process.poll() is None and time.monotonic() < deadline:
            self._read(0.05)
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._mine)

    def press(self, keys: str, words: str) -> float:
        """Press keys and wait for words; return the seconds until they are drawn, see `wait_for`."""
        while self._read(0.0):
            pass
        self._shown = b""
        began = time.monotonic()
        os.write(self._mine, keys.encode())
        self.wait_for(words)
        return time.monotonic() - began

    def wait_for(self, words: str) -> None:
        """Wait until words are drawn that were not there before the last key; an EngineError if they do not come."""
        began = time.monotonic()
        while words.encode() not in self._shown:
            seconds = time.monotonic() - began
            if self._process.poll() is not None:
                raise EngineError(f"the dashboard has ended with exit code {self._process.returncode}")
            if seconds >= _SECONDS_FOR_AN_ANSWER:
                raise EngineError(f"the dashboard has not shown {words!r} within {seconds:.0f} s")
            self._read(0.05)

    def has_drawn(self, words: str) -> bool:
        """Return whether words were drawn since the last key."""
        while self._read(0.0):
            pass
        return words.encode() in self._shown

    def _read(self, seconds: float) -> bool:
        """Take what is drawn within some seconds; return whether there was anything."""
        if not select.select([self._mine], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self._mine, 1 << 16)
        except OSError:
            # The program has closed its side.
            return False
        self._shown += piece
        return bool(piece)


class DashboardRow(Row):
    """The times of the keys on a search of one graph."""

    keys = ("graph", "series")

    def __init__(self, graph: str, folder: Path, command: Sequence[str] | None = None) -> None:
        self._graph, self._folder = graph, folder
        self._command = program_command("tui", graph) if command is None else command
        self._terminal: Terminal | None = None
        self._screens = cycle(_SCREENS)
        super().__init__(graph, [Series("screens", f"chordless tui {shlex.quote(graph)}", self._press)])

    def measure(self, repeat: int) -> None:
        """Press so many keys, one after another."""
        own = {name: str(self._folder) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME")}
        with Terminal(self._command, own) as self._terminal:
            super().measure(repeat)

    def _press(self) -> Outcome:
        assert self._terminal is not None
        if not self.series[0].seconds:
            # The graph is filled in, and Start has the focus.
            self._terminal.wait_for(f"in {self._graph}")
            self._terminal.press("\x12", "[2 Run]")
        elif self._terminal.has_drawn("complete"):
            self._terminal.press("1", "[1 New]")
            self._terminal.press("\x12", "[2 Run]")
        return Outcome(self._terminal.press(*next(self._screens)))

    def _behind(self, one: Series) -> tuple[str, ...]:
        return (figures(percentile(one.seconds)),)

    def _facts_of(self, one: Series) -> dict[str, Any]:
        late = percentile(one.seconds)
        return {"percentile_95": None if late is None else round(late, 6)}


def percentile(seconds: Sequence[float]) -> float | None:
    """Return the least of the times that 95% of them do not exceed; None without any."""
    return sorted(seconds)[math.ceil(_SHARE * len(seconds)) - 1] if seconds else None
