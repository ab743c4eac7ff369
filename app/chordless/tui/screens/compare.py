"""The Compare screen: facts, curves and cycles by length of two runs, side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Static

from chordless.protocol.recording import recorded
from chordless.runs import mailbox
from chordless.runs.directory import RunDirectory
from chordless.runs.state import RunState
from chordless.tui import run_words
from chordless.tui.actions import bindings_of
from chordless.tui.widgets.chart import CYCLES_MEANING, PATHS_MEANING, EvolutionChart
from chordless.tui.widgets.counts_table import CountsTable
from chordless.tui.widgets.plot import Series
from chordless.tui.widgets.tab_bar import TabBar
from chordless.words.numbers import seconds_text, share_text, short_number
from kernels_ti import ChordlessError

if TYPE_CHECKING:
    from chordless.tui.app import ChordlessApp


@dataclass(frozen=True)
class Fact:
    """One property of two runs, such as the graph or the device.

    Parameters
    ----------
    label : str
    first, second : str
    differs : bool
        Whether the values differ although two runs of the same search must agree on them.
    """

    label: str
    first: str
    second: str
    differs: bool = False


class CompareScreen(Screen[None]):
    """Two runs side by side."""

    BINDINGS = bindings_of("compare")
    # Without focus, the screen stays scrolled to its top.
    AUTO_FOCUS = ""

    def compose(self) -> ComposeResult:
        """Put the screen together."""
        yield TabBar("compare")
        with Container(id="compare-nothing"):
            yield Static("Nothing to compare yet: mark two runs in the history.", id="compare-nothing-words")
        with VerticalScroll(id="compare-body", can_focus=False):
            with Container(id="compare-facts"):
                yield Static(id="compare-labels")
                yield Static(id="compare-first")
                yield Static(id="compare-second")
            with Container(id="compare-views"):
                yield EvolutionChart(id="compare-chart")
                yield CountsTable(id="compare-counts")
        yield Footer()

    def on_mount(self) -> None:
        """Set the titles of the parts. They are empty at first."""
        self.query_one("#compare-counts").border_title = "cycles by length"
        self.query_one("#compare-body").display = False

    def set_runs(self, directories: tuple[Path, Path]) -> None:
        """Read and show the recordings of two runs.

        Parameters
        ----------
        directories : (Path, Path)
            Run directories.
        """
        self.run_worker(partial(self._load, directories), thread=True, exclusive=True)

    def action_scale(self) -> None:
        """Change the scale of the chart."""
        self.query_one(EvolutionChart).toggle_scale()

    def _load(self, directories: tuple[Path, Path]) -> None:
        try:
            states = [load_run(directory) for directory in directories]
        except (ChordlessError, OSError) as error:
            self.app.call_from_thread(self.notify, str(error), severity="error", markup=False, timeout=15)
            return
        names = [directory.resolve().name for directory in directories]
        self.app.call_from_thread(self._show, names, states)

    def _show(self, names: list[str], states: list[RunState]) -> None:
        if not self.query("#compare-labels"):
            # The dashboard is closing.
            return
        ascii_only = cast("ChordlessApp", self.app).ascii_only
        first, second = states
        facts = [Fact("run", f"A  {names[0]}", f"B  {names[1]}"), *compare_facts(first, second, ascii_only=ascii_only)]
        unequal = "*" if ascii_only else "≠"
        labels = [
            Content.assemble((f"{fact.label:<7}", "$foreground-muted"), (unequal * fact.differs, "bold $text-warning"))
            for fact in facts
        ]
        columns = {
            "#compare-labels": Content("\n").join(labels),
            "#compare-first": Content("\n".join(fact.first for fact in facts)),
            "#compare-second": Content("\n".join(fact.second for fact in facts)),
        }
        for selector, content in columns.items():
            self.query_one(selector, Static).update(content)
        self.query_one(EvolutionChart).show(
            (
                Series("paths", "paths A", PATHS_MEANING, first.frontier_by_length),
                Series("other-paths", "paths B", PATHS_MEANING, second.frontier_by_length),
                Series("cycles", "cycles A", CYCLES_MEANING, first.cycles_by_length),
                Series("other-cycles", "cycles B", CYCLES_MEANING, second.cycles_by_length),
            )
        )
        self.query_one(CountsTable).show(first.cycles_by_length, second.cycles_by_length)
        self.query_one("#compare-nothing").display = False
        self.query_one("#compare-body").display = True


def load_run(directory: Path) -> RunState:
    """Read the recording of a run directory, and return the final state.

    Parameters
    ----------
    directory : Path

    Raises
    ------
    ChordlessError
        If the directory holds no run, or its recording is damaged.
    """
    run_directory = RunDirectory(directory)
    run_directory.command()
    state = RunState().after(recorded(run_directory.events))
    return state if mailbox.is_at_work(directory) else state.lost()


def compare_facts(first: RunState, second: RunState, *, ascii_only: bool) -> list[Fact]:
    """Return the properties of two runs, one for each line."""

    def fact(label: str, words: Callable[[RunState], str], same: Callable[[RunState], object] | None = None) -> Fact:
        return Fact(label, words(first), words(second), same is not None and same(first) != same(second))

    return [
        fact("graph", _graph, lambda state: (state.graph, state.n, state.m)),
        fact(
            "search",
            lambda state: run_words.search_words(state.options),
            lambda state: [state.options.get(key) for key in _WHAT_IS_SEARCHED],
        ),
        fact("on", run_words.device_words),
        fact("state", lambda state: _state(state, ascii_only), lambda state: (state.phase, state.reason)),
        fact("cycles", lambda state: _total(state.cycles, state), lambda state: state.cycles_by_length),
        fact("paths", _paths),
    ]


_WHAT_IS_SEARCHED = ("min_length", "max_length", "through", "through_edges", "avoid", "avoid_edges", "part")


def _graph(state: RunState) -> str:
    return f"{state.graph}  {state.n:,} vertices, {state.m:,} edges"


def _state(state: RunState, ascii_only: bool) -> str:
    words = run_words.phase_words(state).text(ascii_only=ascii_only)
    if state.reason == "complete":
        return f"{words}: {', '.join(run_words.times_words(state))}"
    return f"{words} at {share_text(state.share) if state.share else '0%'}, {seconds_text(state.seconds)}"


def _paths(state: RunState) -> str:
    if state.phase == "finished" and run_words.paths_vary(state):
        return f"about {short_number(state.paths)}"
    return _total(state.paths, state)


def _total(count: int, state: RunState) -> str:
    return f"{count:,}" + (f"  {short_number(count / state.seconds)}/s" if state.seconds > 0 else "")
