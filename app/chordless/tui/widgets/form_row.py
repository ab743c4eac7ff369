"""A line of a form: a label, a field, and beside it a help text or the fault of the field."""

from __future__ import annotations

from textual import on
from textual.containers import Horizontal
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Static

from chordless.tui.widgets.text_field import TextField


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
