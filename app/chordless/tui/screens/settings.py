"""The Settings screen: theme, characters, threads, memory, folder of runs, and keys. A change holds at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.events import Key
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from chordless.runs.elsewhere import note_runs_of
from chordless.tui.actions import ACTIONS, BY_ID, Action, display_of, keys_of, usable_keys
from chordless.tui.marks import sentence
from chordless.tui.run_form import RESOURCES, expanded, faults_of, folder_fault
from chordless.tui.run_list import with_home
from chordless.tui.screens.page import Page
from chordless.tui.screens.question import Dialog
from chordless.tui.settings import LastChoices, default_runs_folder, settings_path
from chordless.tui.widgets.choice import Choice, PickList
from chordless.tui.widgets.form_row import FormLine, FormRow, GraphSuggester
from kernels_ti import ChordlessError

_ALL, _ASCII = "all", "ascii"
_CHARACTERS = ((_ALL, "all characters"), (_ASCII, "ASCII alone"))
_OF_RUNS = tuple(field for field in RESOURCES if field.name in ("threads", "memory"))
_KEYS_TITLE = "Keys: Enter changes one"
_KEYS_WIDTH, _TITLE_WIDTH = 14, 14


class AskKey(Dialog[str]):
    """Asks for the key of an action. The answer is a key as Textual names it, or "" for the usual one."""

    def __init__(self, action: Action, keys: str) -> None:
        super().__init__()
        self._action, self._keys = action, keys

    def compose(self) -> ComposeResult:
        """Put the question together."""
        with Vertical(classes="question"):
            yield Static(
                f"Press the key for {self._action.title}.\n\n{self._action.help}\nNow: {self._keys}. "
                "Backspace brings the usual key back, escape leaves it as it is.",
                markup=False,
            )

    def on_key(self, event: Key) -> None:
        """Take the key."""
        event.stop()
        self.dismiss("" if event.key == "backspace" else event.key)


class SettingsScreen(Page):
    """The settings, each beside what it is for. Text is taken when its field is left."""

    TAB = "settings"
    AUTO_FOCUS = "#theme"

    def parts(self) -> ComposeResult:
        """Build the screen."""
        app = self.dashboard
        with Container(id="settings-body"):
            with VerticalScroll(id="settings-form", can_focus=False):
                with FormLine("Theme"):
                    yield PickList(*(Option(name, id=name) for name in sorted(app.available_themes)), id="theme")
                with FormLine("Draw with"):
                    yield Choice(_CHARACTERS, _ASCII if app.ascii_only else _ALL, id="characters")
                for field in _OF_RUNS:
                    yield FormRow(field.name, field.label, "", empty=field.empty, help=f"{field.help}, each run")
                yield FormRow(
                    "runs_folder", "Runs in", "", empty=with_home(default_runs_folder()), help="a folder for each run",
                    suggester=GraphSuggester(specs=False),
                )  # fmt: skip
                yield Static(f"All this is kept in {with_home(settings_path())}", id="settings-place", markup=False)
            with Vertical(id="settings-keys"):
                yield Static(_KEYS_TITLE, classes="title")
                yield PickList(id="keys")
                yield Static(id="key-help", markup=False)

    def on_mount(self) -> None:
        """Show the present settings."""
        themes = self.query_one("#theme", PickList)
        themes.highlighted = themes.get_option_index(self.dashboard.theme)
        self._show_keys()

    def on_screen_resume(self) -> None:
        """Show what has changed elsewhere."""
        settings = self.dashboard.settings
        folder = settings.runs_folder
        shown = {field.name: getattr(settings.last, field.name) for field in _OF_RUNS}
        shown["runs_folder"] = "" if folder == default_runs_folder() else with_home(folder)
        for name, text in shown.items():
            for row in self.query(f"#row-{name}").results(FormRow):
                row.put(text)

    def on_screen_suspend(self) -> None:
        """Take what was typed last."""
        self._take()

    # Theme and characters

    @on(OptionList.OptionHighlighted, "#theme")
    def _show_theme(self, event: OptionList.OptionHighlighted) -> None:
        if self.query_one("#theme").has_focus:
            # The app keeps every change of the theme in the settings.
            self.dashboard.theme = str(event.option_id)

    @on(Choice.Changed, "#characters")
    def _draw_otherwise(self) -> None:
        self.dashboard.draw_with_ascii(self.query_one("#characters", Choice).chosen == _ASCII)
        self._show_keys()

    # Fields

    @on(Input.Changed)
    def _edited(self) -> None:
        faults = self._faults()
        for row in self.query(FormRow):
            row.show_fault(faults.get(row.name or ""))
        self._show_help()

    @on(Input.Blurred)
    def _take(self) -> None:
        """Keep each field that has no fault."""
        app, faults = self.dashboard, self._faults()
        typed = {row.name: row.value.strip() for row in self.query(FormRow) if row.name and row.name not in faults}
        before = app.settings
        folder = Path(expanded(typed.pop("runs_folder", str(before.runs_folder))) or default_runs_folder()).absolute()
        settings = replace(before, last=replace(before.last, **typed), runs_folder=folder)
        if settings == before:
            return
        if folder != before.runs_folder:
            try:
                # They stay in the list of runs.
                note_runs_of(before.runs_folder)
            except ChordlessError as error:
                self.notify(str(error), severity="warning")
        app.remember(settings)

    def _faults(self) -> dict[str, str]:
        typed = {row.name or "": row.value for row in self.query(FormRow)}
        folder = expanded(typed.pop("runs_folder", ""))
        faults = faults_of(LastChoices(**typed))
        fault = folder_fault(folder) if folder else None
        return faults if fault is None else {**faults, "runs_folder": fault}

    # Keys

    def _show_keys(self) -> None:
        keys = self.query_one("#keys", PickList)
        before = keys.highlighted
        keys.clear_options()
        keys.add_options(Option(self._line(action), id=action.id) for action in ACTIONS)
        keys.highlighted = before or 0

    def _line(self, action: Action) -> str:
        shown = display_of(self.dashboard, keys_of(action, self.dashboard.keys))
        return f"{shown:<{_KEYS_WIDTH}} {action.title:<{_TITLE_WIDTH}} {action.screen}".replace("[", r"\[")

    @on(OptionList.OptionHighlighted, "#keys")
    def _show_help(self) -> None:
        """Tell what the chosen key does, or what is wrong with a field: beside it there is room for a part."""
        faults, chosen = self._faults(), self.query_one("#keys", PickList).highlighted_option
        line = self.query_one("#key-help", Static)
        line.set_class(bool(faults), "-wrong")
        helped = "" if chosen is None else BY_ID[str(chosen.id)].help
        line.update("! " + "; ".join(faults.values()) if faults else helped)

    @on(OptionList.OptionSelected, "#keys")
    def _ask_key(self, event: OptionList.OptionSelected) -> None:
        app = self.dashboard
        action = BY_ID[str(event.option_id)]

        def answered(key: str | None) -> None:
            if key is not None:
                self._change_key(action, key)

        self.app.push_screen(AskKey(action, display_of(app, keys_of(action, app.keys))), answered)

    def _change_key(self, action: Action, key: str) -> None:
        app = self.dashboard
        others = {name: keys for name, keys in app.settings.keys.items() if name != action.id}
        wanted = {**others, action.id: key} if key else others
        faults = [fault for fault in usable_keys(wanted)[1] if fault not in usable_keys(others)[1]]
        if faults:
            fault = faults[0].partition("ignored: ")[2]
            self.notify(f"{sentence(fault)}.", severity="warning")
            return
        app.use_keys(wanted)
        self._show_keys()
