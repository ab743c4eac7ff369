"""How a number went up and down while a run went on, in a bounded number of pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace

MOST_PIECES = 240


@dataclass(frozen=True)
class Course:
    """A number over the reports of a run.

    Parameters
    ----------
    pieces : tuple of int
        The largest number reported in each piece of the run, the newest last; at most 240.
    reports_in_piece : int
        Reports that a full piece holds. It doubles when there are too many pieces.
    reports_in_last : int
        Reports in the last piece.
    peak : int
        The largest number of all.
    peak_seconds : float
        Seconds of search at which the peak was reported first.
    """

    pieces: tuple[int, ...] = ()
    reports_in_piece: int = 1
    reports_in_last: int = 1
    peak: int = 0
    peak_seconds: float = 0.0

    def after(self, seconds: float, number: int) -> Course:
        """Return the course after one more report.

        Parameters
        ----------
        seconds : float
            Seconds of search until this report.
        number : int
        """
        grown = replace(self, peak=number, peak_seconds=seconds) if number > self.peak else self
        if self.pieces and self.reports_in_last < self.reports_in_piece:
            last = max(self.pieces[-1], number)
            return replace(grown, pieces=(*self.pieces[:-1], last), reports_in_last=self.reports_in_last + 1)
        pieces, per_piece = self.pieces, self.reports_in_piece
        if len(pieces) == MOST_PIECES:
            pieces, per_piece = tuple(map(max, pieces[::2], pieces[1::2])), 2 * per_piece
        return replace(grown, pieces=(*pieces, number), reports_in_piece=per_piece, reports_in_last=1)
