"""How numbers went up and down while a run went on, in a bounded number of pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

MOST_PIECES = 240


@dataclass(frozen=True)
class Course:
    """A number over the reports of a run."""

    pieces: tuple[int, ...] = ()  # The largest number reported in each piece of the run, the newest last; at most 240
    reports_in_piece: int = 1  # Reports that a full piece holds. It doubles when there are too many pieces.
    reports_in_last: int = 1  # Reports in the last piece
    peak: int = 0  # The largest number of all
    peak_seconds: float = 0.0  # Seconds of search at which the peak was reported first

    def after(self, seconds: float, number: int) -> Course:
        """Return the course after one more report, at this many seconds of search."""
        grown = replace(self, peak=number, peak_seconds=seconds) if number > self.peak else self
        return replace(grown, **_with_piece(self, number, max))


@dataclass(frozen=True)
class PathCourse:
    """How many paths of each length a run has looked at, from report to report."""

    # The paths looked at in each piece of the run, by their number of vertices, the newest last; at most 240
    pieces: tuple[dict[int, int], ...] = ()
    # `reports_in_piece`, `reports_in_last`: as in `Course`
    reports_in_piece: int = 1
    reports_in_last: int = 1
    totals: dict[int, int] = field(default_factory=dict)  # The paths looked at until the last report

    @property
    def lengths(self) -> range:
        """The lengths of all paths so far, from the shortest to the longest."""
        return range(min(self.totals), max(self.totals) + 1) if self.totals else range(0)

    def after(self, totals: dict[int, int]) -> PathCourse:
        """Return the course after one more report, with the paths looked at until then."""
        before = self.totals
        new = {length: count - before.get(length, 0) for length, count in totals.items()}
        new = {length: count for length, count in new.items() if count > 0}
        return replace(self, totals=totals, **_with_piece(self, new, _together))


def _with_piece(course: Course | PathCourse, new: Any, joined: Callable[[Any, Any], Any]) -> dict[str, Any]:
    """Return the fields of a course after one more report, which joins the last piece unless that is full."""
    pieces: tuple[Any, ...] = course.pieces
    per_piece, in_last = course.reports_in_piece, course.reports_in_last
    if pieces and in_last < per_piece:
        return {"pieces": (*pieces[:-1], joined(pieces[-1], new)), "reports_in_last": in_last + 1}
    if len(pieces) == MOST_PIECES:
        pieces, per_piece = tuple(map(joined, pieces[::2], pieces[1::2])), 2 * per_piece
    return {"pieces": (*pieces, new), "reports_in_piece": per_piece, "reports_in_last": 1}


def _together(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    return {length: one.get(length, 0) + other.get(length, 0) for length in one.keys() | other.keys()}
