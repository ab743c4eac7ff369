"""The hash of all cycles of a run, made while they are written."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from chordless.cycles.base import CycleOutput, NoOutput, PassingOn
from kernels_ti.proof import Proof, proof_text


class ProofOutput(PassingOn):
    """Passes cycles on to another output, if there is one, and adds up their hashes; see `kernels_ti.proof`."""

    def __init__(
        self, inner: CycleOutput | None, names: Sequence[Hashable], position: Mapping[str, int] | None
    ) -> None:
        before = position or {"listed": 0, "proof": 0}
        super().__init__(inner or NoOutput(before["listed"]))
        self.rows = self._inner.rows
        self._proof = Proof(names, before["proof"])

    @property
    def text(self) -> str:
        """The proof of all cycles so far, see `proof_text`."""
        return proof_text(self._proof.value)

    def write(self, found: Any, give_up: Callable[[], bool]) -> bool:
        """Write the cycles of a slice and hash those that were written; return whether every one was."""
        step = self._proof.at_once
        for start in range(0, len(found), step):
            if give_up():
                return False
            stop = min(start + step, len(found))
            piece = found[start:stop] if self.rows else found.part(start, stop)
            before = self.listed
            whole = self._inner.write(piece, give_up)
            count = self.listed - before
            self._proof.add(piece[:count] if isinstance(piece, np.ndarray) else piece.part(0, count))
            if not whole:
                return False
        return True

    def position(self) -> dict[str, int]:
        """Return the position of the output, and the sum so far."""
        return {"listed": self.listed, **self._inner.position(), "proof": self._proof.value}
