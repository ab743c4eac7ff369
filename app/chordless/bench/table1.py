"""``bench table1``: the paper's Table 1, measured again on this machine, row by row."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from chordless.bench.graphs import BenchGraph
from chordless.bench.layout import NOTHING, Column, figures
from chordless.bench.measure import Series, count_once, take_turns
from chordless.bench.paper import ROWS, PaperFigures, PaperRow
from chordless.bench.programs import Program, agrees
from chordless.bench.searches import SearchProcess
from chordless.graphs.load import load_graph
from chordless.graphs.overlap import niche_overlap
from kernels_ti import Graph, OptionError

GRAPH_COLUMNS = (
    Column("graph", left=True), Column("n"), Column("m"), Column("Delta"), Column("C3"), Column("#clc"),
)  # fmt: skip
_TIMES = ("T_seq", "T_par-proc", "T_par-total", "speedup")
_AGREE = Column("agree", left=True)
COLUMNS = (
    *GRAPH_COLUMNS,
    *(Column(time.removeprefix("T_par-"), group) for group in ("paper, ms", "here, ms") for time in _TIMES),
    _AGREE,
)
MARKDOWN_COLUMNS = (*GRAPH_COLUMNS, *(Column(time, group) for group in ("paper", "here") for time in _TIMES), _AGREE)

LEGEND = (
    "n, m, Delta, C3 and #clc are the paper's; agree: C3 and #clc are the same here. Times are medians in ms. T_seq is "
    "the sequential algorithm, here in plain Python unless --sequential names a program; T_par-proc the search alone, "
    "cycles counted; T_par-total search and transfer of all cycles to the memory of the host, here as bit rows; "
    "speedup is T_seq / T_par-total. All parallel searches are made in one process, which has searched the graph "
    "before; each T_seq in one of its own. Start-up and compilation are not counted."
)


def chosen_rows(names: Sequence[str] | None, data: str | None) -> tuple[list[PaperRow], list[PaperRow]]:
    """Choose the rows to show.

    Parameters
    ----------
    names : sequence of str, or None
        Names of rows; upper and lower case are equal. The default is all rows.
    data : str or None
        Folder with the graphs that cannot be generated.

    Returns
    -------
    list of PaperRow
        The rows to show.
    list of PaperRow
        The rows that are left out because `data` is None.

    Raises
    ------
    OptionError
        If a name is not in the table, a named row needs the folder, or the folder does not exist.
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


class Table1Row:
    """One row: the paper's figures and ours.

    Parameters
    ----------
    paper : PaperRow
    folder : Path
        An empty folder for the row's files.
    data : str or None
        Folder with the graphs that cannot be generated. Its subfolders are searched too.

    Attributes
    ----------
    graph : BenchGraph or None
        None if it is not available.
    sequential, processing, total : Series or None
        T_seq, T_par-proc and T_par-total.
    """

    def __init__(self, paper: PaperRow, folder: Path, data: str | None) -> None:
        self.paper = paper
        self.sequential: Series | None = None
        self.processing: Series | None = None
        self.total: Series | None = None
        self._note = paper.note
        graph = self._load(data)
        self.graph = None if graph is None else BenchGraph(paper.spec or paper.file or paper.name, graph, folder)

    def _load(self, data: str | None) -> Graph | None:
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
    def title(self) -> str:
        """The title of the row."""
        return self.paper.name

    @property
    def measured(self) -> bool:
        """Whether there is any result, or the row has no graph that could give one."""
        return self.graph is None or any(one.seconds or one.stopped for one in self._series())

    def measure(
        self,
        searches: SearchProcess,
        arch: str,
        repeat: int,
        sequential_timeout: float,
        sequential: Program | None = None,
    ) -> None:
        """Run everything in turns. After an interrupt, the results so far stay.

        Parameters
        ----------
        searches : SearchProcess
            Makes the parallel searches.
        arch : str
            Its arch.
        repeat : int
        sequential_timeout : float
            Seconds for one run of the sequential algorithm. After this many seconds in total it is not run again.
        sequential : Program, optional
            The sequential algorithm; the default is our own in plain Python.
        """
        if self.graph is None:
            return
        file = self.graph.file
        count = shlex.join(["chordless", "count", self.graph.title, "--method", "search", "--arch", arch])
        self.processing = Series("T_par-proc", count, partial(searches.once, file, "count"))
        self.total = Series(
            "T_par-total", f"{count}, all cycles brought to the host", partial(searches.once, file, "rows")
        )
        shown = shlex.join(["chordless", "count", self.graph.title, "--arch", "reference"])
        run = partial(count_once, file, "reference", None, sequential_timeout)
        if sequential is not None:
            shown, run = sequential.shown, partial(sequential.run, self.graph, sequential_timeout)
        self.sequential = Series("T_seq", shown, run, patience=sequential_timeout)
        take_turns(self._series(), repeat)

    def _series(self) -> list[Series]:
        return [one for one in (self.sequential, self.processing, self.total) if one is not None]

    @property
    def _known(self) -> Series | None:
        """A series with the counts of this program by length."""
        return next((one for one in self._series() if one.by_length is not None), None)

    @staticmethod
    def _equals(one: Series, known: Series) -> bool:
        if one.by_length is not None:
            return one.by_length == known.by_length
        return agrees(one.count, known.count["c3"], known.count["clc"])

    @property
    def agreement(self) -> bool | None:
        """Whether C3 and #clc equal those of the paper; None if ours or theirs are unknown."""
        known = self._known
        if known is None or self.paper.figures is None:
            return None
        return known.count == {"c3": self.paper.figures.triangles, "clc": self.paper.figures.chordless_cycles}

    @property
    def speedup(self) -> tuple[float | None, bool]:
        """T_seq / T_par-total, and whether it is only a lower bound, because T_seq was stopped."""
        if self.sequential is None or self.total is None or not self.total.median:
            return None, False
        if self.sequential.median is not None:
            return self.sequential.median / self.total.median, False
        if self.sequential.time_limit is not None:
            return self.sequential.time_limit / self.total.median, True
        return None, False

    @property
    def problems(self) -> Iterator[str]:
        """Yield one line for each problem."""
        known = self._known
        for one in self._series():
            if known is not None and one.count and not self._equals(one, known):
                yield (
                    f"{self.paper.name}: the counts disagree: {one.name} found {one.count}, {known.name} {known.count}"
                )
        if known is not None and self.agreement is False and self.paper.figures is not None:
            yield (
                f"{self.paper.name}: the counts disagree: C3 and #clc are {known.count['c3']:,} and "
                f"{known.count['clc']:,} here, {self.paper.figures.triangles:,} and "
                f"{self.paper.figures.chordless_cycles:,} in the paper"
            )
        for one in self._series():
            if one.error is not None:
                yield f"{self.paper.name}: {one.name}: {one.error}"

    @property
    def note(self) -> str | None:
        """Differences from the paper's n, m and degree, and the remark about the row."""
        differs = [f"{name} is {ours:,}, not {theirs:,}" for name, ours, theirs in self._differences()]
        parts = [*differs, *([self._note] if self._note else [])]
        return f"{self.paper.name}: {'; '.join(parts)}" if parts else None

    def _differences(self) -> Iterator[tuple[str, int, int]]:
        figures_of_paper = self.paper.figures
        if self.graph is None or figures_of_paper is None:
            return
        graph = self.graph.graph
        for name, ours, theirs in (
            ("n", graph.n, figures_of_paper.n),
            ("m", graph.m, figures_of_paper.m),
            ("Delta", graph.max_degree, figures_of_paper.max_degree),
        ):
            if ours != theirs:
                yield name, ours, theirs

    def cells(self) -> tuple[str, ...]:
        """Return the row of the table."""
        paper = self.paper.figures
        return (self.paper.name, *_paper_cells(paper), *self._our_cells(), self._agree_cell())

    def _our_cells(self) -> Iterator[str]:
        for one in (self.sequential, self.processing, self.total):
            if one is None:
                yield NOTHING
            elif one.median is None or one.error is not None:
                yield one.stopped or NOTHING
            else:
                yield figures(1000 * one.median)
        speedup, bound = self.speedup
        yield NOTHING if speedup is None else f"{'>' * bound}{figures(speedup)}"

    def _agree_cell(self) -> str:
        return {True: "yes", False: "NO", None: NOTHING}[self.agreement]

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        series = self._series()
        known = self._known
        speedup, bound = self.speedup
        here = None
        if self.graph is not None:
            here = {
                "graph": self.graph.title,
                "n": self.graph.graph.n,
                "m": self.graph.graph.m,
                "max_degree": self.graph.graph.max_degree,
                "triangles": known.count["c3"] if known else None,
                "chordless_cycles": known.count["clc"] if known else None,
                "by_length": known.by_length if known else None,
                "times": [one.to_json() for one in series],
                "speedup": None if speedup is None else round(speedup, 3),
                "speedup_is_lower_bound": bound,
            }
        return {
            "name": self.paper.name,
            "paper": None if self.paper.figures is None else _paper_json(self.paper.figures),
            "here": here,
            "agree": self.agreement,
            "note": self.note,
        }


def _paper_cells(paper: PaperFigures | None) -> tuple[str, ...]:
    if paper is None:
        return (NOTHING,) * 9
    counts = (str(paper.n), str(paper.m), str(paper.max_degree), str(paper.triangles), f"{paper.chordless_cycles:,}")
    return (*counts, *(figures(value) for value in (paper.sequential, paper.processing, paper.total, paper.speedup)))


def _paper_json(paper: PaperFigures) -> dict[str, Any]:
    return {
        "n": paper.n,
        "m": paper.m,
        "max_degree": paper.max_degree,
        "triangles": paper.triangles,
        "chordless_cycles": paper.chordless_cycles,
        "t_seq_ms": paper.sequential,
        "t_par_proc_ms": paper.processing,
        "t_par_total_ms": paper.total,
        "speedup": paper.speedup,
    }
