"""The driver of a search on a cluster: it leases waiting work to workers and takes their answers.

A lease counts when its answer is taken, never before. The driver keeps the frames of a lease until then. A worker that
dies or falls silent has therefore told nothing, and its frames are leased out again.
"""

from __future__ import annotations

import math
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.cluster.batch_work import BatchWork, require_fit
from kernels_ti.cluster.leases import Lease, Pace, Work, chunks_of
from kernels_ti.cluster.local import be_quiet
from kernels_ti.cluster.on_worker import Answer, NotPrepared, SearchJob, versions
from kernels_ti.cluster.pool import Pool
from kernels_ti.cluster.portions import frame_bytes, untouched
from kernels_ti.cluster.roster import Roster, WorkerView
from kernels_ti.cluster.watch import Watch
from kernels_ti.cluster.workers import DaskWorkers, Reply
from kernels_ti.conversion import as_graph
from kernels_ti.cycles import Cycles
from kernels_ti.errors import ChordlessError, EngineError
from kernels_ti.found.row_store import Kept
from kernels_ti.graph import Graph
from kernels_ti.options import Options, Snapshot, require_arch, require_threads
from kernels_ti.resident_batch import NEARLY_DONE
from kernels_ti.short_cycles import short_cycles
from kernels_ti.state import STATE_WORD_BITS, Rows, RunState, Totals
from kernels_ti.symmetry.space import space_of

WAIT_SECONDS = 0.1
_MOST_WAITING_BYTES = 1 << 30
_OLD_ENOUGH = 0.3


class ClusterRun:
    """The enumeration of one graph on the workers of a cluster, in slices; it is used like a `kernels_ti.run.Run`.

    It resumes from `state`, see there: a run on one machine and a run on a cluster can each resume the state of the
    other. Each worker searches on `arch`, on the CPU with so many `threads`, by default as many as Dask gave it. `tell`
    is called with a line of text when a worker is lost, refused or fails. A GraphError says that `graph` is no graph,
    an OptionError that the options cannot be combined with a cluster.
    """

    def __init__(
        self,
        graph: Any,
        workers: DaskWorkers,
        options: Options | None = None,
        state: RunState | None = None,
        *,
        arch: str = "auto",
        threads: int | None = None,
        pace: Pace | None = None,
        tell: Callable[[str], None] = be_quiet,
    ) -> None:
        require_arch(arch)
        require_threads(threads)
        space = space_of(graph if isinstance(graph, SearchSpace) else as_graph(graph), options)
        self.options = options or space.options
        require_fit(self.options, arch)
        self.graph: Graph = space.graph
        self._space = space
        self._workers = workers
        self._pace = pace or Pace()
        self._tell = tell
        self._totals = Totals()
        self._kept = Kept(self.graph.n, self.options.lengths, as_rows=self.options.rows)
        self._seconds = self._share = 0.0
        self._device_bytes = 0
        if state is not None:
            self._totals.add(state.paths_by_length, state.cycles_by_length)
            self._seconds, self._share = state.seconds, state.share
            layout = state.layout
        else:
            # As for the parts of a search: the workers may have different devices.
            layout = space.layout(replace(self.options, part=self.options.part or (1, 1)), "cpu", STATE_WORD_BITS)
        self._batch = BatchWork(space, self.options, layout, 0 if state is None else state.batch)
        self._pool = Pool((self.options.memory or _MOST_WAITING_BYTES) // 2)
        self._leases: dict[int, Lease] = {}  # Those that workers have, by number
        self._next_lease = 0
        self._roster = Roster()
        searched = replace(self.options, part=None)
        batch = self._batch.batch
        self._job = SearchJob(uuid.uuid4().hex, versions(), self.graph, searched, layout, batch, arch, threads)
        self._watch = Watch(workers, self._roster, self._pace, self._job, tell)
        self._finished = self._batch.ended
        if state is None and (self.options.part or (1, 1))[0] == 1:
            found = short_cycles(self.graph, self.options)
            self._take(Totals(cycles=Counter(map(len, found))), found)
        if not self._finished:
            self._begin_batch(state)

    @property
    def finished(self) -> bool:
        """Whether the search is complete."""
        return self._finished

    @property
    def device_name(self) -> str:
        """The devices of the workers that are ready, as text."""
        return self._roster.devices()

    def worker_views(self) -> tuple[WorkerView, ...]:
        """Return each worker that was ever seen, and what it did."""
        return self._roster.views({lease.address for lease in self._leases.values()})

    def advance(self) -> Snapshot:
        """Lease out work and take answers for about 100 ms.

        An EngineError is raised if the scheduler is gone, no worker can be used, or a lease fails wherever it is tried.
        `state` still returns what is left to do.
        """
        if not self._finished:
            began = time.monotonic()
            self._look_around()
            self._lease_out()
            self._hear_all(WAIT_SECONDS)
            self._lease_out()
            self._next_batches()
            self._seconds += time.monotonic() - began
        return self.snapshot()

    def wait_for_workers(self, others_seconds: float = 0.5) -> None:
        """Wait until a worker is ready, and a little longer for the others; an EngineError if no worker can be used."""
        until = math.inf
        while not self._finished and time.monotonic() < until and self._roster.waits():
            self._look_around()
            self._hear_all(WAIT_SECONDS)
            if until == math.inf and self._roster.usable():
                until = time.monotonic() + others_seconds

    def settle(self, seconds: float = 2.0) -> None:
        """Recall all leases, and take the answers that come within some seconds."""
        until = time.monotonic() + seconds
        for lease in self._leases.values():
            self._recall(lease)
        while self._leases and (left := until - time.monotonic()) > 0:
            # The work of a lease that fails waits again; if it goes on, `advance` raises the error.
            with suppress(EngineError):
                self._hear_all(min(left, WAIT_SECONDS))
        if not self._finished:
            self._next_batches()

    def close(self) -> None:
        """Recall the leases, and let go of the workers."""
        for lease in self._leases.values():
            self._recall(lease)
        self._workers.close()

    def snapshot(self) -> Snapshot:
        """Return the progress of the run."""
        waiting = self._pool.paths_by_length
        for lease in self._leases.values():
            waiting.update(lease.work.paths_by_length)
        return self._space.snapshot(
            self._totals,
            is_piece=self.options.part is not None,
            frontier=waiting.total(),
            waiting_by_length={length: count for length, count in sorted(waiting.items()) if count},
            seconds=self._seconds,
            share=self._share_done(),
            device_bytes=self._device_bytes,
            finished=self._finished,
        )

    def state(self) -> RunState:
        """Return the remaining work, that of the leases included, so that another run can resume from here.

        An EngineError is raised if cycles that were found have not been taken.
        """
        if self._kept:
            raise EngineError("cycles that were found have not been taken")
        chunks = [*self._pool.chunks(), *(chunk for lease in self._leases.values() for chunk in lease.work.chunks)]
        return replace(
            self._batch.state(chunks, surveyed=self._batch.surveyed, alone=False),
            paths_by_length=dict(self._totals.paths),
            cycles_by_length=dict(self._totals.cycles),
            seconds=self._seconds,
            share=self._share_done(),
        )

    def take_cycles(self) -> Cycles:
        """Take the cycles of the answers since the last call; see `kernels_ti.run.Run.take_cycles`."""
        return self._kept.take_cycles()

    def take_rows(self) -> Rows:
        """Take the cycles of the answers since the last call as bit rows; see `kernels_ti.run.Run.take_rows`."""
        return self._kept.take_rows()

    def _take(self, totals: Totals, found: list[list[int]]) -> None:
        """Take what the host has found: counts by length, and the cycles."""
        self._totals.add(totals.paths, totals.cycles)
        if self.options.collect:
            self._kept.add(Cycles.of_lists(found))

    def _begin_batch(self, resumed: RunState | None = None) -> None:
        """Put the work of the current batch into the pool; count what was found on the way."""
        chunks, begun = self._batch.begin(resumed)
        self._pool.add(chunks)
        if begun is not None:
            self._take(begun.totals, begun.found)
        if not self._batch.is_surveyed:
            self._pool.add_stage_1()

    def _next_batches(self) -> None:
        while not (self._finished or self._leases or self._pool):
            self._batch.batch += 1
            self._finished = self._batch.ended
            if not self._finished:
                self._begin_batch()

    def _look_around(self) -> None:
        """Notice workers that came, went or fell silent; take the work of the lost ones back."""
        for address, why in self._watch.look(list(self._leases.values())).items():
            self._lost(address, why)
        self._watch.require_workers()

    def _lost(self, address: str, why: str) -> None:
        for lease in self._leases_of(address):
            del self._leases[lease.number]
            work = replace(lease.work, deaths=lease.work.deaths + 1)
            self._pool.put_back_in_halves(work)
            if work.deaths >= self._pace.deaths:
                raise EngineError(f"{work.deaths} workers were lost with the same work, the last was {address}: {why}")

    def _hear_all(self, seconds: float) -> None:
        """Hear all replies that come within some seconds, then raise the first EngineError among them."""
        errors = []
        for reply in self._workers.replies(seconds):
            try:
                self._hear(reply)
            except EngineError as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def _hear(self, reply: Reply) -> None:
        if reply.number < 0:
            self._watch.prepared(reply)
            return
        if isinstance(reply.error, ConnectionError):
            self._roster.forget(reply.address)
            self._workers.forget(reply.address)
            self._lost(reply.address, str(reply.error))
            return
        lease = self._leases.pop(reply.number, None)
        if lease is None:  # its worker was lost by a reply that came with this one
            return
        if isinstance(reply.value, Answer):
            self._count(lease, reply.value)
        elif isinstance(reply.error, NotPrepared):
            self._pool.put_back(lease.work)
            self._roster.forget(reply.address)
        else:
            self._failed(lease, reply.error)

    def _count(self, lease: Lease, answer: Answer) -> None:
        """Take an answer: what it found counts from now on, what it left waits."""
        self._totals.add(answer.paths_by_length, answer.cycles_by_length)
        if answer.found is not None:
            self._kept.add(answer.found)
        left = () if answer.left is None else answer.left.groups
        if lease.work.stage_1:
            self._batch.surveyed = [group.surveyed for group in left] if left else list(self._batch.seeds)
            if not self._batch.is_surveyed:
                self._pool.add_stage_1()
        self._pool.add(untouched(lease.work.chunks, answer.begun))
        for number, group in enumerate(left):
            for frames in group.frames:
                if len(frames):
                    self._pool.add(chunks_of(number, frames))
        self._device_bytes = max(self._device_bytes, answer.device_bytes)
        took = answer.seconds if lease.ahead else lease.age
        self._roster.answered(lease.address, answer, took, lease.frame_bytes)

    def _failed(self, lease: Lease, error: BaseException | None) -> None:
        """Try the work of a failed lease elsewhere, as long as `Pace.tries` allows."""
        what = str(error) if isinstance(error, ChordlessError) else f"{type(error).__name__}: {error}"
        failed_on = (*lease.work.failed_on, lease.address)
        self._pool.put_back(replace(lease.work, failed_on=failed_on))
        self._roster.failed(lease.address, what)
        self._tell(f"a lease failed on the worker {lease.address}: {what}")
        if len(failed_on) >= self._pace.tries:
            raise EngineError(f"a lease failed {len(failed_on)} times, the last time on {lease.address}: {what}")

    def _lease_out(self) -> None:
        """Give work to the workers that have none, then some ahead to the others; recall leases if there is none."""
        usable = self._roster.usable()
        held = Counter(lease.address for lease in self._leases.values())
        idle = [address for address in usable if not held[address]]
        ahead = [address for address in usable if held[address] == 1] if self._pool.can_spare else []
        seconds = self._lease_seconds() if idle or ahead else 0.0
        without = 0
        for address in idle:
            work = self._pool.work_for(address, usable)
            if work is None:  # nothing waits, or only what failed there
                without += 1
            else:
                self._lease(address, work, seconds)
        if without:  # recall the largest leases
            old = [each for each in self._leases.values() if not each.recalled and each.age > _OLD_ENOUGH]
            for lease in sorted(old, key=lambda each: -each.work.share)[:without]:
                self._recall(lease)
        # A worker goes on with it while its answer is on the way.
        for address in ahead:
            if self._pool.can_spare:
                self._lease(address, self._pool.share_for(len(usable)), seconds)

    def _lease(self, address: str, work: Work, seconds: float) -> None:
        number, self._next_lease = self._next_lease, self._next_lease + 1
        state = self._batch.state(work.chunks, surveyed=self._batch.surveyed if work.stage_1 else None, alone=True)
        before = self._leases_of(address)
        overdue = seconds + sum(lease.seconds for lease in before)
        self._leases[number] = Lease(number, address, overdue, work, frame_bytes(state), ahead=bool(before))
        self._workers.lease(address, self._job.key, number, state, seconds)

    def _leases_of(self, address: str) -> list[Lease]:
        return [lease for lease in self._leases.values() if lease.address == address]

    def _recall(self, lease: Lease) -> None:
        lease.recalled = True
        self._workers.recall(lease.address, self._job.key, lease.number)

    def _lease_seconds(self) -> float:
        """Return how long the next leases last: a quarter of the time that is left, within the bounds."""
        share = self._share_done()
        left = self._seconds * (1 - share) / share if share > 0 else 4.0
        return min(max(left / 4, self._pace.shortest), self._pace.longest)

    def _share_done(self) -> float:
        if self._finished:
            return 1.0
        left = self._pool.share + sum(lease.work.share for lease in self._leases.values())
        self._share = max(self._share, min(self._batch.share_done(left), NEARLY_DONE))
        return self._share
