"""The questions of the Cycles screen: which cycle to go to, and which cycles to show."""

from __future__ import annotations

import os

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, Label, Static

from chordless.cycles.index import CycleFilter, parse_lengths, parse_vertices
from chordless.tui.screens.question import AnswerT, Dialog
from chordless.tui.widgets.text_field import TextField
from chordless.values import names_a_folder
from kernels_ti import Graph, OptionError
from kernels_ti.errors import quantity


class FieldQuestion(Dialog[AnswerT]):
    """Asks for one text, at first `text`; the answer is what `read` makes of it. A fault is shown while one types."""

    def __init__(self, question: str, text: str, button: str, *, empty: str = "", note: str = "") -> None:
        super().__init__()
        self._question, self._text, self._button, self._empty, self._note = question, text, button, empty, note

    def compose(self) -> ComposeResult:
        """Put the question together."""
        with Vertical(classes="question"):
            yield Label(self._question)
            yield TextField(self._text, self._empty, id="asked")
            yield Static("", id="mistake", classes="mistake", markup=False)
            if self._note:
                yield Label(self._note, classes="dim")
            with Horizontal(classes="buttons"):
                yield Button(self._button, variant="primary", id="answer")
                yield Button("Cancel", id="cancel")

    def read(self, text: str) -> tuple[AnswerT | None, str]:
        """Return the answer, None if it is none, and the fault of the text."""
        raise NotImplementedError

    def on_input_changed(self) -> None:
        """Show faults while the user types."""
        self._read()

    def on_input_submitted(self) -> None:
        """Give the answer."""
        if (answer := self._read()) is not None:
            self.dismiss(answer)

    def _read(self) -> AnswerT | None:
        answer, mistake = self.read(self.query_one("#asked", Input).value.strip())
        self.query_one("#mistake", Static).update(mistake)
        return answer

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Give the answer, or cancel."""
        if event.button.id == "answer":
            self.on_input_submitted()
        else:
            self.dismiss(None)


class GoToQuestion(FieldQuestion[int]):
    """Asks for the number of a cycle or path, up to `count`. The answer is its position, counted from 0."""

    def __init__(self, count: int, thing: str) -> None:
        super().__init__(f"Go to the {thing} of number", "", "Go", empty=f"1 to {count:,}")
        self._count, self._thing = count, thing

    def read(self, text: str) -> tuple[int | None, str]:
        """Return the position, and the fault of the number."""
        digits = text.replace(",", "").replace(" ", "").replace("_", "")
        if not digits:
            return None, f"write a number from 1 to {self._count:,}"
        if not (digits.isascii() and digits.isdigit()):
            return None, f"{text!r} is no number"
        number = int(digits[:30])
        if not 1 <= number <= self._count:
            return None, f"there are {self._thing}s 1 to {self._count:,}"
        return number - 1, ""


class ExportQuestion(FieldQuestion[str]):
    """Asks for the file of an export of `count` cycles or paths, and offers `path`. The answer is its path."""

    def __init__(self, count: int, path: str, thing: str) -> None:
        shown = quantity(count, f"{thing} that is", f"{thing}s that are")
        note = "FILE.jsonl gets lines of JSON, any other file the names of the vertices."
        super().__init__(f"Write the {shown} shown to", path, "Write", note=note)

    def read(self, text: str) -> tuple[str | None, str]:
        """Return the path, and what is wrong with it."""
        path = os.path.expanduser(text)
        if not path:
            return None, "name a file, such as cycles.txt"
        if names_a_folder(path):
            return None, "this is a folder: name a file in it"
        if os.path.lexists(path):
            return None, "this file exists: name another one"
        if not os.path.isdir(os.path.dirname(path) or "."):
            return None, f"there is no folder {os.path.dirname(path)}"
        return path, ""


class FilterQuestion(Dialog[CycleFilter]):
    """Asks which cycles or paths to show; `chosen` is the current filter."""

    def __init__(self, graph: Graph, chosen: CycleFilter, thing: str) -> None:
        super().__init__()
        self._thing = thing
        self._graph = graph
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        """Put the question together."""
        names = [str(name) for name in self._graph.names[:2]]
        through = " ".join(str(self._graph.names[v]) for v in self._chosen.through)
        with Vertical(classes="question"):
            yield Label(f"Show only {self._thing}s of length")
            yield TextField(
                self._chosen.lengths_text(), placeholder="8   8-12   >=30   <=10   empty: any", id="lengths"
            )
            yield Static("", id="lengths-mistake", classes="mistake")
            yield Label("that go through all of these vertices")
            yield TextField(through, placeholder=f"such as {' '.join(names)}   empty: any", id="through")
            yield Static("", id="through-mistake", classes="mistake")
            with Horizontal(classes="buttons"):
                yield Button("Show", variant="primary", id="show")
                yield Button("Show all", id="all")
                yield Button("Cancel", id="cancel")

    def on_input_changed(self) -> None:
        """Show faults while the user types."""
        self._read()

    def on_input_submitted(self) -> None:
        """Give the answer."""
        self._answer()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Give the answer, or cancel."""
        if event.button.id == "show":
            self._answer()
        else:
            self.dismiss(CycleFilter() if event.button.id == "all" else None)

    def _answer(self) -> None:
        chosen = self._read()
        if chosen is not None:
            self.dismiss(chosen)

    def _read(self) -> CycleFilter | None:
        """Return the filter. If a field is wrong, show the fault beside it and return None."""
        lengths: tuple[int, int | None] | None = None
        through: tuple[int, ...] | None = None
        lengths_mistake = through_mistake = ""
        try:
            lengths = parse_lengths(self.query_one("#lengths", Input).value)
        except OptionError as error:
            lengths_mistake = str(error)
        try:
            through = parse_vertices(self.query_one("#through", Input).value, self._graph)
        except OptionError as error:
            through_mistake = str(error)
        # Without markup: a vertex name may look like markup.
        self.query_one("#lengths-mistake", Static).update(lengths_mistake, layout=True)
        self.query_one("#through-mistake", Static).update(through_mistake, layout=True)
        if lengths is None or through is None:
            return None
        return CycleFilter(lengths[0], lengths[1], through)
