"""Memory that is used again once nobody holds it, and never before."""

import numpy as np
from chordless import generate

from kernels_ti import Options, Run, open_device
from kernels_ti.found.stored import SpareMemory


def test_memory_is_used_again_once_it_is_dropped():
    spare = SpareMemory()
    first = spare.array((100, 2), np.uint64)
    place = first.ctypes.data
    del first
    second = spare.array((105, 2), np.uint64)
    assert second.ctypes.data == place
    assert second.shape == (105, 2)


def test_memory_that_somebody_holds_is_left_alone():
    spare = SpareMemory()
    held = spare.array((100,), np.int32)
    held[:] = 7
    view = held[10:20].reshape(5, 2)
    del held
    other = spare.array((50,), np.int32)
    other[:] = 9
    assert not np.shares_memory(view, other)
    assert (view == 7).all()
    memory = memoryview(other)
    del other
    spare.array((50,), np.int32)[:] = 1
    assert np.array_equal(np.asarray(memory), np.full(50, 9))


def test_rows_that_are_kept_stay_as_they_were(arch):
    """Hold the rows of every slice while the search goes on."""
    run = Run(generate("grid:5x6"), open_device(arch), Options(collect=True, rows=True))
    kept, copies = [], []
    while not run.finished:
        run.advance()
        kept.append(run.take_rows())
        copies.append(kept[-1].copy())
    assert all(np.array_equal(one, other) for one, other in zip(kept, copies, strict=True))
    assert len(np.unique(np.concatenate(kept), axis=0)) == sum(map(len, kept)) == run.snapshot().cycles


def test_rows_that_were_dropped_leave_their_memory_to_later_slices(monkeypatch):
    """The caller holds the rows of a slice until it has those of the next."""
    monkeypatch.setattr("kernels_ti.sweep.search.CYCLE_BYTES_PER_WORKER", 1 << 12)
    run = Run(generate("grid:6x6"), open_device("cpu", threads=1), Options(collect=True, rows=True))
    places = []
    while not run.finished:
        run.advance()
        rows = run.take_rows()
        if rows.nbytes > 1 << 11:
            places.append(rows.ctypes.data)
    assert len(places) > 4
    assert len(set(places)) == 2
