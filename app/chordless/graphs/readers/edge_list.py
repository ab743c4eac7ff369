"""Edge lists (``u v`` on each line), read by numpy where every id is a number."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Hashable
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
from chordless.graphs.readers.large_list import Check, Comment, ListedEdges, blanked_comments, read_large_list
from chordless.graphs.readers.source import (
    Parsed,
    Source,
    build_graph,
    check_edges,
    format_options,
    names_by_label,
    number_of,
)
from kernels_ti.adjacency import pieces
from kernels_ti.errors import quantity
from kernels_ti.graph import IntArray

_MOST_GAPS = 4
"""Numbers from the least to the greatest, for each that occurs, up to which a table over all of them is fastest."""

INTEGER = re.compile(r"-?[0-9]{1,18}")  # longer ones may not fit an int64 and are taken as words
_DIGITS = re.compile("[0-9]+")


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
class _Notes:
    """The information in the comments of an edge list; each entry has its line number."""

    size: tuple[int, int, int] | None = None
    labels: dict[str, tuple[str, int]] = field(default_factory=dict)
    positions: dict[str, tuple[tuple[float, float], int]] = field(default_factory=dict)


def read_edge_list(source: Source, *, simplify: bool = False) -> Parsed:
    """Read a list of edges, one ``u v`` per line, or ``u,v``, ``u v weight``; see `columns` for these.

    Lines ``u -> v`` are the arcs of a directed graph. Lines that start with ``#`` or ``%`` are comments, of which three
    mean something: ``# n=N m=M`` gives the numbers of vertices (isolated ones included) and edges, ``# label ID text``
    names a vertex, ``# xy ID x y`` places it. Vertices whose ids are all 64-bit integers are sorted by them, others
    keep the order of appearance. The graph's names are the labels, if every vertex has one and they differ, otherwise
    the ids, as text. A GraphError names the line of anything that is not such a list.
    """

    def check(pairs: IntArray, name_of: Callable[[int], Hashable], heading: int | None, directed: bool) -> None:
        check_edges(source, pairs, name_of, line_of(heading), simplify=simplify, directed=directed)

    def line_of(heading: int | None) -> Callable[[int], int]:
        return lambda row: _line_of_row(source, row, heading)

    large = read_large_list(source, check)
    made = read_named_list(source, check) if large is None else large
    heading, directed, notes = made.heading, made.directed, _notes_of(source, made.comments)
    if large is not None or all(map(INTEGER.fullmatch, made.names)):
        numbers = np.array(made.names, np.int64)[made.pairs] if large is None else made.pairs
        if heading is None and not directed and notes.size is None:
            _note_numbers_above(source, numbers, line_of(None))
        ids, ends = _number_integers(source, numbers, notes)
        del numbers
    else:
        ids, ends = _with_noted(source, made, notes), made.pairs
    del large, made  # they are large
    if notes.size is None and not ids:
        raise source.error("no edges: every line is blank or a comment; an edge list has a line `u v` for each edge")
    noted = bool(notes.labels or notes.positions)
    index = {name: v for v, name in enumerate(ids)} if noted else {}
    labels = [notes.labels[name][0] if name in notes.labels else None for name in ids] if noted else []
    for kind, entries in (("label", notes.labels), ("xy", notes.positions)):
        for name, (_, line) in entries.items():
            if name not in index:
                raise source.error(f"`# {kind}` for {name}, which is not a vertex of this graph", line)
    positions = {index[name]: place for name, (place, _) in notes.positions.items()}

    graph = build_graph(
        source,
        ends,
        names_by_label(source, labels, ids),
        simplify=simplify,
        line_of=line_of(heading),
        directed=directed,
    )
    if notes.size is not None:
        source.check_edge_count(notes.size[1], len(ends), graph.m, notes.size[2])
    return graph, positions or None


def read_named_list(source: Source, check: Check) -> ListedEdges:
    """Read an edge list, and note what is ignored: a heading, weights, data in braces; else a GraphError."""
    made = ListedEdges()
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
            check(np.array(ends, np.int64).reshape(-1, 2), places.names.__getitem__, made.heading, made.directed)
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
            if word.startswith(("0", "-0")) and canonical(word) != word:
                note_zeros(source, word, number)
                return


def _note_numbers_above(source: Source, pairs: IntArray, line_of: Callable[[int], int]) -> None:
    """Note a first line that may be the numbers of vertices and edges, ``n m``, as METIS writes it, and others do."""
    edges = len(pairs) - 1
    if edges < 2 or pairs[0, 1] != edges or pairs[1:].min() < 0 or pairs[1:].max() > pairs[0, 0]:
        return
    n = int(pairs[0, 0])
    source.note(
        f"taken for an edge, not for the numbers of vertices and edges: {n} {edges} (if they are that, leave the line "
        f"out or write `# n={n} m={edges}`; of METIS, {format_options('metis')} tells what is wrong)",
        line_of(0),
    )


def _is_edge_without_weight(heading: list[str], names: list[str]) -> bool:
    """Say whether what seemed a heading, because it has a word in place of a weight, joins two vertices of the list."""
    return not is_usual_heading(heading) and {*map(canonical, heading[:2])} <= {*names}


def _is_heading(made: ListedEdges) -> bool:
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


def _notes_of(source: Source, comments: list[Comment]) -> _Notes:
    notes = _Notes()
    for number, content in comments:
        if content[0] == "%":
            continue
        words = content[1:].split(None, 1)
        if not words:
            continue
        if words[0] in ("label", "xy"):
            _take_vertex_note(source, notes, words[0], content, number)
        elif re.match(r"#\s*n=\S*\s+m=", content):
            size = re.fullmatch(r"#\s*n=([0-9]{1,18})\s+m=([0-9]{1,18})\s*", content)
            if size is None:
                raise source.error(f"the header must read `# n=N m=M` with two numbers, found {content!r}", number)
            if notes.size is not None:
                raise source.error(f"a second `# n= m=` header, the first is in line {notes.size[2]}", number)
            notes.size = (int(size[1]), int(size[2]), number)
            source.check_size(notes.size[0], number)
    return notes


def _take_vertex_note(source: Source, notes: _Notes, kind: str, content: str, number: int) -> None:
    # One blank ends the id. The rest is the label unchanged, so that labels keep blanks around them.
    found = re.fullmatch(r"#[ \t]*(?:label|xy)[ \t]+([^ \t]+)[ \t](.+)", content)
    if found is None:
        what = "a vertex id and a text" if kind == "label" else "a vertex id and two numbers"
        raise source.error(f"`# {kind}` needs {what}, found {content!r}", number)
    name = canonical(found[1])
    if name in (notes.labels if kind == "label" else notes.positions):
        raise source.error(f"a second `# {kind}` for vertex {name}", number)
    if kind == "label":
        notes.labels[name] = (found[2], number)
        return
    place = [number_of(word) for word in found[2].split()]
    if len(place) != 2 or place[0] is None or place[1] is None:
        raise source.error(f"`# xy` needs a vertex id and two numbers, found {content!r}", number)
    notes.positions[name] = ((place[0], place[1]), number)


def _number_integers(source: Source, pairs: IntArray, notes: _Notes) -> tuple[list[str], IntArray]:
    ids = _distinct(pairs)
    seen = len(ids)
    if notes.size is not None and notes.size[0] > seen:
        noted = [int(name) for name in (*notes.labels, *notes.positions) if INTEGER.fullmatch(name)]
        ids = np.union1d(ids, np.array(noted, np.int64))
        seen = len(ids)
        if notes.size[0] > seen:
            first = 0 if 0 in ids[:1] else 1
            ids = np.union1d(ids, np.arange(first, first + notes.size[0]))
    _check_vertex_count(source, len(ids), seen, notes)
    _replace_by_places(ids, pairs)
    # A list of all numbers would take as much memory again as their texts, and leave holes.
    return [str(number) for piece in pieces(len(ids)) for number in ids[piece].tolist()], pairs


def _distinct(pairs: IntArray) -> IntArray:
    least, span = _span(pairs)
    if span > _MOST_GAPS * pairs.size:
        return np.unique(pairs)
    occurs = np.zeros(span, np.bool_)
    for piece in pieces(len(pairs)):
        occurs[pairs[piece] - least] = True
    return np.flatnonzero(occurs) + least


def _replace_by_places(ids: IntArray, pairs: IntArray) -> None:
    """Put in place of each number where it stands among the ascending `ids`."""
    least, span = _span(ids)
    place = None
    if span <= _MOST_GAPS * len(ids):
        place = np.zeros(span, np.int64)
        place[ids - least] = np.arange(len(ids))
    for piece in pieces(len(pairs)):
        numbers = pairs[piece]
        pairs[piece] = np.searchsorted(ids, numbers) if place is None else place[numbers - least]


def _span(numbers: IntArray) -> tuple[int, int]:
    """Return the least number, and how many there are from it to the greatest."""
    if not numbers.size:
        return 0, 0
    least = int(numbers.min())
    return least, int(numbers.max()) - least + 1


def _with_noted(source: Source, made: ListedEdges, notes: _Notes) -> list[str]:
    """Return the names of the vertices, with those that only the comments name."""
    names = made.names
    if notes.size is not None and notes.size[0] > len(names):
        names = list(dict.fromkeys([*names, *notes.labels, *notes.positions]))
    _check_vertex_count(source, len(names), len(names), notes)
    return names


def _check_vertex_count(source: Source, count: int, seen: int, notes: _Notes) -> None:
    if notes.size is None or notes.size[0] == count:
        return
    declared, _, line = notes.size
    occur = f"{quantity(seen, 'vertex occurs', 'vertices occur')} in the file"
    if declared < seen:
        raise source.error(f"the header declares n={declared}, but {occur}", line)
    raise source.error(
        f"the header declares n={declared}, but {occur} and are not from 1 to {declared}, "
        "so the isolated ones have no id: give each a line `# label ID text`",
        line,
    )


def _line_of_row(source: Source, row: int, heading: int | None) -> int:
    """Return the line number of edge number `row`, where all other lines are blank, comments, or the heading."""
    for first, lines in source.line_pieces():
        blanked_comments(lines, first)
        for number, line in enumerate(lines, first):
            if number != heading and line.strip():
                if row == 0:
                    return number
                row -= 1
    raise AssertionError("the file has no such edge")
