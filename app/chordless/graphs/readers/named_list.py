"""An edge list of any names, read some lines at a time into the array of its edges."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from chordless.graphs.readers.columns import (
    Layout,
    fault_of_columns,
    is_heading_of_weights,
    is_usual_heading,
    layout_of,
    may_be_heading,
    note_heading,
    note_weights,
    note_zeros,
)
from chordless.graphs.readers.large_list import Comment, blanked_comments
from chordless.graphs.readers.source import Source
from kernels_ti.graph import IntArray

INTEGER = re.compile(r"-?[0-9]{1,18}")  # longer ones may not fit an int64 and are taken as words
_DIGITS = re.compile("[0-9]+")

Check = Callable[[IntArray, "list[str]", "int | None", bool], None]
"""Gets the first pairs, the names, the line of a heading, and whether the edges are arcs; it may raise an error."""


def canonical(word: str) -> str:
    """Return the name of a vertex: 007 and 7 are the same."""
    return str(int(word)) if INTEGER.fullmatch(word) else word


class _Places(dict[str, int]):
    """The place of each name, in the order in which they appear; ways to write one number have the same place."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, word: str) -> int:
        name = canonical(word)
        if name != word:
            place = self[word] = self[name]
            return place
        place = self[word] = len(self.names)
        self.names.append(word)
        return place


@dataclass
class NamedList:
    """The content of an edge list."""

    names: list[str] = field(default_factory=list)  # The vertices in the order in which they appear
    # int64, shape (k, 2): the places of the ends of each edge in `names`
    pairs: IntArray = field(default_factory=lambda: np.empty((0, 2), np.int64))
    comments: list[Comment] = field(default_factory=list)
    heading: int | None = None  # The number of the line that is a heading
    directed: bool = False  # Whether the lines are arcs ``u -> v``


def read_named_list(source: Source, check: Check) -> NamedList:
    """Read an edge list, and note what is ignored: a heading, weights, data in braces; else a GraphError."""
    made = NamedList()
    places, ends = _Places(), array("q")
    layout: Layout | None = None
    first: tuple[int, str] | None = None
    heading: str | None = None
    has_data = False
    for number, lines in source.line_pieces():
        made.comments += blanked_comments(lines, number)
        filled = [(at, line) for at, line in enumerate(lines, number) if line and not line.isspace()]
        if not filled:
            continue
        is_first = layout is None
        if layout is None:
            layout = layout_of(source, filled)
            made.directed = layout.arrows is not None
            first = filled[0]
            if len(filled) > 1 and is_heading_of_weights(layout.cells(first[1]), layout.columns):
                made.heading, heading, first = *first, None
                note_heading(source, filled.pop(0)[1], made.heading)
        rows = layout.rows([line for _, line in filled])
        has_data = has_data or (layout.columns == 4 and any(cells[2:3] != ["{}"] for cells in rows))
        if (misfit := layout.misfit(rows)) is not None:
            raise source.error(layout.wrong(filled[misfit][1]), filled[misfit][0])
        if is_first and rows and (fault := fault_of_columns(layout, rows)):
            raise source.error(fault, filled[0][0])
        if is_first:
            _note_zeros(source, filled, rows)
        words = chain.from_iterable(rows if layout.columns == 2 else [cells[:2] for cells in rows])
        ends.extend([places[word] for word in words])
        source.check_room(len(ends) // 2, len(places.names))
        if is_first:
            check(np.array(ends, np.int64).reshape(-1, 2), places.names, made.heading, made.directed)
    made.names = places.names
    if ends:
        made.pairs = np.frombuffer(ends, np.int64).reshape(-1, 2)
    del places
    if layout is not None and heading is not None and _is_edge_without_weight(layout.cells(heading), made.names):
        raise source.error(layout.wrong(heading), made.heading)
    # A line with a weight, or with data, is an edge.
    if first is not None and layout is not None and layout.columns == 2 and not made.directed and _is_heading(made):
        note_heading(source, first[1], first[0])
        made.heading, made.names, made.pairs = first[0], made.names[2:], made.pairs[1:] - 2
    if layout is not None and layout.columns == 3:
        note_weights(source)
    if has_data:
        source.note("the data in braces are not used: every line is an edge")
    return made


def _note_zeros(source: Source, filled: list[tuple[int, str]], rows: list[list[str]]) -> None:
    """Note the first name that is read as another one, because a whole number has zeros before it."""
    for (number, _), cells in zip(filled, rows, strict=True):
        for word in cells[:2]:
            if word[:1] == "0" and canonical(word) != word:
                note_zeros(source, word, number)
                return


def _is_edge_without_weight(heading: list[str], names: list[str]) -> bool:
    """Say whether what seemed a heading, because it has a word in place of a weight, joins two vertices of the list."""
    return not is_usual_heading(heading) and {*map(canonical, heading[:2])} <= {*names}


def _is_heading(made: NamedList) -> bool:
    """Say whether the first line is a heading, because its names never come again; see `may_be_heading`."""
    counts = np.bincount(made.pairs.reshape(-1), minlength=2)
    if len(made.pairs) < 2 or len(made.names) < 2 or made.pairs[0].tolist() != [0, 1] or counts[:2].max() > 1:
        return False
    whole = all(map(INTEGER.fullmatch, made.names[2:]))
    is_one = may_be_heading(made.names[:2], whole)
    if is_one is None:
        return bool((counts[made.pairs[1:]].max(axis=1) > 1).all()) and not _are_numbered_alike(made.names)
    return is_one


def _are_numbered_alike(names: list[str]) -> bool:
    """Say whether the first two names are like others but for their digits: ``n1 n2`` above ``n3 n4``."""
    shapes = [_DIGITS.sub("0", name) for name in names]
    return shapes[0] in shapes[2:] and shapes[1] in shapes[2:] and all(map(_DIGITS.search, names[:2]))
