"""``bench batch``: many small graphs in one batch, compared with ``countg`` of nauty on the same graphs."""

from __future__ import annotations

import random
import time
from argparse import Namespace
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from chordless.batch.client import BatchClient
from chordless.bench.measure import NOTHING, Column, Outcome, Series, cpu_for_auto, first_event, machine, series_columns
from chordless.bench.process import checked, run_process
from chordless.bench.programs import installed, new_folder, read_nauty, run_counter
from chordless.bench.report import Prepared, Row, yes_or_no
from chordless.graphs.molecules import read_molecules
from chordless.graphs.writers import graph6_line
from chordless.protocol.events import BatchFinished
from chordless.protocol.orders import BatchCommand, BatchJob
from kernels_ti import EngineError, OptionError

COLUMNS = (
    Column("graphs", left=True),
    Column("number"),
    Column("cycles"),
    *series_columns("program"),
    Column("graphs/s"),
    Column("agree", left=True),
)

_CHAIN = ("C", "N", "O", "C(C)", "C(=O)", "C(=O)N", "S(=O)(=O)N", "C(F)(F)")
_RING = ("c1ccc(cc1)", "c1cc(ccc1)", "C1CC(CC1)", "N1CCN(CC1)", "c1cc2c(cc1)CCN2", "C1CC1", "c1nc(cs1)", "C1CC2CCC1C2")
_END = ("C", "O", "N", "F", "Cl", "c1ccccc1", "C1CCCCC1", "c1ccncc1", "N1CCOCC1", "c1ccc2[nH]ccc2c1", "C(F)(F)F")


class BatchRow(Row):
    """The measurements for all graphs of a file: `file` for this program, `graph6` for nauty."""

    keys = ("graphs", "programs")

    def __init__(self, title: str, file: str, graph6: str, arch: str, threads: int | None) -> None:
        nauty = installed("countg")
        counted = ("countg" if nauty is None else nauty, "--H", "-q", graph6)
        ours = Series(
            "chordless batch",
            f"chordless batch {file} --arch {arch} -o OUT.jsonl",
            partial(_count, file, arch, threads),
        )
        theirs = Series(
            "nauty-countg",
            " ".join(counted),
            partial(run_counter, counted, read_nauty),
            stopped=None if nauty else "not installed",
        )
        super().__init__(title, [ours, theirs], 1)

    def _head(self) -> tuple[str, ...]:
        count = self.known.count
        return (f"{count['graphs']:,}", f"{count['cycles']:,}") if count else (NOTHING, NOTHING)

    def _behind(self, one: Series) -> tuple[str, ...]:
        count = self.known.count
        return (
            f"{count['graphs'] / one.median:,.0f}" if one.median and count else NOTHING,
            yes_or_no(self.agreement(one)),
        )

    def _facts(self) -> dict[str, Any]:
        return {"count": self.known.count or None}

    def _facts_of(self, one: Series) -> dict[str, Any]:
        return {"agree": self.agreement(one)}


def prepared(options: Namespace, stack: ExitStack) -> Prepared:
    """Make graphs to count: all of a size, by ``geng`` of nauty, and molecules; the notes name what is left out."""
    folder, how = new_folder(stack), (options.arch, options.threads)
    made, notes = [], []
    geng = installed("geng")
    if geng is None:
        notes.append("all small graphs are left out: geng of nauty is not installed")
    else:
        path = str(folder / f"geng{options.vertices}.g6")
        checked(run_process([geng, "-q", str(options.vertices), path]), f"{geng} ")
        made.append(BatchRow(f"geng {options.vertices}", path, path, *how))
    try:
        import rdkit  # noqa: F401
    except ImportError:
        notes.append("molecules are left out: RDKit is not installed (pip install 'chordless[molecules]')")
    else:
        smiles, graph6 = folder / "molecules.smi", folder / "molecules.g6"
        _write_molecules(smiles, graph6, options.molecules)
        made.append(BatchRow(f"{options.molecules:,} molecules", str(smiles), str(graph6), *how))
    if not made:
        raise OptionError(f"there is nothing to measure: {'; '.join(notes)}")
    return Prepared(made, machine(cpu_for_auto(options.arch)), notes=notes)


def _write_molecules(smiles: Path, graph6: Path, molecules: int) -> None:
    """Write synthetic molecules, made of rings and chains, as SMILES and as graph6. They are the same each time."""
    rng = random.Random(1)
    with smiles.open("w", encoding="ascii") as stream:
        for i in range(molecules):
            middle = [rng.choice(_RING if rng.random() < 0.4 else _CHAIN) for _ in range(rng.randint(3, 7))]
            stream.write(f"{rng.choice(_END)[:1]}{''.join(middle)}{rng.choice(_END)} molecule-{i + 1}\n")
    with smiles.open("rb") as source, graph6.open("w", encoding="ascii") as target:
        for some in read_molecules(source, "smiles"):
            if some.errors:
                raise EngineError(f"RDKit cannot read a synthetic molecule: {next(iter(some.errors.values()))}")
            for i, n in enumerate(np.diff(some.first_vertex).tolist()):
                u, v = some.edges[some.first_edge[i] : some.first_edge[i + 1]].T
                target.write(graph6_line(n, v * (v - 1) // 2 + u, n * (n - 1) // 2))


def _count(path: str, arch: str, threads: int | None) -> Outcome:
    output = Path(path).with_name("lines.jsonl")
    output.unlink(missing_ok=True)
    command = BatchCommand((BatchJob(path, arch=arch),), str(output), threads=threads)
    began = time.perf_counter()
    with BatchClient(command) as batch:
        finished = first_event(batch, BatchFinished)
        seconds = time.perf_counter() - began
    if finished.failed:
        raise EngineError(f"{finished.failed:,} graphs failed")
    return Outcome(seconds, count={"graphs": finished.done, "cycles": finished.cycles})
