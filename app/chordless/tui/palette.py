"""The command palette: every action of the current screen, the actions of all screens, and the themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from chordless.tui.actions import EVERYWHERE, actions_of, display_of, keys_of

_Command = tuple[str, str, Callable[[], Any]]  # Title, help, and what it does


class ActionProvider(Provider):
    """Offers the table of actions, each with its keys, and every theme by its name."""

    async def discover(self) -> Hits:
        """Yield all commands, before anything is typed."""
        for title, help_text, do in self._commands():
            yield DiscoveryHit(title, do, help=help_text)

    async def search(self, query: str) -> Hits:
        """Yield the commands whose title or help matches the typed text."""
        matcher = self.matcher(query)
        for title, help_text, do in self._commands():
            score = max(matcher.match(title), matcher.match(help_text) / 2)
            if score > 0:
                yield Hit(score, matcher.highlight(title), do, help=help_text)

    def _commands(self) -> Iterator[_Command]:
        app, screen = self.app, self.screen
        # False: the action is not available now. None: it is shown greyed.
        actions = [action for action in actions_of(app.current_mode) if screen.check_action(action.name, ())]
        actions += [action for action in actions_of(EVERYWHERE) if action.name != "command_palette"]
        for action in actions:
            keys = display_of(app, keys_of(action, getattr(app, "keys", {})))
            namespace = app if action.screen == EVERYWHERE else screen
            yield action.title, f"({keys}) {action.help}", partial(app.run_action, action.name, namespace)
        yield "Theme", "Choose other colours, here or in the settings.", app.search_themes
        for theme in sorted(app.available_themes):
            yield f"Theme {theme}", "Take these colours.", partial(setattr, app, "theme", theme)
