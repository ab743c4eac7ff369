"""States of a boundary: the pieces of a chordless cycle that reach it, and how many ways lead there.

The vertices of a block come one after another. Of those that came, a chordless cycle has some; they are induced paths,
or **pieces**, until the last of its vertices closes it. All that matters for what can still come is how they meet the
boundary, so every state stands for all sets of vertices that look alike there: of one chordless cycle or of 10^18.

A boundary vertex has a **slot**, and in each state a symbol there: 0 when it is not on the cycle,
`INNER` when it is and has both its neighbours, otherwise it is an end of a piece, and the symbol is `FIRST_END` plus
the slot of the piece's other end: its own while the piece is that vertex alone. In a directed graph this is the symbol
of a tail, and of a vertex alone; that of a head is larger by the number of slots.
"""

from __future__ import annotations

from kernels_ti.errors import SizeError, bytes_text, parameter, quantity, vertices_text, worded


class GivenUp(Exception):
    """States were being put together when it was enough."""


def require_memory(
    needed: int,
    memory: int | None,
    states: int,
    width: int,
    *,
    by_length: bool,
    largest: float = 0.0,
    is_count: bool = True,
) -> None:
    """Refuse, by a SizeError, a step that needs more bytes than the memory allows; None allows all.

    The states at a boundary of `width` vertices need the memory; to tell lengths apart takes more. The largest boundary
    to come is expected to need `largest` bytes. A search can count too (`is_count`); but it finds no longest cycle, and
    draws no samples.
    """
    if memory is None or needed <= memory:
        return
    # Python has no count of the total alone.
    before = worded("", "count --total-only may need less, " if by_length else "")
    after = f", {parameter('method', 'search')} needs next to none" if is_count else ""
    raise SizeError(
        f"{quantity(states, 'state')} at a boundary of {vertices_text(width)} may need {bytes_text(needed)}, "
        f"more than the {bytes_text(memory)} allowed, and the largest boundary about "
        f"{bytes_text(max(needed, largest))}: {before}{parameter('memory')} allows more{after}"
    )
