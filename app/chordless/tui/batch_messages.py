"""Messages of the threads of the Batch screen."""

from __future__ import annotations

from textual.message import Message

from chordless.tui.batch_lines import BatchLines, LineIndex


class LinesFound(Message):
    """The thread that follows a file has found new lines.

    Parameters
    ----------
    index : LineIndex
        The index of the file.
    lines : BatchLines
        All lines so far.
    fault : str or None
        Why the file cannot be read.
    """

    def __init__(self, index: LineIndex, lines: BatchLines, fault: str | None) -> None:
        super().__init__()
        self.index = index
        self.lines = lines
        self.fault = fault

    def can_replace(self, message: Message) -> bool:
        """Let a newer message replace those that still wait."""
        return isinstance(message, LinesFound) and message.index is self.index


class BatchNews(Message):
    """The state of the batch has changed. The thread of the batch posts it."""

    def can_replace(self, message: Message) -> bool:
        """Let a newer message replace those that still wait."""
        return isinstance(message, BatchNews)
