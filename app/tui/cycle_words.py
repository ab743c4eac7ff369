"""What the Cycles screen says of the cycles that it shows."""

from __future__ import annotations

from pathlib import Path

from app.cycle_index import CycleIndex, Order
from app.run_cycles import FoundCycle, RunCycles
from kernels_ti.graph import Graph

_ORDERS: dict[Order, str] = {"found": "as found", "longest": "longest first", "shortest": "shortest first"}


def status_words(run: RunCycles, index: CycleIndex, work: str, separator: str) -> str:
    """Return a line: the graph, how many cycles there are, which of them are shown, and in which order.

    Parameters
    ----------
    run : RunCycles
    index : CycleIndex
    work : str
        What is being done with them, or "".
    separator : str
    """
    chosen, count = index.chosen, len(run)
    cycles = f"{count:,} cycle{'s' * (count != 1)}{' so far' if run.at_work else ''}"
    parts = [Path(run.loaded.title).name, cycles if chosen.keeps_all else f"{len(index):,} of {cycles}"]
    parts.append(f"{work} (escape stops it)" if work else _ORDERS[index.order])
    if chosen.lengths_text():
        parts.append(f"length {chosen.lengths_text()}")
    if chosen.through:
        parts.append("through " + " ".join(str(run.loaded.graph.names[v]) for v in chosen.through))
    if not work and index.covered < count:
        parts.append(f"{count - index.covered:,} newer ones not looked at yet")
    return separator.join(parts)


def cycle_words(cycle: FoundCycle | None, graph: Graph) -> str:
    """Return the number of a cycle, its length and all its vertices; nothing for none."""
    if cycle is None:
        return ""
    number = f"cycle {cycle.position + 1:,}"
    if cycle.error is not None:
        return f"{number}: {cycle.error}"
    names = [str(graph.names[v]) for v in cycle.vertices]
    separator = ", " if any(" " in name for name in names) else " "
    return f"{number}, length {len(names):,}: {separator.join(names)}"
