"""The frames of a lease in portions, so that those that no portion has begun never travel back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from kernels_ti.cluster.leases import Chunk, joined
from kernels_ti.state import Frames, RunState

PORTION_SECONDS = 0.5  # How long the search of a portion should take

FIRST_PORTIONS, FIRST_PORTIONS_OF_LISTING = 12, 1 << 12
"""Number of portions of a lease before the speed is known. A GPU may find gigabytes of cycles in a second."""

PORTION_BYTES = 32 << 20  # How many bytes of cycles a portion should find
GROWTH = 8.0  # How many times larger a portion may be than the one before


class Portions:
    """Takes the frames of a lease group by group, in their order.

    A lease without frames, or with triangles and triplets to count, is one portion. `share` is the share of the batch
    that the next portion should have; 0 if no earlier lease has told it, or there were no frames. `listing` keeps the
    cycles.
    """

    def __init__(self, state: RunState, share: float, *, listing: bool) -> None:
        self._state = state
        self._frames = [next(iter(joined(list(group.frames))), None) for group in state.groups]
        self._begun = [0] * len(self._frames)
        self._number = 0
        self._shares = [np.zeros(0) if each is None else each.path_counts * each.weight for each in self._frames]
        self._last = 0.0
        total = float(sum(shares.sum() for shares in self._shares))
        self.share = share or total / (FIRST_PORTIONS_OF_LISTING if listing else FIRST_PORTIONS)

    @property
    def begun(self) -> tuple[int, ...]:
        """How many frames of each group portions have begun, from the first on."""
        return tuple(self._begun)

    def __iter__(self) -> Iterator[RunState]:
        """Yield one portion after another; `searched` is to be called in between."""
        if not any(len(shares) for shares in self._shares):
            yield self._state
            return
        for number, frames in enumerate(self._frames):
            while frames is not None and self._begun[number] < len(frames):
                yield self._next(number, frames)

    def most_bytes(self, paths: int) -> int:
        """Return the most bytes that `paths` waiting paths of the last portion take as frames."""
        frames = self._frames[self._number]
        return 0 if frames is None else paths * (frames.nbytes // max(len(frames), 1) + 1)

    def searched(self, seconds: float, found_bytes: int = 0) -> None:
        """Note how long the search of the last portion took, and the bytes of the cycles that it found."""
        if self._last > 0:
            times = min(PORTION_SECONDS / max(seconds, 1e-6), PORTION_BYTES / max(found_bytes, 1))
            self.share = min(self._last * times, GROWTH * max(self.share, self._last))

    def _next(self, number: int, frames: Frames) -> RunState:
        first, self._number = self._begun[number], number
        sums = np.cumsum(self._shares[number][first:])
        count = int(np.searchsorted(sums, self.share, side="right")) + 1
        if count < len(sums) and sums[-1] - sums[count - 1] < self.share / 2:
            count = len(sums)  # the rest is not worth a portion of its own
        count = min(count, len(sums))
        self._last = float(sums[count - 1])
        self._begun[number] = first + count
        others = [replace(group, frames=()) for group in self._state.groups]
        others[number] = replace(others[number], frames=(frames[first : first + count],))
        return replace(self._state, groups=tuple(others))


def untouched(chunks: Iterable[Chunk], begun: tuple[int, ...]) -> Iterator[Chunk]:
    """Yield what a lease of these chunks, in their order, has not begun; see `Portions.begun`."""
    left = list(begun)
    for chunk in chunks:
        done = min(left[chunk.group], len(chunk.frames))
        left[chunk.group] -= done
        if done == 0:
            yield chunk
        elif done < len(chunk.frames):
            rest = chunk.frames[done:]
            yield Chunk(chunk.group, rest, rest.share)


def frame_bytes(state: RunState) -> int:
    """Return the bytes of the frames of a state."""
    return sum(frames.nbytes for group in state.groups for frames in group.frames)
