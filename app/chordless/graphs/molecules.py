"""Molecules as graphs, atoms for vertices and bonds for edges: SDF and SMILES files, read by RDKit.

Only the bonds between atoms matter, so no molecule is sanitised. Hydrogens are vertices only if the file names them.
Wrong valences and aromatic rings are accepted, with a note that RDKit would reject the molecule.
"""

from __future__ import annotations

import importlib
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, Literal

import numpy as np

from chordless.graphs.readers.columns import cells_of
from chordless.graphs.readers.incoming import SHOWN_STANDARD_INPUT
from chordless.graphs.readers.source import Parsed, Positions, Source
from kernels_ti import Graph, GraphError, OptionError
from kernels_ti.graph import IntArray

MoleculeFormat = Literal["sdf", "smiles"]

EXTENSIONS: dict[str, MoleculeFormat] = {
    ".sdf": "sdf",
    ".sd": "sdf",
    ".mol": "sdf",
    ".smi": "smiles",
    ".smiles": "smiles",
}

MOLECULES_AT_ONCE = 8192
LARGEST_DEPICTED = 200
"""Atoms of the largest molecule that RDKit places."""
_SHOWN = 60
_RECORD_END = b"$$$$"

_ATOM = r"(?:Cl|Br|[BCNOPSFIbcnops*]|\[[^\]\s]+\])"
_SMILES = re.compile(rf"{_ATOM}(?:{_ATOM}|[-=#$:/\\.()%0-9])*")
# A SMILES, an extension of ChemAxon (CXSMILES) such as |$;;$|, which is not used, and what follows them.
_SMILES_LINE = re.compile(rb" *(\S*)(?:\s+\|[^|\t]*\|(?=\s|$))?\s*(.*)", re.DOTALL)
# Characters that are rare in names of vertices.
_CHEMICAL = re.compile(r"[=#()\[\]]")
_RING = re.compile(r"([0-9])[A-Za-z]{2,}\1")
_LINES_LOOKED_AT = 200
_NAME_COLUMNS = ("name", "title", "id", "compound", "molecule")


@dataclass(frozen=True, eq=False)
class Molecules:
    """Some molecules of a file, one after another."""

    numbers: tuple[int, ...]  # For each record its line in a SMILES file, or its place in an SDF file, from 1
    names: tuple[str, ...]  # Name of each record; may be empty
    errors: dict[int, str]  # The error of each record that holds no molecule, by its index in `numbers`
    # `first_vertex`, `first_edge`: int64, shape (molecules + 1,): where the atoms and the bonds of each valid molecule
    # begin
    first_vertex: IntArray
    first_edge: IntArray
    # int64, shape (bonds, 2): the two atoms of each bond, numbered from 0 in their molecule, the smaller first
    edges: IntArray
    problems: dict[int, str]  # Why RDKit would reject a valid record, by its index in `numbers`
    parsed: Sequence[Any] = ()  # The RDKit objects of the valid molecules

    def atom_names(self, i: int) -> tuple[str, ...]:
        """Name the atoms of valid molecule `i`; see `atom_names`."""
        return atom_names(self.parsed[i])


def require_rdkit() -> Any:
    """Return ``rdkit.Chem``, silenced; an OptionError if it is not installed."""
    try:
        chemistry = importlib.import_module("rdkit.Chem")
        importlib.import_module("rdkit.RDLogger").DisableLog("rdApp.*")
    except ModuleNotFoundError:
        raise OptionError("SDF and SMILES need RDKit: pip install 'chordless[molecules]'") from None
    return chemistry


def read_molecules(
    stream: IO[bytes], file_format: MoleculeFormat, at_once: int = MOLECULES_AT_ONCE
) -> Iterator[Molecules]:
    """Yield the molecules of a decompressed file, `at_once` records at a time.

    A SMILES file has a line ``SMILES NAME`` for each molecule. The rest of a line is ignored, and so are empty lines
    and lines that begin with ``#``. A table has commas, semicolons or tabs between its columns and a first line with
    their names: ``smiles`` in upper or lower case, and optionally ``name``, ``title`` or ``id``. Raises OptionError
    without RDKit, GraphError if the rest of the file cannot be read; a record that RDKit cannot read is among the
    `errors`.
    """
    parse, records = _reader(stream, file_format)
    while some := list(itertools.islice(records, at_once)):
        yield _together(parse, some)


def read_molecule(source: Source, file_format: MoleculeFormat, which: str | None = None) -> Parsed:
    """Return the only molecule of a file, or one of many.

    That is chosen by its line in a SMILES file or its place in an SDF file, from 1, or by its name. Its vertices have
    the names of `atom_names`, and stand as a chemist draws them. Raises OptionError without RDKit, GraphError if there
    is no such molecule, or several.
    """
    parse, records = _reader(io.BytesIO(source.data), file_format)
    found = []
    for number, name, text in records:
        if str(number) == which:
            return _graph(source, parse, text, number)
        if which in (None, name):
            found.append((number, text))
    if len(found) != 1:
        raise _not_one(source, which, [number for number, _ in found])
    ((number, text),) = found
    return _graph(source, parse, text, number)


def _not_one(source: Source, which: str | None, numbers: list[int]) -> GraphError:
    """Return the error for a file that has not one molecule, or not one of that name."""
    if which is not None and not numbers:
        return GraphError(f"{source.name}:{which}: there is no molecule {which}")
    if which is not None:
        fault = f"{len(numbers):,} molecules have this name; give one by its number, {source.name}:{numbers[0]}"
        return GraphError(f"{source.name}:{which}: {fault}")
    if not numbers:
        return source.error("the file has no molecules")
    one = "" if source.name == SHOWN_STANDARD_INPUT else f"give one, {source.name}:{numbers[0]}, or "
    return source.error(f"a file of {len(numbers):,} molecules; {one}give all of them to `chordless batch`")


def _graph(source: Source, parse: Any, text: bytes, number: int) -> Parsed:
    try:
        molecule = parse(text)
    except GraphError as error:
        raise GraphError(f"{source.name}:{number}: {error}") from None
    if problem := _problem(require_rdkit(), molecule):
        source.note(problem, number)
    return Graph.from_rdkit(molecule, names=atom_names(molecule)), _places(molecule)


def _places(molecule: Any) -> Positions | None:
    """Return where the atoms are in a drawing: in the file, or as RDKit depicts the molecule.

    None for a large molecule: a depiction of 200 atoms takes up to half a second, of 1,000 up to 15 s.
    """
    conformer = molecule.GetConformer() if molecule.GetNumConformers() else None
    if conformer is None or conformer.Is3D():
        if molecule.GetNumAtoms() > LARGEST_DEPICTED:
            return None
        molecule = require_rdkit().Mol(molecule)
        importlib.import_module("rdkit.Chem.rdDepictor").Compute2DCoords(molecule)
        conformer = molecule.GetConformer()
    places = (conformer.GetAtomPosition(atom) for atom in range(molecule.GetNumAtoms()))
    return {atom: (place.x, place.y) for atom, place in enumerate(places)}


def molecule_of_smiles(text: str) -> Graph:
    """Return the molecule of a SMILES, see `read_molecule`; a GraphError if the text is none."""
    molecule = _smiles_parser(require_rdkit())(text.encode())
    return Graph.from_rdkit(molecule, names=atom_names(molecule))


def atom_names(molecule: Any) -> tuple[str, ...]:
    """Name the atoms of a molecule by their symbols and their numbers in the file, from 1: ``C1``, ``N2``."""
    return tuple(f"{symbol_of(atom)}{number}" for number, atom in enumerate(molecule.GetAtoms(), 1))


def symbol_of(atom: Any) -> str:
    """Return the symbol of an atom; ``?`` if it is not text."""
    try:
        return str(atom.GetSymbol())
    except UnicodeDecodeError:
        return "?"


def _reader(stream: IO[bytes], file_format: MoleculeFormat) -> tuple[Any, Iterator[tuple[int, str, bytes]]]:
    """Return the function that parses a record, and the records: number, name, text."""
    chemistry = require_rdkit()
    if file_format == "sdf":
        return _sdf_parser(chemistry), _sdf_records(stream)
    return _smiles_parser(chemistry), _smiles_records(stream)


def _problem(chemistry: Any, molecule: Any) -> str:
    """Return why RDKit would reject a molecule, as the end of a note; nothing if it would not."""
    try:
        problems = [problem.Message() for problem in chemistry.DetectChemistryProblems(molecule)]
    except RuntimeError as error:  # of some damaged records it cannot even tell the problem
        problems = [str(error)]
    if not problems:
        return ""
    reason = " ".join(problems[0].split())
    return f"RDKit rejects this molecule: {reason}; its atoms and bonds are taken as they are"


def _together(parse: Any, records: Sequence[tuple[int, str, bytes]]) -> Molecules:
    chemistry = require_rdkit()
    errors: dict[int, str] = {}
    problems: dict[int, str] = {}
    molecules: list[Any] = []
    for place, (_, _, text) in enumerate(records):
        try:
            molecules.append(parse(text))
        except GraphError as error:
            errors[place] = str(error)
        else:
            if problem := _problem(chemistry, molecules[-1]):
                problems[place] = problem
    sizes = np.array([molecule.GetNumAtoms() for molecule in molecules], np.int64)
    bonds = np.array([molecule.GetNumBonds() for molecule in molecules], np.int64)
    first_vertex, first_edge = (np.concatenate(([0], np.cumsum(each))).astype(np.int64) for each in (sizes, bonds))
    # The adjacency matrix is the fastest way to the bonds of a molecule. All matrices are scanned at once.
    matrices = [chemistry.GetAdjacencyMatrix(molecule).ravel() for molecule in molecules]
    cells = np.flatnonzero(np.concatenate([np.empty(0, np.int32), *matrices]))
    first_cell = np.concatenate(([0], np.cumsum(sizes * sizes)))
    owner = np.searchsorted(first_cell, cells, side="right") - 1
    u, v = np.divmod(cells - first_cell[owner], sizes[owner])
    once = u < v
    return Molecules(
        tuple(number for number, _, _ in records),
        tuple(name for _, name, _ in records),
        errors,
        first_vertex,
        first_edge,
        np.column_stack((u[once], v[once])),
        problems,
        molecules,
    )


def _smiles_records(stream: IO[bytes]) -> Iterator[tuple[int, str, bytes]]:
    lines = ((number, line) for number, line in enumerate(lines_of(stream), 1) if not _is_blank(line))
    first = next(lines, None)
    if first is None:
        return
    columns = _columns(first[1])
    if columns is not None:
        delimiter, *places = columns
        for number, line in lines:
            cells: dict[int | None, str] = dict(enumerate(cells_of(_text(line), delimiter)))
            smiles, named = (cells.get(place, "") for place in places)
            yield number, named, smiles.encode()
        return
    for number, line in itertools.chain((first,), lines):
        found = _SMILES_LINE.match(line)
        assert found is not None
        # Names may have blanks if tabs separate the columns.
        name = found[2].split(b"\t")[0] if b"\t" in line.strip() else b"".join(found[2].split()[:1])
        yield number, _text(name), found[1]


def _is_blank(line: bytes) -> bool:
    content = line.strip()
    return not content or content.startswith(b"#")


def _columns(line: bytes) -> tuple[str | None, int, int | None] | None:
    """Read the heading of a table of molecules: its delimiter, None for blanks, the columns of SMILES and of names.

    Return None for any other line. ``smiles`` itself is not a valid molecule.
    """
    text = _text(line)
    for delimiter in ("\t", ",", ";", None):
        cells = [cell.lower() for cell in cells_of(text, delimiter)]
        found = [place for place, cell in enumerate(cells) if re.fullmatch(r"(?:\w+[ _])?smiles", cell)]
        if found:
            names = [cells.index(name) for name in _NAME_COLUMNS if name in cells]
            return delimiter, found[0], names[0] if names else None
    return None


def looks_like_smiles(start: bytes) -> bool | None:
    """Tell SMILES from an edge list by the beginning of a file; None if it may be either.

    Vertices of an edge list may be called C and N, too. SMILES are recognised by a heading, by a single column, or by a
    character of a bond or bracket that names do not have. Less than half of the lines may be malformed, if another line
    has such a character, or a ring.
    """
    whole = start.rpartition(b"\n")[0] or start
    lines = [line for line in whole.split(b"\n") if not _is_blank(line)][:_LINES_LOOKED_AT]
    # In Python, text has more kinds of blanks than bytes.
    rows = [row for line in lines if (row := _text(line).split())]
    if not rows:
        return False
    if _columns(lines[0]) is not None:
        return True
    good = [row for row in rows if _SMILES.fullmatch(row[0])]
    if 2 * len(good) <= len(rows) or all(row[1:2] == ["->"] for row in rows):
        return False
    if len(good) < len(rows):
        if not any(_CHEMICAL.search(row[0]) or _RING.search(row[0]) for row in good):
            return False
        # Both ends of an edge have names of one kind.
        if any(_CHEMICAL.search(row[1]) for row in rows if len(row) > 1):
            return None
    if any(len(row) == 1 or _CHEMICAL.search(row[0]) for row in good):
        return True
    return False if all(_SMILES.fullmatch(row[1]) for row in good) else None


def _smiles_parser(chemistry: Any) -> Any:
    options = chemistry.SmilesParserParams()
    options.sanitize = False
    options.removeHs = False

    def parse(text: bytes) -> Any:
        molecule = chemistry.MolFromSmiles(text.decode("ascii", "replace"), options) if text else None
        if molecule is None:
            raise GraphError(f"not a SMILES: {_text(text)[:_SHOWN]!r}")
        return molecule

    return parse


def _sdf_records(stream: IO[bytes]) -> Iterator[tuple[int, str, bytes]]:
    number, lines = 0, list[bytes]()
    for line in lines_of(stream):
        if not line.startswith(_RECORD_END):
            lines.append(line)
            continue
        number += 1
        yield number, _text(lines[0]) if lines else "", b"".join(lines)
        lines = []
    # The last record of a file, or a .mol file, may lack the line that ends it.
    if any(not line.isspace() for line in lines):
        yield number + 1, _text(lines[0]), b"".join(lines)


def _sdf_parser(chemistry: Any) -> Any:
    def parse(text: bytes) -> Any:
        # One byte for each character, not UTF-8: an SDF has fixed columns.
        block = b"\n".join(text.splitlines()).decode("latin-1")
        try:
            molecule = chemistry.MolFromMolBlock(block, sanitize=False, removeHs=False, strictParsing=False)
        except (RuntimeError, ValueError) as error:
            raise GraphError(f"not a molecule: {' '.join(str(error).split())[:_SHOWN]}") from None
        if molecule is None:
            raise GraphError("not a molecule: RDKit cannot read its table of atoms and bonds")
        return molecule

    return parse


def lines_of(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file with their ends; a GraphError says why the rest cannot be read."""
    try:
        for piece in stream:
            yield from piece.splitlines(keepends=True)  # a CR alone ends a line, too
    except (OSError, EOFError) as error:
        raise GraphError(f"the rest cannot be read: {error}") from error


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()
