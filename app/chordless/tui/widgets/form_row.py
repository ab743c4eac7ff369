"""The fields of a form: text that obeys keys in their order, completions, and lines of a label, a field and help."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal
from textual.events import Key, Paste
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Static

from chordless.graphs.generators import known_kinds
from chordless.tui.actions import KEYS_OF_TABS

_ACTIONS = {binding.key: binding.action for binding in Binding.make_bindings(Input.BINDINGS)}
_MOST_ENTRIES = 2000


class TextField(Input):
    """An `Input` that carries out an editing key at once.

    `Input` inserts a letter at once, but an editing key first travels to the screen and back. Letters that were typed
    meanwhile came before it: ctrl+u and "petersen", typed while the machine was busy, left an empty field.
    """

    _is_offered = False

    def offer(self) -> None:
        """Take the focus without a wish of the user: until something is typed, digits still lead to the screens."""
        self._is_offered = True
        # `focus` would come after the keys that wait already.
        self.screen.set_focus(self)

    def on_blur(self) -> None:
        """Take digits as text the next time."""
        # If the whole terminal loses the focus, this field gets it back.
        self._is_offered = self._is_offered and not self.app.app_focus

    def takes(self, event: Key) -> bool:
        """Return whether a key may be for this field. Once one has edited it, digits are for it too."""
        if self._is_offered and event.key.isdecimal():
            return False
        if event.is_printable or event.key in _ACTIONS:
            self.take_digits()
        # Other keys wait for the letters before them, which this field may not have taken yet.
        return not self._is_offered

    def on_paste(self, event: Paste) -> None:
        """Tell that the field, which takes one line, has left out the others."""
        if len(event.text.rstrip().splitlines()) > 1:
            words = "Only the first line was pasted: a field has one. Name a file for a graph of several lines."
            self.app.notify(words, severity="warning")

    def on_mouse_down(self) -> None:
        """Take digits as text: the user has gone to this field."""
        self.take_digits()

    def take_digits(self) -> None:
        """Take digits as text from now on: the user edits this field."""
        if self._is_offered:
            self._is_offered = False
            self.screen.refresh_bindings()

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return whether a key is a letter for this field. Alt and a digit are none, whatever the terminal sends."""
        is_screen = key in KEYS_OF_TABS or (self._is_offered and key.isdecimal())
        return not is_screen and super().check_consume_key(key, character)

    async def on_key(self, event: Key) -> None:
        """Carry out an editing key."""
        action = _ACTIONS.get(event.key)
        if action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)


class FormLine(Horizontal):
    """A line of a form with any kind of field. It has the class ``-focused`` while its field has the focus."""

    def __init__(self, label: str, *fields: Widget, id: str | None = None, name: str | None = None) -> None:
        super().__init__(Static(label, classes="label", markup=False), *fields, id=id, name=name)

    def on_descendant_focus(self) -> None:
        """Make the label stand out."""
        self.add_class("-focused")

    def on_descendant_blur(self) -> None:
        """Make the label as it was."""
        self.remove_class("-focused")


class FormRow(FormLine):
    """A line of a form with a text field. It has the class ``-wrong`` while the field has a fault.

    `value` is the first content, `empty` is shown in the empty field as its meaning, and `help` stands beside the field
    while it has no fault.
    """

    def __init__(
        self, name: str, label: str, value: str, *, empty: str = "", help: str = "", suggester: Suggester | None = None
    ) -> None:
        self._help = help
        self.field: Input = TextField(value, empty, id=name.replace("_", "-"), compact=True, suggester=suggester)
        self._beside = Static(help, classes="beside", markup=False)
        super().__init__(label, self.field, self._beside, id=f"row-{name}", name=name)

    def on_mount(self) -> None:
        """Show the beginning of a long text."""
        self.call_after_refresh(self._show_beginning)

    def on_descendant_blur(self) -> None:
        """Show the beginning of a long text when the field loses the focus."""
        # If the whole terminal loses the focus, the cursor stays where it is.
        if self.app.app_focus:
            self._show_beginning()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        """Enter goes on to the next field. Only Start starts."""
        event.stop()
        self.screen.focus_next()

    def put(self, text: str) -> None:
        """Replace the content of the field."""
        self.field.value = text
        self._show_beginning()

    def _show_beginning(self) -> None:
        # There are no screens while the dashboard is closing. The screen knows of a new focus before the field does.
        if self.app.screen_stack and self.screen.focused is not self.field:
            self.field.cursor_position = 0

    @property
    def value(self) -> str:
        """The content of the field."""
        return self.field.value

    @property
    def empty(self) -> str:
        """The meaning of the empty field, which it shows."""
        return self.field.placeholder

    @empty.setter
    def empty(self, text: str) -> None:
        self.field.placeholder = text

    @property
    def help(self) -> str:
        """The text beside the field while it has no fault."""
        return self._help

    @help.setter
    def help(self, text: str) -> None:
        self._help = text
        if not self.has_class("-wrong"):
            self._beside.update(text)

    def show_fault(self, fault: str | None) -> None:
        """Show a fault beside the field. None removes it."""
        self.set_class(fault is not None, "-wrong")
        self._beside.update(self._help if fault is None else f"! {fault}")


class GraphSuggester(Suggester):
    """Completes paths, and with `specs` specs, too; `recent` returns the recent graphs, the newest first."""

    def __init__(self, recent: Callable[[], Iterable[str]] = tuple, *, specs: bool = True) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._recent = recent
        self._completes_graphs = specs
        self._specs = [kind.example for kind in known_kinds()] if specs else []

    async def get_suggestion(self, value: str) -> str | None:
        """Return a known name that begins with `value`, or None."""
        for known in (*self._recent(), *self._specs):
            if known.startswith(value) and known != value:
                return known
        return await asyncio.to_thread(complete_path, value, types_first=not self._completes_graphs)


def complete_path(text: str, *, types_first: bool = False) -> str | None:
    """Return the first path that begins with `text`, or None. A folder gets a slash at its end.

    The types file of a food web lies beside the web and has almost the same name. Such files come last, or first with
    `types_first`.
    """
    folder, start = os.path.split(text)
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:
            found = [
                f"{entry.name}{os.sep * entry.is_dir()}"
                for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)
                if entry.name.startswith(start) and (start or not entry.name.startswith("."))
            ]
    except OSError:
        # There is no such folder.
        return None
    first = min(found, key=lambda name: (name.endswith(".clu") != types_first, name), default=start)
    return None if first == start else os.path.join(folder, first)
