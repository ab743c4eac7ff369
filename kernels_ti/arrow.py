"""Cycles as Arrow tables, with the names of their vertices."""

from __future__ import annotations

import importlib
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels_ti.errors import OptionError
from kernels_ti.graph import Graph, IntArray

if TYPE_CHECKING:
    import numpy.typing as npt

LARGEST_OFFSET = (1 << 31) - 1
"""Largest offset of an Arrow list array with 32-bit offsets."""


def require_pyarrow(purpose: str = "an Arrow table") -> Any:
    """Return pyarrow.

    Raises
    ------
    OptionError
        If it is not installed.
    """
    try:
        return importlib.import_module("pyarrow")
    except ImportError:
        raise OptionError(f"{purpose} needs pyarrow: pip install 'chordless[parquet]'") from None


def name_column(graph: Graph) -> Any:
    """Return the names of a graph's vertices, a pyarrow array: int64 where all are integers, and text otherwise.

    Raises
    ------
    OptionError
        If pyarrow is not installed.
    """
    pyarrow = require_pyarrow()
    if graph.vertex_names is None:
        return pyarrow.array(np.arange(graph.n))
    names: Sequence[Hashable] = graph.vertex_names
    if all(isinstance(name, (int, np.integer)) and not isinstance(name, bool) for name in names):
        try:
            return pyarrow.array([int(str(name)) for name in names], pyarrow.int64())
        except OverflowError:
            pass
    return pyarrow.array([str(name).encode(errors="backslashreplace").decode() for name in names], pyarrow.string())


def arrow_table(
    offsets: IntArray, vertices: npt.NDArray[Any], names: Any, *, index_type: npt.DTypeLike = np.int32
) -> Any:
    """Return a table with the columns ``length`` and ``vertices``.

    Parameters
    ----------
    offsets : ndarray of int64, shape (k + 1,)
        Cycle i is ``vertices[offsets[i]:offsets[i + 1]]``.
    vertices : ndarray of int
        Vertex indices in cycle order.
    names : pyarrow array
        The name of every vertex, see `name_column`.
    index_type : dtype
        Of the places of text names in their dictionary.

    Returns
    -------
    pyarrow.Table
        Text names are dictionary-encoded, so that each name is stored once. The lists have 64-bit offsets where 32 bits
        are not enough.
    """
    pyarrow = require_pyarrow()
    large = offsets[-1] > LARGEST_OFFSET
    if names.type == pyarrow.string():
        named = pyarrow.DictionaryArray.from_arrays(pyarrow.array(vertices.astype(index_type)), names)
    else:
        named = names.take(pyarrow.array(vertices))
    lists = (pyarrow.LargeListArray if large else pyarrow.ListArray).from_arrays(
        pyarrow.array(offsets if large else offsets.astype(np.int32)), named
    )
    lengths = pyarrow.array(np.diff(offsets).astype(np.int32))
    return pyarrow.table({"length": lengths, "vertices": lists})
