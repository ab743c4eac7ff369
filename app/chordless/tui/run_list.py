"""The table of runs: its columns, the order of its rows, the details below it. This module does not use Textual."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from chordless.protocol.orders import RunCommand
from chordless.runs.history import RunStage, RunSummary
from chordless.runs.state import graph_name
from chordless.tui.marks import Mark
from chordless.tui.run_words import level_words, picked_word, search_words
from chordless.tui.tile_words import waiting_words
from chordless.values import usual_shortest
from chordless.words.numbers import bytes_text, large_number, paths_text, seconds_text, share_text, size_text
from kernels_ti.errors import quantity
from kernels_ti.folders import home

STAGES: dict[RunStage, Mark] = {
    "running": Mark("▶", "running"),
    "paused": Mark("‖", "paused"),
    "complete": Mark("✔", "complete"),
    "stopped": Mark("■", "stopped"),
    "failed": Mark("✘", "failed"),
    "lost": Mark("?", "cut off"),
    "damaged": Mark("!", "damaged"),
}
_WHY_STOPPED = {
    "limit": "It reached its limit",
    "timeout": "It reached its timeout",
    "interrupted": "It was stopped",
    "closed": "It ended because its output was no longer read",
}


@dataclass(frozen=True)
class Column:
    """A column of the history."""

    name: str
    title: str
    width: int
    value: Callable[[RunSummary], Any]  # Returns the sort key of a run
    text: Callable[[RunSummary], str]  # Returns the cell of a run
    from_width: int = 0  # Width in columns of the narrowest terminal that shows this column
    is_number: bool = True  # Whether it is aligned to the right, and sorted from the largest down


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


FOUND_WIDTH = 14
"""The room of a count in every list of runs."""


def found_text(cycles: int) -> str:
    """Return a count in the room that lists of runs have for it: rounded, not cut, where it is longer."""
    exact = f"{cycles:,}"
    return exact if len(exact) <= FOUND_WIDTH else large_number(cycles)


COLUMNS = (
    Column("state", "State", 11, lambda run: list(STAGES).index(run.stage), lambda run: run.stage, is_number=False),
    Column("graph", "Graph", 18, lambda run: row_title(run).lower(), lambda run: row_title(run), is_number=False),
    Column("n", "Vertices", 10, lambda run: run.n or 0, lambda run: _number(run.n), 120),
    Column("m", "Edges", 10, lambda run: run.m or 0, lambda run: _number(run.m), 120),
    Column("cycles", "Found", FOUND_WIDTH, lambda run: run.cycles, lambda run: found_text(run.cycles)),
    Column("listed", "Listed", 14, lambda run: run.listed, lambda run: _number(run.listed) if run.lists else "", 150),
    Column("seconds", "Search time", 13, lambda run: run.seconds, lambda run: seconds_text(run.seconds), 66),
    Column("arch", "Arch", 9, lambda run: run.arch, lambda run: run.arch, 120, is_number=False),
    Column("disk", "On disk", 9, lambda run: run.disk_bytes, lambda run: bytes_text(run.disk_bytes), 150),
    Column("began", "Started", 12, lambda run: run.began, lambda run: when(run.began), 78),
)


def columns_for(width: int) -> tuple[Column, ...]:
    """Return the columns to show on a terminal that is `width` characters wide."""
    return tuple(column for column in COLUMNS if column.from_width <= width)


def ordered(runs: Sequence[RunSummary], column: Column, *, turned: bool) -> list[RunSummary]:
    """Sort runs by a column: numbers and times from the largest down, words from A on. `turned` reverses the order."""
    return sorted(runs, key=column.value, reverse=column.is_number != turned)


ASKED = (
    *("min_length", "max_length", "parity", "through", "through_edges", "avoid", "avoid_edges"),
    *("part", "pick", "shortest", "weight", "between", "all_pairs"),
)
"""What two runs share that search a graph for the same cycles."""
_QUESTION = (
    *("graph", "file_format", "simplify", "directed", "multigraph", "encoding", "overlap", "types"),
    *ASKED,
    "limit",
)


def title(run: RunSummary) -> str:
    """Return a short name of the graph, and what was picked of it."""
    name, word = graph_name(run.graph), _picked(run)
    return f"{word} of {name}" if word else name


def _picked(run: RunSummary) -> str:
    return picked_word({"pick": run.pick} if run.command is None else asdict(run.command))


def thing_of_run(run: RunSummary) -> str:
    """Return the word for one of what a run finds."""
    return "cycle" if run.command is None else run.command.thing


def row_title(run: RunSummary) -> str:
    """Return the graph, and what tells the run from a plain count of it: ``grid:7x10, boundary``."""
    differences = [] if run.command is None else _differences(run, run.command)
    return ", ".join([graph_name(run.graph), *filter(None, [_picked(run)]), *differences])


def counted_before(runs: Iterable[RunSummary], question: RunCommand) -> list[RunSummary]:
    """Return the runs that have answered this question, the fastest first."""
    answers = (run for run in runs if run.stage == "complete" and _is_same(run, question))
    return sorted(answers, key=lambda run: run.seconds)


def counted_words(run: RunSummary) -> str:
    """Return in one sentence how many cycles a run has found."""
    way = " along a boundary" if run.command is not None and run.command.method == "boundary" else ""
    found = quantity(run.cycles, f"chordless {thing_of_run(run)}")
    return f"{found}: counted{way} in {seconds_text(run.seconds)}, {when(run.began)}."


def _is_same(run: RunSummary, question: RunCommand) -> bool:
    command = run.command
    return command is not None and all(getattr(command, name) == getattr(question, name) for name in _QUESTION)


def _differences(run: RunSummary, command: RunCommand) -> list[str]:
    """Return in a word or two each how a run differs from a search that counts all cycles."""
    least, most = command.min_length, command.max_length
    words = ["list"] if run.lists and command.pick == "all" else []
    words += [text] if (text := paths_text(command.between, all_pairs=command.all_pairs)) else []
    if command.method == "boundary" and command.pick == "all":
        words.append("boundary")
    if command.expansion == "paper":
        words.append("wave")
    if command.parity is not None:
        words.append(command.parity)
    if most is not None:
        words.append(f"{least} to {most}" if most > least else f"length {least}")
    elif least > usual_shortest(of_paths=command.is_of_paths, shortest=command.pick == "longest" and command.shortest):
        words.append(f"from {least}")
    if command.limit is not None and command.pick == "all":
        words.append(f"up to {command.limit:,}")
    if command.overlap:
        words.append("overlap")
    return words


def when(seconds: float) -> str:
    """Return in twelve characters the time to the second today, date and time this year, the date of other years."""
    then, now = time.localtime(seconds), time.localtime()
    if then[:3] == now[:3]:
        return time.strftime("%H:%M:%S", then)
    return time.strftime("%d %b %H:%M" if then.tm_year == now.tm_year else "%d %b %Y", then)


def details(run: RunSummary, load: float | None = None) -> str:
    """Return lines about a run: its folder, its graph and device, what was searched, what can be done next.

    `load` is the part of all cores that its engine uses.
    """
    command = run.command
    parts = [
        "" if run.n is None or run.m is None else size_text(run.n, run.m),
        f"{run.arch}: {run.device}" if run.device else run.arch,
        f"{run.listed:,} listed" if run.lists else "",
        waiting_words(run.unlisted) if run.unlisted else "",
        f"{bytes_text(run.disk_bytes)} on disk",
    ]
    lines = [with_home(run.path.resolve()), "; ".join(part for part in parts if part)]
    if command is not None:
        lines.append(f"{_asked_for(run, command)}: {search_words(asdict(command))}")
    return "\n".join([*lines, _what_next(run, command, load)])


def _asked_for(run: RunSummary, command: RunCommand) -> str:
    if command.pick != "all":
        return "Some at random" if command.pick == "sample" else f"One of the {picked_word(asdict(command))}"
    return "List" if run.lists else "Count"


def _what_next(run: RunSummary, command: RunCommand | None, load: float | None) -> str:
    if run.is_at_work:
        words = ["An engine is paused in it" if run.stage == "paused" else "An engine is at work in it"]
        words += [f"process {run.pid} uses {load:.0%} of the cores"] if load is not None else []
        words += [f"{_reached(run)} is {'reached' if _is_wave(run) else 'done'}"] if _reached(run) else []
        return f"{'; '.join(words)}."
    if run.stage == "complete" and command is not None and command.pick != "all":
        return "It has found what it was asked for; enter and then 3 shows it."
    if run.stage == "complete":
        return f"Every {thing_of_run(run)} within its bounds was found."
    done = f" at {_reached(run)}" if _reached(run) else ""
    if not run.has_checkpoint and run.stage != "damaged":
        return f"It ended{done}, before there was anything to keep. It cannot be resumed."
    if run.stage == "stopped":
        return f"{_WHY_STOPPED.get(run.why, 'It ended')}{done}. It can be resumed."
    if run.stage == "failed":
        return f"It failed{done}: {run.why}. It can be resumed."
    if run.stage == "lost":
        return f"It was cut off{done}, by a kill or a power cut. It can be resumed from its last checkpoint."
    return f"It cannot be used: {run.why}."


def _is_wave(run: RunSummary) -> bool:
    """Return whether all paths of one length are expanded before longer ones; such a search tells no share."""
    return run.command is not None and run.command.expansion == "paper"


def _reached(run: RunSummary) -> str:
    """Return how far a run has come: its share, or the level of a wave; "" if it has not told."""
    if _is_wave(run):
        return level_words(run.level)
    return share_text(run.share) if run.share else ""


def with_home(path: Path) -> str:
    """Return a path in which ``~`` stands for the home folder."""
    folder = home()
    return f"~/{path.relative_to(folder)}" if folder is not None and path.is_relative_to(folder) else str(path)
