"""Curves of counts by length, drawn with characters, on a logarithmic or linear scale. It does not use Textual."""

from __future__ import annotations

import math
import textwrap
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise

from chordless.values import first_missing

AXIS, TEXT = "axis", "text"
_SMALLEST_WIDTH, _SMALLEST_HEIGHT, _ROWS_LEFT_BY_A_LONG_LEGEND = 20, 5, 6
_UNITS = ("", "k", "M", "G", "T", "P")
# The dots of a braille character, by column and row.
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_DASH, _HALF = 4, 4
_COLUMNS_BETWEEN_MARKERS = 6
_EIGHTHS = "▁▂▃▄▅▆▇█"
ON = " on "  # in the part of a piece that is drawn over a filled cell, before the part of the fill
# The marker where points of both runs fall into the same cell.
_BOTH, _ASCII_BOTH = "◉", "8"

Row = list[tuple[str, str]]
"""Pieces of a line: (text, part of the picture)."""


@dataclass(frozen=True)
class Look:
    """How a curve looks, so that curves differ even without colour."""

    # The character at each point. Empty for a line without markers.
    marker: str
    dashed: bool
    letter: str  # The character of the curve in ASCII
    sample: str  # The sample in the legend
    filled: bool = False  # Whether the area below it is filled: a column for each length, without a line


LOOKS = {
    "waiting": Look("", False, ":", "▃▅▃", filled=True),
    "paths": Look("", False, ".", "⠒⠒⠒"),
    "cycles": Look("●", False, "o", "⠒●⠒"),
    "other-paths": Look("", True, ",", "⠒ ⠒"),
    "other-cycles": Look("○", True, "x", " ○ "),
}
_LINE_LETTERS = frozenset(look.letter for look in LOOKS.values() if not look.marker)


@dataclass(frozen=True)
class Series:
    """One curve."""

    part: str  # One of `LOOKS`
    name: str  # The name in the legend
    meaning: str  # A longer name, for a legend with more room
    # Counts by length. Zeros are not drawn.
    counts: dict[int, int]


def draw(
    series: Sequence[Series], width: int, height: int, *, log: bool = True, ascii_only: bool = False,
    longest: int = 0, cursor: int | None = None, nothing: str = "",
) -> list[Row]:  # fmt: skip
    """Return a picture of the curves.

    Parameters
    ----------
    series : sequence of Series
        Later ones are drawn over earlier ones.
    width, height : int
        Size in characters; every row has this width.
    log : bool
        Whether the scale is logarithmic, not linear.
    ascii_only : bool
        Use only ASCII characters.
    longest : int
        The axis goes on to this length at least.
    cursor : int or None
        A length that a vertical line marks, and whose counts the last row tells, below the legend.
    nothing : str
        The words where there are no counts.

    Returns
    -------
    list of list of (str, str)
        The rows. Each piece has a part: `AXIS`, `TEXT`, or the part of a series, which ends in `ON` and the part
        of the fill over a filled area.
    """
    if width < _SMALLEST_WIDTH or height < _SMALLEST_HEIGHT:
        return _filled([[("too small for a chart"[:width], TEXT)]], width, height)
    legend = _legend(series, width, height, log=log, ascii_only=ascii_only)
    points = [sorted((length, count) for length, count in one.counts.items() if count > 0) for one in series]
    if not any(points):
        room = height - len(legend)
        words: list[Row] = [
            [(f"{line:^{width}}", TEXT)] for line in textwrap.wrap(nothing or "no counts by length", width)
        ]
        return _filled([*[[]] * ((room - len(words)) // 2), *words[:room]], width, room) + legend
    values = [] if cursor is None else _filled([_values(series, cursor, width)], width, 1)
    rows = height - len(legend) - len(values) - 2
    scale = _Scale.of(max(count for one in points for _, count in one), rows, log=log)
    margin = max(len(label) for label in scale.ticks.values())
    lengths = [length for one in points for length, _ in one]
    first, last = min(lengths), max(*lengths, min(lengths) + 1, longest)
    canvas = _Canvas(width - margin - 1, rows, ascii_only=ascii_only)
    for one, places in zip(series, points, strict=True):
        spots = [((length - first) / (last - first), scale.place(count)) for length, count in places]
        if LOOKS[one.part].filled:
            canvas.fill(spots, 1 / (last - first), one.part)
        else:
            canvas.curve(_unbroken(places, spots), LOOKS[one.part], one.part)
    if cursor is not None:
        canvas.mark_column(_column((min(max(cursor, first), last) - first) / (last - first), canvas.width))
    vertical, tick = ("|", "+") if ascii_only else ("│", "┤")
    picture = []
    for row, pieces in enumerate(canvas.rows()):
        label = scale.ticks.get(row)
        edge = f"{label:>{margin}}{tick}" if label is not None else " " * margin + vertical
        picture.append([(edge, AXIS), *pieces])
    return picture + _lengths_axis(first, last, canvas.width, margin, ascii_only=ascii_only) + legend + values


@dataclass(frozen=True)
class _Scale:
    top: int
    log: bool
    ticks: dict[int, str]

    @classmethod
    def of(cls, largest: int, rows: int, *, log: bool) -> _Scale:
        if log:
            top = max(math.ceil(math.log10(largest)), 1)
            step = -(-top * 2 // max(rows - 1, 1)) if rows < 2 * top + 1 else 1
            scale = cls(top, True, {})
            marks = [10**power for power in range(0, top + 1, step)]
        else:
            step = _nice_step(largest, max(rows // 3, 1))
            top = -(-largest // step) * step
            scale = cls(top, False, {})
            marks = list(range(0, top + 1, step))
        return cls(scale.top, log, {_row(scale.place(mark), rows) // 4: short_count(mark, marks[-1]) for mark in marks})

    def place(self, count: int) -> float:
        """Return the height of a count: 0 is the bottom, 1 the top."""
        return math.log10(count) / self.top if self.log else count / self.top


class _Canvas:
    """A grid of characters. Each holds 2 x 4 dots, or one letter."""

    def __init__(self, width: int, height: int, *, ascii_only: bool) -> None:
        self.width, self._height, self._ascii = width, height, ascii_only
        self._dots: dict[tuple[int, int], int] = {}
        self._letters: dict[tuple[int, int], str] = {}
        self._parts: dict[tuple[int, int], str] = {}
        self._filled: dict[tuple[int, int], tuple[int, str]] = {}

    def fill(self, points: Sequence[tuple[float, float]], step: float, part: str) -> None:
        """Fill a column of width `step` around each point, from the bottom up to it."""
        top = [0] * self.width
        for x, y in points:
            eighths = max(round(y * (8 * self._height - 1)) + 1, 1)
            left, right = _column(max(x - step / 2, 0.0), self.width), _column(min(x + step / 2, 1.0), self.width)
            for column in range(left, right + 1):
                top[column] = max(top[column], eighths)
        for column, eighths in enumerate(top):
            for row in range(-(-eighths // 8)):
                self._filled[column, self._height - 1 - row] = (min(eighths - 8 * row, 8), part)

    def curve(self, runs: Sequence[Sequence[tuple[float, float]]], look: Look, part: str) -> None:
        """Draw a curve through runs of points, with gaps between the runs. Both coordinates are in 0 to 1."""
        points = list(chain.from_iterable(runs))
        if not (self._ascii and look.marker):
            for run in runs:
                dots = [(_column(x, self.width, 2), _row(y, self._height)) for x, y in run]
                for step, dot in enumerate(_line(dots)):
                    if not (look.dashed and step // _DASH % 2):
                        self._dot(dot, look, part)
        letter = look.letter if self._ascii else look.marker
        # If markers would touch one another, draw only some: they identify the curve without hiding it.
        gap = 1 if self._ascii or self.width >= 2 * len(points) else _COLUMNS_BETWEEN_MARKERS
        for run in runs if look.marker else ():
            self._mark(run, gap, letter, part)

    def _mark(self, run: Sequence[tuple[float, float]], gap: int, letter: str, part: str) -> None:
        """Draw markers on a run of points, its first point included."""
        marked = -gap
        for x, y in run:
            cell = (_column(x, self.width), _row(y, self._height) // 4)
            if cell[0] < marked + gap:
                continue
            marked = cell[0]
            if self._letters.get(cell, letter) not in (letter, *_LINE_LETTERS):
                self._letter(cell, _ASCII_BOTH if self._ascii else _BOTH, TEXT)
            else:
                self._letter(cell, letter, part)

    def mark_column(self, column: int) -> None:
        """Draw a vertical line wherever nothing else is drawn."""
        for row in range(self._height):
            if (column, row) not in self._parts and (column, row) not in self._filled:
                self._letter((column, row), "|" if self._ascii else "┊", AXIS)

    def rows(self) -> Iterator[Row]:
        """Yield the rows, from the top."""
        for row in range(self._height):
            pieces: Row = []
            for column in range(self.width):
                cell = (column, row)
                dots = self._dots.get(cell, 0)
                character = self._letters.get(cell) or (chr(0x2800 + dots) if dots else " ")
                part = self._parts.get(cell, TEXT)
                eighths, fill = self._filled.get(cell, (0, TEXT))
                if eighths and character == " ":
                    character, part = (LOOKS[fill].letter if self._ascii else _EIGHTHS[eighths - 1]), fill
                elif eighths > _HALF and not self._ascii:
                    part += ON + fill
                if pieces and pieces[-1][1] == part:
                    pieces[-1] = (pieces[-1][0] + character, part)
                else:
                    pieces.append((character, part))
            yield pieces

    def _dot(self, dot: tuple[int, int], look: Look, part: str) -> None:
        x, y = dot
        cell = (x // 2, y // 4)
        if self._ascii:
            self._letter(cell, look.letter, part)
            return
        self._dots[cell] = self._dots.get(cell, 0) | _DOTS[x % 2][y % 4]
        self._parts[cell] = part

    def _letter(self, cell: tuple[int, int], letter: str, part: str) -> None:
        self._letters[cell] = letter
        self._parts[cell] = part


def short_count(count: int, largest: int = 0) -> str:
    """Return a round count for an axis: ``100``, ``10k``, ``2.5M``, ``1e18``.

    An axis whose `largest` count has no unit has powers of ten throughout.
    """
    power = 0
    while count >= 1000 ** (power + 1):
        power += 1
    if power and max(count, largest) >= 1000 ** len(_UNITS):
        # The count may be too large for a float.
        digits = str(count)
        return f"{digits[0]}{f'.{digits[1]}' if digits[1] != '0' else ''}e{len(digits) - 1}"
    return f"{count / 1000**power:.4g}{_UNITS[power]}"


def _line(dots: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield every dot of the lines that connect some dots."""
    yield from dots[:1]
    for (x, y), (to_x, to_y) in pairwise(dots):
        steps = max(abs(to_x - x), abs(to_y - y))
        for step in range(1, steps + 1):
            yield x + round((to_x - x) * step / steps), y + round((to_y - y) * step / steps)


def _unbroken(
    places: Sequence[tuple[int, int]], spots: Sequence[tuple[float, float]]
) -> list[list[tuple[float, float]]]:
    """Split points where lengths are missing between them."""
    breaks = first_missing([length for length, _ in places])
    pieces = groupby(zip(places, spots, strict=True), key=lambda each: bisect(breaks, each[0][0]))
    return [[spot for _, spot in piece] for _, piece in pieces]


def _column(x: float, width: int, dots: int = 1) -> int:
    """Return the column of a place of 0 to 1, in cells, or in dots if `dots` is 2. Both agree with each other."""
    return round(x * (2 * width - 1)) * dots // 2


def _row(y: float, rows: int) -> int:
    """Return the row of a height of 0 to 1, in dots from the top: four make a cell."""
    return round((1 - y) * (4 * rows - 1))


def _nice_step(span: int, most: int) -> int:
    """Return the smallest step of 1, 2 or 5 times a power of ten that divides `span` into at most `most` parts."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power * most >= span:
                return factor * power
        power *= 10


def _lengths_axis(first: int, last: int, width: int, margin: int, *, ascii_only: bool) -> list[Row]:
    corner, flat, tick = ("+", "-", "+") if ascii_only else ("└", "─", "┴")
    caption = " vertices"
    room = width - len(caption)
    step = _nice_step(last - first, max(width // (len(str(last)) + 3), 1))
    line, labels = [flat] * width, [" "] * width
    for length in range(-(-first // step) * step, last + 1, step):
        column = _column((length - first) / (last - first), width)
        line[column] = tick
        text = str(length)
        start = min(max(column - (len(text) - 1) // 2, 0), width - len(text))
        if labels[max(start - 1, 0) : start + len(text)] == [" "] * (start + len(text) - max(start - 1, 0)):
            labels[start : start + len(text)] = text
    written = "".join(labels)
    if room > 0 and not written[room:].strip():
        written = written[:room] + caption
    return [[(" " * margin + corner + "".join(line), AXIS)], [(" " * (margin + 1) + written, AXIS)]]


def _legend(series: Sequence[Series], width: int, height: int, *, log: bool, ascii_only: bool) -> list[Row]:
    scale = "log scale" if log else "linear scale"
    long = [f"{one.name}: {one.meaning}" for one in series]
    room = width - 5 - len(scale) - 2
    if series and height - 2 - len(series) >= _ROWS_LEFT_BY_A_LONG_LEGEND and all(len(text) <= room for text in long):
        rows: list[Row] = [
            [(f" {_sample(one, ascii_only)} ", one.part), (text, TEXT)] for one, text in zip(series, long, strict=True)
        ]
        rows[0] = _with_end(rows[0], scale, width)
        if any(one.part == "other-cycles" for one in series):
            rows[-1] = [*rows[-1], (f"   {_ASCII_BOTH if ascii_only else _BOTH} both", TEXT)]
        return _filled(rows, width, len(rows))
    items = [[(f" {_sample(one, ascii_only)} ", one.part), (f"{one.name} ", TEXT)] for one in series]
    if any(one.part == "other-cycles" for one in series):
        items.append([(f" {_ASCII_BOTH if ascii_only else _BOTH} both ", TEXT)])
    rows = [[]]
    for item in items:
        if rows[-1] and sum(len(text) for text, _ in (*rows[-1], *item)) > width:
            rows.append([])
        rows[-1] = [*rows[-1], *item]
    if _with_end(rows[-1], scale, width) is rows[-1] and height - 4 >= _ROWS_LEFT_BY_A_LONG_LEGEND:
        rows.append([])
    rows[-1] = _with_end(rows[-1], scale, width)
    return _filled(rows[: max((height - 2) // 3, 1)], width, 1)


def _values(series: Sequence[Series], length: int, width: int) -> Row:
    """Return the counts of one length: all digits if there is room, else round numbers, and then short names too."""
    row: Row = []
    for name, number, unit in ((0, "{:,}".format, " vertices"), (0, short_count, " vertices"), (-1, short_count, "")):
        row = [(f" {length}{unit}:", TEXT)]
        for one in series:
            text = f"  {one.name.split(' ')[name] if name else one.name} {number(one.counts.get(length, 0))}"
            row.append((text, TEXT if LOOKS[one.part].filled else one.part))
        if sum(len(text) for text, _ in row) <= width:
            break
    return row


def _sample(one: Series, ascii_only: bool) -> str:
    look = LOOKS[one.part]
    return (f" {look.letter} " if look.marker else look.letter * 3) if ascii_only else look.sample


def _with_end(row: Row, end: str, width: int) -> Row:
    gap = width - sum(len(text) for text, _ in row) - len(end)
    return [*row, (" " * gap + end, AXIS)] if gap > 0 else row


def _filled(rows: Iterable[Row], width: int, height: int) -> list[Row]:
    """Pad rows to a width, and add empty rows up to a height."""
    result: list[Row] = []
    for row in rows:
        left, kept = width, []
        for text, part in row:
            kept.append((text[:left], part))
            left -= len(kept[-1][0])
        result.append([*kept, (" " * left, TEXT)])
    return result + [[(" " * width, TEXT)] for _ in range(height - len(result))]
