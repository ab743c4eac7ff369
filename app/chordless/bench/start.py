"""``bench start``: how long a short command takes, kernels compiled or not, and how long a large file is read."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from chordless.bench.measure import Column, Outcome, Series, cpu_for_auto, figures, machine, series_columns
from chordless.bench.process import checked, in_child, run_chordless, run_process
from chordless.bench.programs import new_folder
from chordless.bench.report import Prepared, Row
from kernels_ti import EngineError, child

COLUMNS = (Column("command", left=True), *series_columns("cache"), Column("memory"))

_LIMIT_EXIT_CODE = 4
# Triangles are found before the large kernels are compiled.
_FIRST_CYCLES = ("--min-length", "4", "--limit", "1")
_HELP = ("--help",)
_SEARCH = ("count", "grid:7x10", "--method", "search")
DEFAULT_STARTS = (_HELP, ("count", "petersen"), _SEARCH[:2], _SEARCH, ("count", "planar:400,1", *_FIRST_CYCLES))
CUDA_STARTS = (("count", "grid:8x10"),)
"""In place of the others and of the large edge list, which have no use for a GPU."""

_SEED = 1
# Variables that would move the cache of compiled kernels, or keep Python from storing its compiled sources.
_CHANGES_THE_START = ("TI_OFFLINE_CACHE", "QD_OFFLINE_CACHE", "PYTHONDONTWRITEBYTECODE")


class StartRow(Row):
    """The measurements of one command, ``cold`` and ``warm``, or of one large file, ``read``, with the memory taken."""

    keys = ("command", "series")

    def __init__(self, title: str, series: Sequence[Series], memory: list[float] | None = None) -> None:
        super().__init__(title, series)
        self._memory = [] if memory is None else memory

    def _behind(self, one: Series) -> tuple[str, ...]:
        return (figures(max(self._memory, default=None)),)

    def _facts(self) -> dict[str, Any]:
        return {"memory_per_byte": round(max(self._memory), 2) if self._memory else None}


def prepared(options: Namespace, stack: ExitStack) -> Prepared:
    """Return a row for each command and file."""
    made = rows(new_folder(stack), options.graphs, options.arch, options.threads, options.lines)
    return Prepared(made, machine(cpu_for_auto(options.arch)), {"lines": options.lines})


def rows(folder: Path, graphs: Sequence[str], arch: str, threads: int | None, lines: int) -> list[StartRow]:
    """Return the rows to measure: the first cycles of graphs, or without any `DEFAULT_STARTS` and an edge list."""
    starts = [("count", graph, *_FIRST_CYCLES) for graph in graphs]
    how = ["--arch", arch] if arch != "auto" else []
    how += [] if threads is None else ["--threads", str(threads)]
    made = [
        _start_row(start if start == _HELP else (*start, *how), folder / f"cache{i}")
        for i, start in enumerate(starts or (CUDA_STARTS if arch == "cuda" else DEFAULT_STARTS))
    ]
    return made if graphs or arch == "cuda" else [*made, _large_row(folder / "large.txt", lines)]


def _start_row(arguments: Sequence[str], cache: Path) -> StartRow:
    title = shlex.join(arguments)
    series = [
        Series(name, f"chordless {title}", partial(_run_once, arguments, cache, empty=name == "cold"))
        for name in (("warm",) if arguments == _HELP else ("cold", "warm"))
    ]
    return StartRow(title, series)


def _run_once(arguments: Sequence[str], cache: Path, *, empty: bool) -> Outcome:
    """Run this program with its kernels in a folder of its own, which is emptied before if so wanted."""
    if empty:
        shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_CHANGES_THE_START)}
    # The driver of CUDA has a cache of its own.
    environment |= {"XDG_CACHE_HOME": str(cache), "CUDA_CACHE_PATH": str(cache / "cuda")}
    return Outcome(run_chordless(*arguments, environment=environment, good=(0, _LIMIT_EXIT_CODE)).seconds)


def _large_row(path: Path, lines: int) -> StartRow:
    memory: list[float] = []
    series = Series("read", f"an edge list of {lines} lines", partial(_read_once, path, lines, memory))
    return StartRow(f"{lines:,} lines", [series], memory)


def _read_once(path: Path, lines: int, memory: list[float]) -> Outcome:
    if not path.exists():
        write_large_edge_list(path, lines)
    ended = checked(run_process(child.command(in_child("read"), str(path))))
    result = json.loads(ended.printed.splitlines()[-1])
    if "error" in result:
        raise EngineError(result["error"])
    memory.append(result["memory"] / path.stat().st_size)
    return Outcome(result["seconds"])


def write_large_edge_list(path: Path, lines: int) -> None:
    """Write a random edge list with about this many lines, always the same: half as many vertices as edges."""
    rng = np.random.default_rng(_SEED)
    vertices = max(lines // 2, 3)
    ends = rng.integers(0, vertices, (lines, 2))
    ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    keys = rng.permutation(np.unique(ends[:, 0] * vertices + ends[:, 1]))
    with path.open("w", encoding="ascii") as stream:
        for piece in np.array_split(keys, lines // 100_000 + 1):
            u, v = np.divmod(piece, vertices)
            stream.writelines(f"{a} {b}\n" for a, b in zip(u.tolist(), v.tolist(), strict=True))
