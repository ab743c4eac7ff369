"""A sample along a boundary, without the choice of the method."""

from __future__ import annotations

from kernels_ti.boundary.sample import Draws, in_cycle_order
from kernels_ti.cycles import Cycles


def drawn(graph, planned, k, seed, means=None):
    """Return k cycles from the blocks of a graph, and how many there are in all."""
    draws = Draws(graph, planned, k, seed, means)
    return Cycles.joined(list(in_cycle_order(graph, draws.rounds()))), draws.total
