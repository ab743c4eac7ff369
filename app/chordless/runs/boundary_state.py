"""A count along a boundary as the header and the arrays of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.states.saved import SavedBlock, SavedCount, SavedPasses, SavedStates

_STATES = ("words", "counts")


def header_of(saved: SavedCount) -> dict[str, Any]:
    """Return all but the states, as JSON takes it."""
    block = saved.block
    return {
        "orders": saved.orders,
        "blocks_done": saved.blocks_done,
        "block": None
        if block is None
        else {
            "place": block.place,
            "cycles": block.cycles,
            "triangles": block.triangles,
            "passes": None if block.passes is None else asdict(block.passes),
        },
        "cycles": saved.cycles,
        "triangles": saved.triangles,
        "work": saved.work,
        "most_states": saved.most_states,
        "states_by_step": saved.states_by_step,
    }


def arrays_of(saved: SavedCount) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield the arrays of the states with their names."""
    if saved.block is not None:
        for name in _STATES:
            yield name, getattr(saved.block.states, name)


def saved_count(header: dict[str, Any], read: Callable[[str], npt.NDArray[Any]]) -> SavedCount:
    """Return the count of a header.

    Parameters
    ----------
    header : dict
        See `header_of`.
    read : callable
        Returns the array of a name, see `arrays_of`.

    Raises
    ------
    KeyError, TypeError, ValueError
        If something is missing or does not fit.
    """
    block = None
    if header["block"] is not None:
        words, counts = (read(name).astype(np.uint64, casting="equiv", copy=False) for name in _STATES)
        if words.ndim != 2 or counts.ndim != 3 or words.shape[1] != len(counts):
            raise ValueError("its states and their counts do not fit together")
        found = header["block"]
        # Older checkpoints have no passes.
        passes = found.get("passes")
        block = SavedBlock(
            int(found["place"]),
            SavedStates(words, counts),
            _by_length(found["cycles"]),
            int(found["triangles"]),
            None if passes is None else _passes(passes),
        )
    return SavedCount(
        orders=tuple(tuple(order) for order in header["orders"]),
        blocks_done=int(header["blocks_done"]),
        block=block,
        cycles=_by_length(header["cycles"]),
        triangles=int(header["triangles"]),
        work=float(header["work"]),
        most_states=int(header["most_states"]),
        states_by_step=tuple(header["states_by_step"]),
    )


def _passes(found: dict[str, Any]) -> SavedPasses:
    longest = found["longest"]
    return SavedPasses(
        int(found["total"]),
        int(found["triangles"]),
        int(found["most_states"]),
        None if longest is None else int(longest),
        {int(prime): tuple(map(int, values)) for prime, values in found["values"].items()},
    )


def _by_length(counts: dict[str, int]) -> dict[int, int]:
    return {int(length): int(count) for length, count in counts.items()}
