"""A text field that obeys keys in the order in which they were pressed."""

from __future__ import annotations

from textual.binding import Binding
from textual.events import Key
from textual.widgets import Input

_ACTIONS = {binding.key: binding.action for binding in Binding.make_bindings(Input.BINDINGS)}


class TextField(Input):
    """An `Input` that carries out an editing key at once.

    `Input` inserts a letter at once, but an editing key first travels to the screen and back. Letters that were typed
    meanwhile came before it: ctrl+u and "petersen", typed while the machine was busy, left an empty field.
    """

    async def on_key(self, event: Key) -> None:
        """Carry out an editing key."""
        action = _ACTIONS.get(event.key)
        if action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)
