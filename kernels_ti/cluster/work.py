"""The waiting work of a search that many workers share: self-contained frames in small chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kernels_ti.estimate.host_step import labels_of
from kernels_ti.state import Frames, GroupState, by_length_of, populations, singles

FRAMES_PER_CHUNK = 64  # Most frames of a chunk
FEWEST_CHUNKS = 32  # Chunks into which a small answer is divided, so that several workers can go on with it


@dataclass(frozen=True, eq=False)
class Chunk:
    """A few frames of one group of blocks."""

    group: int  # Number of the group in its batch
    frames: Frames
    share: float  # Estimated share of the batch below these frames

    @property
    def length(self) -> int:
        """Vertices of the shortest path."""
        return int(self.frames.length.min())

    @cached_property
    def paths_by_length(self) -> Counter[int]:
        """Paths that wait, by their number of vertices."""
        return Counter(by_length_of(self.frames.paths_by_length))


def halves(frames: Frames) -> list[Frames]:
    """Split a single frame into two with about half of its extensions each; return it alone if it has only one."""
    _, labels = labels_of(frames.extensions)
    if len(labels) < 2:
        return [frames]
    first = np.bitwise_or.reduce(singles(labels[::2], frames.extensions.shape[1]), axis=0, keepdims=True)
    return [replace(frames, extensions=part) for part in (first, frames.extensions & ~first)]


def chunks_of(group: int, frames: Frames) -> list[Chunk]:
    """Divide the frames of one group into chunks of about the same share.

    There are at least `FEWEST_CHUNKS`, or one for each path if there are fewer.
    """
    counted = populations(frames.extensions)
    order = np.argsort(-frames.weight * counted, kind="stable")
    parts = max(-(-len(frames) // FRAMES_PER_CHUNK), min(len(frames), FEWEST_CHUNKS))
    pieces = [frames[order[first::parts]] for first in range(parts)]
    while len(pieces) < FEWEST_CHUNKS:
        # Few frames may have many extensions; the subtrees below are searched apart.
        more = [half for piece in pieces for half in (halves(piece) if len(piece) == 1 else [piece])]
        if len(more) == len(pieces):
            break
        pieces = more
    return [Chunk(group, piece, piece.share) for piece in pieces]


def groups_of(chunks: Iterable[Chunk], seeds: list[int], surveyed: list[int] | None = None) -> tuple[GroupState, ...]:
    """Return the states of the groups of a batch that hold these chunks.

    `seeds` has the number of seeds of each group, `surveyed` those whose triangles and triplets are counted; by default
    all.
    """
    frames: list[list[Frames]] = [[] for _ in seeds]
    for chunk in chunks:
        frames[chunk.group].append(chunk.frames)
    done = seeds if surveyed is None else surveyed
    return tuple(
        GroupState(surveyed=counted, next_seed=count, frames=tuple(joined(some)))
        for counted, count, some in zip(done, seeds, frames, strict=True)
    )


def joined(frames: list[Frames]) -> list[Frames]:
    """Concatenate frames into one piece, none if there are none."""
    if len(frames) < 2:
        return frames
    pieces = zip(*(each.arrays for each in frames), strict=True)
    arrays: list[Any] = [None if piece[0] is None else np.concatenate(piece) for piece in pieces]
    return [Frames(*arrays)]
