"""What every output of cycles has, and an output that passes cycles on to another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class CycleOutput:
    """The output to which a search writes its cycles.

    With `rows` it takes bit rows, uint64 (k, ceil(n / 64)); otherwise `kernels_ti.cycles.Cycles`.
    """

    rows = False

    def __init__(self, listed: int = 0) -> None:
        self._listed = listed

    @property
    def listed(self) -> int:
        """Cycles written in all sessions."""
        return self._listed

    def write(self, found: Any, give_up: Callable[[], bool]) -> bool:
        """Write the cycles of a slice; return whether every one was written."""
        raise NotImplementedError

    def reader_is_gone(self) -> bool:
        """Whether the reader of the output has gone; a file has none."""
        return False

    def position(self) -> dict[str, int]:
        """Sync everything written to the disk and return the position from which to continue."""
        raise NotImplementedError


class NoOutput(CycleOutput):
    """Counts the cycles that it gets."""

    def write(self, found: Any, give_up: Callable[[], bool]) -> bool:
        """Count the cycles of a slice."""
        self._listed += len(found)
        return True

    def position(self) -> dict[str, int]:
        """Return how many cycles there were."""
        return {"listed": self._listed}


class PassingOn(CycleOutput):
    """Passes cycles on to another output, whose cycles are those that it has listed."""

    def __init__(self, inner: CycleOutput) -> None:
        super().__init__()
        self._inner = inner

    @property
    def listed(self) -> int:
        """Cycles in the other output."""
        return self._inner.listed

    def reader_is_gone(self) -> bool:
        """Whether the reader of the other output has gone."""
        return self._inner.reader_is_gone()

    def position(self) -> dict[str, int]:
        """Return the position of the other output."""
        return self._inner.position()
