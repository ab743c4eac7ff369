"""Tables for a terminal and in Markdown, and the format of numbers in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

NOTHING = "-"


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    heading: str
    group: str = ""  # A common heading above neighbouring columns of the same group
    left: bool = False  # Whether it is aligned to the left


def text_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of an aligned table, with two blanks between columns."""
    widths = [
        max(len(column.heading), *(len(row[i]) for row in rows)) if rows else len(column.heading)
        for i, column in enumerate(columns)
    ]
    if any(column.group for column in columns):
        yield _group_line(columns, widths)
    for cells in ([column.heading for column in columns], *rows):
        yield "  ".join(
            f"{cell:<{width}}" if column.left else f"{cell:>{width}}"
            for column, width, cell in zip(columns, widths, cells, strict=True)
        ).rstrip()


def _group_line(columns: Sequence[Column], widths: Sequence[int]) -> str:
    parts = []
    for group, members in groupby(zip(columns, widths, strict=True), key=lambda pair: pair[0].group):
        width = sum(width + 2 for _, width in members) - 2
        parts.append(f" {group} ".center(width, "-") if group else " " * width)
    return "  ".join(parts).rstrip()


def markdown_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    headings = [f"{column.group}: {column.heading}" if column.group else column.heading for column in columns]
    yield _markdown_line(headings)
    yield _markdown_line(["---" if column.left else "---:" for column in columns])
    for row in rows:
        yield _markdown_line(row)


def _markdown_line(cells: Sequence[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def figures(value: float) -> str:
    """Return a number with at least three figures and no exponent: ``0.0850``, ``1.98``, ``54.8``, ``36,955``."""
    if value <= 0:
        return "0"
    # The exponent after rounding, so that 9.996 gives 10.0, not 10.00.
    exponent = int(f"{value:.2e}".partition("e")[2])
    return f"{value:,.{max(0, 2 - exponent)}f}"
