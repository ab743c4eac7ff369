"""A canvas of characters: lines and points in braille dots, or in plain ASCII."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import numpy.typing as npt
from rich.cells import cell_len

Points = npt.NDArray[np.float64]

BLANK, EDGE, WARM, WARMER, HOT, HOTTEST, FAINT_LABEL, VERTEX, LIT_EDGE, LABEL, LIT_VERTEX = range(11)
"""The kinds of content of a cell. A greater kind hides a smaller one. The lit kinds belong to the chosen cycle."""
HEAT = (WARM, WARMER, HOT, HOTTEST)
"""The kinds of lines of a heat map, the coldest first."""

_LINES = (EDGE, *HEAT, LIT_EDGE)
_THICK = (HOT, HOTTEST, LIT_EDGE)

_BRAILLE = 0x2800
# The bit of each dot of a braille cell, by its row and column.
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
# A small round glyph would leave a gap in the lines that meet in it: these dots are added to theirs.
_VERTEX_DOTS = 0x02 | 0x10 | 0x04 | 0x20
_GLYPHS = {VERTEX: chr(_BRAILLE + _VERTEX_DOTS), LIT_VERTEX: "●"}
_ASCII_GLYPHS = {
    EDGE: ".", WARM: "-", WARMER: "+", HOT: "*", HOTTEST: "#", VERTEX: "o", LIT_EDGE: "#", LIT_VERTEX: "@"
}  # fmt: skip


class Canvas:
    """Draws on `width` by `height` cells: each is 2 x 4 braille dots, or with `ascii_only` one ASCII character.

    In a browser, braille dots are `solid` blocks without room between them, and so are the vertices then.
    A cell is twice as high as it is wide. The unit of both axes is the width of a cell. The origin is the upper left
    corner, and y points downwards.
    """

    def __init__(self, width: int, height: int, *, ascii_only: bool = False, solid: bool = False) -> None:
        self.width = width
        self.height = height
        self._ascii_only = ascii_only
        glyphs = _ASCII_GLYPHS if ascii_only else _GLYPHS
        self._glyphs = glyphs | {LIT_VERTEX: "█"} if solid and not ascii_only else glyphs
        self._columns, self._rows = (1, 1) if ascii_only else (2, 4)
        self._dots = {kind: np.zeros((height * self._rows, width * self._columns), bool) for kind in _LINES}
        self._kinds = np.full((height, width), BLANK, np.uint8)
        self._text = np.full((height, width), " ", "<U1")

    def lines(self, starts: Points, ends: Points, kind: int) -> None:
        """Draw straight lines from `starts` to `ends`, both of shape (k, 2).

        The kind is `EDGE`, one of `HEAT`, or `LIT_EDGE`; the last one and the hotter ones are thicker.
        """
        scale = np.array([self._columns, self._rows / 2])
        starts, ends = starts * scale, ends * scale
        size = np.array([self.width * self._columns, self.height * self._rows], np.float64)
        starts, ends = _clipped(starts, ends, size)
        steps = np.ceil(np.abs(ends - starts).max(axis=1, initial=0)).astype(np.int64)
        self._plot(starts, ends, steps, kind)
        if kind in _THICK and not self._ascii_only:
            # A second line makes it thicker: to the right of a steep line, below a flat one.
            slope = np.abs(ends - starts)
            steep = slope[:, 1] > slope[:, 0]
            beside = np.where(steep[:, None], [1.0, 0.0], [0.0, 1.0])
            self._plot(starts + beside, ends + beside, steps, kind)

    def centred(self, places: Points) -> Points:
        """Move places to the middle of their cells, where `points` draws, so that lines meet the glyphs."""
        return np.floor(places * [1.0, 0.5]) * [1.0, 2.0] + [0.25, 0.9]

    def points(self, places: Points, kind: int) -> None:
        """Draw vertices at places of shape (k, 2). `kind` is `VERTEX` or `LIT_VERTEX`."""
        columns, rows, inside = self._cells(places)
        columns, rows = columns[inside], rows[inside]
        hidden = self._kinds[rows, columns] > kind
        columns, rows = columns[~hidden], rows[~hidden]
        self._kinds[rows, columns] = kind
        self._text[rows, columns] = self._glyphs[kind]

    def label(self, place: Points, text: str, kind: int = LABEL) -> bool:
        """Write a text beside a point. Return whether there was room.

        A `LABEL` may cover normal lines, a `FAINT_LABEL` covers nothing.
        """
        columns, rows, inside = self._cells(place[None])
        if not text or not inside[0]:
            return False
        column, row, k = int(columns[0]), int(rows[0]), cell_len(text)
        if k != len(text):
            # Characters of double width would shift the rest of the line.
            return False
        middle = column - k // 2
        for left, line in ((column + 1, row), (column - k, row), (middle, row - 1), (middle, row + 1)):
            if self._is_free(left, line, k, kind):
                self._kinds[line, left : left + k] = kind
                self._text[line, left : left + k] = list(text)
                return True
        return False

    def strips(self) -> Iterator[list[tuple[str, int]]]:
        """Yield each line, from the top, as pieces of equal kind: (text, kind)."""
        text, kinds = self._text.copy(), self._kinds.copy()
        vertices, through = kinds == VERTEX, np.full((self.height, self.width), _VERTEX_DOTS)
        for kind in _LINES:
            dots = self._dots[kind].reshape(self.height, self._rows, self.width, self._columns)
            # A vertex has the colour of the hottest line through it.
            some = dots.any(axis=(1, 3)) & ((kinds < kind) | (vertices & (kind in HEAT)))
            if self._ascii_only:
                text[some] = _ASCII_GLYPHS[kind]
            else:
                bits = (dots * _BITS[None, :, None, :]).sum(axis=(1, 3))
                through |= bits
                text[some] = _braille(bits[some])
            kinds[some] = kind
        if not self._ascii_only:
            seen = vertices & (kinds < LIT_EDGE)
            text[seen] = _braille(through[seen])
        for row in range(self.height):
            line = list(zip(text[row].tolist(), kinds[row].tolist(), strict=True))
            yield [("".join(cell for cell, _ in run), kind) for kind, run in groupby(line, key=lambda cell: cell[1])]

    def _is_free(self, left: int, row: int, k: int, kind: int) -> bool:
        if not (0 <= row < self.height and left >= 0 and left + k <= self.width):
            return False
        # At least one blank separates two labels.
        around = self._kinds[row, max(left - 1, 0) : left + k + 1]
        if ((around == LABEL) | (around == FAINT_LABEL)).any() or (self._kinds[row, left : left + k] != BLANK).any():
            return False
        area = (
            slice(row * self._rows, (row + 1) * self._rows),
            slice(left * self._columns, (left + k) * self._columns),
        )
        return not any(self._dots[line][area].any() for line in (_THICK if kind == LABEL else _LINES))

    def _cells(self, places: Points) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        columns, rows = np.floor(places * [1.0, 0.5]).astype(np.int64).T
        inside = (columns >= 0) & (columns < self.width) & (rows >= 0) & (rows < self.height)
        return columns, rows, inside

    def _plot(self, starts: Points, ends: Points, steps: npt.NDArray[np.int64], kind: int) -> None:
        """Set the dots of the lines, one for each step along the longer axis."""
        line = np.repeat(np.arange(len(steps)), steps + 1)
        first = np.cumsum(steps + 1) - (steps + 1)
        share = (np.arange(len(line)) - first[line]) / np.maximum(steps, 1)[line]
        dots = np.floor(starts[line] + (ends - starts)[line] * share[:, None]).astype(np.int64)
        grid = self._dots[kind]
        inside = (dots >= 0).all(axis=1) & (dots[:, 0] < grid.shape[1]) & (dots[:, 1] < grid.shape[0])
        grid[dots[inside, 1], dots[inside, 0]] = True


def _braille(bits: npt.NDArray[np.int64]) -> npt.NDArray[np.str_]:
    return (_BRAILLE + bits).astype(np.uint32).view("<U1")


def _clipped(starts: Points, ends: Points, size: Points) -> tuple[Points, Points]:
    """Clip lines to the canvas (Liang and Barsky), and leave out those outside it."""
    along = ends - starts
    enter, leave = np.zeros(len(starts)), np.ones(len(starts))
    outside = np.zeros(len(starts), bool)
    for axis in (0, 1):
        step, start = along[:, axis], starts[:, axis]
        outside |= (step == 0) & ((start < 0) | (start > size[axis]))
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = -start / step, (size[axis] - start) / step
        moving = step != 0
        enter = np.where(moving, np.maximum(enter, np.minimum(one, other)), enter)
        leave = np.where(moving, np.minimum(leave, np.maximum(one, other)), leave)
    kept = ~outside & (enter <= leave)
    starts, along, enter, leave = starts[kept], along[kept], enter[kept, None], leave[kept, None]
    return starts + along * enter, starts + along * leave
