"""A search as the caller of a function asked for it: its graph and options, its limit and its time-out.

And how a search whose time and progress are watched begins, and goes on from slice to slice.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kernels_ti.blocks.restriction import edges_called, vertices_called
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.choices import EXPANSIONS, Arch
from kernels_ti.conversion import as_graph
from kernels_ti.cycle_table import CycleTable
from kernels_ti.cycles import Cycles
from kernels_ti.device.device import Device, held_device, is_open
from kernels_ti.device.memory import LEAST, ON_HOST, SPARE, require_room, resident_bytes
from kernels_ti.estimate.device_choice import arch_for
from kernels_ti.found.cycle_order import CycleOrder, fits_in_rows
from kernels_ti.found.row_store import require_fit
from kernels_ti.options import Options, require_arch, require_limit, require_threads
from kernels_ti.reference.at_once import FoundAtOnce, found_at_once
from kernels_ti.run import Run
from kernels_ti.symmetry.space import space_of
from kernels_ti.watch import ProgressOption, Watch

if TYPE_CHECKING:
    from kernels_ti.cluster.driver import ClusterRun
    from kernels_ti.options import Snapshot

_PARTS = 4  # A search takes one of so many parts of the memory that it shares with the table of its cycles


@dataclass(frozen=True, eq=False)
class AskedSearch:
    """A search as a caller asked for it."""

    space: SearchSpace
    arch: Arch
    threads: int | None
    limit: int | None
    watch: Watch

    @cached_property
    def device_arch(self) -> str:
        """The arch that a search opens; where it is left to us, a random walk may tell."""
        return arch_for(self.space, self.arch, threads=self.threads)

    def at_once(self, *, collect: bool) -> FoundAtOnce | None:
        """Search a tiny graph in Python, if the caller leaves the choice."""
        options = self.space.options
        is_plain = (self.arch, self.threads) == ("auto", None) and options.expansion == EXPANSIONS[0]
        found = found_at_once(self.space, collect=collect) if is_plain and not options.symmetry else None
        if found is not None:
            self.watch.tell("searching", 1.0, found.counts.total, is_last=True)
        return found

    def run(self) -> AbstractContextManager[Run]:
        """Begin a run; see `begun`."""
        return begun(self.space, self.device_arch, self.threads, self.watch)

    def slices(self, run: Run | ClusterRun) -> Iterator[None]:
        """Search until the end, the limit or the time-out; yield after each slice, and before the first."""
        most = math.inf if self.limit is None else self.limit
        for last in watched_slices(run, self.watch):
            yield
            if last.cycles >= most:
                break
        self.watch.tell("searching", last.share, last.cycles, is_last=True)

    def limited(
        self, pieces: Iterator[CycleTable | Cycles], run: Run | None = None
    ) -> Generator[CycleTable | Cycles, None, None]:
        """Yield the pieces of a run up to the limit, and say at the end whether these are all cycles."""
        left = math.inf if self.limit is None else self.limit
        with self.watch:
            for found in pieces:
                if len(found) > left:
                    most = int(left)
                    yield found.first(most) if isinstance(found, CycleTable) else found.part(0, most)
                    return
                yield found
                left -= len(found)
        if run is None or run.finished:
            yield CycleTable.of_pieces(self.space.graph, [])

    def table(self) -> CycleTable:
        """Search until the end, the limit or the time-out; return the cycles found."""
        with _opened(self.space, self.device_arch, self.threads, self.watch) as device:
            options, room = _divided(self.space.options, device.arch)
            run = Run(self.space, device, options)
            if not run.options.rows:
                table = CycleTable.of_pieces(run.graph, self._fitting(run, room))
                return CycleTable(run.graph, table.offsets, table.vertices, complete=run.finished)
            run.gather_rows(room)
            for _ in self.slices(run):
                pass
            return CycleTable.of_rows(run.graph, run.take_rows(), CycleOrder(run.graph), complete=run.finished)

    def _fitting(self, run: Run, room: float) -> Iterator[Cycles]:
        """Yield the cycles of each slice while their vertices have room."""
        cycles = taken = 0
        for _ in self.slices(run):
            found = run.take_cycles()
            cycles += len(found)
            taken += 2 * (found.vertices.nbytes + found.offsets.nbytes)  # they are there twice while they are joined
            require_fit(cycles, taken, room)
            yield found

    def pieces(self, run: Run) -> Iterator[CycleTable | Cycles]:
        """Search to the end, the limit or the time-out; yield the cycles of each slice."""
        order = CycleOrder(run.graph)
        for _ in self.slices(run):
            if run.options.rows:
                yield CycleTable.of_rows(run.graph, run.take_rows(), order, complete=False)
            else:
                yield run.take_cycles()


def asked_for(
    graph: Any,
    options: Options,
    arch: Arch,
    threads: int | None,
    through: Iterable[Hashable],
    avoid: Iterable[Hashable],
    avoid_edges: Iterable[tuple[Hashable, Hashable]],
    limit: int | None,
    timeout: float | None,
    simplify: bool,
    progress: ProgressOption,
) -> AskedSearch:
    """Check what a caller asks for, and read the graph; vertices and edges are given by name."""
    require_limit(limit)
    require_arch(arch)
    require_threads(threads)
    watch = Watch(timeout, progress)
    graph = as_graph(graph, simplify=simplify)
    options = replace(
        options,
        rows=options.collect and fits_in_rows(graph),
        through=vertices_called(graph, through),
        avoid=vertices_called(graph, avoid),
        avoid_edges=edges_called(graph, avoid_edges),
    )
    return AskedSearch(space_of(graph, options), arch, threads, limit, watch)


@contextmanager
def begun(space: SearchSpace, arch: str, threads: int | None, watch: Watch) -> Iterator[Run]:
    """Begin a run on the arch that `arch_for` chooses; until the block is left, no other thread can open another."""
    with _opened(space, arch, threads, watch) as device:
        yield Run(space, device)


@contextmanager
def _opened(space: SearchSpace, arch: str, threads: int | None, watch: Watch) -> Iterator[Device]:
    arch = arch_for(space, arch, threads=threads)
    if not is_open(arch):
        watch.tell("compiling")
    with held_device(arch, threads=threads) as device:
        yield device


def _divided(options: Options, arch: str) -> tuple[Options, float]:
    """Return the options of a search that keeps its cycles in a table, and the bytes that the table may take.

    What the caller allows on the host is divided, so that neither takes the part of the other. An OptionError is raised
    if that is too little to begin.
    """
    memory = options.memory
    if memory is None or arch not in ON_HOST:
        return options, math.inf
    least = LEAST + 2 * SPARE
    require_room(memory, least, "a search that keeps its cycles")
    held = resident_bytes()
    of_search = held + max((memory - held) // _PARTS, least)
    return replace(options, memory=of_search), memory - of_search


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
