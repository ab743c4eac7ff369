"""Texts about a run: its phase, and the content of each tile. This module does not use Textual."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from chordless.graphs.generators import is_spec
from chordless.runs.state import ENDINGS, RunState
from chordless.tui.marks import Mark, sentence
from chordless.values import SHORTEST_CYCLE, SHORTEST_PATH
from chordless.words.cycle_range import CycleRange
from chordless.words.numbers import (
    bytes_text,
    duration_text,
    large_number,
    paths_text,
    seconds_text,
    share_text,
    short_number,
    size_text,
)
from kernels_ti.errors import quantity, vertices_text

# Earlier, too little is known to estimate the time left.
_LEAST_SHARE_FOR_A_GUESS, _LEAST_SECONDS_FOR_A_GUESS = 0.001, 1.0
_NEARLY_ALL, _NARROW = 0.999, 2
# A lower bound alone tells something if it is so many times the cycles found, and so many cycles.
_TELLING, _LEAST_TOLD = 10, 1000
_LONGEST_EXACT = 15  # Characters of a number that fits into a tile
# A longer time left is told in hours, days or years.
_LONGEST_IN_MINUTES = 6000.0
_LONG_SILENCE = 5.0  # Seconds


_PHASES = {
    "starting": Mark("…", "starting", "$text-accent"),
    "running": Mark("▶", "running", "$text-success"),
    "paused": Mark("‖", "paused", "$text-warning"),
    "failed": Mark("✘", "failed", "$text-error"),
    "lost": Mark("?", "the engine is gone", "$text-error"),
}


@dataclass(frozen=True)
class TileWords:
    """The content of a tile."""

    value: str  # The main number
    notes: tuple[str, ...] = ()  # Lines below it
    short: str = ""  # One line with all content, for a narrow screen
    # Replacements for `short` where it does not fit. The first that fits is shown, since a cut number misleads.
    shorter: tuple[str, ...] = ()
    share: float | None = None  # The value of a bar, 0 to 1
    rates: tuple[float, ...] = ()  # The values of a sparkline


def phase_words(state: RunState) -> Mark:
    """Return glyph, word and colour for the phase of a run."""
    if _compiles(state):
        return Mark("…", "compiling, once", "$text-accent")
    if _seeks(state):
        return Mark("…", "seeking an order", "$text-accent")
    if state.phase != "finished":
        return _PHASES[state.phase]
    if state.reason in (None, "complete"):
        return Mark("✔", "complete", "$text-success")
    return Mark("■", ENDINGS[state.reason], "$text-warning")


def nothing_words(state: RunState) -> str:
    """Return why there are no counts by length yet, and that they will come; "" once the run is over."""
    if state.is_over:
        return ""
    if state.phase == "starting":
        why = "The engine starts and reads the graph."
    elif _compiles(state):
        why = "The kernels are being compiled, once."
    else:
        why = "An order of the vertices is sought." if _seeks(state) else f"No {state.thing} was found yet."
    return f"{why} Counts by length come here."


def replay_words(speed: float, position: float, length: float | None, *, paused: bool) -> str:
    """Return that this is a replay, where it stands, and how fast it is: ``REPLAY 4x, 12.0 s of 75.0 s``."""
    pace = ", paused" if paused else f" {round(speed, 2):g}x" if speed else ""
    end = "" if length is None else f" of {seconds_text(length)}"
    return f"REPLAY{pace}, {seconds_text(position)}{end}"


def clock_words(state: RunState, quiet_seconds: float) -> str:
    """Return how long a phase has lasted in which no other number moves: the start, and a compilation."""
    silent = state.phase == "starting" or _compiles(state)
    return f"{quiet_seconds:.0f} s" if silent and quiet_seconds else ""


def spent_words(state: RunState, quiet_seconds: float) -> str:
    """Return how long a search at work has gone on; "" before and after, and where that is told elsewhere.

    After a while without a report, tell how long: the numbers are as old.
    """
    if state.phase not in ("running", "paused") or _compiles(state) or _seeks(state):
        return ""
    silence = f", no report for {quiet_seconds:.0f} s" if quiet_seconds >= _LONG_SILENCE else ""
    return seconds_text(state.seconds) + silence


def asked_words(asked: str, quiet_seconds: float, now: str) -> tuple[str, ...]:
    """Return an order that has not been obeyed yet, the longest words first.

    If it takes long, that is told with the time and the way to stop `now`.
    """
    if not quiet_seconds:
        return (f"{asked} ...",)
    for_long = f"{quiet_seconds:.0f} s" + (now and f", {now}")
    return f"{asked}: the engine finishes its step, {for_long}", f"{asked}, {for_long}", f"{asked} ..."


def graph_and_device(state: RunState, gap: str, room: int) -> str:
    """Return the graph, its size and the device, each after a gap; only the graph where `room` cells are too few."""
    if not state.graph:
        return ""
    paths = paths_text(state.options.get("between", ()), all_pairs=state.options.get("all_pairs", False))
    name = ", ".join(
        filter(None, [graph_name(state.graph), "niche overlap" if state.options.get("overlap") else "", paths])
    )
    size = f"{name}: {size_text(state.n, state.m)}"
    degree = f"{size}, max degree {state.max_degree:,}"
    device = device_words(state)
    choices = ([degree, device] if device else [degree], [degree], [size], [name])
    texts = ["".join(gap + text for text in choice) for choice in choices]
    return next((text for text in texts if len(text) <= room), texts[-1])


def graph_name(graph: str) -> str:
    """Return a short name of a graph: a spec, or the name of a file without its folder."""
    return graph if is_spec(graph) else os.path.basename(graph) or graph


def without_name(message: str, name: str) -> str:
    """Return a message about a graph without the name of its file, which stands beside it: ``line 3: ...``."""
    message = message.removeprefix(f"{name}: ")
    line = message.removeprefix(f"{name}:")
    return f"line {line}" if line != message and line[:1].isdigit() else message


def note_words(state: RunState) -> str:
    """Return the notes of the reader about the file of the graph, one after the other; "" if it noted nothing."""
    return "; ".join(without_name(note, state.graph) for note in state.notes)


def device_words(state: RunState) -> str:
    """Return the device that the search runs on."""
    return f"{state.arch}: {state.device}" if state.arch else ""


def trouble_words(state: RunState, resume_key: str, new_key: str) -> str:
    """Return the fault of a run, or why the counts are incomplete, and what the user can do. Mostly ""."""
    if state.phase == "failed" or (state.error and not state.can_resume):
        what = (state.error or "the engine failed").rstrip(".") + "."
    elif state.phase == "lost":
        what = "The recording ends here, and no engine is at work."
    elif state.phase == "finished" and state.reason != "complete" and state.options.get("pick", "all") != "all":
        what = "The run was stopped before its end: it has picked no cycle."
    elif state.phase == "finished" and state.reason != "complete":
        what = "The search is not complete: the counts are lower bounds."
    else:
        return ""
    what = sentence(what)
    if state.can_resume:
        return f"{what} Press {resume_key} to resume{_from_checkpoint(state)}."
    if state.phase == "finished" or state.reason == "complete":
        return what
    return f"{what} There is no checkpoint to resume from; {new_key} begins another run."


def time_left(state: RunState) -> float | None:
    """Return an estimate of the seconds left; None while there is none."""
    if state.seconds < _LEAST_SECONDS_FOR_A_GUESS:
        return None
    known = cycle_range(state)
    if _is_wave(state) or (known is not None and known.is_vague):
        return None
    if known is not None and (left := known.seconds_left(state.seconds, state.cycles)) is not None:
        return left
    if state.share < _LEAST_SHARE_FOR_A_GUESS:
        return None
    # Along a boundary, an order of the vertices was looked for at first.
    seconds, share = state.share_base or (0.0, 0.0) if state.states is not None else (0.0, 0.0)
    if state.share <= share:
        return None
    return (state.seconds - seconds) * (1 - state.share) / (state.share - share)


def cycles_tile(state: RunState) -> TileWords:
    """Return the number of cycles found, and the rate."""
    if (pick := state.options.get("pick", "all")) != "all":
        return _picked_tile(state, pick)
    if _seeks(state):
        return TileWords("none yet", ("an order of the vertices comes first",), f"no {state.thing}s counted yet")
    speed = _speed(state, state.cycle_rates, state.cycles)
    return TileWords(
        f"{state.cycles:,}",
        (speed, *_listed(state), *_estimate(state)),
        f"{state.thing}s {state.cycles:,}  {speed}".rstrip(),
        (f"{state.thing}s {state.cycles:,}",),
        rates=state.cycle_rates if state.states is None else (),
    )


def has_picked(state: RunState) -> bool:
    """Return whether the run has picked cycles: a longest one, or a sample."""
    return state.options.get("pick", "all") != "all" and state.reason == "complete" and state.cycles > 0


def _picked_tile(state: RunState, pick: str) -> TileWords:
    """Return the result of a pick: the longest cycle and how many are as long, or how many were drawn from how many."""
    found = state.boundary
    if not found or state.reason != "complete":
        return TileWords("none yet", ("the longest cycle" if pick == "longest" else "a sample",), "none picked yet")
    if pick == "sample":
        drawn, all_of_them = f"{state.cycles:,} drawn", found.get("drawn_from", 0)
        exact, about = f"{all_of_them:,}", f"about {large_number(all_of_them)}"
        number = exact if len(exact) <= _LONGEST_EXACT else about
        lines = (f"{drawn} from {exact}", f"{drawn} from {about}")
        return TileWords(f"{state.cycles:,}", (f"drawn at random from {number}",), lines[0], lines[1:])
    if not state.cycles:
        return TileWords("none", ("there is no chordless cycle",), "no chordless cycle")
    length, ways = max(state.cycles_by_length), found.get("ways", 1)
    many = f"{ways:,} are as long" if ways != 1 else "the only one"
    return TileWords(f"{length:,} vertices", ("the longest", many), f"longest: {length:,} vertices, {many}")


def paths_tile(state: RunState) -> TileWords:
    """Return the number of paths expanded, and the rate."""
    if _seeks(state):
        if not state.width:
            return TileWords("none yet", ("no order yet",), "no order yet")
        best = f"boundary of {state.width:,} vertices so far"
        return TileWords("none yet", (best,), best, (f"boundary of {state.width:,} so far",))
    if state.states == 0 and state.is_over and state.reason != "complete":
        return TileWords("none", ("no order of the vertices was found",), "no states")
    if state.states is not None:
        held = "state" if state.states == 1 else "states"
        held += " at the most" if state.is_over else ""
        number, width = f"{state.states:,}", f"boundary of {vertices_text(state.width)}"
        return TileWords(number, (held, width), f"{number} {held}", (f"{short_number(state.states)} {held}",))
    speed, is_over = _speed(state, state.path_rates, state.paths), state.phase == "finished"
    varies = paths_vary(state)
    if is_over and varies and not state.paths:
        none = f"{state.step}s 0"
        return TileWords("0", (f"no {state.step} had to grow",), f"{none}, none had to grow", (none,))
    # Exact digits would differ from run to run, and look like a fault.
    number = f"about {short_number(state.paths)}" if varies and state.paths else f"{state.paths:,}"
    notes = (speed, "expanded") if is_over and varies else (speed,)
    words = f"{state.step}s {number}"
    return TileWords(number, notes, f"{words}  {speed}".rstrip(), (words,), rates=state.path_rates)


def paths_vary(state: RunState) -> bool:
    """Return whether another run of the same search may look at a few more or fewer paths.

    On the CPU the threads share their work as it comes, and what they learn about dead paths depends on it.
    """
    one_way = state.options.get("expansion") == "paper" or state.options.get("threads") == 1
    return state.arch == "cpu" and not one_way


def share_tile(state: RunState) -> TileWords:
    """Return the share of the search that is done, and the time left."""
    if _is_wave(state) and state.reason != "complete":
        return _level_tile(state)
    state = replace(state, share=_share_done(state))
    share = share_text(state.share) if state.share else "0%"
    times = times_words(state)
    if state.phase == "starting":
        return TileWords(share, ("reading the graph, preparing the device",), "preparing", share=state.share)
    if state.is_over:
        return TileWords(share, times, share, share=state.share)
    left = time_left(state)
    if left is None:
        return TileWords(share, ("too early to say how long it takes",), share, share=state.share)
    rough = _rough_seconds(left) if left < _LONGEST_IN_MINUTES else duration_text(left)
    note = f"about {rough} left"
    return TileWords(share, (note,), f"{share} {note}", (f"{share} {rough} left", share), share=state.share)


def _level_tile(state: RunState) -> TileWords:
    """Return the level that a wave has reached: of its paths nearly all are open until the end."""
    times = times_words(state) if state.is_over else ()
    level = level_words(_level(state))
    if not level:
        return TileWords("wave", times or ("it has no share that is done",), "wave")
    return TileWords(level, times or ("a wave tells no share and no end",), f"{level} of the wave", (level,))


def _level(state: RunState) -> int:
    return max(state.waiting_by_length, default=0)


def level_words(level: int) -> str:
    """Return the level that a wave has reached, the vertices of its paths; "" for 0, while nothing waits."""
    return f"level {level:,}" if level else ""


def reached_words(state: RunState) -> str:
    """Return how far a search that is not complete has come: the share that is done, or the level of a wave."""
    if _is_wave(state):
        return level_words(_level(state))
    return share_text(state.share) if state.share else "0%"


def _share_done(state: RunState) -> float:
    """Return the share of the search; once most cycles are found, by their number rather than by the branching."""
    known = cycle_range(state)
    if known is None or known.is_vague or state.states is not None or state.is_over:
        return state.share
    return max(state.share, min(known.share(state.cycles, state.share), _NEARLY_ALL))


def _is_wave(state: RunState) -> bool:
    """Return whether all paths of one length are expanded before longer ones: most cycles come near the end."""
    return state.options.get("expansion") == "paper"


def times_words(state: RunState) -> tuple[str, ...]:
    """Return the time of the search, and the time from start to end with reading, compiling and writing."""
    search = f"search {seconds_text(state.seconds)}"
    if not state.total_seconds:
        return (search,)
    # A session that was killed has told no total.
    return search, f"{seconds_text(max(state.total_seconds, state.seconds))} in all"


def stop_now_words(state: RunState) -> str:
    """Return the loss if the run stops now without a new checkpoint."""
    if state.checkpoint_time is None:
        return "Stop now, lose what was found"
    lost = _unsaved_seconds(state)
    return "Stop now" if lost < 1 else f"Stop now, lose the last {_rough_seconds(lost)}"


def _unsaved_seconds(state: RunState) -> float:
    """Return the seconds of search since the last checkpoint: pauses, and the time between two sessions, are none."""
    return max(state.seconds - state.checkpoint_seconds, 0.0)


def search_words(options: Mapping[str, Any]) -> str:
    """Return bounds, expansion and restrictions of a search. `options` has the fields of `RunCommand`."""
    paths = paths_text(options.get("between", ()), all_pairs=options.get("all_pairs", False))
    usual = SHORTEST_PATH if paths else SHORTEST_CYCLE
    least, most = options.get("min_length", usual), options.get("max_length")
    bounds = f" {least} to {most}" if most is not None else "" if least == usual else f" from {least}"
    lengths = f"length {least}" if least == most else f"lengths{bounds}"
    kind = options.get("parity") or ("" if bounds else "all")
    words = [paths] if paths else []
    words.append(f"{kind} {lengths}".lstrip())
    if options.get("expansion") == "paper":
        words.append("breadth first")
    if options.get("method") == "boundary" or options.get("pick", "all") != "all":
        words.append("along a boundary")
    restrictions = (
        ("through", "through"),
        ("through_edges", "through edge"),
        ("avoid", "avoiding"),
        ("avoid_edges", "avoiding edge"),
    )
    for option, word in restrictions:
        if options.get(option):
            words.append(f"{word} {' '.join(options[option])}")
    if options.get("part") is not None:
        part, parts = options["part"]
        words.append(f"part {part} of {parts}")
    return ", ".join(words)


def memory_tile(state: RunState) -> TileWords:
    """Return the memory that the search uses, and the budget."""
    on_gpu = state.arch in ("cuda", "vulkan")
    budget = state.options.get("memory")
    # On a GPU the budget limits the buffers of the device.
    used, other = (state.device_bytes, state.memory_bytes) if on_gpu else (state.memory_bytes, state.device_bytes)
    notes = [f"of {bytes_text(budget)} allowed" if budget else "half of free allowed"]
    if state.phase == "finished" and not on_gpu:
        used = max(used, state.peak_memory_bytes)
        notes.append("at its largest")
    elif on_gpu:
        notes.append(f"{bytes_text(other)} of the host")
    elif state.states is None:
        notes.append(f"{bytes_text(other)} of records")
    short = f"memory {bytes_text(used)}"
    return TileWords(bytes_text(used), tuple(notes), short + (f" of {bytes_text(budget)}" if budget else ""), (short,))


def checkpoint_tile(state: RunState) -> TileWords:
    """Return the age of the last checkpoint."""
    if state.directory is None and state.phase == "starting":
        # The engine has not told its folder yet.
        return TileWords("none yet", (), "no checkpoint yet")
    if state.directory is None:
        return TileWords("none", ("this run has no folder",), "no checkpoints")
    if state.checkpoint_time is None:
        left = state.options.get("checkpoint_every", 0.0) - (state.changed - state.began)
        if state.phase != "running" or left <= 0:
            return TileWords("none yet", (), "no checkpoint yet")
        due = f"in {_rough_seconds(left)}"
        shorter = (f"next checkpoint {due}", "no checkpoint yet")
        return TileWords("none yet", (f"next {due}",), f"no checkpoint yet, next {due}", shorter)
    age = _unsaved_seconds(state)
    when = {"paused": "before the pause", "running": "ago", "starting": "ago"}.get(state.phase, "before the end")
    kept = state.checkpoint_cycles or 0
    is_long = len(f"{kept:,}") > _LONGEST_EXACT
    notes = (f"at about {short_number(kept)} {state.thing}s" if is_long else f"at {quantity(kept, state.thing)}",)
    now = "just now" if when == "ago" else when.replace("before", "at")
    value = now if age < 1 else f"{_rough_seconds(age)} {when}"
    return TileWords(value, notes, f"last checkpoint {value}", (f"checkpoint {value}", f"saved {value}"))


def estimate_tile(state: RunState) -> TileWords:
    """Return facts that a narrow screen shows nowhere else: listed cycles, the estimate, times of a finished run."""
    listed = _listed(state)
    times = (", ".join(times_words(state)),) if state.is_over else ()
    words = "; ".join((*listed, *times, *filter(None, [" ".join(_estimate(state))])))
    shorter = "; ".join((*listed, *times, *_estimate(state, with_spread=False)))
    return TileWords(words, (), words, (shorter, *listed))


def _listed(state: RunState) -> tuple[str, ...]:
    """Return how many cycles are listed, and how many a stop has left unwritten."""
    if state.options.get("output") is None:
        return ()
    listed = f"{state.listed:,} listed"
    is_kept = state.can_resume and state.checkpoint_cycles == state.cycles
    left = state.cycles - state.listed
    return (listed, waiting_words(left)) if is_kept and left > 0 else (listed,)


def waiting_words(cycles: int) -> str:
    """Return that so many cycles are in no list yet: a run that is resumed writes them first."""
    return f"{cycles:,} wait{'s' * (cycles == 1)} in the checkpoint"


def cycle_range(state: RunState) -> CycleRange | None:
    """Return the estimate of the number of cycles; None while there is none, and of a run that is complete."""
    if state.reason == "complete":
        return None
    known = CycleRange.told(state.cycles_estimate, state.cycles_low, state.cycles_high, state.cycles)
    if known is None or not state.is_counted:
        return known
    return replace(known, exact=True)


def _estimate(state: RunState, *, with_spread: bool = True) -> tuple[str, ...]:
    known = cycle_range(state)
    if known is None or (known.is_vague and known.low < max(_TELLING * state.cycles, _LEAST_TOLD)):
        return ()
    if _is_wave(state) and known.high > _NARROW * known.low:
        # Nearly all cycles of a wave may be found before it is known how many there are.
        return ()
    return (f"of {known.number}", *filter(None, [known.spread if with_spread else ""]))


def _speed(state: RunState, rates: tuple[float, ...], total: int) -> str:
    if state.states is not None:
        # Along a boundary cycles are not found one by one.
        return ""
    if state.is_over:
        return f"{short_number(total / state.seconds)}/s" if state.seconds > 0 else ""
    if not rates or state.phase != "running" or _compiles(state):
        return ""
    # The workers of a cluster report in turns, a lease at a time, so most reports bring nothing new.
    rate = sum(rates) / len(rates) if state.workers else rates[-1]
    return f"{short_number(rate)}/s"


def _compiles(state: RunState) -> bool:
    """Return whether the engine compiles kernels now, so that a rate would be false."""
    return state.phase == "running" and state.compiling


def _seeks(state: RunState) -> bool:
    """Return whether an order of the vertices is still sought, so that nothing is counted yet."""
    return state.phase == "running" and state.seeking_order


def _rough_seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else seconds_text(seconds)


def _from_checkpoint(state: RunState) -> str:
    if state.checkpoint_cycles is None:
        return " from the beginning: there was no checkpoint yet"
    if not state.checkpoint_cycles:
        return " from the last checkpoint"
    return f" from the checkpoint at {state.checkpoint_cycles:,} {state.thing}s"
