"""Copies through pinned memory: every byte in its place, whatever fails on the way."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kernels_ti import EngineError
from kernels_ti.device import pinned
from kernels_ti.device.pinned import PinnedCopies


class FakeDevice:
    """The memory of a device, and slots that a thread of it fills or empties after a while, in order.

    Parameters
    ----------
    size : int
        Bytes.
    slots : int
        How many slots the system gives.
    refuses, breaks : int or None
        The number of the copy that cannot be queued, or that fails on its way.
    """

    def __init__(self, size, slots=1000, refuses=None, breaks=None):
        self.memory = np.random.default_rng(size).integers(0, 256, size, np.uint8)
        self.left = slots
        self.refuses, self.breaks = refuses, breaks
        self.copies = self.at_once = self.freed = 0
        self.stream = ThreadPoolExecutor(1)  # it carries out one copy after the other

    def make_slot(self, size):
        if self.left == 0:
            raise MemoryError
        self.left -= 1
        return FakeSlot(self, size)

    def copy_at_once(self, source, target):
        self.at_once += 1
        target[:] = self.memory[source : source + len(target)]

    def send_at_once(self, source, target):
        self.at_once += 1
        self.memory[target : target + len(source)] = source


class FakeSlot:
    def __init__(self, device, size):
        self.device = device
        self.values = np.zeros(size, np.uint8)
        self.under_way, self.broken = None, False

    def fill(self, source, size):
        self._queue(self.values[:size], self.device.memory[source : source + size])

    def send(self, target, size):
        self._queue(self.device.memory[target : target + size], self.values[:size])

    def _queue(self, target, source):
        self.broken = self.device.copies == self.device.breaks
        if self.device.copies == self.device.refuses:
            raise EngineError("the device has failed")
        self.device.copies += 1
        self.under_way = self.device.stream.submit(self._copy, target, source)

    def _copy(self, target, source):
        time.sleep(0.001)
        target[:] = source

    def wait(self):
        if self.under_way is not None:
            self.under_way.result()
        if self.broken:
            raise EngineError("the copy has failed")

    def free(self):
        self.device.freed += 1


def copies_of(device, memory=1 << 16):
    return PinnedCopies(memory, device.make_slot, device.copy_at_once, device.send_at_once)


@pytest.fixture(autouse=True)
def small_slots(monkeypatch):
    monkeypatch.setattr(pinned, "SLOT_BYTES", 1000)


@pytest.mark.parametrize("slots", [1, 2, 1000])
def test_all_bytes_arrive_in_their_place(slots):
    device = FakeDevice(50_000, slots)
    copies = copies_of(device)
    whole, some, none = np.zeros(50_000, np.uint8), np.zeros((7, 3), np.uint64), np.zeros(0, np.int32)
    copies.start(0, whole)
    copies.start(1234, some)
    copies.start(0, none)
    copies.finish()
    assert np.array_equal(whole, device.memory)
    assert np.array_equal(some.reshape(-1).view(np.uint8), device.memory[1234 : 1234 + some.nbytes])
    assert copies._slots
    assert device.at_once == 0
    made = 1000 - device.left if slots == 1000 else slots
    copies.close()
    assert device.freed == made


def test_no_more_memory_is_pinned_than_allowed():
    device = FakeDevice(50_000)
    copies = copies_of(device, memory=3000)
    target = np.zeros(50_000, np.uint8)
    copies.start(0, target)
    copies.finish()
    assert 1000 - device.left <= 3
    assert np.array_equal(target, device.memory)


def test_without_pinned_memory_copies_are_made_at_once():
    device = FakeDevice(5000, slots=0)
    copies = copies_of(device)
    target = np.zeros(5000, np.uint8)
    copies.start(0, target)
    assert np.array_equal(target, device.memory)
    assert not copies._slots
    assert device.at_once == 1


@pytest.mark.parametrize("slots", [0, 1, 2, 1000])
def test_arrays_are_sent_and_come_back_in_the_order_of_the_calls(slots):
    device = FakeDevice(50_000, slots)
    copies = copies_of(device)
    values = np.random.default_rng(7).integers(0, 1 << 63, 4000, np.uint64)
    before, after = np.zeros(32_000, np.uint8), np.zeros(32_000, np.uint8)
    old = device.memory.copy()
    copies.start(5000, before)
    copies.finish()
    copies.send(values, 5000)
    copies.send(np.empty(0, np.int32), 0)
    values[:] = 0  # it may be written to again at once
    copies.start(5000, after)
    copies.finish()
    sent = np.random.default_rng(7).integers(0, 1 << 63, 4000, np.uint64).view(np.uint8)
    assert np.array_equal(before, old[5000:37_000])
    assert np.array_equal(after, sent)
    assert np.array_equal(device.memory[:5000], old[:5000])
    assert np.array_equal(device.memory[37_000:], old[37_000:])
    assert device.at_once == (3 if slots == 0 else 0)
    copies.close()
    assert device.freed == 1000 - device.left if slots == 1000 else device.freed == slots


def test_a_failed_send_is_an_error_and_the_next_one_works():
    device = FakeDevice(20_000, slots=2, refuses=5)
    copies = copies_of(device)
    values = np.arange(20_000, dtype=np.uint8)
    with pytest.raises(EngineError, match="the device has failed"):
        copies.send(values, 0)
    device.refuses = None
    copies.send(values, 0)
    back = np.zeros(20_000, np.uint8)
    copies.start(0, back)
    copies.finish()
    assert np.array_equal(back, values)


@pytest.mark.parametrize("failure", ["refuses", "breaks"])
def test_a_failed_copy_is_an_error_and_the_next_one_works(failure):
    device = FakeDevice(20_000, slots=2, **{failure: 5})
    copies = copies_of(device)
    target = np.zeros(20_000, np.uint8)

    def copy():
        try:
            copies.start(0, target)
        finally:
            copies.finish()

    with pytest.raises(EngineError, match="failed"):
        copy()
    device.refuses = device.breaks = None
    copy()
    assert np.array_equal(target, device.memory)


def test_a_slow_reader_makes_the_device_wait(monkeypatch):
    """Never more copies are under way than there are slots."""
    device = FakeDevice(30_000, slots=3)
    under_way, most = [0], [0]
    fill, wait = FakeSlot.fill, FakeSlot.wait

    def counted_fill(self, source, size):
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        fill(self, source, size)

    def slow_wait(self):
        wait(self)
        time.sleep(0.002)
        under_way[0] -= 1

    monkeypatch.setattr(FakeSlot, "fill", counted_fill)
    monkeypatch.setattr(FakeSlot, "wait", slow_wait)
    copies = copies_of(device)
    target = np.zeros(30_000, np.uint8)
    copies.start(0, target)
    copies.finish()
    assert np.array_equal(target, device.memory)
    assert 1 <= most[0] <= 3


def test_beginnings_of_buffers_come_to_the_host(device):
    values = np.random.default_rng(3).integers(0, 1 << 32, 3_000_000, dtype=np.uint32)
    buffer = device.buffer(values)
    whole, some = np.zeros(len(values), np.uint32), np.zeros((100, 5), np.uint64)

    def copy_both():
        with device.copying() as copy:
            copy(buffer, whole)
            copy(buffer, some)

    device.call(copy_both)
    assert np.array_equal(whole, values)
    assert np.array_equal(some.reshape(-1).view(np.uint32), values[:1000])


def test_an_upload_fills_the_beginning_of_a_buffer(device):
    buffer = device.empty(100, np.int32)
    device.upload(np.arange(60, dtype=np.int32), buffer)
    assert np.array_equal(device.download(buffer)[:60], np.arange(60))


def test_a_large_upload_arrives_between_copies_to_the_host(device):
    """On CUDA it goes through the pinned memory of these copies."""
    values = np.random.default_rng(5).integers(0, 1 << 32, 7_000_000, dtype=np.uint32)
    buffer, other = device.empty(len(values), np.uint32), device.buffer(values[::-1].copy())
    first, second = np.zeros(len(values), np.uint32), np.zeros(len(values), np.uint32)

    def copy_both_ways():
        with device.copying() as copy:
            copy(other, first)
            device.upload(values, buffer)
            copy(buffer, second)
            device.upload(values[::-1].copy(), buffer)

    device.call(copy_both_ways)
    assert np.array_equal(first, values[::-1])
    assert np.array_equal(second, values)
    assert np.array_equal(device.download(buffer), values[::-1])
