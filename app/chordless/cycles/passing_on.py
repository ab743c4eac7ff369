"""Outputs that pass cycles on: with the hash of all cycles, or in a defined order once the search has ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from chordless.cycles.base import CycleOutput, NoOutput, PassingOn
from chordless.protocol.events import Reason
from kernels_ti import SizeError
from kernels_ti.cycles import Cycles
from kernels_ti.errors import bytes_text, parameter
from kernels_ti.proof import Proof, proof_text

_BYTES_OF_A_CYCLE = 16
"""Beside its vertices: its place in the order, while its length is sorted."""
_CYCLES_AT_ONCE = 1 << 16


class SortedOutput(PassingOn):
    """Keeps cycles, in up to `budget` bytes, and writes them at the end: by length, then by their vertices."""

    def __init__(self, inner: CycleOutput, n: int, budget: int) -> None:
        super().__init__(inner)
        self._n = n
        self._budget = budget
        # Compared as bytes, numbers in big-endian form are in their order.
        self._vertex = next(np.dtype(kind) for kind in (">u1", ">u2", ">u4") if n <= 1 << 8 * np.dtype(kind).itemsize)
        self._by_length: dict[int, list[npt.NDArray[Any]]] = defaultdict(list)
        self._bytes = self._kept = 0

    @property
    def listed(self) -> int:
        """Cycles that are kept, or written."""
        return self._kept or self._inner.listed

    def write(self, found: Cycles, give_up: Callable[[], bool]) -> bool:
        """Keep the cycles of a slice; a SizeError if there is no room for them."""
        lengths = found.lengths
        for length in np.unique(lengths).tolist():
            same = found.chosen(lengths == length).vertices.reshape(-1, length).astype(self._vertex)
            self._by_length[length].append(same)
            self._bytes += 2 * same.nbytes + _BYTES_OF_A_CYCLE * len(same)
        self._kept += len(found)
        if self._bytes > self._budget:
            raise SizeError(
                f"{self._kept:,} cycles found so far take more than {bytes_text(self._budget)} to sort, which is what "
                f"memory allows here: list them without {parameter('sorted')} and sort the file, or bound their length "
                f"({parameter('memory')} sets another limit)"
            )
        return True

    def flush(self, reason: Reason) -> Reason:
        """Write all cycles in their order; return why the run ended: `reason`, unless the reader has gone."""
        try:
            self._write_sorted()
        except BrokenPipeError:
            reason = "closed"
        self._kept = 0
        return reason

    def _write_sorted(self) -> None:
        for length in sorted(self._by_length):
            cycles = np.concatenate(self._by_length.pop(length), dtype=self._vertex)  # by default it would be native
            order = np.argsort(cycles.view(f"S{cycles.itemsize * length}").reshape(-1), kind="stable")
            for start in range(0, len(order), _CYCLES_AT_ONCE):
                some = cycles[order[start : start + _CYCLES_AT_ONCE]]
                offsets = np.arange(len(some) + 1, dtype=np.int64) * length
                found = Cycles(offsets, some.reshape(-1).astype(np.int32))
                self._inner.write(found.rows(self._n) if self._inner.rows else found, lambda: False)

    def position(self) -> dict[str, int]:
        """Cycles in memory have no position from which a run could go on."""
        raise NotImplementedError


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
