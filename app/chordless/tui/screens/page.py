"""The base of the screens: what stands on each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.events import ScreenResume
from textual.screen import Screen

from chordless.tui.widgets.word_bar import KeyBar, TabBar

if TYPE_CHECKING:
    from chordless.tui.app import ChordlessApp


class Page(Screen[None]):
    """A screen between the tabs and the keys. It is kept made, and so are its styles."""

    TAB: ClassVar[str]  # Its name in `chordless.tui.screens.SCREENS`

    def compose(self) -> ComposeResult:
        """Build the screen."""
        yield TabBar(self.TAB)
        yield from self.parts()
        yield KeyBar()

    def parts(self) -> ComposeResult:
        """Build what is the screen's own."""
        raise NotImplementedError

    @on(ScreenResume)
    def _keep_styles(self, event: ScreenResume) -> None:
        """Keep the styles. Textual would compute all of them again whenever the screen is shown."""
        event.refresh_styles = False
        for bar in self.query(TabBar):
            # Its keys may be others since.
            bar.follow()

    @property
    def dashboard(self) -> ChordlessApp:
        """The app."""
        return cast("ChordlessApp", self.app)
