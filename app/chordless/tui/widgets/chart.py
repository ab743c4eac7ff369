"""The evolution chart: chordless paths and chordless cycles by length, of one run or of two."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.strip import Strip

from chordless.runs.state import RunState
from chordless.tui.widgets.glyphs import is_ascii
from chordless.tui.widgets.picture import Picture
from chordless.tui.widgets.plot import LOOKS, ON, Series, draw

PATHS_MEANING = "chordless paths looked at, by number of vertices"
BEGUN_MEANING = "begun paths that were looked at, by number of vertices"
STATES_MEANING = "classes of sets of vertices, when that many vertices have come"
EXPECTED_MEANING = "about how many there will be, by the width of the boundary"
FOUND_MEANING = "chordless {}s found, by length"


def paths_series(part: str, letter: str, frontier_by_length: dict[int, int], thing: str) -> Series:
    """Return the curve of the paths that a search for cycles or paths has looked at."""
    of, meaning = ("begun paths", BEGUN_MEANING) if thing == "path" else ("paths", PATHS_MEANING)
    return Series(part, f"{of} {letter}", meaning, frontier_by_length)


def found_series(part: str, letter: str, found_by_length: dict[int, int], thing: str) -> Series:
    """Return the curve of the cycles or paths that a search has found."""
    return Series(part, f"{thing}s {letter}", FOUND_MEANING.format(thing), found_by_length)


def series_of(state: RunState, *, by_step: bool = False) -> tuple[Series, ...]:
    """Return the curves of a run: paths and cycles by length, or along a boundary the states by step.

    The paths that wait have a picture of their own, see `frontier_view`.
    """
    if by_step:
        return (
            Series("waiting", "states expected", EXPECTED_MEANING, state.expected_by_step),
            Series("paths", "states held", STATES_MEANING, state.states_by_step),
        )
    found = found_series("cycles", "C", state.cycles_by_length, state.thing)
    # A count along a boundary has no paths.
    has_paths = state.states is None
    return (*[paths_series("paths", "T", state.frontier_by_length, state.thing)] * has_paths, found)


def end_of_axis(state: RunState, *, by_step: bool = False) -> int:
    """Return the last length or step of the axis: rounded up while a search goes on, so that the frontier moves.

    It is rounded up to 8, 12, 16, 24, 32, 48 and so on. Otherwise the wave would always stand at the right edge.
    """
    if by_step:
        return len(state.expected_by_step)
    longest = max([*state.frontier_by_length, *state.cycles_by_length, 0])
    if state.phase not in ("running", "paused"):
        return longest
    step = 8
    while step < longest:
        step = step * 3 // 2 if step.bit_count() == 1 else step * 4 // 3
    return max(min(step, state.n, state.options.get("max_length") or state.n), longest)


class EvolutionChart(Picture, can_focus=True):
    """Curves of counts by length. They are drawn again only after a change of counts, scale, size or theme.

    With the focus it has a cursor, which the arrow keys move: it reads the counts of a length.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", show=False),
        Binding("right", "move(1)", show=False),
        Binding("home", "move(-1_000_000)", show=False),
        Binding("end", "move(1_000_000)", show=False),
        Binding("escape", "leave", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"chart--{part}" for part in (*LOOKS, "axis", "text")}

    _series: tuple[Series, ...] = ()
    _longest = 0
    _nothing = ""
    _is_log = True
    _cursor: int | None = None

    def show(self, series: tuple[Series, ...], longest: int = 0, nothing: str = "") -> None:
        """Show these curves on an axis that goes on to the length `longest` at least, or without counts `nothing`."""
        if (series, longest, nothing) != (self._series, self._longest, self._nothing):
            self._series, self._longest, self._nothing = series, longest, nothing
            self.draw_again()

    @property
    def lengths(self) -> list[int]:
        """The lengths that have counts."""
        return sorted({length for one in self._series for length, count in one.counts.items() if count})

    def action_move(self, steps: int) -> None:
        """Move the cursor to another length that has counts."""
        if lengths := self.lengths:
            here = lengths.index(self._cursor) if self._cursor in lengths else len(lengths) // 2
            self.go_to(lengths[min(max(here + steps, 0), len(lengths) - 1)])

    def go_to(self, length: int) -> None:
        """Move the cursor to a length."""
        self._cursor = length
        self.draw_again()

    def action_leave(self) -> None:
        """Hide the cursor."""
        self.screen.set_focus(None)

    def on_focus(self) -> None:
        """Show the cursor."""
        self.action_move(0)

    def on_blur(self) -> None:
        """Hide the cursor. It comes back where it was."""
        self.draw_again()

    def toggle_scale(self) -> None:
        """Change between a logarithmic and a linear scale."""
        self._is_log = not self._is_log
        self.draw_again()

    def drawn(self, width: int, height: int) -> list[Strip]:
        """Draw the curves."""
        series, longest, ascii_only = self._series, self._longest, is_ascii(self)
        cursor = self._cursor if self.has_focus else None
        rows = draw(
            series, width, height,
            log=self._is_log, ascii_only=ascii_only, longest=longest, cursor=cursor, nothing=self._nothing,
        )  # fmt: skip
        styles = {part: self.get_component_rich_style(f"chart--{part}") for part in (*LOOKS, "axis", "text")}
        for fill in (part for part, look in LOOKS.items() if look.filled):
            behind = Style(bgcolor=styles[fill].color)
            styles |= {part + ON + fill: styles[part] + behind for part in (*LOOKS, "axis", "text")}
        return [Strip([Segment(text, styles[part]) for text, part in row if text], width) for row in rows]
