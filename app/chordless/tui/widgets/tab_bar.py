"""The first line of every screen: the name of the program and the screens, the current one lit."""

from __future__ import annotations

from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Static

from chordless.tui.actions import EVERYWHERE, Action, actions_of, key_that_works

TABS = ("new", "run", "cycles", "runs", "batch")
_TAB_OF = {"compare": "runs"}
_ALT = "alt+"


class TabBar(Horizontal):
    """The tabs of a screen. A click shows the screen of a tab. The comparison of two runs belongs to the history."""

    def __init__(self, screen: str) -> None:
        current = _TAB_OF.get(screen, screen)
        actions = {action.name.removeprefix("show_"): action for action in actions_of(EVERYWHERE)}
        super().__init__(
            _Name("chordless", markup=False, classes="name"),
            *(_Tab(actions[name], is_current=name == current) for name in TABS),
        )


class _Name(Static):
    """The name of the program. In a text field it tells that the keys of the tabs work together with alt."""

    def on_mount(self) -> None:
        """Follow the focus."""
        self.watch(self.screen, "focused", self._write)

    def _write(self, focused: Widget | None) -> None:
        self.update(f"chordless  {_ALT}" if isinstance(focused, Input) else "chordless")


class _Tab(Static):
    """One tab: a key that works now, and a title. Brackets mark the current one, so that it needs no colour."""

    def __init__(self, action: Action, *, is_current: bool) -> None:
        super().__init__(markup=False, classes="-current" if is_current else "")
        self._is_current = is_current
        self._action = action

    def on_mount(self) -> None:
        """Show the key of a letter or a digit only while no text field would take it."""
        self.watch(self.screen, "focused", self._write)

    def _write(self, focused: Widget | None) -> None:
        left, right = "[]" if self._is_current else "  "
        key = key_that_works(self.screen, self._action).removeprefix(_ALT)
        self.update(f"{left}{key} {self._action.title}{right}")

    async def on_click(self) -> None:
        """Show the screen."""
        await self.run_action(f"app.{self._action.name}")
