"""A short way from Python to the launch of a kernel of Taichi.

At each launch Taichi asks each argument in turn for all kinds of values that it might be, which takes longer than many
a launch: 0.1 ms and more for ten buffers. Our kernels take whole numbers and flat arrays. So their kinds are looked up
once, and later launches only hand the values over.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from inspect import signature
from operator import index
from typing import Any

import numpy as np

_LARGEST_ARRAY = (1 << 31) - 1


class Kernel:
    """A kernel of Taichi, which is launched with whole numbers and with flat arrays of numpy or of the device.

    It is made of what ``ti.kernel`` takes. Arrays of other kinds go Taichi's own way, which takes them or says what is
    wrong. A number that is not whole is a ``TypeError``.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        ti = import_module("taichi")
        update_wrapper(self, function)
        self._kernel = ti.kernel(function)
        self._primal = self._kernel._primal
        parameters = signature(function).parameters.values()
        self._buffer = ti.Ndarray
        self._names = [each.name for each in parameters]
        kinds = [each.annotation for each in parameters]
        self._arrays = [i for i, kind in enumerate(kinds) if isinstance(kind, ti.types.ndarray)]
        self._signed = [i for i, kind in enumerate(kinds) if kind is ti.i32]
        self._unsigned = [i for i, kind in enumerate(kinds) if kind is ti.u32 or kind is ti.u64]
        known = len(self._arrays) + len(self._signed) + len(self._unsigned)
        self._is_short = known == len(kinds) and self._primal.return_type is None
        self._places = [(i,) for i in range(len(kinds))]
        self._compiled: dict[tuple[Any, ...], Any] = {}
        self._of: Any = None  # the kernels that Taichi had compiled when `_compiled` was filled; new ones after a start

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Launch the kernel."""
        if kwargs:
            names = self._names[len(args) :]
            if kwargs.keys() != set(names):
                return self._kernel(*args, **kwargs)
            args = (*args, *(kwargs[name] for name in names))
        types = self._types(args)
        if types is None:
            return self._kernel(*args)
        primal = self._primal
        if self._of is not primal.compiled_kernels:
            self._compiled, self._of = {}, primal.compiled_kernels
        if types in self._compiled:
            self._launch(self._compiled[types], args)
            return None
        self._kernel(*args)
        self._compiled[types] = self._of[primal.ensure_compiled(*args)]
        return None

    def _launch(self, compiled: Any, args: tuple[Any, ...]) -> None:
        """Launch what Taichi has made of the kernel for arguments of these types."""
        context, places = compiled.make_launch_context(), self._places
        for i in self._signed:
            context.set_arg_int(places[i], index(args[i]))
        for i in self._unsigned:
            context.set_arg_uint(places[i], index(args[i]))
        for i in self._arrays:
            array = args[i]
            if type(array) is np.ndarray:
                address = array.__array_interface__["data"][0]
                context.set_arg_external_array_with_shape(places[i], address, array.nbytes, array.shape, 0)
            else:
                context.set_arg_ndarray(places[i], array.arr)
        program = self._primal.runtime.prog
        # Taichi looks it up by its settings, which say how thoroughly it compiles.
        program.launch_kernel(program.compile_kernel(program.config(), program.get_device_caps(), compiled), context)

    def _types(self, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Return the types of the elements of all arrays; None if the arguments have to go Taichi's own way."""
        if not self._is_short or len(args) != len(self._names):
            return None
        types = []
        for i in self._arrays:
            array = args[i]
            if type(array) is np.ndarray:
                if array.ndim != 1 or not array.flags.c_contiguous or len(array) > _LARGEST_ARRAY:
                    return None
            elif not isinstance(array, self._buffer) or len(array.shape) != 1:
                return None
            types.append(array.dtype)
        return tuple(types)
