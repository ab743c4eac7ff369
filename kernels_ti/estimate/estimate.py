"""Estimates of the size of a search: of all its paths and cycles, and of the share behind each seed.

They come from random walks through the search, see `kernels_ti.estimate.random_walk`.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.errors import EngineError, SizeError
from kernels_ti.estimate.host_step import HostBlocks
from kernels_ti.estimate.random_walk import Floats, Walk, walk
from kernels_ti.graph import Graph

WALKS = 6
"""Walks that are to fit into the time given, so that their spread is known."""
MOST_SAMPLES = 64
"""Samples that are told apart, an even number; then they are joined two by two."""
FIRST_SIZE, SMALLEST_SIZE, LARGEST_SIZE = 64, 64, 1 << 15
"""Paths of a level that a walk keeps."""
LARGEST_ROWS = 1 << 30
"""Bytes of bit rows that the host takes for an estimate."""

WEIGHT_PATHS = 256
"""Paths that `seed_weights` keeps of a level."""
WEIGHT_OPERATIONS = 6_000_000
"""Operations on words after which it looks no deeper, so that it takes some 20 ms at most."""
LARGEST_WEIGHED = 1 << 28
"""Bytes of bit rows of a group up to which it makes them."""

FEW_PAIRS = 24
"""A search of so few pairs is over before anybody looks: they count alike."""

GROWTH = 1.16
"""How many times larger a search is taken to be for each vertex more of its blocks, where nothing better is known."""


def seed_weights(groups: list[BlockGroup], max_length: int) -> list[Floats]:
    """Estimate the share of the search that lies behind each seed.

    By one small walk through each group, without the certificate; always the same for the same blocks. Where there
    are few pairs, or the bit rows of a group are too large to be made for this alone, the pairs of its seeds decide.

    Parameters
    ----------
    groups : list of BlockGroup
    max_length : int
        Vertices of the longest cycle that is wanted.

    Returns
    -------
    list of ndarray of float64, shape (seeds,)
        All above 0; over all groups their sum is 1.
    """
    pairs = sum(int(group.pairs_of_seed.sum()) for group in groups)
    if pairs <= FEW_PAIRS:
        return [group.pairs_of_seed / pairs for group in groups]
    walks = [_small_walk(group, max_length, WEIGHT_OPERATIONS / len(groups)) for group in groups]
    exponent = max((each.seed_exponent for each in walks), default=0)
    # Every pair is looked at, whatever comes of it.
    work = [
        np.ldexp(each.seed_work, each.seed_exponent - exponent) + np.ldexp(group.pairs_of_seed + 0.0, -exponent)
        for each, group in zip(walks, groups, strict=True)
    ]
    if not all(each.complete and _weighable(group) for each, group in zip(walks, groups, strict=True)):
        # A walk that was broken off tells how the seeds of its group compare, but not how large the group is.
        longest = max(group.longest_block for group in groups)
        work = [
            each / each.sum() * group.pairs_of_seed.sum() * GROWTH ** float(group.longest_block - longest)
            for each, group in zip(work, groups, strict=True)
        ]
    least = 1e-12 * sum(float(each.sum()) for each in work) / max(sum(map(len, work)), 1)
    work = [np.maximum(each, least) for each in work]
    total = sum(float(each.sum()) for each in work)
    return [each / total for each in work]


def _weighable(group: BlockGroup) -> bool:
    return _row_bytes([group]) <= LARGEST_WEIGHED


def _small_walk(group: BlockGroup, max_length: int, operations: float) -> Walk:
    if not _weighable(group):
        return Walk(np.zeros(len(group.seed_entries)))
    random = np.random.Generator(np.random.PCG64(0))
    return walk(
        HostBlocks(group), max_length, WEIGHT_PATHS, random, operations=operations, certificate=False, by_seed=True
    )


def _row_bytes(groups: list[BlockGroup]) -> int:
    return sum(group.rows * group.words * group.word_bits // 8 for group in groups)


@dataclass(frozen=True)
class Estimate:
    """What is known of a search that has not been made.

    Attributes
    ----------
    probes : int
        Paths looked at.
    walks : int
        Walks through the whole tree.
    exact : bool
        Everything was looked at: nothing is estimated.
    triangles : int or None
        Exact. None where only longer cycles were asked for, or only the balls of some roots were looked at.
    paths, cycles : float
        Estimated number of paths that a search with the certificate at every step puts into its frontier, and
        of the cycles within the bounds. Infinite beyond the largest float. The search meant here also drops the
        vertices that cannot join; those that do not choose the growing end otherwise now and then, and meet a
        few more paths.
    paths_low, paths_high, cycles_low, cycles_high : float
        The truth lies between them with a probability of about 90 %; never less than what is certainly there.
        The upper end is infinite before two walks are done.
    cycles_by_length : dict of int to float
        Estimated number of cycles by number of vertices.
    """

    probes: int
    walks: int
    exact: bool
    triangles: int | None
    paths: float
    paths_low: float
    paths_high: float
    cycles: float
    cycles_low: float
    cycles_high: float
    cycles_by_length: dict[int, float]


@dataclass(frozen=True, eq=False)
class _Sample:
    """What walks through all groups of a batch came to, divided by the probability of the batch; their mean."""

    size: int
    paths: float
    cycles_by_length: dict[int, float]
    walks: int = 1

    @property
    def cycles(self) -> float:
        return sum(self.cycles_by_length.values())

    def joined(self, other: _Sample) -> _Sample:
        """Make one sample of two, each with the weight of its size."""
        size = self.size + other.size
        mine, theirs = self.size / size, other.size / size
        lengths = sorted(self.cycles_by_length.keys() | other.cycles_by_length.keys())
        cycles = {
            length: mine * self.cycles_by_length.get(length, 0.0) + theirs * other.cycles_by_length.get(length, 0.0)
            for length in lengths
        }
        return _Sample(size, mine * self.paths + theirs * other.paths, cycles, self.walks + other.walks)


class Estimator:
    """Estimates the number of paths and cycles of a graph, the better the longer it probes.

    Each walk is unbiased, and so is their mean, see `kernels_ti.estimate.random_walk`. The work goes into walks of
    growing size, then into several of one size, whose differences tell the spread.

    Parameters
    ----------
    graph : Graph or SearchSpace
        A graph stands for the search of all its cycles.
    seed : int
        Of the random numbers.

    Raises
    ------
    SizeError
        If the bit rows of a block are too large for the host.
    """

    def __init__(self, graph: Graph | SearchSpace, *, seed: int = 0) -> None:
        space = SearchSpace.of(graph)
        self._longest = space.longest
        self._shortest = space.options.min_length
        self._random = np.random.Generator(np.random.PCG64(seed))
        self._batches = space.batches()
        self._batch = -1
        self._blocks: list[HostBlocks] = []
        self._surveys: list[tuple[int, int]] = []
        self._exact: dict[int, Walk] = {}
        self._samples: list[_Sample] = []
        self._sample_size = 0
        self._broken_off: _Sample | None = None
        self._size = FIRST_SIZE
        self._probes = 0
        self._certain_paths = self._certain_cycles = 0

    @property
    def exact(self) -> bool:
        """Whether all has been looked at, so that there is nothing left to probe."""
        return len(self._batches) == 1 and self._batch == 0 and len(self._exact) == len(self._blocks)

    @property
    def probed(self) -> bool:
        """Whether there is anything to estimate from."""
        return bool(self._samples) or self._broken_off is not None

    @property
    def has_walked(self) -> bool:
        """Whether a walk has come to its end."""
        return bool(self._samples)

    def probe(self, seconds: float) -> None:
        """Probe for about so many seconds, less if all has been looked at.

        A walk is finished once it has begun, for to give up long walks would favour the short ones. The
        first one alone is broken off when the time is over; it then tells lower bounds.
        """
        deadline = time.perf_counter() + seconds
        while not self.exact and (began := time.perf_counter()) < deadline:
            size = self._size
            complete = self.add_walk(size, deadline=math.inf if self._samples else deadline)
            spent = time.perf_counter() - began
            if complete:
                fitting = size * seconds / WALKS / max(spent, 1e-6)
                self._size = int(min(max(fitting, SMALLEST_SIZE), LARGEST_SIZE, 8 * size))
            else:
                self._size = max(size // 4, 1)

    def add_walk(self, size: int, *, deadline: float = math.inf) -> bool:
        """Walk through a batch of blocks once.

        Parameters
        ----------
        size : int
            Paths of a level that are kept.
        deadline : float
            Reading of `time.perf_counter` after which the walk is broken off.

        Returns
        -------
        bool
            Whether it came to the end.
        """
        probability = self._draw_batch()
        paths, cycles, complete = 0.0, dict[int, float](), True
        certain_paths = certain_cycles = 0
        for i, blocks in enumerate(self._blocks):
            met = self._exact.get(i)
            if met is None:
                met = walk(blocks, self._longest, size, self._random, deadline=deadline)
                self._probes += met.looked_at
            if met.exact:
                self._exact[i] = met
            complete = complete and met.complete
            triangles, triplets = self._surveys[i]
            paths += triplets + sum(met.paths.values())
            certain_paths += triplets + met.paths_met
            for length, count in ((3, triangles), *met.cycles.items()):
                if count and length >= self._shortest:
                    cycles[length] = cycles.get(length, 0.0) + count / probability
                    certain_cycles += met.cycles_met.get(length, triangles)
        self._certain_paths = max(self._certain_paths, certain_paths)
        self._certain_cycles = max(self._certain_cycles, certain_cycles)
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

    def estimate(self) -> Estimate:
        """Say what the probes up to now come to.

        Raises
        ------
        EngineError
            If nothing has been probed.
        """
        samples = self._samples[-1:] if self.exact else self._samples
        if not samples:
            if self._broken_off is None:
                raise EngineError("nothing was probed, so nothing can be estimated")
            samples = [self._broken_off]
        sizes = np.array([sample.size for sample in samples], np.float64)
        share = sizes / sizes.sum()
        paths = _spread([sample.paths for sample in samples], share, self._certain_paths)
        cycles = _spread([sample.cycles for sample in samples], share, self._certain_cycles)
        if self.exact:
            paths, cycles = (paths[0],) * 3, (cycles[0],) * 3
        by_length: dict[int, float] = {}
        for sample, part in zip(samples, share.tolist(), strict=True):
            for length, count in sample.cycles_by_length.items():
                by_length[length] = by_length.get(length, 0.0) + part * count
        are_triangles_counted = self._shortest <= 3 and len(self._batches) == 1
        return Estimate(
            self._probes,
            sum(sample.walks for sample in self._samples),
            self.exact,
            sum(triangles for triangles, _ in self._surveys) if are_triangles_counted else None,
            *paths,
            *cycles,
            cycles_by_length=dict(sorted(by_length.items())),
        )

    def _draw_batch(self) -> float:
        """Make a batch of blocks the current one, at random if there are several; return its probability."""
        batch = int(self._random.choice(len(self._batches), p=self._batches.shares))
        if batch != self._batch:
            groups = self._batches[batch]
            if _row_bytes(groups) > LARGEST_ROWS:
                raise SizeError(
                    f"a block of {max(group.longest_block for group in groups):,} vertices is too large "
                    "for an estimate; a maximum length may help"
                )
            made = [HostBlocks(group) for group in groups]
            surveys = [blocks.survey(self._longest) for blocks in made]
            self._batch, self._exact, self._blocks, self._surveys = batch, {}, made, surveys
        return float(self._batches.shares[batch])


def _spread(values: list[float], share: Floats, certain: int) -> tuple[float, float, float]:
    """Return the mean of some samples, and an interval that holds the truth with a probability of 90 %.

    The sum over a tree spreads by factors rather than by amounts, so the interval is that of the mean of a log-normal
    distribution (Cox's method: Zhou and Gao 1997).

    Parameters
    ----------
    values : list of float, length k
    share : ndarray of float64, shape (k,)
        Weight of each, in all 1.
    certain : int
        What is certainly there.
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
    """Return the 95 % quantile of Student's distribution with so many degrees of freedom."""
    known = (0.5, 1, 2, 3, 4, 5, 7, 10, 20, 50, 1000)
    return float(np.interp(freedom, known, (25.0, 6.31, 2.92, 2.35, 2.13, 2.02, 1.89, 1.81, 1.72, 1.68, 1.645)))


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf
