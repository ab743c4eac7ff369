"""Molecules as graphs, atoms for vertices and bonds for edges: SDF and SMILES files, read by RDKit.

Nothing of chemistry is asked for but which atoms are joined, so no molecule is sanitised: hydrogens are those that the
file names, and charges, valences and aromatic rings may be as wrong as they like.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Literal

import numpy as np

from chordless.graphs.readers.source import Source
from kernels_ti.errors import GraphError, OptionError
from kernels_ti.graph import Graph, IntArray

MoleculeFormat = Literal["sdf", "smiles"]

EXTENSIONS: dict[str, MoleculeFormat] = {
    ".sdf": "sdf",
    ".sd": "sdf",
    ".mol": "sdf",
    ".smi": "smiles",
    ".smiles": "smiles",
}

MOLECULES_AT_ONCE = 8192
_SHOWN = 60
_RECORD_END = b"$$$$"


@dataclass(frozen=True, eq=False)
class Molecules:
    """Some molecules of a file, one after another.

    Attributes
    ----------
    numbers : tuple of int
        Of each record the line in a SMILES file, its place in an SDF file, from 1.
    names : tuple of str
        What each record is called; may be empty.
    errors : dict of int to str
        What is wrong with the records, by place in `numbers`, that hold no molecule.
    first_vertex, first_edge : ndarray of int64, shape (molecules + 1,)
        Where the atoms and the bonds of each molecule begin, of those that there are.
    edges : ndarray of int64, shape (bonds, 2)
        The two atoms of each bond, numbered from 0 in their molecule, the smaller first.
    """

    numbers: tuple[int, ...]
    names: tuple[str, ...]
    errors: dict[int, str]
    first_vertex: IntArray
    first_edge: IntArray
    edges: IntArray


def require_rdkit() -> Any:
    """Return ``rdkit.Chem``, silenced.

    Raises
    ------
    OptionError
        If it is not installed.
    """
    try:
        chemistry = importlib.import_module("rdkit.Chem")
        importlib.import_module("rdkit.RDLogger").DisableLog("rdApp.*")
    except ImportError:
        raise OptionError("SDF and SMILES need RDKit: pip install 'chordless[molecules]'") from None
    return chemistry


def read_molecules(
    stream: IO[bytes], file_format: MoleculeFormat, at_once: int = MOLECULES_AT_ONCE
) -> Iterator[Molecules]:
    """Yield the molecules of a file, so many records at a time.

    Parameters
    ----------
    stream : binary file
        Decompressed.
    file_format : {"sdf", "smiles"}
        SMILES are a line ``SMILES NAME`` for each molecule; empty lines and those with a ``#`` first are passed over.
    at_once : int

    Yields
    ------
    Molecules
        A record that RDKit cannot read is among its `errors`.

    Raises
    ------
    OptionError
        If RDKit is not installed.
    GraphError
        If the file cannot be read on.
    """
    chemistry = require_rdkit()
    parse = _sdf_parser(chemistry) if file_format == "sdf" else _smiles_parser(chemistry)
    records = _sdf_records(stream) if file_format == "sdf" else _smiles_records(stream)
    numbers: list[int] = []
    names: list[str] = []
    errors: dict[int, str] = {}
    molecules: list[Any] = []
    for number, name, text in records:
        try:
            molecules.append(parse(text))
        except GraphError as error:
            errors[len(numbers)] = str(error)
        numbers.append(number)
        names.append(name)
        if len(numbers) == at_once:
            yield _together(chemistry, numbers, names, errors, molecules)
            numbers, names, errors, molecules = [], [], {}, []
    if numbers:
        yield _together(chemistry, numbers, names, errors, molecules)


def read_molecule(source: Source, file_format: MoleculeFormat, number: int) -> Graph:
    """Return one molecule of a file: that of a line of SMILES, or at a place in an SDF, from 1.

    Raises
    ------
    OptionError
        If RDKit is not installed.
    GraphError
        If there is none.
    """
    chemistry = require_rdkit()
    parse = _sdf_parser(chemistry) if file_format == "sdf" else _smiles_parser(chemistry)
    stream = io.BytesIO(source.data)
    for record, _, text in _sdf_records(stream) if file_format == "sdf" else _smiles_records(stream):
        if record == number:
            try:
                molecule = parse(text)
            except GraphError as error:
                raise GraphError(f"{source.name}:{number}: {error}") from None
            bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
            return Graph.from_edges(molecule.GetNumAtoms(), bonds)
    raise GraphError(f"{source.name}:{number}: there is no molecule {number}")


def _together(
    chemistry: Any, numbers: list[int], names: list[str], errors: dict[int, str], molecules: list[Any]
) -> Molecules:
    sizes = np.array([molecule.GetNumAtoms() for molecule in molecules], np.int64)
    bonds = np.array([molecule.GetNumBonds() for molecule in molecules], np.int64)
    first_vertex, first_edge = (np.concatenate(([0], np.cumsum(each))).astype(np.int64) for each in (sizes, bonds))
    # Its matrix is the fastest way to all bonds of a molecule, and all matrices are looked through at once.
    matrices = [chemistry.GetAdjacencyMatrix(molecule).ravel() for molecule in molecules]
    cells = np.flatnonzero(np.concatenate([np.empty(0, np.int32), *matrices]))
    first_cell = np.concatenate(([0], np.cumsum(sizes * sizes)))
    owner = np.searchsorted(first_cell, cells, side="right") - 1
    u, v = np.divmod(cells - first_cell[owner], sizes[owner])
    once = u < v
    return Molecules(
        tuple(numbers), tuple(names), errors, first_vertex, first_edge, np.column_stack((u[once], v[once]))
    )


def _smiles_records(stream: IO[bytes]) -> Iterator[tuple[int, str, bytes]]:
    for number, line in enumerate(_lines(stream), 1):
        words = line.split(None, 1)
        if words and not words[0].startswith(b"#"):
            yield number, _text(words[1]) if len(words) > 1 else "", words[0]


def _smiles_parser(chemistry: Any) -> Any:
    options = chemistry.SmilesParserParams()
    options.sanitize = False
    options.removeHs = False

    def parse(text: bytes) -> Any:
        molecule = chemistry.MolFromSmiles(text.decode("ascii", "replace"), options)
        if molecule is None:
            raise GraphError(f"not a SMILES: {_text(text)[:_SHOWN]!r}")
        return molecule

    return parse


def _sdf_records(stream: IO[bytes]) -> Iterator[tuple[int, str, bytes]]:
    number, lines = 0, list[bytes]()
    for line in _lines(stream):
        if not line.startswith(_RECORD_END):
            lines.append(line)
            continue
        number += 1
        yield number, _text(lines[0]) if lines else "", b"".join(lines)
        lines = []
    # The last record of a file, or a .mol file, may do without the line that ends it.
    if any(not line.isspace() for line in lines):
        yield number + 1, _text(lines[0]), b"".join(lines)


def _sdf_parser(chemistry: Any) -> Any:
    def parse(text: bytes) -> Any:
        # Not UTF-8 but one byte to a character: columns count in an SDF.
        block = text.decode("latin-1").replace("\r\n", "\n")
        try:
            molecule = chemistry.MolFromMolBlock(block, sanitize=False, removeHs=False, strictParsing=False)
        except (RuntimeError, ValueError) as error:
            raise GraphError(f"not a molecule: {' '.join(str(error).split())[:_SHOWN]}") from None
        if molecule is None:
            raise GraphError("not a molecule: RDKit cannot read its table of atoms and bonds")
        return molecule

    return parse


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    try:
        yield from stream
    except (OSError, EOFError) as error:
        raise GraphError(f"cannot be read on: {error}") from error


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()
