"""The workers of a cluster: one row each, with a bar of its share of the paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rich.segment import Segment
from textual.strip import Strip

from chordless.tui.widgets.glyphs import is_ascii
from chordless.tui.widgets.picture import Picture
from chordless.words.numbers import bytes_text, short_number

_MOST_ROWS = 8
_HEADINGS = ("worker", "share of the paths", "paths/s", "leases", "memory")
_NARROWEST_BAR, _WIDEST_BAR = 8, 40
_NUMBER_WIDTH = 10
_AT_WORK = ("searching", "idle")


class WorkerRows(Picture):
    """A table of up to `_MOST_ROWS` workers, those that search first; it is hidden without any."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"workers--heading", "workers--text", "workers--bar", "workers--failure"}

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._workers: tuple[Mapping[str, Any], ...] = ()
        self.border_title = "workers"
        self.display = False

    def show(self, workers: Sequence[Mapping[str, Any]]) -> None:
        """Show these workers: the fields of `kernels_ti.cluster.roster.WorkerView`.

        Those that left are shown while there is room.
        """
        ordered = sorted(workers, key=lambda worker: (worker["standing"] not in _AT_WORK, -worker["paths"]))
        now = tuple(ordered[:_MOST_ROWS])
        if now == self._workers:
            return
        self._workers = now
        self.display = bool(now)
        hidden = len(workers) - len(now)
        self.border_title = f"workers, {hidden} more" if hidden else "workers"
        self.styles.height = len(now) + 1 + self.gutter.height
        self.draw_again()

    def drawn(self, width: int, height: int) -> list[Strip]:
        """Draw the headings, and a row for each worker."""
        return [self._row(_HEADINGS, "workers--heading"), *map(self._row_of, self._workers)]

    def _row_of(self, worker: Mapping[str, Any]) -> Strip:
        rate = worker["paths"] / worker["seconds"] if worker["seconds"] else 0.0
        address = str(worker["address"]).removeprefix("tcp://").removeprefix("tls://")
        words = (
            f"{address}  {worker['device']}".rstrip(),
            worker["share"],
            short_number(rate),
            f"{worker['leases']:,}",
            bytes_text(worker["memory_bytes"]),
        )
        if worker["standing"] in _AT_WORK:
            return self._row(words, "workers--text")
        why = ": ".join(filter(None, (worker["standing"], worker["failure"])))
        return self._row((words[0], why), "workers--failure")

    def _row(self, cells: Sequence[Any], component: str) -> Strip:
        """Lay out one row: the name, a bar or words, three numbers. Without numbers the words have their room."""
        width = self.size.width
        numbers = "".join(f"{cell:>{_NUMBER_WIDTH}}" for cell in cells[2:])
        bar_width = min(max(width // 4, _NARROWEST_BAR), _WIDEST_BAR)
        name_width = max(width - bar_width - 3 * _NUMBER_WIDTH - 2, 0)
        bar_width += 3 * _NUMBER_WIDTH - len(numbers)
        style = self.get_component_rich_style(component)
        middle = [Segment(f"{cells[1]:<{bar_width}}"[:bar_width], style)] if isinstance(cells[1], str) else []
        if not middle:
            filled = round(cells[1] * (bar_width - 5))
            bar = ("#" if is_ascii(self) else "█") * filled
            share = f"{cells[1]:>4.0%} "
            middle = [
                Segment(share, style),
                Segment(f"{bar:<{bar_width - 5}}", self.get_component_rich_style("workers--bar")),
            ]
        pieces = [Segment(f"{cells[0]:<{name_width}}"[:name_width] + "  ", style), *middle, Segment(numbers, style)]
        return Strip(pieces).adjust_cell_length(width)
