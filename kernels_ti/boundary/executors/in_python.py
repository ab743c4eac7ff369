"""The count of one block in numpy."""

from __future__ import annotations

from collections.abc import Callable

from kernels_ti.boundary.executors.completion import Completion
from kernels_ti.boundary.executors.forward import ForwardCount
from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.spec.transitions import children_of
from kernels_ti.boundary.values.saved import SavedBlock, SavedStates
from kernels_ti.boundary.values.states import States, merged, require_memory

# Beside the counts, which are there twice while states are merged: words, sums, order and ranks of old and new states.
_BYTES_OF_A_STATE = 150


class PythonBlock(ForwardCount):
    """The count of one block, in numpy; `drops` says whether a kernel may drop states that cannot be completed."""

    def __init__(
        self,
        block: OrderedBlock,
        longest: int | None,
        memory: int | None,
        *,
        drops: bool = True,
    ) -> None:
        super().__init__(block, memory)
        self._begin_count(longest)
        self._held = States.initial(self._packing.words)
        self._completion = Completion(block) if drops else None

    @property
    def states(self) -> int:
        """States held now."""
        return len(self._held)

    def take_vertex(self, enough: Callable[[], bool]) -> None:
        """Let the next vertex come, in all states.

        GivenUp is raised once it was enough, and a SizeError if the states do not fit into the memory.
        """
        states = self.states
        self._drop(enough)
        require_memory(
            self._needed,
            self._memory,
            self.states,
            self.width,
            by_length=self._longest is not None,
            largest=self._needed / max(self.states, 1) * self._block.most_from[self.place],
        )
        children = children_of(self._held.words, self._block.changes[self.place], self._packing)
        held = merged(
            self._held,
            [children.off_parents, children.on_parents],
            [children.off_words, children.on_words],
            [0, 1],
            longest=self._longest,
            enough=enough,
        )
        self._close(self._held.totals(children.closing))
        self._held, self.states_met = held, [states]
        self._go_to(self.place + 1)

    def saved(self) -> SavedBlock:
        """Return the count between two vertices; also after a vertex was given up."""
        held = self._held.carried()
        return self._saved_with(SavedStates(held.words, held.counts))

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block."""
        super().resume(saved)
        states = saved.states
        self._held = States(states.words, states.counts, states.largest)

    @property
    def _needed(self) -> int:
        """Bytes that the next step may need."""
        states, digits, lengths = self._held.counts.shape
        needed: int = 3 * states * (_BYTES_OF_A_STATE + 8 * digits * (lengths + 1))
        return needed

    def _drop(self, enough: Callable[[], bool]) -> None:
        """Drop states that cannot be completed, where that is expected to save time, or the memory is short."""
        if self._completion is None or self.place == 0:
            return
        _, digits, lengths = self._held.counts.shape
        is_short = self._memory is not None and self._needed > self._memory
        if self.states and self._completion.is_due(self.states, digits * lengths, is_short=is_short):
            self._held = self._held.kept(self._completion.possible(self.place - 1, self._held.words, enough))
