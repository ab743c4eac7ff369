"""Texts about a run: its phase, its times, what is wrong with it. This module does not use Textual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chordless.runs.state import ENDINGS, RunState, graph_name
from chordless.tui.marks import Mark, sentence
from chordless.values import SHORTEST_CYCLE, SHORTEST_PATH
from chordless.words.numbers import CycleRange, best_text, paths_text, seconds_text, share_text, size_text

# Earlier, too little is known to estimate the time left.
_LEAST_SHARE_FOR_A_GUESS, _LEAST_SECONDS_FOR_A_GUESS = 0.001, 1.0
# From then on the share tells more than a vague estimate of all cycles.
_SHARE_THAT_TELLS = 0.1
_LONG_SILENCE = 5.0  # Seconds

_PHASES = {
    "starting": Mark("…", "starting", "$text-accent"),
    "running": Mark("▶", "running", "$text-success"),
    "paused": Mark("‖", "paused", "$text-warning"),
    "failed": Mark("✘", "failed", "$text-error"),
    "lost": Mark("?", "the engine is gone", "$text-error"),
}


def phase_words(state: RunState) -> Mark:
    """Return glyph, word and colour for the phase of a run."""
    if compiles(state):
        # Wider bit rows, and a long search, have kernels of their own.
        return Mark("…", "compiling kernels for the rest" if state.paths else "compiling, once", "$text-accent")
    if seeks(state):
        return Mark("…", "seeking an order", "$text-accent")
    if state.phase != "finished":
        return _PHASES[state.phase]
    if state.reason in (None, "complete"):
        return Mark("✔", "complete", "$text-success")
    return Mark("■", ENDINGS[state.reason], "$text-warning")


def nothing_words(state: RunState) -> str:
    """Return why there are no counts yet, beside the phase, which stands above; "" once the run is over."""
    if state.is_over:
        return ""
    if state.phase == "starting":
        return "The engine starts and reads the graph."
    if compiles(state):
        return "The search has not begun yet."
    return "The count has not begun yet." if seeks(state) else f"No {state.thing} was found yet."


def replay_words(speed: float, position: float, length: float | None, *, paused: bool) -> str:
    """Return that this is a replay, where it stands, and how fast it is: ``REPLAY 4x, 12.0 s of 75.0 s``."""
    pace = ", paused" if paused else f" {round(speed, 2):g}x" if speed else ""
    end = "" if length is None else f" of {seconds_text(length)}"
    return f"REPLAY{pace}, {seconds_text(position)}{end}"


def clock_words(state: RunState, quiet_seconds: float) -> str:
    """Return how long a phase has lasted in which no other number moves: the start, and a compilation."""
    silent = state.phase == "starting" or compiles(state)
    return f"{quiet_seconds:.0f} s" if silent and quiet_seconds else ""


def spent_words(state: RunState, quiet_seconds: float) -> str:
    """Return how long a search at work has gone on; "" before and after, and where that is told elsewhere.

    After a while without a report, tell how long: the numbers are as old.
    """
    if state.phase not in ("running", "paused") or compiles(state) or seeks(state):
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
    if not state.arch:
        # The graph has not been read.
        return gap + name
    size = f"{name}: {size_text(state.n, state.m)}"
    degree = f"{size}, max degree {state.max_degree:,}"
    choices = ([degree, device_words(state)], [degree], [size], [name])
    texts = ["".join(gap + text for text in choice) for choice in choices]
    return next((text for text in texts if len(text) <= room), texts[-1])


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
    is_vague = known is not None and known.is_vague
    if is_wave(state) or (is_vague and state.share < _SHARE_THAT_TELLS):
        return None
    if known is not None and not is_vague and state.cycles:
        return state.seconds * (1 / known.share(state.cycles, state.share) - 1)
    if state.share < _LEAST_SHARE_FOR_A_GUESS:
        return None
    # Along a boundary, an order of the vertices was looked for at first.
    seconds, share = state.share_base or (0.0, 0.0) if state.states is not None else (0.0, 0.0)
    if state.share <= share:
        return None
    return (state.seconds - seconds) * (1 - state.share) / (state.share - share)


def has_picked(state: RunState) -> bool:
    """Return whether the run has picked cycles: a longest one, or a sample."""
    return state.options.get("pick", "all") != "all" and state.reason == "complete" and state.cycles > 0


def picked_word(options: Mapping[str, Any]) -> str:
    """Return the kind of the cycles that a run picks, such as ``longest`` or ``sample``; "" if it picks none."""
    pick = options.get("pick", "all")
    if pick != "longest":
        return "" if pick == "all" else str(pick)
    return best_text(shortest=options.get("shortest", False), weighted=options.get("weight") is not None)


def level_of(state: RunState) -> int:
    """Return the level that a wave has reached; 0 while nothing waits."""
    return max(state.waiting_by_length, default=0)


def level_words(level: int) -> str:
    """Return the level that a wave has reached, the vertices of its paths; "" for 0, while nothing waits."""
    return f"level {level:,}" if level else ""


def reached_words(state: RunState) -> str:
    """Return how far a search that is not complete has come: the share that is done, or the level of a wave."""
    if is_wave(state):
        return level_words(level_of(state))
    return share_text(state.share) if state.share else "0%"


def is_wave(state: RunState) -> bool:
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
    lost = unsaved_seconds(state)
    return "Stop now" if lost < 1 else f"Stop now, lose the last {rough_seconds(lost)}"


def unsaved_seconds(state: RunState) -> float:
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
    if options.get("method") == "boundary":
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


def cycle_range(state: RunState) -> CycleRange | None:
    """Return the estimate of the number of cycles; None while there is none, and of a run that is complete."""
    if state.reason == "complete":
        return None
    known = CycleRange.told(state.cycles_estimate, state.cycles_low, state.cycles_high, state.cycles)
    if known is None or not state.is_counted:
        return known
    return replace(known, exact=True)


def compiles(state: RunState) -> bool:
    """Return whether the engine compiles kernels now, so that a rate would be false."""
    return state.phase == "running" and state.compiling


def seeks(state: RunState) -> bool:
    """Return whether an order of the vertices is still sought, so that nothing is counted yet."""
    return state.phase == "running" and state.seeking_order


def rough_seconds(seconds: float) -> str:
    """Return a time in whole seconds, from 100 s on as `seconds_text` does."""
    return f"{seconds:.0f} s" if seconds < 100 else seconds_text(seconds)


def _from_checkpoint(state: RunState) -> str:
    if state.checkpoint_cycles is None:
        return " from the beginning: there was no checkpoint yet"
    if not state.checkpoint_cycles:
        return " from the last checkpoint"
    return f" from the checkpoint at {state.checkpoint_cycles:,} {state.thing}s"
