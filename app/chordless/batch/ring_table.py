"""A library of molecules as one table, with a row for each ring."""

from __future__ import annotations

import contextlib
import itertools
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from chordless.batch.detect import many_format
from chordless.batch.inputs import Notes, label_of
from chordless.graphs.load import MOLECULE_FORMATS
from chordless.graphs.molecules import MoleculeFormat, Molecules, read_molecules
from chordless.graphs.readers.incoming import Limits, open_input, shown_name
from chordless.graphs.rings import Ring, rings_of
from chordless.protocol.orders import BatchJob
from kernels_ti import GraphError, OptionError
from kernels_ti.options import Lengths

COLUMNS = {
    "molecule": "text",
    "name": "text",
    "ring": "whole",
    "size": "whole",
    "atoms": "indices",
    "symbols": "text",
    "aromatic": "flag",
    "sssr": "flag",
    "relevant": "flag",
    "family": "whole",
}
"""The columns of the table and the kinds of their values."""


@dataclass
class RingTable:
    """The rows of the rings of molecules, and how many molecules were read."""

    jobs: Sequence[BatchJob]
    memory: int | None
    molecules: int = 0
    rings: int = 0
    errors: list[str] = field(default_factory=list)  # of records that hold no molecule, and of files that end too early
    notes: Notes = field(default_factory=Notes)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Return a row for each ring; an OptionError says that an input is no file of molecules."""
        formats = [many_format(job) for job in self.jobs]
        for job, file_format in zip(self.jobs, formats, strict=True):
            if file_format not in MOLECULE_FORMATS:
                raise OptionError(
                    f"{shown_name(job.graph)}: --rings is for whole files of molecules, SMILES or SDF "
                    "(--graph-format smiles says that a file is one)"
                )
        return itertools.chain.from_iterable(
            self._rows_of(job, cast("MoleculeFormat", file_format))
            for job, file_format in zip(self.jobs, formats, strict=True)
        )

    def _rows_of(self, job: BatchJob, file_format: MoleculeFormat) -> Iterator[dict[str, Any]]:
        name = label_of(job)
        try:
            with contextlib.closing(open_input(job.graph, Limits(self.memory))) as stream:
                for some in read_molecules(stream, file_format):
                    yield from self._rows_of_some(some, name, job)
        except GraphError as error:
            self.errors.append(str(error))
        except (OSError, EOFError, zlib.error) as error:
            self.errors.append(f"{name}: cannot be read: {error}")

    def _rows_of_some(self, some: Molecules, file: str, job: BatchJob) -> Iterator[dict[str, Any]]:
        lengths = Lengths(job.min_length, job.max_length, job.parity)
        parsed = iter(some.parsed)
        for place, (number, name) in enumerate(zip(some.numbers, some.names, strict=True)):
            self.molecules += 1
            title = f"{file}:{number}"
            if place in some.errors:
                self.errors.append(f"{title}: {some.errors[place]}")
                continue
            if place in some.problems:
                self.notes.take(title, f"{title}: {some.problems[place]}")
            rings = [ring for ring in rings_of(next(parsed), job.max_length) if len(ring.atoms) in lengths]
            self.rings += len(rings)
            for at, ring in enumerate(rings, 1):
                yield {"molecule": title, "name": name or None, "ring": at, **_cells(ring)}


def _cells(ring: Ring) -> dict[str, Any]:
    return {
        "size": len(ring.atoms),
        "atoms": ring.atoms,
        "symbols": " ".join(ring.symbols),
        "aromatic": ring.aromatic,
        "sssr": ring.sssr,
        "relevant": ring.family is not None,
        "family": ring.family,
    }
