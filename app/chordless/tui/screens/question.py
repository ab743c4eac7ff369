"""Dialogs: a question on top of a screen. Escape and q take it away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from chordless.batch.output import EARLIER
from chordless.runs.history import RunSummary
from chordless.tui.actions import DIALOGS, QUESTIONS, bindings_of
from chordless.tui.run_list import thing_of_run, title, with_home
from chordless.words.numbers import bytes_text
from kernels_ti.errors import quantity

AnswerT = TypeVar("AnswerT")
_MOST_FILES_NAMED = 3
_SECONDS_BETWEEN_LOOKS = 0.1


class Dialog(ModalScreen[AnswerT]):
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

    def __init__(
        self, text: str, yes: str, *, no: str = "No", variant: Literal["warning", "error"] = "warning"
    ) -> None:
        super().__init__()
        self._text, self._yes, self._no, self._variant = text, yes, no, variant

    def compose(self) -> ComposeResult:
        """Put the question together."""
        with Vertical(classes="question"):
            yield Static(self._text, markup=False)
            with Horizontal(classes="buttons"):
                yield Button(self._no, id="no", variant="primary", action="screen.no")
                yield Button(self._yes, id="yes", variant=self._variant, action="screen.yes")

    def action_yes(self) -> None:
        """Answer yes."""
        self.dismiss(True)

    def action_no(self) -> None:
        """Answer no."""
        self.dismiss(False)


class AskDelete(Question):
    """Asks whether to delete a run; `foreign` files of its folder do not belong to it."""

    def __init__(self, run: RunSummary, foreign: Sequence[str]) -> None:
        super().__init__("\n".join(_question(run, foreign)), "Yes, delete", no="No, keep it", variant="error")


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
