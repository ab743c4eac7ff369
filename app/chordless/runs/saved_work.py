"""Work along a boundary as the header and the arrays of a checkpoint.

It is a tree of the dataclasses of `kernels_ti.boundary.values.saved`. The types of their fields say how it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]


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
