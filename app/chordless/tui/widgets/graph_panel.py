"""Lists of graphs to choose from: examples of every kind, recent graphs, files. All are folded at first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.table import Column, Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Button, ContentSwitcher, DirectoryTree, Input, OptionList, Static
from textual.widgets.option_list import Option

from chordless.graphs.generators import known_kinds
from chordless.tui.actions import list_bindings
from chordless.tui.widgets.choice import PickList
from chordless.tui.widgets.form_row import TextField

_TITLES = {"examples": "Examples", "recent": "Recent", "files": "Files"}
_WIDTH = 17


class _Files(DirectoryTree):
    """Files and folders, without hidden ones, and without icons that many fonts lack."""

    BINDINGS: ClassVar[list[BindingType]] = list_bindings(
        up="cursor_up", down="cursor_down", first="first", last="last"
    )
    ICON_NODE, ICON_NODE_EXPANDED, ICON_FILE = "+ ", "- ", "  "

    def action_first(self) -> None:
        """Go to the folder itself."""
        self.cursor_line = 0

    def action_last(self) -> None:
        """Go to the last file."""
        self.cursor_line = self.last_line

    def filter_paths(self, paths: Iterable[Path]) -> Iterable[Path]:
        """Leave out hidden files."""
        return (path for path in paths if not path.name.startswith("."))


class GraphPanel(Vertical):
    """Three lists. At most one of them is unfolded.

    The `recent` graphs come with the newest first. `folder` returns the folder whose files are shown.
    """

    @dataclass(eq=False)
    class Picked(Message):
        """The user chose a graph."""

        graph: str

    def __init__(self, recent: Sequence[str], folder: Callable[[], Path]) -> None:
        super().__init__(id="graph-panel")
        self._recent = recent
        self._folder = folder

    def compose(self) -> ComposeResult:
        """Build the panel."""
        with Horizontal(id="panel-buttons"):
            yield Static("Or pick", classes="label")
            for name in _TITLES:
                yield Button(self._title(name), id=f"show-{name}", compact=True)
        yield TextField(placeholder="letters of an example, such as random", id="examples-filter", compact=True)
        with ContentSwitcher(id="panel-lists"):
            yield PickList(*_examples(), id="examples")
            yield PickList(id="recent")
            files = _Files(self._folder(), id="files")
            files.show_guides = False
            yield files

    def on_mount(self) -> None:
        """Fill the list of recent graphs."""
        self.show_recent(self._recent)

    def show_recent(self, recent: Sequence[str]) -> None:
        """List these as the recent graphs."""
        options = self.query_one("#recent", OptionList)
        options.clear_options()
        for graph in dict.fromkeys(recent):
            options.add_option(Option(Text(graph, no_wrap=True, overflow="ellipsis"), id=graph))
        if not recent:
            options.add_option(Option(Text("none yet: the graphs of your runs come here"), disabled=True))

    def unfold(self, name: str | None) -> None:
        """Unfold one of the lists ``examples``, ``recent`` and ``files``. None folds all."""
        files, folder = self.query_one(_Files), self._folder()
        if name == "files" and files.path != folder:
            files.path = folder
        switcher = self.query_one(ContentSwitcher)
        switcher.current = name
        switcher.display = name is not None
        self.query_one("#examples-filter").display = name == "examples"
        for other in _TITLES:
            self.query_one(f"#show-{other}", Button).label = self._title(other)

    @property
    def unfolded(self) -> str | None:
        """The name of the unfolded list, or None."""
        return self.query_one(ContentSwitcher).current if self.is_mounted else None

    def _title(self, name: str) -> str:
        return f"{'▾' if self.unfolded == name else '▸'} {_TITLES[name]}"

    @on(Button.Pressed)
    def _fold(self, event: Button.Pressed) -> None:
        event.stop()
        name = str(event.button.id).removeprefix("show-")
        self.unfold(None if self.unfolded == name else name)
        if self.unfolded is not None:
            self.query_one(f"#{name}").focus()

    @on(Input.Changed, "#examples-filter")
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        options = self.query_one("#examples", OptionList)
        options.clear_options()
        options.add_options(_examples(event.value.strip().lower()))
        if not options.option_count:
            options.add_option(Option(Text("none has these letters: empty the field"), disabled=True))

    @on(OptionList.OptionSelected)
    def _pick_option(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_id is not None:
            self.post_message(self.Picked(event.option_id))

    @on(DirectoryTree.FileSelected)
    def _pick_file(self, event: DirectoryTree.FileSelected) -> None:
        event.stop()
        path = os.path.relpath(event.path)
        self.post_message(self.Picked(str(event.path) if path.startswith("..") else path))


def _examples(letters: str = "") -> Iterable[Option]:
    """Yield an example of each kind that has these letters in the example or in its summary."""
    for kind in known_kinds():
        if letters not in f"{kind.example} {kind.summary}".lower():
            continue
        line = Table.grid(Column(min_width=_WIDTH, no_wrap=True), Column(style="dim"), padding=(0, 1))
        line.add_row(Text(kind.example), Text(kind.summary))
        yield Option(line, id=kind.example)
