"""Screens that keys and sizes in quick succession do not disturb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette
from textual.errors import NoWidget
from textual.events import Click, Mount, Resize, ScreenResume

if TYPE_CHECKING:
    from textual.app import App
    from textual.worker import Worker


class SizedOnce:
    """A screen that is laid out for the size that the terminal has now, and not for one that it had.

    Textual tells a screen its new size once more when it has laid it out. Of two sizes, each would make it tell the
    other one again, for ever, and no key and no signal would be heard.
    """

    app: App[Any]

    async def _on_resize(self, event: Resize) -> None:
        if event.size != self.app.size:
            event.stop()
            event.prevent_default()


class AnsweredOnce(SizedOnce):
    """A screen that takes itself away once: a second time, for a key that came too soon, would remove the one below."""

    _is_answered = False

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Take the screen away with an answer; below another one, or on a tab that is not shown, it stays."""
        shown: object = self.app.screen
        if self._is_answered or shown is not self:
            return AwaitComplete()
        self._is_answered = True
        taken: AwaitComplete = super().dismiss(result)  # type: ignore[misc]
        return taken


class Palette(AnsweredOnce, CommandPalette):
    """The palette of all actions."""

    _is_covered = False

    def _on_mount(self, event: Mount) -> None:
        # Textual looks for the screen below, but another one may be shown before this one is there.
        self._is_covered = self.app.screen_stack[-1:] != [self]
        if self._is_covered:
            event.prevent_default()

    def _on_screen_resume(self, _: ScreenResume) -> None:
        if self._is_covered and self.app.screen_stack[-1:] == [self]:
            self._is_covered = False
            CommandPalette._on_mount(self, Mount())

    def _gather_commands(self, search_value: str) -> Worker[None] | None:  # type: ignore[override]
        # What was typed last is told after the palette has gone.
        return None if self._is_answered else super()._gather_commands(search_value)

    def _action_command_list(self, action: str) -> None:
        # A list without room on the screen has no lines, and Textual looks for one.
        if not action.startswith("page") or self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)

    def _on_click(self, event: Click) -> None:  # type: ignore[override]
        # Nothing lies under a click beyond the edge of a terminal that has just become smaller.
        try:
            self.get_widget_at(event.screen_x, event.screen_y)
        except NoWidget:
            event.prevent_default()
