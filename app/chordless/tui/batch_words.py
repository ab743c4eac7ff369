"""Texts about a batch: its state, its graphs, the columns of their table. This module does not use Textual."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from rich.markup import escape

from chordless.tui.batch_lines import BatchLine, BatchLines
from chordless.tui.batch_session import BatchState
from chordless.tui.marks import Mark, cut
from chordless.tui.readings import said_here
from chordless.words.numbers import lengths_text, seconds_text, share_text, short_number, size_text
from chordless.words.shown import bar
from kernels_ti.errors import quantity

_STATUSES = {
    "complete": ("✔", "success"),
    "limit": ("■", "warning"),
    "timeout": ("■", "warning"),
    "error": ("✘", "error"),
    "damaged": ("?", "error"),
}
_PHASES = {
    "starting": Mark("…", "reading the graphs, preparing the search", "$text-accent"),
    "running": Mark("▶", "running", "$text-success"),
    "complete": Mark("✔", "done", "$text-success"),
    "interrupted": Mark("■", "stopped", "$text-warning"),
    "failed": Mark("✘", "failed", "$text-error"),
}
_UNKNOWN = "-"
AGAIN = "Run again"
"""Label of the action for a file that already has a line for every graph."""
_OFFERS = {"Start": "starts it", "Resume": "goes on with it", AGAIN: "counts what changed"}
HOW_TO_BEGIN = """\
Count the chordless cycles of many graphs in one go.

Name them above: files, patterns in quotes such as 'webs/*.net', specs such as \
grid:6x6, files of graph6, SDF or SMILES with a graph to a line, or a manifest \
(FILE.toml) with options for each. Then press Start.

Each graph gets a line in the output file, and here. Name the output file \
of an earlier batch to look at it, or to resume it."""
"""The text of the screen before anything is typed."""

_UNBROKEN = "\N{NO-BREAK SPACE}"


def status_mark(status: str) -> Mark:
    """Return the mark of the status of a graph; its colour is ``success``, ``warning`` or ``error``."""
    glyph, colour = _STATUSES.get(status, _STATUSES["damaged"])
    return Mark(glyph, status, colour)


@dataclass(frozen=True)
class Column:
    """A column of numbers, or of answers to a question, 0 or 1."""

    title: str
    width: int
    value: Callable[[BatchLine], float | None]
    decimals: int = 0  # Digits behind the decimal point, as far as there is room
    is_question: bool = False
    is_optional: bool = False  # Whether it is shown only if some line has a value, see `BatchLines.known`

    def text(self, line: BatchLine) -> str:
        """Return the cell of a line, aligned to the right."""
        value = self.value(line)
        if value is None:
            return f"{_UNKNOWN:>{self.width}}"
        if self.is_question:
            return f"{'yes' if value else 'no':>{self.width}}"
        for decimals in range(self.decimals, -1, -1):
            exact = f"{value:,.{decimals}f}"
            if len(exact) <= self.width:
                return f"{exact:>{self.width}}"
        return f"{short_number(value):>{self.width}}"


COLUMNS = (
    Column("n", 5, lambda line: line.n),
    Column("m", 6, lambda line: line.m),
    Column("cycles", 11, lambda line: line.cycles),
    Column("longest", 8, lambda line: line.longest),
    Column("interval", 9, lambda line: line.interval, is_question=True, is_optional=True),
    Column("holes", 7, lambda line: line.holes),
    Column("seconds", 8, lambda line: line.seconds, 4, is_optional=True),
)

# On a narrow screen the first of these go first: cycles, and the answers about a food web, stay.
_LEAVING = ("seconds", "longest", "m", "n", "interval", "holes", "cycles")


def columns_of(known: Collection[str]) -> tuple[Column, ...]:
    """Return the columns of a batch; `known` are the titles of the optional ones that have a value in some line."""
    return tuple(column for column in COLUMNS if not column.is_optional or column.title in known)


def columns_within(room: int, known: Collection[str]) -> tuple[Column, ...]:
    """Return the columns for which `room` cells are enough, each after a blank; see `columns_of`."""
    columns = columns_of(known)
    for title in _LEAVING:
        if sum(column.width + 1 for column in columns) <= room:
            break
        columns = tuple(column for column in columns if column.title != title)
    return columns


def graph_text(line: BatchLine, width: int, *, ascii_only: bool) -> str:
    """Return the graph and its name in the file. Of a long path, return the end, which tells more."""
    text = line.graph if line.name is None else f"{line.graph}  {line.name}"
    if len(text) <= width:
        return text
    if line.name is not None and len(line.graph) < width:
        return cut(text, width, ascii_only=ascii_only)
    ellipsis = "..." if ascii_only else "…"
    return ellipsis + line.graph[len(line.graph) - max(width - len(ellipsis), 0) :]


def error_text(line: BatchLine) -> str:
    """Return the error of a graph, without the name of the graph."""
    text = said_here(line.error or "").removeprefix(line.graph).lstrip(":").strip()
    return re.sub(r"^([0-9]+):", r"line \1:", text)


def detail_text(line: BatchLine | None, width: int, most_lines: int, *, ascii_only: bool) -> str:
    """Return details of a graph in at most `most_lines` lines: name and bounds, then the result or the error."""
    if line is None:
        return ""
    about = [line.graph if line.name is None else f"{line.graph} ({line.name})"]
    if line.n is not None and line.m is not None:
        about.append(size_text(line.n, line.m))
    about += [lengths] if (lengths := lengths_text(line.min_length, line.max_length, line.parity)) else []
    if line.status in ("limit", "timeout"):
        about.append(f"stopped by its {line.status}: lower bounds")
    lines = [wrapped for text in ("; ".join(about), _found_text(line)) for wrapped in textwrap.wrap(text, width)]
    lines = _cut(lines, width, most_lines, ascii_only=ascii_only)
    return "\n".join(lines).replace(_UNBROKEN, " ")


def trouble_text(faults: Sequence[str], width: int, most_lines: int, *, ascii_only: bool) -> str:
    """Return the faults of the form, in at most `most_lines` lines: beside a field there is room for a part."""
    return "\n".join(_cut(textwrap.wrap("! " + "; ".join(faults), width), width, most_lines, ascii_only=ascii_only))


def _cut(lines: list[str], width: int, most_lines: int, *, ascii_only: bool) -> list[str]:
    """Return at most `most_lines` of the lines; an ellipsis stands for the others."""
    if len(lines) <= most_lines:
        return lines
    ellipsis = " ..." if ascii_only else " …"
    return [*lines[: most_lines - 1], lines[most_lines - 1][: width - len(ellipsis)] + ellipsis]


def _found_text(line: BatchLine) -> str:
    if line.error is not None:
        return f"! {said_here(line.error)}"
    if not line.by_length:
        return "no cycles"
    return "by length  " + "  ".join(
        f"{length}:{_UNBROKEN}{count:,}" for length, count in sorted(line.by_length.items())
    )


def phase_markup(state: BatchState, *, ascii_only: bool) -> str:
    """Return the phase of a batch."""
    stopping = Mark("■", "stopping after these graphs", "$text-warning")
    return _markup(stopping if state.stopping else _PHASES[state.phase], ascii_only=ascii_only)


def _markup(mark: Mark, *, ascii_only: bool) -> str:
    return f"[{mark.colour}]{escape(mark.text(ascii_only=ascii_only))}[/]"


def offer_markup(key: str, offer: str, *, ascii_only: bool) -> str:
    """Return the effect of the start key on a file that no batch is writing. Say if no line is missing."""
    words = f"[$foreground-muted]{escape(key)} {_OFFERS[offer]}[/]"
    return words if offer != AGAIN else f"{_markup(_PHASES['complete'], ascii_only=ascii_only)}  {words}"


def tally_text(state: BatchState) -> str:
    """Return how many graphs are done, have failed, were stopped, or were done earlier."""
    done = f"{state.done:,} of " if state.total is not None else ""
    words = [
        done + quantity(state.done if state.total is None else state.total, "graph"),
        *_tally(state.failed, state.stopped),
    ]
    return "  ".join(words + [f"{state.kept:,} kept"] * (state.kept > 0))


def progress_markup(state: BatchState, width: int, *, ascii_only: bool) -> str:
    """Return a progress bar, if there is room for it, and the tally, in `width` columns."""
    text = tally_text(state)
    share = min(state.done / state.total, 1.0) if state.total else 0.0
    shown = f"{share_text(share):>5}  {text}"
    room = min(width - len(shown) - 3, 40)
    if not state.total or room < 6:
        return text
    left, right = (r"\[", "]") if ascii_only else ("▕", "▏")
    drawn = bar(share, room, ascii_only=ascii_only)
    return f"{left}[$accent]{drawn:<{room}}[/]{right} {shown}"


def now_text(state: BatchState) -> str:
    """Return the current graph, the rate and the time so far; or the error."""
    if state.error is not None:
        return f"! {state.error}"
    if state.phase == "starting":
        return ""
    rate = short_number(state.rate)
    words = [f"{rate} graph{'s' * (rate != '1')}/s", quantity(state.cycles, "cycle"), seconds_text(state.seconds)]
    if state.graph is not None:
        words.append(f"now {state.graph} {share_text(state.share) if state.share else '0%'}")
    return "  ".join(words)


def file_text(lines: BatchLines) -> str:
    """Return a summary of a file that no batch of the dashboard is writing."""
    count = len(lines)
    parts = [f"{quantity(count, 'graph')} in {os.path.basename(lines.path)}"]
    return "  ".join([*parts, *_tally(lines.failed, lines.stopped)])


def _tally(failed: int, stopped: int) -> list[str]:
    return [f"{failed:,} failed"] * (failed > 0) + [f"{stopped:,} stopped by a limit"] * (stopped > 0)
