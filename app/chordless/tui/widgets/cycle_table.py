"""A table of any number of cycles. Only the visible lines are read and drawn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from rich.cells import cell_len, set_cell_size

from chordless.cycles.browse import FoundCycle
from chordless.tui.cycle_words import separator_of
from chordless.tui.marks import cut
from chordless.tui.widgets.glyphs import is_ascii
from chordless.tui.widgets.line_table import Lines, LineTable

_LENGTH_WIDTH = 8


class CycleTable(LineTable[FoundCycle]):
    """Shows the number, the length and the vertices of each cycle or path, in its order."""

    _names: Sequence[str] = ()
    _separator = " "
    _thing = "cycle"
    _sorted_by_length = ""
    _number_width = len("number")

    def set_names(self, names: Sequence[Hashable], thing: str = "cycle") -> None:
        """Set the names of the vertices, and the word for what they form."""
        self._thing = thing
        self._names = [str(name) for name in names]
        self._separator = separator_of(self._names)

    def show(
        self, lines: Lines[FoundCycle], *, cursor: int, more: bool = False, largest: int | None = None, mark: str = ""
    ) -> None:
        """Show other lines; for `cursor` and `more` see `LineTable.show`.

        `largest` is the largest number of any cycle, by default the number of lines: it decides the width of that
        column. `mark` is the sign behind "length" in the heading that shows the order.
        """
        self._number_width = max(len(f"{len(lines) if largest is None else largest:,}"), len("number"))
        self._sorted_by_length = mark
        super().show(lines, cursor=cursor, more=more)

    def heading(self, width: int) -> list[tuple[str, str]]:
        """Return the line above the cycles: a click anywhere on it is one on the length."""
        length = f"length{self._sorted_by_length}"
        text = f"{'number':>{self._number_width}} {length:>{_LENGTH_WIDTH}}  vertices in {self._thing} order"
        return [("length", f"{text:<{width}}")]

    def parts(self, row: FoundCycle, width: int) -> list[tuple[str, str]]:
        """Return number, length and vertices."""
        number = f"{row.position + 1:,}"
        parts = [
            (f"{number:>{self._number_width}} ", "number"),
            (f"{len(row.vertices) or '-':>{_LENGTH_WIDTH}}  ", "length"),
        ]
        room = max(width - sum(len(text) for text, _ in parts), 0)
        style = "error" if row.error is not None else ""
        return [*parts, (set_cell_size(row.error or self._vertices(row, room), room), style)]

    def _vertices(self, cycle: FoundCycle, room: int) -> str:
        texts: list[str] = []
        used = 0
        for v in cycle.vertices.tolist():
            texts.append(self._names[v])
            used += cell_len(texts[-1]) + len(self._separator)
            # The rest would be cut off at the border.
            if used > room + len(self._separator):
                break
        return cut(self._separator.join(texts), room, ascii_only=is_ascii(self))
