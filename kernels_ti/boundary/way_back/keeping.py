"""The layer checkpoint callback: between two vertices it gets the state of a search for a best cycle, or a sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kernels_ti.boundary.orders.plan import BoundaryPlan
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.values.saved import SavedForward, SavedPick, SavedResult
from kernels_ti.device.device import Device


class Keeping:
    """The checkpoints of a search for a best cycle, or of a sample.

    `keep` is called with a function that returns the state, and whether a block has been gone through; None keeps
    nothing. The work goes on from `saved`. `done` are the blocks that are done.
    """

    def __init__(
        self,
        keep: Callable[[Callable[[], SavedPick], bool], None] | None = None,
        saved: SavedPick | None = None,
    ) -> None:
        self._keep = keep
        self.orders = None if saved is None else saved.orders
        self.done: tuple[SavedResult, ...] = () if saved is None else saved.done
        self._forward = None if saved is None else saved.forward
        self._latest: list[Callable[[], SavedForward]] = []

    @property
    def in_kernels(self) -> bool | None:
        """Whether the block that goes on was begun in kernels; None without such a block."""
        return None if self._forward is None else self._forward.in_kernels

    @property
    def place(self) -> int:
        """Vertices that have come in the block that goes on."""
        return 0 if self._forward is None else self._forward.place

    def begin(self, plan: BoundaryPlan) -> None:
        """Take notice of the orders of the vertices."""
        self.orders = tuple(order.vertices for order in plan.orders if order is not None)

    def take_forward(self) -> SavedForward | None:
        """Return the state of the block that goes on, once; None for a block that begins."""
        forward, self._forward = self._forward, None
        return forward

    def offer(self, forward: Callable[[], SavedForward], all_came: bool) -> None:
        """Offer the state between two vertices, until the next one has come; or say that all of the block have come."""
        self._latest = [] if all_came else [forward]
        if self._keep is not None:
            orders, done = self.orders or (), self.done
            self._keep(lambda: SavedPick(orders, done, forward()), all_came)

    def latest(self) -> SavedForward:
        """Return the state that was offered last."""
        return self._latest[0]()

    def end_block(self, result: SavedResult) -> None:
        """Take notice of a block that is done."""
        self.done = (*self.done, result)
        if self._keep is not None:
            saved = SavedPick(self.orders or (), self.done, None)
            self._keep(lambda: saved, False)


@dataclass(frozen=True)
class Means:
    """The room and the time for a way through blocks, and the callbacks on the way."""

    memory: int | None = None  # Bytes of the host for states and layers
    # It says when to raise GivenUp
    enough: Callable[[], bool] = lambda: False
    # It gets each step of the way forward with the states that follow
    report: Callable[[Step, int], None] = lambda step, states: None
    device: Device | None = None  # For blocks that are large enough; without one, numpy takes all
    device_memory: int | None = None  # Bytes of the device for tables and layers
    # It keeps the state between two vertices, and has that from which to go on
    keeping: Keeping = field(default_factory=Keeping)

    def again(self, memory: int | None) -> Means:
        """Return the means to go a way again: it is not reported, and nothing is kept."""
        return Means(memory, self.enough, device=self.device, device_memory=self.device_memory)
