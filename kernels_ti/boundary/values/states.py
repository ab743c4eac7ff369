"""States of a boundary: the pieces of a chordless cycle that reach it, and how many ways lead there.

Of the vertices that came, a chordless cycle has some; they are induced paths, or **pieces**, until the last vertex
closes it. A state stands for all sets of vertices that look alike at the boundary.

A boundary vertex has a **slot**, and in each state a symbol there: 0 when it is not on the cycle, `INNER` when it is
and has both its neighbours, otherwise it is an end of a piece, and the symbol is `FIRST_END` plus the slot of the
piece's other end: its own while the piece is that vertex alone. In a directed graph this is the symbol of a tail, and
of a vertex alone; that of a head is larger by the number of slots.
"""

from __future__ import annotations

from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.errors import StatesError, bytes_text, parameter, quantity, vertices_text


class GivenUp(Exception):
    """States were being put together when it was enough."""


def require_memory(
    needed: int, memory: int | None, states: int, block: OrderedBlock, place: int, *,
    of_a_state: float | None = None, is_count: bool = True, cells: int = 0, most: int = LARGEST_BUFFER,
) -> None:  # fmt: skip
    """Refuse, by a StatesError, a step of a block that needs more bytes than the memory allows; None allows all.

    A buffer that it needs with more than `most` cells is refused too.
    `of_a_state` are the bytes that each state of the largest boundary to come needs; by default as many as each of
    these. A search can count too (`is_count`); but it finds no longest cycle, and draws no samples.
    """
    if memory is None or needed <= memory:
        if cells > most:
            raise StatesError(f"{states:,} states need {cells:,} cells, more than the {most:,} that kernels can count")
        return
    largest = (needed / max(states, 1) if of_a_state is None else of_a_state) * block.most_from[place]
    after = f", {parameter('method', 'search')} needs next to none" if is_count else ""
    width = block.steps[place - 1].width if place else 0
    raise StatesError(
        f"{quantity(states, 'state')} at a boundary of {vertices_text(width)} may need "
        f"{bytes_text(needed)}, more than the {bytes_text(memory)} allowed, and the largest boundary about "
        f"{bytes_text(max(needed, largest))}: {parameter('memory')} allows more{after}"
    )
