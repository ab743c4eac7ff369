"""Radio buttons whose state is visible without colour, and a list to choose from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual import on
from textual.binding import BindingType
from textual.events import Mount
from textual.widgets import OptionList, RadioButton, RadioSet

from chordless.tui.actions import list_bindings
from chordless.tui.widgets.glyphs import is_ascii


class _Mark(RadioButton):
    """A radio button whose brackets are empty while it is off."""

    BUTTON_LEFT, BUTTON_INNER, BUTTON_RIGHT = "", "( )", ""

    def watch_value(self) -> None:
        """Draw the new state."""
        self._draw()
        super().watch_value()

    @on(Mount)
    def _draw(self) -> None:
        mark = "x" if is_ascii(self) else "●"
        self.BUTTON_INNER = f"({mark if self.value else ' '})"
        self.refresh()


class Choice(RadioSet):
    """A choice of one option out of several, each with a name and a label; `chosen` is the name of the first choice."""

    BINDINGS: ClassVar[list[BindingType]] = list_bindings(up="previous_button", down="next_button")

    def __init__(self, options: Sequence[tuple[str, str]], chosen: str, *, id: str) -> None:
        self._names = [name for name, _ in options]
        chosen = chosen if chosen in self._names else self._names[0]
        marks = [_Mark(label, name == chosen, name=name, classes=f"-{name}", compact=True) for name, label in options]
        super().__init__(*marks, id=id, compact=True)

    @property
    def chosen(self) -> str:
        """The name of the selected option."""
        # An index among the buttons would fail while the screen is taken down, button by button.
        mark = self.pressed_button
        return (mark and mark.name) or self._names[0]

    def on_focus(self) -> None:
        """Light the selected option."""
        self._selected = self.pressed_index

    def action_next_button(self) -> None:
        """Select the next option, as radio buttons do elsewhere. One that was merely lit would look selected."""
        self._step(super().action_next_button)

    def action_previous_button(self) -> None:
        """Select the option before."""
        self._step(super().action_previous_button)

    def _step(self, light: Callable[[], None]) -> None:
        if not self._nodes:
            # The dashboard is ended before the options are there.
            return
        # A key that follows Tab at once is obeyed before this widget learns that it has the focus.
        if not self.has_focus:
            self._selected = self.pressed_index
        light()
        # `RadioSet` lights the first option when it is mounted.
        if self.screen.focused is self and self._selected is not None:
            self.choose(self._names[self._selected])

    def choose(self, name: str) -> None:
        """Select another option; `chosen` tells it at once."""
        mark, before = self.query(_Mark)[self._names.index(name)], self.pressed_button
        if mark is before:
            return
        # `RadioSet` would learn of it from a message later. Until then `chosen` would tell the option before.
        with self.prevent(RadioButton.Changed):
            mark.value = True
            if before is not None:
                before.value = False
        self._pressed_button = mark
        self.post_message(self.Changed(self, mark))

    def relabel(self, name: str, label: str, *, disabled: bool = False) -> None:
        """Change the label of an option. A disabled option cannot be selected."""
        mark = self.query(_Mark)[self._names.index(name)]
        mark.label = label
        mark.disabled = disabled


class PickList(OptionList):
    """An `OptionList` with the keys of all lists beside its own."""

    BINDINGS: ClassVar[list[BindingType]] = list_bindings(
        up="cursor_up", down="cursor_down", first="first", last="last", page_up="page_up", page_down="page_down"
    )

    def _move_page(self, direction: Any) -> None:
        # A list without room on the screen has no lines, and Textual looks for one.
        if self.scrollable_content_region:
            super()._move_page(direction)
