"""``bench start``: how long a short command takes, kernels compiled or not, and how long a large file is read."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from chordless.bench.layout import NOTHING, Column, figures
from chordless.bench.measure import Outcome, Series, take_turns
from chordless.bench.process import module_command, program_command, run_process
from kernels_ti import EngineError

LEGEND = (
    "Seconds of the whole process: medians of the runs. cold: with an empty cache of compiled kernels; warm: with the "
    "cache that the cold run before it has filled. read: an edge list is read, labelled by degree and split into "
    "blocks, without the start of Python; memory: the most that this process took, in bytes for each byte of the file. "
    "The target is what this program was to reach on two idle cores, and on CUDA with one H200."
)

COLUMNS = (
    Column("command", left=True),
    Column("cache", left=True),
    Column("runs"),
    Column("median, s"),
    Column("fastest"),
    Column("slowest"),
    Column("memory"),
    Column("target, s"),
)

_LIMIT_EXIT_CODE = 4
# Triangles are found before the large kernels are compiled.
_FIRST_CYCLES = ("--min-length", "4", "--limit", "1")
_LARGE_TARGETS = {2_000_000: 2.0, 10_000_000: 12.0}
_SEED = 1
# Variables that would move the cache of compiled kernels, or keep Python from storing its compiled sources.
_CHANGES_THE_START = ("TI_OFFLINE_CACHE", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True)
class Start:
    """A short command to measure.

    Attributes
    ----------
    arguments : tuple of str
    targets : dict of str to float
        For ``cold`` and ``warm`` the target in seconds. A command that compiles nothing has no ``cold``.
    compiles : bool
        Whether the command may compile kernels.
    """

    arguments: tuple[str, ...]
    targets: dict[str, float]
    compiles: bool = True


DEFAULT_STARTS = (
    Start(("--help",), {"warm": 0.1}, compiles=False),
    Start(("count", "petersen"), {"warm": 0.3}),
    Start(("count", "grid:7x10"), {"cold": 3.0, "warm": 0.7}),
    Start(("count", "planar:400,1", *_FIRST_CYCLES), {"cold": 5.0}),
)

CUDA_STARTS = (Start(("count", "grid:8x10"), {"cold": 3.0, "warm": 1.0}),)
"""In place of the others and of the large edge list, which have no use for a GPU."""


class StartRow:
    """The measurements of one command, or of one large file.

    Parameters
    ----------
    title : str
    series : sequence of Series
        They are named ``cold`` and ``warm``, or ``read``.
    targets : dict of str to float
        Targets in seconds by the name of the series.
    memory : list of float, optional
        A list to which each run adds the memory that it took, in bytes for each byte of the file.
    """

    def __init__(
        self, title: str, series: Sequence[Series], targets: dict[str, float], memory: list[float] | None = None
    ) -> None:
        self.title = title
        self.series = list(series)
        self._targets = targets
        self._memory = [] if memory is None else memory

    @property
    def measured(self) -> bool:
        """Whether there is any result."""
        return any(one.seconds or one.stopped for one in self.series)

    def measure(self, repeat: int) -> None:
        """Run the series in turns. After an interrupt, the results so far stay."""
        take_turns(self.series, repeat)

    @property
    def problems(self) -> Iterator[str]:
        """Yield one line for each problem."""
        for one in self.series:
            if one.error is not None:
                yield f"{self.title}: {one.error}"

    def cells(self) -> Iterator[tuple[str, ...]]:
        """Yield the rows of the table, one for each series."""
        for i, one in enumerate(self.series):
            failed = one.error is not None or one.median is None
            target = self._targets.get(one.name)
            yield (
                self.title if i == 0 else "",
                one.name,
                str(len(one.seconds)) if one.seconds else NOTHING,
                one.stopped or NOTHING if failed else figures(one.median or 0.0),
                figures(min(one.seconds)) if one.seconds else NOTHING,
                figures(max(one.seconds)) if one.seconds else NOTHING,
                figures(max(self._memory)) if self._memory else NOTHING,
                NOTHING if target is None else f"{target:g}",
            )

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        return {
            "command": self.title,
            "memory_per_byte": round(max(self._memory), 2) if self._memory else None,
            "series": [{**one.to_json(), "target_seconds": self._targets.get(one.name)} for one in self.series],
        }


def rows(folder: Path, graphs: Sequence[str], arch: str, threads: int | None, lines: int) -> list[StartRow]:
    """Return the rows to measure.

    Parameters
    ----------
    folder : Path
        For the caches of compiled kernels, and for the large edge list.
    graphs : sequence of str
        Graphs to search until there are cycles. Without any, `DEFAULT_STARTS` and the large edge list are measured, on
        CUDA `CUDA_STARTS`.
    arch : str
    threads : int or None
    lines : int
        Lines of the large edge list.
    """
    defaults = CUDA_STARTS if arch == "cuda" else DEFAULT_STARTS
    starts = [Start(("count", graph, *_FIRST_CYCLES), {"cold": 5.0}) for graph in graphs] or defaults
    how = ["--arch", arch] if arch != "auto" else []
    how += [] if threads is None else ["--threads", str(threads)]
    if how:
        starts = [replace(start, arguments=(*start.arguments, *how)) if start.compiles else start for start in starts]
    made = [_start_row(start, folder / f"cache{i}") for i, start in enumerate(starts)]
    return made if graphs or arch == "cuda" else [*made, _large_row(folder / "large.txt", lines)]


def _start_row(start: Start, cache: Path) -> StartRow:
    title = shlex.join(start.arguments)
    series = [
        Series(name, f"chordless {title}", partial(_run_once, start.arguments, cache, empty=name == "cold"))
        for name in (("cold", "warm") if start.compiles else ("warm",))
    ]
    return StartRow(title, series, start.targets)


def _run_once(arguments: Sequence[str], cache: Path, *, empty: bool) -> Outcome:
    """Run this program with its kernels in a folder of its own, which is emptied before if so wanted."""
    if empty:
        shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_CHANGES_THE_START)}
    # The driver of CUDA has a cache of its own.
    environment |= {"XDG_CACHE_HOME": str(cache), "CUDA_CACHE_PATH": str(cache / "cuda")}
    ended = run_process(program_command(*arguments), environment=environment)
    if ended.exit_code not in (0, _LIMIT_EXIT_CODE):
        raise EngineError(f"chordless ended with exit code {ended.exit_code}{ended.last_words}")
    return Outcome(ended.seconds)


def _large_row(path: Path, lines: int) -> StartRow:
    memory: list[float] = []
    series = Series("read", f"an edge list of {lines} lines", partial(_read_once, path, lines, memory))
    targets = {"read": _LARGE_TARGETS[lines]} if lines in _LARGE_TARGETS else {}
    return StartRow(f"{lines:,} lines", [series], targets, memory)


def _read_once(path: Path, lines: int, memory: list[float]) -> Outcome:
    if not path.exists():
        write_large_edge_list(path, lines)
    ended = run_process(module_command("chordless.bench.reading", str(path)))
    printed = ended.printed.splitlines()
    if ended.exit_code or not printed:
        raise EngineError(f"the process ended with exit code {ended.exit_code}{ended.last_words}")
    result = json.loads(printed[-1])
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
