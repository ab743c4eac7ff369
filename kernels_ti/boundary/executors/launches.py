"""The launches of kernels for one block."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator

from kernels_ti.boundary.values.states import GivenUp
from kernels_ti.device.device import Device

# Between two questions whether it is enough. The way to the thread that owns Taichi and back takes as long as a launch.
_SECONDS_OF_LAUNCHES = 0.05
_ENDED = object()


def slices(count: int, at_once: int) -> Iterator[tuple[int, int]]:
    """Cut the numbers below `count` into ranges for one launch each."""
    for first in range(0, count, at_once):
        yield first, min(first + at_once, count)


def go_through(device: Device, launches: Generator[object, None, object], enough: Callable[[], bool]) -> None:
    """Make all launches, unless it was enough before: then close them and raise GivenUp."""
    is_through = False
    while not is_through:
        if enough():
            device.call(launches.close)
            raise GivenUp
        is_through = device.call(_made_for_a_while, launches)


def _made_for_a_while(launches: Iterator[object]) -> bool:
    """Make some of the launches, on the thread that owns Taichi; say whether that was all."""
    end = time.perf_counter() + _SECONDS_OF_LAUNCHES
    while time.perf_counter() < end:
        if next(launches, _ENDED) is _ENDED:
            return True
    return False
