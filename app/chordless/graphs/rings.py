"""The rings of a molecule: its chordless cycles, and what the usual sets of rings in chemistry say of each.

A **relevant cycle** is not a sum of shorter cycles, edges counted modulo 2 (Vismara 1997). It has no chord, so all of
them are among the chordless cycles. Two relevant cycles are of one **unique ring family** if they share a bond and
their sum is a sum of shorter cycles, or if a chain of such pairs joins them (Kolodzik, Urbaczek and Rarey 2012).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chordless.graphs.molecules import require_rdkit, symbol_of
from kernels_ti import Graph, collect_cycles


@dataclass(frozen=True)
class Ring:
    """A chordless cycle of a molecule."""

    atoms: tuple[int, ...]  # Numbers from 0 on in cycle order, as RDKit numbers them; the smallest first
    symbols: tuple[str, ...]  # Of the atoms
    aromatic: bool | None  # Whether all its bonds are aromatic; None if RDKit rejects the molecule
    sssr: bool  # It is in RDKit's smallest set of smallest rings
    family: int | None  # The unique ring family, numbered from 1 on; None if it is no relevant cycle


def rings_of(molecule: Any, max_length: int | None = None) -> list[Ring]:
    """Return the chordless cycles of an RDKit molecule of at most `max_length` atoms, the smallest first."""
    chemistry = require_rdkit()
    table = collect_cycles(Graph.from_rdkit(molecule), arch="reference", max_length=max_length)
    # Each begins at its smallest atom, and goes on to the smaller neighbour of that.
    found: list[list[Any]] = table.lists()
    cycles = sorted(map(tuple, found), key=lambda cycle: (len(cycle), cycle))
    smallest = {frozenset(ring) for ring in chemistry.GetSSSR(molecule)}
    families = _families(molecule, cycles)
    perceived = chemistry.Mol(molecule)
    is_valid = chemistry.SanitizeMol(perceived, catchErrors=True) == chemistry.SanitizeFlags.SANITIZE_NONE
    symbols = [symbol_of(atom) for atom in molecule.GetAtoms()]
    return [
        Ring(
            cycle,
            tuple(symbols[atom] for atom in cycle),
            all(perceived.GetBondBetweenAtoms(*ends).GetIsAromatic() for ends in _bonds(cycle)) if is_valid else None,
            frozenset(cycle) in smallest,
            family,
        )
        for cycle, family in zip(cycles, families, strict=True)
    ]


def _bonds(cycle: Sequence[int]) -> Iterator[tuple[int, int]]:
    return zip(cycle, [*cycle[1:], cycle[0]], strict=True)


def _families(molecule: Any, cycles: Sequence[tuple[int, ...]]) -> list[int | None]:
    """Return the unique ring family of each cycle, None for one that is not relevant; cycles come by length."""
    rows = [sum(1 << int(molecule.GetBondBetweenAtoms(*ends).GetIdx()) for ends in _bonds(cycle)) for cycle in cycles]
    family: list[int | None] = [None] * len(cycles)
    numbers = itertools.count(1)
    shorter: dict[int, int] = {}  # the sums of shorter cycles: a basis, each row by its highest bit
    for _, same in itertools.groupby(range(len(cycles)), key=lambda i: len(cycles[i])):
        alike: dict[int, list[int]] = {}
        for i in same:
            if left := _reduced(rows[i], shorter):
                alike.setdefault(left, []).append(i)
        for some in alike.values():
            for joined in _joined(some, rows):
                number = next(numbers)
                for i in joined:
                    family[i] = number
        for left in alike:
            if row := _reduced(left, shorter):
                shorter[row.bit_length()] = row
    return family


def _reduced(row: int, basis: dict[int, int]) -> int:
    """Reduce a row of bits modulo a basis; equal results for rows whose sum is in the span of the basis."""
    left = 0
    while row:
        top = row.bit_length()
        if top in basis:
            row ^= basis[top]
        else:
            left |= 1 << (top - 1)
            row ^= 1 << (top - 1)
    return left


def _joined(some: Iterable[int], rows: Sequence[int]) -> list[list[int]]:
    """Divide cycles into groups that a chain of shared bonds holds together."""
    groups: list[tuple[int, list[int]]] = []  # the bonds of each group, and its cycles
    for i in some:
        touching = [group for group in groups if group[0] & rows[i]]
        groups = [group for group in groups if not group[0] & rows[i]]
        bonds = rows[i]
        for each, _ in touching:
            bonds |= each
        groups.append((bonds, sorted([i, *itertools.chain.from_iterable(cycles for _, cycles in touching)])))
    return [cycles for _, cycles in groups]
