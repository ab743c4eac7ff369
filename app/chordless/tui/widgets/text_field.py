"""A text field that obeys keys in the order in which they were pressed."""

from __future__ import annotations

from textual.binding import Binding
from textual.events import Key
from textual.widgets import Input

from chordless.tui.actions import KEYS_OF_TABS

_ACTIONS = {binding.key: binding.action for binding in Binding.make_bindings(Input.BINDINGS)}


class TextField(Input):
    """An `Input` that carries out an editing key at once.

    `Input` inserts a letter at once, but an editing key first travels to the screen and back. Letters that were typed
    meanwhile came before it: ctrl+u and "petersen", typed while the machine was busy, left an empty field.
    """

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return whether a key is a letter for this field. Alt and a digit are none, whatever the terminal sends."""
        return key not in KEYS_OF_TABS and super().check_consume_key(key, character)

    async def on_key(self, event: Key) -> None:
        """Carry out an editing key."""
        action = _ACTIONS.get(event.key)
        if action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)
