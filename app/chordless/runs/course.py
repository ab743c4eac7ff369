"""How numbers went up and down while a run went on, in a bounded number of pieces."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

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
        if self.pieces and self.reports_in_last < self.reports_in_piece:
            last = max(self.pieces[-1], number)
            return replace(grown, pieces=(*self.pieces[:-1], last), reports_in_last=self.reports_in_last + 1)
        pieces, per_piece = self.pieces, self.reports_in_piece
        if len(pieces) == MOST_PIECES:
            pieces, per_piece = tuple(map(max, pieces[::2], pieces[1::2])), 2 * per_piece
        return replace(grown, pieces=(*pieces, number), reports_in_piece=per_piece, reports_in_last=1)


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
        if self.pieces and self.reports_in_last < self.reports_in_piece:
            pieces = (*self.pieces[:-1], _together(self.pieces[-1], new))
            return replace(self, pieces=pieces, reports_in_last=self.reports_in_last + 1, totals=totals)
        pieces, per_piece = self.pieces, self.reports_in_piece
        if len(pieces) == MOST_PIECES:
            pieces = tuple(map(_together, pieces[::2], pieces[1::2]))
            per_piece = 2 * per_piece
        return PathCourse((*pieces, new), per_piece, 1, totals)


def _together(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    return {length: one.get(length, 0) + other.get(length, 0) for length in one.keys() | other.keys()}
