"""What a checkpoint must match of the command of its run."""

from __future__ import annotations

from typing import Any

from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory

_OF_PICKS = ("pick", "shortest", "limit", "seed")


def identity_of(command: RunCommand) -> dict[str, Any]:
    """Return the options that a checkpoint of this run must match."""
    restriction = {name: list(getattr(command, name)) for name in ("through", "through_edges", "avoid", "avoid_edges")}
    return {
        "min_length": command.min_length,
        "max_length": command.max_length,
        "expansion": command.expansion,
        "part": command.part,
        "output_format": None if command.output is None or command.pick != "all" else command.output_format,
        **({"parity": command.parity} if command.parity else {}),
        **({"between": list(command.between)} if command.between else {}),
        **({"all_pairs": True} if command.all_pairs else {}),
        **{name: names for name, names in restriction.items() if names},
        **({"method": "boundary", "total_only": command.total_only} if command.method == "boundary" else {}),
        **({"proof": True} if command.proof else {}),
        **({} if command.pick == "all" else {name: getattr(command, name) for name in _OF_PICKS}),
        **({"symmetry": "directed cycles"} if command.symmetry else {}),  # the totals in a checkpoint are their numbers
    }


def identity_in(command: RunCommand, directory: RunDirectory) -> dict[str, Any]:
    """Return the options that a checkpoint of the run in a directory must match."""
    weights = {} if command.weight is None else {"weights": directory.hash_of_weights()}
    return {**identity_of(command), **weights}
