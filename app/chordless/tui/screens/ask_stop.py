"""The questions before a run that another process has begun is stopped, and before one ends without its checkpoint."""

from __future__ import annotations

from collections.abc import Callable

from chordless.tui.screens.question import Question

_SECONDS_BETWEEN_LOOKS = 0.1


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
