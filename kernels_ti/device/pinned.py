"""Copies between a GPU and arrays of the host at the speed of the host's memory.

The device writes into small slots of pinned memory. Threads copy from there into the arrays: a new array costs a core
more time than the device needs to send it, because the system clears every page that is touched for the first time. On
the way to the device threads fill the slots: the driver itself would do that with one core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np

from kernels_ti.device import cuda
from kernels_ti.device.machine import cores

SLOT_BYTES = 4 << 20
"""Bytes of a slot: a device reaches nine tenths of its speed with pieces of this size."""

MOST_THREADS = 16
"""Copying threads: with more the memory of a host is no faster."""

SLOTS_UNDER_WAY = 4
"""Slots beyond one for each thread, so that the device always has one to write to."""

PINNED_BYTES = (MOST_THREADS + SLOTS_UNDER_WAY) * SLOT_BYTES
"""Bytes of pinned memory that all slots take at the most."""


class PinnedCopies:
    """Copies to the host that are under way, through at most `memory` bytes of pinned memory.

    Slots are taken from the system when they are first needed: `make_slot` makes one of some bytes, or raises
    MemoryError. Where the system gives none, `copy_at_once` and `send_at_once` copy without pinned memory.
    """

    def __init__(
        self,
        memory: int,
        make_slot: Callable[[int], cuda.PinnedSlot] = cuda.PinnedSlot,
        copy_at_once: Callable[[int, np.ndarray], None] = cuda.download,
        send_at_once: Callable[[np.ndarray, int], None] = cuda.upload,
    ) -> None:
        self.memory = memory
        threads = min(cores(), MOST_THREADS)
        self._make_slot, self._copy_at_once, self._send_at_once = make_slot, copy_at_once, send_at_once
        self._slot_bytes = min(SLOT_BYTES, memory // 2)
        self._most = min(threads + SLOTS_UNDER_WAY, memory // max(self._slot_bytes, 1))
        self._slots: list[cuda.PinnedSlot] = []
        self._free: SimpleQueue[cuda.PinnedSlot] = SimpleQueue()
        self._threads = ThreadPoolExecutor(threads, "chordless copy")
        self._under_way: list[Future[None]] = []

    def start(self, source: int, target: np.ndarray, *, widen: bool = False) -> None:
        """Begin to fill a contiguous array from an address of the device; `finish` says when it is full.

        Earlier orders to the device are carried out before. Later ones are carried out after it has sent these bytes,
        so the buffer may be written to again. With `widen` the device has a byte for each number of the array. An
        EngineError is raised if the device has failed.
        """
        left = target.reshape(-1) if widen else target.reshape(-1).view(np.uint8)
        while len(left):
            slot = self._next_slot()
            if slot is None:
                sent = np.empty(len(left), np.uint8) if widen else left
                self._copy_at_once(source, sent)
                if widen:
                    left[:] = sent
                return
            part, left = left[: self._slot_bytes], left[self._slot_bytes :]
            try:
                slot.fill(source, len(part))
            except BaseException:
                self._free.put(slot)
                raise
            source += len(part)
            self._under_way.append(self._threads.submit(self._empty, slot, part))

    def send(self, source: np.ndarray, target: int) -> None:
        """Queue a copy of a contiguous array to an address of the device; the array may be written to again at once.

        Later orders to the device are carried out after it. An EngineError is raised if the device has failed.
        """
        left = source.reshape(-1).view(np.uint8)
        sent: list[Future[None]] = []
        while len(left) and (slot := self._next_slot()) is not None:
            part, left = left[: self._slot_bytes], left[self._slot_bytes :]
            sent.append(self._threads.submit(self._load, slot, part, target))
            target += len(part)
        _wait_for(sent)
        if len(left):
            self._send_at_once(left, target)

    def finish(self) -> None:
        """Wait until all arrays are full.

        Raise EngineError if the device has failed.
        """
        under_way, self._under_way = self._under_way, []
        _wait_for(under_way)

    def close(self) -> None:
        """Give the memory back, after the last copy."""
        self._threads.shutdown()
        for slot in self._slots:
            slot.free()
        self._slots = []

    def _next_slot(self) -> cuda.PinnedSlot | None:
        """Return a slot that may be filled; None where there is no pinned memory."""
        if self._free.empty() and len(self._slots) < self._most:
            try:
                self._slots.append(self._make_slot(self._slot_bytes))
                return self._slots[-1]
            except MemoryError:
                self._most = len(self._slots)
        return self._free.get() if self._slots else None

    def _empty(self, slot: cuda.PinnedSlot, part: np.ndarray) -> None:
        """Copy a slot into its part of an array."""
        try:
            slot.wait()
            part[:] = slot.values[: len(part)]
        finally:
            self._free.put(slot)

    def _load(self, slot: cuda.PinnedSlot, part: np.ndarray, target: int) -> None:
        """Send a part of an array to the device through a slot."""
        try:
            slot.wait()
            slot.values[: len(part)] = part
            slot.send(target, len(part))
        finally:
            self._free.put(slot)


def _wait_for(copies: Sequence[Future[None]]) -> None:
    """Wait for all copies, also after an error, and raise the first error."""
    errors = [each.exception() for each in copies]
    for error in errors:
        if error is not None:
            raise error
