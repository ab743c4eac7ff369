"""An estimate of the number of cycles, in the same words on every screen: New, Run, the shell, the report."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from chordless.words.numbers import large_number, range_text

VAGUE = 1000
"""An estimate is vague if its upper end is more than this many times its lower end. Only the lower end is told then."""

_LARGEST_EXACT = 1e15
# Within a range so narrow the cycles found tell the share that is done.
_NARROW = 10


@dataclass(frozen=True)
class CycleRange:
    """An estimated number of cycles."""

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
        if self.exact and self.middle < _LARGEST_EXACT:
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

        `branching` is the share by the branching of the search, which assumes that all branches are alike. It decides
        where the range is wide, as far as the range allows.
        """
        now = self.with_found(found)
        if not now.low or now.is_vague:
            return branching
        if now.high <= _NARROW * now.low:
            return found / now.middle
        return max(min(branching, found / self.low if self.low else 1.0), found / now.high)

    def seconds_left(self, seconds: float, found: int) -> float | None:
        """Return about how many seconds a search goes on that has found so many in so long; None if unknown."""
        now = self.with_found(found)
        return seconds * (now.middle / found - 1) if found and not now.is_vague else None
