"""A search whose time and progress are watched: how it begins, and how it goes on from slice to slice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.device.device import held_device, is_open
from kernels_ti.estimate.device_choice import arch_for
from kernels_ti.run import Run
from kernels_ti.watch import Watch

if TYPE_CHECKING:
    from kernels_ti.cluster.driver import ClusterRun
    from kernels_ti.options import Snapshot


@contextmanager
def begun(space: SearchSpace, arch: str, threads: int | None, watch: Watch) -> Iterator[Run]:
    """Begin a run on the arch that `arch_for` chooses; until the block is left, no other thread can open another."""
    arch = arch_for(space, arch, threads=threads)
    if not is_open(arch):
        watch.tell("compiling")
    with held_device(arch, threads=threads) as device:
        yield Run(space, device)


def watched_slices(run: Run | ClusterRun, watch: Watch) -> Iterator[Snapshot]:
    """Search until the end or the time-out; yield what was found before the first slice, and after each.

    The start and compilations do not count as time.
    """
    # A search through several required vertices finds some cycles before its first slice.
    last = run.snapshot()
    yield last
    while not run.finished and not watch.too_late():
        watch.tell("compiling" if last.compiling else "searching", last.share, last.cycles)
        with nullcontext() if last.compiling else watch.searching():
            last = run.advance()
        yield last
