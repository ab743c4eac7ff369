"""The header of a checkpoint, what it must match of the command of its run, and work along a boundary in it.

Every value of a header is of its type and within its bounds, also where somebody has edited it. Work along a boundary
is a tree of the dataclasses of `kernels_ti.boundary.values.saved`; the types of their fields say how it is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from chordless.protocol.codec import is_by_length, is_count, wrong_value
from chordless.protocol.orders import RunCommand
from chordless.protocol.results import RESTRICTIONS
from chordless.runs.directory import RunDirectory


@dataclass(frozen=True)
class Sessions:
    """Totals over the sessions of a run, and the device of the last one."""

    arch: str
    device: str
    # `setup_seconds` and `total_seconds`: sums over the sessions.
    setup_seconds: float
    total_seconds: float
    peak_memory_bytes: int  # Largest resident size of an engine in any session
    # Sum over the sessions of the time for the output and for checkpoints; 0 in checkpoints of version 0.4.0.
    write_seconds: float = 0.0


Arrays = dict[str, npt.NDArray[Any]]

_OF_PICKS = ("pick", "shortest", "limit", "seed")
_MOST = 1 << 62
_POSITIONS = {
    "text": ("bytes", "listed"),
    "jsonl": ("bytes", "listed"),
    "npy": ("part", "rows", "listed"),
    "parts": ("part", "rows", "listed"),
}
_GRAINS = (32, 64)


def require_sound(header: Mapping[str, Any], listing: str | None) -> None:
    """Raise ValueError, which names the first value that no checkpoint has; KeyError for one that is missing.

    The format of the cycles is `listing`, None for a run that lists none.
    """
    for name, is_fit in _FIT.items():
        if not is_fit(header[name]):
            raise ValueError(f"{name} is {header[name]!r:.80}")
    options, position = header["options"], header["position"]
    needed: tuple[str, ...] = _POSITIONS.get(listing or "", ())
    if options.get("proof"):
        needed += ("listed", "proof")
    # A pick that is not in its output yet has no position there.
    may_be_none = not needed or "pick" in options
    if not (may_be_none if position is None else all(name in position for name in needed)):
        raise ValueError(f"position is {position!r:.80}")
    is_pick, pick = "pick" in options, header.get("pick")
    if header.get("boundary" if is_pick else "pick") is not None:
        raise ValueError("it is of work of another kind")
    if is_pick and header["finished"] and not (isinstance(pick, dict) and pick["done"]):
        raise ValueError(f"pick is {pick!r:.80}")


def typed(kind: type, values: Any) -> Any:
    """Return a dataclass of plain fields; a ValueError names the first value that has not the type of its field."""
    if wrong := wrong_value(kind, values):
        raise ValueError(wrong)
    return kind(**values)


def _is_count(value: Any) -> bool:
    return is_count(value) and value < _MOST


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf


def _is_position(value: Any) -> bool:
    # The proof and the hash of the beginning have up to 256 bits.
    return value is None or (
        isinstance(value, dict)
        and all(map(is_count, value.values()))
        and all(_is_count(value.get(name, 0)) for name in ("bytes", "listed", "part", "rows"))
    )


def _is_groups(value: Any) -> bool:
    names = ("surveyed", "next_seed", "chunks")
    return isinstance(value, list) and all(
        isinstance(group, dict) and all(_is_count(group.get(name)) for name in names) for group in value
    )


_FIT: dict[str, Callable[[Any], bool]] = {
    "options": lambda value: isinstance(value, dict),
    "finished": lambda value: isinstance(value, bool),
    "position": _is_position,
    "listed": _is_count,
    "unwritten": _is_count,
    "sessions": lambda value: isinstance(value, dict),
    "layout": lambda value: isinstance(value, dict) and value.get("grain") in _GRAINS and value.get("radius") != 0,
    "batch": _is_count,
    "groups": _is_groups,
    "paths_by_length": is_by_length,
    "cycles_by_length": is_by_length,
    "seconds": _is_number,
    "share": _is_number,
}


def packed(value: Any, arrays: Arrays, name: str) -> Any:
    """Return a value as JSON takes it; `arrays` gets its arrays under names that begin with `name`."""
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return name
    if is_dataclass(value):
        return {item.name: packed(getattr(value, item.name), arrays, f"{name}/{item.name}") for item in fields(value)}
    if isinstance(value, dict):
        return {key: packed(each, arrays, f"{name}/{key}") for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [packed(each, arrays, f"{name}/{place}") for place, each in enumerate(value)]
    return value


def unpacked(kind: Any, value: Any, read: Callable[[str], npt.NDArray[Any]]) -> Any:
    """Return the value of a type that was packed; `read` returns the array of a name.

    Raises KeyError, TypeError, AttributeError or ValueError if something is missing or does not fit.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if hasattr(origin, "__value__"):  # from numpy 2.5 on, `npt.NDArray` is an alias of this kind
        return unpacked(origin.__value__[parts], value, read)
    if NoneType in parts:
        return None if value is None else unpacked(parts[0], value, read)
    if isinstance(kind, type) and is_dataclass(kind):
        types = get_type_hints(kind)
        given = {item.name: unpacked(types[item.name], value[item.name], read) for item in fields(kind)}
        return kind(**given)
    if origin is np.ndarray:
        found, (scalar,) = read(value), get_args(parts[1])
        # A byte order that is not that of this machine is turned; another type does not fit.
        return found if scalar is Any else found.astype(scalar, casting="equiv", copy=False)
    if origin is tuple:
        return tuple(unpacked(parts[0], each, read) for each in value)
    if origin is dict:
        return {parts[0](key): unpacked(parts[1], each, read) for key, each in value.items()}
    return kind(value)


def identity_of(command: RunCommand) -> dict[str, Any]:
    """Return the options that a checkpoint of this run must match."""
    restriction = {name: list(getattr(command, name)) for name in RESTRICTIONS}
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
        **({"in_order": True} if command.in_order else {}),  # no checkpoint is of such a run
        **({} if command.pick == "all" else {name: getattr(command, name) for name in _OF_PICKS}),
        **({"symmetry": "directed cycles"} if command.symmetry else {}),  # the totals in a checkpoint are their numbers
    }


def identity_in(command: RunCommand, directory: RunDirectory) -> dict[str, Any]:
    """Return the options that a checkpoint of the run in a directory must match."""
    weights = {} if command.weight is None else {"weights": directory.hash_of_weights()}
    return {**identity_of(command), **weights}
