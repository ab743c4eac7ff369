"""A row of a bench: programs that take turns on one thing, and their lines of the table and the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from chordless.bench.layout import NOTHING
from chordless.bench.measure import Series, agrees, in_words, take_turns
from kernels_ti import OptionError


class Row:
    """Series that are measured in turns. A line of the table shows one of them.

    The first `ours` series are of this program; the counts of all are compared with theirs. By default all are.
    """

    keys: ClassVar[tuple[str, str]] = ("graph", "programs")
    """The names of the title and of the series in the report."""

    def __init__(self, title: str, series: Sequence[Series], ours: int | None = None) -> None:
        self.title = title
        self.series = list(series)
        self._ours = self.series[:ours]

    @property
    def measured(self) -> bool:
        """Whether there is any result."""
        return any(one.seconds or one.stopped for one in self._ours)

    def measure(self, repeat: int) -> None:
        """Run all series in turns. After an interrupt, the results so far stay."""
        take_turns(self.series, repeat)

    @property
    def known(self) -> Series:
        """The series to compare with: the first complete one of this program, or else its first one."""
        return next((one for one in self._ours if one.count), self.series[0])

    def agreement(self, one: Series) -> bool | None:
        """Return whether a series has the known count; None if there is nothing to compare."""
        known = self.known
        if one is known or not one.count or not known.count:
            return None
        if one.by_length is not None and known.by_length is not None:
            return one.by_length == known.by_length
        return agrees(one.count, known.count)

    @property
    def problems(self) -> Iterator[str]:
        """Yield one line for each problem."""
        for one in self.series:
            if self.agreement(one) is False:
                yield (
                    f"{self.title}: the counts disagree: {one.name} found {in_words(one.count)}, "
                    f"{self.known.name} {in_words(self.known.count)}"
                )
            if one.error is not None:
                yield f"{self.title}: {one.name}: {one.error}"

    def cells(self) -> Iterator[tuple[str, ...]]:
        """Yield the lines of the table, one for each series."""
        head = (self.title, *self._head())
        for one in self.series:
            yield (*head, *one.cells, *self._behind(one))
            head = ("",) * len(head)

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        title, series = self.keys
        return {
            title: self.title,
            **self._facts(),
            series: [{**one.to_json(), **self._facts_of(one)} for one in self.series],
        }

    def _head(self) -> tuple[str, ...]:
        """Return the cells between the title and the first series."""
        return ()

    def _behind(self, one: Series) -> tuple[str, ...]:
        """Return the cells after those of a series."""
        return ()

    def _facts(self) -> dict[str, Any]:
        """Return the facts of the row for the report."""
        return {}

    def _facts_of(self, one: Series) -> dict[str, Any]:
        """Return the facts of a series for the report, beside those of all series."""
        return {}

    def _agree_cell(self, one: Series) -> str:
        return yes_or_no(self.agreement(one))


def known_ways(ways: Sequence[str] | None, all_ways: Sequence[str]) -> Sequence[str]:
    """Return the ways to measure, by default all; an OptionError for one that does not exist."""
    unknown = [way for way in ways or () if way not in all_ways]
    if unknown:
        raise OptionError(f"--ways {unknown[0]}: there is no such way; there are {', '.join(all_ways)}")
    return ways or all_ways


def yes_or_no(agreement: bool | None) -> str:
    """Return a cell of the column ``agree``."""
    return {True: "yes", False: "NO", None: NOTHING}[agreement]
