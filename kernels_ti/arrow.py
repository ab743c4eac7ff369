"""Cycles as Arrow tables, with the names of their vertices."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels_ti.errors import OptionError
from kernels_ti.graph import Graph, IntArray

if TYPE_CHECKING:
    import numpy.typing as npt

LARGEST_OFFSET = (1 << 31) - 1  # Largest offset of an Arrow list array with 32-bit offsets


def require_pyarrow(purpose: str = "an Arrow table") -> Any:
    """Return pyarrow; an OptionError if it is not installed."""
    try:
        return importlib.import_module("pyarrow")
    except ModuleNotFoundError:
        raise OptionError(f"{purpose} needs pyarrow: pip install 'chordless[parquet]'") from None


def name_column(graph: Graph) -> Any:
    """Return the names of a graph's vertices, a pyarrow array: int64 where all are integers, and text otherwise."""
    pyarrow = require_pyarrow()
    if graph.vertex_names is None:
        return _array_of(np.arange(graph.n))
    names: Sequence[Hashable] = graph.vertex_names
    if all(isinstance(name, (int, np.integer)) and not isinstance(name, bool) for name in names):
        try:
            return _array_of(np.array([int(str(name)) for name in names], np.int64))
        except OverflowError:
            pass
    texts = [str(name).encode(errors="backslashreplace") for name in names]
    if len(set(texts)) < len(texts):
        text = Counter(texts).most_common(1)[0][0].decode()
        raise OptionError(f"two vertices are {text!r} in an Arrow table: rename one, for names have to differ as text")
    ends = np.cumsum([0, *map(len, texts)])
    if ends[-1] > LARGEST_OFFSET:
        raise OptionError("the names of the vertices together are too long for an Arrow table: 2 GiB are the most")
    offsets = pyarrow.py_buffer(ends.astype(np.int32))
    return pyarrow.StringArray.from_buffers(len(texts), offsets, pyarrow.py_buffer(b"".join(texts)))


def integer_names(names: Any) -> npt.NDArray[np.integer] | None:
    """Return names that are integers as int32, or as int64 if they do not fit; None if they are text."""
    if names.type == require_pyarrow().string():
        return None
    wide: npt.NDArray[np.int64] = names.to_numpy()
    narrow = wide.astype(np.int32)
    return narrow if np.array_equal(narrow, wide) else wide


def arrow_table(
    offsets: IntArray, vertices: npt.NDArray[Any], names: Any, *, index_type: npt.DTypeLike = np.int32
) -> Any:
    """Return a table with the columns ``length`` and ``vertices``, for a file; integers are int64.

    Cycle i has the vertex indices ``vertices[offsets[i]:offsets[i + 1]]`` in cycle order; `names` is that of
    `name_column`. Text names are places, of `index_type`, in a dictionary; see `arrow_columns`.
    """
    of_vertex = integer_names(names)
    if of_vertex is None:
        return arrow_columns(offsets, vertices.astype(index_type), names)
    return arrow_columns(offsets, of_vertex.astype(np.int64)[vertices], None)


def arrow_columns(offsets: IntArray, values: Any, dictionary: Any) -> Any:
    """Return a table with the columns ``length`` and ``vertices``; cycle i is ``values[offsets[i]:offsets[i + 1]]``.

    The values are names in cycle order, or their places in a dictionary of text, which stores each name once. An array
    is not copied. The lists have 64-bit offsets where 32 bits are not enough.
    """
    pyarrow = require_pyarrow()
    large = offsets[-1] > LARGEST_OFFSET
    named = _array_of(values) if isinstance(values, np.ndarray) else values
    if dictionary is not None:
        named = pyarrow.DictionaryArray.from_arrays(named, dictionary)
    lists = (pyarrow.LargeListArray if large else pyarrow.ListArray).from_arrays(
        _array_of(offsets if large else offsets.astype(np.int32)), named
    )
    lengths = _array_of(np.diff(offsets).astype(np.int32))
    return pyarrow.table({"length": lengths, "vertices": lists})


def _array_of(values: npt.NDArray[np.integer]) -> Any:
    """Return integers as a pyarrow array, without a copy: ``pyarrow.array`` would load pandas, which takes 50 MB."""
    pyarrow = require_pyarrow()
    values = np.ascontiguousarray(values)
    kind = pyarrow.from_numpy_dtype(values.dtype)
    return pyarrow.Array.from_buffers(kind, len(values), [None, pyarrow.py_buffer(values)])
