"""One line about the paths that wait: how many, how long they are, and how many they were at the most."""

from __future__ import annotations

from chordless.runs.state import RunState
from chordless.words.numbers import pass_text, seconds_text, seeking_text, short_number
from kernels_ti.errors import quantity, vertices_text

_LENGTHS_OF_A_WAVE = 2


def frontier_words(state: RunState) -> tuple[str, ...]:
    """Return one line in several lengths, the longest first; the last is "" while nothing is known."""
    course = state.frontier_course
    if state.states is not None:
        return boundary_words(state)
    if not course.peak:
        return ("",)
    most, when = short_number(course.peak), f"after {seconds_text(course.peak_seconds)}"
    # A search at both ends begins with pairs that wait as paths do. Of T, the paths looked at, are only some of them.
    waiting = state.waiting_by_length
    is_wave = state.options.get("expansion") == "paper"
    has_starts = not is_wave and sum(waiting.values()) != state.frontier
    path = state.step
    if state.frontier == 0:
        waited = "" if is_wave else f" starts and {path}s"
        long = f"No {path} waits any more. At the peak {most}{waited} waited, {when}."
        return (long, f"No {path} waits. Peak: {most} {when}", f"No {path} waits")
    number = short_number(state.frontier)
    or_starts, and_starts = ("start or ", "starts and ") if has_starts else ("", "")
    paths = f"{or_starts}{path} waits" if state.frontier == 1 else f"{and_starts}{path}s wait"
    if not waiting:
        long = f"{number} {paths} now. Peak: {most} {when}."
        return (long, f"{number} {paths}. Peak: {most} {when}", f"{number} {paths}")
    seen = f"the {path}s of {_lengths(waiting)} vertices" if has_starts else _seen(waiting)
    return (
        f"{number} {paths} now, {seen}. Peak: {most} {when}.",
        f"{number} {paths}, of {_lengths(waiting)} vertices. Peak: {most} {when}",
        f"{number} {paths}. Peak: {most} {when}",
        f"{number} {paths}",
    )


def boundary_words(state: RunState) -> tuple[str, ...]:
    """Return one line on a way along a boundary, in several lengths, the longest first."""
    width = vertices_text(state.width)
    if state.phase == "finished" and state.reason != "complete" and not state.states:
        return ("It ended while an order of the vertices was sought: nothing was counted.", "it ended before the count")
    if state.phase == "finished":
        most = f"{quantity(state.states or 0, 'state')} at the most"
        return (f"Along a boundary of at most {width}: {most}.", f"{most}, boundary {state.width:,}", most)
    steps, done = len(state.expected_by_step), len(state.states_by_step)
    if state.seeking_order or not steps:
        seeking = f"{seeking_text(state.width).capitalize()}, {seconds_text(state.seconds)}."
        return (seeking, f"seeking an order, {width} so far" if state.width else "seeking a vertex order")
    now, peak = f"{short_number(state.states or 0)} states", short_number(max(state.expected_by_step.values()))
    if state.states == 1:
        now = "1 state"
    if text := pass_text(state.pass_number, state.passes):
        # Each pass meets the same states again.
        text = text.capitalize()
        return (
            f"{text} over the vertices: {now} now, about {peak} expected at most. Boundary: {width}.",
            f"{text}: {now}, about {peak} at most",
            f"{text}, {now}",
        )
    at = max(state.expected_by_step, key=lambda step: state.expected_by_step[step])
    return (
        f"Vertex {done:,} of {steps:,}: {now} now, about {peak} expected at vertex {at:,}. Boundary: {width}.",
        f"Vertex {done:,} of {steps:,}: {now}, about {peak} at vertex {at:,}",
        f"vertex {done:,} of {steps:,}, {now}",
    )


def _seen(waiting: dict[int, int]) -> str:
    if sum(waiting.values()) == 1:
        return f"of {_lengths(waiting)} vertices"
    if len(waiting) <= _LENGTHS_OF_A_WAVE:
        return f"all of {_lengths(waiting)} vertices: the wave moves to longer paths"
    commonest = max(waiting, key=lambda length: waiting[length])
    return f"of {_lengths(waiting)} vertices, most of them of {commonest}"


def _lengths(waiting: dict[int, int]) -> str:
    shortest, longest = min(waiting), max(waiting)
    if shortest == longest:
        return str(shortest)
    return f"{shortest} {'and' if longest == shortest + 1 else 'to'} {longest}"
