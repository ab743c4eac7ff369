"""The paths of a run in words: between which vertices they lead."""

from __future__ import annotations

from collections.abc import Sequence


def paths_text(between: Sequence[str], *, all_pairs: bool) -> str:
    """Return which chordless paths a run asks for; "" if it asks for cycles."""
    return f"paths from {between[0]} to {between[1]}" if between else "all paths" if all_pairs else ""
