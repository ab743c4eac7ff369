"""Estimates of the size of a search: of all its paths and cycles, and of the share behind each seed.

They come from random walks through the search, see `kernels_ti.estimate.random_walk`.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.errors import EngineError, SizeError, parameter
from kernels_ti.estimate.count_estimate import CountEstimate, EstimatedRange
from kernels_ti.estimate.host_step import HostBlocks
from kernels_ti.estimate.random_walk import SMALLEST_SEEDS, TRIPLET_WORDS, Walk, walk
from kernels_ti.estimate.strata import Floats, SubtreeSizes
from kernels_ti.graph import Graph
from kernels_ti.short_cycles import short_cycles
from kernels_ti.state import STATE_WORD_BITS, Frames, by_length

WALKS = 6  # Random walks that should fit into the given time, so that their spread is known
# Walks of one size differ in how deep they go.
_LONGER_THAN_THE_LAST = 2.0
MOST_SAMPLES = 64  # Largest number of separate samples, an even number; when it is reached, they are merged in pairs
FIRST_SIZE, SMALLEST_SIZE, LARGEST_SIZE = 64, 64, 1 << 15  # Paths of a level that a random walk keeps
LARGEST_ROWS = 1 << 30  # Largest number of bytes of bit rows on the host for an estimate without a limit on the memory
_BYTES_OF_A_WORD = 1024  # that a walk takes at its peak for each word of its paths: it turns their bits into bytes
WEIGHT_PATHS = 256  # Paths of a level that `seed_weights` keeps
WEIGHT_OPERATIONS = 6_000_000
"""Operations on words after which `seed_weights` goes no deeper, so that it takes at most about 20 ms."""
LARGEST_WEIGHED = 1 << 28  # Largest number of bytes of a group's bit rows that `seed_weights` makes

FEW_BATCHES, FEW_SEED_WORDS = 64, 1_000_000
"""Batches of blocks, and words of the bit rows of all their seeds, that may be walked through together."""

FEW_PAIRS = 24  # Up to this many pairs the search is so short that all pairs get the same weight

GROWTH = 1.16  # Assumed growth factor of a search for each additional vertex of its blocks, if nothing better is known


def seed_weights(groups: list[BlockGroup], max_length: int, memory: int | None = None) -> list[Floats]:
    """Estimate the share of the search below each seed, above 0; over all groups the sum is 1.

    One small random walk through each group, without the certificate, gives the estimate; the same blocks always give
    the same result. If there are few pairs, or a group is too large for a walk, also within `memory` bytes, a seed's
    number of pairs is its weight. The longest cycle that is wanted has `max_length` vertices.
    """
    pairs = sum(int(group.pairs_of_seed.sum()) for group in groups)
    if pairs <= FEW_PAIRS:
        return [group.pairs_of_seed / pairs for group in groups]
    are_weighable = [_weighable(group, memory) for group in groups]
    walks = [
        _small_walk(group, max_length, WEIGHT_OPERATIONS / len(groups))
        if is_weighable
        else Walk(np.zeros(len(group.seed_entries)))
        for group, is_weighable in zip(groups, are_weighable, strict=True)
    ]
    exponent = max((each.seed_exponent for each in walks), default=0)
    # Every pair is checked, even if no path comes from it.
    work = [
        np.ldexp(each.seed_work, each.seed_exponent - exponent) + np.ldexp(group.pairs_of_seed + 0.0, -exponent)
        for each, group in zip(walks, groups, strict=True)
    ]
    if not (all(are_weighable) and all(each.complete for each in walks)):
        # A walk that was broken off compares the seeds of its group, but does not tell the size of the group.
        longest = max(group.longest_block for group in groups)
        work = [
            each / each.sum() * group.pairs_of_seed.sum() * GROWTH ** float(group.longest_block - longest)
            for each, group in zip(work, groups, strict=True)
        ]
    least = 1e-12 * sum(float(each.sum()) for each in work) / max(sum(map(len, work)), 1)
    work = [np.maximum(each, least) for each in work]
    total = sum(float(each.sum()) for each in work)
    return [each / total for each in work]


def _weighable(group: BlockGroup, memory: int | None) -> bool:
    rows = _row_bytes([group])
    walk_bytes = WEIGHT_PATHS * -(-group.longest_block // STATE_WORD_BITS) * _BYTES_OF_A_WORD
    return rows <= LARGEST_WEIGHED and (memory is None or rows + walk_bytes <= memory)


def _small_walk(group: BlockGroup, max_length: int, operations: float) -> Walk:
    random = np.random.Generator(np.random.PCG64(0))
    return walk(
        HostBlocks(group), max_length, WEIGHT_PATHS, random, operations=operations, certificate=False, by_seed=True
    )


def _row_bytes(groups: list[BlockGroup]) -> int:
    return sum(group.bit_row_count * group.words * group.word_bits // 8 for group in groups)


@dataclass(frozen=True, eq=False)
class _Sample:
    """The mean result of random walks through all groups of a batch, divided by the probability of the batch."""

    size: int
    paths: float
    cycles_by_length: dict[int, float]
    walks: int = 1

    @property
    def cycles(self) -> float:
        return sum(self.cycles_by_length.values())

    def joined(self, other: _Sample) -> _Sample:
        size = self.size + other.size
        mine, theirs = self.size / size, other.size / size
        lengths = sorted(self.cycles_by_length.keys() | other.cycles_by_length.keys())
        cycles = {
            length: mine * self.cycles_by_length.get(length, 0.0) + theirs * other.cycles_by_length.get(length, 0.0)
            for length in lengths
        }
        return _Sample(size, mine * self.paths + theirs * other.paths, cycles, self.walks + other.walks)


@dataclass(eq=False)
class _Tree:
    """The search of a group of blocks: from its seeds, or from frames of one length with which the space begins it."""

    blocks: HostBlocks
    start: Frames | None
    batch: int
    triangles: int = 0  # What stage 1 counts
    triplets: int = 0
    sizes: SubtreeSizes = field(default_factory=SubtreeSizes)
    exact: Walk | None = None


class Estimator:
    """Estimates the number of paths and cycles of a graph; more time gives a better estimate.

    Each random walk is unbiased, and so is their mean, see `kernels_ti.estimate.random_walk`. The first walks grow in
    size. Then several walks have the same size, and their differences give the spread. A graph stands for the search of
    all its cycles; `seed` is that of the random numbers. With `together` each walk goes through all batches of blocks,
    if these are few and small: it takes longer, and a small graph is exact. The bit rows of a batch and the paths of a
    walk take about `memory` bytes at most; a SizeError says that this is too little.
    """

    def __init__(
        self, graph: Graph | SearchSpace, *, seed: int = 0, memory: int | None = None, together: bool = False
    ) -> None:
        self._space = space = SearchSpace.of(graph)
        self._longest = space.longest
        self._lengths = space.options.lengths
        self._short = Counter(map(len, short_cycles(space.graph, space.options)))
        self._random = np.random.Generator(np.random.PCG64(seed))
        self._memory = memory
        self._words_of_walk = TRIPLET_WORDS  # in the bit rows of the paths with which a walk begins
        self._batches = space.batches()
        count, seed_words = len(self._batches), self._batches.seed_words
        are_few = count <= FEW_BATCHES and count * seed_words <= FEW_SEED_WORDS
        # The batches of a count up to symmetry are small. All of them are walked through.
        self._at_once = space.options.symmetry or count == 1 or (together and are_few)
        self._batch: int | None = None
        self._trees: list[_Tree] = []
        self._closed = Counter[int]()  # Cycles that the space has found at the beginning, as a run keeps its totals
        self._samples: list[_Sample] = []
        self._sample_size = 0
        self._broken_off: _Sample | None = None
        self._size, self._smallest, self._largest = FIRST_SIZE, SMALLEST_SIZE, LARGEST_SIZE
        self._seconds_to_a_path = 0.0
        self._probes = 0
        self._certain_paths = self._certain_cycles = 0

    @property
    def exact(self) -> bool:
        """Whether every path has been expanded, so that more probing changes nothing."""
        return self._at_once and self._batch is not None and all(tree.exact is not None for tree in self._trees)

    @property
    def probed(self) -> bool:
        """Whether there is anything to estimate from."""
        return bool(self._samples) or self._broken_off is not None

    @property
    def has_walked(self) -> bool:
        """Whether a random walk has reached its end."""
        return bool(self._samples)

    @property
    def words(self) -> int:
        """Words of 64 bits in the widest bit rows that were probed; at least 1."""
        return max((tree.blocks.words for tree in self._trees), default=1)

    def probe(self, seconds: float, *, look: Callable[[], object] = lambda: None) -> bool:
        """Probe for about `seconds` seconds, or until the estimate is exact.

        A random walk that has begun is finished: giving up long walks would bias the estimate towards short ones. So
        none begins that is expected to take longer than the time left. Only the first walk is broken off when the time
        is over; it then gives lower bounds. `look` is called at each level. Returns whether a walk has reached its end,
        or the estimate is exact. If not, only a longer probe gets further.
        """
        deadline, has_walked = time.perf_counter() + seconds, False
        while not self.exact and (began := time.perf_counter()) < deadline:
            size = self._size
            if self._seconds_to_a_path:  # smaller than planned where the last one says that it would take longer
                size = int(min(size, (deadline - began) / (_LONGER_THAN_THE_LAST * self._seconds_to_a_path)))
            if size < min(self._size, self._smallest):
                break
            complete = self.add_walk(size, deadline=math.inf if self._samples else deadline, look=look)
            spent = time.perf_counter() - began
            if complete:
                has_walked = True
                # A smaller walk that came to its end in time tells little of the time of larger ones: its size will do.
                self._smallest = min(size, SMALLEST_SIZE)
                self._seconds_to_a_path = spent / size
                fitting = size * seconds / WALKS / max(spent, 1e-6)
                self._size = int(min(max(fitting, SMALLEST_SIZE), self._largest, 8 * size))
            else:
                self._size = max(size // 4, 1)
        return has_walked or self.exact

    def add_walk(self, size: int, *, deadline: float = math.inf, look: Callable[[], object] = lambda: None) -> bool:
        """Make one random walk through a batch of blocks; return whether it reached its end.

        It keeps `size` paths of a level, fewer where the memory asks for it, and is broken off at the reading
        `deadline` of `time.perf_counter`. `look` is called at each level.
        """
        probability = self._draw_batch()
        size = min(size, self._largest)
        paths, certain_paths, complete = 0.0, 0, True
        expected, certain = Counter[Any](self._closed), Counter[Any](self._closed)
        for tree in self._trees:
            met = tree.exact
            if met is None:
                met = walk(
                    tree.blocks, self._longest, size, self._random,
                    deadline=deadline, sizes=tree.sizes, start=tree.start, triplet_words=self._words_of_walk, look=look,
                )  # fmt: skip
                self._probes += met.looked_at
            if met.exact:
                tree.exact = met
            complete = complete and met.complete
            paths += tree.triplets + sum(met.paths.values())
            certain_paths += tree.triplets + met.paths_met
            for totals, found in ((expected, met.cycles), (certain, met.cycles_met)):
                totals.update(self._space.scaled(tree.batch, {3: tree.triangles, **found}))
        self._certain_paths = max(self._certain_paths, certain_paths)
        certain_cycles = self._short.total() + math.floor(sum(self._wanted(certain).values()))
        self._certain_cycles = max(self._certain_cycles, certain_cycles)
        cycles = {length: count / probability for length, count in self._wanted(expected).items()}
        for length, count in self._short.items():
            cycles[length] = cycles.get(length, 0.0) + count
        sample = _Sample(size, paths / probability, cycles)
        if not complete:
            self._broken_off = sample
            return False
        if self._samples and self._samples[-1].size < self._sample_size:
            self._samples[-1] = self._samples[-1].joined(sample)
        else:
            self._samples.append(sample)
        if len(self._samples) == MOST_SAMPLES and self._samples[-1].size >= self._sample_size:
            pairs = zip(self._samples[::2], self._samples[1::2], strict=True)
            self._samples = [one.joined(other) for one, other in pairs]
            self._sample_size = max(each.size for each in self._samples)
        return True

    def estimate(self) -> CountEstimate:
        """Return the estimate from the probes so far; an EngineError without any.

        The upper ends of ranges are infinite before two walks are done.
        """
        samples = self._samples[-1:] if self.exact else self._samples
        if not samples:
            if self._broken_off is None:
                raise EngineError("nothing was probed, so nothing can be estimated")
            samples = [self._broken_off]
        sizes = np.array([sample.size for sample in samples], np.float64)
        share = sizes / sizes.sum()
        paths = spread([sample.paths for sample in samples], share, self._certain_paths)
        cycles = spread([sample.cycles for sample in samples], share, self._certain_cycles)
        by_length = Counter[Any]()
        for sample, part in zip(samples, share.tolist(), strict=True):
            by_length.update({length: part * count for length, count in sample.cycles_by_length.items()})
        if self.exact:
            paths, cycles = (round(paths[0]),) * 3, (round(cycles[0]),) * 3
            by_length = Counter({length: round(count) for length, count in by_length.items()})
        are_triangles_counted = 3 in self._lengths and len(self._batches) == 1 and not self._space.options.symmetry
        return CountEstimate(
            triangles=sum(tree.triangles for tree in self._trees) if are_triangles_counted else None,
            total=EstimatedRange(*cycles),
            by_length=dict(sorted(by_length.items())),
            paths=EstimatedRange(*paths),
            exact=self.exact,
            probes=self._probes,
            walks=sum(sample.walks for sample in self._samples),
        )

    def _wanted(self, totals: Counter[Any]) -> dict[int, float]:
        """Return the numbers of cycles of the wanted lengths behind totals of a run."""
        return {
            length: count / self._space.found_times(length)
            for length, count in totals.items()
            if count and length in self._lengths
        }

    def _draw_batch(self) -> float:
        """Choose a batch of blocks, at random if several are not taken together; return its probability."""
        batch = 0 if self._at_once else int(self._random.choice(len(self._batches), p=self._batches.shares))
        if batch != self._batch:
            self._closed.clear()
            chosen = range(len(self._batches)) if self._at_once else (batch,)
            self._trees = [tree for each in chosen for tree in self._trees_of(each)]
            self._batch = batch
        return 1.0 if self._at_once else float(self._batches.shares[batch])

    def _trees_of(self, batch: int) -> Iterator[_Tree]:
        """Make the trees of a batch; add the cycles that the space has found at its beginning."""
        groups = self._batches[batch]
        self._bound_walks(groups)
        begun = self._space.begun(batch, groups)
        if begun is None:
            for group in groups:
                blocks = HostBlocks(group)
                yield _Tree(blocks, None, batch, *blocks.survey(self._longest))
            return
        self._closed.update(begun.totals.cycles)
        for group, state in zip(groups, begun.groups, strict=True):
            blocks = HostBlocks(group)
            for frames in by_length(state.frames):
                yield _Tree(blocks, replace(frames, weight=np.ones(len(frames))), batch)

    def _bound_walks(self, groups: list[BlockGroup]) -> None:
        """Raise SizeError if a batch is too large for the memory; else bound the walks by what the bit rows leave."""
        rows = _row_bytes(groups)
        if self._memory is None:
            fits = rows <= LARGEST_ROWS
        else:
            words = max((-(-group.longest_block // STATE_WORD_BITS) for group in groups), default=1)
            self._words_of_walk = min(TRIPLET_WORDS, (self._memory - rows) // _BYTES_OF_A_WORD)
            self._largest = min(LARGEST_SIZE, self._words_of_walk // words)
            fits = self._largest >= SMALLEST_SEEDS
        if not fits:
            longer = "" if self._memory is None else f", or more {parameter('memory')},"
            raise SizeError(
                f"a block of {max(group.longest_block for group in groups):,} vertices is too large for an estimate; "
                f"a {'smaller ' if self._space.options.max_length else ''}maximum length{longer} may help"
            )


def spread(values: list[float], share: Floats, certain: int) -> tuple[float, float, float]:
    """Return the mean of some samples, and an interval that holds the truth with a probability of 90 %.

    Sums over a tree vary by factors rather than by amounts. So the interval is that for the mean of a log-normal
    distribution (Cox's method: Zhou and Gao 1997). `share` is the weight of each sample; their sum is 1. `certain` has
    been found already, a certain lower bound.
    """
    mean = float(share @ values)
    low, high = 0.0, math.inf
    effective = 1 / float(share @ share)
    if math.isfinite(mean) and effective > 1.5:
        if min(values) > 0:
            logs = np.log(values)
            centre = float(share @ logs)
            variance = float(share @ (logs - centre) ** 2) * effective / (effective - 1)
            error = math.sqrt(variance / effective + variance**2 / (2 * (effective - 1)))
            reach = _quantile(effective - 1) * error
            low, high = _exp(centre + variance / 2 - reach), _exp(centre + variance / 2 + reach)
        else:
            variance = float(share @ (np.array(values) - mean) ** 2) * effective / (effective - 1)
            reach = _quantile(effective - 1) * math.sqrt(variance / effective)
            low, high = mean - reach, mean + reach if mean else math.inf
    mean = max(mean, float(certain))
    return mean, max(min(low, mean), float(certain)), max(high, mean)


def _quantile(freedom: float) -> float:
    """Return the 95 % quantile of Student's t distribution with `freedom` degrees of freedom."""
    known = (0.5, 1, 2, 3, 4, 5, 7, 10, 20, 50, 1000)
    return float(np.interp(freedom, known, (25.0, 6.31, 2.92, 2.35, 2.13, 2.02, 1.89, 1.81, 1.72, 1.68, 1.645)))


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf
