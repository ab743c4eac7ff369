"""The wave's arena: a buffer that two stacks of records fill from its ends, and their transfer to the host and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.made_ahead import made_ahead
from kernels_ti.errors import EngineError, SizeError, parameter
from kernels_ti.found.stored import ResidentBlocks
from kernels_ti.state import STATE_WORD_BITS, Frames, narrow_words, singles, wide_words
from kernels_ti.wave.transfer import transfer

PIECE_BYTES = 2 << 20  # Bytes of the buffer through which records go to the host and back
SMALLEST = 2  # Places of an arena that is still worth a try when memory is short


def sibling_order(
    path: npt.NDArray[np.uint64], other: npt.NDArray[np.int32], last: npt.NDArray[np.int32]
) -> npt.NDArray[np.intp]:
    """Return an order of records in which siblings are side by side, with ascending labels.

    Siblings have `path`, shape (records, words), in common, and `other`, the end that waits; they differ by `last`. The
    order is by a hash of what they have in common: others may stand between siblings if two hashes are the same.
    """
    key = np.zeros(len(path), np.uint64)
    for word in (other.astype(np.uint64), *path.T):
        key = (key ^ word) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return np.lexsort((last, key))


@dataclass
class Segment:
    """Records of one length in the arena, above those of the same parity that came before."""

    length: int  # Vertices of each path
    count: int
    weight: float  # Share of the whole search below all of them


class Arena:
    """Places for records; those of even length fill it from the left, those of odd length from the right.

    With `collect` records have members. It takes up to `memory` bytes; less if the device has less. An EngineError is
    raised if the device has no room for a few records. Word w of place p, of `capacity`, lies at ``w * capacity + p``
    of `allowed`, `ends` and `members`. `segments` are the records in it by length, the deepest last.
    """

    def __init__(self, blocks: ResidentBlocks, collect: bool, memory: int) -> None:
        self.blocks = blocks
        self.segments: list[Segment] = []
        self._collect = collect
        group = blocks.group
        self._word = np.uint64 if group.word_bits == STATE_WORD_BITS else np.uint32
        self._width = group.words * (2 if collect else 1)
        self.record_bytes = self._width * group.word_bits // 8 + 8
        # Elsewhere an arena is small, memory is short, and the CPU's buffers themselves are what is downloaded.
        self._on_threads = made_ahead if blocks.device.arch == "cuda" else map
        self._piece = max(PIECE_BYTES // self.record_bytes, 1)
        device = blocks.device
        self._rows = device.empty(self._piece * self._width, self._word, kept=True)
        self._pairs = device.empty(2 * self._piece, np.int32, kept=True)
        self.capacity = min(memory // self.record_bytes, LARGEST_BUFFER // max(group.words, 2))
        while True:
            if self.capacity < SMALLEST:
                raise SizeError(
                    f"{device.name} has no room for paths of {group.longest_block:,} vertices: "
                    f"use {parameter('arch', 'cpu')}, or allow more with {parameter('memory')}"
                )
            words = group.words * self.capacity
            try:
                # Together: one that has room must not stay where the others have none.
                self.allowed, self.ends, self.members = (
                    device.empty(words, self._word, kept=True),
                    device.empty(2 * self.capacity, np.int32, kept=True),
                    device.empty(words if collect else 1, self._word, kept=True),
                )
                return
            except EngineError:
                self.capacity //= 2
                if self.capacity < SMALLEST:
                    raise

    @property
    def bytes(self) -> int:
        """Bytes on the device."""
        return self.capacity * self.record_bytes + self._piece * self.record_bytes

    @property
    def count(self) -> int:
        """Records in it."""
        return sum(segment.count for segment in self.segments)

    @property
    def share(self) -> float:
        """Share of the whole search below the records."""
        return sum(segment.weight for segment in self.segments)

    def used(self, side: int) -> int:
        """Places that are taken on the side of even (0) or odd (1) lengths."""
        return sum(segment.count for segment in self.segments if segment.length % 2 == side)

    def place(self, side: int, used: int) -> int:
        """Return the place that follows `used` records on a side."""
        return self.capacity - 1 - used if side else used

    def add(self, length: int, count: int, weight: float) -> None:
        """Note that `count` records of the greatest length were placed on top of their side."""
        if not count:
            return
        top = self.segments[-1] if self.segments else None
        if top is not None and top.length == length:
            top.count += count
            top.weight += weight
        else:
            self.segments.append(Segment(length, count, weight))

    def take(self, segment: Segment, count: int) -> float:
        """Note that the topmost records of a segment are gone; return the share of the search below them."""
        weight = segment.weight * count / segment.count
        segment.count -= count
        segment.weight -= weight
        self.segments = [kept for kept in self.segments if kept.count]
        return weight

    def frames(self) -> Iterator[Frames]:
        """Return all records as frames, in pieces; siblings share a frame."""
        yield from self._on_threads(lambda piece: self._framed(*piece), self._pieces())

    def _pieces(self) -> Iterator[tuple[Segment, npt.NDArray[Any], npt.NDArray[np.int32]]]:
        """Copy the records to the host piece by piece: their bit rows and their two ends."""
        device, below = self.blocks.device, [0, 0]
        for segment in self.segments:
            side = segment.length % 2
            for first in range(0, segment.count, self._piece):
                count = min(self._piece, segment.count - first)
                self._copy(segment.length, self.place(side, below[side] + first), count, out=True)
                rows = device.download(self._rows)[: count * self._width].reshape(count, self._width)
                pairs = device.download(self._pairs)[: 2 * count].reshape(count, 2)
                yield segment, rows, pairs
            below[side] += segment.count

    def _framed(self, segment: Segment, rows: npt.NDArray[Any], pairs: npt.NDArray[np.int32]) -> Frames:
        words = self.blocks.group.words
        other, last = pairs[:, 0], pairs[:, 1]
        path = wide_words(rows[:, :words])
        width = path.shape[1]
        if self._collect:
            path = np.concatenate([path, wide_words(rows[:, words:]) & ~self._single(last)], axis=1)
        if self.blocks.device.arch == "cuda":  # where the children of 32 paths are written in turn
            order = sibling_order(path, other, last)
            path, other, last = path[order], other[order], last[order]
        # Two paths may differ in their members alone, which a count does not know: labels of siblings ascend.
        first = np.ones(len(path), bool)
        first[1:] = (other[1:] != other[:-1]) | (last[1:] <= last[:-1]) | (path[1:] != path[:-1]).any(axis=1)
        extensions = np.bitwise_or.reduceat(self._single(last), np.flatnonzero(first), axis=0)
        weight = np.full(len(extensions), segment.weight / segment.count)
        length = np.full(len(extensions), segment.length - 1, np.int32)
        members = path[first, width:] if self._collect else None
        return Frames(path[first, :width], extensions, members, other[first].astype(np.int32), length, weight)

    def _single(self, row: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
        """Bit rows of one label each, given by row numbers."""
        group = self.blocks.group
        return singles(row - group.first_row_of_end[row], -(-group.words * group.word_bits // STATE_WORD_BITS))

    def load(self, frames: Frames) -> None:
        """Put frames into the empty arena, a record for each extension; there are no more of these than places."""
        for length in np.unique(frames.length).tolist():
            chosen = frames[frames.length == length]
            step = max(self._piece * self._width // (STATE_WORD_BITS * chosen.extensions.shape[1]), 1)
            pieces = (chosen[first : first + step] for first in range(0, len(chosen), step))
            for records in self._on_threads(self._records, pieces):
                self._upload(length + 1, *records)

    def _records(self, frames: Frames) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Return a record for each extension: its bit rows, its two ends, and the weight of its frame."""
        group = self.blocks.group
        bits = np.unpackbits(np.ascontiguousarray(frames.extensions).view(np.uint8), axis=1, bitorder="little")
        frame, label = np.nonzero(bits)
        other = frames.end[frame]
        last = (group.first_rows_of_both_ends[group.end_rows + other] + label).astype(np.int32)
        rows = [frames.allowed[frame]]
        if self._collect:
            assert frames.members is not None
            rows.append(frames.members[frame] | self._single(last))
        narrow = np.concatenate([narrow_words(row, group.words, group.word_bits) for row in rows], axis=1)
        return narrow, np.stack([other, last], axis=1), frames.weight[frame]

    def _upload(
        self, length: int, rows: npt.NDArray[Any], pairs: npt.NDArray[np.int32], weight: npt.NDArray[np.float64]
    ) -> None:
        for first in range(0, len(pairs), self._piece):
            count = min(self._piece, len(pairs) - first)
            self.blocks.device.upload(rows[first : first + count].reshape(-1), self._rows)
            self.blocks.device.upload(pairs[first : first + count].reshape(-1), self._pairs)
            self._copy(length, self.place(length % 2, self.used(length % 2)), count, out=False)
            self.add(length, count, float(weight[first : first + count].sum()))

    def _copy(self, length: int, start: int, count: int, *, out: bool) -> None:
        words, direction = self.blocks.group.words, -1 if length % 2 else 1
        buffers = (self.allowed, self.ends, self.members, self.capacity)
        transfer(words, self._collect, out, *buffers, start, direction, count, self._rows, self._pairs)
