"""Messages of the threads of the Batch screen."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from chordless.tui.batch_lines import BatchLines, LineIndex


@dataclass(eq=False)
class LinesFound(Message):
    """The thread that follows a file has found new lines."""

    index: LineIndex  # The index of the file
    lines: BatchLines  # All lines so far
    fault: str | None  # Why the file cannot be read

    def can_replace(self, message: Message) -> bool:
        """Let a newer message replace those that still wait."""
        return isinstance(message, LinesFound) and message.index is self.index


class BatchNews(Message):
    """The state of the batch has changed. The thread of the batch posts it."""

    def can_replace(self, message: Message) -> bool:
        """Let a newer message replace those that still wait."""
        return isinstance(message, BatchNews)
