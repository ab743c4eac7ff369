"""A short run that tells how fast this machine searches a graph."""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from chordless.commands import options as shared
from chordless.commands.writing import write_graph
from chordless.engine.process import EngineProcess
from chordless.protocol.events import Event, Failed, Finished, Progress, Started
from chordless.protocol.orders import RunCommand

if TYPE_CHECKING:
    from chordless.graphs.load import LoadedGraph

# Of search alone: a part of the time that there is, and seconds.
_PART_OF_TIME, _LONGEST_TRIAL = 0.25, 1.0
# For what comes after the trial and the probes: a part of the time that there is, and seconds.
_PART_TO_TELL, _LONGEST_TO_TELL = 0.3, 0.6
# Of this, the part that a search which has begun may take for a first rate.
_GRACE = 0.25
# A rate over fewer seconds tells nothing: the first paths are looked at before the kernels are compiled.
_SHORTEST_RATE = 0.02
_SECONDS_TO_START = 10.0  # at most, for an arch that was asked for: whether it is there must be known


class Trial(contextlib.AbstractContextManager["Trial"]):
    """A short run in an engine of its own, beside this process; a graph that came through a pipe is handed over."""

    def __init__(self, options: argparse.Namespace, folder: str, loaded: LoadedGraph | None = None) -> None:
        # The start of the program counts too.
        self._began = options.program_start
        self._seconds = options.seconds
        self._to_tell = min(_PART_TO_TELL * options.seconds, _LONGEST_TO_TELL)
        self._arch = options.arch
        self._engine = EngineProcess(_command(options, folder, loaded))
        self._started: Started | None = None
        self._compiles = False
        # Seconds of search, cycles and paths, of the first report and of the last.
        self._first: tuple[float, int, int] | None = None
        self._last: tuple[float, int, int] | None = None
        self._finished: Finished | None = None

    def __exit__(self, *_: object) -> None:
        self._engine.close()

    @property
    def seconds_left(self) -> float:
        """Seconds until the answer is to be put together."""
        return self.seconds_until(1.0) - float(self._to_tell)

    def seconds_until(self, part: float) -> float:
        """Return the seconds until a part of the time is over, counted from the start of the program."""
        return float(self._began + part * self._seconds - time.monotonic())

    @property
    def has_started(self) -> bool:
        """Whether the engine has its device."""
        return self._started is not None

    @property
    def is_searching(self) -> bool:
        """Whether the engine searches, so that nothing else should take its cores; it compiles on one of them."""
        return self.has_started and not self._compiles

    @property
    def goes_on(self) -> bool:
        """Whether to wait for more; what the engine has reported is taken note of."""
        # Once it searches, and when the time is over, there is nothing else to do.
        wait = 0.05 if self.is_searching or self.seconds_left <= 0 else 0.0
        while (event := self._engine.poll(wait)) is not None:
            self._take(event)
        if self._finished is not None:
            return False
        if self._measured[0] >= min(_PART_OF_TIME * self._seconds, _LONGEST_TRIAL):
            return False
        if self._arch != "auto" and not self.has_started:
            return self.seconds_left > -_SECONDS_TO_START
        return self.seconds_left > (-_GRACE * self._to_tell if self.is_searching and not self._measured[0] else 0.0)

    @property
    def _measured(self) -> tuple[float, int, int]:
        """Seconds, cycles and paths between the first report and the last: kernels are compiled before the first."""
        if self._first is None or self._last is None or self._last[0] - self._first[0] < _SHORTEST_RATE:
            return 0.0, 0, 0
        return self._last[0] - self._first[0], self._last[1] - self._first[1], self._last[2] - self._first[2]

    def _take(self, event: Event) -> None:
        if isinstance(event, Failed):
            raise event.to_error()
        if isinstance(event, Started):
            self._started = event
        elif isinstance(event, Finished):
            self._finished = event
            self._last = event.enumerate_seconds, event.cycles, event.paths
        elif isinstance(event, Progress) and event.seconds > 0:
            self._last = event.seconds, event.cycles, event.paths
            self._compiles = event.compiling
            # Cycles that were found before and while the kernels were compiled are not their rate.
            self._first = self._last if self._first is None or event.compiling else self._first

    def result(self, loaded: LoadedGraph) -> Finished:
        """End the trial, which takes cores, and return what it came to; `loaded` is the graph."""
        self._engine.close()
        if self._finished is not None and self._finished.complete:
            return replace(self._finished, graph=loaded.title)
        graph, started = loaded.graph, self._started
        seconds, cycles, paths = self._measured
        return Finished(
            reason="timeout",
            graph=loaded.title,
            n=graph.n,
            m=graph.m,
            max_degree=graph.max_degree,
            cycles=cycles,
            cycles_by_length={},
            paths=paths,
            frontier=0,
            frontier_by_length={},
            listed=0,
            device_bytes=0,
            arch=self._arch if started is None else started.arch,
            device="" if started is None else started.device,
            setup_seconds=0.0,
            enumerate_seconds=seconds,
            total_seconds=seconds,
        )


def _command(options: argparse.Namespace, folder: str, loaded: LoadedGraph | None) -> RunCommand:
    fields = {"timeout": options.seconds}
    if loaded is not None:
        # The pipe has been read; the engine gets a copy.
        copy = os.path.join(folder, "graph.txt")
        write_graph(loaded.graph, copy, ())
        fields |= {"graph": copy, "file_format": "edgelist", "encoding": None}
    return shared.order_of(RunCommand, options, **fields)
