"""The run: a host loop over slices of the search, with counts after each.

A run is single-threaded and does nothing between two calls of `Run.advance`, so its caller reports, pauses
and stops as it likes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Integral

from kernels_ti.blocks import BlockGroup, block_groups
from kernels_ti.device import Device, require_running
from kernels_ti.errors import EngineError, OptionError
from kernels_ti.graph import Graph
from kernels_ti.search import Cycles, ResidentBlocks, Search, Totals, require_room

SLICE_SECONDS = 0.1
EXPANSIONS = ("two-ended", "paper")


@dataclass(frozen=True)
class Options:
    """What to search for, and how.

    Attributes
    ----------
    min_length, max_length : int, int or None
        Vertices of the shortest and the longest cycle that is wanted. A maximum prunes the search, a
        minimum only leaves out the shorter ones.
    expansion : {"two-ended", "paper"}
        How a path grows: at the end with fewer extensions and with a certificate that it can be closed, or
        as in the paper, at its last vertex alone, breadth first, in the whole graph.
    collect : bool
        Make the cycles themselves, for `Run.take_cycles`, not only their number.

    Raises
    ------
    OptionError
        If a bound is below 3, the bounds exclude each other, or there is no such expansion.
    """

    min_length: int = 3
    max_length: int | None = None
    expansion: str = "two-ended"
    collect: bool = False

    def __post_init__(self) -> None:
        for name in ("min_length", "max_length"):
            value = getattr(self, name)
            if not isinstance(value, Integral) and (value is not None or name == "min_length"):
                raise OptionError(f"{name} must be a whole number, not {value!r}")
        if self.min_length < 3:
            raise OptionError(f"the minimum length must be 3 or more (a triangle), not {self.min_length}")
        if self.max_length is not None and self.max_length < 3:
            raise OptionError(f"the maximum length must be 3 or more (a triangle), not {self.max_length}")
        if self.max_length is not None and self.max_length < self.min_length:
            raise OptionError(f"the maximum length {self.max_length} is less than the minimum {self.min_length}")
        if self.expansion not in EXPANSIONS:
            raise OptionError(f"there is no expansion {self.expansion!r}: choose {' or '.join(EXPANSIONS)}")


@dataclass(frozen=True)
class Snapshot:
    """Where a run stands.

    Attributes
    ----------
    paths_by_length : dict of int to int
        |T_t|: paths with t vertices that have been put into the frontier so far.
    cycles_by_length : dict of int to int
        |C_t|: cycles with t vertices found so far, within the bounds; 3 stands for the triangles.
    frontier : int
        Paths that wait now, and pairs of neighbours from which stage 2 has yet to start.
    paths, cycles : int
        Sums of the two.
    seconds : float
        Time spent searching.
    device_bytes : int
        Bytes of the buffers on the device.
    finished : bool
        Whether the search is complete.
    """

    paths_by_length: dict[int, int] = field(default_factory=dict)
    cycles_by_length: dict[int, int] = field(default_factory=dict)
    frontier: int = 0
    paths: int = 0
    cycles: int = 0
    seconds: float = 0.0
    device_bytes: int = 0
    finished: bool = False


class Run:
    """The enumeration of one graph on one device, in slices.

    A run belongs to the thread that opened the device. After an exception, an interrupt included, it cannot
    go on: what it had found stays readable.

    Parameters
    ----------
    graph : Graph
    device : Device
        From `kernels_ti.device.open_device`.
    options : Options

    Raises
    ------
    DeviceError, EngineError
        If the device cannot hold or run this graph.
    """

    def __init__(self, graph: Graph, device: Device, options: Options | None = None) -> None:
        require_running(device)
        self.graph = graph
        self.device = device
        self.options = options or Options()
        self._longest = min(graph.n, self.options.max_length or graph.n)
        self._totals = Totals()
        self._seconds = 0.0
        self._waiting: list[Cycles] = []
        self._later_pairs = 0
        self._broken = False
        self._searches = self._plan() if self._longest >= 3 else iter(())
        self._current: Search | None = next(self._searches, None)

    def _plan(self) -> Iterator[Search]:
        """Check that the device can search all of the graph; return the searches to make, one after another."""
        options, device = self.options, self.device
        paper = options.expansion == "paper"
        if device.arch == "reference":
            from kernels_ti.search_reference import ReferenceSearch

            return iter([ReferenceSearch(self.graph, self._longest, options.collect)])
        if device.arch == "cpu" and not paper:
            groups = block_groups(self.graph, device.word_bits, nested=True)
            require_room(device, groups)
            return self._sweeps(groups)
        from kernels_ti.search_wave import require_loops

        groups = block_groups(self.graph, device.word_bits, whole=paper)
        for group in groups:
            require_room(device, [group])
            require_loops(device, group)
        return self._waves(groups, not paper)

    def _sweeps(self, groups: list[BlockGroup]) -> Iterator[Search]:
        """Stage 1 over all groups, then stage 2 group by group, so that one set of stacks is held at a time."""
        from kernels_ti.search_survey import SurveySearch
        from kernels_ti.search_sweep import SweepSearch

        blocks = [ResidentBlocks(self.device, group) for group in groups]
        yield SurveySearch(blocks, self._longest, self.options.collect)
        if self._longest > 3:
            for i, group in enumerate(blocks):
                self._later_pairs = sum(int(later.pairs_before[-1]) for later in blocks[i + 1 :])
                yield SweepSearch(group, self._longest, self.options.collect)

    def _waves(self, groups: list[BlockGroup], two_ended: bool) -> Iterator[Search]:
        """Both stages group by group, so that one arena is held at a time."""
        from kernels_ti.search_wave import WaveSearch

        for i, group in enumerate(groups):
            self._later_pairs = sum(int(later.pairs_of_seed.sum()) for later in groups[i + 1 :])
            yield WaveSearch(self.device, group, self._longest, self.options.collect, two_ended)

    @property
    def finished(self) -> bool:
        """Whether the search is complete."""
        return self._current is None and not self._broken

    def advance(self) -> Snapshot:
        """Search for one slice, about 100 ms.

        Returns
        -------
        Snapshot
            Where the run stands after it.

        Raises
        ------
        DeviceError
            If another arch has been opened since in this process.
        EngineError
            If memory runs out, or an earlier slice ended in an exception.
        """
        if self._broken:
            raise EngineError("this run cannot go on: an earlier slice of it ended in an exception")
        if self._current is not None:
            require_running(self.device)
            self._broken = True
            started = time.perf_counter()
            self._current.advance(SLICE_SECONDS)
            self._seconds += time.perf_counter() - started
            if self.options.collect:
                self._waiting.append(self._current.take_cycles())
            if self._current.finished:
                self._totals.add(self._current.totals.paths, self._current.totals.cycles)
                self._current = None
                self._current = next(self._searches, None)
            self._broken = False
        return self.snapshot()

    def snapshot(self) -> Snapshot:
        """Say where the run stands, without searching."""
        totals = Totals()
        totals.add(self._totals.paths, self._totals.cycles)
        if self._current is not None:
            totals.add(self._current.totals.paths, self._current.totals.cycles)
        paths = dict(sorted(totals.paths.items()))
        cycles = {t: count for t, count in sorted(totals.cycles.items()) if t >= self.options.min_length}
        return Snapshot(
            paths_by_length=paths,
            cycles_by_length=cycles,
            frontier=0 if self._current is None else self._current.frontier + self._later_pairs,
            paths=sum(paths.values()),
            cycles=sum(cycles.values()),
            seconds=self._seconds,
            device_bytes=0 if self._current is None else self._current.device_bytes,
            finished=self.finished,
        )

    def take_cycles(self) -> Cycles:
        """Take the cycles found since the last call.

        Returns
        -------
        Cycles
            None of them without ``Options.collect``.
        """
        found, self._waiting = Cycles.joined(self._waiting), []
        if self.options.min_length > 3:
            found = found.chosen(found.lengths >= self.options.min_length)
        return found
