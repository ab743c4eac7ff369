"""The questions of the Cycles screen: which cycle to go to, which cycles to show, and where to write them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, Label, Static

from chordless.cycles.index import CycleFilter, parse_lengths, parse_vertices
from chordless.tui.screens.question import AnswerT, Dialog
from chordless.tui.widgets.form_row import TextField
from chordless.values import names_a_folder
from kernels_ti import Graph, OptionError
from kernels_ti.errors import quantity


@dataclass(frozen=True)
class Asked:
    """A text that is asked for."""

    name: str
    question: str
    text: str  # The first content of the field
    empty: str  # What the empty field shows
    read: Callable[[str], Any]  # Returns the meaning of the text, or raises OptionError


class FieldQuestion(Dialog[AnswerT]):
    """Asks for texts. The fault of a text is shown below its field while the user types.

    `make` makes the answer of their meanings. `other` is the answer of another button, with its label.
    """

    def __init__(
        self, fields: Sequence[Asked], button: str, make: Callable[..., AnswerT], *,
        note: str = "", other: tuple[str, AnswerT] | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._fields, self._button, self._make, self._note, self._other = fields, button, make, note, other

    def compose(self) -> ComposeResult:
        """Put the question together."""
        with Vertical(classes="question"):
            for field in self._fields:
                yield Label(field.question)
                yield TextField(field.text, field.empty, id=field.name)
                yield Static("", id=f"{field.name}-mistake", classes="mistake", markup=False)
            if self._note:
                yield Label(self._note, classes="dim")
            with Horizontal(classes="buttons"):
                yield Button(self._button, variant="primary", id="answer")
                if self._other:
                    yield Button(self._other[0], id="other")
                yield Button("Cancel", id="cancel")

    def on_input_changed(self) -> None:
        """Show faults while the user types."""
        self._read()

    def on_input_submitted(self) -> None:
        """Give the answer, if no text has a fault."""
        if (values := self._read()) is not None:
            self.dismiss(self._make(*values))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Give the answer, or cancel."""
        if event.button.id == "answer":
            self.on_input_submitted()
        else:
            self.dismiss(self._other[1] if self._other and event.button.id == "other" else None)

    def _read(self) -> list[Any] | None:
        """Return the meanings of the texts; None if one has a fault. Show the faults."""
        values = []
        for field in self._fields:
            mistake = ""
            try:
                values.append(field.read(self.query_one(f"#{field.name}", Input).value.strip()))
            except OptionError as error:
                mistake = str(error)
            self.query_one(f"#{field.name}-mistake", Static).update(mistake)
        return values if len(values) == len(self._fields) else None


class GoToQuestion(FieldQuestion[int]):
    """Asks for the number of a cycle or path, up to `count`. The answer is its position, counted from 0."""

    def __init__(self, count: int, thing: str) -> None:
        self._count, self._thing = count, thing
        field = Asked("asked", f"Go to the {thing} of number", "", f"1 to {count:,}", self._number)
        super().__init__([field], "Go", lambda number: number - 1)

    def _number(self, text: str) -> int:
        digits = text.replace(",", "").replace(" ", "").replace("_", "")
        if not digits:
            raise OptionError(f"write a number from 1 to {self._count:,}")
        if not (digits.isascii() and digits.isdigit()):
            raise OptionError(f"{text!r} is no number")
        if not 1 <= int(digits[:30]) <= self._count:
            raise OptionError(f"there are {self._thing}s 1 to {self._count:,}")
        return int(digits)


class ExportQuestion(FieldQuestion[str]):
    """Asks for the file of an export of `count` cycles or paths, and offers `path`. The answer is its path."""

    def __init__(self, count: int, path: str, thing: str) -> None:
        shown = quantity(count, f"{thing} that is", f"{thing}s that are")
        note = "FILE.jsonl gets lines of JSON, any other file the names of the vertices."
        super().__init__([Asked("asked", f"Write the {shown} shown to", path, "", _new_file)], "Write", str, note=note)


def _new_file(text: str) -> str:
    path = os.path.expanduser(text)
    if not path:
        raise OptionError("name a file, such as cycles.txt")
    if names_a_folder(path):
        raise OptionError("this is a folder: name a file in it")
    if os.path.lexists(path):
        raise OptionError("this file exists: name another one")
    if not os.path.isdir(os.path.dirname(path) or "."):
        raise OptionError(f"there is no folder {os.path.dirname(path)}")
    return path


class FilterQuestion(FieldQuestion[CycleFilter]):
    """Asks which cycles or paths to show; `chosen` is the current filter."""

    def __init__(self, graph: Graph, chosen: CycleFilter, thing: str) -> None:
        through = " ".join(str(graph.names[v]) for v in chosen.through)
        such_as = f"such as {' '.join(str(name) for name in graph.names[:2])}   empty: any"
        lengths = Asked(
            "lengths", f"Show only {thing}s of length", chosen.lengths_text(),
            "8   8-12   >=30   <=10   empty: any", parse_lengths,
        )  # fmt: skip
        parse = partial(parse_vertices, graph=graph)
        vertices = Asked("through", "that go through all of these vertices", through, such_as, parse)
        show_all = ("Show all", CycleFilter())
        super().__init__(
            [lengths, vertices], "Show", lambda bounds, ends: CycleFilter(bounds[0], bounds[1], ends), other=show_all
        )
