"""What a run asks for in words: cycles, or chordless paths and between which vertices they lead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def paths_text(between: Sequence[str], *, all_pairs: bool) -> str:
    """Return which chordless paths a run asks for; "" if it asks for cycles."""
    return f"paths from {between[0]} to {between[1]}" if between else "all paths" if all_pairs else ""


def thing_of(asked: Mapping[str, Any]) -> str:
    """Return ``path`` if a run asks for paths, otherwise ``cycle``; `asked` has fields of `RunCommand`."""
    return "path" if asked.get("between") or asked.get("all_pairs") else "cycle"
