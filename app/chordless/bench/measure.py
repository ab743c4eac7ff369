"""Tables of a bench, runs of programs in turns with their medians, and runs of this program's engine."""

from __future__ import annotations

import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from chordless.engine.process import EngineProcess
from chordless.protocol.events import DeviceReport, Failed, Finished
from chordless.protocol.orders import ProbeCommand, RunCommand
from kernels_ti import ChordlessError, DeviceError, EngineError, Method
from kernels_ti.taichi_door.libraries import CHOICE

if TYPE_CHECKING:
    from chordless.batch.client import BatchClient

NOTHING = "-"

Count = dict[str, int]
"""A program's count: ``c3`` triangles and ``clc`` longer cycles, or just ``cycles`` if it does not separate them."""

_NAMES = {"c3": "triangles", "clc": "longer cycles"}
_AnyEvent = TypeVar("_AnyEvent")


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    heading: str
    group: str = ""  # A common heading above neighbouring columns of the same group
    left: bool = False  # Whether it is aligned to the left


def text_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of an aligned table, with two blanks between columns."""
    widths = [
        max(len(column.heading), *(len(row[i]) for row in rows)) if rows else len(column.heading)
        for i, column in enumerate(columns)
    ]
    if any(column.group for column in columns):
        yield _group_line(columns, widths)
    for cells in ([column.heading for column in columns], *rows):
        yield "  ".join(
            f"{cell:<{width}}" if column.left else f"{cell:>{width}}"
            for column, width, cell in zip(columns, widths, cells, strict=True)
        ).rstrip()


def _group_line(columns: Sequence[Column], widths: Sequence[int]) -> str:
    parts = []
    for group, members in groupby(zip(columns, widths, strict=True), key=lambda pair: pair[0].group):
        width = sum(width + 2 for _, width in members) - 2
        parts.append(f" {group} ".center(width, "-") if group else " " * width)
    return "  ".join(parts).rstrip()


def markdown_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    headings = [f"{column.group}: {column.heading}" if column.group else column.heading for column in columns]
    yield _markdown_line(headings)
    yield _markdown_line(["---" if column.left else "---:" for column in columns])
    for row in rows:
        yield _markdown_line(row)


def _markdown_line(cells: Sequence[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def figures(value: float | None) -> str:
    """Return a number with three figures or more and no exponent, such as ``0.0850`` and ``36,955``; "-" for None."""
    if value is None:
        return NOTHING
    if value <= 0:
        return "0"
    # The exponent after rounding, so that 9.996 gives 10.0, not 10.00.
    exponent = int(f"{value:.2e}".partition("e")[2])
    return f"{value:,.{max(0, 2 - exponent)}f}"


@dataclass(frozen=True)
class Outcome:
    """One run of one program."""

    seconds: float
    # False if the time-out ended it. Then there is no count.
    complete: bool = True
    count: Count = field(default_factory=dict)
    # Cycles by number of vertices; None if the program does not print that
    by_length: dict[int, int] | None = None


@dataclass
class Series:
    """The runs of one program on one graph."""

    name: str  # Of the program, in the table
    command: str  # The command line, for readers
    run: Callable[[], Outcome]
    patience: float = math.inf  # It is not run again after this many seconds of runs
    seconds: list[float] = field(default_factory=list)  # Of the complete runs
    count: Count = field(default_factory=dict)  # Of every run, see `Outcome`
    by_length: dict[int, int] | None = None
    stopped: str | None = None  # A short reason why there are no more runs: ``> 60 s``, ``n > 64``, ``failed``
    time_limit: float | None = None  # The time-out in seconds, if it stopped a run
    error: ChordlessError | None = None

    @property
    def median(self) -> float | None:
        """Median of the times in seconds; None without a complete run."""
        return statistics.median(self.seconds) if self.seconds else None

    @property
    def total(self) -> int:
        """All cycles of the count."""
        return sum(self.count.values())

    def shown(self, units: float = 1.0) -> str:
        """Return the median in `units` of a second for a table, or why there is none."""
        if self.median is None or self.error is not None:
            return self.stopped or NOTHING
        return figures(units * self.median)

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the columns `series_columns`."""
        spread = [figures(most(self.seconds, default=None)) for most in (min, max)]
        return (self.name, str(len(self.seconds) or NOTHING), self.shown(), *spread)

    def run_again(self) -> None:
        """Run once more and keep the time. A failure, or a different count than before, ends the series."""
        try:
            outcome = self.run()
        except ChordlessError as error:
            self.stopped, self.error = "failed", error
            return
        if not outcome.complete:
            self.stopped, self.time_limit = f"> {outcome.seconds:g} s", outcome.seconds
            return
        found, before = (outcome.count, outcome.by_length), (self.count, self.by_length)
        if self.seconds and found != before:
            self.stopped = "failed"
            self.error = EngineError(f"counted {self.count}, and then {outcome.count}")
            return
        self.seconds.append(outcome.seconds)
        self.count, self.by_length = found

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        return {
            "name": self.name,
            "command": self.command,
            "seconds": [round(seconds, 6) for seconds in self.seconds],
            "median": None if self.median is None else round(self.median, 6),
            "stopped": self.stopped,
            "error": None if self.error is None else str(self.error),
            "count": self.count or None,
        }


def series_columns(name: str) -> tuple[Column, ...]:
    """Return the columns of a series, whose names stand below `name`."""
    return (Column(name, left=True), Column("runs"), Column("median, s"), Column("fastest"), Column("slowest"))


def take_turns(series: Sequence[Series], repeat: int) -> None:
    """Run every program so often, in turns, so that a busy moment affects all; unless it has a reason to stop."""
    for _ in range(repeat):
        for one in series:
            if one.stopped is None and sum(one.seconds) < one.patience:
                one.run_again()


def agrees(reported: Count, known: Count) -> bool:
    """Return whether a reported count is right. A single number may include the triangles or not."""
    if "clc" not in known:
        return reported == known
    if "clc" not in reported:
        return reported["cycles"] in (known["clc"], sum(known.values()))
    return reported["clc"] == known["clc"] and reported.get("c3", known["c3"]) == known["c3"]


def in_words(count: Count) -> str:
    """Return a count for a message."""
    return " and ".join(f"{number:,} {_NAMES.get(name, name)}" for name, number in count.items())


def count_once(
    graph: str,
    arch: str,
    threads: int | None,
    timeout: float | None = None,
    method: Method = "search",
    library: str | None = None,
) -> Outcome:
    """Count the cycles of a graph file in a new engine. The time is that of the search or count only.

    `library` is the package that compiles the kernels; None for the usual one.
    """
    command = RunCommand(graph, time.monotonic(), arch=arch, threads=threads, timeout=timeout, method=method)
    with EngineProcess(command, environment={} if library is None else {CHOICE: library}) as engine:
        finished = first_event(engine, Finished)
    if not finished.complete:
        if finished.reason != "timeout" or timeout is None:
            raise EngineError(f"the engine did not search to the end: {finished.reason}")
        return Outcome(timeout, complete=False)
    return outcome_of(finished.enumerate_seconds, finished.cycles_by_length)


def outcome_of(seconds: float, by_length: dict[int, int]) -> Outcome:
    """Return the outcome of a run that has counted the cycles by length."""
    triangles = by_length.get(3, 0)
    count = {"c3": triangles, "clc": sum(by_length.values()) - triangles}
    return Outcome(seconds, count=count, by_length=by_length)


def first_event(engine: EngineProcess | BatchClient, kind: type[_AnyEvent]) -> _AnyEvent:
    """Return the first event of a kind from an engine; a ChordlessError if it fails, or ends without one."""
    for event in engine.events():
        if isinstance(event, Failed):
            raise event.to_error()
        if isinstance(event, kind):
            return event
    raise EngineError("the engine ended without a result")


def cpu_for_auto(arch: str) -> str:
    """Return the arch of a bench that has no use for a GPU unless one is asked for."""
    return "cpu" if arch == "auto" else arch


def probe(arch: str) -> DeviceReport:
    """Open and test an arch, in a separate engine. A DeviceError is raised if it is not available."""
    with EngineProcess(ProbeCommand(arch)) as engine:
        report = first_event(engine, DeviceReport)
    if not report.available:
        raise DeviceError(report.message or f"arch {arch} is not available here")
    return report


def machine(arch: str) -> dict[str, Any]:
    """Open and test an arch, and describe the machine, with its load, for JSON."""
    device = probe(arch)
    host = device if device.arch == "cpu" else probe("cpu")
    return {
        "cpu": host.device,
        "cores": host.threads,
        "memory": host.memory,
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "arch": device.arch,
        "device": device.device,
        "device_memory": device.memory,
    }
