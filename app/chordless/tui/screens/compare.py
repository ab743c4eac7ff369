"""The Compare screen: facts, curves and cycles by length of two runs, side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from textual import work
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from chordless.protocol.events import Event, Progress
from chordless.protocol.recording import recorded
from chordless.runs import mailbox
from chordless.runs.directory import RunDirectory
from chordless.runs.state import RunState, graph_name
from chordless.tui import run_words, tile_words
from chordless.tui.actions import SCROLLING, bindings_of
from chordless.tui.run_list import ASKED
from chordless.tui.screens.page import Page
from chordless.tui.widgets.chart import EvolutionChart, end_of_axis, found_series, paths_series
from chordless.tui.widgets.frontier_view import FrontierView
from chordless.words.numbers import seconds_text, short_number, size_text
from kernels_ti import ChordlessError
from kernels_ti.errors import quantity

FRAMES, _SECONDS_OF_PLAYING = 200, 12.0
_COLUMNS_BESIDE_FACTS = 13  # Labels, gutters, padding


@dataclass(frozen=True)
class Fact:
    """One property of two runs, such as the graph or the device: its words for each run, the longest first."""

    label: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    differs: bool = False  # Whether the values differ although two runs of the same search must agree on them


class CountsTable(ScrollView, can_focus=True):
    """The counts of two runs: a line for each length with a count in either. Differences are marked."""

    BINDINGS = SCROLLING
    COMPONENT_CLASSES: ClassVar[set[str]] = {"counts--heading", "counts--same", "counts--different"}

    _headings = ("length", "", "", "B - A")
    _rows: Sequence[tuple[str, str, str, str]] = ()
    _widths: tuple[int, ...] = ()

    def show(self, first: dict[int, int], second: dict[int, int], first_title: str, second_title: str) -> None:
        """Show the counts of both runs, by length."""
        self._rows, self._headings = count_rows(first, second), ("length", first_title, second_title, "B - A")
        self._widths = tuple(max(len(row[column]) for row in [self._headings, *self._rows]) for column in range(4))
        self.virtual_size = Size(sum(self._widths) + 2 * 3, len(self._rows) + 1)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one visible line."""
        row = y - 1 + self.scroll_offset.y
        if y == 0:
            cells, styles = self._headings, ("heading", "heading")
        elif row < len(self._rows):
            cells = self._rows[row]
            styles = ("same", "same" if cells[3] == "=" else "different")
        else:
            return Strip.blank(self.size.width, self.rich_style)
        *texts, last = (f"{cell:>{width}}  " for cell, width in zip(cells, self._widths, strict=True))
        strip = Strip(
            [
                Segment(text, self.get_component_rich_style(f"counts--{style}"))
                for text, style in zip(("".join(texts), last), styles, strict=True)
            ]
        )
        return strip.crop_extend(self.scroll_offset.x, self.scroll_offset.x + self.size.width, self.rich_style)


class CompareScreen(Page):
    """Two runs side by side."""

    TAB = "compare"
    BINDINGS = bindings_of("compare")
    # Without focus, the screen stays scrolled to its top.
    AUTO_FOCUS = ""

    _names: Sequence[str] = ()
    _frames: Sequence[tuple[RunState, RunState]] = ()
    _shown = 0
    _is_playing = False

    def parts(self) -> ComposeResult:
        """Put the screen together."""
        with Container(id="compare-nothing"):
            yield Static("Nothing to compare yet: mark two runs in the history.", id="compare-nothing-words")
        with VerticalScroll(id="compare-body", can_focus=False):
            with Container(id="compare-facts"):
                yield Static(id="compare-labels")
                yield Static(id="compare-first")
                yield Static(id="compare-second")
            with Horizontal(id="compare-frontiers"):
                yield FrontierView(id="compare-first-frontier")
                yield FrontierView(id="compare-second-frontier")
            with Container(id="compare-views"):
                yield EvolutionChart(id="compare-chart")
                yield CountsTable(id="compare-counts")

    def on_mount(self) -> None:
        """Set the titles of the parts. They are empty at first."""
        self.query_one("#compare-body").display = False
        self.set_interval(_SECONDS_OF_PLAYING / FRAMES, self._next_frame)

    @work(exclusive=True)
    async def set_runs(self, directories: tuple[Path, Path]) -> None:
        """Read and show the recordings of two run directories."""
        try:
            first, second = await asyncio.to_thread(lambda: [load_frames(directory) for directory in directories])
        except (ChordlessError, OSError) as error:
            self.notify(str(error), severity="error")
            return
        self._names = [directory.resolve().name for directory in directories]
        self._frames, self._shown, self._is_playing = list(zip(first, second, strict=True)), FRAMES - 1, False
        self._show(*self._frames[-1])

    def action_scale(self) -> None:
        """Change the scale of the chart."""
        self.query_one(EvolutionChart).toggle_scale()

    def action_pause(self) -> None:
        """Play both recordings from start to end in the same time, or stop at the present frame."""
        self._is_playing = not self._is_playing and bool(self._frames)
        if self._is_playing and self._shown >= len(self._frames) - 1:
            self._shown = 0

    def _next_frame(self) -> None:
        if not self._is_playing or not self.is_current:
            return
        self.show_frame(self._shown + 1)
        self._is_playing = self._shown < len(self._frames) - 1

    def show_frame(self, frame: int) -> None:
        """Show both runs at a moment, 0 to `FRAMES` - 1. The last is their end."""
        self._shown = frame
        self._show(*self._frames[frame])

    def _show(self, first: RunState, second: RunState) -> None:
        if not self.query("#compare-labels"):
            # The dashboard is closing.
            return
        names = self._names
        ascii_only = self.dashboard.ascii_only
        facts = [
            Fact("run", _named("A", names[0]), _named("B", names[1])),
            *compare_facts(first, second, ascii_only=ascii_only),
        ]
        # While both are played they differ, of course.
        unequal = "" if self._shown < len(self._frames) - 1 else "*" if ascii_only else "≠"
        labels = [
            Content.assemble((f"{fact.label:<7}", "$foreground-muted"), (unequal * fact.differs, "bold $text-warning"))
            for fact in facts
        ]
        columns = {
            "#compare-labels": Content("\n").join(labels),
            "#compare-first": Content("\n".join(self._fitting(fact.first) for fact in facts)),
            "#compare-second": Content("\n".join(self._fitting(fact.second) for fact in facts)),
        }
        for selector, content in columns.items():
            self.query_one(selector, Static).update(content)
        self.query_one("#compare-first-frontier", FrontierView).show(first)
        self.query_one("#compare-second-frontier", FrontierView).show(second)
        self.query_one(EvolutionChart).show(
            (
                paths_series("paths", "A", first.frontier_by_length, first.thing),
                paths_series("other-paths", "B", second.frontier_by_length, second.thing),
                found_series("cycles", "A", first.cycles_by_length, first.thing),
                found_series("other-cycles", "B", second.cycles_by_length, second.thing),
            ),
            max(end_of_axis(first), end_of_axis(second)),
        )
        counts, both = self.query_one(CountsTable), _both(first, second)
        counts.border_title = f"{both} by length"
        counts.show(first.cycles_by_length, second.cycles_by_length, f"{first.thing}s A", f"{second.thing}s B")
        self.query_one("#compare-nothing").display = False
        body = self.query_one("#compare-body")
        if not body.display:
            body.display = True
            # Whether there is a scroll bar is known then.
            self.call_after_refresh(self.on_resize)

    def _fitting(self, words: tuple[str, ...]) -> str:
        """Return the words that fit in a column of facts, or else the last."""
        width = self.query_one("#compare-body").scrollable_content_region.width or self.size.width
        room = (width - _COLUMNS_BESIDE_FACTS) // 2
        return next((text for text in words if len(text) <= room), words[-1])

    def on_resize(self) -> None:
        """Tell what fits now."""
        if self._frames:
            self.show_frame(self._shown)


def load_run(directory: Path) -> RunState:
    """Read the recording of a run directory, and return the final state.

    Raise ChordlessError if the directory holds no run, or its recording is damaged.
    """
    run_directory = RunDirectory(directory)
    run_directory.command()
    state = RunState().after(recorded(run_directory.events))
    return state if mailbox.is_at_work(directory) else state.lost()


def load_frames(directory: Path) -> list[RunState]:
    """Read a run directory's recording, see `load_run`; return states at equal parts of the search, then its end."""
    end = load_run(directory)
    frames: list[RunState] = []
    state, batch = RunState(), list[tuple[float, Event]]()
    for when, event in recorded(RunDirectory(directory).events):
        if isinstance(event, Progress):
            due = min(int(FRAMES * event.seconds / max(end.seconds, 1e-9)), FRAMES - 1)
            if len(frames) < due:
                state, batch = state.after(batch), []
                frames += [state] * (due - len(frames))
        batch.append((when, event))
    return [*(_with_true_share(state, end) for state in frames), *[end] * (FRAMES - len(frames))]


def _with_true_share(state: RunState, end: RunState) -> RunState:
    """Replace the estimated share by the part of the cycles, which is known once all of them were found."""
    if end.reason != "complete" or not end.cycles or end.states is not None:
        return state
    return replace(state, share=state.cycles / end.cycles)


def compare_facts(first: RunState, second: RunState, *, ascii_only: bool) -> list[Fact]:
    """Return the properties of two runs, one for each line."""

    def fact(
        label: str, words: Callable[[RunState], tuple[str, ...]], same: Callable[[RunState], object] | None = None
    ) -> Fact:
        return Fact(label, words(first), words(second), same is not None and same(first) != same(second))

    counts_all = all(state.options.get("pick", "all") == "all" for state in (first, second))
    return [
        fact("graph", _graph, lambda state: (state.graph, state.n, state.m)),
        fact("search", _searched, lambda state: [state.options.get(key) for key in ASKED]),
        fact("on", lambda state: (run_words.device_words(state), state.arch)),
        fact("state", lambda state: _state(state, ascii_only), lambda state: (state.phase, state.reason)),
        fact(_both(first, second), _found, (lambda state: state.cycles_by_length) if counts_all else None),
        fact(first.step_title if first.thing == second.thing else "paths T", _paths),
    ]


def _named(letter: str, name: str) -> tuple[str, ...]:
    """Return the name of a run's folder. Its end, the time, tells it from others of the same graph."""
    words = name.split("-")
    return tuple(f"{letter}  {'-'.join(words[first:])}" for first in range(len(words)))


def _searched(state: RunState) -> tuple[str, ...]:
    words = run_words.search_words(state.options)
    word = run_words.picked_word(state.options)
    picked = "a sample, " if word == "sample" else f"a {word} {state.thing}, " if word else ""
    return (picked + words, words.removeprefix("all lengths, "), words.removesuffix(", all lengths"))


def _graph(state: RunState) -> tuple[str, ...]:
    return f"{state.graph}  {size_text(state.n, state.m)}", state.graph, graph_name(state.graph)


def _both(first: RunState, second: RunState) -> str:
    return f"{first.thing}s" if first.thing == second.thing else "found"


def _found(state: RunState) -> tuple[str, ...]:
    if state.options.get("pick") == "sample" and state.boundary:
        drawn = f"{state.cycles:,} drawn"
        return f"{drawn} at random from {state.boundary.get('drawn_from', 0):,}", drawn
    return _total(state.cycles, state)


def _state(state: RunState, ascii_only: bool) -> tuple[str, ...]:
    words = run_words.phase_words(state).text(ascii_only=ascii_only)
    if state.reason == "complete":
        times = run_words.times_words(state)
        return f"{words}: {', '.join(times)}", f"{words}: {times[0]}", words
    reached = run_words.reached_words(state)
    words += reached and f" at {reached}"
    return f"{words}, {seconds_text(state.seconds)}", words


def _paths(state: RunState) -> tuple[str, ...]:
    if state.states is not None:
        states = quantity(state.states, "state")
        return f"none: {states} at the most", f"none: {states}"
    if state.phase == "finished" and tile_words.paths_vary(state):
        return (f"about {short_number(state.paths)}",)
    return _total(state.paths, state)


def _total(count: int, state: RunState) -> tuple[str, ...]:
    has_rate = state.seconds > 0 and state.states is None
    rate = f"  {short_number(count / state.seconds)}/s" if has_rate else ""
    return f"{count:,}{rate}", f"{count:,}"


def count_rows(first: dict[int, int], second: dict[int, int]) -> list[tuple[str, str, str, str]]:
    """Return for each length the length, both counts, and ``=`` or the signed difference, as text."""
    rows = []
    for length in sorted(first.keys() | second.keys()):
        a, b = first.get(length, 0), second.get(length, 0)
        if a or b:
            rows.append((str(length), f"{a:,}", f"{b:,}", "=" if a == b else f"{b - a:+,}"))
    return rows
