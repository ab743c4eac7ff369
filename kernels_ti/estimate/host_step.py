"""The step over many frames at once, in numpy on the host. Parts of a search and estimates use it.

It is the step of `kernels_ti.step` (choice of the end, closers, certificate), vectorised over frames. All frames of one
call have the same length, as in a breadth-first search. `tests/test_step.py` compares it with the device's.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import spans
from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.graph import IntArray
from kernels_ti.state import STATE_WORD_BITS, Frames, Rows, below, populations, singles, wide_words

_WORDS_AT_ONCE = 1 << 16  # in the bit rows of the seeds that are surveyed together
_NONE = np.zeros(0, np.int64)


def labels_of(rows: Rows) -> tuple[IntArray, IntArray]:
    """Return the row and the label of each set bit of rows (k, W), in ascending order of row, then label."""
    found = np.flatnonzero(unpacked(rows))
    row, label = np.divmod(found, STATE_WORD_BITS * max(rows.shape[1], 1))
    return row, label


def unpacked(rows: Rows) -> npt.NDArray[np.uint8]:
    """Return bit rows, shape (k, W), as bytes 0 and 1, shape (k, 64 W)."""
    return np.unpackbits(np.ascontiguousarray(rows).view(np.uint8), axis=1, bitorder="little")


def completing(required: Rows, had: Rows, labels: Rows) -> Rows:
    """Keep the labels that complete `required`, see `kernels_ti.step.required`; the others have shape (k, W)."""
    lacking = required & ~had
    count = populations(lacking)[:, None]
    kept: Rows = np.where(count == 0, labels, np.where(count == 1, labels & lacking, np.uint64(0)))
    return kept


@dataclass(frozen=True, eq=False)
class Expansion:
    """The result of one step over k paths."""

    closers: Rows  # Shape (k, W): vertices that close a chordless cycle with the path
    parent: IntArray  # Shape (children,): which of the paths each child comes from, ascending
    # The paths that go on, with the extensions that can still lead to a cycle; each has the weight of its parent
    children: Frames
    # Edges between the ends of each path that goes on, as `HostBlocks.singled` lists these; empty without the
    # certificate
    distance: IntArray
    operations: int = 0  # Word operations of the certificate, which are most of the work


class HostBlocks:
    """A group of blocks, ready for the step on the host.

    `rows` are the adjacency bit rows, uint64 of shape (bit rows, W), then the chords, see
    `kernels_ti.blocks.block_group.BlockGroup`. `required`, shape (W,), are labels that every cycle must have; frames
    need members then.
    """

    def __init__(self, group: BlockGroup) -> None:
        self.group = group
        self.rows = wide_words(group.bit_rows())
        self.required = None if group.required is None else wide_words(group.required[None])[0]
        self._first_row = group.first_row_of_end.astype(np.int64)
        self._first_of_other = group.first_rows_of_both_ends[group.end_rows :].astype(np.int64)
        self._size_at = np.bincount(self._first_row, minlength=group.end_rows)

    @property
    def words(self) -> int:
        """Words of 64 bits in a row."""
        return int(self.rows.shape[1])

    def seed_frames(self, seeds: IntArray, *, members: bool, weight: npt.NDArray[np.float64]) -> Frames:
        """Make the frames of some seeds, see `kernels_ti.estimate.parts.seed_frames`; dead frames are included."""
        group, rows = self.group, self.rows
        u = group.seed_roots[seeds].astype(np.int64)
        x = group.neighbour[group.seed_entries[seeds]].astype(np.int64)
        first, label_x = self._first_row[u], x - self._first_row[x]
        extensions = rows[u] & ~rows[x] & ~self._chords(x) & ~below(self._before(u, x), self.words)
        allowed = below(self._size_at[first], self.words) & ~below(u - first + 1, self.words) & ~rows[u]
        allowed &= ~(self._chords(u) | self._chords(x))
        path = singles(u - first, self.words) | singles(label_x, self.words) if members else None
        if self.required is not None:
            assert path is not None
            extensions = completing(self.required, path | allowed, extensions)
        length = np.full(len(seeds), 2, np.int32)
        return Frames(allowed, extensions, path, x.astype(np.int32), length, weight)

    def survey(self, max_length: int) -> tuple[int, int]:
        """Count the triangles and the initial triplets; with a maximum length of 3 there are no triplets."""
        every = np.arange(len(self.group.seed_entries))
        most = max(_WORDS_AT_ONCE // self.words, 1)
        pieces = [every[start : start + most] for start in range(0, len(every), most)]
        triangles = sum(int(populations(self.triangles(seeds)).sum()) for seeds in pieces)
        if max_length <= 3:
            return triangles, 0
        if self.required is None and self.group.chords is None:
            return triangles, int(self.group.pairs_of_seed.sum()) - triangles
        return triangles, sum(int(self.triplets(seeds).sum()) for seeds in pieces)

    def triplets(self, seeds: IntArray) -> IntArray:
        """Count the initial triplets of each of some seeds, shape (k,)."""
        members = self.required is not None
        return self.seed_frames(seeds, members=members, weight=np.ones(len(seeds))).path_counts

    def triangles(self, seeds: IntArray) -> Rows:
        """Return the labels that make a triangle with each of some seeds (u, x) and come after x."""
        group, rows = self.group, self.rows
        u = group.seed_roots[seeds].astype(np.int64)
        x = group.neighbour[group.seed_entries[seeds]].astype(np.int64)
        closers: Rows = rows[u] & rows[x] & ~below(self._before(u, x), self.words)
        if self.required is None:
            return closers
        label_u, label_x = u - self._first_row[u], x - self._first_row[x]
        return completing(self.required, singles(label_u, self.words) | singles(label_x, self.words), closers)

    def _before(self, u: IntArray, x: IntArray) -> IntArray:
        """Return for each seed the first label that its y may have: after x, or after u where x has another role."""
        after: IntArray = np.where(self._first_row[u] == self._first_row[x], x, u) + 1 - self._first_row[u]
        return after

    def _chords(self, row: IntArray) -> Rows:
        if self.group.chords is None:
            return np.zeros((len(row), self.words), np.uint64)
        return self.rows[self.group.end_rows + row]

    def alive(self, frames: Frames) -> npt.NDArray[np.bool_]:
        """Say which frames have an extension, and an allowed vertex next to the waiting end; shape (k,)."""
        waiting = self.rows[frames.end] & frames.allowed
        return np.logical_and(frames.extensions.any(axis=1), waiting.any(axis=1))

    def singled(self, frames: Frames) -> tuple[IntArray, Frames]:
        """Split frames into frames of a single extension, in order; return the source of each, and the frames."""
        parent, label = labels_of(frames.extensions)
        return parent, replace(frames[parent], extensions=singles(label, self.words))

    def label(self, paths: Frames) -> IntArray:
        """Return the label of the one extension of each frame, shape (k,)."""
        word = (paths.extensions != 0).argmax(axis=1)
        lowest = paths.extensions[np.arange(len(paths)), word]
        label: IntArray = word * STATE_WORD_BITS + populations((lowest - np.uint64(1))[:, None])
        return label

    def expand(self, paths: Frames, max_length: int, *, certificate: bool = True) -> Expansion:
        """Make one step of frames of a single extension, all of the same length.

        With `certificate`, extensions that cannot lead to a cycle of at most `max_length` vertices are dropped, and
        allowed vertices that cannot lie on one.
        """
        length = int(paths.length[0]) if len(paths) else 0
        label = self.label(paths)
        end = paths.end.astype(np.int64)
        v = self._first_of_other[end] + label
        free = paths.allowed & ~self._chords(v)
        at_end = self.rows[end] & free
        at_v = self.rows[v] & free
        closers = at_end & at_v
        wanted = closers
        if self.required is not None:
            assert paths.members is not None
            wanted = completing(self.required, paths.members | paths.extensions, closers)
        if length + 3 > max_length:
            return Expansion(wanted, _NONE, paths[:0], _NONE)
        only_end, only_v = at_end & ~at_v, at_v & ~at_end
        of_end, of_v = populations(only_end), populations(only_v)
        parent = np.flatnonzero((of_end > 0) & (of_v > 0))
        swap = of_v[parent] > of_end[parent]
        end, v, only_end, only_v = end[parent], v[parent], only_end[parent], only_v[parent]
        members = None
        if paths.members is not None:
            members = paths.members[parent] | paths.extensions[parent]
        children = Frames(
            free[parent] & ~self.rows[np.where(swap, end, v)],
            np.where(swap[:, None], only_end, only_v),
            members,
            np.where(swap, v, end).astype(np.int32),
            np.full(len(parent), length + 1, np.int32),
            paths.weight[parent],
        )
        if self.required is not None:
            assert members is not None
            extensions = completing(self.required, members | children.allowed, children.extensions)
            alive = np.flatnonzero(extensions.any(axis=1))
            parent, children = parent[alive], replace(children, extensions=extensions)[alive]
        if not certificate:
            return Expansion(wanted, parent, children, _NONE)
        kept, children, distance, operations = self.certified(children, max_length)
        return Expansion(wanted, parent[kept], children, distance, operations)

    def free_neighbours(self, paths: Frames) -> tuple[IntArray, IntArray]:
        """Count the vertices that may join at both ends of paths of a single extension: at that end, at the other."""
        end = paths.end.astype(np.int64)
        last = self._first_of_other[end] + self.label(paths)
        return populations(self.rows[last] & paths.allowed), populations(self.rows[end] & paths.allowed)

    def certified(
        self, frames: Frames, max_length: int, *, deadline: float = math.inf
    ) -> tuple[IntArray, Frames, IntArray, int]:
        """Keep only the parts of frames, all of one length, that can lead to a cycle: `kernels_ti.step.certificate`.

        After the reading `deadline` of `time.perf_counter` the flood breaks off, and no frame is kept. Returns the
        frames that have an extension left; these, without the extensions and allowed vertices that the waiting end
        cannot reach; the edges between the waiting end and each extension left, as `singled` lists these; and the word
        operations.
        """
        if not len(frames):
            return _NONE, frames, _NONE, 0
        lanes = _Lanes(self, frames.end)
        way_in = lanes.sliced(frames.allowed)
        seen = lanes.sliced(self.rows[frames.end] & frames.allowed)
        missing = lanes.sliced(frames.extensions)
        rounds_left = max_length - int(frames.length[0]) - 1
        operations = rounds = 0
        # Bit i of the round in which the flood comes to an extension.
        round_bits: list[Rows] = []
        while True:
            touched = lanes.neighbours_of(seen)
            operations += lanes.operations_of_round
            rounds_left -= 1
            rounds += 1
            reached = touched & missing
            missing &= ~touched
            for i in range(rounds.bit_length()):
                if i == len(round_bits):
                    round_bits.append(np.zeros_like(seen))
                if rounds >> i & 1:
                    round_bits[i] |= reached
            more = seen | touched & way_in
            if rounds_left <= 0 or np.array_equal(more, seen):
                break
            if time.perf_counter() > deadline:
                return _NONE, frames[:0], _NONE, operations
            seen = more
        extensions = frames.extensions & lanes.rows_from(touched)
        allowed = lanes.rows_from(seen)
        if self.required is not None:
            assert frames.members is not None
            extensions = completing(self.required, frames.members | allowed, extensions)
        kept = np.flatnonzero(extensions.any(axis=1))
        certified = replace(frames, extensions=extensions, allowed=allowed)[kept]
        row, label = labels_of(certified.extensions)
        distance = np.ones(len(row), np.int64)
        for i, bits in enumerate(round_bits):
            distance += unpacked(lanes.rows_from(bits)[kept])[row, label].astype(np.int64) << i
        return kept, certified, distance, operations


class _Lanes:
    """Frames transposed, so that one operation on a word floods 64 of them.

    A **lane** is a copy of a block together with up to `width` of its frames. It holds a bit row over those frames for
    each vertex of the block. So a round of the flood costs 2 m operations on words for 64 frames, instead of one
    operation on a whole bit row for each vertex of each frame.
    """

    def __init__(self, blocks: HostBlocks, vertex: npt.NDArray[np.int32]) -> None:
        group = blocks.group
        self._words = blocks.words
        first_of_frame = blocks._first_row[vertex]
        starts, block, frames = np.unique(first_of_frame, return_inverse=True, return_counts=True)
        # As wide as the average number of frames in a block, so that few lanes are partly empty.
        words = -(-len(vertex) // (STATE_WORD_BITS * len(starts)))
        self._width = width = STATE_WORD_BITS * words
        lanes_of_block = -(-frames // width)
        lane_before = np.cumsum(lanes_of_block) - lanes_of_block
        order = np.argsort(block, kind="stable")
        rank = np.empty(len(vertex), np.int64)
        rank[order] = spans(np.zeros_like(frames), frames)
        self._place = (lane_before[block] + rank // width) * width + rank % width
        self._lanes = int(lanes_of_block.sum())
        self._size = int(blocks._size_at[starts].max())

        # The lanes' vertices, and the neighbours of each, among all lanes x size places.
        # A vertex looks for one that the flood has come to: in the role of the end that does not wait.
        first = blocks._first_of_other[np.repeat(starts, lanes_of_block)]
        sizes = blocks._size_at[first]
        lane = np.repeat(np.arange(self._lanes), sizes)
        label = spans(np.zeros_like(sizes), sizes)
        row = first[lane] + label
        degree = (group.row_ptr[row + 1] - group.row_ptr[row]).astype(np.int64)
        # A graph that is not split into blocks may have vertices without a neighbour.
        lane, label, row, degree = (each[degree > 0] for each in (lane, label, row, degree))
        entry = spans(group.row_ptr[row].astype(np.int64), degree)
        shift = np.repeat(lane * self._size - first[lane], degree)
        self._neighbour = group.neighbour[entry] + shift
        self._segment = np.cumsum(degree) - degree
        self.operations_of_round = words * len(entry)
        self._vertex = None if len(row) == self._lanes * self._size else lane * self._size + label

    def sliced(self, rows: Rows) -> Rows:
        """Turn bit rows of frames over vertices, shape (k, W), into bit rows of vertices over frames."""
        bits = np.zeros((self._lanes * self._width, self._size), np.uint8)
        bits[self._place] = unpacked(rows)[:, : self._size]
        # Eight frames become bytes first: bytes are turned eight times as fast as bits that are a byte each.
        eights = bits[::8]
        for i in range(1, 8):
            eights |= bits[i::8] << i
        turned = eights.reshape(self._lanes, self._width // 8, self._size).transpose(0, 2, 1)
        return np.ascontiguousarray(turned).view(np.uint64).reshape(self._lanes * self._size, -1)

    def rows_from(self, lanes: Rows) -> Rows:
        """Turn bit rows of vertices over frames back; the inverse of `sliced`."""
        bytes_ = np.ascontiguousarray(lanes).view(np.uint8)
        turned = bytes_.reshape(self._lanes, self._size, self._width // 8).transpose(0, 2, 1)
        eights = np.ascontiguousarray(turned).reshape(-1, self._size)
        rows = np.zeros((len(self._place), STATE_WORD_BITS * self._words), np.uint8)
        rows[:, : self._size] = eights[self._place // 8] >> (self._place % 8).astype(np.uint8)[:, None] & 1
        return np.packbits(rows, axis=1, bitorder="little").view(np.uint64)

    def neighbours_of(self, lanes: Rows) -> Rows:
        """Return for each vertex the frames in which a neighbour of it is set."""
        touched = np.bitwise_or.reduceat(lanes[self._neighbour], self._segment, axis=0)
        if self._vertex is None:
            return touched
        everywhere = np.zeros_like(lanes)
        everywhere[self._vertex] = touched
        return everywhere
