"""A short run that tells how fast this machine searches a graph."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from chordless.commands import options as shared

if TYPE_CHECKING:
    from chordless.graphs.load import LoadedGraph
    from chordless.protocol.events import Event, Finished, Started
    from chordless.protocol.orders import RunCommand

# Of search alone: a part of the time that there is, and seconds.
_PART_OF_TIME, _LONGEST_TRIAL = 0.25, 1.0
# For what comes after the trial and the probes: a part of the time that there is, and seconds.
_PART_TO_TELL, _LONGEST_TO_TELL = 0.15, 0.3
_GRACE = 1.0  # seconds more, once it has started, for a rate
_SECONDS_TO_START = 10.0  # at most, for an arch that was asked for: whether it is there must be known


class Trial:
    """A short run in an engine of its own, which starts while this process does something else.

    Parameters
    ----------
    options : argparse.Namespace
    loaded : LoadedGraph
    folder : str
        Where a graph from standard input is written for the engine.
    """

    def __init__(self, options: argparse.Namespace, loaded: LoadedGraph, folder: str) -> None:
        from chordless.engine.process import EngineProcess

        # What the program took to start and to read the graph counts too.
        self._began = time.monotonic() - max(time.time() - options.program_start, 0.0)
        self._seconds = options.seconds
        self._to_tell = min(_PART_TO_TELL * options.seconds, _LONGEST_TO_TELL)
        self._arch = options.arch
        self._loaded = loaded
        self._engine = EngineProcess(_command(options, loaded, folder))
        self._started: Started | None = None
        # Seconds of search, cycles and paths, of the first report and of the last.
        self._first: tuple[float, int, int] | None = None
        self._last: tuple[float, int, int] | None = None
        self._finished: Finished | None = None

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.close()

    @property
    def seconds_left(self) -> float:
        """Seconds until the answer is to be put together."""
        return float(self._began + self._seconds - self._to_tell - time.monotonic())

    @property
    def has_started(self) -> bool:
        """Whether the engine searches, so that nothing else should take its cores."""
        return self._started is not None

    @property
    def goes_on(self) -> bool:
        """Whether to wait for more; what the engine has reported is taken note of."""
        # Once it searches, and when the time is over, there is nothing else to do.
        wait = 0.05 if self.has_started or self.seconds_left <= 0 else 0.0
        while (event := self._engine.poll(wait)) is not None:
            self._take(event)
        if self._finished is not None:
            return False
        if self._measured[0] >= min(_PART_OF_TIME * self._seconds, _LONGEST_TRIAL):
            return False
        if self._arch != "auto" and not self.has_started:
            return self.seconds_left > -_SECONDS_TO_START
        return self.seconds_left > (-_GRACE if self.has_started and not self._measured[0] else 0.0)

    @property
    def _measured(self) -> tuple[float, int, int]:
        """Seconds, cycles and paths between the first report and the last: kernels are compiled before the first."""
        if self._first is None or self._last is None:
            return 0.0, 0, 0
        return self._last[0] - self._first[0], self._last[1] - self._first[1], self._last[2] - self._first[2]

    def _take(self, event: Event) -> None:
        from chordless.protocol.events import Failed, Finished, Progress, Started

        if isinstance(event, Failed):
            raise event.to_error()
        if isinstance(event, Started):
            self._started = event
        elif isinstance(event, Finished):
            self._finished = replace(event, graph=self._loaded.title)
            self._last = event.enumerate_seconds, event.cycles, event.paths
        elif isinstance(event, Progress) and event.seconds > 0:
            self._last = event.seconds, event.cycles, event.paths
            self._first = self._first or self._last

    def result(self) -> Finished:
        """End the trial, which takes cores, and return what it came to."""
        from chordless.protocol.events import Finished

        self._engine.close()
        if self._finished is not None and self._finished.complete:
            return self._finished
        graph, started = self._loaded.graph, self._started
        seconds, cycles, paths = self._measured
        return Finished(
            reason="timeout",
            graph=self._loaded.title,
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


def _command(options: argparse.Namespace, loaded: LoadedGraph, folder: str) -> RunCommand:
    """Return the run of which the trial is the beginning."""
    from chordless.protocol.orders import RunCommand

    fields = shared.graph_fields(options)
    if options.graph == "-":
        # Standard input has been read; the engine gets a copy.
        from chordless.commands.writing import write_graph

        copy = os.path.join(folder, "graph.txt")
        write_graph(loaded.graph, copy, ())
        fields |= {"graph": copy, "file_format": "edgelist", "encoding": None}
    return RunCommand(
        **fields,
        **shared.restriction_fields(options),
        arch=options.arch,
        threads=options.threads,
        memory=options.memory,
        timeout=options.seconds,
    )
