"""``bench batch``: many small graphs in one batch, compared with ``countg`` of nauty on the same graphs."""

from __future__ import annotations

import random
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from chordless.batch.client import BatchClient
from chordless.bench.layout import NOTHING, Column, figures
from chordless.bench.measure import Outcome, Series, take_turns
from chordless.bench.process import run_process
from chordless.graphs.molecules import read_molecules
from chordless.protocol.events import BatchFinished, Failed
from chordless.protocol.orders import BatchCommand, BatchJob
from kernels_ti import EngineError

GENG_VERTICES, GENG_SECONDS = 9, 20.0
"""The graphs have this many vertices; the second is the target in seconds for counting them all on two cores."""

MOLECULES, MOLECULES_SECONDS = 100_000, 60.0

LEGEND = (
    "Seconds to count the chordless cycles of each graph of a file: medians of the runs, which were taken in turns. "
    "chordless: from the start of the engine to the last line of its output, reading and writing included. "
    "nauty-countg: the whole process, which prints how many graphs have how many cycles; it reads molecules as graph6, "
    "we read SMILES through RDKit. The target is what this program was to reach on two cores."
)

COLUMNS = (
    Column("graphs", left=True),
    Column("number"),
    Column("cycles"),
    Column("program", left=True),
    Column("runs"),
    Column("median, s"),
    Column("fastest"),
    Column("slowest"),
    Column("graphs/s"),
    Column("target, s"),
    Column("agree", left=True),
)

_NAUTY_LINE = re.compile(r"^\s*([0-9]+) graphs : induced cycles=([0-9]+)\s*$", re.MULTILINE)
_CHAIN = ("C", "N", "O", "C(C)", "C(=O)", "C(=O)N", "S(=O)(=O)N", "C(F)(F)")
_RING = ("c1ccc(cc1)", "c1cc(ccc1)", "C1CC(CC1)", "N1CCN(CC1)", "c1cc2c(cc1)CCN2", "C1CC1", "c1nc(cs1)", "C1CC2CCC1C2")
_END = ("C", "O", "N", "F", "Cl", "c1ccccc1", "C1CCCCC1", "c1ccncc1", "N1CCOCC1", "c1ccc2[nH]ccc2c1", "C(F)(F)F")
_LARGEST_LINE = 62  # atoms; up to this number, graph6 encodes n in one character


@dataclass(frozen=True)
class GraphFile:
    """Graphs to count: one file for this program and one for nauty.

    Attributes
    ----------
    title : str
    file, graph6 : str
        The two files. They may be the same.
    target : float or None
        Target in seconds.
    """

    title: str
    file: str
    graph6: str
    target: float | None


class BatchRow:
    """The measurements for all graphs of a file.

    Parameters
    ----------
    graphs : GraphFile
    folder : Path
        The folder for output files.
    arch : str
    threads : int or None
    """

    def __init__(self, graphs: GraphFile, folder: Path, arch: str, threads: int | None) -> None:
        self.graphs = graphs
        nauty = _nauty()
        ours = partial(_count, graphs.file, folder, arch, threads)
        self.series = [
            Series("chordless batch", f"chordless batch {graphs.file} --arch {arch} -o OUT.jsonl", ours),
            Series(
                "nauty-countg",
                f"{nauty or 'countg'} --H -q {graphs.graph6}",
                partial(_count_by_nauty, nauty, graphs.graph6),
                stopped=None if nauty else "not installed",
            ),
        ]

    @property
    def title(self) -> str:
        """The title of the graphs."""
        return self.graphs.title

    @property
    def measured(self) -> bool:
        """Whether there is any result."""
        return bool(self.series[0].seconds or self.series[0].stopped)

    def measure(self, repeat: int) -> None:
        """Run all programs. After an interrupt, the results so far stay."""
        take_turns(self.series, repeat)

    def agreement(self, one: Series) -> bool | None:
        """Return whether a series found the same count as this program; None if one of them has no count."""
        ours = self.series[0]
        return None if one is ours or not one.count or not ours.count else one.count == ours.count

    @property
    def problems(self) -> Iterator[str]:
        """Yield one line for each problem."""
        for one in self.series:
            if self.agreement(one) is False:
                yield f"{self.title}: the counts disagree: {one.name} found {one.count}, we {self.series[0].count}"
            if one.error is not None:
                yield f"{self.title}: {one.error}"

    def cells(self) -> Iterator[tuple[str, ...]]:
        """Yield the rows of the table, one for each program."""
        count = self.series[0].count
        for i, one in enumerate(self.series):
            median = one.median
            rate = f"{count['graphs'] / median:,.0f}" if median and count else NOTHING
            target = self.graphs.target if i == 0 else None
            yield (
                self.title if i == 0 else "",
                f"{count['graphs']:,}" if i == 0 and count else "",
                f"{count['cycles']:,}" if i == 0 and count else "",
                one.name,
                str(len(one.seconds)) if one.seconds else NOTHING,
                figures(median) if median is not None and one.error is None else one.stopped or NOTHING,
                figures(min(one.seconds)) if one.seconds else NOTHING,
                figures(max(one.seconds)) if one.seconds else NOTHING,
                rate,
                NOTHING if target is None else f"{target:g}",
                {True: "yes", False: "NO", None: NOTHING}[self.agreement(one)],
            )

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        return {
            "graphs": self.title,
            "target_seconds": self.graphs.target,
            "count": self.series[0].count or None,
            "programs": [{**one.to_json(), "agree": self.agreement(one)} for one in self.series],
        }


def graph_files(folder: Path, vertices: int, molecules: int) -> tuple[list[GraphFile], list[str]]:
    """Make the graphs to count.

    Parameters
    ----------
    folder : Path
    vertices : int
        All graphs of this size are counted; ``geng`` of nauty makes them.
    molecules : int
        Number of synthetic molecules. They resemble drugs in size and rings.

    Returns
    -------
    list of GraphFile
    list of str
        What is left out, with the reason.
    """
    files, notes = [], []
    geng = next((name for name in ("geng", "nauty-geng") if shutil.which(name)), None)
    if geng is None:
        notes.append("all small graphs are left out: geng of nauty is not installed")
    else:
        path = str(folder / f"geng{vertices}.g6")
        ended = run_process([geng, "-q", str(vertices), path])
        if ended.exit_code:
            raise EngineError(f"{geng} ended with exit code {ended.exit_code}{ended.last_words}")
        files.append(GraphFile(f"geng {vertices}", path, path, GENG_SECONDS if vertices == GENG_VERTICES else None))
    try:
        import rdkit  # noqa: F401
    except ImportError:
        notes.append("molecules are left out: RDKit is not installed (pip install 'chordless[molecules]')")
    else:
        smiles, graph6 = folder / "molecules.smi", folder / "molecules.g6"
        write_molecules(smiles, graph6, molecules)
        target = MOLECULES_SECONDS if molecules == MOLECULES else None
        files.append(GraphFile(f"{molecules:,} molecules", str(smiles), str(graph6), target))
    return files, notes


def write_molecules(smiles: Path, graph6: Path, molecules: int) -> None:
    """Write synthetic molecules, made of rings and chains, as SMILES and as graph6. They are the same each time."""
    rng = random.Random(1)
    with smiles.open("w", encoding="ascii") as stream:
        for i in range(molecules):
            middle = [rng.choice(_RING if rng.random() < 0.4 else _CHAIN) for _ in range(rng.randint(3, 7))]
            stream.write(f"{rng.choice(_END)[:1]}{''.join(middle)}{rng.choice(_END)} molecule-{i + 1}\n")
    with smiles.open("rb") as source, graph6.open("wb") as target:
        for some in read_molecules(source, "smiles"):
            if some.errors:
                raise EngineError(f"RDKit cannot read a synthetic molecule: {next(iter(some.errors.values()))}")
            sizes = np.diff(some.first_vertex).tolist()
            target.writelines(
                _graph6_line(n, some.edges[some.first_edge[i] : some.first_edge[i + 1]]) for i, n in enumerate(sizes)
            )


def _graph6_line(n: int, edges: Any) -> bytes:
    if n > _LARGEST_LINE:
        raise EngineError(f"a synthetic molecule has {n} atoms; the most are {_LARGEST_LINE}")
    bits = np.zeros(-(-n * (n - 1) // 2 // 6) * 6, np.uint8)
    bits[edges[:, 1] * (edges[:, 1] - 1) // 2 + edges[:, 0]] = 1
    sixes = bits.reshape(-1, 6) @ np.array([32, 16, 8, 4, 2, 1], np.uint8) + np.uint8(63)
    return bytes([n + 63]) + bytes(sixes) + b"\n"


def _count(path: str, folder: Path, arch: str, threads: int | None) -> Outcome:
    output = folder / "lines.jsonl"
    output.unlink(missing_ok=True)
    began = time.perf_counter()
    with BatchClient(BatchCommand((BatchJob(path, arch=arch),), str(output), threads=threads)) as batch:
        for event in batch.events():
            if isinstance(event, Failed):
                raise event.to_error()
            if isinstance(event, BatchFinished):
                seconds = time.perf_counter() - began
                if event.failed:
                    raise EngineError(f"{event.failed:,} graphs failed")
                return Outcome(seconds, count={"graphs": event.done, "cycles": event.cycles})
    raise EngineError("the engine ended without a result")


def _nauty() -> str | None:
    return next((name for name in ("countg", "nauty-countg") if shutil.which(name)), None)


def _count_by_nauty(program: str | None, graph6: str) -> Outcome:
    assert program is not None
    ended = run_process([program, "--H", "-q", graph6])
    if ended.exit_code:
        raise EngineError(f"{program} ended with exit code {ended.exit_code}{ended.last_words}")
    found = [(int(graphs), int(cycles)) for graphs, cycles in _NAUTY_LINE.findall(ended.printed)]
    if not found:
        raise EngineError(f"{program} printed no count")
    cycles = sum(graphs * cycles for graphs, cycles in found)
    return Outcome(ended.seconds, count={"graphs": sum(graphs for graphs, _ in found), "cycles": cycles})
