"""The text output of a command: the tables of a result and the progress lines."""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TextIO, TypeVar

from chordless.graphs.readers.incoming import shown_name
from chordless.protocol.events import BatchProgress, Event, Finished, Log, Progress
from chordless.protocol.orders import Pick, RunCommand
from chordless.protocol.results import SYMMETRY, hole_count, triangle_count
from chordless.words import numbers
from chordless.words.shown import bar, label_of, on_terminal, silence
from kernels_ti.errors import quantity, vertices_text

_BOLD, _DIM, _YELLOW, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[0m"
_CLEAR_LINE = "\r\x1b[K"
_QUIET_SECONDS = 1.0
_REDRAW_SECONDS = 0.1
_PLAIN_SECONDS = 2.0
_UNATTENDED_SECONDS = 10.0
_BARS_IN_ONE_COLUMN, _MOST_BARS = 16, 60
_SHORTEST_HOLE = 4
_BAR_OF_BATCH = 16
_Count = TypeVar("_Count", int, float)

NO_PROOF = "no proof: it is of all cycles, and these are not all"
MOST_ROWS = 20
"""Vertices, or edges, that the table has."""
_PLURALS = {"vertex": "vertices", "edge": "edges"}


def is_live(stream: TextIO) -> bool:
    """Return whether `stream` is a terminal on which a line can be redrawn."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def ending(finished: Finished) -> str:
    """Return in words why a search ended before it was complete."""
    how = f"stopped by --{finished.reason}" if finished.reason in ("limit", "timeout") else finished.reason
    return f"{how} after {numbers.seconds_text(finished.total_seconds - finished.setup_seconds)}"


def title_of(graph: str, command: RunCommand) -> str:
    """Return the title of a graph, and which of its cycles, or paths, are asked for."""
    part = "" if command.part is None else f", part {command.part[0]} of {command.part[1]}"
    lengths = numbers.lengths_text(command.min_length, command.max_length, command.parity, of_paths=command.is_of_paths)
    return shown_name(graph) + part + _restriction(command) + (f", {lengths}" if lengths else "")


def _restriction(command: RunCommand) -> str:
    passed = ", ".join([*command.through, *(f"the edge {edge}" for edge in command.through_edges)])
    return "".join(
        f", {word} {what}"
        for word, what in (
            ("through", passed),
            ("not through", ", ".join(command.avoid)),
            ("without the edge", ", ".join(command.avoid_edges)),
        )
        if what
    )


def result_table(command: RunCommand, finished: Finished, stream: TextIO) -> Iterator[str]:
    """Yield the lines of a count for people, fit for 80 columns, with the colours and bars that a stream can show.

    Triangles, or longer cycles, that the bounds exclude have no line.
    """
    colour = is_live(stream) and not os.environ.get("NO_COLOR")
    by_length = finished.cycles_by_length
    triangles = (
        triangle_count(command.min_length, command.parity, by_length) if (command.max_length or 3) >= 3 else None
    )
    rows = [("vertices", finished.n), ("edges", finished.m), ("largest degree", finished.max_degree)]
    if triangles is not None:
        rows.append(("triangles", triangles))
        if command.max_length is None or command.max_length >= _SHORTEST_HOLE:
            rows.append(("chordless cycles", hole_count(finished.cycles, by_length)))
    rows.append(("total", finished.cycles))
    width = max(len(f"{value:,}") for _, value in rows)
    yield _styled(on_terminal(title_of(finished.graph, command), stream), _BOLD, colour)
    for label, value in rows:
        note = "  (4 or more vertices)" if label == "chordless cycles" else ""
        number = _styled(f"{value:>{width},}", _BOLD, colour and label == "total")
        yield f"  {label:<16}  {number}{_styled(note, _DIM, colour)}"
    if not finished.complete:
        yield _styled(f"  not complete: {ending(finished)}; the counts are lower bounds", _YELLOW, colour)
    if finished.directed_by_length is not None:
        yield _styled("  rounded down at each length; `chordless merge` adds up the parts exactly", _YELLOW, colour)
    if by_length and sum(by_length.values()) == finished.cycles:
        yield ""
        yield from histogram(by_length, stream, colour=colour)
        yield ""
    how = "search"
    if finished.boundary is not None:
        width = finished.boundary["width"]
        # A block that is nothing but a cycle has no boundary to go along.
        how = f"along a boundary of {vertices_text(width)}" if width else "without a boundary"
    if finished.symmetry is not None:
        automorphisms, begun = (finished.symmetry[name] for name in SYMMETRY)
        how = f"search up to {automorphisms:,} automorphisms, from {quantity(begun, 'path')}"
        if automorphisms == 1:
            how = "search of all cycles, as there are too few automorphisms"
    search, in_all = map(numbers.seconds_text, (finished.enumerate_seconds, finished.total_seconds))
    yield _styled(f"  {search} {how}, {in_all} in all, on {finished.arch}: {finished.device}", _DIM, colour)
    if finished.proof is not None:
        yield f"  proof  {finished.proof}"
    elif command.proof:
        yield _styled(f"  {NO_PROOF}", _YELLOW, colour)


def _styled(text: str, style: str, colour: bool) -> str:
    return f"{style}{text}{_RESET}" if colour and text else text


def histogram(
    by_length: Mapping[int, _Count],
    stream: TextIO,
    text: Callable[[_Count], str] = "{:,}".format,
    *,
    things: str = "cycles",
    rows: int = _MOST_BARS,
    in_one_column: int = _BARS_IN_ONE_COLUMN,
    colour: bool = False,
) -> Iterator[str]:
    """Yield a bar for each length, or for a few lengths together if `rows` of them cannot hold all."""
    groups = _grouped(by_length, rows)
    counts = [text(count) for _, count in groups]
    label_width = max(len("length"), *(len(label) for label, _ in groups))
    count_width = max(len(things), *map(len, counts))
    # Two spaces before and between the three parts; at most 100 columns in all.
    room = min(shutil.get_terminal_size().columns, 100) if stream.isatty() else 80
    beside = label_width + count_width + 7
    columns = 1 if len(groups) <= in_one_column or room // 2 <= beside else 2
    width = max(min(room // columns - beside, 40), 0)
    largest = max(count for _, count in groups)
    shares = [count / largest if 0 < largest < math.inf else 0.0 for _, count in groups]
    heading = f"  {'length':>{label_width}}  {things:>{count_width}}"
    yield _styled((heading + " " * (width + 2)) * (columns - 1) + heading, _DIM, colour)
    cells = [
        f"  {label:>{label_width}}  {shown:>{count_width}}  {bar(share, width, ascii_only=_is_plain(stream)):<{width}}"
        for (label, _), shown, share in zip(groups, counts, shares, strict=True)
    ]
    height = -(-len(cells) // columns)
    for row in range(height):
        yield "".join(cells[row::height]).rstrip()
    if len(groups) < len(by_length):
        yield _styled("  a row adds up several lengths; --json has each length", _DIM, colour)


def _grouped(by_length: Mapping[int, _Count], rows: int) -> list[tuple[str, _Count]]:
    """Return labelled counts, adding up several lengths to a row if so many rows cannot hold all."""
    lengths = sorted(by_length)
    if len(lengths) <= rows:
        return [(str(length), by_length[length]) for length in lengths]
    span = -(-(lengths[-1] - lengths[0] + 1) // rows)
    groups: dict[int, _Count] = {}
    for length in lengths:
        first = length - (length - lengths[0]) % span
        groups[first] = groups[first] + by_length[length] if first in groups else by_length[length]
    return [(f"{first}-{first + span - 1}", count) for first, count in groups.items()]


def bar_text(share: float, width: int, stream: TextIO) -> str:
    """Return a bar of `width` columns, filled to `share` (0 to 1), in characters that `stream` can encode."""
    left, right = ("[", "]") if _is_plain(stream) else ("▕", "▏")
    return f"{left}{bar(share, width, ascii_only=_is_plain(stream)):<{width}}{right}"


def _is_plain(stream: TextIO) -> bool:
    try:
        "█▏▕".encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return True
    return False


def participation_table(entries: list[dict[str, Any]], what: str, total: int, stream: TextIO) -> Iterator[str]:
    """Yield a table for people: the vertices or edges in the most cycles, and how many lie in none."""
    found = [entry for entry in entries if entry["cycles"]]
    if not found:
        yield f"  no {what} lies in any of these cycles"
        return
    shown = sorted(found, key=lambda entry: -entry["cycles"])[:MOST_ROWS]
    rows = [
        (
            on_terminal(label_of(entry["name"]), stream),
            f"{entry['cycles']:,}",
            f"{100 * entry['cycles'] / max(total, 1):.1f}%",
        )
        for entry in shown
    ]
    widths = [max(map(len, column)) for column in zip((what, "cycles", "share"), *rows, strict=True)]
    for name, cycles, share in [(what, "cycles", "share"), *rows]:
        yield f"  {name:<{widths[0]}}  {cycles:>{widths[1]}}  {share:>{widths[2]}}"
    if len(found) > len(shown):
        yield f"  and {len(found) - len(shown):,} more; --json has all of them"
    if len(entries) > len(found):
        yield f"  {len(entries) - len(found):,} of {len(entries):,} {_PLURALS[what]} lie in none of these cycles"


class ProgressLine:
    """A line of progress on standard error. Nothing is shown of a command that ends within a second.

    A subclass returns the parts of the line in `_parts`. The mode is ``auto``, ``plain`` or ``none``; `live` says
    whether ``auto`` may redraw one line. Otherwise it writes a new line every ten seconds.
    """

    def __init__(self, mode: str, stream: TextIO, *, live: bool) -> None:
        self._stream = stream
        self._live = mode == "auto" and live
        self._silent = mode == "none"
        self._interval = _REDRAW_SECONDS if self._live else _PLAIN_SECONDS if mode == "plain" else _UNATTENDED_SECONDS
        self._start = time.monotonic()
        self._next = self._start + max(self._interval, _QUIET_SECONDS)
        self._drawn = False

    def update(self) -> None:
        """Show the state if an update is due."""
        if not self._silent and time.monotonic() >= self._next:
            self.draw()

    def draw(self) -> None:
        """Show the state now."""
        self._next = time.monotonic() + self._interval
        parts = [on_terminal(part, self._stream) for part in self._parts()]
        if self._live:
            room = shutil.get_terminal_size().columns - 1
            while len(parts) > 1 and len("  ".join(parts)) > room:
                parts.pop()
            text = f"{_CLEAR_LINE}{'  '.join(parts)[:room]}"
        else:
            text = "  ".join(parts)
        self._write(text if self._live else f"{text}\n")
        self._drawn = True

    def clear(self) -> None:
        """Erase the live line."""
        if self._live and self._drawn:
            self._write(_CLEAR_LINE)
            self._drawn = False

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            # The terminal is gone, or its disk is full. That is no reason to end the run.
            silence(self._stream)

    def _parts(self) -> list[str]:
        """Return the parts of the line, the most important first; those that do not fit are left out."""
        raise NotImplementedError


class ProgressDisplay(ProgressLine):
    """Shows the progress of a search; see `ProgressLine`. The speed of one that is resumed is that of this session."""

    def __init__(
        self,
        mode: str,
        stream: TextIO,
        *,
        live: bool,
        things: str = "cycles",
        pick: Pick = "all",
        is_resumed: bool = False,
    ) -> None:
        super().__init__(mode, stream, live=live)
        self._things, self._pick, self._is_resumed = things, pick, is_resumed
        self._seconds_before, self._cycles_before = 0.0, 0
        self._last: Progress | None = None
        self.stopping = False

    def show(self, progress: Progress | None) -> None:
        """Show the state if an update is due; None stands for no news since the last call."""
        if self._last is None and progress is not None:
            self._start = time.monotonic() - progress.seconds
            if self._is_resumed:
                self._seconds_before, self._cycles_before = progress.seconds, progress.cycles
        self._last = progress or self._last
        self.update()

    def show_warning(self, event: Event | None) -> None:
        """Write a warning of the engine as a line of its own; pass over any other event."""
        if isinstance(event, Log) and event.is_warning:
            self.clear()
            self._write(f"{event.text}\n")

    def _parts(self) -> list[str]:
        elapsed = time.monotonic() - self._start
        stopping = ["stopping (Ctrl-C again: at once)"] if self.stopping else []
        if self._last is None:
            return [*stopping, f"{elapsed:.0f} s  reading the graph, preparing the search"]
        state = self._last
        if state.compiling:
            return [*stopping, f"{elapsed:.0f} s  compiling, once for this kind of graph"]
        if state.seeking_order:
            return [*stopping, numbers.seconds_text(elapsed), numbers.seeking_text(state.width)]
        if state.states is not None and state.width and not state.cycles:
            if numbers.is_way_back(self._pick, state.share):
                return [*stopping, numbers.seconds_text(elapsed), numbers.WAY_BACK]
            held = "1 state" if state.states == 1 else f"{numbers.short_number(state.states)} states"
            boundary = f"boundary of {vertices_text(state.width)}"
            return [*stopping, numbers.seconds_text(elapsed), numbers.share_text(state.share), held, boundary]
        # Divide by the time on the clock, not by that of the search: a listing spends most of its time on writing.
        seconds, lately = elapsed - self._seconds_before, state.cycles - self._cycles_before
        rate = f"{numbers.short_number(numbers.rate_of(lately, seconds))}/s" if lately else ""
        found = f"{state.cycles:,} {{}}{rate and f' ({rate})'}"
        # A search for a best cycle or a sample tells nothing of its paths.
        waiting = [f"waiting: {numbers.short_number(state.frontier)} paths"] if state.paths else []
        if state.states is not None:
            waiting = [f"{numbers.short_number(state.states)} states held"]
        passes = [text] if (text := numbers.pass_text(state.pass_number, state.passes)) else []
        known = numbers.CycleRange.told(state.cycles_estimate, state.cycles_low, state.cycles_high, state.cycles)
        if known is None or known.is_vague or not state.cycles:
            # There is no estimate yet, or it is refuted, or it says next to nothing.
            parts = [numbers.share_text(state.share), *passes, found.format(self._things), *waiting]
        else:
            spread = f" {known.spread}" if known.spread else ""
            about, found = f"of {known.number}", f"{state.cycles:,} {self._things}"
            if not self._live:
                about, found = f"{about} {self._things}{spread}", f"{state.cycles:,} found"
            left = []
            if lately:
                ends = (seconds * (end - state.cycles) / lately for end in (known.low, known.high))
                left = [numbers.time_left_text(*ends), rate]
            parts = [f"{numbers.share_text(state.share)} {about}", found, *left, *waiting]
        return [*stopping, numbers.seconds_text(elapsed), *parts]


class BatchDisplay(ProgressDisplay):
    """Shows the progress of a batch; see `ProgressDisplay`."""

    def __init__(self, mode: str, stream: TextIO, *, live: bool) -> None:
        super().__init__(mode, stream, live=live)
        self._batch: BatchProgress | None = None

    def show_batch(self, progress: BatchProgress | None) -> None:
        """Show the state if an update is due; None stands for no news since the last call."""
        self._batch = progress or self._batch
        self.show(None)

    def _parts(self) -> list[str]:
        stopping = ["stopping after these graphs (Ctrl-C again: at once)"] if self.stopping else []
        state = self._batch
        if state is None:
            return [*stopping, "reading the graphs, preparing the search"]
        rate = f"({numbers.short_number((state.done - state.kept) / max(state.seconds, 0.1))}/s)"
        if state.total is None:
            parts = [f"{quantity(state.done, 'graph')} {rate}"]
        else:
            share = min(state.done / max(state.total, 1), 1.0)
            drawn = [bar_text(share, _BAR_OF_BATCH, self._stream)] if self._live else []
            parts = [*drawn, numbers.share_text(share), f"{state.done:,} of {quantity(state.total, 'graph')} {rate}"]
        parts += [f"{state.failed:,} failed"] * (state.failed > 0)
        if state.graph is not None:
            parts.append(f"{state.graph} {numbers.share_text(state.share)}")
        parts.append("1 cycle" if state.cycles == 1 else f"{numbers.short_number(state.cycles)} cycles")
        return [*stopping, numbers.seconds_text(state.seconds), *parts]


class ExportLine(ProgressLine):
    """Shows how many cycles, or paths, are exported."""

    def show(self, done: int, total: int, thing: str) -> None:
        """Show the state if an update is due; `thing` is the word for what is exported: ``cycle`` or ``path``."""
        self._state = done, total, thing
        self.update()

    def _parts(self) -> list[str]:
        done, total, thing = self._state
        elapsed = numbers.seconds_text(time.monotonic() - self._start)
        return [elapsed, f"{done:,} of {quantity(total, thing)}", f"{100 * done / max(total, 1):.0f} %"]
