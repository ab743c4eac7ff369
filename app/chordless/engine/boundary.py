"""A count along a boundary in the engine: its slices, its reports, its stops."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from chordless.engine.channel import Channel
from chordless.engine.keeper import Keeper, totals_of
from chordless.protocol.events import Paused, Progress, Reason
from chordless.protocol.orders import RunCommand
from chordless.runs.checkpoint import Checkpoint
from kernels_ti import BestCycle, CycleShares, Device, EngineError, Snapshot, open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.boundary.in_one_call import set_up
from kernels_ti.boundary.orders.plan import BoundaryPlan
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.participation import shares_of
from kernels_ti.boundary.spec.block import GivenUp
from kernels_ti.boundary.values.saved import SavedCount, SavedPick
from kernels_ti.boundary.way_back.blocks import Means, planned_blocks
from kernels_ti.device.memory import host_budget, resident_bytes, search_budget


class StepReports:
    """The numbers of a way along a boundary, each of which is reported once.

    `expected` says about how many states there will be at each step, `width` how many vertices the largest boundary
    has, and `told` how many steps were reported in earlier sessions.
    """

    def __init__(self, expected: Sequence[float], width: int, told: int = 0) -> None:
        self._expected = expected
        self._width = width
        self._told = told
        self._is_first = True

    def report(
        self,
        seconds: float,
        share: float,
        states: Sequence[int],
        *,
        states_now: int,
        cycles_by_length: dict[int, int] | None = None,
        passes: tuple[int, int] | None = None,
    ) -> Progress:
        """Return the next report: the share of the work, 0 to 1, and the number of states at each step so far.

        `cycles_by_length` has cycles whose lengths are not told apart under 0. For `passes` see `BoundaryCount.passes`.
        """
        lengths = cycles_by_length or {}
        pass_number, all_passes = passes or (0, 0)
        first, self._is_first = self._is_first, False
        new = {step + 1: states[step] for step in range(self._told, len(states))}
        self._told = max(self._told, len(states))
        return Progress(
            seconds=seconds,
            cycles=sum(lengths.values()),
            cycles_by_length={length: count for length, count in lengths.items() if length},
            share=share,
            memory_bytes=resident_bytes(),
            states=states_now,
            states_by_step=new,
            expected_by_step={i + 1: round(count) for i, count in enumerate(self._expected)} if first else {},
            width=self._width,
            pass_number=pass_number,
            passes=all_passes,
        )


_SLICE_SECONDS = 0.1
_TRIANGLE = 3
_WAYS_OF_SHARES = 2
NOTHING_YET = Progress(states=0)


@dataclass(frozen=True, eq=False)
class Task:
    """A count along a boundary or a pick, from its beginning or from a checkpoint."""

    command: RunCommand
    channel: Channel
    space: SearchSpace
    order: list[int] | None  # All vertices, in the order to take where the checkpoint has none
    tell_order: Callable[[list[int]], None] | None  # Takes the order that is used
    keeper: Keeper | None  # Writes checkpoints
    checkpoint: Checkpoint | None


@dataclass(frozen=True, eq=False)
class Ended:
    """The end of a count along a boundary, or of a pick."""

    reason: Reason
    snapshot: Snapshot
    # The ``width`` of the boundary and the most ``states``. For a best cycle ``ways``, how many are as good; for a
    # sample ``drawn_from``, how many there are in all.
    boundary: dict[str, int]
    best: BestCycle | None = None  # If the time was up, the best one so far
    shares: CycleShares | None = None  # Of all cycles, those through each vertex and each edge, if they were wanted
    device: Device | None = None  # Of the kernels; None for Python alone


def count_along_boundary(task: Task, plan: BoundaryPlan | None) -> Ended:
    """Count to the end, or until a timeout or a stop: then there are counts of the vertices that came until then.

    `plan` has first orders of the vertices, if they have been sought. Raise DeviceError or OptionError for an arch that
    is not there or has no such kernels, EngineError if the states do not fit into the memory allowed.
    """
    command, channel, space, keeper, checkpoint = task.command, task.channel, task.space, task.keeper, task.checkpoint
    known = NOTHING_YET
    if checkpoint is not None:
        state, counts = checkpoint.state, checkpoint.state.cycles_by_length
        known = replace(
            known, seconds=state.seconds, cycles=sum(counts.values()), cycles_by_length=counts, share=state.share
        )
    watch = Watch(command, channel, known)
    by_length = not command.total_only
    saved = None if checkpoint is None else checkpoint.along
    assert not isinstance(saved, SavedPick)
    plan, arch = _planned(task, plan, saved, watch)
    reason = watch.look() if saved is None else None
    if reason is not None:
        # An order that was sought for too short a time is not kept: a count that goes on seeks a better one.
        return Ended(reason, Snapshot(seconds=watch.seconds), {"width": plan.width, "states": 0})
    count = BoundaryCount(space, by_length=by_length, memory=host_budget(command.memory), plan=plan, saved=saved)
    reports = _Reports(count, wants_shares=command.per_vertex or command.per_edge)
    if saved is not None:
        # What was counted before stays in view, also where this session ends or pauses before it counts.
        watch.send(reports.progress(watch.seconds))
        if (reason := watch.look()) is not None:
            counted = _snapshot(command, count, watch, finished=False)
            return Ended(reason, counted, {"width": plan.width, "states": count.most_states})
    if arch != "reference":
        # A stop kills an engine that compiles: the order of the vertices took long to find.
        if keeper is not None:
            _keep(task, keeper, count, watch)
        watch.send(replace(reports.progress(watch.seconds), compiling=True))
    with watch.without_timeout():
        device = None if arch == "reference" else open_device(arch, threads=command.threads)
    if device is not None:
        count.use(device, search_budget(device, command.memory))
        if keeper is not None:
            keeper.session = replace(keeper.session, device=device)
    while reason is None and not count.finished:
        with contextlib.ExitStack() as stack:
            if keeper is not None:
                keep = partial(_keep, task, keeper, count, watch)
                stack.enter_context(keeper.telling_the_way_on("the count", keep))
            if count.begins_in_kernels:
                stack.enter_context(watch.without_timeout())
            count.advance(_SLICE_SECONDS, partial(_reported_enough, watch, reports))
        watch.send(reports.progress(watch.seconds))
        if not count.finished:
            reason = watch.look()
            if channel.checkpoint_asked and keeper is None:
                sys.stderr.write("no checkpoint is written: this run has no directory\n")
            elif keeper is not None and (channel.checkpoint_asked or reason is not None or keeper.is_due):
                _keep(task, keeper, count, watch)
            channel.checkpoint_asked = False
    shares = None
    if reason is None and (command.per_vertex or command.per_edge):
        try:
            enough = partial(_reported_enough, watch, reports)
            means = Means(host_budget(command.memory), enough, reports.take_step)
            shares = shares_of(space, planned_blocks(space, count.plan), means)
        except GivenUp:
            reason = watch.look()
        else:
            if shares.total != sum(count.cycles_by_length.values()):
                raise EngineError("internal error: the way forward counts other cycles than the count")
            watch.send(reports.progress(watch.seconds))
    snapshot = _snapshot(command, count, watch, finished=reason is None)
    if keeper is not None and reason is None:
        channel.send(keeper.write(totals_of(snapshot), snapshot.cycles, along=count.saved(), finished=True))
    boundary = {"width": count.plan.width, "states": count.most_states}
    return Ended(reason or "complete", snapshot, boundary, shares=shares, device=device)


def _planned(task: Task, plan: BoundaryPlan | None, saved: SavedCount | None, watch: Watch) -> tuple[BoundaryPlan, str]:
    """Return the plan and the arch: a count that goes on has the same orders."""
    command, space = task.command, task.space
    wanted: Literal["total", "lengths"] = "total" if command.total_only else "lengths"
    if saved is not None:
        return set_up(space, command.arch, wanted, orders=saved.orders)
    plan, arch = set_up(
        space, command.arch, wanted, order=task.order, plan=plan, threads=command.threads,
        enough=watch.says_enough_of_orders, tell_width=watch.note_width,
    )  # fmt: skip
    if task.tell_order is not None and plan.is_possible:
        task.tell_order(plan.order_of_graph(space.graph.n))
    return plan, arch


def _keep(task: Task, keeper: Keeper, count: BoundaryCount, watch: Watch) -> None:
    snapshot = _snapshot(task.command, count, watch, finished=False)
    task.channel.send(keeper.write(totals_of(snapshot), snapshot.cycles, along=count.saved()))


def _snapshot(command: RunCommand, count: BoundaryCount, watch: Watch, *, finished: bool) -> Snapshot:
    lengths = count.cycles_by_length
    triangles = {_TRIANGLE: count.triangles} if count.triangles else {}
    return Snapshot(
        cycles_by_length=triangles if command.total_only else lengths,
        cycles=sum(lengths.values()),
        seconds=watch.seconds,
        share=count.share,
        finished=finished,
    )


def _reported_enough(watch: Watch, reports: _Reports) -> bool:
    """Say whether to end, and report now and then, while one vertex takes long."""
    if watch.is_due:
        watch.send(reports.progress(watch.seconds))
    return watch.says_enough()


class _Reports:
    """Reports of a count and, if they are wanted, of the shares that follow: a way forward and a way back."""

    def __init__(self, count: BoundaryCount, *, wants_shares: bool) -> None:
        self._count = count
        self._reports = StepReports(count.likely_states.tolist(), count.plan.width)
        self._ways = 1 + _WAYS_OF_SHARES * wants_shares
        self._done, self._states = 0.0, 0

    def take_step(self, step: Step, states: int) -> None:
        self._done += step.cost / max(self._count.plan.cost, 1.0)
        self._states = states

    def progress(self, seconds: float) -> Progress:
        count = self._count
        return self._reports.report(
            seconds,
            min((count.share + self._done) / self._ways, 1.0),
            count.states_by_step,
            states_now=self._states if count.finished else count.states,
            cycles_by_length=count.cycles_by_length,
            passes=count.passes,
        )


class Watch:
    """Watches for commands and for the timeout, and reports; pauses do not count.

    The first report, `known`, has what is known of earlier sessions, and their seconds.
    """

    def __init__(self, command: RunCommand, channel: Channel, known: Progress = NOTHING_YET) -> None:
        self._timeout = command.timeout
        self._seconds_before = known.seconds
        self._channel = channel
        self._began = self._looked = time.monotonic()
        self.reason: Reason | None = None  # To end, as the last look has found
        self._width = 0
        self.send(known)

    def send(self, report: Progress) -> None:
        """Send a report, and again after a pause."""
        self._newest = replace(report, states_by_step={}, expected_by_step={})
        self._channel.send(report)

    @property
    def seconds(self) -> float:
        """Seconds of all sessions, without pauses."""
        return self._seconds_before + time.monotonic() - self._began

    @property
    def is_due(self) -> bool:
        """Whether it is time to look again."""
        return time.monotonic() - self._looked >= _SLICE_SECONDS

    def says_enough(self) -> bool:
        """Return whether the count must end; commands are checked only now and then."""
        if self.is_due:
            self.look()
        return self.reason is not None

    @contextlib.contextmanager
    def without_timeout(self) -> Iterator[None]:
        """Do not count the seconds inside the block, in which kernels are compiled."""
        before, timeout, self._timeout = self.seconds, self._timeout, None
        try:
            yield
        finally:
            self._timeout = None if timeout is None else timeout + self.seconds - before

    def note_width(self, width: int) -> None:
        """Take notice of the vertices in the boundary of the best order so far."""
        self._width = width

    def says_enough_of_orders(self) -> bool:
        """Do the same as `says_enough` while an order of the vertices is sought, and report that."""
        if self.is_due:
            seeking = replace(NOTHING_YET, seconds=self.seconds, seeking_order=True, width=self._width)
            self.send(replace(seeking, memory_bytes=resident_bytes()))
        return self.says_enough()

    def look(self) -> Reason | None:
        """Return the reason to end, None if there is none; wait while the count is paused."""
        self._looked = time.monotonic()
        self._channel.obey()
        if self._channel.paused and not self._channel.stop_asked:
            self._wait()
        if self._channel.stop_asked:
            self.reason = "interrupted"
        elif self._timeout is not None and time.monotonic() - self._began >= self._timeout:
            self.reason = "timeout"
        return self.reason

    def _wait(self) -> None:
        halted = time.monotonic()
        self._channel.send(Paused())
        while self._channel.paused and not self._channel.stop_asked:
            self._channel.obey(wait=True)
        self._began += time.monotonic() - halted
        self.send(self._newest)
