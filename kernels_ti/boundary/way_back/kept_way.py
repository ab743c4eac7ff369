"""The way through a block and back, over layers of which some are kept: the same in numpy and in kernels.

Forward, the layers are kept as long as they fit. Then every other one of them is forgotten, and so on. On the way back,
what is missing is made again from the last layer that was kept before it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.values.saved import SavedForward, SavedLayer
from kernels_ti.boundary.values.states import GivenUp
from kernels_ti.boundary.way_back.blocks import Means
from kernels_ti.boundary.way_back.layers import Rule

_FEWEST_LAYERS = 2


class Kept(ABC):
    """A layer that is kept: the states before a step, with what is carried along for them."""

    place: int  # The step

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes that the layer takes."""

    @property
    def is_whole(self) -> bool:
        """Whether the way back needs no more than this."""
        return True

    def thinned(self: K) -> K:
        """Return the layer without what only a way back over each single layer needs."""
        return self


K = TypeVar("K", bound=Kept)


class KeptWay(ABC, Generic[K]):
    """A block that is gone through, and can be gone back; `layers` are those that are kept, one in `between` steps.

    Layers may take `budget` bytes, None for any number. `place` vertices have come, and `most_states` is the number of
    states of the largest boundary.
    """

    _in_kernels: bool
    _rule: Rule
    _steps: tuple[Step, ...]
    place: int
    states: int

    def _set_out(self, means: Means, budget: int | None, between: int = 1) -> None:
        """Begin without any layer."""
        self.layers: list[K] = []
        self._means, self._budget, self._between = means, budget, between
        self._held, self.most_states = 0, 1

    @abstractmethod
    def _keep(self) -> K:
        """Return the states before the next step."""

    @abstractmethod
    def _come(self) -> None:
        """Let the next vertex come; raise GivenUp once it is enough."""

    @abstractmethod
    def _restore(self, layer: K) -> None:
        """Go on from a layer."""

    def _rest(self) -> None:
        """Give up what only the way forward needs."""

    @abstractmethod
    def _saved_layer(self, layer: K) -> SavedLayer:
        """Return a layer apart from any device."""

    @abstractmethod
    def _restored(self, saved: SavedLayer) -> K:
        """Return the layer that was saved."""

    def _found(self) -> dict[str, Any]:
        """Return the facts about the cycles that have closed."""
        return self._rule.found()

    def _go_on(self, found: dict[str, Any]) -> None:
        """Go on from what was known."""
        self._rule.go_on(found)

    @property
    def total(self) -> int:
        """All cycles that have closed, of those that the rule counts."""
        return self._rule.ways

    @property
    def nbytes(self) -> int:
        """Bytes of the layers that are kept."""
        return sum(layer.nbytes for layer in self.layers)

    def _go(self, saved: SavedForward | None, end: int) -> None:
        """Go to a step for the first time, from the state between two vertices that was saved, if there is one."""
        if saved is not None:
            self.layers = [self._restored(layer) for layer in saved.layers]
            self._between, self.most_states = saved.between, saved.most_states
            self._go_on(saved.found)
            self._restore(self.layers[-1])
            if self.place == end or (self.place - self.layers[0].place) % self._between:
                self.layers.pop()
        self._forward(end, self._budget, self._means)

    def _forward(self, end: int, budget: int | None, means: Means) -> None:
        """Let vertices come up to a step, and keep the layers that fit, the first one in any case."""
        self._held = sum(layer.nbytes for layer in self.layers[:-1])
        while self.place < end:
            self._keep_if_due(budget)
            means.keeping.offer(self._saved, False)
            step = self._steps[self.place]
            self._come()
            self.most_states = max(self.most_states, self.states)
            means.report(step, self.states)
        means.keeping.offer(self._saved, True)
        self._rest()

    def _keep_if_due(self, budget: int | None) -> None:
        layers = self.layers
        if not layers:
            layers.append(self._keep())
        elif layers[-1].place < self.place and (self.place - layers[0].place) % self._between == 0:
            self._held += layers[-1].nbytes
            layers.append(self._keep())
        while budget is not None and self._held + self.layers[-1].nbytes > budget and len(self.layers) > _FEWEST_LAYERS:
            self._between *= 2
            start = self.layers[0].place
            self.layers = [layer.thinned() for layer in self.layers if (layer.place - start) % self._between == 0]
            self._held = sum(layer.nbytes for layer in self.layers[:-1])

    def _saved(self) -> SavedForward:
        """Return the state between two vertices; also after a vertex was given up."""
        layers = self.layers if self.layers[-1].place == self.place else [*self.layers, self._keep()]
        return SavedForward(
            in_kernels=self._in_kernels,
            between=self._between,
            most_states=self.most_states,
            found=self._found(),
            layers=tuple(map(self._saved_layer, layers)),
        )

    def _back(self, end: int, budget: int | None) -> Iterator[K]:
        """Yield the layers before a step, from the last one on, once."""
        while self.layers and self.layers[-1].place >= end:
            self.layers.pop()
        while self.layers:
            if self._means.enough():
                raise GivenUp
            last = self.layers.pop()
            if end == last.place + 1 and last.is_whole:
                yield last
            else:
                before, self.layers, self._between = self.layers, [], 1
                self._restore(last)
                self._forward(end, budget, self._means.again(None))
                yield from self._back(end, None if budget is None else max(budget // 2, 1))
                self.layers = before
            end = last.place
