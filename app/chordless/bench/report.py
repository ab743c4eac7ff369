"""The rows of a benchmark, programs that take turns on one thing, and the report with all of them, as JSON."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, ClassVar

from chordless.bench.measure import NOTHING, Series, agrees, in_words, take_turns
from chordless.files import writing
from chordless.runs.directory import program_version
from chordless.termination import TerminatedError, termination_interrupts
from chordless.words.shown import on_terminal
from kernels_ti import OptionError


class Row:
    """Series that are measured in turns. A line of the table shows one of them.

    The first `ours` series are of this program; the counts of all are compared with theirs. By default all are.
    """

    keys: ClassVar[tuple[str, str]] = ("graph", "programs")
    """The names of the title and of the series in the report."""

    def __init__(self, title: str, series: Sequence[Series], ours: int | None = None) -> None:
        self.title = title
        self.series = list(series)
        self._ours = self.series[:ours]

    @property
    def measured(self) -> bool:
        """Whether there is any result."""
        return any(one.seconds or one.stopped for one in self._ours)

    def measure(self, repeat: int) -> None:
        """Run all series in turns. After an interrupt, the results so far stay."""
        take_turns(self.series, repeat)

    @property
    def known(self) -> Series:
        """The series to compare with: the first complete one of this program, or else its first one."""
        return next((one for one in self._ours if one.count), self.series[0])

    def agreement(self, one: Series) -> bool | None:
        """Return whether a series has the known count; None if there is nothing to compare."""
        known = self.known
        if one is known or not one.count or not known.count:
            return None
        if one.by_length is not None and known.by_length is not None:
            return one.by_length == known.by_length
        return agrees(one.count, known.count)

    @property
    def problems(self) -> Iterator[str]:
        """Yield one line for each problem."""
        for one in self.series:
            if self.agreement(one) is False:
                yield (
                    f"{self.title}: the counts disagree: {one.name} found {in_words(one.count)}, "
                    f"{self.known.name} {in_words(self.known.count)}"
                )
            if one.error is not None:
                yield f"{self.title}: {one.name}: {one.error}"

    def cells(self) -> Iterator[tuple[str, ...]]:
        """Yield the lines of the table, one for each series."""
        head = (self.title, *self._head())
        for one in self.series:
            yield (*head, *one.cells, *self._behind(one))
            head = ("",) * len(head)

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        title, series = self.keys
        return {
            title: self.title,
            **self._facts(),
            series: [{**one.to_json(), **self._facts_of(one)} for one in self.series],
        }

    def _head(self) -> tuple[str, ...]:
        """Return the cells between the title and the first series."""
        return ()

    def _behind(self, one: Series) -> tuple[str, ...]:
        """Return the cells after those of a series."""
        return ()

    def _facts(self) -> dict[str, Any]:
        return {}

    def _facts_of(self, one: Series) -> dict[str, Any]:
        """Return the facts of a series for the report, beside those of all series."""
        return {}


def known_ways(ways: Sequence[str] | None, all_ways: Sequence[str]) -> Sequence[str]:
    """Return the ways to measure, by default all; an OptionError for one that does not exist."""
    unknown = [way for way in ways or () if way not in all_ways]
    if unknown:
        raise OptionError(f"--ways {unknown[0]}: there is no such way; there are {', '.join(all_ways)}")
    return ways or all_ways


def yes_or_no(agreement: bool | None) -> str:
    """Return a cell of the column ``agree``."""
    return {True: "yes", False: "NO", None: NOTHING}[agreement]


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
