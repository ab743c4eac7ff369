"""Counts along a boundary where the memory is short."""

from __future__ import annotations

import itertools
import math

import pytest

from kernels_ti import Device, EngineError, SizeError
from kernels_ti.boundary.executors.on_device import LengthsModulo


def counts_with_a_failed_allocation(begin, *, step=1):
    """Yield counts that `begin` begins, and what each said when its memory was short: first allocation, second, ...

    The last one came to its end, as it makes fewer allocations, and said nothing. Of the others each `step`-th is made.
    """
    real = Device.allocate
    for place in itertools.count(step=step):
        made = itertools.count()

        def allocate(device, size, dtype, place=place, made=made):
            if next(made) == place:
                raise MemoryError
            return real(device, size, dtype)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Device, "allocate", allocate)
            count = begin()
            try:
                count.advance(math.inf)
            except EngineError as error:
                said = str(error)
            else:
                yield count, None
                return
        yield count, said


class RemaindersDoNotFit(LengthsModulo):
    """A block whose states never fit with a remainder for each length."""

    def take_vertex(self, enough):
        raise SizeError("it does not fit")
