"""Reports of a way along a boundary: how many states there were at each step, and how many are expected."""

from __future__ import annotations

from collections.abc import Sequence

from chordless.protocol.events import Progress
from kernels_ti.device.memory import resident_bytes


class StepReports:
    """The numbers of a way along a boundary, each of which is reported once.

    `expected` says about how many states there will be at each step, `width` how many vertices the largest boundary
    has, and `told` how many steps were reported in earlier sessions.
    """

    def __init__(self, expected: Sequence[float], width: int, told: int = 0) -> None:
        self._expected = expected
        self._width = width
        self._told = told
        self._is_first = True

    def report(
        self,
        seconds: float,
        share: float,
        states: Sequence[int],
        *,
        states_now: int,
        cycles_by_length: dict[int, int] | None = None,
        passes: tuple[int, int] | None = None,
    ) -> Progress:
        """Return the next report: the share of the work, 0 to 1, and the number of states at each step so far.

        `cycles_by_length` has cycles whose lengths are not told apart under 0. For `passes` see `BoundaryCount.passes`.
        """
        lengths = cycles_by_length or {}
        pass_number, all_passes = passes or (0, 0)
        first, self._is_first = self._is_first, False
        new = {step + 1: states[step] for step in range(self._told, len(states))}
        self._told = max(self._told, len(states))
        return Progress(
            seconds=seconds,
            paths=0,
            cycles=sum(lengths.values()),
            frontier=0,
            frontier_by_length={},
            cycles_by_length={length: count for length, count in lengths.items() if length},
            device_bytes=0,
            share=share,
            memory_bytes=resident_bytes(),
            states=states_now,
            states_by_step=new,
            expected_by_step={i + 1: round(count) for i, count in enumerate(self._expected)} if first else {},
            width=self._width,
            pass_number=pass_number,
            passes=all_passes,
        )
