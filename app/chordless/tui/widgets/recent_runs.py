"""The latest runs, on the first screen. Enter or a click opens one."""

from __future__ import annotations

import asyncio
from pathlib import Path

from rich.cells import set_cell_size
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from chordless.runs.elsewhere import noted_folders
from chordless.runs.history import RunSummary, list_runs
from chordless.tui.marks import cut_inside
from chordless.tui.messages import OpenRun
from chordless.tui.run_list import FOUND_WIDTH, STAGES, found_text, row_title, thing_of_run, when
from chordless.tui.widgets.choice import PickList
from chordless.tui.widgets.glyphs import is_ascii
from kernels_ti import ChordlessError

_MOST = 5
_GRAPH_WIDTH, _STATE_WIDTH = 20, 11
# State, graph, count, "cycles" and time, the blanks between them, the padding and the scroll bar of the list.
_ROOM_FOR_ALL = 71


class RecentRuns(Vertical):
    """A list of the latest runs. Without runs it takes no room. `runs` are all runs, the newest first."""

    class Changed(Message):
        """There are other runs than before."""

    def __init__(self) -> None:
        super().__init__(id="recent-runs", classes="-none")
        self.runs: list[RunSummary] = []
        self._is_narrow = self._is_ascii = False

    def compose(self) -> ComposeResult:
        """Build the list."""
        yield Static("Recent runs", classes="title")
        yield PickList()

    @work(exclusive=True)
    async def look(self, folder: Path) -> None:
        """Read the folder of runs, and use other characters if the settings have changed."""
        try:
            runs = await asyncio.to_thread(lambda: list_runs(folder, noted_folders()))
        except ChordlessError:
            # The Runs screen says what is wrong with the folder.
            runs = []
        if runs != self.runs:
            self.runs = runs
            self.set_class(not runs, "-none")
            self._fill()
            self.post_message(self.Changed())
        elif is_ascii(self) != self._is_ascii:
            self._fill()

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self._is_narrow = self.size.width < _ROOM_FOR_ALL
        self._fill()

    def _fill(self) -> None:
        options, self._is_ascii = self.query_one(OptionList), is_ascii(self)
        options.clear_options()
        options.add_options(Option(self._line(run), id=str(run.path)) for run in self.runs[:_MOST])

    def _line(self, run: RunSummary) -> Text:
        state = STAGES[run.stage].text(ascii_only=is_ascii(self))
        count = found_text(run.cycles)
        if self._is_narrow:
            room = max(self.size.width - len(count) - 2, 1)
            glyph = state.split()[0]
            line = set_cell_size(f"{glyph} {self._fitted(run, room - len(glyph) - 1)}", room)
            return Text(f"{line} {count}", no_wrap=True, overflow="ellipsis")
        name = set_cell_size(self._fitted(run, _GRAPH_WIDTH), _GRAPH_WIDTH)
        things = f"{thing_of_run(run)}{' ' if run.cycles == 1 else 's'}"
        line = f"{state:<{_STATE_WIDTH}} {name} {count:>{FOUND_WIDTH}} {things}  {when(run.began)}"
        return Text(line, no_wrap=True, overflow="ellipsis")

    def _fitted(self, run: RunSummary, room: int) -> str:
        return cut_inside(row_title(run), max(room, 0), ascii_only=is_ascii(self))

    @on(OptionList.OptionSelected)
    def _open(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(OpenRun(Path(str(event.option_id))))
