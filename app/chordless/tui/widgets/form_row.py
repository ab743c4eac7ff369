"""A line of a form: a label, a field, and beside it the meaning of the field or what is wrong with it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.suggester import Suggester
from textual.widgets import Input, Static


class FormLine(Horizontal):
    """A line of a form with a field of any kind.

    Parameters
    ----------
    label : str
    """

    def __init__(self, label: str) -> None:
        super().__init__(Static(label, classes="label", markup=False))


class FormRow(Horizontal):
    """A field of text in a form. It has the class ``-wrong`` while there is a fault.

    Parameters
    ----------
    name : str
    label : str
    value : str
        What it begins with.
    empty : str
        What an empty field means.
    help : str
        What is beside it while nothing is wrong.
    suggester : Suggester, optional
    """

    def __init__(
        self, name: str, label: str, value: str, *, empty: str = "", help: str = "", suggester: Suggester | None = None
    ) -> None:
        super().__init__(id=f"row-{name}", name=name)
        self._label = label
        self._help = help
        self.field = Input(value, empty, id=name.replace("_", "-"), compact=True, suggester=suggester)
        self._beside = Static(help, classes="beside", markup=False)

    def compose(self) -> ComposeResult:
        """Put the line together."""
        yield Static(self._label, classes="label", markup=False)
        yield self.field
        yield self._beside

    def on_mount(self) -> None:
        """Show how a long text begins."""
        self.call_after_refresh(self._show_beginning)

    def on_descendant_blur(self) -> None:
        """Show how a long text begins, not how it ends."""
        # Where the whole terminal has lost the focus, the cursor is to be found where it was.
        if self.app.app_focus:
            self._show_beginning()

    def put(self, text: str) -> None:
        """Put a text in."""
        self.field.value = text
        self._show_beginning()

    def _show_beginning(self) -> None:
        # No screen is left while the dashboard is being left.
        if self.app.screen_stack and not self.field.has_focus:
            self.field.cursor_position = 0

    @property
    def value(self) -> str:
        """What is typed."""
        return self.field.value

    @property
    def help(self) -> str:
        """What is beside the field while nothing is wrong."""
        return self._help

    @help.setter
    def help(self, text: str) -> None:
        self._help = text
        if not self.has_class("-wrong"):
            self._beside.update(text)

    def show_fault(self, fault: str | None) -> None:
        """Say beside the field what is wrong; None takes it back."""
        self.set_class(fault is not None, "-wrong")
        self._beside.update(self._help if fault is None else f"! {fault}")
