"""Messages of the threads of the Batch screen."""

from __future__ import annotations

from textual.message import Message


class BatchNews(Message):
    """The state of the batch has changed. The thread of the batch posts it."""

    def can_replace(self, message: Message) -> bool:
        """Let a newer message replace those that still wait."""
        return isinstance(message, BatchNews)
