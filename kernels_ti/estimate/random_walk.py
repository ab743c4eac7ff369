"""Passes through the tree of a search, by stratified sampling.

A **walk** goes through the tree of a group of blocks level by level. While a level has few paths, the walk keeps all of
them; a walk that always does so is exact. From a larger level it draws some paths at random. Each path that it keeps
gets the weight 1 / p, where p is the probability with which the path was kept. So the expected weight of every path of
the tree is 1. The sum of the weights of a level is an unbiased estimate of its number of paths. The same holds for the
cycles that the paths close (Knuth 1975; heterogeneous sampling by strata: Chen 1992). Three measures keep the spread
small. The paths of a stratum (`kernels_ti.estimate.strata`) are drawn at even distances. The probability of a path is
proportional to the expected size of its subtree. And a part of the paths is dealt out to all strata alike, so that
rare paths with large subtrees, as road networks have them, are met.

References
----------
D. E. Knuth, *Estimating the efficiency of backtrack programs*, Mathematics of Computation 29 (1975), 121-136.
P. C. Chen, *Heterogeneous sampling: a method for predicting the performance of tree searching programs*, SIAM Journal
on Computing 21 (1992), 295-315.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from kernels_ti.estimate.host_step import HostBlocks
from kernels_ti.estimate.strata import Floats, LevelSeen, PathsSeen, SubtreeSizes
from kernels_ti.state import Frames, populations

GROWTH = 1.16
"""Factor by which each vertex that may still join multiplies the expected work below a path, before anything is learned
of its length. Only the spread depends on it."""

SHARE_OF_STRATA = 0.2  # Part of the drawn paths that is dealt out to all strata alike

_VERTICES_PER_STEP, _LARGEST_DIFFERENCE = 4, 400  # of vertices that may join; so no probability is too close to 0

_OPERATIONS_OF_LEVEL = 100_000  # the cost of a level with few paths

TRIPLET_WORDS = 1 << 21
"""Largest number of words in the bit rows of all triplets of a walk; with more, the walk draws some of the seeds."""

SMALLEST_SEEDS = 16  # Least number of seeds that a walk draws


@dataclass
class Walk:
    """The result of a random walk through a group of blocks."""

    # float64, shape (seeds,): estimated number of paths below each seed, in units that are the same for all seeds
    seed_work: Floats
    seed_exponent: int = 0  # The unit is 2 to this power
    # `paths`, `cycles`: estimated number of paths and of cycles by number of vertices. Initial triplets and triangles
    # are not included: they are counted without a walk.
    paths: dict[int, float] = field(default_factory=dict)
    cycles: dict[int, float] = field(default_factory=dict)
    # Number of different cycles that the walk has found, by number of vertices
    cycles_met: dict[int, int] = field(default_factory=dict)
    looked_at: int = 0  # Number of paths that the walk has expanded
    paths_met: int = 0  # Number of those that are not initial triplets
    exact: bool = True  # No path was left out
    complete: bool = True  # The walk reached the end of the tree

    def add_work(self, seeds: npt.NDArray[np.int64], weight: Floats, exponent: int) -> None:
        """Add paths to their seeds; `weight` counts in units of 2 to the power `exponent`."""
        common = max(exponent, self.seed_exponent)
        more = np.bincount(seeds, weights=weight, minlength=len(self.seed_work))
        self.seed_work = np.ldexp(self.seed_work, self.seed_exponent - common) + np.ldexp(more, exponent - common)
        self.seed_exponent = common


def walk(
    blocks: HostBlocks,
    max_length: int,
    size: int,
    random: np.random.Generator,
    *,
    deadline: float = math.inf,
    operations: float = math.inf,
    certificate: bool = True,
    by_seed: bool = False,
    sizes: SubtreeSizes | None = None,
    start: Frames | None = None,
    triplet_words: int = TRIPLET_WORDS,
    look: Callable[[], object] = lambda: None,
) -> Walk:
    """Make one random walk through the tree, with at most `size` paths of a level.

    It breaks off at the reading `deadline` of `time.perf_counter`, or after so many word operations. With
    `certificate`, paths that cannot lead to a cycle are dropped. `by_seed` asks for `Walk.seed_work`. `sizes` holds
    what earlier walks through these blocks have learned, to which this walk adds; strata need the certificate. `start`
    are frames of one length from which the walk goes instead of the seeds; if the bit rows of all triplets have more
    than `triplet_words` words, it goes from some of the seeds. `look` is called at each level.
    """
    met = Walk(np.zeros(len(blocks.group.seed_entries)))
    if max_length < 4:
        return met
    if start is None:
        frames, seeds = _of_seeds(blocks, size, random, met, triplet_words)
    else:
        frames, seeds = start, np.zeros(len(start), np.int64)
    if certificate:
        kept, frames, distance, made = blocks.certified(frames, max_length, deadline=deadline)
        seeds, operations = seeds[kept], operations - made
        if time.perf_counter() > deadline:  # the flood may have been broken off
            met.exact = met.complete = False
            return met
    exponent = 0  # weights count in units of 2 to this power, so that none is too large for a float
    levels: list[LevelSeen] = []
    while len(frames):
        look()
        length = int(frames.length[0]) + 1
        parent, paths = blocks.singled(frames)
        seeds = seeds[parent]
        if by_seed:
            met.add_work(seeds, paths.weight, exponent)
        if length > 3:
            met.paths[length] = scaled(float(paths.weight.sum()), exponent)
        operations -= _OPERATIONS_OF_LEVEL + len(paths) * (blocks.words + blocks.group.longest_block)
        if operations < 0 or time.perf_counter() > deadline:
            met.exact = met.complete = False
            return met
        seen = None if sizes is None else PathsSeen.of(blocks, paths, distance)
        if levels and seen is not None:
            levels[-1] = replace(levels[-1], parent=levels[-1].parent[parent], children=seen.features)
        if len(paths) > size:
            met.exact = False
            kept, probability = _drawn_of(paths, seen, sizes, max_length, size, random.random())
            paths, seeds = replace(paths[kept], weight=paths.weight[kept] / probability), seeds[kept]
            seen = None if seen is None else seen[kept]
        met.looked_at += len(paths)
        met.paths_met += len(paths) if length > 3 else 0
        step = blocks.expand(paths, max_length, certificate=certificate)
        operations -= step.operations
        closing = populations(step.closers)
        met.cycles_met[length + 1] = int(closing.sum())
        met.cycles[length + 1] = scaled(float(paths.weight @ closing), exponent)
        if seen is not None:
            no_child = np.zeros((0, seen.features.shape[1]))
            levels.append(LevelSeen(length, seen.features, paths.weight, closing, step.parent, no_child))
        shift = math.frexp(float(step.children.weight.max(initial=1.0)))[1] - 1
        frames = replace(step.children, weight=np.ldexp(step.children.weight, -shift))
        exponent += shift
        seeds, distance = seeds[step.parent], step.distance
    if sizes is not None and not met.exact:
        sizes.learn(levels)
    return met


def _of_seeds(
    blocks: HostBlocks, size: int, random: np.random.Generator, met: Walk, triplet_words: int
) -> tuple[Frames, npt.NDArray[np.int64]]:
    """Return the frames of the seeds, or of some of many, and the seed of each."""
    seeds = np.arange(len(blocks.group.seed_entries))
    weight = np.ones(len(seeds))
    pairs = blocks.group.pairs_of_seed.astype(np.float64)
    # The seeds are drawn by their pairs, as many as have, on average, the largest number of triplets allowed.
    most = int(max(triplet_words / blocks.words / (pairs @ pairs / pairs.sum()), SMALLEST_SEEDS))
    if len(seeds) > most and pairs.sum() > size:
        met.exact = False
        seeds, probability = _drawn(pairs, most, random.random())
        weight = 1 / probability
    frames = blocks.seed_frames(seeds, members=blocks.required is not None, weight=weight)
    alive = blocks.alive(frames)
    return frames[alive], seeds[alive]


def _drawn_of(
    paths: Frames, seen: PathsSeen | None, sizes: SubtreeSizes | None, max_length: int, size: int, offset: float
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Draw about `size` paths of a level; return them, ascending, and the probability that each had."""
    if seen is None or sizes is None:
        return _drawn(paths.weight * _expected(paths, max_length), size, offset)
    learned = sizes.logarithms(int(paths.length[0]) + 1, seen.features)
    expected = _expected(paths, max_length) if learned is None else np.exp(learned - learned.max())
    work = paths.weight * expected
    _, stratum = np.unique(seen.stratum, return_inverse=True)
    of_stratum = np.bincount(stratum, paths.weight)
    alike = paths.weight / of_stratum[stratum] / len(of_stratum)
    # In the order of the strata, so that each is represented by as many as it should.
    order = np.argsort(stratum, kind="stable")
    importance = (1 - SHARE_OF_STRATA) * work / work.sum() + SHARE_OF_STRATA * alike
    drawn, probability = _drawn(importance[order], size, offset)
    back = np.argsort(order[drawn])
    return order[drawn][back], probability[back]


def _expected(paths: Frames, max_length: int) -> Floats:
    """Return the expected work below each path, in an arbitrary unit; it differs little if few vertices can join."""
    free = populations(paths.allowed)
    most = min(_VERTICES_PER_STEP * (max_length - int(paths.length[0])), _LARGEST_DIFFERENCE)
    expected: Floats = GROWTH ** np.maximum(free - free.max(), -most)
    return expected


def _drawn(importance: Floats, size: int, offset: float) -> tuple[npt.NDArray[np.int64], Floats]:
    """Draw about `size` items, each with a probability proportional to its importance, at most 1 (systematic sampling).

    The probabilities are laid end to end as intervals. An item is drawn if its interval covers a whole number plus
    `offset`, a random number from 0 to 1. So the drawn items are spread evenly. Returns the items drawn, ascending, and
    the probability that each had.
    """
    sure = np.zeros(len(importance), np.bool_)
    while True:
        factor = (size - np.count_nonzero(sure)) / importance[~sure].sum()
        more = ~sure & (importance * factor >= 1)
        if not more.any():
            break
        sure |= more
    probability = np.where(sure, 1.0, importance * factor)
    marks = np.floor(np.cumsum(probability) + offset)
    drawn = np.flatnonzero(np.diff(marks, prepend=0.0) > 0)
    return drawn, probability[drawn]


def scaled(value: float, exponent: int) -> float:
    """Return ``value * 2**exponent``, infinite if that is too large for a float."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.inf
