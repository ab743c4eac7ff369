"""Cycles from files of names: what `list`, `sample`, `export`, `longest` and `first` print, or anybody else writes."""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from chordless.cycles.columns import require_columns
from chordless.cycles.export import open_file
from chordless.graphs.readers.incoming import read_bytes, shown_name
from kernels_ti import Graph, GraphError


def named_cycles(path: str, graph: Graph, title: str, **reading: Any) -> Iterator[list[int]]:
    """Yield the cycles of a file as vertices of a graph, in cycle order.

    The file has bit rows (``.npy``, of the graph that `title` names and that is read with `reading`), columns
    (``.parquet``, ``.arrow``) or lines: names separated by tabs or blanks, a JSON array, or a JSON object with a
    ``cycle``, or with ``cycles`` that each have one. ``-`` is standard input. A GraphError names the line that is not a
    chordless cycle of the graph.
    """
    suffix = PurePath(path).suffix.lower()
    if suffix == ".npy":
        for cycles in open_file(path, title, **reading).ordered():
            for cycle in np.split(cycles.vertices, cycles.offsets[1:-1]):
                yield cycle.tolist()
        return
    rows = _columns(path, suffix) if suffix in (".parquet", ".arrow") else _lines(read_bytes(path), path)
    yield from _checked_rows(rows, graph, path)


def cycles_of_lines(data: bytes, graph: Graph, path: str) -> Iterator[list[int]]:
    """Yield the cycles of lines as `named_cycles` does, from what was read of the file `path`."""
    return _checked_rows(_lines(data, path), graph, path)


def _checked_rows(rows: Iterable[tuple[int, Sequence[Any]]], graph: Graph, path: str) -> Iterator[list[int]]:
    index = {str(name): v for v, name in enumerate(graph.names)}
    for number, names in rows:
        yield _checked(graph, index, [str(name) for name in names], f"{shown_name(path)}:{number}")


def _columns(path: str, suffix: str) -> Iterator[tuple[int, Sequence[Any]]]:
    require_columns("parquet" if suffix == ".parquet" else "arrow")
    data = io.BytesIO(read_bytes(path))
    try:
        if suffix == ".parquet":
            table = importlib.import_module("pyarrow.parquet").read_table(data)
        else:
            table = importlib.import_module("pyarrow.ipc").open_file(data).read_all()
        column = table.column("vertices")
    except (KeyError, ValueError, OSError) as error:
        raise GraphError(f"{path}: no column `vertices` of cycles: {error}") from None
    for number, row in enumerate(column, 1):
        yield number, row.as_py()


def _lines(data: bytes, path: str) -> Iterator[tuple[int, Sequence[Any]]]:
    for number, line in enumerate(data.decode("utf-8", "backslashreplace").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] not in "[{":
            yield number, line.split("\t") if "\t" in line else line.split()
            continue
        try:
            found = _of_json(json.loads(line))
        except (ValueError, KeyError, TypeError, RecursionError):
            found = [None]
        if not all(isinstance(names, list) for names in found):
            raise GraphError(f"{shown_name(path)}:{number}: a line of JSON is an array of names, or has a `cycle`")
        yield from ((number, names) for names in found if names)


def _of_json(value: Any) -> list[Any]:
    """Return the cycles of a line of JSON: one, or the several best ones."""
    if not isinstance(value, dict):
        return [value]
    several = value.get("cycles")
    return [each["cycle"] for each in several] if several and isinstance(several, list) else [value["cycle"]]


def _checked(graph: Graph, index: dict[str, int], names: Sequence[str], place: str) -> list[int]:
    if missing := [name for name in names if name not in index]:
        raise GraphError(f"{place}: there is no vertex {missing[0]!r} in the graph")
    cycle = [index[name] for name in names]
    if len(cycle) < 3 or len(set(cycle)) < len(cycle):
        raise GraphError(f"{place}: a cycle has three vertices or more, each once")
    within = set(cycle)
    for before, v, after in zip([cycle[-1], *cycle[:-1]], cycle, [*cycle[1:], cycle[0]], strict=True):
        if within.intersection(graph.neighbours(v).tolist()) != {before, after}:
            raise GraphError(f"{place}: not a chordless cycle of this graph, see the vertex {graph.names[v]}")
    return cycle
