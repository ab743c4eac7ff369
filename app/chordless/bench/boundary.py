"""``bench boundary``: totals, counts by length and longest cycles along a boundary, in a warm process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chordless.bench.layout import NOTHING, Column, figures
from chordless.bench.measure import Outcome, Series, take_turns
from chordless.bench.searches import SearchProcess
from kernels_ti import ChordlessError

WAYS = ("total", "lengths", "longest")

LEGEND = (
    "seconds: the median of the runs, without the search for an order of the vertices, the start and the compilation. "
    "first: the first run of all in its process, compilation included. answer: the cycles, triangles included; for "
    "longest the vertices of the longest cycle, and how many cycles have as many."
)

COLUMNS = (
    Column("graph", left=True),
    Column("what", left=True),
    Column("answer"),
    Column("width"),
    Column("states, at most"),
    Column("on"),
    Column("first, s"),
    Column("runs"),
    Column("seconds"),
)

DEFAULT_GRAPHS = ("grid:12x12", "grid:14x14")
LARGE = (("grid:18x18", "total"), ("grid:20x20", "total"), ("grid:17x17", "longest"), ("grid:18x18", "longest"))
"""What is measured on a GPU too."""


class BoundaryRow:
    """One graph, gone along in one way.

    Parameters
    ----------
    graph : str
        A file or a spec.
    wanted : str
        One of `WAYS`.
    process : SearchProcess
        Of the module `chordless.bench.boundary_process`.
    """

    def __init__(self, graph: str, wanted: str, process: SearchProcess) -> None:
        self.graph, self.wanted = graph, wanted
        self.title = f"{graph} {wanted}"
        self.first: float | None = None
        self._process = process
        self._told: dict[str, Any] = {}
        options = {"total": "count {} --method boundary --total-only", "lengths": "count {} --method boundary"}
        command = options.get(wanted, "longest {}").format(graph)
        self._series = Series(wanted, f"chordless {command}", self._once)

    @property
    def measured(self) -> bool:
        """Whether there is any result."""
        return bool(self._told or self._series.stopped)

    @property
    def problems(self) -> Iterator[str]:
        """Yield one line for each problem."""
        if self._series.error is not None:
            yield f"{self.title}: {self._series.error}"

    def measure(self, repeat: int) -> None:
        """Run once to compile, then measure."""
        try:
            self.first = self._once().seconds
        except ChordlessError as error:
            self._series.stopped, self._series.error = "failed", error
            return
        take_turns([self._series], repeat)

    def cells(self) -> tuple[str, ...]:
        """Return the row of the table."""
        if not self._told:
            return (self.graph, self.wanted, self._series.stopped or NOTHING, *[NOTHING] * 6)
        median = self._series.median
        return (
            self.graph,
            self.wanted,
            self._answer(),
            str(self._told["width"]),
            f"{self._told['states']:,}",
            self._told["arch"],
            NOTHING if self.first is None else figures(self.first),
            str(len(self._series.seconds)),
            NOTHING if median is None else figures(median),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        return {
            "graph": self.graph,
            "what": self.wanted,
            "first": None if self.first is None else round(self.first, 6),
            **{name: self._told.get(name) for name in ("by_length", "width", "states", "arch")},
            **self._series.to_json(),
        }

    def _once(self) -> Outcome:
        answer = self._process.asked({"graph": self.graph, "wanted": self.wanted})
        self._told = answer
        by_length = {int(length): count for length, count in answer["by_length"].items()}
        return Outcome(answer["seconds"], count={"cycles": sum(by_length.values())}, by_length=by_length)

    def _answer(self) -> str:
        by_length = self._told["by_length"]
        if self.wanted == "longest":
            ((length, ways),) = by_length.items()
            return f"{int(length):,} ({ways:,})"
        return f"{sum(by_length.values()):,}"


def rows(graphs: Sequence[str], ways: Sequence[str], arch: str, process: SearchProcess) -> list[BoundaryRow]:
    """Return the rows to measure.

    Parameters
    ----------
    graphs : sequence of str
        Empty for the default graphs; on CUDA larger grids come after them.
    ways : sequence of str
        Some of `WAYS`.
    arch : str
    process : SearchProcess
    """
    wanted = [(graph, way) for graph in graphs or DEFAULT_GRAPHS for way in ways]
    if not graphs and arch == "cuda":
        wanted += [pair for pair in LARGE if pair[1] in ways]
    return [BoundaryRow(graph, way, process) for graph, way in wanted]
