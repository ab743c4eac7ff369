"""``bench table1``: the paper's Table 1, measured again on this machine, row by row."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from chordless.bench.measure import NOTHING, Column, Series, count_once, figures, in_words, machine
from chordless.bench.process import WarmProcess
from chordless.bench.programs import BenchGraph, Program, given, new_folder
from chordless.bench.report import Prepared, Report, Row, yes_or_no
from chordless.graphs.load import load_graph
from chordless.graphs.overlap import niche_overlap
from kernels_ti import Graph, OptionError


@dataclass(frozen=True)
class PaperFigures:
    """The printed cells of a row. Times are in milliseconds; `total` adds the transfer of all cycles to the host."""

    n: int
    m: int
    max_degree: int  # Delta
    triangles: int  # C3
    chordless_cycles: int  # #clc: cycles of four or more vertices
    sequential: float  # T_seq
    processing: float  # T_par-proc
    total: float  # T_par-total
    speedup: float  # T_seq / T_par-total

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        called = {"sequential": "t_seq_ms", "processing": "t_par_proc_ms", "total": "t_par_total_ms"}
        return {called.get(name, name): value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class PaperRow:
    """A row of the table, and the source of its graph."""

    name: str
    figures: PaperFigures | None  # None for a row of question marks
    spec: str | None = None  # Of a graph that can be generated
    # Of any other graph: a graph (``.txt``), or a food web (``.net``), whose niche overlap graph is searched
    file: str | None = None
    note: str | None = None


def _web(name: str, *cells: Any) -> PaperRow:
    return PaperRow(name, PaperFigures(*cells), file=f"{name}.net")


def _made(name: str, spec: str, *cells: Any) -> PaperRow:
    return PaperRow(name, PaperFigures(*cells), spec=spec)


ROWS: tuple[PaperRow, ...] = (
    _web("CrystalD", 24, 86, 14, 293, 0, 0.333, 0.182, 0.622, 0.536),
    _web("ChesUpper", 37, 85, 15, 167, 0, 0.370, 0.160, 0.656, 0.564),
    _web("Narragan", 35, 168, 22, 586, 0, 0.548, 0.197, 0.709, 0.773),
    _web("Chesapeake", 39, 90, 11, 157, 0, 0.150, 0.188, 0.700, 0.214),
    _web("Michigan", 39, 175, 27, 587, 0, 0.614, 0.197, 0.698, 0.879),
    _web("Mondego", 46, 206, 24, 886, 0, 0.725, 0.207, 0.773, 0.938),
    _web("Cypwet", 71, 842, 46, 8946, 0, 6.417, 0.258, 0.892, 7.196),
    _web("Everglades", 69, 1214, 56, 15627, 710, 12.407, 0.388, 1.478, 8.395),
    _web("Mangrovedry", 97, 2132, 80, 30659, 27426, 102.475, 1.822, 6.510, 15.741),
    _web("Floridabay", 128, 3249, 98, 62389, 85976, 366.495, 2.518, 15.095, 24.279),
    PaperRow(
        "Goiania",
        PaperFigures(43, 75, 4, 5, 9311, 39.594, 0.216, 3.081, 12.849),
        note="a city's streets that were never published",
    ),
    PaperRow(
        "SiouxFalls",
        PaperFigures(24, 76, 5, 2, 176, 1.339, 1.138, 1.812, 0.739),
        file="SiouxFalls.txt",
        note="the paper's 76 are directed links; they join 38 pairs of vertices",
    ),
    PaperRow("???", None, note="a city without a name or a figure in the paper"),
    _made("C_100", "cycle:100", 100, 100, 2, 0, 1, 0.149, 0.165, 0.770, 0.193),
    _made("Wheel_100", "wheel:100", 101, 200, 100, 100, 1, 0.225, 0.778, 1.229, 0.183),
    _made("K_8_8", "bipartite:8x8", 16, 64, 8, 0, 784, 0.473, 0.197, 0.599, 0.790),
    _made("K_50_50", "bipartite:50x50", 100, 2500, 50, 0, 1500625, 600.661, 4.867, 10.391, 57.805),
    _made("Grid_4x10", "grid:4x10", 40, 66, 4, 0, 1823, 15.430, 0.185, 1.993, 7.742),
    _made("Grid_5x6", "grid:5x6", 30, 49, 4, 0, 749, 2.610, 0.167, 1.249, 2.090),
    _made("Grid_5x10", "grid:5x10", 50, 85, 4, 0, 52620, 199.132, 1.982, 12.718, 15.658),
    _made("Grid_6x6", "grid:6x6", 36, 60, 4, 0, 3436, 7.889, 0.203, 1.570, 5.025),
    _made("Grid_6x10", "grid:6x10", 60, 104, 4, 0, 800139, 2906.009, 6.284, 18.989, 153.034),
    _made("Grid_7x10", "grid:7x10", 70, 123, 4, 0, 8136453, 36955.470, 54.840, 286.212, 129.119),
    _made("Grid_8x10", "grid:8x10", 80, 142, 4, 0, 71535910, 427091.020, 1655.147, 8697.081, 49.107),
)


_TIMES = ("T_seq", "proc", "total", "speedup")
COLUMNS = (
    *(Column(heading, left=heading == "graph") for heading in ("graph", "n", "m", "Delta", "C3", "#clc")),
    *(Column(time, group) for group in ("paper, ms", "here, ms") for time in _TIMES),
    Column("agree", left=True),
)


def prepared(options: Namespace, stack: ExitStack) -> Prepared:
    """Return the rows that are wanted; an OptionError for one that the table does not have."""
    chosen, left_out = chosen_rows(options.rows, options.data)
    sequential = None if options.sequential is None else given(options.sequential, "--sequential")
    notes = []
    if sequential is not None:
        notes.append(f"T_seq is that of {sequential.name}: {sequential.shown}")
    if left_out:
        names = ", ".join(row.name for row in left_out)
        notes.append(f"left out, as their graphs are read from files (--data DIR): {names}")
    searches = stack.enter_context(WarmProcess(options.arch, options.threads))
    how = (options.data, searches, options.arch, options.seq_timeout, sequential)
    rows = [Table1Row(row, new_folder(stack), *how) for row in chosen]

    def after(report: Report) -> None:
        report.notes += [row.note for row in rows[: len(report.rows)] if row.note is not None]

    name = None if sequential is None else sequential.name
    settings = {"sequential_timeout": options.seq_timeout, "sequential": name}
    return Prepared(rows, machine(options.arch), settings, notes, after)


def chosen_rows(names: Sequence[str] | None, data: str | None) -> tuple[list[PaperRow], list[PaperRow]]:
    """Return the rows to show, and those that are left out because there is no folder `data` with their graphs.

    By default all rows are shown; upper and lower case of `names` are equal. An OptionError is raised for a name that
    is not in the table, a named row that needs the folder, or a folder that does not exist.
    """
    if data is not None and not Path(data).is_dir():
        raise OptionError(f"--data {data}: there is no such folder")
    if names is None:
        left_out = [row for row in ROWS if row.file is not None and data is None]
        return [row for row in ROWS if row not in left_out], left_out
    by_name = {row.name.lower(): row for row in ROWS}
    for name in names:
        if name.lower() not in by_name:
            raise OptionError(f"--rows {name}: Table 1 has no such row; it has {', '.join(row.name for row in ROWS)}")
        if by_name[name.lower()].file is not None and data is None:
            raise OptionError(f"--rows {name}: the graph is read from a file; --data DIR says where it is")
    wanted = {name.lower() for name in names}
    return [row for row in ROWS if row.name.lower() in wanted], []


class Table1Row(Row):
    """One row: the paper's figures and ours.

    The empty `folder` takes the files of the graph; `data` has the graphs that cannot be generated. A run of the
    sequential algorithm, by default our own in plain Python, has `timeout` seconds, after which in total it is not run
    again.
    """

    def __init__(
        self,
        paper: PaperRow,
        folder: Path,
        data: str | None,
        searches: WarmProcess,
        arch: str,
        timeout: float,
        sequential: Program | None = None,
    ) -> None:
        self.paper, self._note = paper, paper.note
        self.graph: BenchGraph | None = None
        graph = self._graph(data)
        if graph is None:
            super().__init__(paper.name, [])
            return
        self.graph = BenchGraph(paper.spec or paper.file or paper.name, graph, folder)
        file, title = self.graph.file, self.graph.title
        shown = shlex.join(["chordless", "count", title, "--arch", "reference"])
        run = partial(count_once, file, "reference", None, timeout)
        if sequential is not None:
            shown, run = sequential.shown, partial(sequential.run, self.graph, timeout)
        count = shlex.join(["chordless", "count", title, "--method", "search", "--arch", arch])
        call = f'collect_cycles(generate({title!r}), arch="{arch}").rows()'
        series = [
            Series("T_seq", shown, run, patience=timeout),
            Series("T_par-proc", count, partial(searches.once, file, "search")),
            Series("T_par-total", call, partial(searches.once, file, "rows")),
        ]
        super().__init__(paper.name, series)

    def _graph(self, data: str | None) -> Graph | None:
        if self.paper.spec is not None:
            return load_graph(self.paper.spec).graph
        if self.paper.file is None or data is None:
            return None
        found = [*sorted(Path(data).glob(self.paper.file)), *sorted(Path(data).glob(f"*/{self.paper.file}"))]
        if not found:
            self._note = f"there is no {self.paper.file} in {data}"
            return None
        path = str(found[0])
        return niche_overlap(path) if path.endswith(".net") else load_graph(path).graph

    @property
    def measured(self) -> bool:
        """Whether there is any result, or the row has no graph that could give one."""
        return self.graph is None or super().measured

    @property
    def known(self) -> Series:
        """A series with the counts of this program by length, or else the first one."""
        return next((one for one in self.series if one.by_length is not None), self.series[0])

    @property
    def as_in_paper(self) -> bool | None:
        """Whether C3 and #clc equal those of the paper; None if ours or theirs are unknown."""
        figures_of_paper = self.paper.figures
        if not self.series or self.known.by_length is None or figures_of_paper is None:
            return None
        return self.known.count == {"c3": figures_of_paper.triangles, "clc": figures_of_paper.chordless_cycles}

    @property
    def speedup(self) -> tuple[float | None, bool]:
        """T_seq / T_par-total, and whether it is only a lower bound, because T_seq was stopped."""
        if not self.series or not self.series[2].median:
            return None, False
        sequential, total = self.series[0], self.series[2].median
        if sequential.median is not None:
            return sequential.median / total, False
        if sequential.time_limit is not None:
            return sequential.time_limit / total, True
        return None, False

    @property
    def problems(self) -> Iterator[str]:
        """Yield one line for each problem."""
        yield from super().problems
        if self.as_in_paper is False and self.paper.figures is not None:
            theirs = {"c3": self.paper.figures.triangles, "clc": self.paper.figures.chordless_cycles}
            yield (
                f"{self.title}: the counts disagree: C3 and #clc are {in_words(self.known.count)} here, "
                f"{in_words(theirs)} in the paper"
            )

    @property
    def note(self) -> str | None:
        """Differences from the paper's n, m and degree, and the remark about the row."""
        differs = [f"{name} is {ours:,}, not {theirs:,}" for name, ours, theirs in self._differences()]
        parts = [*differs, *([self._note] if self._note else [])]
        return f"{self.title}: {'; '.join(parts)}" if parts else None

    def _differences(self) -> Iterator[tuple[str, int, int]]:
        theirs = self.paper.figures
        if self.graph is None or theirs is None:
            return
        ours = self.graph.graph
        pairs = (("n", ours.n, theirs.n), ("m", ours.m, theirs.m), ("Delta", ours.max_degree, theirs.max_degree))
        yield from (each for each in pairs if each[1] != each[2])

    def cells(self) -> Iterator[tuple[str, ...]]:
        """Yield the line of the table."""
        speedup, bound = self.speedup
        yield (
            self.title,
            *_paper_cells(self.paper.figures),
            *([one.shown(1000) for one in self.series] or [NOTHING] * 3),
            NOTHING if speedup is None else f"{'>' * bound}{figures(speedup)}",
            yes_or_no(self.as_in_paper),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        here = None
        if self.graph is not None:
            known, (speedup, bound) = self.known, self.speedup
            here = {
                "graph": self.graph.title,
                "n": self.graph.graph.n,
                "m": self.graph.graph.m,
                "max_degree": self.graph.graph.max_degree,
                "triangles": known.count.get("c3"),
                "chordless_cycles": known.count.get("clc"),
                "by_length": known.by_length,
                "times": [one.to_json() for one in self.series],
                "speedup": None if speedup is None else round(speedup, 3),
                "speedup_is_lower_bound": bound,
            }
        return {
            "name": self.title,
            "paper": None if self.paper.figures is None else self.paper.figures.to_json(),
            "here": here,
            "agree": self.as_in_paper,
            "note": self.note,
        }


def _paper_cells(paper: PaperFigures | None) -> tuple[str, ...]:
    if paper is None:
        return (NOTHING,) * 9
    *small, cycles = astuple(paper)[:5]
    return (*map(str, small), f"{cycles:,}", *map(figures, astuple(paper)[5:]))
