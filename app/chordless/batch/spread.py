"""A batch whose graphs are spread over the workers of a cluster. The lines come in the order of the input."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from chordless.batch.counting import Result, message_of
from chordless.batch.cycle_files import PartFolders
from chordless.batch.entries import Entry, error_line
from chordless.batch.inputs import Chunk
from chordless.batch.on_worker import count_entries
from chordless.batch.output import BatchFile
from chordless.batch.runner import Batch
from chordless.engine.channel import Channel
from chordless.engine.search_run import tell
from chordless.protocol.orders import BatchCommand
from kernels_ti import EngineError
from kernels_ti.cluster.connect import connected, started
from kernels_ti.cluster.leases import Pace
from kernels_ti.cluster.spread import Outcome, Spread
from kernels_ti.cluster.workers import DaskWorkers

GRAPHS_AT_ONCE = 2048  # Small graphs that a worker counts together
_AHEAD = 4  # Calls that are read ahead for each worker, so that a large graph does not make the others wait
_FEWEST_AHEAD = 16
_WAIT_SECONDS = 0.1


@dataclass(eq=False)
class _Slot:
    """Lines that follow one another: known ones, or those that a call will bring."""

    entries: list[Entry]
    results: list[Result] | None = None
    kept: bool = False


class SpreadBatch(Batch):
    """A batch on a cluster. The first graph that is to be counted calls `reach`, which returns the workers."""

    def __init__(
        self,
        command: BatchCommand,
        channel: Channel,
        output: BatchFile,
        reach: Callable[[], DaskWorkers],
        pace: Pace | None = None,
    ) -> None:
        super().__init__(command, channel, output)
        self._reach = reach
        self._pace = pace
        self._spread: Spread | None = None
        self._slots: deque[_Slot] = deque()
        self._called: dict[int, _Slot] = {}
        self._calls = 0
        self._parts = PartFolders(uuid.uuid4().hex)
        # A worker knows nothing of the other graphs.
        self._for_workers = replace(command, jobs=(), crashes=(), cluster=None, gpus=None)

    def _open_device(self) -> None:
        """Do nothing: the workers open theirs."""

    def _do_all(self) -> None:
        try:
            for launch in self._launches():
                self._line_up(launch)
                workers = 0 if self._spread is None else self._spread.workers
                while len(self._called) > max(_AHEAD * workers, _FEWEST_AHEAD) and not self._reason:
                    self._take()
                if self._reason is not None:
                    break
            while self._slots and not self._reason:
                self._take()
        finally:
            if self._spread is not None:
                self._spread.close()
            self._parts.close()
        self._flush()

    def _line_up(self, entries: list[Entry]) -> None:
        """Append the slots of some entries, and call workers for those without an earlier line."""
        to_count: list[Entry] = []
        for entry in entries:
            known = self._known(entry)
            error = self._counting.error_of(entry)
            if known is None and error is None:
                to_count.append(entry)
                continue
            self._call(to_count)
            to_count = []
            result = known or (error_line(entry, str(error)), "error", 0)
            self._slots.append(_Slot([entry], [result], kept=known is not None))
        self._call(to_count)

    def _call(self, entries: list[Entry]) -> None:
        # A file of cycles travels alone, so that no answer is too large.
        at_once = 1 if entries and entries[0].chunk.job.listing is not None else GRAPHS_AT_ONCE
        for first in range(0, len(entries), at_once):
            some = entries[first : first + at_once]
            slot = _Slot(some)
            self._slots.append(slot)
            self._submit(slot)

    def _submit(self, slot: _Slot) -> None:
        number, self._calls = self._calls, self._calls + 1
        self._called[number] = slot
        if self._spread is None:
            self._spread = Spread(self._reach(), count_entries, pace=self._pace, tell=tell)
        folders = {entry.chunk.job.listing for entry in slot.entries} - {None}
        parts = {folder: self._parts.beside(folder) for folder in folders if folder is not None}
        self._spread.call(number, list(_without_others(slot.entries)), self._for_workers, parts)

    def _take(self) -> None:
        """Wait a little for outcomes; write the lines that are next."""
        for outcome in () if self._spread is None else self._spread.outcomes(_WAIT_SECONDS):
            self._hear_outcome(outcome)
        while self._slots and self._slots[0].results is not None and not self._ends():
            slot = self._slots.popleft()
            for result in slot.results or ():
                self._put(result, kept=slot.kept)
                if self._ends():
                    break
        self._flush()
        self._attend()

    def _ends(self) -> bool:
        return self._reason is not None

    def _hear_outcome(self, outcome: Outcome) -> None:
        slot = self._called.pop(outcome.number)
        if outcome.error is None and not outcome.lost:
            for file in outcome.value.files:
                self._parts.take(file)
            slot.results = outcome.value.results
        elif len(slot.entries) > 1:
            # One of them is to blame: the halves are counted apart.
            half = len(slot.entries) // 2
            halves = [_Slot(slot.entries[:half]), _Slot(slot.entries[half:])]
            place = self._slots.index(slot)
            self._slots.remove(slot)
            for each in reversed(halves):
                self._slots.insert(place, each)
            for each in halves:
                self._submit(each)
        else:
            error = outcome.error or EngineError(f"{outcome.lost} workers were lost with this graph")
            (entry,) = slot.entries
            failure = error if isinstance(error, Exception) else EngineError(f"{type(error).__name__}: {error}")
            slot.results = [(error_line(entry, message_of(entry, failure)), "error", 0)]


def go_on_cluster(command: BatchCommand, channel: Channel, output: BatchFile) -> None:
    """Do all jobs of a batch on the workers of a cluster; a ChordlessError if it cannot be reached or used."""
    arches = {job.arch for job in command.jobs}
    arch = arches.pop() if len(arches) == 1 else "auto"
    with ExitStack() as stack:

        def reach() -> DaskWorkers:
            local = started(command.cluster, command.gpus, arch=arch, threads=command.threads, tell=tell)
            workers = stack.enter_context(local)
            assert workers is not None
            return DaskWorkers(stack.enter_context(connected(workers)))

        SpreadBatch(command, channel, output, reach).go()


def _without_others(entries: list[Entry]) -> Iterator[Entry]:
    """Yield entries whose chunks hold no other graphs, so that only these travel."""
    for _, same in groupby(entries, key=lambda entry: id(entry.chunk)):
        some = list(same)
        chunk = some[0].chunk
        if chunk.job.listing is not None:
            for entry in some:  # with the names of its vertices
                alone = Chunk(chunk.job, (entry.title,), (entry.name,), loaded=chunk.graph(entry.number))
                yield entry._replace(chunk=alone)
            continue
        graphs = chunk.graphs
        if graphs is not None:
            graphs = graphs.chosen(np.array([entry.number for entry in some], np.int64))
        smaller = replace(
            chunk,
            titles=[entry.title for entry in some],
            names=[entry.name for entry in some],
            errors={},
            graphs=graphs,
            atom_names=None,
        )
        for number, entry in enumerate(some):
            yield entry._replace(chunk=smaller, number=number if graphs is not None else entry.number)
