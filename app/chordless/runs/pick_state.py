"""A search for a best cycle, or a sample, as the header and the arrays of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy.typing as npt

from kernels_ti.boundary.states.saved import SavedForward, SavedLayer, SavedPick, SavedResult


def header_of(saved: SavedPick) -> dict[str, Any]:
    """Return all but the layers, as JSON takes it."""
    forward = saved.forward
    return {
        "orders": saved.orders,
        "done": [asdict(result) for result in saved.done],
        "forward": None
        if forward is None
        else {
            "in_kernels": forward.in_kernels,
            "between": forward.between,
            "most_states": forward.most_states,
            "found": forward.found,
            "layers": [
                {"place": layer.place, "numbers": layer.numbers, "arrays": sorted(layer.arrays)}
                for layer in forward.layers
            ],
        },
    }


def arrays_of(saved: SavedPick) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield the arrays of the layers with their names."""
    for layer in () if saved.forward is None else saved.forward.layers:
        for name, array in layer.arrays.items():
            yield f"{layer.place}/{name}", array


def saved_pick(header: dict[str, Any], read: Callable[[str], npt.NDArray[Any]]) -> SavedPick:
    """Return the state of a header.

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
    forward, found = None, header["forward"]
    if found is not None:
        forward = SavedForward(
            bool(found["in_kernels"]),
            int(found["between"]),
            int(found["most_states"]),
            dict(found["found"]),
            tuple(
                SavedLayer(
                    int(layer["place"]),
                    dict(layer["numbers"]),
                    {name: read(f"{layer['place']}/{name}") for name in layer["arrays"]},
                )
                for layer in found["layers"]
            ),
        )
        if not forward.layers:
            raise ValueError("it has no states")
    return SavedPick(
        orders=tuple(tuple(order) for order in header["orders"]),
        done=tuple(SavedResult(**{**result, "cycle": tuple(result["cycle"])}) for result in header["done"]),
        forward=forward,
    )
