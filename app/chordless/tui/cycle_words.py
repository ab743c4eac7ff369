"""Texts of the Cycles screen."""

from __future__ import annotations

from collections.abc import Iterable

from chordless.cycles.browse import FoundCycle, RunCycles
from chordless.cycles.heat import Heat
from chordless.cycles.index import CycleIndex, Order
from chordless.cycles.read import row_words
from chordless.protocol.orders import USUAL_SAMPLE
from chordless.runs.state import RunState, graph_name
from chordless.tui.run_words import phase_words, picked_word
from chordless.words.numbers import bytes_text, share_text
from kernels_ti import Graph
from kernels_ti.errors import quantity

_ORDERS: dict[Order, str] = {"found": "order: as found", "longest": "longest first", "shortest": "shortest first"}

_HOTTEST = 20
# Nobody waits for more cycles to be listed.
_MOST_TO_LIST = 10**10


def picked_words(state: RunState) -> str:
    """Return the kind of a run's cycles, if they are not all: ``drawn at random from 3,436``; otherwise ""."""
    if all_of_them := state.boundary.get("drawn_from"):
        return f"drawn at random from {all_of_them:,}"
    if ways := state.boundary.get("ways"):
        of_this = "length" if state.weight is None else "weight"
        return f"the only one of this {of_this}" if ways == 1 else f"one of the {ways:,} {picked_word(state.options)}"
    return ""


def status_words(run: RunCycles, index: CycleIndex, work: str, separator: str, *, picked: str = "") -> str:
    """Return the status line: the graph, the number of cycles, the filter and the order.

    `work` says what a thread is doing with the cycles, such as sorting; it is "" if nothing. For
    `picked` see `picked_words`.
    """
    chosen, count = index.chosen, len(run)
    cycles = f"{quantity(count, run.thing)}{' so far' if run.at_work else ''}"
    parts = [graph_name(run.loaded.title), cycles if chosen.keeps_all else f"{len(index):,} of {cycles}"]
    parts += [picked] if picked else []
    if chosen.lengths_text():
        parts.append(f"length {chosen.lengths_text()}")
    if chosen.through:
        parts.append("through " + " ".join(str(run.loaded.graph.names[v]) for v in chosen.through))
    parts.append(f"{work} (escape stops it)" if work else _ORDERS[index.order])
    if not work and not len(index) and not chosen.keeps_all:
        parts[-1] = "escape undoes the filter"
    elif not work and index.covered < count:
        parts.append(f"{count - index.covered:,} newer ones not looked at yet")
    return separator.join(parts)


def empty_words(run: RunCycles, state: RunState) -> str:
    """Return why the list of a run, whose newest state is `state`, shows no cycle."""
    if len(run):
        return f"The filter lets no {run.thing} through."
    if not state.is_over:
        return f"{phase_words(state).word.capitalize()}: the {run.thing}s come here as they are found."
    # The last ones are read in a moment.
    return "" if state.cycles else _none_words(state, run.thing)


def _none_words(state: RunState, thing: str) -> str:
    if state.reason == "complete":
        return f"This run found no {thing}s."
    return f"This run has no {thing} to show: it ended too early."


def cycle_words(cycle: FoundCycle | None, graph: Graph, thing: str = "cycle") -> str:
    """Return the number of a cycle or path, its length and all its vertices; "" for None."""
    if cycle is None:
        return ""
    number = f"{thing} {cycle.position + 1:,}"
    if cycle.error is not None:
        return f"{number}: {cycle.error}"
    names = [str(graph.names[v]) for v in cycle.vertices]
    return f"{number}, length {len(names):,}: {separator_of(names).join(names)}"


def separator_of(names: Iterable[str]) -> str:
    """Return the separator of names: a comma, if none of them has one in it."""
    names = list(names)
    if not any("," in name for name in names):
        return ", "
    return "; " if any(" " in name for name in names) else " "


def heat_words(heat: Heat, graph: Graph, thing: str = "cycle") -> str:
    """Return which edges lie in the most cycles or paths."""
    hottest = heat.hottest(_HOTTEST)
    if not hottest:
        return f"no edge lies in any of {quantity(heat.total, thing)}"
    edges = (f"{graph.names[u]} - {graph.names[v]} ({share_text(count / heat.total)})" for u, v, count in hottest)
    return f"edges in the most of {quantity(heat.total, thing)}: {', '.join(edges)}"


def list_bytes(cycles: float, vertices: int) -> int:
    """Return the bytes that a list of so many cycles takes on the disk, a bit row of 64-bit words for each."""
    return int(cycles * row_words(vertices) * 8)


def is_too_many(state: RunState) -> bool:
    """Return whether a run has more cycles than anybody would list."""
    return state.cycles > _MOST_TO_LIST


def offer_words(state: RunState, can_list: bool) -> tuple[str, str]:
    """Return the text for a run whose folder holds no cycles, and the label of the button below it.

    The label is "" if there is nothing to offer. `can_list` says whether the search can be repeated now as a listing.
    """
    graph, thing = graph_name(state.graph), state.thing
    if not state.is_over:
        return f"This run only counts the {thing}s of {graph}.\n\nOnce it is over they can be listed from here.", ""
    counted, pick = quantity(state.cycles, thing), state.options.get("pick", "all")
    if not state.cycles:
        return _none_words(state, thing), ""
    of_them = "them" if state.cycles > 1 else "it"
    if pick != "all":
        done = "drawn" if pick == "sample" else "found"
        text = f"This run has {done} {counted}, but kept no list of {of_them}."
        # Of all pairs no rows are kept.
        is_offered = can_list and not state.options.get("all_pairs")
        again = f"{'Draw' if pick == 'sample' else 'Find'} {of_them} again, and keep {of_them}"
        return text, again if is_offered else ""
    text = f"This run has counted {counted}, but kept no list of {of_them}."
    if not can_list:
        return text, ""
    if is_too_many(state) and state.options.get("all_pairs"):
        return f"{text}\n\nThey are too many to be listed. `chordless paths ... --sample` draws some at random.", ""
    if is_too_many(state):
        text += "\n\nThey are too many to be listed. Some can be drawn at random, with how many of all pass each edge."
        return text, f"Draw {USUAL_SAMPLE:,} of them at random"
    size = bytes_text(list_bytes(state.cycles, state.n))
    amount = f"about {size}" if state.reason == "complete" else f"more than {size}"
    text += f"\n\nListed, they can be browsed, sorted and drawn here. The search is made again, and they take {amount}"
    return f"{text} on the disk.", f"List the {thing}s of {graph}"
