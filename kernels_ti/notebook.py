"""Results as small tables of HTML, which notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from kernels_ti.errors import quantity

SHOWN = 5  # Rows of a table of many cycles


def html_table(title: str, heading: Sequence[str], rows: Iterable[Sequence[Any]], foot: str = "") -> str:
    """Return a table with a line of text above it, and one below it unless that is empty."""
    lines = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in heading)
    table = f"<table><tr>{head}</tr>{lines}</table>" if lines else ""
    return f"<p>{escape(title)}</p>{table}" + (f"<p>{escape(foot)}</p>" if foot else "")


def more_text(more: int, what: str) -> str:
    """Return a line that tells how many are not shown; nothing if all are."""
    return quantity(more, f"more {what}") if more > 0 else ""


def html_of_counts(by_length: Mapping[int, int], what: str, *, complete: bool) -> str:
    """Return the table of a count by length; `what` names one of those that were counted."""
    title = quantity(sum(by_length.values()), f"chordless {what}")
    foot = "" if complete else "not complete: there may be more"
    return html_table(title, ("length", f"{what}s"), by_length.items(), foot)


def html_of_best(
    best: Sequence[Sequence[Any]], weights: Sequence[Any], ways: int, what: str, *, complete: bool, most: int | None
) -> str:
    """Return the table of the best cycles or paths, called `what`; none has more vertices than `most`."""
    bound = "" if most is None else f", but none with more than {most:,} vertices"
    foot = "" if complete else f"not complete: there may be better ones{bound}"
    if not best:
        return html_table(f"no {what}", (), (), foot)
    rows = [[len(one), list(one)] for one in best]
    if not weights:
        return html_table(f"{quantity(ways, what)} of {len(best[0]):,} vertices", ("length", "vertices"), rows, foot)
    rows = [[weight, *row] for weight, row in zip(weights, rows, strict=True)]
    return html_table(f"{quantity(ways, what)} of weight {weights[0]}", ("weight", "length", "vertices"), rows, foot)


def html_of_shares(title: str, vertices: Iterable[tuple[Any, int]], edges: Iterable[tuple[Any, int]]) -> str:
    """Return the table of the vertices and edges in most cycles."""
    rows = [["vertex", str(name), count] for name, count in vertices]
    rows += [["edge", list(ends), count] for ends, count in edges]
    return html_table(title, ("", "", "cycles"), rows)


def _cell(value: Any) -> str:
    """Return a number with its thousands told apart, vertices by their names."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return escape(", ".join(map(str, value)) if isinstance(value, list) else str(value))
