"""The first and the last line of every screen: words to click on, each line drawn as one widget.

`textual.widgets.Footer` makes a widget of each key and makes all of them anew whenever the focus moves, which is slow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.events import Click
from textual.strip import Strip
from textual.widget import Widget

from chordless.tui.actions import EVERYWHERE, Action, actions_of, key_that_works

TABS = ("new", "run", "cycles", "runs", "batch")
_TAB_OF = {"compare": "runs"}
_ALT = "alt+"


@dataclass(frozen=True)
class Word:
    """Texts that stand together, each with the name of its style, and the action of a click on them."""

    texts: tuple[tuple[str, str], ...]
    action: str | None = None

    @property
    def width(self) -> int:
        """The number of cells."""
        return sum(cell_len(text) for text, _ in self.texts)


class WordBar(Widget):
    """A line of words. It is drawn again only if they have changed; words without room are left out as a whole."""

    _words: tuple[Word, ...] = ()

    def on_mount(self) -> None:
        """Follow the focus and what is possible."""
        self.screen.bindings_updated_signal.subscribe(self, self.follow)
        self.call_after_refresh(self.follow)

    def words(self) -> tuple[Word, ...]:
        """Return what stands there now."""
        raise NotImplementedError

    def follow(self, _: object = None) -> None:
        """Show what stands there now."""
        if self.is_attached and (words := self.words()) != self._words:
            self._words = words
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the line."""
        segments: list[Segment] = []
        for word in self._words:
            if sum(segment.cell_length for segment in segments) + word.width > self.size.width:
                break
            segments += [Segment(text, self.get_component_rich_style(style)) for text, style in word.texts]
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)

    async def on_click(self, event: Click) -> None:
        """Do what the word under the pointer stands for."""
        end = 0
        for word in self._words:
            end += word.width
            if event.x < end:
                if word.action is not None:
                    await self.run_action(word.action)
                return


class TabBar(WordBar):
    """The name of the program and the screens, the current one in brackets, so that it needs no colour.

    The comparison of two runs belongs to the history. In a text field the keys of the tabs work together with alt.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"tab-bar--name", "tab-bar--tab", "tab-bar--current"}

    def __init__(self, screen: str) -> None:
        super().__init__()
        self._current = _TAB_OF.get(screen, screen)

    def words(self) -> tuple[Word, ...]:
        """Return the name and the tabs."""
        actions = {action.name.removeprefix("show_"): action for action in actions_of(EVERYWHERE)}
        tabs = tuple(self._tab(actions[tab], tab) for tab in (*TABS, "settings"))
        needs_alt = key_that_works(self.screen, actions[TABS[0]]).startswith(_ALT)
        name = f" chordless  {_ALT} " if needs_alt else " chordless "
        return (Word(((name, "tab-bar--name"),)), *tabs)

    def _tab(self, action: Action, name: str) -> Word:
        left, right = "[]" if name == self._current else "  "
        key = key_that_works(self.screen, action).removeprefix(_ALT)
        style = "tab-bar--current" if name == self._current else "tab-bar--tab"
        return Word(((f"{left}{key} {action.title}{right}", style),), f"app.{action.call}")


class KeyBar(WordBar):
    """The keys that the current screen shows. `closes` says whether the key that closes it is one of them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-bar--key", "key-bar--title"}

    def __init__(self, *, closes: bool) -> None:
        super().__init__()
        self._closes = closes

    def on_resize(self) -> None:
        """Show what fits now."""
        self.follow()

    def words(self) -> tuple[Word, ...]:
        """Return the keys and the titles of the actions, each once; those of every screen are never left out."""
        own, common = dict[str, Word](), dict[str, Word]()
        for active in self.screen.active_bindings.values():
            binding, words = active.binding, common if active.node is self.app else own
            is_shown = binding.show or (self._closes and binding.action == "close")
            if active.enabled and is_shown and binding.action not in words:
                key, title = f" {self.app.get_key_display(binding)} ", f"{binding.description} "
                texts = ((key, "key-bar--key"), (title, "key-bar--title"))
                words[binding.action] = Word(texts, f"app.simulate_key({binding.key!r})")
        while own and sum(word.width for word in (*own.values(), *common.values())) > self.size.width:
            own.popitem()
        return (*own.values(), *common.values())
