"""The command palette: every action of the current screen, and the actions of all screens."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from chordless.tui.actions import EVERYWHERE, Action, actions_of


class ActionProvider(Provider):
    """Offers the table of actions."""

    async def discover(self) -> Hits:
        """Yield all actions, before anything is typed."""
        for action in self._actions():
            yield DiscoveryHit(action.title, self._doing(action), help=action.help)

    async def search(self, query: str) -> Hits:
        """Yield the actions whose title or help matches the typed text."""
        matcher = self.matcher(query)
        for action in self._actions():
            score = max(matcher.match(action.title), matcher.match(action.help) / 2)
            if score > 0:
                yield Hit(score, matcher.highlight(action.title), self._doing(action), help=action.help)

    def _actions(self) -> Iterator[Action]:
        for action in actions_of(self.app.current_mode):
            # False: the action is not available now. None: it is shown greyed.
            if self.screen.check_action(action.name, ()):
                yield action
        yield from (action for action in actions_of(EVERYWHERE) if action.name != "command_palette")

    def _doing(self, action: Action) -> partial[Coroutine[Any, Any, bool]]:
        namespace = self.app if action.screen == EVERYWHERE else self.screen
        return partial(self.app.run_action, action.name, namespace)
