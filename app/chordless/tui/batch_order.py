"""The order of the lines of a batch: as in the file, failures first, or by a column."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chordless.tui.batch_lines import BatchLine, BatchLines
from chordless.tui.batch_words import COLUMNS, columns_of

_KEYS: dict[str, Callable[[BatchLine], Any]] = {
    "graph": lambda line: line.graph,
    **{column.title: column.value for column in COLUMNS},
}
_LINES_AT_ONCE = 1000


def titles_of(known: Collection[str]) -> tuple[str, ...]:
    """Return the headings by which lines can be sorted; see `chordless.tui.batch_words.columns_of`.

    The status puts failures first.
    """
    return ("status", "graph", *(column.title for column in columns_of(known)))


def falls_first(title: str) -> bool:
    """Return whether a column is sorted from its largest value down at first: numbers are."""
    return title != "graph"


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
