"""Counts that are known: numbers in `tests/data`, whose README names their sources."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from oracles import levels_of

from kernels_ti import Graph, count_cycles

NUMBERS = Path(__file__).parent / "data"
MANY_CYCLES = {"cpu": 10**9, "cuda": 10**9, "vulkan": 100_000}
SLOW_CYCLES = 10_000_000
SLOW_LEVELS = 50  # Each level of paths is a launch of its own


@dataclass(frozen=True)
class Known:
    """What is known of a graph.

    Attributes
    ----------
    graph : str
        Its spec, or the path of its file.
    n, m, max_degree : int
    by_length : dict of int to int
        Chordless cycles by number of vertices.
    paths, largest_frontier : int or None
        Of the paper's expansion: paths in all, and the most with the same number of vertices.
    """

    graph: str
    n: int
    m: int
    max_degree: int
    by_length: dict[int, int]
    paths: int | None = None
    largest_frontier: int | None = None

    @property
    def total(self) -> int:
        return sum(self.by_length.values())


def generated() -> list[Known]:
    """Return every graph with a spec whose count is known."""
    rows = json.loads((NUMBERS / "known_counts.json").read_text())
    return [
        Known(
            row["graph"], row["n"], row["m"], row["max_degree"],
            {int(length): count for length, count in row["by_length"].items()},
            row.get("paths"), row.get("largest_frontier"),
        )
        for row in rows
    ]  # fmt: skip


def each(known: list[Known]) -> list[Any]:
    """Return one pytest parameter for each graph; slow are many cycles, and long ones on a software device."""
    return [pytest.param(one, id=one.graph, marks=_marks(one)) for one in known]


def _marks(known: Known) -> list[pytest.MarkDecorator]:
    if known.total > SLOW_CYCLES:
        return [pytest.mark.slow]
    return [pytest.mark.slow_on("vulkan")] if max(known.by_length, default=0) >= SLOW_LEVELS else []


def check_counts(known: Known, graph: Graph, arch: str) -> None:
    """Check the size of a graph and its counts by length."""
    if known.total > MANY_CYCLES[arch]:
        pytest.skip(f"{known.total:,} cycles are too many for a software device")
    assert (graph.n, graph.m, graph.max_degree) == (known.n, known.m, known.max_degree)
    counts = count_cycles(graph, arch=arch)
    assert counts.by_length == known.by_length
    triangles = known.by_length.get(3, 0)
    assert (counts.triangles, counts.chordless_cycles) == (triangles, known.total - triangles)


def check_frontier(known: Known, graph: Graph, arch: str) -> None:
    """Check that the paper's expansion meets as many paths of each length as the sequential algorithm."""
    assert known.paths is not None
    if arch == "vulkan" and known.paths > 200_000:
        pytest.skip(f"{known.paths:,} paths are too many for a software device")
    counts = count_cycles(graph, arch=arch, expansion="paper")
    assert counts.frontier == dict(sorted(levels_of(graph).paths.items()))
    assert sum(counts.frontier.values()) == known.paths
    assert max(counts.frontier.values()) == known.largest_frontier
    assert counts.total == known.total
