"""Records on their way to the host."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels_ti.wave.arena import sibling_order


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 3))
def test_siblings_stand_side_by_side_again(seed: int, families: int, words: int) -> None:
    draw = np.random.default_rng(seed)
    path = np.unique(draw.integers(0, 4, (families, words + 1), np.uint64), axis=0)
    family = draw.permutation(np.repeat(np.arange(len(path)), draw.integers(1, 6, len(path))))
    common, other = path[family][:, 1:], path[family][:, 0].astype(np.int32)
    last = draw.permutation(len(family)).astype(np.int32)
    order = sibling_order(common, other, last)
    assert np.array_equal(np.sort(order), np.arange(len(family)))
    together = np.column_stack((other, common))[order]
    ends = np.flatnonzero((together[1:] != together[:-1]).any(axis=1))
    assert len(ends) + 1 == len(path)
    assert set(np.flatnonzero(np.diff(last[order]) < 0)) <= set(ends)
