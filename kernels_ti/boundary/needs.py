"""The expected needs of a count along a boundary: memory, passes, and how much longer passes take.

A count that does not fit goes in several passes, see `kernels_ti.boundary.executors`. All numbers here follow from the
likely and the expected states of a plan. They are rough: counts of ten grids, king graphs and road networks met 0.4 to
2.2 times as many states at the largest boundary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kernels_ti.boundary.executors.in_passes import (
    MOST_VERTICES,
    NUMBERS_OF_A_ROW,
    PRIME_BITS,
    ROWS_TO_A_STATE,
    SHORTEST,
)
from kernels_ti.boundary.executors.remainders import BITS_OF_A_VERTEX, MOST_NUMBERS, MOST_WORDS
from kernels_ti.boundary.executors.tables import MOST_CELLS, ROOM_FOR_TWO, cells_of_two_tables
from kernels_ti.boundary.orders.plan import BoundaryPlan, likely_states
from kernels_ti.boundary.spec.packing import BESIDE, DIGIT_BITS, Packing

# States at the largest boundary for each that is likely: grids 0.8, king graphs 1.4 to 1.8, roads 0.3 to 0.6. Of
# boundaries of few vertices the expected ones tell more: 0.7 to 1.7 were met for each.
_STATES_MET, _OF_THE_EXPECTED = 0.75, 1.2
_BYTES_OF_A_CELL = 8
# In Python: bytes of a state, and of each length that a state tells apart, which are about half of all.
_BYTES_OF_A_STATE, _BYTES_OF_A_LENGTH = 450, 8
# On cores, measured on grids 12x12 and 14x14, king 9x9 and Berlin: 66 to 84 bytes of a state with 2 or 3 cells, and by
# length 380 to 740 with 40 to 170 lengths.
_BYTES_BESIDE, _ROWS_ON_CORES, _WAYS_TO_A_LENGTH = 16, 3.5, 0.33
# In tables: rows of both for each state.
_ROWS_IN_TABLES = 6
# Numbers of ways for each state and length: grids 12x12 to 16x16 have ways of 20 to 23% of all lengths, as every other
# length cannot occur. Cells for them in both layers, and to spare.
_PART_OF_LENGTHS, _WAYS_BESIDE_TABLES = 0.23, 0.8
# A count by length is tried up to so many times the memory.
_DOUBT = 1.5
# Where a table is expected to be so full, some are too small: king graphs met 1.8 times the states that are likely.
_PART_OF_ROOM = 0.6
# A total in remainders: bits of one, and how many times as long a pass takes (Grid 18x18 on an H200: 1.9 s and 0.87).
_BITS_OF_A_REMAINDER, _COLUMNS = 54, 2.0
# The bytes of a word or a number of a state in both tables of a pass: grids 11x11 and 13x13 and king 8x8 needed 13.6 to
# 16.4 for each state that they met. More than one number is tried only where 1.8 times the likely states have room,
# as kings met: a pass that does not fit is made in vain, and it may take minutes.
_BYTES_OF_BOTH_CELLS, _STATES_OF_KINGS = 2 * _BYTES_OF_A_CELL, 1.8
# The longest cycle has about this part of the vertices.
_PART_OF_LONGEST = 0.6
# A state with numbers for more lengths, or of more digits, than those of the graphs on which rates are measured takes
# longer: grids 10x10 have 40 digits to a state, and 150 more take as long as a state (grids 4x300 to 4x1200).
_USUAL_DIGITS, _DIGITS_OF_A_STATE = 40.0, 150.0
# Tables take so many times as long as parts on two cores: 3.8 times on grid 14x14, 2.9 times on Berlin Tiergarten.
_TABLES_ON_CORES = 3.5


@dataclass(frozen=True)
class Needs:
    """The memory and the passes that a count is expected to need."""

    bytes: float  # Of its states; of states that do not fit, the least that would do
    fits: bool = True  # Whether that fits into the memory
    passes: int = 1  # Over the graph: 1 unless a count by length has no room for a number for each length
    # Where there are several passes: as how many counts of all lengths together, in one pass, they take
    totals: float = 1.0


def states_of_lengths(plan: BoundaryPlan, longest: int) -> float:
    """Return as many states of few digits as take the time of those of a plan, with numbers for each length.

    The lengths, up to `longest`, and the digits of a number grow with the vertices that came.
    """
    found = 0.0
    for order in plan.orders:
        if order is not None:
            came = np.arange(1, len(order.costs) + 1)
            lengths = np.minimum(_PART_OF_LONGEST * came, longest)
            digits = lengths * (1 + BITS_OF_A_VERTEX * came // DIGIT_BITS)
            found += float(np.array(order.costs) @ (1 + np.maximum(digits - _USUAL_DIGITS, 0) / _DIGITS_OF_A_STATE))
    return found * plan.states / max(plan.cost, 1.0)


class Sizes:
    """The sizes of a plan: vertices and bits of a number in its largest block, cells and number of its states."""

    def __init__(self, plan: BoundaryPlan) -> None:
        packing = Packing(plan.width, 2 if any(block.directed for block in plan.blocks) else 1)
        self.fits_kernels, self.words = packing.fits_kernels, packing.words
        self.n = max((block.n for block in plan.blocks), default=0)
        self.bits = max(BITS_OF_A_VERTEX * self.n, 1.0)
        self.digits = 1 + int(BITS_OF_A_VERTEX * self.n) // DIGIT_BITS
        self.cells_of_a_total = self.words + self.digits
        self.likely = float(likely_states(plan).max(initial=0))
        self.states = max(_STATES_MET * self.likely, _OF_THE_EXPECTED * plan.most_states)

    def bytes_of_a_state(self, arch: str, longest: int | None) -> float:
        """Return the bytes of a state, with its share of all buffers."""
        if arch == "reference":
            return _BYTES_OF_A_STATE + (0 if longest is None else _BYTES_OF_A_LENGTH * longest)
        if arch != "cpu" and longest is not None:
            return self.bytes_in_tables(longest, self.digits)
        if arch != "cpu":
            return _ROWS_IN_TABLES * _BYTES_OF_A_CELL * self.cells_of_a_total
        if longest is None:
            return _BYTES_BESIDE + _ROWS_ON_CORES * _BYTES_OF_A_CELL * self.cells_of_a_total
        return _BYTES_OF_A_CELL * (_ROWS_ON_CORES * (self.words + 2) + _WAYS_TO_A_LENGTH * longest * self.digits)

    def bytes_in_tables(self, longest: int, digits: int) -> float:
        """Return the bytes of a state of a count by length in tables, with its share of all buffers."""
        rows = _ROWS_IN_TABLES * (self.words + BESIDE)
        return _BYTES_OF_A_CELL * (rows + _WAYS_BESIDE_TABLES * longest * digits)

    def are_beyond_one_table(self, memory: float | None) -> bool:
        """Say whether a table of a device has hardly enough cells, or bytes, for exact numbers of all cycles."""
        room = MOST_CELLS if memory is None else min(MOST_CELLS, memory / (ROOM_FOR_TWO * _BYTES_OF_A_CELL))
        return self.likely * self.cells_of_a_total > _PART_OF_ROOM * room

    def numbers_in_a_pass(self, memory: float | None) -> int:
        """Return how many numbers of each state are tried beside its words, in a pass of remainders; 1 at least."""
        bytes_of_one = _BYTES_OF_BOTH_CELLS * _STATES_OF_KINGS * self.likely
        fitting = math.inf if memory is None else memory / bytes_of_one - self.words
        return int(max(min(fitting, MOST_NUMBERS), 1))


def needs_of(plan: BoundaryPlan, arch: str, memory: float, *, longest: int | None = None) -> Needs:
    """Return the needs of a count in so many bytes, infinite if they are not known.

    The arch ``reference`` stands for a count in Python. The count is by length, of cycles of up to `longest` vertices,
    or of all lengths together.
    """
    sizes = Sizes(plan)
    whole = sizes.states * sizes.bytes_of_a_state(arch, longest)
    if longest is not None:
        return Needs(whole) if whole <= memory else _in_passes(sizes, arch, memory, longest, whole)
    if whole <= memory and not (arch == "cuda" and sizes.are_beyond_one_table(memory)):
        return Needs(whole)
    return _total_in_passes(sizes, arch, memory, whole)


def fits_in_one_pass(plan: BoundaryPlan, arch: str, memory: float, longest: int, states: int) -> bool:
    """Say whether a count by length may fit with exact numbers, once its states at the largest boundary are known."""
    return states * Sizes(plan).bytes_of_a_state(arch, longest) <= _DOUBT * memory


def _in_passes(sizes: Sizes, arch: str, memory: float, longest: int, whole: float) -> Needs:
    """Return the needs of a count by length in several passes, see `kernels_ti.boundary.executors.in_passes`."""
    n, states = sizes.n, sizes.states
    if n > MOST_VERTICES or not sizes.fits_kernels:
        return Needs(whole, fits=False)
    lengths = max(min(longest, int(_PART_OF_LONGEST * n)) - SHORTEST + 1, 1)
    primes = math.ceil(sizes.bits / PRIME_BITS)
    slower = _TABLES_ON_CORES if arch == "cpu" else 1.0
    remainders = states * sizes.bytes_in_tables(n, 1)
    if remainders <= memory:
        totals = 1 + primes + primes * _PART_OF_LENGTHS * n / NUMBERS_OF_A_ROW
        return Needs(remainders, passes=1 + primes, totals=slower * totals)
    beside, rows = sizes.words + 1, ROWS_TO_A_STATE * states
    # The first pass counts all lengths together.
    least = ROOM_FOR_TWO * _BYTES_OF_A_CELL * rows * max(beside + 1, sizes.cells_of_a_total)
    at_once = int(cells_of_two_tables(int(memory)) / rows) - beside
    if at_once < 1 or least > memory:
        return Needs(least, fits=False)
    at_once = min(at_once, lengths)
    passes = 1 + primes * math.ceil(lengths / at_once)
    totals = slower * (passes + primes * lengths / NUMBERS_OF_A_ROW)
    bytes_of_numbers = ROOM_FOR_TWO * _BYTES_OF_A_CELL * rows * (beside + at_once)
    return Needs(max(least, bytes_of_numbers), passes=passes, totals=totals)


def _total_in_passes(sizes: Sizes, arch: str, memory: float, whole: float) -> Needs:
    """Return the needs of a count of all lengths together, see `kernels_ti.boundary.executors.remainders`."""
    bytes_of_one = ROOM_FOR_TWO * _BYTES_OF_A_CELL * sizes.states
    has_room = bytes_of_one * (sizes.words + 1) <= memory
    if arch == "reference" or sizes.words > MOST_WORDS or not sizes.fits_kernels or not has_room:
        return Needs(whole, fits=False)
    bound_and_primes = 1 + math.ceil(sizes.bits / _BITS_OF_A_REMAINDER)
    numbers = min(sizes.numbers_in_a_pass(memory), bound_and_primes)
    passes = math.ceil(bound_and_primes / numbers)
    slower = _TABLES_ON_CORES if arch == "cpu" else 1.0
    return Needs(bytes_of_one * (sizes.words + numbers), passes=passes, totals=slower * _COLUMNS * passes)
