"""Texts of the Cycles screen."""

from __future__ import annotations

from pathlib import Path

from chordless.cycles.browse import FoundCycle, RunCycles
from chordless.cycles.index import CycleIndex, Order
from chordless.cycles.read import row_words
from chordless.runs.state import RunState
from chordless.words.numbers import bytes_text
from kernels_ti import Graph

_ORDERS: dict[Order, str] = {"found": "as found", "longest": "longest first", "shortest": "shortest first"}


def status_words(run: RunCycles, index: CycleIndex, work: str, separator: str, sort_key: str) -> str:
    """Return the status line: the graph, the number of cycles, the filter and the order.

    Parameters
    ----------
    run : RunCycles
    index : CycleIndex
    work : str
        What a thread is doing with the cycles, such as sorting; "" if nothing.
    separator : str
    sort_key : str
        The key that changes the order.
    """
    chosen, count = index.chosen, len(run)
    cycles = f"{count:,} cycle{'s' * (count != 1)}{' so far' if run.at_work else ''}"
    parts = [Path(run.loaded.title).name, cycles if chosen.keeps_all else f"{len(index):,} of {cycles}"]
    if chosen.lengths_text():
        parts.append(f"length {chosen.lengths_text()}")
    if chosen.through:
        parts.append("through " + " ".join(str(run.loaded.graph.names[v]) for v in chosen.through))
    parts.append(f"{work} (escape stops it)" if work else f"order: {_ORDERS[index.order]}")
    if not work and not len(index) and not chosen.keeps_all:
        parts[-1] = "escape undoes the filter"
    elif not work and index.covered < count:
        parts.append(f"{count - index.covered:,} newer ones not looked at yet")
    elif not work:
        parts[-1] += f" ({sort_key} changes it)"
    return separator.join(parts)


def cycle_words(cycle: FoundCycle | None, graph: Graph) -> str:
    """Return the number of a cycle, its length and all its vertices; "" for None."""
    if cycle is None:
        return ""
    number = f"cycle {cycle.position + 1:,}"
    if cycle.error is not None:
        return f"{number}: {cycle.error}"
    names = [str(graph.names[v]) for v in cycle.vertices]
    separator = ", " if any(" " in name for name in names) else " "
    return f"{number}, length {len(names):,}: {separator.join(names)}"


def offer_words(state: RunState, can_list: bool) -> tuple[str, str]:
    """Return the text for a run whose folder holds no cycles, and the label of the button below it.

    Parameters
    ----------
    state : RunState
    can_list : bool
        Whether the search can be repeated now as a listing.

    Returns
    -------
    (str, str)
        The label is empty if there is nothing to offer.
    """
    graph = Path(state.graph).name
    if state.phase in ("starting", "running", "paused"):
        return f"This run only counts the cycles of {graph}.\n\nOnce it is over they can be listed from here.", ""
    counted = f"{state.cycles:,} cycle{'s' * (state.cycles != 1)}"
    text = f"This run has counted {counted}, but kept no list of them." if state.cycles else "This run found no cycles."
    if not can_list or state.cycles == 0:
        return text, ""
    size = bytes_text(state.cycles * row_words(state.n) * 8)
    amount = f"about {size}" if state.reason == "complete" else f"more than {size}"
    text += f"\n\nListed, they can be browsed, sorted and drawn here. The search is made again, and they take {amount}"
    return f"{text} on the disk.", f"List the cycles of {graph}"
