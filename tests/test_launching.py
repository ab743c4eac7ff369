"""Kernels go a short way to their launch, and compute the same on it."""

import numpy as np
import pytest

from kernels_ti import Device, open_device
from kernels_ti.taichi_door import kernel, ti
from kernels_ti.taichi_door.libraries import library

pytestmark = [
    pytest.mark.owner,
    pytest.mark.skipif(library().package != "taichi", reason="Quadrants has a short way of its own"),
]


@kernel
def add(
    size: ti.i32, value: ti.i32, factor: ti.u32, table: ti.types.ndarray(ndim=1), sums: ti.types.ndarray(ti.i32, 1)
):
    """Add to each cell of a table; count the cells."""
    for i in range(size):
        table[i] = table[i] + ti.cast(value, ti.u32) * factor
        ti.atomic_add(sums[0], 1)


def added(device: Device, dtype: type, launches: int) -> tuple[np.ndarray, int]:
    """Return the table and the count after some launches with other numbers and buffers each."""
    table, sums = device.buffer(np.arange(8, dtype=dtype)), device.buffer(np.zeros(1, np.int32))
    for i in range(launches):
        add(8 - i, 1 - i, sums=sums, table=table, factor=3_000_000_000)
    return np.array(device.download(table)), int(device.download(sums)[0])


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_the_short_way_computes_the_same(device: Device, dtype: type) -> None:
    expected = np.arange(8, dtype=np.uint32)
    for i in range(4):
        expected[: 8 - i] += np.uint32((1 - i) * 3_000_000_000 % 2**32)
    for _ in range(2):
        table, count = added(device, dtype, 4)
        assert table.view(np.uint32).tolist() == expected.tolist()
        assert count == 8 + 7 + 6 + 5


def test_a_kernel_is_compiled_anew_for_a_device_that_is_opened_again() -> None:
    found = [added(open_device("cpu", threads=threads), np.uint32, 2) for threads in (1, 2, 1)]
    assert [table.tolist() for table, _ in found] == [found[0][0].tolist()] * 3
    assert [count for _, count in found] == [8 + 7] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 1, 1, np.zeros(4, np.uint32), np.zeros(4, np.int64)), "dtype"),
        ((1, 1, 1, np.zeros((2, 2), np.uint32), np.zeros(4, np.int32)), "dim 2"),
        ((1, 1, 1, np.zeros(8, np.uint32)[::2], np.zeros(4, np.int32)), "[Cc]ontiguous"),
        ((1, 1, 1, np.zeros(4, np.uint32)), "missing"),
        ((1, 1, 1, [0, 0], np.zeros(4, np.int32)), "Invalid type"),
    ],
)
def test_wrong_arguments_get_the_words_of_the_library_below(arguments: tuple, message: str) -> None:
    table, _ = added(open_device("cpu"), np.uint32, 1)
    assert table[7] > 7
    with pytest.raises(Exception, match=message):
        add(*arguments)


def test_an_array_of_a_subclass_is_computed_on_as_well() -> None:
    class Table(np.ndarray):
        pass

    add(1, 1, 1, np.zeros(2, np.uint32), np.zeros(1, np.int32))
    table = np.zeros(2, np.uint32).view(Table)
    add(2, 3, 1, table, np.zeros(1, np.int32))
    assert table.tolist() == [3, 3]


@pytest.mark.parametrize("number", [1.5, np.float32(1), "1", None])
def test_a_number_that_is_not_whole_is_refused_at_each_launch(number: object) -> None:
    table, sums = np.zeros(2, np.uint32), np.zeros(1, np.int32)
    add(1, 1, 1, table, sums)
    for arguments in ((number, 1, 1), (1, 1, number)):
        with pytest.raises(TypeError):
            add(*arguments, table, sums)
    assert sums[0] == 1
