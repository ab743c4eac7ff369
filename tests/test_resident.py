"""What an open device keeps from one search to the next."""

import gc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from oracles import grid
from patience import PATIENCE

from kernels_ti import collect_cycles, count_cycles, open_device, release_memory
from kernels_ti.device import resident
from kernels_ti.taichi_door.libraries import library

WORD = np.dtype(np.uint32)


@pytest.fixture
def made(monkeypatch):
    """The sizes of the buffers that were made; nothing is kept before or after."""
    monkeypatch.setattr(resident, "_buffers", [])
    return []


def buffer(made, size):
    return resident.buffer(size, WORD, lambda size, _: made.append(size) or SimpleNamespace(shape=(size,)))


def idle_bytes():
    kept = resident._buffers
    return sum(kept[i][0].shape[0] * kept[i][1].itemsize for i in range(len(kept)) if resident._is_idle(i))


def test_graphs_of_launches_are_compiled_for_buffers_of_our_class(device, monkeypatch):
    """One of Taichi's own class ends the process on CUDA if another thread than the owner of Taichi collects it."""
    if device.arch == "cpu":
        pytest.skip("needs a GPU's arch: the CPU has no graphs of launches")
    if not library().has_graphs:
        pytest.skip("Quadrants has no graphs of launches")
    monkeypatch.setattr(resident, "_made", {})

    def not_ours(*_):
        raise AssertionError("a buffer of Taichi's own class was made")

    monkeypatch.setattr(f"{library().package}.aot.utils.ScalarNdarray", not_ours)
    assert count_cycles(grid(6, 6), arch=device.arch, method="search").total == 3436


def test_a_buffer_is_given_again_when_nobody_holds_it(made):
    first = buffer(made, 100)
    other = buffer(made, 100)
    assert first is not other
    del first
    third = buffer(made, 100)
    assert (made, third is not other) == ([100, 100], True)
    assert buffer(made, 99).shape == (99,)


def test_what_is_copied_to_a_device_comes_back_alone(device):
    """A kept buffer that is larger would bring the rest of what it held before."""
    long, short = np.ones(1 << 20, np.uint32), np.zeros((1 << 20) - 1000, np.uint32)
    device.buffer(long)
    assert np.array_equal(device.download(device.buffer(short)), short)


def test_a_large_buffer_may_be_larger_than_asked_for_and_takes_the_place_of_the_others(made):
    million = 1 << 20
    assert buffer(made, 10 * million).shape == (10 * million,)
    assert buffer(made, 9 * million).shape == (10 * million,)
    assert idle_bytes() == 40 * million
    held = buffer(made, 2 * million)
    assert idle_bytes() == 0, "ten million elements are too many for two"
    assert buffer(made, million).shape == (million,)
    resident.drop_idle()
    assert [len(held.shape), len(resident._buffers)] == [1, 1]


def test_something_is_made_once_until_the_device_is_closed(monkeypatch):
    monkeypatch.setattr(resident, "_made", {})
    assert [resident.made_once("a", lambda: []) is resident.made_once("a", lambda: []), resident._made] == [
        True,
        {"a": []},
    ]
    resident.forget()
    assert resident._made == {}


@pytest.mark.slow_on("vulkan")
def test_a_second_search_makes_no_buffers_and_finds_the_same(arch, monkeypatch):
    if arch == "cpu":
        pytest.skip("arrays of the CPU are made anew")
    graphs = grid(4, 5), grid(5, 5)
    right = [count_cycles(graph, arch="reference").by_length for graph in graphs]
    # Without a limit the room depends on what other processes leave of the device's memory.
    asked: dict[str, Any] = {"arch": arch, "method": "search", "memory": 1 << 28}
    assert [count_cycles(graph, **asked).by_length for graph in graphs] == right
    gc.collect()
    device = open_device(arch)
    sizes, made = [], type(device).allocate
    monkeypatch.setattr(
        type(device), "allocate", lambda self, size, dtype: sizes.append(size) or made(self, size, dtype)
    )
    for _ in range(2):
        assert count_cycles(graphs[1], **asked).by_length == right[1]
    assert sizes == []
    table = collect_cycles(graphs[1], arch=arch, memory=1 << 28)
    assert len(table) == sum(right[1].values())
    release_memory()
    assert device.call(idle_bytes) == 0
    assert count_cycles(graphs[1], **asked).by_length == right[1]
    assert sizes
    assert np.array_equal(np.bincount(table.lengths)[4:].nonzero()[0] + 4, sorted(right[1]))


def test_a_count_on_an_open_device_searches_before_it_chooses_a_method(arch, monkeypatch):
    graph, chosen = grid(5, 5), []
    right = count_cycles(graph, arch="reference").by_length
    # The first call opens the device and compiles the kernels.
    assert count_cycles(graph, arch=arch).by_length == right
    monkeypatch.setattr("kernels_ti.api._SECONDS_WITHOUT_A_CHOICE", PATIENCE)
    monkeypatch.setattr("kernels_ti.api._plan_of_choice", chosen.append)
    assert [count_cycles(graph, arch=arch).by_length, chosen] == [right, []]
