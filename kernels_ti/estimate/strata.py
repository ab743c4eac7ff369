"""Strata of paths, and the expected number of paths and cycles below each, learned from one pass to the next.

Paths of one length belong to one **stratum** if both ends have as many free neighbours and the ends are as far apart
(Chen 1992). A pass draws some paths from every stratum, and more where more of the search is expected. The expectation
is a log-linear model for each length. It is fitted after each pass, from the longest paths to the shortest: the size of
a path's subtree is what it closes, itself, and what the model of the next length expects below its children. A pass is
unbiased whatever the model says; a good model makes it precise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kernels_ti.estimate.host_step import HostBlocks
from kernels_ti.graph import IntArray
from kernels_ti.state import Frames, populations

Floats = npt.NDArray[np.float64]

# Free vertices, distance and free neighbours of both ends are measured in these units, so that the fit is well posed.
_FREE_UNIT, _DISTANCE_UNIT, _NEAR_UNIT = 16.0, 4.0, 2.0
_MOST_NEAR, _MOST_DISTANCE = 15, 63
_FEATURES = 7
# A fit of few paths keeps near the slopes of the next length: as much as this many paths weigh.
_PRIOR_PATHS = 2.0
# A prediction of the model of a length lies between the values seen there, or this much beyond (natural logarithm).
_BEYOND = 1.0
_LARGEST_CORRECTION = 3.0
_SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class PathsSeen:
    """The features that decide about the strata of k paths of one length."""

    stratum: IntArray  # int64, shape (k,): paths of one stratum have the same number
    # float64, shape (k, 7): what the model goes by: a constant, the vertices that may still join, the distance of the
    # ends, the free neighbours of both ends, and the squares of the first two
    features: Floats

    @classmethod
    def of(cls, blocks: HostBlocks, paths: Frames, distance: IntArray) -> PathsSeen:
        """Look at paths of a single extension each; `distance` is that of their ends."""
        at_last, at_other = blocks.free_neighbours(paths)
        last, other = np.minimum(at_last, _MOST_NEAR), np.minimum(at_other, _MOST_NEAR)
        far = np.minimum(distance, _MOST_DISTANCE)
        free, apart = populations(paths.allowed) / _FREE_UNIT, far / _DISTANCE_UNIT
        features = (np.ones(len(far)), free, apart, last / _NEAR_UNIT, other / _NEAR_UNIT, free**2 / 8, apart**2 / 4)
        return cls((far * (_MOST_NEAR + 1) + last) * (_MOST_NEAR + 1) + other, np.stack(features, axis=1))

    def __getitem__(self, which: npt.NDArray[np.generic]) -> PathsSeen:
        return PathsSeen(self.stratum[which], self.features[which])


@dataclass(frozen=True, eq=False)
class LevelSeen:
    """The k paths of one length that a pass has kept, and their children."""

    length: int  # Vertices of the paths
    features: Floats  # float64, shape (k, 7)
    weight: Floats  # float64, shape (k,): how many paths of the search each stands for, in any unit
    closing: IntArray  # int64, shape (k,): cycles that each closes
    parent: IntArray  # int64, shape (children,)
    children: Floats  # float64, shape (children, 7): features of all children, before any is drawn


@dataclass
class SubtreeSizes:
    """The expected logarithm of the paths and cycles below a path, by its length and features."""

    # For each length the slopes, the lowest and the highest value
    _fits: dict[int, tuple[Floats, float, float]] = field(default_factory=dict)

    def logarithms(self, length: int, features: Floats) -> Floats | None:
        """Return the expected size below paths of a length, shape (k,); None if nothing was learned of the length."""
        if length not in self._fits:
            return None
        slopes, lowest, highest = self._fits[length]
        return np.asarray(np.clip(features @ slopes, lowest - _BEYOND, highest + _BEYOND))

    def learn(self, levels: list[LevelSeen]) -> None:
        """Fit the models of all lengths to the levels of one pass, the shortest paths first in the list."""
        slopes = np.zeros(_FEATURES)
        for level in reversed(levels):
            below = _below(level, self.logarithms(level.length + 1, level.children))
            slopes = _slopes(level.features, below, slopes)
            fitted = level.features @ slopes
            # The mean of a logarithm is not the logarithm of the mean.
            correction = _log_of_sum(level.weight, below) - _log_of_sum(level.weight, fitted)
            slopes[0] += min(max(correction, -_LARGEST_CORRECTION), _LARGEST_CORRECTION)
            self._fits[level.length] = slopes.copy(), float(below.min()), float(below.max())


def _log_of_sum(weight: Floats, logarithms: Floats) -> float:
    """Return the logarithm of a weighted sum of numbers, given by their logarithms, however large they are."""
    weighted = logarithms + np.log(np.maximum(weight, _SMALLEST))
    top = float(weighted.max())
    return top + math.log(float(np.exp(weighted - top).sum()))


def _below(level: LevelSeen, of_children: Floats | None) -> Floats:
    """Return the logarithm of each path's subtree, shape (k,): itself, its cycles, and what its children promise."""
    own = 1.0 + level.closing
    if of_children is None or not len(of_children):
        alone: Floats = np.log(own)
        return alone
    # Counted in units of the largest, so that nothing is too large for a float.
    top = max(float(of_children.max()), 0.0)
    promised = np.bincount(level.parent, np.exp(of_children - top), len(own))
    below: Floats = np.log(np.maximum(own * math.exp(-min(top, 700.0)) + promised, _SMALLEST)) + top
    return below


def _slopes(features: Floats, wanted: Floats, prior: Floats) -> Floats:
    """Fit a constant and slopes by least squares, drawn towards the slopes of a prior."""
    middle, scale = features.mean(axis=0), features.std(axis=0) + 1e-3
    middle[0], scale[0] = 0.0, 1.0
    towards = prior * scale
    towards[0] = 0.0
    normed = (features - middle) / scale
    pull = np.full(_FEATURES, _PRIOR_PATHS)
    pull[0] = 1e-9
    fitted = towards + np.linalg.solve(normed.T @ normed + np.diag(pull), normed.T @ (wanted - normed @ towards))
    slopes: Floats = fitted / scale
    slopes[0] -= float(slopes[1:] @ middle[1:])
    return slopes
