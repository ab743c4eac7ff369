"""``bench listing``: what it takes to have every cycle, in memory, in files and through a pipe."""

from __future__ import annotations

import os
import shlex
import shutil
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chordless.bench.measure import NOTHING, Column, Outcome, Series, cpu_for_auto, figures, machine, series_columns
from chordless.bench.process import WarmProcess, checked, program_command, run_chordless, run_process
from chordless.bench.programs import BenchGraph, graphs_of
from chordless.bench.report import Prepared, Row, known_ways
from chordless.cycles.read import CycleStore, read_rows, row_words

DEFAULT_GRAPHS = ("grid:7x10", "grid:8x10")

COLUMNS = (
    Column("graph", left=True),
    Column("cycles"),
    *series_columns("way"),
    Column("cycles/s"),
    Column("times count"),
    Column("GB/s"),
)
_IN_MEMORY = ("count", "rows", "batches", "lists", "search", "search rows", "kept")
WAYS = (*_IN_MEMORY, ".npy", ".txt", "pipe", "folder", "Parquet", "Arrow")
_LINES_READ = 1 << 24


def prepared(options: Namespace, stack: ExitStack) -> Prepared:
    """Return a row for each graph; an OptionError for a way that does not exist."""
    ways, arch = known_ways(options.ways, WAYS), cpu_for_auto(options.arch)
    searches = stack.enter_context(WarmProcess(arch, options.threads))
    graphs = graphs_of(options.graphs or DEFAULT_GRAPHS, stack)
    rows = [ListingRow(graph, searches, arch, options.threads, ways) for graph in graphs]
    return Prepared(rows, machine(arch), {"ways": options.ways})


class ListingRow(Row):
    """The measurements for one graph, whose folder takes the outputs; counting is measured in any case."""

    keys = ("graph", "series")

    def __init__(
        self, graph: BenchGraph, searches: WarmProcess, arch: str, threads: int | None, ways: Sequence[str] = WAYS
    ) -> None:
        self._graph = graph
        self._bytes: dict[str, int] = {}
        self._lists = ["list", graph.file, "--arch", arch, *([] if threads is None else ["--threads", str(threads)])]
        self._lists.append("--quiet")
        every = [
            Series(each, f"{each} of {graph.title}, in a warm process", partial(searches.once, graph.file, each))
            for each in _IN_MEMORY
        ]
        every += [
            self._to_file(".npy", "c.npy", _rows_of),
            self._to_file(".txt", "c.txt", _lines),
            Series("pipe", f"{self._shown(self._lists)} | wc -l", self._through_pipe),
            self._to_file("folder", "run/", _rows_of),
            self._to_file("Parquet", "c.parquet", _parquet_rows),
            self._to_file("Arrow", "c.arrow", _arrow_rows),
        ]
        if find_spec("pyarrow") is None:
            for one in every[-2:]:
                one.stopped = "no pyarrow"
        super().__init__(graph.title, [one for one in every if one.name == "count" or one.name in ways])

    def agreement(self, one: Series) -> bool | None:
        """Return whether a way to list has all cycles, triangles included."""
        known = self.series[0]
        return None if one is known or not one.count or not known.count else one.total == known.total

    def _head(self) -> tuple[str, ...]:
        return (f"{self.known.total:,}" if self.known.count else NOTHING,)

    def _behind(self, one: Series) -> tuple[str, ...]:
        median, counting, speed = one.median, self.series[0].median, self._speed(one)
        return (
            f"{one.total / median:,.0f}" if median else NOTHING,
            f"{median / counting:.1f}" if median and counting and one.name in _IN_MEMORY else NOTHING,
            figures(None if speed is None else speed / 1e9),
        )

    def _facts(self) -> dict[str, Any]:
        return {"cycles": self.known.total if self.known.count else None}

    def _facts_of(self, one: Series) -> dict[str, Any]:
        speed = self._speed(one)
        return {"bytes": self._bytes_of(one), "bytes_per_second": None if speed is None else round(speed)}

    def _bytes_of(self, one: Series) -> int | None:
        """Return the bytes of the bit rows, or of the output of a command; None for a way that has none."""
        if one.name in ("rows", "search rows") and one.count:
            return one.total * 8 * row_words(self._graph.graph.n)
        return self._bytes.get(one.name)

    def _speed(self, one: Series) -> float | None:
        size = self._bytes_of(one)
        return None if size is None or not one.median else size / one.median

    def _to_file(self, name: str, file: str, cycles: Callable[[Path], int]) -> Series:
        arguments = [*self._lists, "-o", f"{self._graph.folder}{os.sep}{file}"]
        run = partial(self._run_once, name, arguments, self._graph.folder / file, cycles)
        return Series(name, self._shown(arguments), run)

    def _run_once(self, name: str, arguments: list[str], output: Path, cycles: Callable[[Path], int]) -> Outcome:
        """Run a command without the output of the run before; count the cycles and bytes that it wrote."""
        if output.is_dir():
            shutil.rmtree(output)
        output.unlink(missing_ok=True)
        seconds = run_chordless(*arguments).seconds
        parts = output.glob("cycles/part-*") if output.is_dir() else [output]
        self._bytes[name] = sum(part.stat().st_size for part in parts)
        return Outcome(seconds, count={"cycles": cycles(output)})

    def _through_pipe(self) -> Outcome:
        command = f"{shlex.join(program_command(*self._lists))} | wc -lc"
        ended = checked(run_process(["sh", "-c", command]))
        lines, self._bytes["pipe"] = map(int, ended.printed.split())
        return Outcome(ended.seconds, count={"cycles": lines})

    def _shown(self, arguments: list[str]) -> str:
        """Return a command line for readers, without the folder of this measurement."""
        named = [self._graph.title if each == self._graph.file else each for each in arguments]
        return shlex.join(["chordless", *(each.replace(f"{self._graph.folder}{os.sep}", "") for each in named)])


def _rows_of(path: Path) -> int:
    return len(CycleStore(read_rows(path)))


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
