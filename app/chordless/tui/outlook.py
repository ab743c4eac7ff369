"""The outlook on a run of a graph before it begins: how many cycles, how long it takes, and which method is best.

This module does not use Textual.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from chordless.graphs.paths import path_graph_of
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory
from chordless.tui.cycle_words import list_bytes
from chordless.words.numbers import CycleRange, bytes_text, does_not_fit_text, duration_text
from kernels_ti import EngineError, Graph, OptionError, Options
from kernels_ti.blocks.restriction import vertices_called
from kernels_ti.choices import LONGEST_COUNT, TIMES_FASTER
from kernels_ti.errors import quantity

if TYPE_CHECKING:
    from chordless.engine.rates import Expected
    from kernels_ti import CountEstimate
    from kernels_ti.blocks.search_space import SearchSpace
    from kernels_ti.estimate.estimate import Estimator

# After the first time an estimate is shown. One that is vague is made again with the second time.
_SECONDS, _SECONDS_IF_VAGUE = 0.7, 6.0
_SECONDS_TO_JUDGE = 0.3  # Of a core: where other programs have it, as many seconds on the clock tell less
_PROBE_SECONDS, _LONGEST_PROBE, _SECONDS_FOR_ORDERS = 0.05, 2.0, 0.3
# Larger graphs take longer to prepare than there is time.
_MOST_VERTICES, _MOST_SEED_WORDS = 20_000, 1_000_000
_BRIEF_SEARCH = 10.0  # Seconds of a search that is watched without a word about another method
# A search that is expected to take longer gives way to a count along a boundary that is much sooner.
_LONG_SEARCH = 300.0
_LONG_COUNT = 10.0
_LARGEST_LIST = 1 << 60  # Bytes; a larger number says no more
_ADVICE = " (Find: along a boundary)"
_OTHERWISE = " Stop after some, or bound the length."
_UNKNOWN = CycleRange(0, 0, math.inf)


@dataclass(frozen=True)
class Outlook:
    """An estimate of a search."""

    cycles: CycleRange
    seconds: float  # Time of a search on all threads, at the usual rate
    along: Expected | None  # A count by length along a boundary; None if the graph is too wide for it
    threads: int
    is_settled: bool = True  # Whether the count would find no better order of the vertices, by which it is faster
    is_last: bool = True  # Whether no better estimate follows
    thing: str = "cycle"  # Or ``path``

    def lines(
        self, *, breadth_first: bool = False, along_boundary: bool = False, picks: bool = False
    ) -> tuple[str, ...]:
        """Return the estimate in words: how many, how long, which method; what is chosen already is not advised.

        A run that `picks` some cycles takes another time than a search, and has its own methods.
        """
        is_vague = not self.is_last and self.cycles.is_vague
        if picks:
            return ("estimating ..." if is_vague else self._how_many(),)
        method = self._which_method()
        method = method.replace(_ADVICE, "") if along_boundary else method
        if is_vague:
            return ("estimating ...", method)
        if breadth_first:
            return (self._how_many(), "Breadth first, a search takes far longer than with two ends.")
        how_long = f"About {duration_text(self.seconds)} of search on {quantity(self.threads, 'thread')}."
        if self.cycles.is_vague:
            how_long = "How long a search takes cannot be said."
        return (self._how_many(), how_long, method)

    def times_if_long(self, left: float | None) -> str:
        """Return both times where a search at work takes very long, "" otherwise; `left` is None if nobody can say."""
        cycles = _UNKNOWN if left is None else CycleRange(0, 0, 0, exact=True)
        at_work = replace(self, cycles=cycles, seconds=math.inf if left is None else left)
        return at_work.both_times("count") if at_work._is_long else ""

    def both_times(self, find: str) -> str:
        """Return the times of a search and of a count along a boundary, where the chosen way, `find`, is not the best.

        The chosen way stands first. Return "" if no count along a boundary is advised, or the search takes about as
        long.
        """
        along, is_known = self.along, not self.cycles.is_vague
        search = f"about {duration_text(self.seconds)}" if is_known else "how long cannot be said"
        if self._boundary_is_sooner:
            assert along is not None
            boundary = self._time_along(along)
            if find == "boundary":
                return f"Along a boundary: {boundary}. A search: {search}."
            return f"A search: {search}. Along a boundary: {boundary}."
        if find == "boundary" and along is not None and not along.fits:
            return f"Along a boundary: at least {bytes_text(int(along.bytes))}, more than there is. A search: {search}."
        if find == "boundary" and is_known and self.seconds < _BRIEF_SEARCH:
            return f"A search of all {self.thing}s takes {search}."
        return ""

    @property
    def begins_along_boundary(self) -> bool:
        """Whether a count shall begin along a boundary unless the user says otherwise: a search takes very long."""
        along = self.along
        return self._is_long and self._boundary_is_sooner and along is not None and along.seconds <= LONGEST_COUNT

    @property
    def _is_long(self) -> bool:
        return self.cycles.is_vague or self.seconds > _LONG_SEARCH

    @property
    def _boundary_is_sooner(self) -> bool:
        """Whether a count along a boundary is done much sooner than a search."""
        along = self.along
        if along is None or not along.fits:
            return False
        if self.cycles.is_vague:
            # In some seconds more may be known.
            return self.is_last and along.seconds <= LONGEST_COUNT
        return self.seconds >= max(_BRIEF_SEARCH, TIMES_FASTER * along.seconds)

    def _how_many(self) -> str:
        number = self.cycles.text
        what = f"chordless {self.thing}{'' if number == '1' else 's'}"
        if self.cycles.exact and number[0].isdigit():
            return f"{number} {what}, exactly."
        if self.cycles.is_vague and not self.cycles.low:
            return f"More {what} than can be estimated in some seconds."
        return f"{self.cycles.number.capitalize()} {what}{self.cycles.spread and ' '}{self.cycles.spread}."

    def _which_method(self) -> str:
        along, is_known = self.along, not self.cycles.is_vague
        if is_known and self.seconds < _BRIEF_SEARCH:
            return "Method: search."
        if along is None or (is_known and along.seconds > self.seconds):
            return "Method: search." + ("" if is_known and self.seconds <= LONGEST_COUNT else _OTHERWISE)
        if not along.fits:
            return f"A count along a boundary {does_not_fit_text(along.bytes)}.{_OTHERWISE}"
        advice = f"{_ADVICE}." if along.seconds <= LONGEST_COUNT else f".{_OTHERWISE}"
        return f"A count along a boundary takes {self._time_along(along)}{advice}"

    def _time_along(self, along: Expected) -> str:
        """Return the time of a count along a boundary: a better order makes one of minutes far shorter."""
        time = duration_text(along.seconds)
        if self.is_settled:
            return f"about {time}"
        return f"about {time}{', often far less' if along.seconds >= _LONG_COUNT else ' or less'}"


def disk_words(cycles: CycleRange, vertices: int, limit: int | None, folder: Path) -> tuple[str, bool]:
    """Return the room that a list of so many cycles takes on the disk of a folder, and whether less is free.

    `limit` is the most cycles that are listed. The folder may have to be made first.
    """
    number = cycles.low if cycles.is_vague else cycles.middle
    is_exact = cycles.exact or (limit is not None and limit <= cycles.low)
    size = list_bytes(min(number, _LARGEST_LIST if limit is None else limit), vertices)
    free = shutil.disk_usage(next(place for place in (folder, *folder.parents) if os.path.exists(place))).free
    about = "" if is_exact else "at least " if cycles.is_vague else "about "
    if size > _LARGEST_LIST:
        size, about = _LARGEST_LIST, "more than "
    takes = f"It takes {about}{bytes_text(size)} on the disk;"
    if size > free:
        return f"! {takes} only {bytes_text(free)} are free.", True
    return f"{takes} {bytes_text(free)} are free.", False


def outlooks_of(graph: Graph, options: Options, given_up: Callable[[], bool]) -> Iterator[Outlook]:
    """Estimate a search in about a second; if that is vague, estimate it once more in some seconds.

    `given_up` is called between probes. Nothing is yielded once it returns True, or if the graph is too large for a
    quick estimate.
    """
    from kernels_ti.blocks.search_space import SearchSpace
    from kernels_ti.estimate.estimate import Estimator
    from kernels_ti.estimate.usual_rate import usual_rate

    if not can_be_planned(graph.n, graph.m):
        return
    space = SearchSpace(graph, options)
    if space.batches().seed_words > _MOST_SEED_WORDS:
        return
    try:
        estimator = Estimator(space)
    except EngineError:
        return
    threads = os.cpu_count() or 1
    along: Expected | None = None
    is_settled, is_planned = True, False
    for seconds, is_last in ((_SECONDS, False), (_SECONDS_IF_VAGUE, True)):
        began = time.thread_time()
        _probe(estimator, seconds, given_up, until_clear=is_last)
        if given_up():
            return
        estimate = estimator.estimate()
        cycles = _range_of(estimate)
        if not cycles.exact and not _can_judge(began):
            cycles = replace(cycles, high=math.inf)
        search = (estimate.paths.estimate + estimate.total.estimate) / usual_rate(estimator.words, threads)
        is_long = search >= _BRIEF_SEARCH or cycles.is_vague
        if is_long and not is_planned and options.max_length is None:
            along, is_settled = _boundary_plan(space, given_up)
            is_planned = True
        is_last = is_last or not cycles.is_vague
        yield Outlook(cycles, search, along, threads, is_settled, is_last)
        if is_last:
            return


def search_of(command: RunCommand, graph: Graph) -> tuple[Graph, Options]:
    """Return the graph in which a run searches for cycles, and the bounds on these and on the memory."""
    paths = path_graph_of(command, graph)
    if paths is None:
        return graph, Options(
            min_length=command.min_length, max_length=command.max_length, parity=command.parity, memory=command.memory
        )
    options = {**paths.options, "through": vertices_called(paths.graph, paths.options["through"])}
    return paths.graph, Options(**options, memory=command.memory)


def can_be_planned(n: int, m: int) -> bool:
    """Return whether a graph of n vertices and m edges is small enough for a quick plan."""
    return n <= _MOST_VERTICES and m <= _MOST_SEED_WORDS


def outlook_along(run: RunDirectory, command: RunCommand, given_up: Callable[[], bool]) -> Outlook:
    """Return the outlook on a run at work: the cost of a count along a boundary. Of its search nothing is known."""
    from kernels_ti.blocks.search_space import SearchSpace

    graph, options = search_of(command, run.graph().graph)
    along, is_settled = _boundary_plan(SearchSpace(graph, options), given_up)
    return Outlook(_UNKNOWN, math.inf, along, os.cpu_count() or 1, is_settled)


def _range_of(estimate: CountEstimate) -> CycleRange:
    total = estimate.total
    return CycleRange(total.estimate, total.low, total.high, estimate.exact)


def _can_judge(began: float) -> bool:
    """Return whether enough was probed in this thread: the first passes are small, their range may be narrow and wrong.

    It began at `began`, in seconds of `time.thread_time`.
    """
    return time.thread_time() - began >= _SECONDS_TO_JUDGE


def _probe(estimator: Estimator, seconds: float, given_up: Callable[[], bool], *, until_clear: bool) -> None:
    """Probe for so long, or until nothing is better known by that, or until the estimate is not vague any more."""
    began, deadline, probe = time.thread_time(), time.monotonic() + seconds, _PROBE_SECONDS
    while not estimator.exact and not given_up():
        left = deadline - time.monotonic()
        if left <= 0 and estimator.probed:
            return
        if until_clear and _can_judge(began) and not _range_of(estimator.estimate()).is_vague:
            return
        window = probe if left <= 0 else min(probe, left)
        if not estimator.probe(window):
            if estimator.has_walked and window in (left, _LONGEST_PROBE):
                # No other walk fits.
                return
            probe = min(2 * probe, _LONGEST_PROBE)


def _boundary_plan(space: SearchSpace, given_up: Callable[[], bool]) -> tuple[Expected | None, bool]:
    """Return the cost of a count along a boundary, None if it is not possible, and whether its order is settled."""
    from chordless.engine.rates import expected_by_length
    from kernels_ti.boundary.orders.plan import plan_of

    began = time.monotonic()
    plan = plan_of(space, enough=lambda: given_up() or time.monotonic() - began > _SECONDS_FOR_ORDERS)
    try:
        return expected_by_length(plan, space.longest, memory=space.options.memory), plan.is_settled
    except OptionError:  # the memory that is allowed is less than a count needs to begin
        return None, plan.is_settled
