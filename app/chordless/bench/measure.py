"""Runs of programs in turns, their medians, and runs of this program's engine."""

from __future__ import annotations

import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from chordless.engine.process import EngineProcess
from chordless.protocol.events import DeviceReport, Failed, Finished
from chordless.protocol.orders import Method, ProbeCommand, RunCommand
from kernels_ti import ChordlessError, DeviceError, EngineError

Count = dict[str, int]
"""A program's count: ``c3`` triangles and ``clc`` longer cycles, or just ``cycles`` if it does not separate them."""


@dataclass(frozen=True)
class Outcome:
    """One run of one program.

    Attributes
    ----------
    seconds : float
    complete : bool
        False if the time-out ended it. Then there is no count.
    count : dict
    by_length : dict or None
        Cycles by number of vertices; None if the program does not print that.
    """

    seconds: float
    complete: bool = True
    count: Count = field(default_factory=dict)
    by_length: dict[int, int] | None = None


@dataclass
class Series:
    """The runs of one program on one graph.

    Attributes
    ----------
    name : str
        The name of the program in the table.
    command : str
        The command line, for readers.
    run : callable
        Runs the program once.
    patience : float
        It is not run again after this many seconds of runs.
    seconds : list of float
        Times of the complete runs.
    count, by_length
        The result of every run; see `Outcome`.
    stopped : str or None
        A short reason why there are no more runs: ``> 60 s``, ``n > 64``, ``failed``.
    time_limit : float or None
        The time-out in seconds, if it stopped a run.
    error : ChordlessError or None
        The error of a failed run.
    """

    name: str
    command: str
    run: Callable[[], Outcome]
    patience: float = math.inf
    seconds: list[float] = field(default_factory=list)
    count: Count = field(default_factory=dict)
    by_length: dict[int, int] | None = None
    stopped: str | None = None
    time_limit: float | None = None
    error: ChordlessError | None = None

    @property
    def median(self) -> float | None:
        """Median of the times in seconds; None without a complete run."""
        return statistics.median(self.seconds) if self.seconds else None

    def run_again(self) -> None:
        """Run once more and keep the time. A failure, or a different count than before, ends the series."""
        try:
            outcome = self.run()
        except ChordlessError as error:
            self.stopped, self.error = "failed", error
            return
        if not outcome.complete:
            self.stopped, self.time_limit = f"> {outcome.seconds:g} s", outcome.seconds
            return
        found, before = (outcome.count, outcome.by_length), (self.count, self.by_length)
        if self.seconds and found != before:
            self.stopped = "failed"
            self.error = EngineError(f"{self.name} counted {self.count}, and then {outcome.count}")
            return
        self.seconds.append(outcome.seconds)
        self.count, self.by_length = found

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        return {
            "name": self.name,
            "command": self.command,
            "seconds": [round(seconds, 6) for seconds in self.seconds],
            "median": None if self.median is None else round(self.median, 6),
            "stopped": self.stopped,
            "error": None if self.error is None else str(self.error),
            "count": self.count or None,
        }


def take_turns(series: Sequence[Series], repeat: int) -> None:
    """Run every program `repeat` times. They take turns, so that a busy moment of the machine affects all of them.

    Parameters
    ----------
    series : sequence of Series
        A series with a reason to stop is skipped.
    repeat : int
    """
    for _ in range(repeat):
        for one in series:
            if one.stopped is None and sum(one.seconds) < one.patience:
                one.run_again()


def count_once(
    graph: str, arch: str, threads: int | None, timeout: float | None = None, method: Method = "search"
) -> Outcome:
    """Count the cycles of a graph file in a new engine. The time is that of the search or count only."""
    command = RunCommand(graph, time.time(), arch=arch, threads=threads, timeout=timeout, method=method)
    finished = _engine_run(command)
    if not finished.complete:
        if finished.reason != "timeout" or timeout is None:
            raise EngineError(f"the engine did not search to the end: {finished.reason}")
        return Outcome(timeout, complete=False)
    by_length = finished.cycles_by_length
    return Outcome(finished.enumerate_seconds, count=split_count(by_length), by_length=by_length)


def split_count(by_length: dict[int, int]) -> Count:
    """Return the number of triangles, and of longer cycles."""
    triangles = by_length.get(3, 0)
    return {"c3": triangles, "clc": sum(by_length.values()) - triangles}


def _engine_run(command: RunCommand) -> Finished:
    with EngineProcess(command) as engine:
        for event in engine.events():
            if isinstance(event, Finished):
                return event
            if isinstance(event, Failed):
                raise event.to_error()
    raise EngineError("the engine ended without a result")


def probe(arch: str) -> DeviceReport:
    """Open and test an arch, in a separate engine.

    Raises
    ------
    DeviceError
        If it is not available.
    """
    with EngineProcess(ProbeCommand(arch)) as engine:
        for event in engine.events():
            if isinstance(event, Failed):
                raise event.to_error()
            if isinstance(event, DeviceReport):
                if not event.available:
                    raise DeviceError(event.message or f"arch {arch} is not available here")
                return event
    raise EngineError("the engine ended without a result")


def machine(device: DeviceReport) -> dict[str, Any]:
    """Describe the machine of a measurement.

    Parameters
    ----------
    device : DeviceReport
        The device that is measured.

    Returns
    -------
    dict
        Values for JSON. ``load`` is the system's load average over one minute, before the first run.
    """
    host = device if device.arch == "cpu" else probe("cpu")
    return {
        "cpu": host.device,
        "cores": host.threads,
        "memory": host.memory,
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "arch": device.arch,
        "device": device.device,
        "device_memory": device.memory,
    }
