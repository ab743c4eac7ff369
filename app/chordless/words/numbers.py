"""Numbers as text for people: durations, memory, rates, estimates, shares, and what a run asks for."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kernels_ti.errors import bytes_text as bytes_text
from kernels_ti.errors import quantity, vertices_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

_THOUSAND = 1000
_UNITS = "kMGTP"
_LARGEST_NAMED = 1e15
_YEAR = 365.25 * 86400
VAGUE = 1000
"""An estimate is vague if its upper end is more than this many times its lower end. Only the lower end is told then."""

# Below a range so narrow the cycles found tell the share that is done.
_NARROW = 10
_EDGE, _TRIANGLE = 2, 3
_NAMES = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


def decimals(weight: int | Fraction) -> str:
    """Return the decimals of a weight; all weights are decimals, so they end."""
    from decimal import Context, Decimal

    if isinstance(weight, int):
        return str(weight)
    exact = Context(prec=200).divide(Decimal(weight.numerator), Decimal(weight.denominator))
    return f"{exact.normalize():f}"


def json_number(text: str) -> int | float | str:
    """Return a weight for JSON: a number where that is exact, else its decimals as text."""
    if "." not in text:
        return int(text)
    return float(text) if repr(float(text)) == text else text


def seconds_text(seconds: float) -> str:
    """Return a duration for people: ``0.5 ms``, ``34 ms``, ``12.3 s``, ``4 min 05 s``, ``3 h 12 min``."""
    if seconds < 0.9995:
        return f"{1000 * seconds:.{0 if seconds >= 0.01 else 1}f} ms"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 6000:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def rate_of(count: int, seconds: float) -> float:
    """Return a count by its seconds; infinity where it is larger than a float can be."""
    try:
        return count / seconds
    except OverflowError:
        return math.inf


def short_number(value: float) -> str:
    """Return a rate in four characters or so: ``950``, ``12.3 k``, ``4.56 M``, ``3.8e21``."""
    most = _THOUSAND ** (len(_UNITS) + 1)
    # Rounded first: 999,999 are 1 M.
    rounded = math.inf if value >= most else float(f"{value:.3g}")
    if rounded >= most:
        return round_number(value)
    if rounded < _THOUSAND:
        return f"{rounded:.0f}"
    power = int(math.log10(rounded) / 3)
    return f"{rounded / _THOUSAND**power:.3g} {_UNITS[power - 1]}"


def round_number(value: float) -> str:
    """Return an estimate in two significant digits: ``950``, ``7.2e7``, ``over 1e308``."""
    if value < _THOUSAND:
        return f"{value:.0f}"
    # A count may be an integer that no float can hold.
    if value > sys.float_info.max:
        return "over 1e308"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}e{int(power)}"


def large_number(value: float) -> str:
    """Return an estimate in two digits and a word: ``43,000``, ``690 million``, ``2.2 billion``, ``7.1e21``."""
    rounded = math.inf if value >= _LARGEST_NAMED else float(f"{value:.2g}")
    if rounded >= _LARGEST_NAMED:
        return round_number(value)
    for size, name in _NAMES:
        if rounded >= size:
            return f"{rounded / size:.3g} {name}"
    return f"{rounded:,.0f}"


def range_text(low: float, high: float) -> str:
    """Return both ends of an estimate, `` (430 million to 2.2 billion)``, or "" if they agree."""
    first, last = large_number(low), large_number(high)
    return "" if first == last else f" ({_from_to(first, last)})"


def _from_to(first: str, last: str) -> str:
    """Return both ends of a range, the first without its unit if the last has the same."""
    number, _, unit = first.partition(" ")
    return f"{number if unit and last.endswith(f' {unit}') else first} to {last}"


def share_text(share: float) -> str:
    """Return a share (0 to 1) in per cent, rounded down, so that 100% means finished: ``0.02%``, ``12%``."""
    per_cent = 100 * share
    if per_cent >= 10:
        return f"{int(per_cent)}%"
    places = 1 if per_cent >= 1 else 2
    if per_cent < 0.01:
        return "<0.01%"
    return f"{int(per_cent * 10**places) / 10**places:.{places}f}%"


WAY_BACK = "going back along the boundary"
"""What a run that picks cycles does once all vertices have come; how long that takes is not known."""


def is_way_back(pick: str, share: float) -> bool:
    """Whether a run along a boundary picks cycles, and all vertices have come; the share is a sum of roundings."""
    return pick != "all" and share > 1 - 1e-9


def pass_text(number: int, passes: int) -> str:
    """Return which pass is under way: ``pass 3 of 33``, ``pass 1`` before their number is known, "" without passes."""
    return f"pass {number:,} of {passes:,}" if passes else f"pass {number:,}" if number else ""


def seeking_text(width: int) -> str:
    """Return that an order of the vertices is sought, and the vertices in the boundary of the best so far, if any."""
    best = f": boundary of {vertices_text(width)} so far" if width else " with a small boundary"
    return f"seeking a vertex order{best}"


def size_text(n: int, m: int) -> str:
    """Return the size of a graph: ``10 vertices, 15 edges``."""
    return f"{vertices_text(n)}, {quantity(m, 'edge')}"


def paths_text(between: Sequence[str], *, all_pairs: bool) -> str:
    """Return which chordless paths a run asks for; "" if it asks for cycles."""
    return f"paths from {between[0]} to {between[1]}" if between else "all paths" if all_pairs else ""


def lengths_text(min_length: int, max_length: int | None, parity: str | None = None, *, of_paths: bool = False) -> str:
    """Return the cycles, or paths, that are wanted: ``cycles of 5 to 8 vertices``, ``odd cycles``; "" if all are."""
    kind, shortest = ("paths", _EDGE) if of_paths else ("cycles", _TRIANGLE)
    things = kind if parity is None else f"{parity} {kind}"
    if max_length == min_length:
        return f"{things} of {vertices_text(min_length)}"
    if max_length is not None:
        return f"{things} of {min_length} to {max_length} vertices"
    if min_length > shortest:
        return f"{things} of {min_length} or more vertices"
    return "" if parity is None else things


def best_text(*, shortest: bool, weighted: bool) -> str:
    """Return the kind of a best cycle: ``longest``, ``shortest``, ``heaviest`` or ``lightest``."""
    return (("heaviest", "lightest") if weighted else ("longest", "shortest"))[shortest]


def duration_text(seconds: float) -> str:
    """Return an estimated duration in two digits: ``12 s``, ``3.4 minutes``, ``1.2 billion years``."""
    if not math.isfinite(seconds):
        return "longer than can be said"
    if seconds < 1:
        return f"{float(f'{max(1000 * seconds, 1):.2g}'):g} ms"
    for name, unit, end in (("s", 1, 100), ("minutes", 60, 100), ("hours", 3600, 48), ("days", 86400, 400)):
        if seconds < end * unit:
            return f"{float(f'{seconds / unit:.2g}'):g} {name}"
    years = large_number(seconds / _YEAR)
    return f"{years} year{'s' * (years != '1')}"


def time_left_text(low: float, high: float) -> str:
    """Return the time that a search may still take, by the two ends of an estimate in seconds.

    ``about 12 s left``, ``10 to 15 s left``, ``90 s to 2.5 minutes left``, ``at most 12 s left`` where it may be over
    at once.
    """
    if low <= 0:
        return f"at most {duration_text(max(high, 0.0))} left"
    shortest, longest = duration_text(low), duration_text(high)
    return f"about {longest} left" if shortest == longest else f"{_from_to(shortest, longest)} left"


def does_not_fit_text(least: float) -> str:
    """Return that a count does not fit into the memory, and the bytes that it takes at least."""
    return f"does not fit into the memory here: it takes {bytes_text(int(least))} at least"


@dataclass(frozen=True)
class CycleRange:
    """An estimated number of cycles, in the same words on every screen: New, Run, the shell, the report."""

    # `middle`, `low` and `high`: the number, and the range in which the truth lies in nine cases out of ten. `high` may
    # be infinite.
    middle: float
    low: float
    high: float
    exact: bool = False  # Whether the number is exact

    @classmethod
    def told(cls, middle: float | None, low: float | None, high: float | None, found: int) -> CycleRange | None:
        """Return the range of a report, of which None is not known, given the cycles found by now."""
        if middle is None:
            return None
        return cls(middle, middle if low is None else low, math.inf if high is None else high).with_found(found)

    def with_found(self, found: float) -> CycleRange:
        """Return the estimate once so many cycles are found: never less than these."""
        if self.exact or found <= self.low:
            return self
        if found > self.high:
            return replace(self, middle=found, low=found, high=math.inf)
        middle = self.middle if found <= self.middle else math.sqrt(found) * math.sqrt(self.high)
        return replace(self, middle=min(middle, self.high), low=found)

    @property
    def width(self) -> float:
        """How many times the lower end the upper end is."""
        return 1.0 if self.exact else self.high / max(self.low, 1)

    @property
    def is_vague(self) -> bool:
        """Whether only the lower end says something."""
        return self.width > VAGUE

    @property
    def number(self) -> str:
        """The number alone: ``about 690 million``, ``at least 12,000``, ``1,234``."""
        if self.exact and self.middle < _LARGEST_NAMED:
            return f"{self.middle:,.0f}"
        if self.is_vague:
            return f"at least {large_number(self.low)}"
        return f"about {large_number(self.middle)}"

    @property
    def spread(self) -> str:
        """The range: ``(430 million to 2.2 billion)``; "" if it is vague, exact, or too narrow to be told."""
        return "" if self.exact or self.is_vague else range_text(self.low, self.high).strip()

    @property
    def text(self) -> str:
        """The number and the range."""
        return f"{self.number} {self.spread}".rstrip()

    def share(self, found: int, branching: float) -> float:
        """Return the share of a search that is done, 0 to 1, by the cycles found so far.

        `branching` is the share by the branching of the search, which assumes that all branches are alike. As far as
        the range allows, it decides where that is wide, and once more is found than the lower end: then its middle
        tells nothing of the rest.
        """
        now = self.with_found(found)
        if not now.low or now.is_vague:
            return branching
        if found < self.low and self.high <= _NARROW * self.low:
            return found / self.middle
        return max(min(branching, found / self.low if self.low else 1.0), found / now.high)
