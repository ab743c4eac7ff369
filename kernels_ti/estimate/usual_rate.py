"""How fast a search usually is, where nothing is measured."""

from __future__ import annotations

import math

from kernels_ti.blocks.search_space import SearchSpace

CPU_PATHS_PER_SECOND = 50e6
"""Paths that one CPU thread expands in a second with bit rows of one word, counted after the certificate."""

CUDA_PATHS_PER_SECOND = 5e9  # The same of a whole GPU

SLOWER_WITH_WORDS = 1.25
"""Power of the words of a bit row by which this rate falls.

Wide rows come from thin graphs. There a search also looks at several paths without a cycle for each that leads to one.
"""

_SEED_WORDS_PER_SECOND = 5_000_000


def usual_rate(words: int, threads: int | None) -> float:
    """Return the paths that lead to a cycle which a search expands in a second on a machine with nothing else to do.

    `threads` are those of the CPU, None stands for a GPU. Measured on one thread of an AMD EPYC: 65 to 80 million with
    rows of one word, 4 to 6 with six, 2 with fifteen.
    """
    narrow = CUDA_PATHS_PER_SECOND if threads is None else threads * CPU_PATHS_PER_SECOND
    return narrow / math.pow(words, SLOWER_WITH_WORDS)


def seconds_to_begin(space: SearchSpace) -> float:
    """Return about how many seconds pass before the first probe: it begins with the bit rows of all seeds."""
    return space.batches().seed_words / _SEED_WORDS_PER_SECOND
