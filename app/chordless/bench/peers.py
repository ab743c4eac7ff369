"""``bench peers``: this program and others count the cycles of the same graphs. They take turns."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from chordless.bench.measure import NOTHING, Column, Series, count_once, figures, machine, series_columns
from chordless.bench.programs import BenchGraph, Program, given, graphs_of, nauty, networkx
from chordless.bench.report import Prepared, Row, yes_or_no
from kernels_ti import Method, OptionError
from kernels_ti.taichi_door.libraries import CHOICE, others

DEFAULT_GRAPHS = ("grid:6x10", "gnp:60,0.1,1", "grid:7x10", "grid:8x10", "gnp:80,0.1,1")

_SECONDS_FOR_ORDERS = 1.0

COLUMNS = (
    Column("graph", left=True),
    Column("cycles"),
    *series_columns("program"),
    Column("ratio"),
    Column("agree", left=True),
)


def prepared(options: Namespace, stack: ExitStack) -> Prepared:
    """Return a row for each graph; an OptionError for a program that cannot be run."""
    programs = [networkx(), nauty(), *(given(text) for text in options.program)]
    names = [program.name for program in programs]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise OptionError(f"--program {repeated}=...: there are two programs of that name")
    graphs = graphs_of(options.graphs or DEFAULT_GRAPHS, stack, simplify=options.simplify)
    here = machine(options.arch)
    ours = our_programs(options.arch, options.threads, here)
    rows = [PeersRow(graph, ours, programs, options.timeout) for graph in graphs]
    return Prepared(rows, here, {"timeout": options.timeout})


@dataclass(frozen=True)
class Ours:
    """One way to run this program."""

    name: str  # In the table
    arch: str
    threads: int | None
    method: Method = "search"
    library: str | None = None  # That compiles the kernels, by its package; None for the usual one


def our_programs(arch: str, threads: int | None, machine: Mapping[str, Any]) -> list[Ours]:
    """Return the ways of this program to measure on a machine, see `chordless.bench.measure.machine`.

    On a CPU: a search, one with one thread, the first of these with the fork of Taichi if that is here, the boundary
    method.
    """
    if machine["arch"] != "cpu":
        return [Ours(f"chordless, {arch}", arch, None)]
    several = threads or machine["cores"]
    both = [several, 1] if several > 1 else [1]
    searches = [Ours(f"chordless, {count} thread{'s' * (count > 1)}", arch, count) for count in both]
    compiled = [
        replace(searches[0], name=f"{searches[0].name}, {each.title}", library=each.package) for each in others()
    ]
    return [*searches, *compiled, Ours("chordless, boundary", "cpu", None, "boundary")]


class PeersRow(Row):
    """The measurements on one graph, of this program in some ways and of others, which are given up after `timeout`."""

    def __init__(self, graph: BenchGraph, ours: Sequence[Ours], programs: Sequence[Program], timeout: float) -> None:
        self.graph = graph
        series = [
            Series(
                one.name,
                _our_command(graph, one),
                partial(count_once, graph.file, one.arch, one.threads, timeout, one.method, one.library),
                patience=timeout,
                stopped=_obstacle(graph, one, timeout),
            )
            for one in ours
        ]
        for program in programs:
            run = partial(program.run, graph, timeout)
            series.append(Series(program.name, program.shown, run, patience=timeout, stopped=program.obstacle(graph)))
        super().__init__(graph.title, series, len(ours))

    def _ratio(self, one: Series) -> float | None:
        first = self.series[0].median
        return None if one.median is None or not first or one is self.series[0] else one.median / first

    def _head(self) -> tuple[str, ...]:
        return (f"{self.known.total:,}" if self.known.count else NOTHING,)

    def _behind(self, one: Series) -> tuple[str, ...]:
        return (figures(self._ratio(one)), yes_or_no(self.agreement(one)))

    def _facts(self) -> dict[str, Any]:
        return {
            "n": self.graph.graph.n,
            "m": self.graph.graph.m,
            "triangles": self.known.count.get("c3"),
            "chordless_cycles": self.known.count.get("clc"),
            "by_length": self.known.by_length,
        }

    def _facts_of(self, one: Series) -> dict[str, Any]:
        ratio = self._ratio(one)
        return {"ratio": None if ratio is None else round(ratio, 3), "agree": self.agreement(one)}


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
    chosen = "" if one.library is None else f"{CHOICE}={one.library} "
    return chosen + shlex.join(["chordless", "count", graph.title, *how, "--json"])
