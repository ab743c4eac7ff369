"""The table of the vertices, or edges, that lie in the most cycles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

from chordless.words.shown import label_of, on_terminal

MOST_ROWS = 20
"""Vertices, or edges, that the table has."""
_PLURALS = {"vertex": "vertices", "edge": "edges"}


def participation_table(entries: list[dict[str, Any]], what: str, total: int, stream: TextIO) -> Iterator[str]:
    """Yield a table for people: the vertices or edges in the most cycles, and how many lie in none."""
    found = [entry for entry in entries if entry["cycles"]]
    if not found:
        yield f"  no {what} lies in any of these cycles"
        return
    shown = sorted(found, key=lambda entry: -entry["cycles"])[:MOST_ROWS]
    rows = [
        (
            on_terminal(label_of(entry["name"]), stream),
            f"{entry['cycles']:,}",
            f"{100 * entry['cycles'] / max(total, 1):.1f}%",
        )
        for entry in shown
    ]
    widths = [max(map(len, column)) for column in zip((what, "cycles", "share"), *rows, strict=True)]
    for name, cycles, share in [(what, "cycles", "share"), *rows]:
        yield f"  {name:<{widths[0]}}  {cycles:>{widths[1]}}  {share:>{widths[2]}}"
    if len(found) > len(shown):
        yield f"  and {len(found) - len(shown):,} more; --json has all of them"
    if len(entries) > len(found):
        yield f"  {len(entries) - len(found):,} of {len(entries):,} {_PLURALS[what]} lie in none of these cycles"
