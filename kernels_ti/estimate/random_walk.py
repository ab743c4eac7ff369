"""Random walks through the tree of a search.

A **walk** goes through the tree of a group of blocks level by level. While a level has few paths, the walk keeps all of
them; a walk that always does so is exact. From a larger level it draws some paths at random. Each path that it keeps
gets the weight 1 / p, where p is the probability with which the path was kept. So the expected weight of every path of
the tree is 1. The sum of the weights of a level is an unbiased estimate of its number of paths. The same holds for the
cycles that the paths close (Knuth 1975; several paths at a time, with unequal probabilities: Chen 1992). Two measures
keep the spread small. The probability of a path is proportional to the expected size of its subtree. And the paths
are drawn at even distances along the level, in the order of the tree, so that every branch is represented.

References
----------
D. E. Knuth, *Estimating the efficiency of backtrack programs*, Mathematics of Computation 29 (1975), 121-136.
P. C. Chen, *Heterogeneous sampling: a method for predicting the performance of tree searching programs*, SIAM Journal
on Computing 21 (1992), 295-315.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from kernels_ti.estimate.host_step import HostBlocks
from kernels_ti.state import Frames, populations

Floats = npt.NDArray[np.float64]

GROWTH = 1.16
"""Factor by which each vertex that may still join multiplies the expected work below a path. Only the spread depends
on it. On grids, random graphs, road networks and niche overlap graphs the best values lie between 1.1 and 1.25."""

_VERTICES_PER_STEP, _LARGEST_DIFFERENCE = 4, 400  # of vertices that may join; so no probability is too close to 0

_OPERATIONS_OF_LEVEL = 100_000  # the cost of a level with few paths

TRIPLET_WORDS = 1 << 21
"""Largest number of words in the bit rows of all triplets of a walk; with more, the walk draws some of the seeds."""

SMALLEST_SEEDS = 16
"""Least number of seeds that a walk draws."""


@dataclass
class Walk:
    """The result of a random walk through a group of blocks.

    Attributes
    ----------
    paths, cycles : dict of int to float
        Estimated number of paths and of cycles by number of vertices. Initial triplets and triangles are not included:
        they are counted without a walk.
    cycles_met : dict of int to int
        Number of different cycles that the walk has found, by number of vertices.
    looked_at : int
        Number of paths that the walk has expanded.
    paths_met : int
        Number of those that are not initial triplets.
    exact : bool
        No path was left out.
    complete : bool
        The walk reached the end of the tree.
    seed_work : ndarray of float64, shape (seeds,)
        Estimated number of paths below each seed, in units that are the same for all seeds.
    seed_exponent : int
        The unit is 2 to this power.
    """

    seed_work: Floats
    seed_exponent: int = 0
    paths: dict[int, float] = field(default_factory=dict)
    cycles: dict[int, float] = field(default_factory=dict)
    cycles_met: dict[int, int] = field(default_factory=dict)
    looked_at: int = 0
    paths_met: int = 0
    exact: bool = True
    complete: bool = True

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
) -> Walk:
    """Make one random walk through the tree.

    Parameters
    ----------
    blocks : HostBlocks
    max_length : int
        Vertices of the longest cycle that is wanted.
    size : int
        Largest number of paths of a level that are kept.
    random : numpy.random.Generator
    deadline : float
        Reading of `time.perf_counter` after which the walk breaks off.
    operations : float
        Word operations after which the walk breaks off.
    certificate : bool
        Whether to drop the paths that cannot lead to a cycle.
    by_seed : bool
        Whether `Walk.seed_work` is wanted.

    Returns
    -------
    Walk
    """
    seeds = np.arange(len(blocks.group.seed_entries))
    met = Walk(np.zeros(len(seeds)))
    if max_length < 4:
        return met
    weight = np.ones(len(seeds))
    pairs = blocks.group.pairs_of_seed.astype(np.float64)
    # The seeds are drawn by their pairs, as many as have, on average, the largest number of triplets allowed.
    most = int(max(TRIPLET_WORDS / blocks.words / (pairs @ pairs / pairs.sum()), SMALLEST_SEEDS))
    if len(seeds) > most and pairs.sum() > size:
        met.exact = False
        seeds, probability = _drawn(pairs, most, random.random())
        weight = 1 / probability
    frames = blocks.seed_frames(seeds, members=blocks.required is not None, weight=weight)
    alive = blocks.alive(frames)
    frames, seeds = frames[alive], seeds[alive]
    if certificate:
        kept, frames, made = blocks.certified(frames, max_length, deadline=deadline)
        seeds, operations = seeds[kept], operations - made
        if time.perf_counter() > deadline:  # the flood may have been broken off
            met.exact = met.complete = False
            return met
    exponent = 0  # weights count in units of 2 to this power, so that none is too large for a float
    while len(frames):
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
        if len(paths) > size:
            met.exact = False
            kept, probability = _drawn(paths.weight * _expected(paths, max_length), size, random.random())
            paths, seeds = replace(paths[kept], weight=paths.weight[kept] / probability), seeds[kept]
        met.looked_at += len(paths)
        met.paths_met += len(paths) if length > 3 else 0
        step = blocks.expand(paths, max_length, certificate=certificate)
        operations -= step.operations
        closing = populations(step.closers)
        met.cycles_met[length + 1] = int(closing.sum())
        met.cycles[length + 1] = scaled(float(paths.weight @ closing), exponent)
        shift = math.frexp(float(step.children.weight.max(initial=1.0)))[1] - 1
        frames = replace(step.children, weight=np.ldexp(step.children.weight, -shift))
        exponent += shift
        seeds = seeds[step.parent]
    return met


def _expected(paths: Frames, max_length: int) -> Floats:
    """Return the expected work below each path, in an arbitrary unit; it differs little if few vertices can join."""
    free = populations(paths.allowed)
    most = min(_VERTICES_PER_STEP * (max_length - int(paths.length[0])), _LARGEST_DIFFERENCE)
    expected: Floats = GROWTH ** np.maximum(free - free.max(), -most)
    return expected


def _drawn(importance: Floats, size: int, offset: float) -> tuple[npt.NDArray[np.int64], Floats]:
    """Draw about `size` items, each with a probability proportional to its importance, at most 1 (systematic sampling).

    The probabilities are laid end to end as intervals. An item is drawn if its interval covers a whole number plus
    `offset`, a random number from 0 to 1. So the drawn items are spread evenly.

    Returns the items drawn, ascending, and the probability that each had.
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
