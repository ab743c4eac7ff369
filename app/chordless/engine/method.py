"""What ``--method auto`` becomes, and the line that says why."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from chordless.graphs.load import LoadedGraph
from chordless.protocol.orders import RunCommand
from chordless.words.numbers import duration_text
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.choices import SHORT_SEARCH
from kernels_ti.method import MethodChoice, choose_method
from kernels_ti.symmetry.space import worthwhile

if TYPE_CHECKING:
    from kernels_ti.boundary.orders.plan import BoundaryPlan

_OUT_OF_REACH = 1000 * 365.25 * 86400.0
# Seconds that a search waits at least: Python imports Taichi, which loads kernels and starts the device.
_START = 0.5
_SECONDS_UNSYMMETRIC = 1.0  # A count that takes no longer is made without automorphisms
_WORTH_A_LINE = 10.0  # Seconds of a search of which it is told why it is one


def settled(
    command: RunCommand, loaded: LoadedGraph, space: SearchSpace
) -> tuple[RunCommand, LoadedGraph, BoundaryPlan | None]:
    """Choose the method of a count; `command` has the method ``auto``.

    Return the command with the method that was chosen, the graph with one more note that says which method and why,
    unless the search is a short one, and the plan of a count along a boundary, if that was chosen.
    """
    choice = choose_method(
        space,
        threads=command.threads,
        memory=command.memory,
        along=lambda plan: _along(command, plan, space.longest),
        start=_START if command.arch == "auto" else 0.0,
    )
    symmetric = worthwhile(space, _seconds_to_seek(command, choice))
    if symmetric is not None and choice.probed_seconds / symmetric.gain < choice.boundary_seconds:
        note = f"counting up to the {symmetric.automorphisms:,} automorphisms of the graph (--method search does not)"
        command = replace(command, method="search", symmetry=True)
        return command, replace(loaded, notes=(*loaded.notes, note)), None
    command = replace(command, method=choice.method)
    line = reason(choice)
    if line is not None:
        loaded = replace(loaded, notes=(*loaded.notes, line))
    return command, loaded, choice.plan if choice.method == "boundary" else None


def _seconds_to_seek(command: RunCommand, choice: MethodChoice) -> float:
    """Return for how long automorphisms may be sought: as long as the count takes without them. 0 if it has no use."""
    seconds = choice.boundary_seconds if choice.method == "boundary" else choice.probed_seconds
    if seconds <= _SECONDS_UNSYMMETRIC or command.cluster is not None or command.arch == "reference":
        return 0.0
    return seconds if command.timeout is None else min(seconds, command.timeout)


def _along(command: RunCommand, plan: BoundaryPlan, longest: int) -> tuple[float, bool]:
    """Return the seconds of a count by length on this machine, and whether its states are expected to fit."""
    from chordless.engine.rates import expected_by_length  # the boundary method, which a short search does without

    expected = expected_by_length(
        plan, longest, command.arch, threads=command.threads, memory=command.memory, may_measure=True
    )
    return (math.inf, True) if expected is None else (expected.seconds, expected.fits)


def reason(choice: MethodChoice) -> str | None:
    """Return the line that says which method was chosen and why; None for a search that is short."""
    is_search = choice.method == "search"
    if choice.search_seconds is None or (is_search and choice.search_seconds < _WORTH_A_LINE):
        return None
    search = f"a search takes {_about(choice.search_seconds)}"
    if choice.method == "boundary" and choice.search_seconds < SHORT_SEARCH:
        return "counting along a boundary, which ends before a search would begin (--method search makes it)"
    if choice.method == "boundary":
        seconds = _about(max(choice.boundary_seconds, 1.0))
        return f"counting along a boundary, {seconds}: {search} (--method search makes it)"
    why = "the boundary method is not at least ten times faster"
    if math.isinf(choice.boundary_seconds):
        why = "no small boundary was found"
    elif not choice.fits:
        why = "a count by length along the boundary does not fit into the memory here"
    return f"searching: {search}, and {why}"


def _about(seconds: float) -> str:
    if math.isinf(seconds):
        return "a time that is not known"
    return "longer than anybody can wait" if seconds > _OUT_OF_REACH else f"about {duration_text(seconds)}"
