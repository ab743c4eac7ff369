"""The result of a benchmark: its rows while they are measured, and the JSON object with all of them."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from chordless.bench.rows import Row
from chordless.files import writing
from chordless.runs.directory import program_version
from chordless.termination import TerminatedError, termination_interrupts
from chordless.words.shown import on_terminal


@dataclass(frozen=True)
class Prepared:
    """A bench that is ready to be measured: its rows, the machine, and what the report says of both."""

    rows: Sequence[Row]
    machine: dict[str, Any]  # See `chordless.bench.measure.machine`
    settings: dict[str, Any] = field(default_factory=dict)  # Beside those of all benches
    notes: Sequence[str] = ()  # Remarks below the table
    after: Callable[[Report], None] = lambda report: None  # Called when all is measured


@dataclass
class Report:
    """The rows of a benchmark, and how they were measured."""

    heading: dict[str, Any]  # The fields before the rows in the JSON object
    rows: list[Row] = field(default_factory=list)  # Measured so far; the last one may be incomplete
    notes: list[str] = field(default_factory=list)  # Remarks below the table
    interrupted: int | None = None  # The signal that ended the measurement

    @property
    def problems(self) -> list[str]:
        """The problems of all rows."""
        return [problem for row in self.rows for problem in row.problems]

    def measure(self, rows: Sequence[Row], repeat: int, save_to: str | None) -> None:
        """Measure row by row, and save the report after each. Ctrl-C and SIGTERM end it; results stay."""
        if save_to is not None:
            _write(save_to, "a", "")
        with termination_interrupts():
            try:
                for i, row in enumerate(rows):
                    sys.stderr.write(f"{i + 1}/{len(rows)}  {on_terminal(row.title, sys.stderr)}\n")
                    self.rows.append(row)
                    row.measure(repeat)
                    if save_to is not None:
                        self.save(save_to)
            except KeyboardInterrupt as interrupt:
                self.interrupted = interrupt.number if isinstance(interrupt, TerminatedError) else signal.SIGINT
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


def heading(kind: str, legend: str, machine: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """Return the fields before the rows; the legend says what the columns mean."""
    return {
        "bench": kind,
        "legend": legend,
        "chordless": program_version(),
        "command": shlex.join(["chordless", *sys.argv[1:]]),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": machine,
        "settings": settings,
    }


def _write(path: str, mode: str, text: str) -> None:
    with writing(path), open(path, mode, encoding="utf-8") as file:
        file.write(text)
