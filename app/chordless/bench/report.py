"""The result of a benchmark: its rows while they are measured, and the JSON object with all of them."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from types import FrameType
from typing import Any, Generic, Protocol, TypeVar

from chordless.words.shown import on_terminal
from kernels_ti import EngineError


class Row(Protocol):
    """A row of a benchmark."""

    @property
    def title(self) -> str:
        """The title of the row."""

    @property
    def measured(self) -> bool:
        """Whether there is anything to show."""

    @property
    def problems(self) -> Iterator[str]:
        """Yield one line for each problem."""

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""


AnyRow = TypeVar("AnyRow", bound=Row)


class _TerminatedError(KeyboardInterrupt):
    """SIGTERM. It is handled like Ctrl-C."""


@dataclass
class Report(Generic[AnyRow]):
    """The rows of a benchmark, and how they were measured.

    Attributes
    ----------
    heading : dict
        The fields before the rows in the JSON object.
    rows : list
        The rows measured so far. The last one may be incomplete.
    notes : list of str
        Remarks below the table.
    interrupted : int or None
        The signal that ended the measurement.
    """

    heading: dict[str, Any]
    rows: list[AnyRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupted: int | None = None

    @property
    def problems(self) -> list[str]:
        """The problems of all rows."""
        return [problem for row in self.rows for problem in row.problems]

    def measure(self, rows: Sequence[AnyRow], measure: Callable[[AnyRow], None], save_to: str | None) -> None:
        """Measure row by row, and print the row's title on standard error. Ctrl-C and SIGTERM end it; results stay.

        Parameters
        ----------
        rows : sequence of Row
        measure : callable
            Measures one row.
        save_to : str or None
            A file for the JSON object. It is written after every row.

        Raises
        ------
        EngineError
            If the file cannot be written. This is tried before the first row.
        """
        if save_to is not None:
            _write(save_to, "a", "")
        with _termination_interrupts():
            try:
                for i, row in enumerate(rows):
                    sys.stderr.write(f"{i + 1}/{len(rows)}  {on_terminal(row.title, sys.stderr)}\n")
                    self.rows.append(row)
                    measure(row)
                    if save_to is not None:
                        self.save(save_to)
            except KeyboardInterrupt as interrupt:
                self.interrupted = signal.SIGTERM if isinstance(interrupt, _TerminatedError) else signal.SIGINT
                if self.rows and not self.rows[-1].measured:
                    self.rows.pop()
        if save_to is not None and self.rows:
            self.save(save_to)

    def to_json(self) -> dict[str, Any]:
        """Return the whole report."""
        return {
            **self.heading,
            "complete": self.interrupted is None,
            "notes": self.notes,
            "problems": self.problems,
            "rows": [row.to_json() for row in self.rows],
        }

    def save(self, path: str) -> None:
        """Write the report as JSON."""
        _write(path, "w", json.dumps(self.to_json(), indent=1) + "\n")


def heading(kind: str, legend: str, version: str | None, machine: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """Return the fields before the rows: benchmark, time, settings and machine.

    Parameters
    ----------
    kind : str
        ``table1``, ``peers``, ``batch`` or ``start``.
    legend : str
        The meaning of the columns.
    version : str or None
        The version of this program.
    machine : dict
        See `chordless.bench.measure.machine`.
    **settings
        The settings of the benchmark.
    """
    return {
        "bench": kind,
        "legend": legend,
        "chordless": version,
        "command": shlex.join(["chordless", *sys.argv[1:]]),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": machine,
        "settings": settings,
    }


def _write(path: str, mode: str, text: str) -> None:
    try:
        with open(path, mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise EngineError(f"cannot write {path}: {error.strerror}") from error


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
