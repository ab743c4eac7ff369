"""Questions before a batch replaces the lines of another one, a graph gets a run of its own, or the user leaves."""

from __future__ import annotations

import asyncio

from textual.widgets import Button

from chordless.batch.output import EARLIER
from chordless.tui.batch_session import BatchSession
from chordless.tui.screens.leave import SECONDS_BETWEEN_LOOKS, LeaveQuestion
from chordless.tui.screens.question import Question
from kernels_ti.errors import quantity


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


class LeaveBatch(LeaveQuestion[bool]):
    """Asks whether to leave while a batch is running. The answer is True after the batch has ended."""

    waiting = "Waiting for the graphs that are being searched ..."
    ended = "The batch has ended by itself."

    def __init__(self, session: BatchSession) -> None:
        super().__init__(
            session,
            "A batch is still running. Finished graphs are kept, and Resume continues after them.\n",
            Button("Stop it after these graphs, and leave", id="stop", variant="primary"),
            Button("Stop now, and leave", id="kill"),
        )
        self._session = session

    async def leave(self, choice: str) -> bool:
        """Stop the batch, and wait for its end."""
        if choice == "kill":
            self._session.kill()
        else:
            self._session.stop()
        while self._session.is_at_work:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        return True
