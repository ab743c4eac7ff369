"""``bench listing``: what it takes to have every cycle, in memory, in files and through a pipe."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chordless.bench.graphs import BenchGraph
from chordless.bench.layout import NOTHING, Column, figures
from chordless.bench.measure import Outcome, Series, take_turns
from chordless.bench.process import Ended, program_command, run_process
from chordless.bench.searches import SearchProcess
from chordless.cycles.read import CycleStore, read_rows, row_words
from kernels_ti import EngineError
from kernels_ti.device.machine import cores

DEFAULT_GRAPHS = ("grid:7x10", "grid:8x10")

LEGEND = (
    "Seconds to have all chordless cycles: medians of the runs, which were taken in turns. count, kept (the cycles "
    "stay in the memory of the device), rows (bit rows in the memory of the host) and lists (Python lists of names, "
    "each dropped at once) are the search alone, with its kernels loaded; times count is the median over that of "
    "counting. .npy, .txt, pipe (list | wc -l), folder (a run directory), Parquet and Arrow are whole processes with "
    "a warm cache. GB/s: bytes of rows or of output over the median; of limit: the share of what the memory, a file "
    "or a pipe takes here, measured before (memory: a copy into a new array by all threads; file: without a sync; "
    "pipe: head | wc -l; link: from a GPU to pinned memory). The target is what this program was to reach: on two "
    "idle cores, on 16 if it had as many threads, or on one H200."
)

COLUMNS = (
    Column("graph", left=True),
    Column("cycles"),
    Column("way", left=True),
    Column("runs"),
    Column("median, s"),
    Column("fastest"),
    Column("slowest"),
    Column("cycles/s"),
    Column("times count"),
    Column("GB/s"),
    Column("of limit"),
    Column("target, s"),
)

_TARGETS = {
    ("2 cores", "grid:7x10", "rows"): 0.3,
    ("2 cores", "grid:8x10", "rows"): 2.0,
    ("2 cores", "grid:7x10", ".npy"): 1.2,
    ("2 cores", "grid:7x10", ".txt"): 4.0,
    ("16 cores", "grid:8x10", "rows"): 0.7,
    ("cuda", "grid:7x10", "rows"): 0.008,
    ("cuda", "grid:8x10", "rows"): 0.06,
    ("cuda", "gnp:80,0.1,1", "rows"): 0.09,
    ("cuda", "grid:8x10", "kept"): 0.008,
}
_MANY_THREADS = 16
_SEARCHES = ("count", "kept", "rows", "lists")
WAYS = (*_SEARCHES, ".npy", ".txt", "pipe", "folder", "Parquet", "Arrow")
_LIMITS = {"rows": "memory", "pipe": "pipe"}
"""What limits a way to list; a file limits the others."""
_LINES_READ = 1 << 24


class ListingRow:
    """The measurements for one graph.

    Parameters
    ----------
    graph : BenchGraph
        Its folder takes the outputs.
    searches : SearchProcess
        Makes the searches in memory.
    arch : str
    threads : int or None
        Of the commands.
    bandwidth : mapping
        See `chordless.bench.bandwidth.bandwidth`.
    ways : sequence of str
        The ways of `WAYS` to measure. Counting is measured in any case.
    """

    def __init__(
        self,
        graph: BenchGraph,
        searches: SearchProcess,
        arch: str,
        threads: int | None,
        bandwidth: Mapping[str, float],
        ways: Sequence[str] = WAYS,
    ) -> None:
        self.title = graph.title
        self._graph = graph
        self._place = arch if arch == "cuda" else "16 cores" if (threads or cores()) >= _MANY_THREADS else "2 cores"
        self._bandwidth = bandwidth
        self._bytes: dict[str, int] = {}
        how = ["--arch", arch, *([] if threads is None else ["--threads", str(threads)])]
        folder = graph.folder
        npy, text, run, parquet, arrow = (folder / f for f in ("c.npy", "c.txt", "run/", "c.parquet", "c.arrow"))
        lists = ["list", graph.file, *how, "--quiet"]
        search = [
            Series(each, f"a search of {graph.title}: {each}", partial(searches.once, graph.file, each))
            for each in _SEARCHES
        ]
        every = [
            *search,
            self._command(".npy", [*lists, "-o", str(npy)], npy, lambda: len(CycleStore(read_rows(npy)))),
            self._command(".txt", [*lists, "-o", str(text)], text, lambda: _lines(text)),
            Series("pipe", f"{self._shown(lists)} | wc -l", partial(self._through_pipe, lists)),
            self._command("folder", [*lists, "-o", f"{run}/"], run, lambda: len(CycleStore(read_rows(run)))),
            self._command("Parquet", [*lists, "-o", str(parquet)], parquet, lambda: _parquet_rows(parquet)),
            self._command("Arrow", [*lists, "-o", str(arrow)], arrow, lambda: _arrow_rows(arrow)),
        ]
        if find_spec("pyarrow") is None:
            for one in every[-2:]:
                one.stopped = "no pyarrow"
        self.series = [one for one in every if one.name == "count" or one.name in ways]

    @property
    def measured(self) -> bool:
        """Whether there is any result."""
        return any(one.seconds for one in self.series)

    def measure(self, repeat: int) -> None:
        """Run everything in turns. After an interrupt, the results so far stay."""
        take_turns(self.series, repeat)

    @property
    def _cycles(self) -> int | None:
        return _total(self.series[0]) if self.series[0].count else None

    @property
    def problems(self) -> Iterator[str]:
        """Yield one line for each problem."""
        for one in self.series:
            if one.error is not None:
                yield f"{self.title}, {one.name}: {one.error}"
            elif one.count and self._cycles is not None and _total(one) != self._cycles:
                yield f"{self.title}: {one.name} has {_total(one):,} cycles, the count is {self._cycles:,}"

    def cells(self) -> Iterator[tuple[str, ...]]:
        """Yield the rows of the table, one for each way."""
        counting = self.series[0].median
        for i, one in enumerate(self.series):
            median = one.median if one.error is None else None
            target, speed = self._target(one.name), self._speed(one)
            yield (
                self.title if i == 0 else "",
                f"{self._cycles:,}" if i == 0 and self._cycles is not None else "",
                one.name,
                str(len(one.seconds)) if one.seconds else NOTHING,
                one.stopped or NOTHING if median is None else figures(median),
                figures(min(one.seconds)) if one.seconds else NOTHING,
                figures(max(one.seconds)) if one.seconds else NOTHING,
                f"{_total(one) / median:,.0f}" if median else NOTHING,
                f"{median / counting:.1f}" if median and counting and one.name in _SEARCHES else NOTHING,
                NOTHING if speed is None else figures(speed / 1e9),
                NOTHING if speed is None else f"{100 * speed / self._bandwidth[_LIMITS.get(one.name, 'file')]:.0f} %",
                NOTHING if target is None else f"{target:g}",
            )

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        return {
            "graph": self.title,
            "cycles": self._cycles,
            "series": [
                {
                    **one.to_json(),
                    "target_seconds": self._target(one.name),
                    "bytes": self._bytes_of(one),
                    "bytes_per_second": None if self._speed(one) is None else round(self._speed(one) or 0),
                }
                for one in self.series
            ],
        }

    def _bytes_of(self, one: Series) -> int | None:
        """Return the bytes of the bit rows, or of the output of a command; None for what has none."""
        if one.name == "rows" and one.count:
            return _total(one) * 8 * row_words(self._graph.graph.n)
        return self._bytes.get(one.name)

    def _speed(self, one: Series) -> float | None:
        """Return the bytes a second of a way to list."""
        size = self._bytes_of(one)
        return None if size is None or not one.median or one.error is not None else size / one.median

    def _command(self, name: str, arguments: list[str], output: Path, cycles: Callable[[], int]) -> Series:
        return Series(name, self._shown(arguments), partial(self._run_once, name, arguments, output, cycles))

    def _run_once(self, name: str, arguments: list[str], output: Path, cycles: Callable[[], int]) -> Outcome:
        """Run a command without the output of the run before; count the cycles and bytes that it wrote."""
        if output.is_dir():
            shutil.rmtree(output)
        output.unlink(missing_ok=True)
        seconds = _well(run_process(program_command(*arguments))).seconds
        parts = output.glob("cycles/part-*") if output.is_dir() else [output]
        self._bytes[name] = sum(part.stat().st_size for part in parts)
        return Outcome(seconds, count={"cycles": cycles()})

    def _through_pipe(self, arguments: list[str]) -> Outcome:
        ended = _well(run_process(["sh", "-c", f"{shlex.join(program_command(*arguments))} | wc -lc"]))
        lines, self._bytes["pipe"] = map(int, ended.printed.split())
        return Outcome(ended.seconds, count={"cycles": lines})

    def _shown(self, arguments: list[str]) -> str:
        """Return a command line for readers, without the folder of this measurement."""
        named = [self._graph.title if each == self._graph.file else each for each in arguments]
        return shlex.join(["chordless", *(each.replace(f"{self._graph.folder}{os.sep}", "") for each in named)])

    def _target(self, name: str) -> float | None:
        return _TARGETS.get((self._place, self.title, name))


def _total(series: Series) -> int:
    return sum(series.count.values())


def _well(ended: Ended) -> Ended:
    if ended.exit_code != 0:
        raise EngineError(f"chordless ended with exit code {ended.exit_code}{ended.last_words}")
    return ended


def _lines(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(piece.count(b"\n") for piece in iter(partial(stream.read, _LINES_READ), b""))


def _parquet_rows(path: Path) -> int:
    from chordless.cycles.columns import require_parquet

    return int(require_parquet()[1].read_metadata(path).num_rows)


def _arrow_rows(path: Path) -> int:
    from kernels_ti.arrow import require_pyarrow

    pyarrow = require_pyarrow()
    with pyarrow.memory_map(str(path)) as source, pyarrow.ipc.open_file(source) as reader:
        return sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
