"""What the engine reports to its client; ``--events FILE`` records the same, see `chordless.protocol.codec`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from kernels_ti.errors import (
    CheckpointError,
    ChordlessError,
    DeviceError,
    EngineError,
    GraphError,
    OptionError,
    ReadingStoppedError,
    SizeError,
)

PROTOCOL_VERSION = 2
"""Recordings of version 1 are read too; what they do not say has a default."""

Reason = Literal["complete", "limit", "timeout", "interrupted", "closed"]


@dataclass(frozen=True)
class Started:
    """The graph is read, the device is open, the first slice is next.

    `options` holds the fields of the `RunCommand` that shape the search, `pid` is the engine's process,
    `directory` the absolute path of the run directory, where there is one.
    """

    name: ClassVar[str] = "started"
    graph: str
    n: int
    m: int
    max_degree: int
    arch: str
    device: str
    setup_seconds: float
    pid: int
    options: dict[str, Any] = field(default_factory=dict)
    version: int = PROTOCOL_VERSION
    directory: str | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Progress:
    """Totals so far; those of a resumed run are of all its sessions.

    Parameters
    ----------
    seconds : float
        Time spent searching.
    paths, cycles : int
        Found so far.
    frontier : int
        Paths that wait to be looked at.
    frontier_by_length, cycles_by_length : dict
        Number of paths and of cycles for each number of vertices.
    device_bytes : int
        Memory held on the device.
    listed : int
        Cycles written to the output.
    share : float
        Share of the search that is done, 0 to 1.
    memory_bytes : int
        Memory of the engine's process that is resident now.
    states : int or None
        States held now, of a count along a boundary, which has no paths.
    cycles_estimate, cycles_low, cycles_high : float or None
        How many cycles there are in all, by random probes, and the spread of that; None until there are enough.
    """

    name: ClassVar[str] = "progress"
    seconds: float
    paths: int
    cycles: int
    frontier: int
    frontier_by_length: dict[int, int]
    cycles_by_length: dict[int, int]
    device_bytes: int
    listed: int = 0
    share: float = 0.0
    memory_bytes: int = 0
    cycles_estimate: float | None = None
    cycles_low: float | None = None
    cycles_high: float | None = None
    states: int | None = None


@dataclass(frozen=True)
class Paused:
    """The search halts. When it goes on, the next event is a `Progress`."""

    name: ClassVar[str] = "paused"


@dataclass(frozen=True)
class Checkpointed:
    """A checkpoint is safe on the disk: so many cycles found, and listed, up to it; `bytes` is its size."""

    name: ClassVar[str] = "checkpointed"
    path: str
    cycles: int
    listed: int
    bytes: int


@dataclass(frozen=True)
class Finished:
    """The search ended; all that a result needs is here, so the last line of a recording suffices.

    `reason` says why it ended; the counts are the whole truth only where it is ``complete``. `frontier` is the
    number of paths that were left, `share` the share of the search that is done. The seconds are those of all
    sessions of a resumed run, `peak_memory_bytes` is the largest resident size that an engine had in any.
    `checkpoint` is the run directory to resume from. `graph_hash` tells the graph from any other and `program` is the
    version that searched; recordings of version 0.4.0 have neither, nor `write_seconds`. `participation` is what
    `chordless.cycles.participation.participation_object` makes of a count for each vertex or edge, where one was
    asked for. `boundary` is there for a count along a boundary: its ``width`` in vertices and the most ``states`` that
    were held at once. Such a count has no paths; where it did not tell lengths apart, `cycles_by_length` has the
    triangles alone.
    """

    name: ClassVar[str] = "finished"
    reason: Reason
    graph: str
    n: int
    m: int
    max_degree: int
    cycles: int
    cycles_by_length: dict[int, int]
    paths: int
    frontier: int
    frontier_by_length: dict[int, int]
    listed: int
    device_bytes: int
    arch: str
    device: str
    setup_seconds: float
    enumerate_seconds: float
    total_seconds: float
    share: float = 0.0
    peak_memory_bytes: int = 0
    checkpoint: str | None = None
    participation: dict[str, Any] | None = None
    boundary: dict[str, int] | None = None
    write_seconds: float = 0.0
    graph_hash: str | None = None
    program: str | None = None

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return self.reason == "complete"


@dataclass(frozen=True)
class BatchStarted:
    """The output is open and the first graph is next; `total` is the number of graphs, where that is known."""

    name: ClassVar[str] = "batch_started"
    pid: int
    output: str
    total: int | None
    version: int = PROTOCOL_VERSION


@dataclass(frozen=True)
class BatchSearching:
    """The graphs at the places from `first` to before `stop` are being searched; one place is a search of its own.

    If there is none between them, those before are done.
    """

    name: ClassVar[str] = "batch_searching"
    first: int
    stop: int
    graph: str


@dataclass(frozen=True)
class BatchProgress:
    """Where a batch stands; graphs that are counted together get their lines together, soon after they are done.

    Parameters
    ----------
    seconds : float
        Since this engine began with the batch.
    done, kept, failed, stopped : int
        Graphs that are done; how many of them were done before, failed, or were stopped by a limit or a time-out.
    cycles : int
        Found in all of them.
    total : int or None
        Graphs in all, where that is known.
    graph : str or None
        The graph that is searched on its own, if one is.
    share : float
        Share of its search that is done, 0 to 1.
    """

    name: ClassVar[str] = "batch_progress"
    seconds: float
    done: int
    kept: int = 0
    failed: int = 0
    stopped: int = 0
    cycles: int = 0
    total: int | None = None
    graph: str | None = None
    share: float = 0.0


@dataclass(frozen=True)
class BatchFinished:
    """The batch ended.

    `reason` is ``complete``, also where graphs failed, ``interrupted``, or ``failed`` where the first failure was to
    end it. The numbers are those of `BatchProgress`; `seconds` those of this engine. `beside` counts the lines of an
    earlier batch that nobody asked for: they are in the file beside.
    """

    name: ClassVar[str] = "batch_finished"
    reason: Literal["complete", "interrupted", "failed"]
    done: int
    kept: int
    failed: int
    stopped: int
    cycles: int
    seconds: float
    beside: int = 0


@dataclass(frozen=True)
class Failed:
    """The run ended without a result.

    `kind` is the name of the error's class, `exit_code` what the program exits with; `traceback` is there for
    errors that nobody foresaw.
    """

    name: ClassVar[str] = "failed"
    kind: str
    message: str
    exit_code: int
    traceback: str | None = None

    def to_error(self) -> ChordlessError:
        """Return the exception that this event reports."""
        kinds = (GraphError, ReadingStoppedError, OptionError, DeviceError, SizeError, EngineError, CheckpointError)
        for known in kinds:
            if known.__name__ == self.kind:
                return known(self.message)
        return EngineError(self.message)


@dataclass(frozen=True)
class DeviceReport:
    """The answer to a probe; `message` says why where the arch is not `available`."""

    name: ClassVar[str] = "device"
    arch: str
    available: bool
    device: str | None = None
    memory: int | None = None
    threads: int | None = None
    message: str | None = None


@dataclass(frozen=True)
class Log:
    """A line that the engine, or a driver below it, printed. Made by the client from the engine's stderr."""

    name: ClassVar[str] = "log"
    text: str


Event = (
    Started | Progress | Paused | Checkpointed | Finished | BatchStarted | BatchSearching | BatchProgress
    | BatchFinished | Failed | DeviceReport | Log
)  # fmt: skip
