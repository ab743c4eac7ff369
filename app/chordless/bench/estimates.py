"""``bench estimates``: how many ranges of an estimate hold the truth, and how far the middles are from it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from chordless.bench.layout import Column
from chordless.bench.process import run_chordless
from chordless.bench.rows import Row
from chordless.graphs.load import load_graph
from chordless.graphs.vertex_names import restriction_named
from kernels_ti import Options
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.estimate.estimate import Estimator

LEGEND = (
    "Estimates of the number of cycles, each with a seed of its own. held: how many of the ranges hold the true "
    "number, which is counted. error: the median distance of the middle from the truth. widest: the median of the "
    "upper end over the lower end."
)

COLUMNS = (
    Column("search", left=True),
    Column("cycles"),
    Column("estimates"),
    Column("held"),
    Column("error"),
    Column("high/low"),
    Column("seconds"),
)


@dataclass(frozen=True)
class Case:
    """A case to estimate: a graph, a bound on the length, and the vertices that every cycle passes."""

    graph: str
    max_length: int | None = None
    through: tuple[str, ...] = ()

    @property
    def arguments(self) -> list[str]:
        """The arguments of ``chordless count`` and ``chordless estimate``."""
        bound = [] if self.max_length is None else ["--max-length", str(self.max_length)]
        return [self.graph, *bound, *(word for name in self.through for word in ("--through", name))]


DEFAULT_CASES = (
    *(Case(f"grid:{size}") for size in ("6x9", "6x10", "7x8", "7x9", "5x13", "6x11")),
    *(Case(f"gnp:{n},{p},{seed}") for n, p in ((60, 0.1), (50, 0.15), (70, 0.08)) for seed in (1, 2, 3)),
    *(Case(f"planar:{n},{seed}") for n in (100, 120) for seed in (1, 2)),
    *(Case(f"planar:400,{seed}", 14) for seed in (1, 2, 3)),
    *(Case(f"planar:900,{seed}", 22, ("500",)) for seed in (1, 2, 3)),
    Case("king:7x7"),
    Case("king:6x8"),
    Case("grid:14x14", 20),
    Case("planar:900,4", 22, ("500",)),
    Case("gnp:200,0.03,1", 12),
)


class EstimatesRow(Row):
    """The estimates of one search, of so many seconds each."""

    def __init__(self, case: Case, seconds: float) -> None:
        self.case, self.seconds = case, seconds
        super().__init__(" ".join(case.arguments), ())
        self.truth = 0
        self.held: list[bool] = []
        self.errors: list[float] = []
        self.widths: list[float] = []
        self.took: list[float] = []

    @property
    def measured(self) -> bool:
        """Whether there is any estimate; a range that misses the truth is no problem."""
        return bool(self.held)

    def measure(self, repeat: int) -> None:
        """Count the cycles, then estimate them with one seed after another."""
        told = run_chordless("count", *self.case.arguments, "--json", "--progress", "none")
        self.truth = int(json.loads(told.printed)["total"])
        graph = load_graph(self.case.graph).graph
        through, _ = restriction_named(graph, self.case.through, (), ())
        space = SearchSpace(graph, Options(max_length=self.case.max_length, through=through))
        for seed in range(repeat):
            began = time.perf_counter()
            estimator = Estimator(space, seed=seed)
            estimator.probe(self.seconds)
            known = estimator.estimate()
            self.took.append(time.perf_counter() - began)
            self.held.append(known.cycles_low <= self.truth <= known.cycles_high)
            self.errors.append(abs(known.cycles - self.truth) / max(self.truth, 1))
            self.widths.append(known.cycles_high / max(known.cycles_low, 1.0))

    def cells(self) -> Iterator[tuple[str, ...]]:
        """Yield the line of the table."""
        if not self.held:
            return
        yield (
            self.title,
            f"{self.truth:,}",
            str(len(self.held)),
            f"{sum(self.held) / len(self.held):.0%}",
            f"{median(self.errors):.1%}",
            f"{median(self.widths):.2f}",
            f"{median(self.took):.1f}",
        )

    def to_json(self) -> dict[str, Any]:
        """Return the row for the file."""
        return {
            **asdict(self.case),
            "cycles": self.truth,
            "held": sum(self.held),
            "estimates": len(self.held),
            "errors": self.errors,
            "high_over_low": self.widths,
            "seconds": self.took,
        }


def summary(rows: list[EstimatesRow]) -> str:
    """Return the line below the table."""
    held = [one for row in rows for one in row.held]
    errors = [one for row in rows for one in row.errors]
    if not held:
        return "nothing was estimated"
    return (
        f"{sum(held) / len(held):.1%} of {len(held):,} ranges hold the truth; "
        f"the median error of the middle is {median(errors):.1%}"
    )
