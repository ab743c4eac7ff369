"""``bench boundary``: totals, counts by length and longest cycles along a boundary, in a warm process."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from chordless.bench.measure import NOTHING, Column, Outcome, Series, cpu_for_auto, figures, machine, series_columns
from chordless.bench.process import WarmProcess
from chordless.bench.report import Prepared, Row, known_ways
from kernels_ti import ChordlessError

COLUMNS = (
    Column("graph", left=True),
    *series_columns("way"),
    Column("answer"),
    Column("width"),
    Column("states, at most"),
    Column("on"),
    Column("first, s"),
)
WAYS = {
    "total": "chordless count {} --method boundary --total-only",
    "lengths": "chordless count {} --method boundary",
    "longest": "chordless longest {}",
}
"""The ways along a boundary, with the commands that go them."""

DEFAULT_GRAPHS = ("grid:12x12", "grid:14x14")
_LARGE = {
    "grid:18x18": ("total", "longest"),
    "grid:20x20": ("total",),
    "grid:17x17": ("longest",),
}
"""Larger graphs, measured on a GPU too."""


def prepared(options: Namespace, stack: ExitStack) -> Prepared:
    """Return a row for each graph, by default for some grids, on CUDA for larger ones too."""
    ways = known_ways(options.ways, tuple(WAYS))
    process = stack.enter_context(WarmProcess(options.arch, options.threads))
    wanted = [(graph, tuple(ways)) for graph in options.graphs or DEFAULT_GRAPHS]
    if not options.graphs and options.arch == "cuda":
        wanted += [(graph, tuple(way for way in ways if way in large)) for graph, large in _LARGE.items()]
    rows = [BoundaryRow(graph, some, process) for graph, some in wanted if some]
    return Prepared(rows, machine(cpu_for_auto(options.arch)), {"ways": list(ways)})


class BoundaryRow(Row):
    """One graph, gone along in some of `WAYS`."""

    keys = ("graph", "ways")

    def __init__(self, graph: str, ways: Sequence[str], process: WarmProcess) -> None:
        self._process = process
        self._told: dict[str, dict[str, Any]] = {}
        self._first: dict[str, float] = {}
        super().__init__(graph, [Series(way, WAYS[way].format(graph), partial(self._once, way)) for way in ways])

    def measure(self, repeat: int) -> None:
        """Run each way once to compile, then measure."""
        for one in self.series:
            try:
                self._first[one.name] = one.run().seconds
            except ChordlessError as error:
                one.stopped, one.error = "failed", error
        super().measure(repeat)

    def agreement(self, one: Series) -> None:
        """Return nothing: the ways have different answers."""

    def _once(self, way: str) -> Outcome:
        told = self._told[way] = self._process.asked(self.title, way)
        return Outcome(told["seconds"], count={"cycles": sum(told["by_length"].values())})

    def _behind(self, one: Series) -> tuple[str, ...]:
        told = self._told.get(one.name)
        if told is None:
            return (NOTHING,) * 5
        answer = f"{sum(told['by_length'].values()):,}"
        if one.name == "longest":
            answer = f"{int(next(iter(told['by_length']))):,} ({answer})"
        first = figures(self._first.get(one.name))
        return (answer, str(told["width"]), f"{told['states']:,}", told["arch"], first)

    def _facts_of(self, one: Series) -> dict[str, Any]:
        told, first = self._told.get(one.name, {}), self._first.get(one.name)
        facts = {name: told.get(name) for name in ("by_length", "width", "states", "arch")}
        return {**facts, "first": None if first is None else round(first, 6)}
