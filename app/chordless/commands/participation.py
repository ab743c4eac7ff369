"""The table of the vertices, or edges, that lie in the most cycles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MOST_ROWS = 20
"""Vertices, or edges, that the table has."""


def participation_table(entries: list[dict[str, Any]], what: str, total: int) -> Iterator[str]:
    """Yield the lines of a table for people: those in the most cycles.

    Parameters
    ----------
    entries : list of dict
        The vertices or the edges, see `chordless.cycles.participation.participation_object`.
    what : {"vertex", "edge"}
    total : int
        Cycles in all.
    """
    order = sorted(range(len(entries)), key=lambda i: (-entries[i]["cycles"], i))
    rows = [
        (_label(entries[i]["name"]), f"{entries[i]['cycles']:,}", f"{100 * entries[i]['cycles'] / max(total, 1):.1f}%")
        for i in order[:MOST_ROWS]
    ]
    widths = [max(map(len, column)) for column in zip((what, "cycles", "share"), *rows, strict=True)]
    for name, cycles, share in [(what, "cycles", "share"), *rows]:
        yield f"  {name:<{widths[0]}}  {cycles:>{widths[1]}}  {share:>{widths[2]}}"
    left = len(entries) - len(rows)
    if left:
        yield f"  and {left:,} more: --json has all, by length"


def _label(name: Any) -> str:
    return " - ".join(map(str, name)) if isinstance(name, list) else str(name)
