"""Workers of the sweep end a slice together."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from laid_out import block_batches
from oracles import grid

from kernels_ti import open_device
from kernels_ti.found.stored import ResidentBlocks
from kernels_ti.state import GroupState, Layout
from kernels_ti.sweep import search as search_sweep
from kernels_ti.sweep.kernel import ENDED, SHARES_PER_SLICE, STEPS_BETWEEN_LOOKS, sweep
from kernels_ti.sweep.kernel_wide import sweep_wide
from kernels_ti.sweep.search import SweepSearch

pytestmark = pytest.mark.owner

STEPS = 100 * SHARES_PER_SLICE


class AnotherHasEnded:
    """A kernel whose workers see from the beginning that one of them has ended its slice."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self.thorough = self.quick

    def quick(self, **arguments: Any) -> None:
        arguments["queue"][ENDED] = 1
        self._kernel.quick(**arguments)


@pytest.mark.parametrize("wide", [False, True])
def test_a_worker_that_has_ended_ends_the_slice_of_the_others(wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if wide:
        monkeypatch.setattr(search_sweep, "LARGEST_UNROLLED", 0)
    graph = grid(6, 9)
    ((group,),) = block_batches(graph, Layout(), 64)
    device = replace(open_device("cpu"), threads=2)
    blocks = ResidentBlocks(device, group, graph.n)
    weights = np.full(blocks.seeds, 1 / blocks.seeds)
    search = SweepSearch(blocks, graph.n, False, GroupState(), weights, 1 << 30)
    monkeypatch.setattr(search_sweep, "sweep", AnotherHasEnded(sweep))
    monkeypatch.setattr(search_sweep, "sweep_wide", AnotherHasEnded(sweep_wide))
    search.advance_by(STEPS)
    # A step opens two paths on average at most.
    assert 0 < sum(search.totals.paths.values()) < 2 * 2 * (STEPS // SHARES_PER_SLICE + STEPS_BETWEEN_LOOKS) < STEPS
    monkeypatch.undo()
    while not search.finished:
        search.advance(0.05)
    assert sum(search.totals.cycles.values()) == 196_918
