"""A hash of all cycles of a run that does not depend on their order, so that another program can make it again."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chordless.protocol.results import PROOFS, proof_text
from kernels_ti.graph import IntArray

if TYPE_CHECKING:
    from chordless.cycles.output import CycleOutput
    from kernels_ti.cycles import Cycles
    from kernels_ti.state import Rows

_HASHED_AT_ONCE = 1 << 14
_BITS_AT_ONCE = 1 << 26


class ProofOutput:
    """Passes cycles on to another output, if there is one, and adds up their hashes.

    The hash of a cycle is the SHA-256 of the names of its vertices in UTF-8, sorted as bytes, with a NUL between two of
    them: no two chordless cycles have the same vertices. The proof is the sum of all hashes modulo 2^256.
    """

    def __init__(
        self, inner: CycleOutput | None, names: Sequence[Hashable], position: Mapping[str, int] | None = None
    ) -> None:
        self._inner = inner
        self._listed = 0 if position is None else position["listed"]
        self.proof = 0 if position is None else position["proof"]
        encoded = [str(name).encode(errors="backslashreplace") for name in names]
        order = sorted(range(len(encoded)), key=encoded.__getitem__)
        self._sorted = [encoded[v] for v in order]
        self._rank = np.empty(len(order), np.int64)
        self._rank[order] = np.arange(len(order))

    @property
    def rows(self) -> bool:
        """Whether bit rows are taken."""
        return self._inner is not None and self._inner.rows

    @property
    def text(self) -> str:
        """The proof of all cycles so far, see `proof_text`."""
        return proof_text(self.proof)

    @property
    def listed(self) -> int:
        """Cycles written, or only hashed."""
        return self._listed if self._inner is None else self._inner.listed

    def write(self, found: Any, give_up: Callable[[], bool]) -> bool:
        """Write the cycles of a slice and hash those that were written; return whether every one was."""
        step = max(min(_HASHED_AT_ONCE, _BITS_AT_ONCE // max(len(self._rank), 1)), 1)
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
            self._add(piece, self.listed - before)
            if not whole:
                return False
        return True

    def reader_is_gone(self) -> bool:
        """Whether the reader of the output has gone."""
        return self._inner is not None and self._inner.reader_is_gone()

    def position(self) -> dict[str, int]:
        """Return the position of the output, and the sum so far."""
        inner = {} if self._inner is None else self._inner.position()
        return {"listed": self.listed, **inner, "proof": self.proof}

    def close(self) -> None:
        """Close the output."""
        if self._inner is not None:
            self._inner.close()

    def _add(self, found: Cycles | Rows, count: int) -> None:
        """Add the hashes of the first `count` of some cycles."""
        if isinstance(found, np.ndarray):
            bits = np.unpackbits(np.ascontiguousarray(found[:count]).view(np.uint8), axis=1, bitorder="little")
            owner, vertex = (ends.astype(np.int64) for ends in np.nonzero(bits))
        else:
            found = found.part(0, count)
            owner, vertex = np.repeat(np.arange(count), found.lengths), found.vertices
        n = len(self._rank)
        keys = owner * n + self._rank[vertex]
        keys.sort()
        names = [self._sorted[rank] for rank in (keys % max(n, 1)).tolist()]
        bounds = _bounds(owner, count)
        total = sum(
            int.from_bytes(hashlib.sha256(b"\0".join(names[a:b])).digest(), "big")
            for a, b in itertools.pairwise(bounds)
        )
        self.proof = (self.proof + total) % PROOFS


def _bounds(owner: IntArray, count: int) -> list[int]:
    """Return where the vertices of each cycle begin, and where those of the last one end."""
    return [0, *np.cumsum(np.bincount(owner, minlength=count)).tolist()]
