"""The waiting work of a search that many workers share: self-contained frames in small chunks, and leases of these."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True)
class Pace:
    """How long leases last, and how long the driver waits, in seconds."""

    shortest: float = 0.5  # Of a lease near the end of the search
    longest: float = 5.0  # Of a lease
    # After which an overdue lease is given to another worker, if the scheduler has not heard of its worker either
    patience: float = 30.0
    no_worker_patience: float = 60.0  # Without any worker after which the search ends
    scheduler_patience: float = 60.0  # Without an answer of the scheduler after which the search ends
    tries: int = 3  # Workers on which a lease may fail; then the search ends
    deaths: int = 10  # Workers that may die with the same frames; then the search ends


@dataclass(frozen=True, eq=False)
class Work:
    """The work of one lease."""

    chunks: list[Chunk]
    stage_1: bool = False  # Count triangles and triplets of the batch, too
    failed_on: tuple[str, ...] = ()  # The workers on which this work failed
    deaths: int = 0  # How many workers died with it

    @property
    def share(self) -> float:
        """Estimated share of the batch."""
        return sum(chunk.share for chunk in self.chunks)

    @property
    def paths_by_length(self) -> Counter[int]:
        """Paths of its chunks, by their number of vertices."""
        counted: Counter[int] = Counter()
        for chunk in self.chunks:
            counted.update(chunk.paths_by_length)
        return counted


@dataclass(eq=False)
class Request:
    """Something that a worker was asked for."""

    number: int  # Later requests have larger numbers
    address: str
    seconds: float  # How long the worker may take before it is overdue
    began: float = field(default_factory=time.monotonic, kw_only=True)  # When it was asked (`time.monotonic`)
    # When the scheduler last heard of the worker, on its clock, and when the driver learnt that, on its own
    heard: tuple[float, float] | None = field(default=None, kw_only=True)

    @property
    def age(self) -> float:
        """Seconds since it was asked."""
        return time.monotonic() - self.began


@dataclass(eq=False)
class Lease(Request):
    """Work that a worker has; it may search for `seconds`."""

    work: Work
    frame_bytes: int  # Of the frames that were sent
    ahead: bool  # The worker had another lease when it was given
    recalled: bool = False  # The worker was asked to answer soon
