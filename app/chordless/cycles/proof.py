"""The hash of all cycles of a run, made while they are written."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels_ti.proof import Proof, proof_text

if TYPE_CHECKING:
    from chordless.cycles.output import CycleOutput


class ProofOutput:
    """Passes cycles on to another output, if there is one, and adds up their hashes; see `kernels_ti.proof`."""

    def __init__(
        self, inner: CycleOutput | None, names: Sequence[Hashable], position: Mapping[str, int] | None = None
    ) -> None:
        self._inner = inner
        self._listed = 0 if position is None else position["listed"]
        self._proof = Proof(names, 0 if position is None else position["proof"])

    @property
    def rows(self) -> bool:
        """Whether bit rows are taken."""
        return self._inner is not None and self._inner.rows

    @property
    def text(self) -> str:
        """The proof of all cycles so far, see `proof_text`."""
        return proof_text(self._proof.value)

    @property
    def listed(self) -> int:
        """Cycles written, or only hashed."""
        return self._listed if self._inner is None else self._inner.listed

    def write(self, found: Any, give_up: Callable[[], bool]) -> bool:
        """Write the cycles of a slice and hash those that were written; return whether every one was."""
        step = self._proof.at_once
        for start in range(0, len(found), step):
            if give_up():
                return False
            stop = min(start + step, len(found))
            piece = found[start:stop] if self.rows else found.part(start, stop)
            before, whole = self.listed, True
            if self._inner is None:
                self._listed += len(piece)
            else:
                whole = self._inner.write(piece, give_up)
            count = self.listed - before
            self._proof.add(piece[:count] if isinstance(piece, np.ndarray) else piece.part(0, count))
            if not whole:
                return False
        return True

    def reader_is_gone(self) -> bool:
        """Whether the reader of the output has gone."""
        return self._inner is not None and self._inner.reader_is_gone()

    def position(self) -> dict[str, int]:
        """Return the position of the output, and the sum so far."""
        inner = {} if self._inner is None else self._inner.position()
        return {"listed": self.listed, **inner, "proof": self._proof.value}
