"""Frames as the sweep's stacks hold them, one row of 64-bit words to a frame: how they are packed, pooled and shared.

The words of a row: allowed, waiting, extensions, members where cycles are wanted, then the weight and, in
the last word, the end with the length above it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.block_group import BlockGroup
from kernels_ti.graph import IntArray
from kernels_ti.state import STATE_WORD_BITS, Frames, Rows, lengths_counted, populations

LENGTH_SHIFT = 32  # Bits of the last word that hold the end; the length lies above
_INDIVISIBLE = -1.0  # In place of the share below a stack with too few frames to give one away


def frame_words(words: int, member_words: int) -> int:
    """Return the words of a frame for bit rows of `words` words, with `member_words` words of members."""
    return 3 * words + member_words + 2


def packed(frames: Frames, rows: Rows, collect: bool) -> Rows:
    """Return frames as rows of a stack, shape (k, frame words), with the neighbours of their waiting ends from `rows`.

    A ValueError is raised if members are wanted, with `collect`, and the frames have none.
    """
    parts = [frames.allowed, rows[frames.end] & frames.allowed, frames.extensions]
    if collect:
        if frames.members is None:
            raise ValueError("frames of a search that only counted have no members to make cycles of")
        parts.append(frames.members)
    last = frames.end.astype(np.uint64) | frames.length.astype(np.uint64) << np.uint64(LENGTH_SHIFT)
    weight = np.ascontiguousarray(frames.weight, np.float64).view(np.uint64)
    return np.concatenate([*parts, weight[:, None], last[:, None]], axis=1)


def unpacked(stacked: Rows, words: int, collect: bool) -> Frames:
    """Return rows of a stack, shape (k, frame words), as frames that do not change with it."""
    last = stacked[:, -1]
    return Frames(
        allowed=stacked[:, :words].copy(),
        extensions=stacked[:, 2 * words : 3 * words].copy(),
        members=stacked[:, 3 * words : 4 * words].copy() if collect else None,
        end=(last & np.uint64((1 << LENGTH_SHIFT) - 1)).astype(np.int32),
        length=(last >> np.uint64(LENGTH_SHIFT)).astype(np.int32),
        weight=stacked[:, -2].copy().view(np.float64),
    )


def with_labels(frames: Frames, group: BlockGroup) -> Frames:
    """Return frames whose members are bit rows over the graph with the labels of their blocks instead."""
    assert frames.members is not None
    block = group.first_row[frames.end]
    label = np.arange(STATE_WORD_BITS * group.words)
    of_block = label < np.bincount(group.first_row)[block][:, None]
    row = np.where(of_block, block[:, None] + label, 0)
    bits = np.unpackbits(frames.members.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    labels = np.take_along_axis(bits, group.vertex_of_row[row], axis=1) * of_block
    return replace(frames, members=np.packbits(labels, axis=1, bitorder="little").view("<u8").astype(np.uint64))


class FramePool:
    """Frames of an earlier search, which the workers take before any seed.

    They are read at once. At most `most` frames are laid out for the workers at a time: `size` of them in `stacked`,
    one after another, which has one word if there is none. `rows` are the adjacency bit rows of the group. With
    `collect` frames need members.
    """

    def __init__(self, frames: Iterable[Frames], rows: Rows, collect: bool, most: int) -> None:
        self._rows = rows
        self._collect = collect
        self._most = most
        self._pieces = deque(piece for piece in frames if len(piece))
        self._pieces_share = sum(piece.share for piece in self._pieces)
        self._waiting = np.zeros(1 + max((int(piece.length.max()) + 1 for piece in self._pieces), default=0), np.int64)
        for piece in self._pieces:
            counted = piece.paths_by_length
            self._waiting[: len(counted)] += counted
        self._lengths: IntArray = np.zeros(0, np.int64)
        self._paths: IntArray = np.zeros(0, np.int64)
        self._lay_out([])

    @property
    def more(self) -> bool:
        """Whether there are frames that are not laid out yet."""
        return bool(self._pieces)

    def refill(self) -> None:
        """Lay out the next frames in place of the present ones, which are taken."""
        pieces = []
        room = self._most
        while self._pieces and room:
            piece = self._pieces.popleft()
            if len(piece) > room:
                self._pieces.appendleft(piece[room:])
                piece = piece[:room]
            pieces.append(piece)
            room -= len(piece)
        self._lay_out(pieces)
        self._pieces_share = max(0.0, self._pieces_share - float(self._share_from[0])) if self._pieces else 0.0

    def paths_by_length(self, taken: int) -> IntArray:
        """Return how many paths with t vertices wait, at index t, when the first `taken` frames laid out are gone."""
        waiting: IntArray = self._waiting.copy()
        counted = lengths_counted(self._lengths[taken:], self._paths[taken:])
        waiting[: len(counted)] += counted
        return waiting

    def share(self, taken: int) -> float:
        """Share of the whole search that waits here when the first `taken` of the frames laid out are gone."""
        return float(self._share_from[taken]) + self._pieces_share

    def frames(self, taken: int) -> Iterator[Frames]:
        """All frames that wait here when the first `taken` of those laid out are gone, in pieces."""
        if taken < self.size:
            stacked = self.stacked.reshape(self.size, -1)[taken:]
            yield unpacked(stacked, self._rows.shape[1], self._collect)
        yield from self._pieces

    def _lay_out(self, pieces: list[Frames]) -> None:
        self.size = sum(len(piece) for piece in pieces)
        self.stacked = np.zeros(1, np.uint64)
        shares = np.zeros(0, np.float64)
        if pieces:
            self.stacked = np.concatenate([packed(piece, self._rows, self._collect) for piece in pieces]).reshape(-1)
            self._lengths = np.concatenate([piece.length for piece in pieces]).astype(np.int64) + 1
            self._paths = populations(np.concatenate([piece.extensions for piece in pieces]))
            shares = self._paths * np.concatenate([piece.weight for piece in pieces])
            counted = lengths_counted(self._lengths, self._paths)
            self._waiting[: len(counted)] -= counted
        self._share_from = np.append(np.cumsum(shares[::-1])[::-1], 0.0)


def share_frames(stacks: Rows, depth_of: npt.NDArray[np.int32], words: int) -> None:
    """Give every worker without a frame each second frame of the stack with the most work below it.

    A path near the bottom of a stack has far more work below it than one near the top. Each second frame is about half
    of the work. `stacks`, shape (workers, most frames, frame words), has for each worker its `depth_of` frames, the
    oldest first; both are changed. A bit row has `words` words.
    """
    left = np.full(len(depth_of), _INDIVISIBLE)
    for worker in np.flatnonzero(depth_of > 1).tolist():
        stacked = stacks[worker, : depth_of[worker]]
        left[worker] = populations(stacked[:, 2 * words : 3 * words]) @ stacked[:, -2].copy().view(np.float64)
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
