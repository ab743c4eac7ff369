"""A hash of all cycles that does not depend on their order, so that another program can make it again.

The hash of a cycle is the SHA-256 of the names of its vertices in UTF-8, sorted as bytes, with a NUL between two of
them: no two chordless cycles have the same vertices. The proof is the sum of all hashes modulo 2^256.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Hashable, Sequence

import numpy as np

from kernels_ti.cycles import Cycles
from kernels_ti.state import Rows

PROOFS = 1 << 256  # The number of possible proofs, the modulus of their sums

_HASHED_AT_ONCE = 1 << 14
_BITS_AT_ONCE = 1 << 26


def proof_text(value: int) -> str:
    """Return a proof as people and JSON have it: 64 hexadecimal digits."""
    return f"{value % PROOFS:064x}"


class Proof:
    """The sum of the hashes of cycles of a graph with these names; `at_once` cycles are a good piece to add."""

    def __init__(self, names: Sequence[Hashable], value: int = 0) -> None:
        self.value = value
        self.at_once = max(min(_HASHED_AT_ONCE, _BITS_AT_ONCE // max(len(names), 1)), 1)
        encoded = [str(name).encode(errors="backslashreplace") for name in names]
        order = sorted(range(len(encoded)), key=encoded.__getitem__)
        self._sorted = [encoded[v] for v in order]
        self._rank = np.empty(len(order), np.int64)
        self._rank[order] = np.arange(len(order))

    def add(self, found: Cycles | Rows) -> None:
        """Add the hashes of some cycles."""
        count = len(found)
        if isinstance(found, np.ndarray):
            bits = np.unpackbits(np.ascontiguousarray(found).view(np.uint8), axis=1, bitorder="little")
            owner, vertex = (ends.astype(np.int64) for ends in np.nonzero(bits))
        else:
            owner, vertex = np.repeat(np.arange(count), found.lengths), found.vertices
        n = len(self._rank)
        keys = owner * n + self._rank[vertex]
        keys.sort()
        names = [self._sorted[rank] for rank in (keys % max(n, 1)).tolist()]
        bounds = [0, *np.cumsum(np.bincount(owner, minlength=count)).tolist()]
        total = sum(
            int.from_bytes(hashlib.sha256(b"\0".join(names[a:b])).digest(), "big")
            for a, b in itertools.pairwise(bounds)
        )
        self.value = (self.value + total) % PROOFS
