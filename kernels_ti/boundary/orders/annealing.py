"""Better vertex orders by simulated annealing: many chains side by side, in the kernels of `annealing_kernels`.

The energy of an order is the logarithm of the sum of 2.7^b over its boundaries of b vertices: about the states that a
count meets. A move takes one vertex to another place. In a round the temperature falls step by step. Every round has
four times the moves of the last one, as long as the count is expected to gain more time than the round takes.

References
----------
S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, *Optimization by simulated annealing*, Science 220 (1983).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kernels_ti.boundary.orders.order import (
    BoundaryOrder,
    found_once,
    measured_order,
    neighbour_lists,
    states_per_second,
)
from kernels_ti.device.device import Device, held_device
from kernels_ti.graph import Graph

if TYPE_CHECKING:
    from kernels_ti.boundary.orders.plan import BoundaryPlan

SECONDS_FOR_PREFIXES = 2.0
"""Longest search for a first order, see `kernels_ti.boundary.orders.order`: annealing finds better ones sooner."""

GROWTH = 2.7
"""How many times more states there are with one vertex more in the boundary."""

# Colder than 0.01 at the end: on road networks that halves the states of the best order, or better.
_HOTTEST, _COLDEST, _TEMPERATURES = (0.3, 0.2, 0.1), 0.002, 48
_CHAINS = 16
_WINDOW = 128
"""Places that a vertex may move."""
_MOVES_TO_A_VERTEX, _LONGER = 256, 4
_SCALE = 1 << 18
# Taichi hands out the iterations of a CPU loop in blocks of 512, so one of them has a chain.
_SPREAD = {"cpu": 512}
_MOVES_AT_ONCE = 8192
# Measured on one core: a move, and how long Taichi takes to start and to compile the kernels.
_SECONDS_TO_A_MOVE, _SECONDS_TO_START = 4e-7, 1.0
# The part of a count that a first round is expected to save, and that a round is, after one that saved less.
_FIRST_GAIN, _LEAST_GAIN = 0.5, 0.1


def annealed_plan(
    plan: BoundaryPlan,
    arch: str,
    *,
    threads: int | None = None,
    seconds: float = 60.0,
    enough: Callable[[], bool] = lambda: False,
    tell_width: Callable[[int], None] = lambda _: None,
) -> BoundaryPlan:
    """Look for better orders where a count would gain more time by them than the search for them takes.

    The states will be on `arch`. The chains run on the CPU, which is opened only if there is something to gain.
    `seconds` bounds the search for the order of one block on one core. The work is counted, not the time, so that
    everybody who asks finds the same order. Once `enough` returns True, the best orders so far are taken; `tell_width`
    is called with their width.
    """
    rate = states_per_second(arch)
    promising = [
        order is not None and _is_worth(_FIRST_GAIN, order, len(order.vertices), 0, rate) for order in plan.orders
    ]
    if not (plan.is_possible and any(promising)) or enough():
        return plan
    orders = list(plan.orders)
    tell_width(plan.width)

    def sought(block: Graph, order: BoundaryOrder, others: int) -> BoundaryOrder:
        with held_device("cpu", threads=threads) as device:
            return annealed_order(
                device, block, order, arch=arch, seconds=seconds, enough=enough,
                tell_width=lambda width: tell_width(max(width, others)),
            )  # fmt: skip

    for i, (block, order) in enumerate(zip(plan.blocks, plan.orders, strict=True)):
        if promising[i] and order is not None:
            others = max((one.width for one in orders[:i] + orders[i + 1 :] if one is not None), default=0)
            orders[i] = found_once(block, (order, rate, seconds), partial(sought, block, order, others))
    return replace(plan, orders=tuple(orders))


def annealed_order(
    device: Device,
    graph: Graph,
    order: BoundaryOrder,
    *,
    seed: int = 0,
    arch: str = "cpu",
    seconds: float = 60.0,
    enough: Callable[[], bool] = lambda: False,
    tell_width: Callable[[int], None] = lambda _: None,
) -> BoundaryOrder:
    """Return an order of a connected graph that is expected to be no worse than a given one, the first of all chains.

    The result does not depend on the device. The seed is 0 to 2^32 - 1. For the others see `annealed_plan`.
    """
    neighbours = neighbour_lists(graph)
    chains = _Chains(device, graph, seed)
    orders = [order] * _CHAINS
    rate = states_per_second(arch)
    best, work, gain, spent, number = order, _work(order), _FIRST_GAIN, 0.0, 0
    while _is_worth(gain, best, graph.n, number, rate) and (spent := spent + _seconds(graph.n, number)) <= seconds:
        found = chains.anneal(orders, _moves(graph.n, number), _HOTTEST[min(number, len(_HOTTEST) - 1)], enough)
        if found is None:
            return replace(best, settled=False)
        works = {one: _work(one) for one in (measured_order(neighbours, found_one) for found_one in found)}
        orders = sorted(works, key=works.__getitem__)
        gain = max(1 - works[orders[0]] / work, _LEAST_GAIN)
        if works[orders[0]] < work:
            best, work = orders[0], works[orders[0]]
            tell_width(best.width)
        # The better half of the chains goes on twice.
        orders = list(itertools.islice(itertools.cycle(orders[: _CHAINS // 2]), _CHAINS))
        number += 1
    return best


def _work(order: BoundaryOrder) -> float:
    """Return a number that grows with the states of a count, to compare orders by.

    An order that was chosen for few expected states has more than are expected, and one that was chosen for a small
    energy has more than that tells. So both are judged by both, and by the largest boundary, which decides on the
    memory. On 57 grids, tori, planar and random graphs and road networks it took no order that met 1.1 times as many
    states as the first one, or 1.5 times as many at the largest boundary. Energy and expected states alone took orders
    of grids that met 3.6 times as many there.
    """
    energy = float((GROWTH ** np.array([*order.sizes, 0])).sum())
    likely = np.maximum(order.likely, 1.0)
    return float((energy * likely.sum()) ** 0.4 * likely.max() ** 0.2)


def _is_worth(gain: float, order: BoundaryOrder, n: int, number: int, rate: float) -> bool:
    """Return whether a round that saves such a part of the count saves more time than it takes."""
    start = 0.0 if number else _SECONDS_TO_START
    return n > 1 and _seconds(n, number) + start < gain * order.cost / rate


def _moves(n: int, number: int) -> int:
    moves: int = n * _MOVES_TO_A_VERTEX * _LONGER**number
    return moves


def _seconds(n: int, number: int) -> float:
    """Return about how long a round takes on one core."""
    return _CHAINS * _moves(n, number) * _SECONDS_TO_A_MOVE


class _Chains:
    """Orders of one graph that are annealed side by side on a device."""

    def __init__(self, device: Device, graph: Graph, seed: int) -> None:
        from kernels_ti.boundary.orders import annealing_kernels as kernels

        self._device, self._kernels = device, kernels
        self._n, self._seed, self._rounds = graph.n, seed, 0
        self._window = min(_WINDOW, graph.n - 1)
        neighbours = neighbour_lists(graph)
        degrees = [len(near) for near in neighbours]
        # All moves of a launch share the rounds that some drivers allow a work item.
        rounds_of_a_move = 4 + 2 * self._window + max(degrees) * (max(degrees) + 2)
        self._moves_at_once = max(min(_MOVES_AT_ONCE, device.loop_rounds // rounds_of_a_move), 1)
        self._first = device.buffer(np.cumsum([0, *degrees]).astype(np.int32))
        self._ends = device.buffer(np.concatenate(neighbours).astype(np.int32))
        above_least = np.arange(kernels.WEIGHTS) - (kernels.WEIGHTS - 1 - kernels.LARGEST_ABOVE)
        # A quarter of the largest energy is left for the sum of all boundaries at their largest.
        scale = min(_SCALE, kernels.LARGEST_ENERGY // 4 // (graph.n + 1))
        self._weights = device.buffer(np.round(scale * GROWTH**above_least).astype(np.int32))
        self._facts = device.buffer(np.zeros(_CHAINS * kernels.FACTS, np.int32))
        scratch = np.zeros(_CHAINS * (self._window + 2), np.int32)
        self._scratch = device.buffer(scratch), device.buffer(scratch.copy())

    def anneal(
        self, orders: Sequence[BoundaryOrder], moves: int, hottest: float, enough: Callable[[], bool]
    ) -> list[list[int]] | None:
        """Cool all chains down once, from these orders; return their last orders, None if it was enough before."""
        kernels, n = self._kernels, self._n
        spread = _SPREAD.get(self._device.arch, 1)
        vertices = np.array([one.vertices for one in orders], np.int32)
        boundaries = np.array([(*one.sizes, 0) for one in orders], np.int32)
        cells = vertices, np.argsort(vertices, axis=1).astype(np.int32), boundaries
        order, place, sizes = (self._device.buffer(each.reshape(-1)) for each in cells)
        seed = (self._seed * 1_000_003 + self._rounds) % (1 << 32)
        self._rounds += 1
        last = 0
        for temperature in np.geomspace(hottest, _COLDEST, _TEMPERATURES).tolist():
            # The relative gains of energy that are tolerated, each as likely as any other; fixed point. An integer of
            # 15 bits is the largest that the kernel can multiply.
            chance = (np.arange(kernels.GAINS) + 0.5) / kernels.GAINS
            tolerated = np.minimum((chance**-temperature - 1) * (1 << kernels.GAIN_BITS), (1 << 15) - 1)
            gains = self._device.buffer(tolerated.astype(np.int32))
            self._device.call(kernels.weigh, _CHAINS, spread, n, sizes, self._weights, self._facts)
            first, last = last, last + moves // _TEMPERATURES
            while first < last:
                size = min(self._moves_at_once, last - first)
                self._device.call(
                    kernels.anneal, _CHAINS, spread, n, self._window, first, size, seed, self._first, self._ends,
                    self._weights, gains, order, place, sizes, self._facts, *self._scratch,
                )  # fmt: skip
                first += size
                if enough():
                    return None
        found: list[list[int]] = self._device.download(order).reshape(_CHAINS, n).tolist()
        return found
