"""A list to choose from, which obeys the keys of all lists."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import OptionList

from chordless.tui.actions import list_bindings


class PickList(OptionList):
    """An `OptionList` with the keys of all lists beside its own."""

    BINDINGS: ClassVar[list[BindingType]] = list_bindings(
        up="cursor_up", down="cursor_down", first="first", last="last", page_up="page_up", page_down="page_down"
    )
