"""Sharing of work: workers of the sweep without work get frames from the stacks of the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels_ti.state import Rows
from kernels_ti.sweep.frames import share_of

_INDIVISIBLE = -1.0
"""In place of the share below a stack with too few frames to give one away."""


def share_frames(stacks: Rows, depth_of: npt.NDArray[np.int32], words: int) -> None:
    """Give every worker without a frame each second frame of the stack with the most work below it.

    A path near the bottom of a stack has far more work below it than one near the top. Each second frame is about half
    of the work. `stacks`, shape (workers, most frames, frame words), has for each worker its `depth_of` frames, the
    oldest first; both are changed. A bit row has `words` words.
    """
    left = np.full(len(depth_of), _INDIVISIBLE)
    for worker in np.flatnonzero(depth_of > 1).tolist():
        left[worker] = share_of(stacks[worker, : depth_of[worker]], words)
    for taker in np.flatnonzero(depth_of == 0).tolist():
        giver = int(left.argmax())
        if left[giver] == _INDIVISIBLE:
            return
        frames = stacks[giver, : depth_of[giver]].copy()
        half = left[giver] / 2
        for worker, some in ((taker, frames[0::2]), (giver, frames[1::2])):
            stacks[worker, : len(some)] = some
            depth_of[worker] = len(some)
            left[worker] = half if len(some) > 1 else _INDIVISIBLE
