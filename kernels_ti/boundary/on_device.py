"""The count of one block in kernels, on a CPU or a GPU."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels_ti.boundary.order import BoundaryOrder
from kernels_ti.boundary.states import GivenUp, require_memory
from kernels_ti.boundary.walk import Step, steps_of
from kernels_ti.errors import EngineError, SizeError
from kernels_ti.graph import Graph

if TYPE_CHECKING:
    from kernels_ti.device.device import Device

WIDEST = 62
"""Vertices in a boundary whose states the kernels hold: 7 words of 10 symbols. Wider ones are counted in Python."""

# Work items of a launch: about 0.1 s on a CPU, so that a pause or an interrupt need not wait.
_STATES_AT_ONCE = {"cpu": 1 << 18, "cuda": 1 << 23}
_CELLS_AT_ONCE = {"cpu": 1 << 22, "cuda": 1 << 29}
# Places that one work item numbers: an atomic for each state is slow on a CPU, and a GPU has enough work items.
_NUMBERED_TOGETHER = {"cpu": 64, "cuda": 8}
_LEAST_TABLE, _LARGEST_TABLE = 1 << 10, 1 << 30
# Digits that a cell holds without overflow, and parents between two carries where there may be more.
_MOST_ADDITIONS, _PARENTS_BETWEEN_CARRIES = 1 << 16, 1 << 14
_HALF_BITS = 32
# With fewer states the table stays in the caches anyway. Parts of a table are chosen by a sample of the states, so that
# none gets more than `_MOST_LOAD` times its share.
_FEWEST_SETTLED, _STEPS_SETTLED, _SAMPLE, _MOST_PARTS = 50_000, 6, 8192, 128
_BINS, _MOST_LOAD = 1 << 10, 1.7
_MIX = np.uint64(0x94D049BB133111EB)
_FRUITLESS_MULTIPLIERS = 20


@dataclass(frozen=True)
class _Shape:
    """How the ways of each state are stored: numbers of vertices on the cycle, from 0 on, and digits of a number."""

    lengths: int = 1
    digits: int = 1


class DeviceBlock:
    """The count of one block, in kernels.

    Parameters
    ----------
    device : Device
        A CPU or CUDA.
    block : Graph
    order : BoundaryOrder
        Of a width up to `WIDEST`.
    required : frozenset of int
        Vertices that every cycle has to pass.
    longest : int or None
        Longer cycles are not counted; None counts all lengths together.
    memory : int or None
        Bytes that the states may take.

    Attributes
    ----------
    cycles : dict of int to int
        Cycles by length, so far; all with length 0 where lengths are counted together.
    triangles : int
    states : int
        States held now.
    """

    def __init__(
        self,
        device: Device,
        block: Graph,
        order: BoundaryOrder,
        required: frozenset[int],
        longest: int | None,
        memory: int | None,
    ) -> None:
        self._device = device
        self._steps = list(steps_of(block, order, required))[::-1]
        slots = 1 + max(slot for step in self._steps for slot, _ in step.changed)
        # One kernel serves all boundaries of up to 14 slots.
        self._bits = max((slots + 1).bit_length(), 4)
        self._words = -(-slots // (64 // self._bits))
        self._longest = longest
        self._memory = memory
        self._multipliers: Iterator[int] = _multipliers()
        self._multiplier = next(self._multipliers)
        self.width = 0
        self.cycles: dict[int, int] = {}
        self.triangles = 0
        self.states = 1
        # Buffers are kept from step to step: those of the old and the new states change places.
        self._buffers: dict[str, Any] = {}
        self._old, self._new = "old", "new"
        self._stored, self._used = _Shape(), _Shape()
        self._highest_digit = 1
        self._parts, self._steps_settled = 1, 0
        device.call(self._begin)

    @property
    def finished(self) -> bool:
        """Whether all vertices have come."""
        return not self._steps

    def take_vertex(self, enough: Callable[[], bool]) -> float:
        """Let the next vertex come, in all states; return the expected cost of that.

        Raises
        ------
        GivenUp
            Once it was enough.
        SizeError
            If the states do not fit into the memory allowed.
        """
        step = self._steps[-1]
        slices = self._take(step)
        while self._device.call(next, slices, False):
            if enough():
                raise GivenUp
        self._steps.pop()
        self.triangles += step.triangles
        self.width = step.width
        return step.cost

    def _begin(self) -> None:
        """Make the one state of no vertex: one way leads there."""
        from kernels_ti.boundary.kernels import boundary_kernels

        self._kernels = boundary_kernels(self._words, self._bits)
        self._upload("old states", np.zeros(self._words, np.uint64))
        self._upload("old values", np.ones(1, np.uint64))
        self._upload("steady", np.zeros(self._words, np.uint64))

    def _take(self, step: Step) -> Generator[bool, None, None]:
        """Let a vertex come; yield between launches."""
        self._upload("step", _coded(step))
        self._settle()
        size = _LEAST_TABLE
        while size < 2.2 * self.states:
            size *= 2
        if size > _LARGEST_TABLE:
            raise SizeError(f"{self.states:,} states are more than a table of {_LARGEST_TABLE:,} places can merge")
        while True:
            states = yield from self._merged(size)
            shape = self._next_shape(step)
            self._require_room(size, states, shape)
            found = yield from self._summed(step, size, states, shape)
            if not (yield from self._has_collision(size)):
                break
            self._multiplier = next(self._multipliers)
        if step.may_close:
            self._count(found)
        yield from self._measured(states, shape)
        self.states = states
        self._old, self._new = self._new, self._old

    def _settle(self) -> None:
        """Choose slots that stay as they are for some steps, and parts of the table for what they look like.

        So children of neighbours are neighbours in the table, and caches help.
        """
        self._steps_settled -= 1
        if self._device.arch != "cpu" or self._steps_settled > 0 or self.states < _FEWEST_SETTLED:
            return
        self._steps_settled = _STEPS_SETTLED
        touched = {slot for step in self._steps[-_STEPS_SETTLED:] for slot, _ in step.changed}
        to_a_word, field = 64 // self._bits, (1 << self._bits) - 1
        masks = [0] * self._words
        for slot in set(range(self._words * to_a_word)) - touched:
            masks[slot // to_a_word] |= field << slot % to_a_word * self._bits
        steady = self._upload("steady", np.array(masks, np.uint64))
        states = self._buffers[f"{self._old} states"][: self.states * self._words].reshape(-1, self._words)
        self._parts = _parts(states[:: max(self.states // _SAMPLE, 1)] & steady, self._bits)

    def _merged(self, size: int) -> Generator[bool, None, int]:
        """Put the children of all states into the table and number them; return how many there are."""
        self._require_room(size, 0, self._stored)
        table, index = self._buffer("table", size, np.uint64), self._buffer("index", size, np.int32)
        yield from self._cleared(table, size)
        for first, last in self._slices():
            self._kernels.insert(first, last, *self._read(), *self._looked_up(size))
            yield True
        met = self._upload("met", np.zeros(1, np.int32))
        self._kernels.number(size, _NUMBERED_TOGETHER[self._device.arch], table, index, met)
        yield True
        return int(self._device.download(met)[0])

    def _summed(self, step: Step, size: int, states: int, shape: _Shape) -> Generator[bool, None, np.ndarray]:
        """Add up the ways to each new state; return the cells of those that close a cycle."""
        new_states = self._buffer(f"{self._new} states", max(states, 1) * self._words, np.uint64)
        cells = states * shape.lengths * shape.digits
        new_values = self._buffer(f"{self._new} values", max(cells, 1), np.uint64)
        yield from self._cleared(new_values, cells)
        table, index = self._buffers["table"], self._buffers["index"]
        if self._words == 1:
            self._kernels.decode(size, table, index, pow(self._multiplier, -1, 1 << 64), new_states)
        found = self._upload("found", np.zeros(2 * self._used.lengths * self._used.digits, np.uint64))
        layout = (
            self._stored.lengths, self._stored.digits, self._used.lengths, self._used.digits, shape.lengths,
            shape.digits, int(self._longest is not None),
        )  # fmt: skip
        shapes = self._upload("shape", np.array(layout, np.int32))
        (states_before, coded), looked_up = self._read(), self._looked_up(size)
        many = _additions(step, self.states) >= _MOST_ADDITIONS
        at_once = _PARENTS_BETWEEN_CARRIES if many else None
        for first, last in self._slices(at_once):
            self._kernels.accumulate(
                first, last, states_before, self._buffers[f"{self._old} values"], coded, *looked_up, index,
                new_states, new_values, found, shapes,
            )  # fmt: skip
            if many:
                self._carry(states, shape, drop=False)
            yield True
        return self._device.download(found)

    def _has_collision(self, size: int) -> Generator[bool, None, bool]:
        """Say whether two states have one key, which a state of one word never shares."""
        if self._words == 1:
            return False
        differ = self._upload("differ", np.zeros(1, np.int32))
        for first, last in self._slices():
            self._kernels.compare(
                first, last, *self._read(), *self._looked_up(size), self._buffers["index"],
                self._buffers[f"{self._new} states"], differ,
            )  # fmt: skip
            yield True
        return bool(self._device.download(differ)[0])

    def _measured(self, states: int, shape: _Shape) -> Generator[bool, None, None]:
        """Make digits small again, and see how many lengths and digits are in use."""
        from kernels_ti.boundary.kernels import DIGIT_LIMIT

        measured = self._carry(states, shape, drop=True)
        yield True
        largest, most = self._device.download(measured).tolist()
        highest, self._highest_digit = divmod(largest, DIGIT_LIMIT)
        self._stored, self._used = shape, _Shape(most + 1, highest + 1)

    def _carry(self, states: int, shape: _Shape, *, drop: bool) -> Any:
        from kernels_ti.boundary.kernels import carry

        measured = self._upload("measured", np.zeros(2, np.uint64))
        carry(
            states, self._words, shape.lengths, shape.digits, int(drop), self._buffers[f"{self._new} states"],
            self._buffers[f"{self._new} values"], measured,
        )  # fmt: skip
        return measured

    def _next_shape(self, step: Step) -> _Shape:
        """Return what surely holds the ways to the new states."""
        from kernels_ti.boundary.kernels import DIGIT_LIMIT

        # Each old number is less than (highest digit + 1) * DIGIT_LIMIT ** (digits - 1), and so many are added up.
        overflows = (self._highest_digit + 1) * _additions(step, self.states) > DIGIT_LIMIT
        lengths = 1
        if self._longest is not None:
            lengths = min(self._used.lengths + 1, self._longest + 1)
        return _Shape(lengths, self._used.digits + overflows)

    def _count(self, found: np.ndarray) -> None:
        """Add the cycles that the new vertex closes."""
        from kernels_ti.boundary.kernels import DIGIT_BITS

        halves = found.reshape(self._used.lengths, self._used.digits, 2).tolist()
        for vertices, digits in enumerate(halves):
            ways = sum(low + (high << _HALF_BITS) << DIGIT_BITS * k for k, (low, high) in enumerate(digits))
            length = 0 if self._longest is None else vertices + 1
            if ways and (self._longest is None or length <= self._longest):
                self.cycles[length] = self.cycles.get(length, 0) + ways

    def _read(self) -> tuple[Any, Any]:
        """Return what the kernels read: the old states, and the step."""
        return self._buffers[f"{self._old} states"], self._buffers["step"]

    def _looked_up(self, size: int) -> tuple[Any, int, int, Any, int]:
        """Return how the kernels find a state in the table."""
        return self._buffers["table"], size, size // self._parts, self._buffers["steady"], self._multiplier

    def _slices(self, at_once: int | None = None) -> Iterator[tuple[int, int]]:
        """Cut the old states into pieces for one launch each."""
        arch = self._device.arch
        cells = self._used.lengths * self._used.digits
        size = at_once or max(min(_STATES_AT_ONCE[arch], _CELLS_AT_ONCE[arch] // cells), 1)
        return ((first, min(first + size, self.states)) for first in range(0, self.states, size))

    def _cleared(self, buffer: Any, size: int) -> Generator[bool, None, None]:
        from kernels_ti.boundary.kernels import clear

        clear(size, buffer)
        yield True

    def _buffer(self, name: str, size: int, dtype: type) -> Any:
        """Return a buffer of at least `size` cells; its content is lost if it has to grow."""
        if name not in self._buffers or self._buffers[name].shape[0] < size:
            self._buffers.pop(name, None)
            self._buffers[name] = self._device.empty(size, dtype)
        return self._buffers[name]

    def _upload(self, name: str, values: np.ndarray) -> Any:
        self._buffers[name] = self._device.buffer(values)
        return self._buffers[name]

    def _require_room(self, size: int, states: int, shape: _Shape) -> None:
        """Refuse a step whose buffers do not fit into the memory allowed."""
        held = sum(_bytes(each) for each in self._buffers.values())
        growth = [
            ("table", 8 * size),
            ("index", 4 * size),
            (f"{self._new} states", 8 * states * self._words),
            (f"{self._new} values", 8 * states * shape.lengths * shape.digits),
        ]
        needed = held + sum(max(wanted - _bytes(self._buffers.get(name)), 0) for name, wanted in growth)
        require_memory(needed, self._memory, max(states, self.states), self.width, by_length=self._longest is not None)


def _bytes(buffer: Any) -> int:
    if buffer is None:
        return 0
    return int(buffer.shape[0]) * (buffer.dtype.itemsize if isinstance(buffer, np.ndarray) else 8)


def _additions(step: Step, states: int) -> int:
    """Return how many states can become one, at most, as a vertex comes.

    Where it stays off, they differ in the vertices that leave the boundary, of which each was on the cycle or not.
    Where it joins, at most two of its neighbours were on the cycle. The state that it makes tells the rest but for
    which these are, and where the piece of the first of them ended.
    """
    near, slots = len(step.near), step.width + step.leaving + 1
    return min(2 * states, (1 << min(step.leaving, 62)) + 1 + (near + near * near) * slots)


def _parts(kept: np.ndarray, bits: int) -> int:
    """Return in how many parts a table can be cut so that each gets its share of the states, from a sample of them."""
    low = np.uint64(sum(1 << bits * k for k in range(64 // bits)))
    ends = np.zeros_like(kept)
    for k in range(1, bits):
        ends |= kept >> np.uint64(k)
    ends &= low
    kinds = np.zeros(len(kept), np.uint64)
    for word in (ends << np.uint64(1) | kept & ~ends & low).T:
        kinds = (kinds ^ word) * _MIX
        kinds ^= kinds >> np.uint64(32)
    begins = kinds * _MIX >> np.uint64(32)
    # As in a small table: a larger one has other bits of the same sums, which spread alike.
    bins = np.bincount((begins % np.uint64(_BINS)).astype(np.int64), minlength=_BINS)
    sums = np.concatenate([[0], np.cumsum(np.tile(bins, 2))])
    parts = _MOST_PARTS
    while parts > 1:
        window = _BINS // parts
        if (sums[window : window + _BINS] - sums[:_BINS]).max() <= _MOST_LOAD * len(kept) / parts:
            break
        parts //= 2
    return parts


def _coded(step: Step) -> np.ndarray:
    """Return a step as the kernels read it."""
    header = [len(step.to_come), step.slot, int(step.required), int(step.may_close)]
    return np.array(header + [cell for slot, to_come in step.changed for cell in (slot, min(to_come, 2))], np.int32)


def _multipliers() -> Iterator[int]:
    """Yield odd numbers, the same ones each time, for the keys of states: another one after a collision."""
    numbers = random.Random(0)
    for _ in range(_FRUITLESS_MULTIPLIERS):
        yield numbers.getrandbits(64) | 1
    raise EngineError("states share their keys again and again: the device computes wrongly")
