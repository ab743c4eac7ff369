"""The frontier: words on the paths that wait, how many waited over time, and which lengths were looked at when."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from chordless.runs.course import PathCourse
from chordless.runs.state import RunState
from chordless.tui.widgets.glyphs import is_ascii
from chordless.tui.widgets.picture import Picture
from chordless.words.numbers import pass_text, seconds_text, seeking_text, short_number
from chordless.words.shown import bar
from kernels_ti.errors import quantity, vertices_text

_AREA, _ASCII_AREA = " ▁▂▃▄▅▆▇█", " ._-=+*%#"
_ASCII_HEAT = " .:-=+*#"
_HALF = "▀"
_LEVELS = 8
# The first paths of a search, and all of a tiny one, are no glaring block.
_FEWEST_AT_ITS_BRIGHTEST = 10_000
_COOLEST, _WARM = 0.2, 0.6
_MARGIN, _NOW = 7, 18
_HIGHEST_AREA = 3
_LINES_WITH_AXIS, _COLUMNS_WITH_NOW = 6, 60
_LENGTHS_OF_A_WAVE = 2
_PRESENT = "waits", "wait", "now", "moves"


class FrontierView(Picture):
    """Words, the number of waiting paths over time, and the heat strip of length and time.

    The strip has the time from left to right and the lengths from the bottom up. The more paths of a length were looked
    at in a moment, the brighter the place. At its right stand the paths of each length that wait now.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"frontier--{part}" for part in ("hot", "hottest", "words", "axis")}

    _state = RunState()
    _shown: tuple[object, ...] = ()

    def show(self, state: RunState) -> None:
        """Show the frontier of this state."""
        paths = state.path_course
        course, waiting = state.frontier_course, state.waiting_by_length
        now = (frontier_words(state), course, paths.reports_in_last, paths.totals, waiting)
        if now != self._shown:
            self._shown, self._state = now, state
            self.set_class(not paths.lengths, "-words-only")
            self.draw_again()

    def drawn(self, width: int, height: int) -> list[Strip]:
        """Draw the words, the area and the strip."""
        words_style = self.get_component_rich_style("frontier--words")
        text = next((words for words in frontier_words(self._state) if len(words) <= width), "")
        strips = [Strip([Segment(f"{text:<{width}}", words_style)], width)]
        lengths = self._state.path_course.lengths
        has_axis = height >= _LINES_WITH_AXIS
        now = _NOW if width >= _COLUMNS_WITH_NOW and self._state.waiting_by_length else 0
        columns = width - _MARGIN - now
        if height < 3 or columns < 1 or not lengths:
            return strips
        # Where no report told of waiting paths, the strip has the room of their number.
        area = min(max((height - 2) // 4, 1), _HIGHEST_AREA) if self._state.frontier_course.peak else 0
        rows = height - 1 - area - has_axis
        strips += self._area(columns, area, width)
        strips += self._heat(columns, rows, now, width)
        if has_axis:
            strips.append(self._time_axis(columns, now, width))
        return strips

    def _area(self, columns: int, rows: int, width: int) -> list[Strip]:
        """Draw how many paths waited over time: a filled area with an axis of its own."""
        hot, axis, course = self._style("hot"), self._style("axis"), self._state.frontier_course
        numbers = resampled(course.pieces, columns) if any(course.pieces) else [0] * columns
        peak = max(course.peak, 1)
        letters = _ASCII_AREA if is_ascii(self) else _AREA
        steps = len(letters) - 1
        strips = []
        for row in range(rows):
            below = (rows - 1 - row) * steps
            heights = [math.ceil(number * rows * steps / peak) - below for number in numbers]
            text = "".join(letters[min(max(height, 0), steps)] for height in heights)
            label = _short(peak) if row == 0 and course.peak else ""
            strips.append(_strip([(f"{label:>{_MARGIN - 1}} ", hot), (text, hot)], width, axis))
        return strips

    def _heat(self, columns: int, rows: int, now: int, width: int) -> list[Strip]:
        """Draw the strip, with the paths that wait now beside it."""
        axis, hot = self._style("axis"), self._style("hot")
        ascii_only = is_ascii(self)
        pixels = rows if ascii_only else 2 * rows
        levels = heat_levels(self._state.path_course, columns, pixels)
        bands = bands_of(self._state.path_course.lengths, rows)
        waiting = [sum(self._state.waiting_by_length.get(length, 0) for length in band) for band in bands]
        most = max(waiting, default=0)
        styles = self._heat_styles()
        strips = []
        for row, band in enumerate(bands):
            pieces: list[tuple[str, Style]] = [(f"{band[-1] if band else '':>{_MARGIN - 1}} ", axis)]
            if ascii_only:
                pieces.append(("".join(_ASCII_HEAT[level] for level in levels[row]), hot))
            else:
                runs = groupby(zip(levels[2 * row], levels[2 * row + 1], strict=True))
                pieces += [(_HALF * len(list(run)), styles[levels_of]) for levels_of, run in runs]
            if now:
                count = waiting[row]
                room = now - 8
                share = math.log1p(count) / math.log1p(most) if most else 0.0
                pieces += [
                    (f" {_short(count) if count else '':>6} ", axis),
                    (f"{bar(share, room, ascii_only=ascii_only):<{room}}", hot),
                ]
            strips.append(_strip(pieces, width, axis))
        return strips

    def _time_axis(self, columns: int, now: int, width: int) -> Strip:
        end = seconds_text(self._state.seconds)
        room = max(columns - len(end) - 4, 0)
        looked_at = f"{self._state.step}s of each length looked at, over time"
        above = (f"above: how many wait; below: {looked_at}",) if self._state.frontier_course.peak else ()
        labels = (*above, looked_at, "looked at, by length", "")
        middle = next(label for label in labels if len(label) < room or not label)
        text = f"{'':>{_MARGIN}}{'0 s':<4}{middle:^{room}}{end}"
        title = "waited (log)" if self._state.is_lost else "wait now (log)"
        beside = f"{title:>{now}}" if now else ""
        return _strip([(text + beside, self._style("axis"))], width, self._style("axis"))

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"frontier--{part}")

    def _heat_styles(self) -> dict[tuple[int, int], Style]:
        """Return the style of a cell by the levels of its upper and its lower half."""
        warm, hottest = (self.get_component_styles(f"frontier--{part}").color for part in ("hot", "hottest"))
        colours = [self.background_colors[1]]
        for level in range(1, _LEVELS):
            share = level / (_LEVELS - 1)
            below, above, at = (
                (colours[0], warm, share / _WARM) if share <= _WARM else (warm, hottest, (share - _WARM) / (1 - _WARM))
            )
            colours.append(below.blend(above, max(at, _COOLEST), alpha=1.0))
        names = [colour.hex6 for colour in colours]
        return {
            (upper, lower): Style(color=names[upper], bgcolor=names[lower])
            for upper in range(_LEVELS)
            for lower in range(_LEVELS)
        }


def _short(count: int) -> str:
    """Return a number in six characters or fewer."""
    return short_number(count).replace(" ", "")


def _strip(pieces: Sequence[tuple[str, Style]], width: int, rest: Style) -> Strip:
    strip = Strip([Segment(text, style) for text, style in pieces if text])
    return strip.adjust_cell_length(width, rest)


def bands_of(lengths: range, rows: int) -> list[range]:
    """Divide lengths into `rows` bands, the longest first; a band may be empty where there are fewer lengths."""
    cuts = [lengths.start + len(lengths) * row // rows for row in range(rows + 1)]
    return [range(first, last) for first, last in pairwise(cuts)][::-1]


def heat_levels(course: PathCourse, columns: int, rows: int) -> list[list[int]]:
    """Return how hot each place of the strip is: a level of 0 to 7 for each column of each row, on a logarithmic scale.

    Time goes from left to right, and the longest paths are at the top. A level is 0 only where no path was looked at,
    and 7 only where many were.
    """
    lengths = course.lengths
    span = max(len(lengths), 1)
    # Where there are fewer lengths than rows, a length takes several rows; the same holds for pieces and columns.
    firsts = [lengths.start + span * row // rows for row in range(rows + 1)]
    bands = [range(first, max(last, first + 1)) for first, last in pairwise(firsts)][::-1]
    counts: dict[tuple[int, int], list[int]] = {}
    cuts = [len(course.pieces) * column // columns for column in range(columns + 1)]
    spans = [(first, max(last, first + 1)) for first, last in pairwise(cuts)]
    for first, last in set(spans):
        pieces = course.pieces[first:last]
        counts[first, last] = [sum(piece.get(length, 0) for piece in pieces for length in band) for band in bands]
    most = max((max(column) for column in counts.values()), default=0)
    full = math.log1p(max(most, _FEWEST_AT_ITS_BRIGHTEST))
    levels = {
        span: [max(1, round((_LEVELS - 1) * math.log1p(count) / full)) if count else 0 for count in column]
        for span, column in counts.items()
    }
    return [[levels[span][row] for span in spans] for row in range(rows)]


def resampled(numbers: tuple[int, ...], count: int) -> list[int]:
    """Return `count` numbers over the same time: the largest of each part, or each number several times."""
    starts = [len(numbers) * i // count for i in range(count)]
    return [max(numbers[start : max(end, start + 1)]) for start, end in pairwise([*starts, len(numbers)])]


def frontier_words(state: RunState) -> tuple[str, ...]:
    """Return one line in several lengths, the longest first; the last is "" while nothing is known."""
    course = state.frontier_course
    if state.states is not None:
        return _boundary_words(state)
    is_complete = state.phase == "finished" and state.reason == "complete"
    none = f"No {state.step} waits {'any more' if is_complete else 'now' if course.peak or state.is_over else 'yet'}"
    if not course.peak:
        return (f"{none}.", none) if is_complete or state.paths else ("",)
    most, when = short_number(course.peak), f"after {seconds_text(course.peak_seconds)}"
    waiting = state.waiting_by_length
    has_starts = state.counts_starts and state.options.get("expansion") != "paper"
    path = state.step
    if state.frontier == 0:
        waited = f" starts and {path}s" if has_starts else ""
        long = f"{none}. At the peak {most}{waited} waited, {when}."
        return (long, f"No {path} waits. Peak: {most} {when}", f"No {path} waits")
    number = short_number(state.frontier)
    or_starts, and_starts = ("start or ", "starts and ") if has_starts else ("", "")
    waits, wait, now, moves = ("waited", "waited", "at last", "moved") if state.is_lost else _PRESENT
    paths = f"{or_starts}{path} {waits}" if state.frontier == 1 else f"{and_starts}{path}s {wait}"
    if not waiting:
        long = f"{number} {paths} {now}. Peak: {most} {when}."
        return (long, f"{number} {paths}. Peak: {most} {when}", f"{number} {paths}")
    seen = f"the {path}s of {_lengths(waiting)} vertices" if has_starts else _seen(waiting, moves)
    return (
        f"{number} {paths} {now}, {seen}. Peak: {most} {when}.",
        f"{number} {paths}, of {_lengths(waiting)} vertices. Peak: {most} {when}",
        f"{number} {paths}. Peak: {most} {when}",
        f"{number} {paths}",
    )


def _boundary_words(state: RunState) -> tuple[str, ...]:
    """Return one line on a way along a boundary, in several lengths, the longest first."""
    width = vertices_text(state.width)
    if state.phase == "finished" and state.reason != "complete" and not state.states:
        return ("It ended while an order of the vertices was sought: nothing was counted.", "it ended before the count")
    if state.phase == "finished" and not state.states and not state.width:
        return ("No boundary was needed, and no states.", "no states")
    if state.phase == "finished":
        most = f"{quantity(state.states or 0, 'state')} at the most"
        return (f"Along a boundary of at most {width}: {most}.", f"{most}, boundary {state.width:,}", most)
    steps, done = len(state.expected_by_step), len(state.states_by_step)
    if state.seeking_order or not steps:
        seeking = f"{seeking_text(state.width).capitalize()}, {seconds_text(state.seconds)}."
        return (seeking, f"seeking an order, {width} so far" if state.width else "seeking a vertex order")
    now, peak = f"{short_number(state.states or 0)} states", short_number(max(state.expected_by_step.values()))
    if state.states == 1:
        now = "1 state"
    if text := pass_text(state.pass_number, state.passes):
        # Each pass meets the same states again.
        text = text.capitalize()
        return (
            f"{text} over the vertices: {now} now, about {peak} expected at most. Boundary: {width}.",
            f"{text}: {now}, about {peak} at most",
            f"{text}, {now}",
        )
    at = max(state.expected_by_step, key=lambda step: state.expected_by_step[step])
    return (
        f"Vertex {done:,} of {steps:,}: {now} now, about {peak} expected at vertex {at:,}. Boundary: {width}.",
        f"Vertex {done:,} of {steps:,}: {now}, about {peak} at vertex {at:,}",
        f"vertex {done:,} of {steps:,}, {now}",
    )


def _seen(waiting: dict[int, int], moves: str) -> str:
    if sum(waiting.values()) == 1:
        return f"of {_lengths(waiting)} vertices"
    if len(waiting) <= _LENGTHS_OF_A_WAVE:
        return f"all of {_lengths(waiting)} vertices: the wave {moves} to longer paths"
    commonest = max(waiting, key=lambda length: waiting[length])
    return f"of {_lengths(waiting)} vertices, most of them of {commonest}"


def _lengths(waiting: dict[int, int]) -> str:
    shortest, longest = min(waiting), max(waiting)
    if shortest == longest:
        return str(shortest)
    return f"{shortest} {'and' if longest == shortest + 1 else 'to'} {longest}"
