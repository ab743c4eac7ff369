"""One longest cycle, or cycles drawn at random, found along a boundary in the engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from chordless.engine.boundary import Watch
from chordless.engine.channel import Channel
from chordless.engine.steps import StepReports
from chordless.protocol.events import Reason
from chordless.protocol.orders import USUAL_SAMPLE, RunCommand
from kernels_ti import CycleShares, Device, open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import arch_of_count
from kernels_ti.boundary.forward_and_back.blocks import PlannedBlocks
from kernels_ti.boundary.forward_and_back.gains import Gains
from kernels_ti.boundary.forward_and_back.optimum import best_cycle
from kernels_ti.boundary.in_one_call import annealed_blocks
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.participation import shares_of
from kernels_ti.boundary.sample import drawn
from kernels_ti.boundary.states.states import GivenUp
from kernels_ti.cycles import Cycles
from kernels_ti.device.memory import host_budget, search_budget


@dataclass(frozen=True, eq=False)
class Picked:
    """Cycles that were picked.

    Attributes
    ----------
    reason : Reason
    seconds : float
    cycles : Cycles
    boundary : dict of str to int
        The ``width`` of the boundary and the most ``states``. For a longest cycle ``ways``, how many are as long; for
        a sample ``drawn_from``, how many there are in all.
    shares : CycleShares or None
        Of all cycles, those through each vertex and each edge, if they were wanted.
    device : Device or None
        What ran the kernels, None if Python found all.
    """

    reason: Reason
    seconds: float
    cycles: Cycles
    boundary: dict[str, int] = field(default_factory=dict)
    shares: CycleShares | None = None
    device: Device | None = None


def picked(command: RunCommand, channel: Channel, space: SearchSpace) -> Picked:
    """Pick cycles along a boundary, or until a timeout or a stop.

    Parameters
    ----------
    command : RunCommand
        Its `pick` says which, its `limit` how many are drawn.
    channel : Channel
    space : SearchSpace

    Returns
    -------
    Picked
        Without cycles if it was stopped.

    Raises
    ------
    DeviceError, OptionError
        If the arch that was asked for is not there or has no such kernels.
    SizeError
        If no order has boundaries that a state can hold, or the states do not fit into the memory.
    """
    watch = Watch(command, channel)
    try:
        if watch.look() is not None:
            raise GivenUp
        planned, arch = annealed_blocks(
            space,
            command.arch,
            watch.says_enough_of_orders,
            threads=command.threads,
            report=lambda _share, _states, width: watch.note_width(width),
        )
        device = None if arch == "reference" else open_device(arch, threads=command.threads)
        device_memory = None if device is None else search_budget(device, command.memory)
        wants_shares = command.per_vertex or command.per_edge
        # Shares take one way more and the way back.
        way = _Way(channel, watch, planned, ways=3 if wants_shares else 1)
        memory = host_budget(command.memory)
        shares = None
        if command.pick == "longest":
            best = best_cycle(
                planned,
                Gains(),
                least=command.shortest,
                memory=memory,
                enough=way.says_enough,
                report=way.take_step,
                device=device,
                device_memory=device_memory,
            )
            lists, more = [best.cycle] if best.cycle else [], {"ways": best.ways}
        else:
            count = USUAL_SAMPLE if command.limit is None else command.limit
            lists, total = drawn(
                planned,
                count,
                command.seed,
                memory,
                way.take_step,
                enough=way.says_enough,
                device=device,
                device_memory=device_memory,
            )
            more = {"drawn_from": total}
        if wants_shares:
            # Shares are faster in kernels also on few cores, where cycles are drawn in Python.
            arch = arch_of_count(planned.plan, command.arch, by_length=False)
            if device is None and arch != "reference":
                device = open_device(arch, threads=command.threads)
            shares = shares_of(
                space,
                planned,
                memory,
                enough=way.says_enough,
                report=way.take_step,
                device=device,
                device_memory=None if device is None else search_budget(device, command.memory),
            )
        way.report()
    except GivenUp:
        return Picked(watch.look() or "interrupted", watch.seconds, Cycles.of_lists([]), {"width": 0, "states": 0})
    boundary = {"width": planned.plan.width, "states": max(way.states, default=0), **more}
    return Picked("complete", watch.seconds, Cycles.of_lists(lists), boundary, shares, device)


class _Way:
    """Where the work stands; it goes along the boundary `ways` times."""

    def __init__(self, channel: Channel, watch: Watch, planned: PlannedBlocks, ways: int) -> None:
        self._channel = channel
        self._watch = watch
        costs = planned.plan.expected_states
        self._cost = max(sum(costs) * ways, 1.0)
        self._steps = len(costs)
        self._reports = StepReports(costs, planned.plan.width)
        self._done = 0.0
        self.states: list[int] = []

    def take_step(self, step: Step, states: int) -> None:
        """Take notice of a step that is done."""
        self._done += step.cost
        self.states.append(states)
        if self.says_enough():
            raise GivenUp

    def report(self) -> None:
        """Report. The picture is that of the first way."""
        share = min(self._done / self._cost, 1.0)
        now = self.states[-1] if self.states else 0
        states = self.states[: self._steps]
        self._channel.send(self._reports.report(self._watch.seconds, share, states, states_now=now))

    def says_enough(self) -> bool:
        """Report now and then; return whether to end."""
        if self._watch.is_due:
            self.report()
        return self._watch.says_enough()
