"""The order in which the Batch screen shows its lines: as in the file, failures first, or by a column."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from textual import on, work
from textual.worker import get_current_worker

from chordless.tui.batch_lines import BatchLine, BatchLines
from chordless.tui.batch_session import BatchSession
from chordless.tui.batch_words import COLUMNS, columns_of
from chordless.tui.screens.page import Page
from chordless.tui.widgets.batch_table import BatchTable

if TYPE_CHECKING:
    from textual.worker import Worker


_KEYS: dict[str, Callable[[BatchLine], Any]] = {
    "graph": lambda line: line.graph,
    **{column.title: column.value for column in COLUMNS},
}
_LINES_AT_ONCE = 1000


def titles_of(known: Collection[str]) -> tuple[str, ...]:
    """Return the headings by which lines can be sorted; see `columns_of`.

    The status puts failures first.
    """
    return ("status", "graph", *(column.title for column in columns_of(known)))


class ColumnOrder:
    """The values of one column, read once for each line; `title` is one of `titles_of`, but ``status``."""

    def __init__(self, title: str) -> None:
        self._key = _KEYS[title]
        self._values: list[Any] = []
        self._generation: int | None = None

    def order(self, lines: BatchLines, *, falling: bool, cancelled: Callable[[], bool]) -> NDArray[np.int64] | None:
        """Return the numbers of the lines in their order, None if it was cancelled. Lines without a value come last.

        The lines come in the order of the file, and only new ones are read. `cancelled` is asked again and again.
        """
        if lines.generation != self._generation:
            self._values, self._generation = [], lines.generation
        values = self._values
        while len(values) < len(lines):
            if cancelled():
                return None
            values += [self._key(line) for line in lines.read(len(values), len(values) + _LINES_AT_ONCE)]
        known = [i for i in range(len(lines)) if values[i] is not None]
        # Equal values keep the order of the file, whichever way they are sorted.
        known.sort(key=lambda i: values[i], reverse=falling)
        unknown = [i for i in range(len(lines)) if values[i] is None]
        return np.array(known + unknown, np.int64)


class SortedBatch(Page):
    """A screen with a `BatchTable` whose lines can be sorted; `lines` are in the order of the file, None at first."""

    lines: BatchLines | None = None
    _sorted_by = ""
    _falling = True
    _column: ColumnOrder | None = None
    _sorter: Worker[None] | None = None

    @property
    def _table(self) -> BatchTable:
        return self.query_one(BatchTable)

    @property
    def _session(self) -> BatchSession | None:
        return self.dashboard.batch

    @property
    def _is_at_work(self) -> bool:
        return self._session is not None and self._session.is_at_work

    def forget_order(self) -> None:
        """Show lines in the order of the file again; they are those of another file."""
        self._sorted_by, self._column = "", None
        self._table.mark("", falling=True)

    def show_lines(self, *, anew: bool = False) -> None:
        """Show the newest lines, sorted as the user wants them."""
        lines = self.lines
        if lines is None:
            return
        if self._column is not None:
            # A thread that is still sorting is told at its end that there are more lines.
            if self._sorter is None or self._sorter.is_finished:
                self._sorter = self._sort(self._column, lines, self._falling, anew)
        elif self._sorted_by == "status":
            self._table.show_lines(lines.failures_first(), anew=anew)
        else:
            self._table.show_lines(lines, follow=self._is_at_work, anew=anew)

    def sort_by(self, title: str) -> None:
        """Sort by one of `titles_of`; if it is sorted by already, turn the order round. "" is the order of the file."""
        again = title == self._sorted_by and title not in ("", "status")
        # Numbers are sorted from the largest down at first.
        self._falling = not self._falling if again else title != "graph"
        self._sorted_by = title
        if title in ("", "status"):
            self._column = None
        elif not again:
            self._column = ColumnOrder(title)
        self._table.mark(title, falling=self._falling)
        self.workers.cancel_group(self, "sort")
        self._sorter = None
        # In the order of the file the cursor stays on its graph.
        self.show_lines(anew=bool(title))

    def action_sort(self) -> None:
        """Sort by the next column; after the last one, show the order of the file."""
        orders = ("", *titles_of(frozenset() if self.lines is None else self.lines.known))
        at = orders.index(self._sorted_by) if self._sorted_by in orders else -1
        self.sort_by(orders[(at + 1) % len(orders)])

    def action_failures(self) -> None:
        """Show failed graphs first, or all in the order of the file."""
        self.sort_by("" if self._sorted_by == "status" else "status")

    @on(BatchTable.HeadingClicked)
    def _heading_clicked(self, message: BatchTable.HeadingClicked) -> None:
        self.sort_by(message.title)

    @work(exclusive=True, group="sort")
    async def _sort(self, column: ColumnOrder, lines: BatchLines, falling: bool, anew: bool) -> None:
        worker = get_current_worker()
        sort = partial(column.order, lines, falling=falling, cancelled=lambda: worker.is_cancelled)
        order = await asyncio.to_thread(sort)
        if column is not self._column or self.lines is None:
            return
        self._table.show_lines(replace(lines, order=order), anew=anew)
        if len(self.lines) > len(lines):
            self._sorter = None
            self.show_lines()
