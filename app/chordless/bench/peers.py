"""``bench peers``: this program and others count the cycles of the same graphs. They take turns."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from chordless.bench.graphs import BenchGraph
from chordless.bench.layout import NOTHING, Column, figures
from chordless.bench.measure import Series, count_once, take_turns
from chordless.bench.programs import Program, agrees
from chordless.protocol.events import DeviceReport
from chordless.protocol.orders import Method

DEFAULT_GRAPHS = ("grid:6x10", "gnp:60,0.1,1", "grid:7x10", "grid:8x10", "gnp:80,0.1,1")

_SECONDS_FOR_ORDERS = 1.0

LEGEND = (
    "Seconds to count all chordless cycles: medians of the runs, which were taken in turns, each in a process of its "
    "own; the ratio is that to the first program. chordless: the search alone, without start-up and compilation; "
    "boundary: the count along one, with looking for it. networkx: the enumeration alone. Others: their own time if "
    "they print one (sec S), else that of the process."
)

COLUMNS = (
    Column("graph", left=True),
    Column("cycles"),
    Column("program", left=True),
    Column("runs"),
    Column("median, s"),
    Column("fastest"),
    Column("slowest"),
    Column("ratio"),
    Column("agree", left=True),
)


@dataclass(frozen=True)
class Ours:
    """One way to run this program.

    Attributes
    ----------
    name : str
        Its name in the table.
    arch : str
    threads : int or None
    method : {"search", "boundary"}
    """

    name: str
    arch: str
    threads: int | None
    method: Method = "search"


def our_programs(arch: str, threads: int | None, device: DeviceReport) -> list[Ours]:
    """Return the ways of this program to measure.

    On a CPU: a search with `threads` threads (default: all), a search with one thread, and the boundary method.
    """
    if device.threads is None or arch == "reference":
        return [Ours(f"chordless, {arch}", arch, None)]
    several = threads or device.threads
    both = [several, 1] if several > 1 else [1]
    searches = [Ours(f"chordless, {count} thread{'s' * (count > 1)}", arch, count) for count in both]
    return [*searches, Ours("chordless, boundary", "cpu", None, "boundary")]


class PeersRow:
    """The measurements on one graph.

    Parameters
    ----------
    graph : BenchGraph
    ours : sequence of Ours
        All others are compared with the first one.
    programs : sequence of Program
    timeout : float
        Seconds for one run. A program whose runs took so long in total is not run again.

    Attributes
    ----------
    series : list of Series
        The series of this program, then those of the others.
    """

    def __init__(self, graph: BenchGraph, ours: Sequence[Ours], programs: Sequence[Program], timeout: float) -> None:
        self.graph = graph
        self._ours = len(ours)
        self.series = [
            Series(
                one.name,
                _our_command(graph, one),
                partial(count_once, graph.file, one.arch, one.threads, timeout, one.method),
                patience=timeout,
                stopped=_obstacle(graph, one, timeout),
            )
            for one in ours
        ]
        for program in programs:
            run = partial(program.run, graph, timeout)
            self.series.append(
                Series(program.name, program.shown, run, patience=timeout, stopped=program.obstacle(graph))
            )

    @property
    def title(self) -> str:
        """The title of the graph."""
        return self.graph.title

    @property
    def measured(self) -> bool:
        """Whether there is any result."""
        return any(one.seconds or one.stopped for one in self.series[: self._ours])

    def measure(self, repeat: int) -> None:
        """Run all programs. After an interrupt, the results so far stay."""
        take_turns(self.series, repeat)

    @property
    def known(self) -> Series:
        """The series to compare with: the first complete one of this program, or else its first one."""
        return next((one for one in self.series[: self._ours] if one.count), self.series[0])

    def agreement(self, one: Series) -> bool | None:
        """Return whether a series found the same count as this program; None if one of them has no count."""
        known = self.known
        if not one.count or not known.count or one is known:
            return None
        if one.by_length is not None:
            return one.by_length == known.by_length
        return agrees(one.count, known.count["c3"], known.count["clc"])

    def ratio(self, one: Series) -> float | None:
        """Return the time of a series divided by that of the first series."""
        first = self.series[0].median
        return None if one.median is None or not first or one is self.series[0] else one.median / first

    @property
    def problems(self) -> Iterator[str]:
        """Yield one line for each problem."""
        for one in self.series:
            if self.agreement(one) is False:
                yield (
                    f"{self.graph.title}: the counts disagree: {one.name} found {_counted(one)}, "
                    f"{self.known.name} {_counted(self.known)}"
                )
            if one.error is not None:
                yield f"{self.graph.title}: {one.error}"

    def cells(self) -> Iterator[tuple[str, ...]]:
        """Yield the rows of the table, one for each program."""
        for i, one in enumerate(self.series):
            ratio, agreement = self.ratio(one), self.agreement(one)
            yield (
                self.graph.title if i == 0 else "",
                _total(self.known) if i == 0 else "",
                one.name,
                str(len(one.seconds)) if one.seconds else NOTHING,
                _median(one),
                figures(min(one.seconds)) if one.seconds else NOTHING,
                figures(max(one.seconds)) if one.seconds else NOTHING,
                figures(ratio) if ratio is not None else NOTHING,
                {True: "yes", False: "NO", None: NOTHING}[agreement],
            )

    def markdown_cells(self) -> tuple[str, ...]:
        """Return one row for the graph, with a cell for each program."""
        times = []
        for one in self.series:
            ratio = self.ratio(one)
            compared = f" ({figures(ratio)} times)" if ratio is not None else ""
            wrong = " wrong count" if self.agreement(one) is False else ""
            times.append(f"{_median(one)}{compared}{wrong}")
        return (f"`{self.graph.title}`", _total(self.known), *times)

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        known = self.known
        return {
            "graph": self.graph.title,
            "n": self.graph.graph.n,
            "m": self.graph.graph.m,
            "triangles": known.count.get("c3"),
            "chordless_cycles": known.count.get("clc"),
            "by_length": known.by_length,
            "programs": [
                {**one.to_json(), "ratio": _rounded(self.ratio(one)), "agree": self.agreement(one)}
                for one in self.series
            ],
        }


def markdown_columns(row: PeersRow) -> list[Column]:
    """Return the columns of the Markdown table, one for each program."""
    names = [Column(one.name) for one in row.series]
    return [Column("graph", left=True), Column("cycles"), *names]


def _obstacle(graph: BenchGraph, one: Ours, timeout: float) -> str | None:
    """Return why a way of this program cannot be measured on a graph; None if it can."""
    if one.method == "search":
        return None
    from kernels_ti.boundary.orders.order import no_longer_than
    from kernels_ti.boundary.orders.plan import plan_of

    plan = plan_of(graph.graph, enough=no_longer_than(_SECONDS_FOR_ORDERS))
    return None if plan.is_possible and plan.seconds < timeout else "too wide"


def _our_command(graph: BenchGraph, one: Ours) -> str:
    threads = ["--threads", str(one.threads)] if one.threads else []
    how = ["--method", one.method, *(["--arch", one.arch, *threads] if one.method == "search" else [])]
    return shlex.join(["chordless", "count", graph.title, *how, "--json"])


def _median(one: Series) -> str:
    if one.median is not None and one.error is None:
        return figures(one.median)
    return one.stopped or NOTHING


def _counted(one: Series) -> str:
    if "cycles" in one.count:
        return f"{one.count['cycles']:,} cycles"
    triangles = f"{one.count['c3']:,} triangles and " if "c3" in one.count else ""
    return f"{triangles}{one.count['clc']:,} longer cycles"


def _total(one: Series) -> str:
    return f"{one.count['c3'] + one.count['clc']:,}" if one.count else NOTHING


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
