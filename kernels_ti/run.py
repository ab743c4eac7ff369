"""The run: a host loop over slices of the search, with counts after each.

A run is single-threaded and does nothing between two calls of `Run.advance`, so its caller reports, pauses
and stops as it likes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from kernels_ti.blocks import block_groups
from kernels_ti.device import Device
from kernels_ti.errors import OptionError
from kernels_ti.graph import Graph
from kernels_ti.search import Cycles, Search, Totals

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
        Paths that wait now.
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
        self.graph = graph
        self.device = device
        self.options = options or Options()
        self._longest = min(graph.n, self.options.max_length or graph.n)
        self._totals = Totals()
        self._seconds = 0.0
        self._waiting: list[Cycles] = []
        self._current: Search | None = None
        self._searches = self._make_searches() if self._longest >= 3 else iter(())
        self._current = next(self._searches, None)

    def _make_searches(self) -> Iterator[Search]:
        """Make the searches one after another, so that only one holds memory on the device."""
        options, device = self.options, self.device
        if device.arch == "reference":
            from kernels_ti.search_reference import ReferenceSearch

            yield ReferenceSearch(self.graph, self._longest, options.collect)
            return
        from kernels_ti.search import ResidentBlocks
        from kernels_ti.search_survey import SurveySearch
        from kernels_ti.search_sweep import SweepSearch
        from kernels_ti.search_wave import WaveSearch

        paper = options.expansion == "paper"
        if device.arch == "cpu" and not paper:
            groups = block_groups(self.graph, device.word_bits, nested=True)
            blocks = [ResidentBlocks(device, group) for group in groups]
            yield SurveySearch(blocks, self._longest, options.collect)
            if self._longest > 3:
                yield from (SweepSearch(group, self._longest, options.collect) for group in blocks)
        else:
            for group in block_groups(self.graph, device.word_bits, whole=paper):
                yield WaveSearch(device, group, self._longest, options.collect, not paper)

    @property
    def finished(self) -> bool:
        """Whether the search is complete."""
        return self._current is None

    def advance(self) -> Snapshot:
        """Search for one slice, about 100 ms, and say where the run stands."""
        if self._current is not None:
            started = time.perf_counter()
            self._current.advance(SLICE_SECONDS)
            self._seconds += time.perf_counter() - started
            if self.options.collect:
                self._waiting.append(self._current.take_cycles())
            if self._current.finished:
                self._totals.add(self._current.totals.paths, self._current.totals.cycles)
                self._current = None
                self._current = next(self._searches, None)
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
            frontier=0 if self._current is None else self._current.frontier,
            paths=sum(paths.values()),
            cycles=sum(cycles.values()),
            seconds=self._seconds,
            device_bytes=0 if self._current is None else self._current.device_bytes,
            finished=self.finished,
        )

    def take_cycles(self) -> Cycles:
        """Return the cycles found since the last call; nothing without ``Options.collect``."""
        found, self._waiting = Cycles.joined(self._waiting), []
        if self.options.min_length > 3:
            found = found.chosen(found.lengths >= self.options.min_length)
        return found
