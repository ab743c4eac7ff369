"""The field for the weights of a best cycle. They are read as soon as they are named."""

from __future__ import annotations

import asyncio

from textual import work
from textual.message import Message
from textual.timer import Timer

from chordless.graphs.check import check_weights
from chordless.graphs.load import LoadedGraph
from chordless.tui.readings import said_here
from chordless.tui.run_form import WEIGHTS, expanded
from chordless.tui.run_words import without_name
from chordless.tui.widgets.form_row import FormRow
from kernels_ti import ChordlessError

_SECONDS_UNTIL_CHECK = 0.2


class WeightsRow(FormRow):
    """A file or an attribute of weights, `value` at first. `fault` says why it gives the graph no weights."""

    class Checked(Message):
        """The weights were read."""

    def __init__(self, value: str) -> None:
        super().__init__(WEIGHTS.name, WEIGHTS.label, value, empty=WEIGHTS.empty, help=WEIGHTS.help)
        self.fault: str | None = None
        self.is_known = True
        """Whether what was asked for last was read, with or without success."""
        self._asked: tuple[str, LoadedGraph | None] = ("", None)
        self._timer: Timer | None = None

    def look(self, text: str, loaded: LoadedGraph | None) -> None:
        """Read the weights `text` of a graph, unless this was done: "" is none.

        None is a graph that is not known or needs no weights.
        """
        text, (text_before, loaded_before) = text.strip(), self._asked
        if text == text_before and loaded is loaded_before:
            return
        self._asked = (text, loaded)
        self.fault, self.is_known = None, not text or loaded is None
        if self._timer is not None:
            self._timer.stop()
        if text and loaded is not None:
            self._timer = self.set_timer(_SECONDS_UNTIL_CHECK, lambda: self._check(text, loaded))

    @work(exclusive=True)
    async def _check(self, text: str, loaded: LoadedGraph) -> None:
        fault = await asyncio.to_thread(_fault, text, loaded)
        if (text, loaded) == self._asked and self.is_attached:
            self.fault, self.is_known = fault, True
            self.post_message(self.Checked())


def _fault(text: str, loaded: LoadedGraph) -> str | None:
    name = expanded(text)
    try:
        check_weights(loaded, name)
    except ChordlessError as error:
        return without_name(said_here(str(error)).removeprefix(f"--weight {name}: "), name)
    return None
