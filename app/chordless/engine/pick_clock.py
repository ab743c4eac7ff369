"""The clock and the checkpoints of a pick: when the library asks whether to go on, the engine reports and obeys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from chordless.cycles.base import CycleOutput
from chordless.engine.boundary import NOTHING_YET, StepReports, Task
from chordless.engine.boundary import Watch as Orders
from chordless.engine.keeper import totals_of
from chordless.protocol.events import Reason
from kernels_ti import Snapshot
from kernels_ti.boundary.orders.plan import BoundaryPlan
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.values.saved import SavedPick
from kernels_ti.boundary.way_back.blocks import Keeping
from kernels_ti.device.memory import resident_bytes
from kernels_ti.watch import Watch

# A way forward that took less is gone again, rather than kept before the way back.
_FEWEST_SECONDS = 1.0


class PickClock(Watch):
    """The clock of a pick that goes along the boundary `ways` times: asked whether to go on, it reports and obeys."""

    def __init__(self, task: Task, *, ways: int) -> None:
        super().__init__(task.command.timeout)
        self._before = 0.0 if task.checkpoint is None else task.checkpoint.state.seconds
        # The library's clock stands still while kernels are compiled; so the time-out is its own.
        self.orders = Orders(replace(task.command, timeout=None), task.channel)
        self._ways = ways
        self._steps: StepReports | None = None
        self._all_steps, self._cost, self._shared, self._width = 0, 1.0, 0.0, 0
        self.states: list[int] = []
        self._states_now = 0

    @property
    def reason(self) -> Reason:
        """Why the work was given up."""
        return self.orders.reason or "timeout"

    @property
    def all_seconds(self) -> float:
        """Seconds of work in all sessions."""
        return self._before + self.seconds

    @property
    def share_done(self) -> float:
        """Share of all the ways."""
        return min((self.share + self._shared) / self._ways, 1.0)

    def too_late(self) -> bool:
        """Whether the time is up, or the engine is to stop."""
        if self.orders.is_due:
            self.send_report()
            with self.paused():
                self.orders.look()
        return self.orders.reason is not None or super().too_late()

    def begin(self, plan: BoundaryPlan, done: int) -> None:
        """Take notice of the orders of the vertices, and of the steps of earlier sessions."""
        self._steps = StepReports(plan.expected_states, plan.width, done)
        self._all_steps, self._cost, self.states = len(plan.expected_states), max(plan.cost, 1.0), [0] * done

    def take_step(self, share: float, states: int, width: int) -> None:
        """Take notice of a step; see `kernels_ti.boundary.way_back.blocks.Report`."""
        super().report(share, states, width)
        if self._steps is None:
            self._width = width
        else:
            self._states_now = states
            self.states.append(states)

    def take_share(self, step: Step, states: int) -> None:
        """Take notice of a step of the shares."""
        self._shared += step.cost / self._cost
        self._states_now = states

    def send_report(self) -> None:
        """Report. The picture is that of the first way."""
        seconds = self.all_seconds
        if self._steps is not None:
            states = self.states[: self._all_steps]
            sent = self._steps.report(seconds, self.share_done, states, states_now=self._states_now)
        else:
            stage = self._last.stage
            sent = replace(
                NOTHING_YET,
                seconds=seconds,
                share=self.share,
                cycles=self._last.cycles,
                states=None if stage == "searching" else 0,
                width=self._width,
                compiling=stage == "compiling",
                seeking_order=stage in ("reading", "seeking an order"),
                memory_bytes=resident_bytes(),
            )
        self.orders.send(sent)


class PickCheckpoints(Keeping):
    """The checkpoints of a pick between two vertices, which goes on from `saved`; `output` is a folder of parts."""

    def __init__(self, task: Task, clock: PickClock, saved: SavedPick | None, output: CycleOutput | None) -> None:
        super().__init__(None if task.keeper is None else self._offer, saved)
        self._keeper, self._channel, self._clock, self._output = task.keeper, task.channel, clock, output
        self._offered: Callable[[], SavedPick] | None = None

    def begin(self, plan: BoundaryPlan) -> None:
        """Take notice of the orders of the vertices."""
        super().begin(plan)
        self._clock.begin(plan, sum(map(len, (self.orders or ())[: len(self.done)])) + self.place)

    def keep(self) -> None:
        """Write the state that was offered last, unless it is written."""
        if self._keeper is None or self._offered is None:
            return
        saved, self._offered = self._offered(), None
        state = totals_of(Snapshot(seconds=self._clock.all_seconds, share=self._clock.share_done))
        self._channel.send(self._keeper.write(state, output=self._output, along=saved))

    def _offer(self, offered: Callable[[], SavedPick], all_came: bool) -> None:
        assert self._keeper is not None
        self._offered = offered
        is_long = self._keeper.seconds_since >= _FEWEST_SECONDS
        if self._keeper.is_due or self._channel.checkpoint_asked or (all_came and is_long):
            self._channel.checkpoint_asked = False
            self.keep()
        if all_came:
            # The way back gives layers away that it needs no more.
            self._offered = None
