"""The state of a run as a frozen snapshot, computed from its events."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any, Literal

from chordless.graphs.generators import is_spec
from chordless.graphs.readers.incoming import shown_name
from chordless.protocol.events import (
    GROWING,
    Checkpointed,
    Event,
    Failed,
    Finished,
    Log,
    Paused,
    Progress,
    Reason,
    Report,
    Started,
)
from chordless.runs.course import Course, PathCourse
from chordless.words.numbers import rate_of
from kernels_ti.errors import quantity

RATES_KEPT = 120
LOG_LINES_KEPT = 500
# Two reports in quick succession give no meaningful rate.
_SHORTEST_SECONDS_OF_A_RATE = 0.05

ENDINGS: dict[Reason, str] = {
    "complete": "complete",
    "limit": "ended at the limit",
    "timeout": "ended by the timeout",
    "interrupted": "stopped",
    "closed": "ended: nobody reads the output any more",
}
"""Why a search finished, in words."""

Phase = Literal["starting", "running", "paused", "finished", "failed", "lost"]


def graph_name(graph: str) -> str:
    """Return a short name of a graph: a spec, or the name of a file without its folder."""
    return graph if is_spec(graph) else os.path.basename(graph) or graph


@dataclass(frozen=True)
class LogLine:
    """A line of the event log: what happened, or what the engine printed."""

    time: float  # Wall-clock time, seconds
    text: str


@dataclass(frozen=True)
class RunState(Report):
    """The state of a run: its newest report, and what else its events tell.

    At the end of a count along a boundary `states` is the most that it held. `states_by_step` and `expected_by_step`
    are those of all reports together.
    """

    phase: Phase = "starting"  # ``lost``: the recording ends, and no engine is at work any more
    # `began`, `changed`: wall-clock time of the first and of the newest event, seconds
    began: float = 0.0
    changed: float = 0.0
    # `graph`, `n`, `m`, `max_degree`, `arch`, `device`, `directory`, `options`, `setup_seconds`, `notes`: see
    # `chordless.protocol.events.Started`; empty, 0 or None before the search began, but for the name of the graph
    graph: str = ""
    n: int = 0
    m: int = 0
    max_degree: int = 0
    arch: str = ""
    device: str = ""
    directory: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    setup_seconds: float = 0.0
    notes: tuple[str, ...] = ()
    pid: int = 0  # The process of the newest engine
    # `peak_memory_bytes`, `total_seconds`: see `chordless.protocol.events.Finished`; 0 before the end
    peak_memory_bytes: int = 0
    total_seconds: float = 0.0
    is_counted: bool = False  # Whether the estimate is exact: the cycles were counted before the start
    boundary: dict[str, int] = field(default_factory=dict)
    weight: str | None = None  # Of the best cycle, if the cycles have weights
    participation: dict[str, Any] | None = None  # See `chordless.protocol.events.Finished`; {} and None before the end
    reason: Reason | None = None  # Why it finished; see `chordless.protocol.events.Finished`
    # `path_rates`, `cycle_rates`: paths and cycles a second between reports, the newest last; at most 120
    path_rates: tuple[float, ...] = ()
    cycle_rates: tuple[float, ...] = ()
    checkpoint_cycles: int | None = None  # Cycles up to the last checkpoint
    checkpoint_time: float | None = None  # Wall-clock time of it
    checkpoint_seconds: float = 0.0  # Seconds of search up to it
    error: str | None = None  # The message of a run that failed, or that was stopped at once
    can_resume: bool = False  # Whether it has a directory with a checkpoint, and is neither complete nor at work
    log: tuple[LogLine, ...] = ()  # The newest last; at most 500
    frontier_course: Course = field(default_factory=Course)  # How many paths waited from report to report
    # Whether the reports count starts, from which no path has grown, as paths that wait: those of 0.5.0 did
    counts_starts: bool = False
    # How many paths of each length were looked at from report to report
    path_course: PathCourse = field(default_factory=PathCourse)
    # Base of the next rate: wall-clock time, seconds of search, paths and cycles. None after a start and a pause.
    rate_base: tuple[float, float, int, int] | None = None
    # Seconds and share of the first report of this session with a part done
    share_base: tuple[float, float] | None = None

    @property
    def thing(self) -> str:
        """The word for one of what the run finds: ``cycle``, or ``path``."""
        return thing_of(self.options)

    @property
    def counted(self) -> int:
        """How many cycles `participation` tells of: of a sample, all that it was drawn from."""
        return self.boundary.get("drawn_from", self.cycles)

    @property
    def step(self) -> str:
        """The word for a path T that the search looks at, which is no path that it finds."""
        return "begun path" if self.thing == "path" else "path"

    @property
    def step_title(self) -> str:
        """A short title for the number of these paths."""
        return "begun T" if self.thing == "path" else "paths T"

    def after(self, events: Iterable[tuple[float, Event]]) -> RunState:
        """Return the state after some more events in order, each with the wall-clock time at which it was recorded.

        A `Started` after a `Finished` or a `Failed` is a further session of the same run.
        """
        events = iter(events)
        first = next(events, None)
        if first is None:
            return self
        fold = _Fold(self, first[0])
        for time, event in chain((first,), events):
            fold.take(time, event)
        return fold.state()

    @property
    def is_over(self) -> bool:
        """Whether no engine is at work in it any more."""
        return self.is_lost or self.phase == "finished"

    @property
    def is_lost(self) -> bool:
        """Whether the engine ended before it was done: what it held waits no more."""
        return self.phase in ("failed", "lost")

    def lost(self) -> RunState:
        """Return the state of a run whose recording ends although it was at work, and which no engine continues."""
        if self.phase in ("finished", "failed"):
            return self
        return replace(self, phase="lost", can_resume=self.directory is not None)


_OF_PROGRESS = tuple(item.name for item in fields(Report) if item.name not in GROWING)
_OF_ESTIMATE = frozenset({"cycles_estimate", "cycles_low", "cycles_high"})
_OF_FINISHED = (
    "graph", "n", "m", "max_degree", "arch", "device", "setup_seconds", "paths", "cycles", "frontier",
    "frontier_by_length", "cycles_by_length", "device_bytes", "listed", "share", "reason", "waiting_by_length",
    "total_seconds", "workers", "participation",
)  # fmt: skip
_OF_STARTED = ("graph", "n", "m", "max_degree", "arch", "device", "setup_seconds", "options", "pid")


class _Fold:
    """The changes by several events; the frozen state is made once, after the last of them."""

    def __init__(self, before: RunState, began: float) -> None:
        self._before = before
        self._phase: Phase = before.phase
        self._changed = before.changed
        self._values: dict[str, Any] = {} if before.changed else {"began": began}
        self._directory = before.directory
        self._complete = before.reason == "complete"
        self._progress: Progress | None = None
        self._log = deque(before.log, LOG_LINES_KEPT)
        self._path_rates = deque(before.path_rates, RATES_KEPT)
        self._cycle_rates = deque(before.cycle_rates, RATES_KEPT)
        # None at the start and after a pause.
        self._base, self._compiles = before.rate_base, before.compiling
        self._course, self._path_course = before.frontier_course, before.path_course
        self._seconds = before.seconds
        self._share_base = before.share_base
        self._grown: dict[str, dict[int, int]] = {name: {} for name in GROWING}

    def take(self, time: float, event: Event) -> None:
        self._changed = time
        if isinstance(event, Progress):
            self._progress = event
            if self._phase == "paused":
                self._say(time, "goes on")
            self._phase = "running"
            if self._compiles:
                # Since the report before, kernels were compiled and nothing was searched.
                self._base = None
            self._compiles = event.compiling
            self._rate(time, event.seconds, event.paths, event.cycles)
            self._grow(event.seconds, event.frontier, event.frontier_by_length)
            if event.frontier != sum(event.waiting_by_length.values()):
                self._values["counts_starts"] = True
            if self._share_base is None and event.share:
                self._share_base = (event.seconds, event.share)
            for name, grown in self._grown.items():
                grown.update(getattr(event, name))
        elif isinstance(event, Log):
            self._say(time, event.text)
        elif isinstance(event, Started):
            self._start(time, event)
        elif isinstance(event, Paused):
            self._phase = "paused"
            self._base = None
            self._say(time, "paused")
        elif isinstance(event, Checkpointed):
            self._settle()
            seconds = self._values.get("seconds", self._before.seconds)
            self._values |= {"checkpoint_cycles": event.cycles, "checkpoint_time": time, "checkpoint_seconds": seconds}
            self._say(time, f"checkpoint at {quantity(event.cycles, self._thing)}")
        elif isinstance(event, Finished):
            self._finish(time, event)
        elif isinstance(event, Failed):
            self._phase = "finished" if event.stopped else "failed"
            self._base = None
            self._values["error"] = event.message
            if event.stopped and not self._complete:
                self._values["reason"] = "interrupted"
            self._say(time, event.message if event.stopped else f"failed: {event.message}")

    def state(self) -> RunState:
        self._settle()
        is_over = self._phase in ("finished", "failed")
        return replace(
            self._before,
            **self._values,
            **{name: getattr(self._before, name) | grown for name, grown in self._grown.items() if grown},
            phase=self._phase,
            changed=self._changed,
            directory=self._directory,
            can_resume=is_over and not self._complete and self._directory is not None,
            path_rates=tuple(self._path_rates),
            cycle_rates=tuple(self._cycle_rates),
            frontier_course=self._course,
            path_course=self._path_course,
            rate_base=self._base,
            share_base=self._share_base,
            log=tuple(self._log),
        )

    def _start(self, time: float, event: Started) -> None:
        again = event.options.get("resume") or self._before.arch or "arch" in self._values
        self._phase = "running"
        self._complete = False
        self._base = self._share_base = None
        self._directory = event.directory
        graph = shown_name(event.graph)
        self._values |= {name: getattr(event, name) for name in _OF_STARTED} | {"graph": graph}
        self._values |= {"notes": tuple(event.notes), "reason": None, "error": None}
        self._say(
            time,
            f"{'resumed' if again else 'search began'}: {graph_name(graph)} on {event.arch} ({event.device})",
        )

    def _finish(self, time: float, event: Finished) -> None:
        self._settle()
        self._phase = "finished"
        self._complete = event.complete
        self._rate(time, event.enumerate_seconds, event.paths, event.cycles)
        self._grow(event.enumerate_seconds, event.frontier, event.frontier_by_length)
        self._base = None
        self._directory = event.checkpoint if self._directory is None else self._directory
        self._values |= {name: getattr(event, name) for name in _OF_FINISHED} | {"graph": shown_name(event.graph)}
        self._values["seconds"] = event.enumerate_seconds
        self._values["peak_memory_bytes"] = event.peak_memory_bytes
        if event.boundary is not None:
            self._values |= {name: event.boundary[name] for name in ("states", "width")}
            self._values |= {"boundary": event.boundary, "seeking_order": False}
        self._values["weight"] = None if event.best is None else event.best["weight"]
        found = quantity(event.cycles, self._thing) if event.cycles else f"found no {self._thing}s"
        self._say(time, f"{ENDINGS[event.reason]}: {found}")

    def _grow(self, seconds: float, frontier: int, totals: dict[int, int]) -> None:
        """Add a report to the courses, unless the search stood still, as while kernels compile.

        The first report of a session that goes on from a checkpoint before the last report tells what was looked at
        until then.
        """
        if seconds < self._seconds:
            self._path_course = replace(self._path_course, totals=totals)
        elif seconds > self._seconds or totals != self._path_course.totals:
            self._course = self._course.after(seconds, frontier)
            self._path_course = self._path_course.after(totals)
        self._seconds = seconds

    @property
    def _thing(self) -> str:
        return thing_of(self._values.get("options", self._before.options))

    def _settle(self) -> None:
        """Apply the newest report; all earlier ones are out of date."""
        if self._progress is not None:
            told = {name: getattr(self._progress, name) for name in _OF_PROGRESS}
            if self._progress.cycles_estimate is None or self._before.is_counted:
                # An earlier estimate, such as that before the start, stands until there is a newer one.
                told = {name: value for name, value in told.items() if name not in _OF_ESTIMATE}
            self._values |= told
            self._progress = None

    def _rate(self, time: float, searched: float, paths: int, cycles: int) -> None:
        if self._base is None:
            self._base = (time, searched, paths, cycles)
            return
        since, searched_before, paths_before, cycles_before = self._base
        # Reports that waited in the pipe are read together, so their times on the clock lie too close together. Their
        # seconds of search do not, but these leave out the time that a listing spends on writing.
        seconds = max(time - since, searched - searched_before)
        if seconds >= _SHORTEST_SECONDS_OF_A_RATE:
            self._path_rates.append(rate_of(paths - paths_before, seconds))
            self._cycle_rates.append(rate_of(cycles - cycles_before, seconds))
            self._base = (time, searched, paths, cycles)

    def _say(self, time: float, text: str) -> None:
        self._log.append(LogLine(time, text))


def thing_of(asked: Mapping[str, Any]) -> str:
    """Return ``path`` if a run asks for paths, otherwise ``cycle``; `asked` has fields of `RunCommand`."""
    return "path" if asked.get("between") or asked.get("all_pairs") else "cycle"
