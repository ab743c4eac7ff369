"""``bench table1``: the paper's Table 1, measured again on this machine, row by row."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from chordless.bench.graphs import BenchGraph, new_folder
from chordless.bench.layout import NOTHING, Column, figures
from chordless.bench.measure import Series, count_once, in_words, machine
from chordless.bench.paper import ROWS, PaperFigures, PaperRow
from chordless.bench.programs import Program, given
from chordless.bench.report import Prepared, Report, Row, yes_or_no
from chordless.bench.warm import WarmProcess
from chordless.graphs.load import load_graph
from chordless.graphs.overlap import niche_overlap
from kernels_ti import Graph, OptionError

_TIMES = ("T_seq", "proc", "total", "speedup")
COLUMNS = (
    *(Column(heading, left=heading == "graph") for heading in ("graph", "n", "m", "Delta", "C3", "#clc")),
    *(Column(time, group) for group in ("paper, ms", "here, ms") for time in _TIMES),
    Column("agree", left=True),
)

LEGEND = (
    "n, m, Delta, C3 and #clc are the paper's; agree: C3 and #clc are the same here. Times are medians in ms. T_seq is "
    "the sequential algorithm, here in plain Python unless --sequential names a program; T_par-proc the search alone, "
    "cycles counted; T_par-total the whole call collect_cycles(graph).rows(), which has all cycles in the host's "
    "memory; speedup is T_seq / T_par-total. All parallel searches are made in one process, which has searched the "
    "graph before; each T_seq in one of its own. Start-up and compilation are not counted."
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
            "paper": None if self.paper.figures is None else _paper_json(self.paper.figures),
            "here": here,
            "agree": self.as_in_paper,
            "note": self.note,
        }


def _paper_cells(paper: PaperFigures | None) -> tuple[str, ...]:
    if paper is None:
        return (NOTHING,) * 9
    counts = (str(paper.n), str(paper.m), str(paper.max_degree), str(paper.triangles), f"{paper.chordless_cycles:,}")
    return (*counts, *(figures(value) for value in (paper.sequential, paper.processing, paper.total, paper.speedup)))


def _paper_json(paper: PaperFigures) -> dict[str, Any]:
    called = {"sequential": "t_seq_ms", "processing": "t_par_proc_ms", "total": "t_par_total_ms"}
    return {called.get(name, name): value for name, value in asdict(paper).items()}
