"""The buffers of one block."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.device import Device

# Larger buffers have nothing to spare.
_CELLS_TO_SPARE = 1 << 28


class Buffers(dict[str, Any]):
    """Buffers on a device, by name."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self._device = device

    def grown(
        self, name: str, cells: int, dtype: npt.DTypeLike = np.uint64, *, room: int = LARGEST_BUFFER, fewest: int = 0
    ) -> Any:
        """Return a buffer of at least so many cells; its content is lost if it has to grow.

        A new one has `fewest` cells at least, and a quarter to spare where that makes no more than `room` of them.
        """
        if name not in self or self[name].shape[0] < cells:
            self.pop(name, None)
            wanted = cells + cells // 4 if cells < _CELLS_TO_SPARE else cells
            self[name] = self._device.empty(max(min(wanted, room), cells, fewest), dtype)
        return self[name]

    def swap(self, name: str, other: str) -> None:
        """Let two buffers change names."""
        self[name], self[other] = self[other], self[name]

    def free(self, *names: str) -> None:
        """Give buffers back."""
        for name in names:
            self.pop(name, None)

    def nbytes(self, name: str) -> int:
        """Return the bytes of a buffer, 0 of none."""
        buffer = self.get(name)
        if buffer is None:
            return 0
        return int(buffer.shape[0]) * (buffer.dtype.itemsize if isinstance(buffer, np.ndarray) else 8)

    def nbytes_beside(self, *names: str) -> int:
        """Return the bytes of all buffers but these."""
        return sum(self.nbytes(name) for name in self if name not in names)
