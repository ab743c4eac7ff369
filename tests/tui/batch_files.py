"""Files of batches, as their engine writes them."""

from __future__ import annotations

from chordless.batch.output import FIELDS, encoded

TRIANGLE = b"Bw"


def line(graph, status="complete", **more):
    """Return a line of a batch as its engine writes it."""
    values = dict.fromkeys(FIELDS)
    values.update(graph=graph, status=status, min_length=3, hash="unreadable-0" if status == "error" else "0" * 32)
    if status != "error":
        values.update(n=9, m=12, total=1234, by_length={"3": 1000, "8": 234}, seconds={"enumerate": 0.25})
    return encoded({**values, **more})


def error(graph, why="no such thing"):
    return line(graph, "error", error=f"{graph}:4: {why}")
