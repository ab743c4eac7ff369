"""The stage of a call, and how long it may go on: its progress for the caller, and its clock.

The clock runs only while something is sought: starts and compilations do not count against a time-out.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from numbers import Real
from typing import Any, Literal

from kernels_ti.errors import OptionError

Stage = Literal["reading", "seeking an order", "compiling", "searching"]

SECONDS_BETWEEN_REPORTS = 0.1

_SECONDS_WITHOUT_A_BAR = 0.5


@dataclass(frozen=True)
class Progress:
    """The stage that a call is in, and its results so far.

    Attributes
    ----------
    stage : {"reading", "seeking an order", "compiling", "searching"}
        ``compiling`` stands for the start of the device as well.
    share : float
        Expected share of the search that is done, 0 to 1.
    cycles : int
        Found or counted so far; 0 where a call finds them only at its end.
    rate : float
        Cycles in a second of searching.
    seconds : float
        Since the call began.
    """

    stage: Stage
    share: float = 0.0
    cycles: int = 0
    rate: float = 0.0
    seconds: float = 0.0


ProgressOption = bool | Callable[[Progress], object]
"""The value of `progress` in a call: a callable takes each `Progress`, True shows a bar where somebody looks."""


class Watch:
    """Watches over one call from its beginning: tells its progress, and says when its time is up.

    `timeout` is in seconds of searching, infinite without one. An OptionError is raised if it is no positive number, or
    if `progress` is neither a bool nor a callable.
    """

    def __init__(self, timeout: float | None = None, progress: ProgressOption = False) -> None:
        seconds: Any = timeout
        is_number = isinstance(seconds, Real) and not isinstance(seconds, bool)
        if seconds is not None and not (is_number and seconds > 0):
            raise OptionError(f"timeout must be a number of seconds above 0, not {seconds!r}")
        if not isinstance(progress, bool) and not callable(progress):
            raise OptionError(f"progress must be True, False or a function of one argument, not {progress!r}")
        self.timeout = math.inf if seconds is None else float_or_infinite(seconds)
        self._bar = _Bar() if progress is True and _somebody_looks() else None
        self._tell: Callable[[Progress], object] | None = progress if callable(progress) else self._bar
        self._began = time.perf_counter()
        self._spent = 0.0
        self._searching_since: float | None = None
        self._last = Progress("reading")
        self._told = -math.inf
        self._part = (0.0, 1.0)
        self.tell("reading")

    @property
    def seconds(self) -> float:
        """Seconds spent searching."""
        now = time.perf_counter()
        return self._spent + (0.0 if self._searching_since is None else now - self._searching_since)

    @property
    def share(self) -> float:
        """The share that was told last."""
        return self._last.share

    def too_late(self) -> bool:
        """Whether the time is up."""
        return self.seconds >= self.timeout

    def look(self) -> bool:
        """Tell the caller again what was told last, where that is due; return whether the time is up."""
        self._say(self._last.stage, self._last.share, self._last.cycles)
        return self.too_late()

    @contextmanager
    def part(self, begin: float, end: float) -> Iterator[None]:
        """Take the shares told inside the block for those of a part of the work, which lies between two shares of it.

        Parts do not lie in one another.
        """
        self._part = (begin, end)
        try:
            yield
        finally:
            self._part = (0.0, 1.0)

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Let the clock run inside the block."""
        self._searching_since = time.perf_counter()
        try:
            yield
        finally:
            self._spent, self._searching_since = self.seconds, None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock inside the block, where it runs."""
        was_running = self._searching_since is not None
        self._spent, self._searching_since = self.seconds, None
        try:
            yield
        finally:
            self._searching_since = time.perf_counter() if was_running else None

    def report(self, share: float, states: int, width: int) -> None:
        """Tell what the boundary method reports: the share, the states held now, and the vertices of the boundary."""
        self.tell("searching" if states else "seeking an order", share)

    def tell(self, stage: Stage, share: float = 0.0, cycles: int = 0, *, is_last: bool = False) -> None:
        """Tell the caller about ten times a second what is done; a new stage is told at once."""
        begin, end = self._part
        self._say(stage, begin + (end - begin) * share, cycles, is_last=is_last)

    def _say(self, stage: Stage, share: float, cycles: int, *, is_last: bool = False) -> None:
        now, searched = time.perf_counter(), self.seconds
        is_due = is_last or stage != self._last.stage or now - self._told >= SECONDS_BETWEEN_REPORTS
        rate = cycles / searched if searched > 0 else 0.0
        self._last = Progress(stage, share, cycles, rate, now - self._began)
        if self._tell is not None and (is_due or self._told < 0):
            self._tell(self._last)
            # From its end on: a function that takes longer than the interval would be due at every look.
            self._told = time.perf_counter()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()


def float_or_infinite(seconds: Real) -> float:
    """Return a number as a float; infinite where it is above all of them, so that it is no limit to a clock."""
    try:
        return float(seconds)
    except OverflowError:
        return math.inf


def _somebody_looks() -> bool:
    """Whether standard error is a terminal that can redraw a line, or this is a notebook."""
    if sys.stderr is None:  # The program was started with it closed, or has no console
        return False
    drawn = None if "rich.style" in sys.modules else random.getstate()
    from rich.console import Console

    if drawn is not None:
        # Rich draws a number when it is loaded: those of the program would differ from then on.
        random.setstate(drawn)
    console = Console(stderr=True)
    return console.is_jupyter or (sys.stderr.isatty() and not console.is_dumb_terminal)


class _Bar:
    """A line with the progress of a call; it goes away when the call returns."""

    def __init__(self) -> None:
        from rich import progress
        from rich.console import Console

        console = Console(stderr=True)
        is_notebook = console.is_jupyter
        # Rich draws into a widget, which not every notebook has; text comes with any.
        is_text = is_notebook and find_spec("ipywidgets") is None
        if is_text:
            console = Console(stderr=True, force_jupyter=False, force_terminal=True, color_system=None)
        self._line = progress.Progress(
            progress.TextColumn("{task.description}"),
            # Each line of text has to cover the whole of the last one, as a notebook erases nothing.
            progress.BarColumn(bar_width=None if is_text else 40),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.fields[found]}"),
            progress.TimeElapsedColumn(),
            console=None if is_notebook and not is_text else console,
            expand=is_text,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task: Any = self._line.add_task("", total=1.0, found="")
        self._is_shown = False

    def __call__(self, now: Progress) -> None:
        """Draw the line, once the call has taken a moment or begins to compile."""
        found = f"{now.cycles:,} found, {now.rate:,.0f}/s" if now.cycles else ""
        self._line.update(self._task, description=now.stage, completed=now.share, found=found)
        # A bar without a total moves to and fro.
        self._line.tasks[0].total = 1.0 if now.stage == "searching" and now.share else None
        if not self._is_shown and (now.stage == "compiling" or now.seconds >= _SECONDS_WITHOUT_A_BAR):
            self._is_shown = True
            self._line.start()
        if self._is_shown:
            self._line.refresh()

    def close(self) -> None:
        if self._is_shown:
            self._line.stop()
