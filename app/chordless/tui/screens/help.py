"""The Help screen: how to read the chart, and every key."""

from __future__ import annotations

from rich.table import Table
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from chordless.tui.actions import ACTIONS, SCROLLING, WHERE, actions_of, display_of, keys_of
from chordless.tui.marks import sentence
from chordless.tui.screens.page import Page
from chordless.tui.settings import settings_path

_TITLES = {"new": "New run", "compare": "Two runs side by side"}
_CHART = """\
A search extends chordless paths, one vertex at a time. For each number of vertices, the chart of a run shows how many \
paths the search has looked at (T) and how many chordless cycles it has found (C). Above the \
chart stands the frontier, the paths that wait: their number over time, and a strip that is bright where many paths of \
a length were looked at. At the end none waits any more. On a logarithmic scale, one step up is ten times as \
many.

Along a boundary no cycle is looked at by itself. Vertex after vertex comes, and the sets of vertices that can still \
become a cycle fall into states. The chart then shows how many states there were at each vertex, before an area that \
tells about how many are expected."""

_OTHER_KEYS = """\
The Settings screen changes keys. They are kept in {path}, for example

  [keys]
  "run.pause" = "p"
  "cycles.sort" = "t,ctrl+s"

The name of an action is its screen and what it does:

{names}"""

_KEYS_WIDTH, _TITLE_WIDTH = 12, 14
_SCREENS = tuple(dict.fromkeys(action.screen for action in ACTIONS))


class _Page(VerticalScroll):
    """The page. It scrolls with the keys of a list."""

    BINDINGS = SCROLLING


class HelpScreen(Page):
    """The table of actions with their keys."""

    TAB = "help"

    def parts(self) -> ComposeResult:
        """Build the page."""
        with _Page():
            with Vertical(id="help-chart"):
                yield Static("How to read the chart", classes="title")
                yield Static(_CHART)
            for screen in _SCREENS:
                with Vertical(id=f"help-{screen}"):
                    yield Static(_TITLES.get(screen, sentence(WHERE.get(screen, screen))), classes="title")
                    yield Static(id=f"keys-{screen}")
            with Vertical():
                yield Static("Other keys", classes="title")
                names = ", ".join(action.id for action in ACTIONS)
                yield Static(_OTHER_KEYS.format(path=settings_path(), names=names), markup=False)

    def on_screen_resume(self) -> None:
        """Show the keys, from the top: those of the screen before this one come first."""
        page, app = self.query_one(_Page), self.dashboard
        page.scroll_home(animate=False)
        page.focus()
        here = [name for name in (app.screen_before, "chart") if name in (*_SCREENS, "chart")]
        for name in reversed((*here, *(screen for screen in _SCREENS if screen not in here))):
            page.move_child(page.query_one(f"#help-{name}"), before=0)
        for screen in _SCREENS:
            table = Table.grid(padding=(0, 2), expand=True)
            for width in (_KEYS_WIDTH, _TITLE_WIDTH):
                table.add_column(width=width, no_wrap=True)
            # Only the sentences grow with the screen, so that the columns of all tables agree.
            table.add_column(ratio=1)
            for action in actions_of(screen):
                table.add_row(display_of(app, keys_of(action, app.keys)), action.title, action.help)
            self.query_one(f"#keys-{screen}", Static).update(table)
