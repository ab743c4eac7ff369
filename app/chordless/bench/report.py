"""What a benchmark hands out: its rows as they are measured, and the JSON object that holds them."""

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

from kernels_ti import EngineError


class Row(Protocol):
    """A row that can be measured."""

    @property
    def title(self) -> str:
        """What it is called."""

    @property
    def measured(self) -> bool:
        """Whether there is anything to show."""

    @property
    def problems(self) -> Iterator[str]:
        """What is wrong, a line each."""

    def to_json(self) -> dict[str, Any]:
        """Return what the report holds of it."""


AnyRow = TypeVar("AnyRow", bound=Row)


class _TerminatedError(KeyboardInterrupt):
    """SIGTERM, on the way that Ctrl-C takes."""


@dataclass
class Report(Generic[AnyRow]):
    """The rows of a benchmark and how they were measured.

    Attributes
    ----------
    heading : dict
        What stands above the rows in the JSON object.
    rows : list
        Those that were measured, perhaps not to the end.
    notes : list of str
        What is to be said below the table.
    interrupted : int or None
        The signal that ended the measurement.
    """

    heading: dict[str, Any]
    rows: list[AnyRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupted: int | None = None

    @property
    def problems(self) -> list[str]:
        """What is wrong in any row."""
        return [problem for row in self.rows for problem in row.problems]

    def measure(self, rows: Sequence[AnyRow], measure: Callable[[AnyRow], None], save_to: str | None) -> None:
        """Measure row by row, saying on standard error which; Ctrl-C and SIGTERM end it and keep what there is.

        Parameters
        ----------
        rows : sequence of Row
        measure : callable
            Measures one row.
        save_to : str or None
            A file that gets the JSON object after every row.

        Raises
        ------
        EngineError
            If the file cannot be written; that is tried before the first row.
        """
        if save_to is not None:
            _write(save_to, "a", "")
        with _termination_interrupts():
            try:
                for i, row in enumerate(rows):
                    sys.stderr.write(f"{i + 1}/{len(rows)}  {row.title}\n")
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
    """Return what stands above the rows: what was run, when, with which settings, and on what.

    Parameters
    ----------
    kind : str
        ``table1`` or ``peers``.
    legend : str
        What the columns mean.
    version : str or None
        Of this program.
    machine : dict
        See `chordless.bench.measure.machine`.
    **settings
        Of the benchmark.
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
