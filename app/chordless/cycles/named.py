"""Cycles from files of names: what `list`, `sample`, `export`, `longest` and `first` print, or anybody else writes.

The paths that `paths --shortest --json` prints are read as well.
"""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Literal

import numpy as np

from chordless.cycles.columns import require_columns
from chordless.cycles.export import open_file
from chordless.graphs.readers.incoming import read_bytes, shown_name
from kernels_ti import Graph, GraphError

Thing = Literal["cycle", "path"]


@dataclass(frozen=True)
class NamedCycle:
    """A cycle, or a path, as vertices of a graph in their order, with its weight if the file has one."""

    vertices: list[int]
    weight: int | float | str | None = None
    thing: Thing = "cycle"

    def edges(self) -> list[tuple[int, int]]:
        """Return its edges in their order."""
        return list(pairwise([*self.vertices, *self.vertices[: self.thing == "cycle"]]))


@dataclass(frozen=True)
class _Told:
    """What a line tells of a cycle or a path."""

    names: Sequence[Any]
    weight: Any = None
    thing: Thing = "cycle"


def named_cycles(path: str, graph: Graph, title: str, **reading: Any) -> Iterator[NamedCycle]:
    """Yield the cycles of a file as vertices of a graph, in cycle order.

    The file has bit rows (``.npy``, of the graph that `title` names and that is read with `reading`), columns
    (``.parquet``, ``.arrow``) or lines: names separated by tabs or blanks, a JSON array, or a JSON object with a
    ``cycle`` or a ``path``, or with several ``cycles`` or ``paths``. ``-`` is standard input. A GraphError names the
    line that is not a chordless cycle, or path, of the graph.
    """
    suffix = PurePath(path).suffix.lower()
    if suffix == ".npy":
        for cycles in open_file(path, title, **reading).ordered():
            for cycle in np.split(cycles.vertices, cycles.offsets[1:-1]):
                yield NamedCycle(cycle.tolist())
        return
    if suffix in (".parquet", ".arrow"):
        yield from _checked_rows(_columns(path, suffix), graph, _index_of(graph), path)
    else:
        yield from cycles_of_lines(read_bytes(path), graph, path)


def cycles_of_lines(data: bytes, graph: Graph, path: str) -> Iterator[NamedCycle]:
    """Yield the cycles of lines as `named_cycles` does, from what was read of the file `path`."""
    index = _index_of(graph)
    return _checked_rows(_lines(data, index, path), graph, index, path)


def _index_of(graph: Graph) -> dict[str, int]:
    return {str(name): v for v, name in enumerate(graph.names)}


def _checked_rows(
    rows: Iterable[tuple[int, _Told]], graph: Graph, index: dict[str, int], path: str
) -> Iterator[NamedCycle]:
    for number, told in rows:
        yield _checked(graph, index, told, f"{shown_name(path)}:{number}")


def _columns(path: str, suffix: str) -> Iterator[tuple[int, _Told]]:
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
        yield number, _Told(row.as_py())


def _lines(data: bytes, known: Container[str], path: str) -> Iterator[tuple[int, _Told]]:
    """Yield what the lines tell; `known` are the names of the vertices, which may look like a comment or JSON."""
    # A name may hold what `splitlines` takes for the end of a line.
    for number, ended in enumerate(data.decode("utf-8", "backslashreplace").split("\n"), 1):
        line = ended.removesuffix("\r")
        names = [line] if line in known else line.split("\t") if "\t" in line else line.split()
        is_comment = line.startswith("#") and names[0] not in known
        if not line.strip() or is_comment:
            continue
        if names[0] in known or line[0] not in "[{":
            yield number, _Told(names)
            continue
        try:
            found = _of_json(json.loads(line))
        except (ValueError, KeyError, TypeError, RecursionError):
            found = [_Told(())]
        if not all(isinstance(told.names, list) for told in found):
            raise GraphError(
                f"{shown_name(path)}:{number}: a line of JSON is an array of names, or has a `cycle` or a `path`"
            )
        yield from ((number, told) for told in found if told.names)


def _of_json(value: Any) -> list[_Told]:
    """Return the cycles or paths of a line of JSON: one, or the several best ones."""
    if not isinstance(value, dict):
        return [_Told(value)]
    if "path" in value:
        if several := value.get("paths"):
            weights = value.get("weights", [None] * len(several))
            return [_Told(names, weight, "path") for names, weight in zip(several, weights, strict=True)]
        return [_Told(value["path"], value.get("weight"), "path")]
    several = value.get("cycles")
    found = several if several and isinstance(several, list) else [value]
    return [_Told(each["cycle"], each.get("weight")) for each in found]


def _checked(graph: Graph, index: dict[str, int], told: _Told, place: str) -> NamedCycle:
    """Return what a line tells of; a GraphError if it is not chordless, or none of this graph."""
    names = [str(name) for name in told.names]
    if missing := [name for name in names if name not in index]:
        raise GraphError(f"{place}: there is no vertex {missing[0]!r} in the graph")
    found = NamedCycle([index[name] for name in names], told.weight, told.thing)
    if len(names) < 2 + (told.thing == "cycle") or len(set(names)) < len(names):
        fewest = "three" if told.thing == "cycle" else "two"
        raise GraphError(f"{place}: a {told.thing} has {fewest} vertices or more, each once")
    near: dict[int, set[int]] = {v: set() for v in found.vertices}
    for u, v in found.edges():
        near[u].add(v)
        near[v].add(u)
    for v, expected in near.items():
        if near.keys() & graph.neighbours(v).tolist() != expected:
            raise GraphError(f"{place}: not a chordless {told.thing} of this graph, see the vertex {graph.names[v]}")
    return found
