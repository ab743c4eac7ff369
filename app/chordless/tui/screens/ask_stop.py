"""The questions before a run that another process has begun is stopped, and before one ends without its checkpoint."""

from __future__ import annotations

from chordless.tui.screens.question import Question


class AskStop(Question):
    """Asks whether to stop the run of another process."""

    def __init__(self, graph: str) -> None:
        super().__init__(
            f"Stop the run of {graph or 'this graph'}?\n\nThis dashboard has not begun it: another process has, and "
            "may wait for its end. It stops with a checkpoint and can be resumed.\n",
            "Yes, stop it",
        )


class AskStopNow(Question):
    """Asks whether to end a run at once that is stopping; `words` tell what is lost."""

    def __init__(self, words: str) -> None:
        super().__init__(
            "The run is stopping: the engine finishes its step and writes a checkpoint.\nOf a large count along a "
            "boundary that is gigabytes.\n",
            words,
            no="Wait for it",
        )
