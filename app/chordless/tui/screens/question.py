"""Dialogs: a question on top of a screen, of yes or no, or for texts. Escape and q take it away."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, Static

from chordless.batch.output import EARLIER
from chordless.cycles.index import CycleFilter, parse_lengths, parse_vertices
from chordless.protocol.orders import FORMATS
from chordless.runs.history import RunSummary
from chordless.tui.actions import DIALOGS, QUESTIONS, bindings_of
from chordless.tui.run_list import thing_of_run, title, with_home
from chordless.tui.screens.steady import AnsweredOnce
from chordless.tui.widgets.form_row import TextField
from chordless.values import names_a_folder
from chordless.words.numbers import bytes_text
from kernels_ti import Graph, OptionError
from kernels_ti.errors import quantity

AnswerT = TypeVar("AnswerT")
_MOST_FILES_NAMED = 3
_SECONDS_BETWEEN_LOOKS = 0.1


class Dialog(AnsweredOnce, ModalScreen[AnswerT]):
    """Anything that is asked on top of a screen. Escape and q take it away without an answer."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(DIALOGS)

    def on_mount(self) -> None:
        """Take notices away: on a small terminal one would cover an answer."""
        self.app.clear_notifications()

    def action_back(self) -> None:
        """Take the question away."""
        self.dismiss(None)

    def action_close(self) -> None:
        """Take the question away."""
        self.action_back()


class Question(Dialog[bool]):
    """A question whose answer is yes or no; no is the default."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(QUESTIONS),
        ("left", "app.focus_previous", "Left"),
        ("right", "app.focus_next", "Right"),
    ]
    AUTO_FOCUS = "#no"

    def __init__(self, text: str, yes: str, *, no: str = "No") -> None:
        super().__init__()
        self._text, self._yes, self._no = text, yes, no

    def compose(self) -> ComposeResult:
        """Put the question together."""
        with Vertical(classes="question"):
            yield Static(self._text, markup=False)
            with Horizontal(classes="buttons"):
                yield Button(self._no, id="no", action="screen.no")
                yield Button(self._yes, id="yes", action="screen.yes")

    def action_yes(self) -> None:
        """Answer yes."""
        self.dismiss(True)

    def action_no(self) -> None:
        """Answer no."""
        self.dismiss(False)


class AskDelete(Question):
    """Asks whether to delete a run; `foreign` files of its folder do not belong to it."""

    def __init__(self, run: RunSummary, foreign: Sequence[str]) -> None:
        super().__init__("\n".join(_question(run, foreign)), "Yes, delete", no="No, keep it")


class AskStop(Question):
    """Asks whether to stop the run of another process."""

    def __init__(self, graph: str) -> None:
        super().__init__(
            f"Stop the run of {graph or 'this graph'}?\n\nThis dashboard has not begun it: another process has, and "
            "may wait for its end. It stops with a checkpoint and can be resumed.\n",
            "Yes, stop it",
        )


class AskStopNow(Question):
    """Asks whether to end a run at once that is stopping; `words` tell what is lost.

    The question is over as soon as the run is: once it is not `at_work` any more.
    """

    def __init__(self, words: str, at_work: Callable[[], bool]) -> None:
        super().__init__(
            "The run is stopping: the engine finishes its step and writes a checkpoint.\nThe checkpoint of a large run "
            "may have gigabytes. It then takes a while to write.\n",
            words,
            no="Wait for it",
        )
        self._at_work = at_work

    def on_mount(self) -> None:
        """Look repeatedly whether the run has ended."""
        self.set_interval(_SECONDS_BETWEEN_LOOKS, self._look)

    def _look(self) -> None:
        if not self._at_work() and self.is_current:
            self.dismiss(None)


class AskResume(Question):
    """Asks whether to resume a file that may be about other graphs."""

    def __init__(self, output: str, lines: int) -> None:
        super().__init__(
            f"Resume {output}?\n\nIt has {quantity(lines, 'line')}. The lines of the graphs that are named, and read "
            f"as they are read now, stay. All others move to {output}{EARLIER}. To keep them together, write to "
            "another file.\n",
            "Yes, resume",
        )


class AskRun(Question):
    """Asks whether to search one graph of a batch in a run of its own, which `lists` its cycles or only counts them."""

    def __init__(self, graph: str, *, lists: bool) -> None:
        what = "lists its cycles, to browse and draw" if lists else "counts its cycles"
        super().__init__(f"Search {graph} on its own?\n\nA new run {what}.\n", "Yes, begin")


def _question(run: RunSummary, foreign: Sequence[str]) -> list[str]:
    thing = thing_of_run(run)
    what = quantity(run.listed, f"listed {thing}") if run.lists else f"the counts of {quantity(run.cycles, thing)}"
    lines = [
        f"Delete the run of {title(run)}?",
        "",
        with_home(run.path.resolve()),
        f"is deleted for good, with {what}.",
        f"That frees {bytes_text(run.disk_bytes)} of the disk.",
    ]
    if foreign:
        more = f" and {len(foreign) - _MOST_FILES_NAMED} more" if len(foreign) > _MOST_FILES_NAMED else ""
        lines += ["", f"! It also deletes what no run has made: {', '.join(foreign[:_MOST_FILES_NAMED])}{more}"]
    return [*lines, ""]


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
                yield Button(self._button, id="answer")
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


class LengthQuestion(FieldQuestion[int]):
    """Asks for one of the `lengths` of a chart, which are in rising order."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self._lengths = lengths
        field = Asked("asked", "Go to the length", "", self._bounds, self._length)
        super().__init__([field], "Go", int)

    @property
    def _bounds(self) -> str:
        return f"{self._lengths[0]} to {self._lengths[-1]}"

    def _length(self, text: str) -> int:
        length = int(text[:30]) if text.isascii() and text.isdigit() else 0
        if length in self._lengths:
            return length
        is_between = self._lengths[0] < length < self._lengths[-1]
        raise OptionError(f"nothing has {length} vertices" if is_between else f"write a number, {self._bounds}")


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
    if FORMATS.get(suffix := os.path.splitext(path)[1].lower(), "text") not in ("text", "jsonl"):
        raise OptionError(f"`chordless export` writes a {suffix} file; here name a .txt or .jsonl file")
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
