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

    _is_offered = False

    def offer(self) -> None:
        """Take the focus without a wish of the user: until something is typed, digits still lead to the screens."""
        self._is_offered = True
        # `focus` would come after the keys that wait already.
        self.screen.set_focus(self)

    def on_blur(self) -> None:
        """Take digits as text the next time."""
        # If the whole terminal loses the focus, this field gets it back.
        self._is_offered = self._is_offered and not self.app.app_focus

    def takes(self, event: Key) -> bool:
        """Return whether a key may be for this field. Once one has edited it, digits are for it too."""
        if self._is_offered and event.key.isdecimal():
            return False
        if event.is_printable or event.key in _ACTIONS:
            self._take_digits()
        return True

    def on_mouse_down(self) -> None:
        """Take digits as text: the user has gone to this field."""
        self._take_digits()

    def _take_digits(self) -> None:
        if self._is_offered:
            self._is_offered = False
            self.screen.refresh_bindings()

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return whether a key is a letter for this field. Alt and a digit are none, whatever the terminal sends."""
        is_screen = key in KEYS_OF_TABS or (self._is_offered and key.isdecimal())
        return not is_screen and super().check_consume_key(key, character)

    async def on_key(self, event: Key) -> None:
        """Carry out an editing key."""
        action = _ACTIONS.get(event.key)
        if action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)
