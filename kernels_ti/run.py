"""The run: a host loop over slices of the search, with counts after each.

A run is single-threaded and does nothing between two calls of `Run.advance`. Between two calls the caller can report,
pause, stop, or take the state of the run and resume it elsewhere.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.blocks.resumed import resumed_groups
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.conversion import as_graph
from kernels_ti.cycles import Cycles
from kernels_ti.device.device import Device, require_running
from kernels_ti.errors import EngineError, OptionError
from kernels_ti.found.participation import Counter as CycleCounter
from kernels_ti.found.participation import Participation
from kernels_ti.found.row_store import Kept
from kernels_ti.found.to_host import cycles_of, rows_into, rows_of
from kernels_ti.options import Options, Snapshot
from kernels_ti.resident_batch import NEARLY_DONE, BatchCache, LaterWork, ResidentBatch, Weights
from kernels_ti.short_cycles import short_cycles
from kernels_ti.state import FramesOfSearch, GroupState, Rows, RunState, Totals, words_for
from kernels_ti.symmetry.space import space_of

if TYPE_CHECKING:
    from kernels_ti.reference.search import ReferenceSearch
    from kernels_ti.sweep.search import SweepSearch
    from kernels_ti.sweep.search_stage_1 import SurveySearch
    from kernels_ti.wave.search import WaveSearch

    GroupSearch = SweepSearch | WaveSearch  # stage 2 of one group of blocks, whose state can be saved
    DeviceSearch = SurveySearch | GroupSearch
    Search = ReferenceSearch | DeviceSearch

SLICE_SECONDS = 0.1


class Run:
    """The enumeration of one graph on one device, in slices.

    Any thread may use a run, but only one at a time. After an exception or an interrupt it cannot go on. Its snapshot
    stays readable. A run without anything to search is finished at once. Cycles of one and two vertices are found when
    it is made: take them also if it is finished.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library, or SearchSpace
        Pass the space that was used to choose the device: it is not prepared a second time.
    device : Device
        From `open_device`.
    options : Options, optional
        By default the options of the space.
    state : RunState, optional
        Resume from this state. It must come from a run of the same graph, bounds, expansion, part, `through`, `avoid`
        and `avoid_edges`. With `collect`, that run must have collected too. The device may differ.
    cache : BatchCache, optional
        Use the buffers of an earlier run of the same space, device and options again. That run must not go on.

    Attributes
    ----------
    least_length : int
        With `Options.pruned`: shorter cycles are dropped. It may rise between two slices.

    Raises
    ------
    GraphError
        If `graph` is no graph.
    DeviceError, EngineError
        If the device cannot hold or run this graph.
    OptionError
        If `device`, `options` or `state` has another type, `state` does not fit the graph (some of that shows only in
        `advance`), the options cannot be combined or differ from those of the space, or the memory budget is too small.

    Examples
    --------
    >>> from chordless import Graph, Options, Run, open_device
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> run = Run(square, open_device("cpu"), Options(max_length=8))
    >>> while not run.finished:
    ...     snapshot = run.advance()  # about 100 ms
    >>> snapshot.cycles_by_length
    {4: 1}
    """

    def __init__(
        self,
        graph: Any,
        device: Device,
        options: Options | None = None,
        state: RunState | None = None,
        cache: BatchCache | None = None,
    ) -> None:
        if not isinstance(device, Device):
            raise OptionError(f"a run needs a device, such as open_device('cpu'), not {device!r}")
        if not isinstance(options, Options | None):
            raise OptionError(f"the options of a run are an Options, such as Options(max_length=8), not {options!r}")
        if not isinstance(state, RunState | None):
            raise OptionError(f"the state of a run comes from Run.state(), it is not {state!r}")
        require_running(device)
        self.device = device
        space = space_of(graph if isinstance(graph, SearchSpace) else as_graph(graph), options)
        self.options = options or space.options
        self.least_length = self.options.min_length
        self.graph = space.graph
        self._space = space
        self._cache = cache
        self._longest = space.longest
        self._totals = Totals()
        self._seconds = self._share = 0.0
        self._batch = self._group = 0
        self._batch_shares = np.ones(1)
        self._states: list[GroupState] = []
        self._survey: SurveySearch | None = None
        self._later = LaterWork()
        self._kept = Kept(self.graph.n, self.options.lengths, as_rows=self.options.rows)
        counted = self.options.participation
        self._counter = None if counted == "none" else CycleCounter(self.graph, edges=counted == "edges")
        self._broken = False
        self._covered = None if state is None else state.batches
        if state is not None:
            self._totals.add(state.paths_by_length, state.cycles_by_length)
            self._seconds, self._share, self._batch = state.seconds, state.share, state.batch
        self._layout = space.layout(self.options, device.arch, device.word_bits) if state is None else state.layout
        if state is None and (self.options.part or (1, 1))[0] == 1:  # of the parts only the first has short cycles
            found = short_cycles(self.graph, self.options)
            self._totals.add({}, Counter(map(len, found)))
            self._take_found(Cycles.of_lists(found))
        self._searches = self._plan(state) if self._longest >= 3 else iter(())
        self._current: Search | None = device.call(next, self._searches, None)

    def _take_found(self, found: Cycles) -> None:
        """Take cycles that the host has found."""
        if self.options.collect:
            self._kept.add(found)
        elif self._counter is not None:
            self._counter.add_cycles(found)

    def _plan(self, state: RunState | None) -> Iterator[Search]:
        if self.device.arch == "reference":
            if state is not None or self.options.part is not None:
                raise OptionError("the reference searches a graph in one piece: choose another arch")
            if self.options.symmetry:
                raise OptionError("the reference searches without symmetry: choose another arch")
            from kernels_ti.reference.search import ReferenceSearch

            cases = self._space.cases
            return (ReferenceSearch(each.graph, self._longest, self.options.members, each.through) for each in cases)
        return self._batches(state)

    def _batches(self, state: RunState | None) -> Iterator[Search]:
        """Search one batch of blocks after another; without balls there is only one batch."""
        batches = self._space.batches(self._layout, self.device.word_bits)
        self._batch_shares = batches.shares
        begun = False
        last = len(batches) if self._covered is None else self._covered
        if state is not None:
            state.require_batch(len(batches))
        cache = self._cache or BatchCache()
        while self._batch < last:
            batch = cache.batch(
                self._space,
                self._layout,
                self._batch,
                self.device,
                self.options,
                begun=begun or self._cache is not None,
            )
            if state is not None and state.groups:
                self._states = resumed_groups(state, batch.groups, members=self.options.members)
            else:
                self._begin(batch.groups, batch.weights)
            state = None
            batch.make_room()
            yield from self._searches_in(batch)
            del batch  # before the next one is made
            begun = True
            self._batch, self._states = self._batch + 1, []

    def _begin(self, groups: list[BlockGroup], weights: Weights) -> None:
        """Make the states of the groups; some searches begin with frames that the host has made."""
        from kernels_ti.estimate.parts import begun_on_host

        options = self.options
        begun = begun_on_host(self._space, self._batch, groups, weights, options.part, options.members)
        self._states = [GroupState() for _ in groups] if begun is None else list(begun.groups)
        if begun is not None:
            self._totals.add(begun.totals.paths, begun.totals.cycles)
            self._take_found(Cycles.of_lists(begun.found))

    def _searches_in(self, batch: ResidentBatch) -> Iterator[Search]:
        """Search group by group, so that one arena or set of stacks is held at a time; the sweep after stage 1 of all.

        A wave has both stages in one search.
        """
        groups, weights = batch.groups, batch.weights
        surveyed = [state.surveyed for state in self._states]
        seeds = [len(group.seed_entries) for group in groups]
        if not batch.is_wave and any(done < count for done, count in zip(surveyed, seeds, strict=True)):
            self._look_ahead(groups, weights, 0)
            self._survey = batch.stage_1(surveyed)
            yield self._survey
            self._survey = None
            self._states = [replace(state, surveyed=count) for state, count in zip(self._states, seeds, strict=True)]
        for i in range(len(groups) if batch.is_wave or self._longest > 3 else 0):
            state = self._begin_group(groups, weights, i)
            if state is not None:
                yield batch.stage_2(i, state)

    def _begin_group(self, groups: list[BlockGroup], weights: Weights, i: int) -> GroupState | None:
        """Make a group the current one; return the rest of its search, or None if it is done."""
        self._look_ahead(groups, weights, i + 1)
        seeds = len(groups[i].seed_entries)
        state, self._states[i] = self._states[i], GroupState(seeds, seeds)
        self._group = i
        return None if min(state.next_seed, state.surveyed) == seeds and state.frames == () else state

    def _look_ahead(self, groups: list[BlockGroup], weights: Weights, first: int) -> None:
        """Add up the remaining work of the groups from `first` on, none of which is being searched."""
        later = [replace(state, frames=tuple(state.frames)) for state in self._states[first:]]
        self._states[first:] = later
        self._later = LaterWork.of(groups[first:], later, weights[first:])

    @property
    def finished(self) -> bool:
        """Whether the search is complete."""
        return self._current is None and not self._broken

    def advance(self) -> Snapshot:
        """Search for one slice, about 100 ms.

        Returns
        -------
        Snapshot
            The progress after this slice.

        Raises
        ------
        DeviceError
            If this process has opened another arch in the meantime.
        EngineError
            If memory runs out, or an earlier slice ended in an exception.
        """
        if self._broken:
            raise EngineError("this run cannot go on: an earlier slice of it ended in an exception")
        if self._current is not None:
            self.device.call(self._advance)
        return self.snapshot()

    def _advance(self) -> None:
        """Search for one slice, on the thread of the device."""
        assert self._current is not None
        require_running(self.device)
        self._broken = True
        if self.options.pruned and self._survey is None and self.device.arch != "reference":
            cast("GroupSearch", self._current).least_length = self.least_length
        started, compiles = time.perf_counter(), self._current.compiling
        self._current.advance(SLICE_SECONDS)
        self._take(self._current)
        self._seconds += 0.0 if compiles else time.perf_counter() - started
        if self._current.finished:
            self._add_totals(self._totals, self._current)
            self._current = None  # before the next one is made
            self._current = next(self._searches, None)
        self._broken = False

    def _take(self, search: Search) -> None:
        if self.device.arch == "reference":
            self._take_found(cast("ReferenceSearch", search).take_cycles())
            return
        search = cast("DeviceSearch", search)
        if self.options.collect:
            if self._kept.store is not None:
                rows_into(search.take_found(), self._kept.store)
            else:
                found = search.take_found()
                self._kept.add(rows_of(found, words_for(self.graph.n)) if self.options.rows else cycles_of(found))
        elif self.options.members:
            for blocks, stored in search.take_found():  # each is valid until the next one is asked for
                if self._counter is not None:
                    self._counter.add_found(blocks, stored)

    def participation(self) -> Participation:
        """Count for each vertex and edge the cycles found so far, of the wanted lengths, that contain it.

        Raises
        ------
        OptionError
            Without ``Options.participation``.
        """
        if self._counter is None:
            raise OptionError("this run does not count for each vertex: set Options.participation")
        return self._counter.result(self.options.lengths, complete=self.finished)

    def snapshot(self) -> Snapshot:
        """Return the progress of the run, without searching."""
        totals, waiting, pairs = self._all_totals(), Totals(), 0
        if self._current is not None:
            waiting.add(self._current.waiting_by_length, {})
            waiting.add(self._later.waiting.paths, {})
            pairs = self._current.pairs_left + self._later.pairs
        return self._space.snapshot(
            totals,
            is_piece=self.options.part is not None or self._covered is not None,
            frontier=sum(waiting.paths.values()) + pairs,
            seconds=self._seconds,
            share=self._share_done(),
            device_bytes=0 if self._current is None else self._current.device_bytes,
            finished=self.finished,
            compiling=self._current is not None and self._current.compiling,
            waiting_by_length=dict(sorted(waiting.paths.items())),
        )

    def _all_totals(self) -> Totals:
        totals = self._totals.copy()
        if self._current is not None:
            self._add_totals(totals, self._current)
        return totals

    def _add_totals(self, totals: Totals, search: Search) -> None:
        """Add what a search of the current batch has counted."""
        totals.add(search.totals.paths, self._space.scaled(self._batch, search.totals.cycles))

    def _share_done(self) -> float:
        if self.finished:
            return 1.0
        if self._current is not None:
            left = self._current.remaining + self._later.share
            done = float(self._batch_shares[: self._batch].sum() + self._batch_shares[self._batch] * (1 - left))
            self._share = max(self._share, min(done, NEARLY_DONE))
        return self._share

    def state(self) -> RunState:
        """Return the remaining work, so that another run can resume from here.

        Returns
        -------
        RunState
            It can be used once, before this run is advanced: an EngineError says later that it is too late. To pickle
            it is to use it; what is unpickled can be used at any time, and also in another process.

        Raises
        ------
        EngineError
            If an earlier slice raised an exception, or cycles that were found have not been taken.
        OptionError
            For the reference, whose state is on Python's own stack, and for a run with ``Options.participation``.
        """
        if self._broken:
            raise EngineError("this run cannot go on: an earlier slice of it ended in an exception")
        if self.device.arch == "reference":
            raise OptionError("the reference cannot be stopped and resumed: choose another arch")
        if self._kept:
            raise EngineError("cycles that were found have not been taken")
        if self._counter is not None:
            raise OptionError("a run that counts for each vertex cannot be stopped and resumed")
        return self.device.call(self._state)

    def _state(self) -> RunState:
        totals = self._all_totals()
        groups = list(self._states)
        if self._survey is not None:
            groups = [replace(state, surveyed=done) for state, done in zip(groups, self._survey.surveyed, strict=True)]
        elif self._current is not None:
            search, seconds = cast("GroupSearch", self._current), self._seconds
            waiting = search.frames()
            frames = FramesOfSearch(lambda: self.device.call(next, waiting, None), lambda: self._seconds != seconds)
            groups[self._group] = GroupState(search.surveyed, search.next_seed, frames)
        return RunState(
            layout=self._layout,
            batch=self._batch,
            groups=tuple(groups),
            paths_by_length=totals.paths,
            cycles_by_length=totals.cycles,
            seconds=self._seconds,
            share=self._share_done(),
            batches=self._covered,
        )

    def take_cycles(self) -> Cycles:
        """Take the cycles found since the last call.

        Returns
        -------
        Cycles
            Empty without ``Options.collect``, or with ``Options.rows``.
        """
        return self._kept.take_cycles()

    def gather_rows(self, room: float = math.inf) -> None:
        """Put the bit rows of all slices side by side from now on, each to the place where it stays.

        Then `take_rows` at the end takes no time, and no more memory than it returns. It needs ``Options.rows``.

        Parameters
        ----------
        room : float
            Bytes that the rows may take: `advance` raises a SizeError if they need more.
        """
        self._kept.gather(room)

    def take_rows(self) -> Rows:
        """Take the cycles found since the last call as bit rows.

        Returns
        -------
        ndarray of uint64, shape (k, ceil(n / 64))
            Bit ``v % 64`` of word ``v // 64`` is set when vertex v lies on the cycle. Empty without ``Options.rows``.
        """
        return self._kept.take_rows()
