"""The New screen: graph, cycles and device of a new run. Faults are shown before the start."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Input, Static

from chordless.runs.elsewhere import note_folder
from chordless.tui import run_form
from chordless.tui.actions import bindings_of, key_of
from chordless.tui.messages import StartRun
from chordless.tui.outlook import disk_words
from chordless.tui.run_list import with_home
from chordless.tui.screens.new_preview import OTHER_WAY, PreviewedForm
from chordless.tui.settings import ANY_PARITY, LastChoices
from chordless.tui.widgets.arch_field import ArchField
from chordless.tui.widgets.choice import Choice
from chordless.tui.widgets.form_row import FormLine, FormRow, GraphSuggester, TextField
from chordless.tui.widgets.graph_panel import GraphPanel
from chordless.tui.widgets.graph_preview import GraphPreview
from chordless.tui.widgets.graph_source import EXAMPLE, GraphSource, WeightsRow, kind_of
from chordless.tui.widgets.recent_runs import RecentRuns
from chordless.values import positive
from kernels_ti import ChordlessError
from kernels_ti.choices import PARITIES

_SECONDS_BETWEEN_LOOKS = 3.0
_PREVIEW_FROM, _TWO_COLUMNS_FROM = 80, 120
_DRAWING_BELOW_FROM, _HIGH_FROM = 30, 40
_WHAT_IT_IS = (
    "A chordless cycle is a ring of vertices in which only those next to each other are joined. This finds them all."
)
_WHAT_PATHS_ARE = (
    "On a chordless path from one vertex to another only those next to each other are joined. This finds them all."
)
_THINGS = (("cycles", "cycles"), ("paths", "paths S to T"), ("all-paths", "all paths"))
_WHAT = (
    ("count", "count them, by length"),
    ("boundary", "count them along a boundary"),
    ("list", "list them, to browse and draw"),
    ("longest", "the longest"),
    ("shortest", "the shortest"),
    ("sample", "some at random, a heat map"),
)
_PARITY = ((ANY_PARITY, "any number"), *((parity, parity) for parity in PARITIES))
_GROWTH = (
    ("two-ended", "at both ends: the fast way"),
    ("paper", "at one end, as in the paper"),
)
_NOT_KEPT = f"none: a run on {run_form.WITHOUT_FOLDER} is not kept"
_FIELDS = {
    field.name: field.label for field in (*run_form.ENDS, run_form.WEIGHTS, *run_form.LENGTHS, *run_form.RESOURCES)
} | {"directory": "Run folder"}
_LABELS = {"what": "Find", "expansion": "Paths grow", **_FIELDS}


class NewScreen(PreviewedForm):
    """The form for a new run."""

    TAB = "new"
    BINDINGS = bindings_of("new")
    # A digit that came with the key of the tab must not fall into a field.
    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_PREVIEW_FROM, "-beside"), (_TWO_COLUMNS_FROM, "-wide")]
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (_DRAWING_BELOW_FROM, "-middle"), (_HIGH_FROM, "-high")]
        self._asked_to_start: LastChoices | None = None  # What is started as soon as the graph is known
        self._growth_before: str | None = None  # The choice before a key has begun one run breadth first
        self._usual: dict[str, str] = {}

    def parts(self) -> ComposeResult:
        """Build the form with the choices of the last run, except its folder, and the graph of the command line."""
        settings = self.dashboard.settings
        last = settings.last
        graph = self.dashboard.graph or last.graph or EXAMPLE
        # How it is read, and the ends of its paths, were chosen for the graph of the last run.
        if graph != last.graph:
            last = replace(last, source="spec", things="cycles", path_start="", path_end="", weight="")
        yield Static(id="new-words")
        yield Static("", id="new-title", classes="title")
        with Horizontal(id="new-body"):
            with VerticalScroll(id="form", can_focus=False):
                yield GraphSource(graph, overlap=last.source == "overlap", recent=settings.recent)
                with FormLine("Look for"):
                    yield Choice(_THINGS, last.things, id="things")
                yield from _rows_of(run_form.ENDS, last)
                with FormLine("Find"):
                    yield Choice(_WHAT, last.find, id="what")
                yield WeightsRow(last.weight)
                yield from _rows_of(run_form.LENGTHS[:2], last)
                with FormLine("Vertices"):
                    yield Choice(_PARITY, last.parity, id="parity")
                yield from _rows_of(run_form.LENGTHS[2:], last)
                with FormLine("Run on"):
                    yield ArchField(last.arch)
                yield from _rows_of(run_form.RESOURCES, last)
                with FormLine("Paths grow"):
                    yield Choice(_GROWTH, last.expansion, id="expansion")
                suggester = GraphSuggester(specs=False)
                yield FormRow("directory", "Run folder", "", empty="a new one", suggester=suggester)
            with Vertical(id="new-right"):
                yield GraphPreview()
                yield RecentRuns()
        with Horizontal(id="start-bar"):
            yield Button("Start", id="start", variant="primary", action="screen.start")
            yield Static(id="status", markup=False)

    def on_mount(self) -> None:
        """Show the status of the first choices."""
        self._way = self._choices().find
        if self.app.size.width >= _TWO_COLUMNS_FROM and self.app.size.height >= _HIGH_FROM:
            self.query_one(GraphPanel).unfold("examples")
        self._show_status()
        self.set_interval(_SECONDS_BETWEEN_LOOKS, self._look_at_runs)
        if self.dashboard.is_beginning and self.is_current:
            if self.dashboard.graph:
                self.query_one("#start").focus()
            else:
                self.query_one("#graph", TextField).offer()

    def on_screen_resume(self) -> None:
        """Apply what may have changed while another screen was shown."""
        self._asked_to_start = None
        usual = {name: getattr(self.dashboard.settings.last, name) for name in ("threads", "memory")}
        for name, text in usual.items():
            if text != self._usual.get(name, text):
                # The Settings screen has changed it.
                self.query_one(f"#row-{name}", FormRow).put(text)
        self._usual = usual
        source = self.query_one(GraphSource)
        source.show_recent(self.dashboard.settings.recent)
        source.look_again()
        self.query_one(ArchField).look()
        self.query_one(RecentRuns).look(self.dashboard.settings.runs_folder)
        self.on_run_changed()
        session, directory = self.dashboard.session, self.query_one("#row-directory", FormRow)
        if session is not None and session.is_in(Path(run_form.expanded(directory.value))):
            # A run folder can hold only one run.
            directory.put("")

    def _look_at_runs(self) -> None:
        """Read the folder of runs again: another process may be at work in one."""
        if self.is_current:
            self.query_one(RecentRuns).look(self.dashboard.settings.runs_folder)

    def on_run_changed(self) -> None:
        """Say whether a run of this dashboard is going on."""
        title, is_going_on = self.query_one("#new-title", Static), self.dashboard.engine_session() is not None
        title.display = is_going_on
        if is_going_on:
            title.update(f"1 run is going on: press {key_of(self, 'everywhere.show_run')} to see it.")

    def on_screen_suspend(self) -> None:
        """Stop testing devices and estimating, so that a run has the machine to itself."""
        self.query_one(ArchField).stop_looking()
        self.query_one(GraphPreview).pause()

    def action_go_to(self) -> None:
        """Move the focus to the field of the graph."""
        self.set_focus(self.query_one("#graph"))

    def action_start(self) -> None:
        """Start the run. If a field is wrong, move the focus there."""
        fault = self._first_fault()
        if fault is not None:
            self.query_one(f"#{fault[0]}").focus()
        elif self._is_known:
            self._begin()
        else:
            self._asked_to_start = self._choices()

    def action_breadth_first(self) -> None:
        """Start one search in which paths grow at one end, level by level; the next one grows as before."""
        what, growth = self.query_one("#what", Choice), self.query_one("#expansion", Choice)
        if what.chosen not in ("count", "list"):
            what.choose("count")
        self._growth_before = growth.chosen
        growth.choose("paper")
        self.action_start()

    def action_other_way(self) -> None:
        """Change between a count by a search and one along a boundary."""
        choices = self._choices()
        other = OTHER_WAY.get(choices.find)
        if other is None:
            self.notify("Only a count can go along a boundary: choose one under Find.")
        elif not self._is_estimated:
            self.notify("The estimate is not there yet: it tells which way is sooner.")
        elif faults := run_form.faults_of(replace(choices, find=other)):
            name, fault = next(iter(faults.items()))
            self.notify(f"Not along a boundary. {_LABELS[name]}: {fault}")
        else:
            self.query_one("#what", Choice).choose(other)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        """Enter in a text field goes on to the next field. Only Start starts."""
        self.focus_next()

    @on(Input.Changed)
    @on(Choice.Changed)
    @on(ArchField.Probed)
    @on(GraphPreview.Changed)
    @on(RecentRuns.Changed)
    def _edited(self) -> None:
        self._show_status()

    def on_resize(self) -> None:
        """Show beside Start what fits."""
        # Its new size is known once it is laid out.
        self.call_after_refresh(self._show_status)

    @on(GraphSource.Checked)
    @on(WeightsRow.Checked)
    def _checked(self) -> None:
        self._show_status()
        if self._asked_to_start is not None and self._is_known:
            asked, self._asked_to_start = self._asked_to_start, None
            choices = self._choices()
            # What was changed since is not what the user asked to start; another reading may have been found to fit.
            if replace(asked, source=choices.source) == choices:
                self.action_start()

    @property
    def _is_known(self) -> bool:
        """Whether the graph and its weights were read, with or without success."""
        return self.query_one(GraphSource).is_known and self.query_one(WeightsRow).is_known

    def _choices(self) -> LastChoices:
        question = self.query_one(GraphSource).question
        typed = {name: self.query_one(f"#row-{name}", FormRow).value for name in _FIELDS}
        things = self.query_one("#things", Choice).chosen
        # The word that an empty field shows may be typed as well.
        shown = {name: self.query_one(f"#row-{name}", FormRow).empty for name in typed}
        typed |= {name: "" for name, text in typed.items() if text.strip() == shown[name]}
        return LastChoices(
            things=things,
            source=kind_of(question.text, question.reading),
            graph=question.text.strip(),
            arch=self.query_one(ArchField).chosen,
            find=self.query_one("#what", Choice).chosen,
            expansion=self.query_one("#expansion", Choice).chosen,
            parity=self.query_one("#parity", Choice).chosen,
            **typed,
        )

    def _first_fault(self) -> tuple[str, str] | None:
        """Return the id of the first wrong field, and the message for the foot of the form."""
        source, choices = self.query_one(GraphSource), self._choices()
        facts, weights = source.facts, self.query_one(WeightsRow)
        weighted = facts.loaded if facts is not None and source.is_known and choices.is_best else None
        weights.look(choices.weight, weighted)
        faults = self._faults_of_ends(choices)
        faults |= (
            run_form.faults_of(choices, facts.n, facts.shortest) if facts is not None else run_form.faults_of(choices)
        )
        if weights.fault is not None:
            faults[run_form.WEIGHTS.name] = weights.fault
        for name in _FIELDS:
            self.query_one(f"#row-{name}", FormRow).show_fault(faults.get(name))
        kept_in = f"in {with_home(self._place(choices))}"
        self.query_one("#row-directory", FormRow).help = (
            _NOT_KEPT if choices.arch == run_form.WITHOUT_FOLDER else kept_in
        )
        if source.is_known and source.fault is not None:
            return "graph", f"Graph: {source.fault}"
        # The workers of a cluster may have what this machine has not.
        arch = None if choices.cluster.strip() else self.query_one(ArchField).fault
        if arch is not None:
            return "arch", f"Run on: {arch}"
        for name, fault in faults.items():
            return name.replace("_", "-"), f"{_LABELS[name]}: {fault}"
        return None

    def _faults_of_ends(self, choices: LastChoices) -> dict[str, str]:
        facts = self.query_one(GraphSource).facts
        return run_form.faults_of_ends(choices, None if facts is None or facts.loaded is None else facts.loaded.graph)

    def _place(self, choices: LastChoices) -> Path:
        """Return the folder in which the folder of the run will be."""
        typed = run_form.expanded(choices.directory)
        return Path(os.path.abspath(typed)).parent if typed else self.dashboard.settings.runs_folder

    def _show_status(self) -> None:
        if not self.query("#status"):
            # The dashboard is closing.
            return
        self._name_things()
        source, fault = self.query_one(GraphSource), self._first_fault()
        status = self.query_one("#status", Static)
        self.query_one("#start", Button).disabled = fault is not None
        self._preview(source)
        self._advise()
        is_wrong = fault is not None
        if fault is not None:
            status.update(f"! {fault[1]}")
        elif not source.is_known:
            status.update(f"looking at {source.question.text.strip()} ...")
        else:
            choices = self._choices()
            lines = [*source.notes, run_form.sentence_of(choices)]
            outlook, size = self._outlook, ""
            if choices.find == "list" and outlook is not None and source.facts is not None and source.facts.n:
                limit = positive(choices.limit) if choices.limit.strip() else None
                size, is_wrong = disk_words(outlook.cycles, source.facts.n, limit, self._place(choices))
            if last := size or self._times(choices):
                lines.append(last)
                # The last line tells most: what does not fit is left out from the beginning.
                while len(lines) > 1 and _rows(lines, status.content_size.width) > status.content_size.height > 0:
                    del lines[0]
            status.update("\n".join(lines))
        status.set_class(is_wrong, "-wrong")

    def _name_things(self) -> None:
        """Speak of cycles or of paths, and show the fields that the chosen ones have."""
        choices = self._choices()
        self.query_one("#new-words", Static).update(_WHAT_PATHS_ARE if choices.is_of_paths else _WHAT_IT_IS)
        self.query_one("#row-min_length", FormRow).empty = str(run_form.shortest_of(choices))
        for field in run_form.ENDS:
            self.query_one(f"#row-{field.name}").display = choices.things == "paths"
        self.query_one("#row-weight").display = choices.is_best

    def _begin(self) -> None:
        choices, question = self._choices(), self.query_one(GraphSource).question
        # The folder is not remembered: it can hold only one run. Neither is a way that an estimate has chosen.
        last = replace(choices, directory="", find="count" if self._is_advised else choices.find)
        if self._growth_before is not None:
            last = replace(last, expansion=self._growth_before)
            self.query_one("#expansion", Choice).choose(self._growth_before)
            self._growth_before = None
        self.dashboard.remember(replace(self.dashboard.settings, last=last))
        self._usual = {"threads": last.threads, "memory": last.memory}
        graph = run_form.graph_source(choices.graph)
        directory = (
            None if choices.arch == run_form.WITHOUT_FOLDER else self._directory(choices, graph, question.reading)
        )
        command = run_form.command_of(choices, graph, directory, reading=question.reading, types=question.types)
        self.post_message(StartRun(command, expected=self._expected(choices)))

    def _directory(self, choices: LastChoices, graph: str, reading: str) -> Path:
        runs_folder = self.dashboard.settings.runs_folder
        if not choices.directory.strip():
            return run_form.run_folder(runs_folder, graph, reading)
        directory = Path(run_form.expanded(choices.directory)).absolute()
        try:
            note_folder(directory)
        except ChordlessError as error:
            self.notify(f"{error}; the run will not be in the list of runs", severity="warning")
        return directory


def _rows_of(fields: Iterable[run_form.Field], last: LastChoices) -> Iterable[FormRow]:
    for field in fields:
        yield FormRow(field.name, field.label, getattr(last, field.name), empty=field.empty, help=field.help)


def _rows(lines: list[str], width: int) -> int:
    return sum(len(textwrap.wrap(line, max(width, 1))) for line in lines)
