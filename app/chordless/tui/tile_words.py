"""The content of each tile of a run. This module does not use Textual."""

from __future__ import annotations

from dataclasses import dataclass, replace

from chordless.runs.state import RunState
from chordless.tui import run_words
from chordless.words import numbers
from kernels_ti.errors import quantity, vertices_text

_NEARLY_ALL, _NARROW = 0.999, 2
# A lower bound alone tells something if it is so many times the cycles found, and so many cycles.
_TELLING, _LEAST_TOLD = 10, 1000
_LONGEST_EXACT = 15  # Characters of a number that fits into a tile
# A longer time left is told in hours, days or years.
_LONGEST_IN_MINUTES = 6000.0


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
    about: str = ""  # The main number rounded, where it has no room


def cycles_tile(state: RunState) -> TileWords:
    """Return the number of cycles found, and the rate."""
    if (pick := state.options.get("pick", "all")) != "all":
        return _picked_tile(state, pick)
    if run_words.seeks(state):
        return TileWords("none yet", ("an order of the vertices comes first",), f"no {state.thing}s counted yet")
    speed, about = _speed(state, state.cycle_rates, state.cycles), f"about {numbers.large_number(state.cycles)}"
    return TileWords(
        f"{state.cycles:,}",
        (speed, *_listed(state), *_estimate(state)),
        f"{state.thing}s {state.cycles:,}  {speed}".rstrip(),
        (f"{state.thing}s {state.cycles:,}", f"{state.thing}s {about}"),
        rates=state.cycle_rates if state.states is None else (),
        about=about,
    )


def _picked_tile(state: RunState, pick: str) -> TileWords:
    """Return the result of a pick: the best cycle and how many are as good, or how many were drawn from how many."""
    found, word = state.boundary, run_words.picked_word(state.options)
    if not found or state.reason != "complete":
        what = "a sample" if pick == "sample" else f"the {word} {state.thing}"
        return TileWords("none yet", (what,), "none picked yet")
    if pick == "sample":
        drawn, all_of_them = f"{state.cycles:,} drawn", found.get("drawn_from", 0)
        exact, about = f"{all_of_them:,}", f"about {numbers.large_number(all_of_them)}"
        number = exact if len(exact) <= _LONGEST_EXACT else about
        lines = (f"{drawn} from {exact}", f"{drawn} from {about}")
        return TileWords(f"{state.cycles:,}", (f"drawn at random from {number}",), lines[0], lines[1:])
    if not state.cycles:
        return TileWords("none", (f"there is no chordless {state.thing}",), f"no chordless {state.thing}")
    length, ways = f"{max(state.cycles_by_length):,} vertices", found.get("ways", 1)
    as_good = "weigh as much" if state.weight is not None else f"are as {word.removesuffix('est')}"
    many = f"{ways:,} {as_good}" if ways != 1 else "the only one"
    if state.weight is None:
        return TileWords(length, (f"the {word}", many), f"{word}: {length}, {many}")
    weight = f"weight {state.weight}"
    return TileWords(weight, (f"the {word}, {length}", many), f"{word}: {weight}, {length}, {many}")


def paths_tile(state: RunState) -> TileWords:
    """Return the number of paths expanded, and the rate."""
    if run_words.seeks(state):
        if not state.width:
            return TileWords("none yet", ("no order yet",), "no order yet")
        best = f"boundary of {state.width:,} vertices so far"
        return TileWords("none yet", (best,), best, (f"boundary of {state.width:,} so far",))
    if state.states == 0 and state.is_over and state.reason != "complete":
        return TileWords("none", ("the order of the vertices was not settled",), "no states")
    if state.states == 0 and not state.width and state.reason == "complete":
        return TileWords("none", ("no boundary was needed",), "no states")
    if state.states is not None:
        held = "state" if state.states == 1 else "states"
        held += " at the most" if state.is_over else ""
        number, width = f"{state.states:,}", f"boundary of {vertices_text(state.width)}"
        return TileWords(number, (held, width), f"{number} {held}", (f"{numbers.short_number(state.states)} {held}",))
    speed, is_over = _speed(state, state.path_rates, state.paths), state.phase == "finished"
    varies = paths_vary(state)
    if is_over and varies and not state.paths:
        none = f"{state.step}s 0"
        return TileWords("0", (f"no {state.step} had to grow",), f"{none}, none had to grow", (none,))
    # Exact digits would differ from run to run, and look like a fault.
    number = f"about {numbers.short_number(state.paths)}" if varies and state.paths else f"{state.paths:,}"
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
    if run_words.is_wave(state) and state.reason != "complete":
        return _level_tile(state)
    state = replace(state, share=_share_done(state))
    share = numbers.share_text(state.share) if state.share else "0%"
    times = run_words.times_words(state)
    if state.phase == "starting":
        return TileWords(share, ("reading the graph, preparing the search",), "preparing", share=state.share)
    if state.is_over:
        return TileWords(share, times, share, share=state.share)
    if state.states is not None and numbers.is_way_back(state.options.get("pick", "all"), state.share):
        return TileWords("going back", (numbers.WAY_BACK,), "going back")
    left = run_words.time_left(state)
    if left is None:
        return TileWords(share, ("too early to say how long it takes",), share, share=state.share)
    rough = run_words.rough_seconds(left) if left < _LONGEST_IN_MINUTES else numbers.duration_text(left)
    note = f"about {rough} left"
    return TileWords(share, (note,), f"{share} {note}", (f"{share} {rough} left", share), share=state.share)


def _level_tile(state: RunState) -> TileWords:
    """Return the level that a wave has reached: of its paths nearly all are open until the end."""
    times = run_words.times_words(state) if state.is_over else ()
    level = run_words.level_words(run_words.level_of(state))
    if not level:
        return TileWords("wave", times or ("it has no share that is done",), "wave")
    return TileWords(level, times or ("a wave tells no share and no end",), f"{level} of the wave", (level,))


def _share_done(state: RunState) -> float:
    """Return the share of the search; once most cycles are found, by their number rather than by the branching."""
    known = run_words.cycle_range(state)
    if known is None or known.is_vague or state.states is not None or state.is_over:
        return state.share
    return max(state.share, min(known.share(state.cycles, state.share), _NEARLY_ALL))


def memory_tile(state: RunState) -> TileWords:
    """Return the memory that the search uses, and the budget."""
    if not state.memory_bytes and not (state.is_over and state.peak_memory_bytes):
        # The first report tells it.
        known = "not known" if state.is_over else "not known yet"
        return TileWords(known, (), f"memory {known}", ("memory unknown",))
    on_gpu = state.arch in ("cuda", "vulkan")
    budget = state.options.get("memory")
    # On a GPU the budget limits the buffers of the device.
    used, other = (state.device_bytes, state.memory_bytes) if on_gpu else (state.memory_bytes, state.device_bytes)
    notes = [f"of {numbers.bytes_text(budget)} allowed" if budget else "half of free allowed"]
    if state.phase == "finished" and not on_gpu:
        used = max(used, state.peak_memory_bytes)
        notes.append("at its largest")
    elif on_gpu:
        notes.append(f"{numbers.bytes_text(other)} of the host")
    elif state.states is None:
        # What is set aside for records is used, and so counted, only as they come.
        notes.append(f"{'room for ' * (other > used)}{numbers.bytes_text(other)} of records")
    short = f"memory {numbers.bytes_text(used)}"
    return TileWords(
        numbers.bytes_text(used),
        tuple(notes),
        short + (f" of {numbers.bytes_text(budget)}" if budget else ""),
        (short,),
    )


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
        due = f"in {run_words.rough_seconds(left)}"
        shorter = (f"next checkpoint {due}", "no checkpoint yet")
        return TileWords("none yet", (f"next {due}",), f"no checkpoint yet, next {due}", shorter)
    age = run_words.unsaved_seconds(state)
    when = {"paused": "before the pause", "running": "ago", "starting": "ago"}.get(state.phase, "before the end")
    kept = state.checkpoint_cycles or 0
    is_long = len(f"{kept:,}") > _LONGEST_EXACT
    notes = (
        f"at about {numbers.short_number(kept)} {state.thing}s" if is_long else f"at {quantity(kept, state.thing)}",
    )
    now = "just now" if when == "ago" else when.replace("before", "at")
    # An engine that was killed has saved nothing at its end.
    is_lost = state.is_lost and age > 0
    value = (
        now
        if age < 1 and not is_lost
        else f"{run_words.rough_seconds(age) if age >= 1 else numbers.seconds_text(age)} {when}"
    )
    unsaved = (f"{numbers.seconds_text(age)} not saved",) if when != "ago" and value != now else ()
    return TileWords(value, notes, f"last checkpoint {value}", (f"checkpoint {value}", f"saved {value}", *unsaved))


def estimate_tile(state: RunState) -> TileWords:
    """Return facts that a narrow screen shows nowhere else: listed cycles, the estimate, times of a finished run."""
    listed = _listed(state)
    times = (", ".join(run_words.times_words(state)),) if state.is_over else ()
    words = "; ".join((*listed, *times, *filter(None, [" ".join(_estimate(state))])))
    shorter = "; ".join((*listed, *times, *_estimate(state, with_spread=False)))
    return TileWords(words, (), words, (shorter, "; ".join((*listed, *times)), *times, *listed))


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


def _estimate(state: RunState, *, with_spread: bool = True) -> tuple[str, ...]:
    known = run_words.cycle_range(state)
    if known is None or (known.is_vague and known.low < max(_TELLING * state.cycles, _LEAST_TOLD)):
        return ()
    if run_words.is_wave(state) and known.high > _NARROW * known.low:
        # Nearly all cycles of a wave may be found before it is known how many there are.
        return ()
    return (f"of {known.number}", *filter(None, [known.spread if with_spread else ""]))


def _speed(state: RunState, rates: tuple[float, ...], total: int) -> str:
    if state.states is not None:
        # Along a boundary cycles are not found one by one.
        return ""
    if state.is_over:
        return f"{numbers.short_number(numbers.rate_of(total, state.seconds))}/s" if state.seconds > 0 else ""
    if not rates or state.phase != "running" or run_words.compiles(state):
        return ""
    # The workers of a cluster report in turns, a lease at a time, so most reports bring nothing new.
    rate = sum(rates) / len(rates) if state.workers else rates[-1]
    return f"{numbers.short_number(rate)}/s"
