"""Matrix Market files (.mtx) as adjacency matrices, read by scipy."""

from __future__ import annotations

import io
import re

import numpy as np

from chordless.graphs.readers.source import EDGES_ONCE, Parsed, Source, build_graph, readable
from kernels_ti.errors import DIRECTED, SIMPLIFY, quantity

_RIGHT_HEADER = "; right is `%%MatrixMarket matrix coordinate pattern symmetric`, then a line `rows columns entries`"

_INTEGER = r"[0-9]{1,18}"
_REAL = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][-+]?[0-9]+)?"
# The pattern of an entry of each kind: its row, its column and its value.
_ENTRY = {
    "pattern": re.compile(rf"{_INTEGER}\s+{_INTEGER}", re.A),
    "integer": re.compile(rf"{_INTEGER}\s+{_INTEGER}\s+[-+]?[0-9]+", re.A),
    "unsigned-integer": re.compile(rf"{_INTEGER}\s+{_INTEGER}\s+[0-9]+", re.A),
    "real": re.compile(rf"{_INTEGER}\s+{_INTEGER}\s+{_REAL}", re.A),
    "complex": re.compile(rf"{_INTEGER}\s+{_INTEGER}\s+{_REAL}\s+{_REAL}", re.A),
}

_VALUES = {"pattern": "", "integer": "value", "unsigned-integer": "value", "real": "value", "complex": "real imaginary"}


def read_matrix_market(source: Source, *, simplify: bool = False) -> Parsed:
    """Read a sparse (coordinate) Matrix Market file, vertices 1 to n; an edge is wherever an entry is not zero.

    With `simplify`, the diagonal and repeats are dropped, and an entry on either side of the diagonal is an edge. A
    GraphError is raised without scipy, for a file that is none or not square, and otherwise for a matrix that is not
    symmetric, has entries on its diagonal or has one twice.
    """
    try:
        from scipy.io import mminfo, mmread
    except ModuleNotFoundError:
        raise source.error("Matrix Market files need scipy: pip install 'chordless[scipy]'") from None

    # The reader of scipy crashes the process on a last line that ends inside a number without a line feed, and on a
    # NUL byte, which `text` refuses.
    data = f"{source.text}\n".encode()
    with readable(source, "Matrix Market header", hint=_RIGHT_HEADER):
        rows, columns, entries, layout, kind, _ = mminfo(io.BytesIO(data))
    if layout != "coordinate":
        raise source.error(f"a matrix in {layout} form; write it in coordinate form, a line for each entry", 1)
    if rows != columns:
        raise source.error(f"an adjacency matrix is square, this one is {rows} x {columns}")
    source.check_size(rows)
    # scipy allocates for as many entries as the header declares.
    lines = source.text.count("\n") + 1
    if entries > lines:
        raise source.error(
            f"the header declares {quantity(entries, 'entry', 'entries')}, "
            f"but the file has only {quantity(lines, 'line')}"
        )
    _check_entries(source, kind)
    with readable(source, "Matrix Market file"):
        matrix = mmread(io.BytesIO(data), spmatrix=False)
    # Ones instead of the values: the sum at each place is then the number of its entries.
    matrix.data = (matrix.data != 0).astype(np.int64)
    counts = matrix.tocsr()
    repeated = np.transpose((counts > 1).nonzero()) + 1
    if len(repeated) and not (simplify or source.multigraph):
        u, v = repeated[0]
        raise source.error(f"edge {u} - {v} is there more than once; {EDGES_ONCE}")
    one_way = np.transpose((counts > counts.T).nonzero()) + 1
    if len(one_way) and not (simplify or source.directed):
        u, v = one_way[0]
        raise source.error(
            f"this graph is directed (entry {u} {v}, but none at {v} {u}); say so with {DIRECTED}, "
            f"or use {SIMPLIFY} to drop directions"
        )
    there = counts.tocoo()
    kept = slice(None) if simplify or source.directed else there.row <= there.col
    pairs = np.repeat(np.column_stack((there.row, there.col))[kept], there.data[kept], axis=0)
    names = tuple(map(str, range(1, rows + 1)))
    return build_graph(source, pairs, names, simplify=simplify), None


def _check_entries(source: Source, kind: str) -> None:
    """Raise an error for entries with anything after their numbers, which the reader of scipy ignores."""
    filled = [
        (number, line.strip())
        for number, line in enumerate(source.text.split("\n"), 1)
        if line.strip() and not line.startswith("%")
    ]
    entry = _ENTRY[kind]
    for number, line in filled[1:]:
        if not entry.fullmatch(line):
            right = f"`row column {_VALUES[kind]}`".replace(" `", "`")
            raise source.error(f"a matrix entry ({kind}) must read {right}, found {line!r}", number)
