"""The events of the engine for its client; ``--events FILE`` records the same, see `chordless.protocol.codec`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from chordless.words.numbers import bytes_text
from kernels_ti import ChordlessError, DeviceError, EngineError, GraphError, OptionError, SizeError
from kernels_ti.errors import CheckpointError, NoOrderError, ReadingStoppedError, StatesError

PROTOCOL_VERSION = 3  # Recordings of earlier versions can be read, too; their missing fields have defaults
Reason = Literal["complete", "limit", "timeout", "interrupted", "closed"]


_ERRORS: dict[str, type[ChordlessError]] = {
    kind.__name__: kind
    for kind in (
        GraphError,
        ReadingStoppedError,
        OptionError,
        DeviceError,
        NoOrderError,
        StatesError,
        SizeError,
        CheckpointError,
    )
}


@dataclass(frozen=True)
class Started:
    """The graph is read, the device is open, the first slice is next.

    `options` holds the fields of the `RunCommand` that shape the search, `pid` is the engine's process,
    `directory` the absolute path of the run directory, where there is one, `program` the version that searches;
    recordings of version 0.4.0 do not say it. `ends` has the names of the two ends of the paths that are searched;
    it is empty for cycles, and for all paths of a graph.
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
    program: str | None = None
    ends: list[int | str] = field(default_factory=list)


@dataclass(frozen=True)
class Report:
    """Totals so far, over all sessions of a resumed run; by default nothing is found yet."""

    seconds: float = 0.0  # Time spent searching
    # `paths` and `cycles`: found so far.
    paths: int = 0
    cycles: int = 0
    frontier: int = 0  # Paths that are waiting to be expanded
    # `frontier_by_length` and `cycles_by_length`: number of paths and of cycles for each number of vertices.
    frontier_by_length: dict[int, int] = field(default_factory=dict)
    cycles_by_length: dict[int, int] = field(default_factory=dict)
    device_bytes: int = 0  # Memory held on the device
    listed: int = 0  # Cycles written to the output
    share: float = 0.0  # Share of the search that is done, 0 to 1
    memory_bytes: int = 0  # Resident memory of the engine's process
    # `cycles_estimate`, `cycles_low` and `cycles_high`: estimate of the number of all cycles from random probes, and
    # the ends of its range; None until there are enough probes.
    cycles_estimate: float | None = None
    cycles_low: float | None = None
    cycles_high: float | None = None
    # States that a count along a boundary holds now; None for a search. Such a count has no paths.
    states: int | None = None
    # Paths that wait now, by number of vertices. Recordings before version 3 do not have it.
    waiting_by_length: dict[int, int] = field(default_factory=dict)
    # On a cluster, the fields of `kernels_ti.cluster.roster.WorkerView` for each worker.
    workers: list[dict[str, Any]] = field(default_factory=list)
    compiling: bool = False  # Whether the engine compiles kernels now instead of searching
    # Along a boundary: how many states there were at each step since the last report, by its number, from 1.
    states_by_step: dict[int, int] = field(default_factory=dict)
    # Along a boundary: about how many states there will be at each step. Only one report of a run has it.
    expected_by_step: dict[int, int] = field(default_factory=dict)
    # Along a boundary: vertices in the largest boundary, 0 as long as no order of the vertices was found.
    width: int = 0
    # Along a boundary: whether an order of the vertices is still sought; `width` is that of the best one so far.
    seeking_order: bool = False
    # `pass_number` and `passes`: along a boundary in several passes: the one that is under way, from 1, and how many
    # there are, 0 as long as that is not known. Both are 0 in a single pass.
    pass_number: int = 0
    passes: int = 0


@dataclass(frozen=True)
class Progress(Report):
    """A report of the engine."""

    name: ClassVar[str] = "progress"

    def with_steps_of(self, left_out: Progress) -> Progress:
        """Return this report with the steps of one before it that was left out."""
        steps = {name: getattr(left_out, name) | getattr(self, name) for name in GROWING}
        return replace(self, **steps) if any(steps.values()) else self


GROWING = ("states_by_step", "expected_by_step")  # Fields of `Progress` of which each report has only what is new


@dataclass(frozen=True)
class Paused:
    """The search is paused. When it continues, the next event is a `Progress`."""

    name: ClassVar[str] = "paused"


@dataclass(frozen=True)
class Checkpointed:
    """A checkpoint of `bytes` bytes is on the disk; `cycles` and `listed` are those found and listed up to it."""

    name: ClassVar[str] = "checkpointed"
    path: str
    cycles: int
    listed: int
    bytes: int


@dataclass(frozen=True)
class Finished:
    """The search ended. The event holds everything that a result needs.

    `reason` says why the search ended. Unless it is ``complete``, the counts are lower bounds. `frontier` is the number
    of paths that were left, `waiting_by_length` those of each length (from version 3 on), `share` the finished share of
    the search. The seconds are those of all sessions of a resumed run; `peak_memory_bytes` is the largest resident
    memory of an engine in any session. `checkpoint` is the run directory to resume from. `graph_hash` identifies the
    graph, and `program` is the version that searched; recordings of version 0.4.0 have neither, nor `write_seconds`.
    `participation` is the result of `chordless.cycles.participation.participation_object`, if a count for each vertex
    or edge was asked for. `boundary` belongs to a count along a boundary: its ``width`` in vertices and the largest
    number of ``states`` held at once; for a best cycle also ``ways``, how many are as good, and for a sample
    ``drawn_from``, how many cycles there are. Such a count has no paths. If it did not distinguish lengths,
    `cycles_by_length` has only the triangles. `workers` are those of a cluster, as in `Progress`. `symmetry` belongs to
    a count up to symmetry: the number of ``automorphisms`` that were used, and ``orbits_begun``, the number of
    representatives that were searched; `directed_by_length` to one part of it, see `kernels_ti.options.Snapshot`.
    `proof` is the hash of all cycles, where it was asked for and all were found, see `kernels_ti.proof`. `ends`
    is that of `Started`. `best` is the best cycle that was asked for, or the best one until the search ended: its
    ``cycle``, ``ways`` and ``method``, the ``weight`` as text if there are weights, and ``no_longer_than``, which no
    cycle exceeds, if the search was not complete.
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
    waiting_by_length: dict[int, int] = field(default_factory=dict)
    workers: list[dict[str, Any]] = field(default_factory=list)
    symmetry: dict[str, int] | None = None
    proof: str | None = None
    best: dict[str, Any] | None = None
    directed_by_length: dict[int, int] | None = None
    ends: list[int | str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether all cycles were found."""
        return self.reason == "complete"


@dataclass(frozen=True)
class BatchStarted:
    """The output is open and the first graph is next; `total` is the number of graphs, None if it is unknown."""

    name: ClassVar[str] = "batch_started"
    pid: int
    output: str
    total: int | None
    version: int = PROTOCOL_VERSION


@dataclass(frozen=True)
class BatchSearching:
    """The graphs `first` to `stop` - 1 are searched, one alone on its own; without any, all before `first` are done."""

    name: ClassVar[str] = "batch_searching"
    first: int
    stop: int
    graph: str


@dataclass(frozen=True)
class BatchProgress:
    """Totals of a batch so far. Graphs that are counted together get their lines together, soon after they are done."""

    name: ClassVar[str] = "batch_progress"
    seconds: float  # Since this engine began the batch
    # `done`, `kept`, `failed` and `stopped`: graphs that are done, and how many of them were done in an earlier
    # session, failed, or were stopped by a limit or a timeout.
    done: int
    kept: int = 0
    failed: int = 0
    stopped: int = 0
    cycles: int = 0  # Found in all of them
    total: int | None = None  # Graphs in all; None if that is unknown
    graph: str | None = None  # The graph that is searched on its own, if there is one
    share: float = 0.0  # Finished share of its search, 0 to 1


@dataclass(frozen=True)
class BatchFinished:
    """The batch ended.

    `reason` is ``complete`` (even if graphs failed), ``interrupted``, or ``failed`` if the first failure was to end the
    batch. The numbers are those of `BatchProgress`; `seconds` is the time of this engine. `beside` is the number of
    lines of an earlier batch that do not belong to this one; they were moved to a file beside the output. `notes` are
    what the readers of the files have to tell, one for each kind, see `chordless.batch.inputs.Notes`.
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
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Failed:
    """The run ended without a result.

    `kind` is the name of the error's class, `exit_code` the exit code of the program. `traceback` is given for
    internal errors. `stopped` says that the user had the engine ended at once: that is no fault, but what came after
    the last checkpoint is lost.
    """

    name: ClassVar[str] = "failed"
    kind: str
    message: str
    exit_code: int
    traceback: str | None = None
    stopped: bool = False

    def to_error(self) -> ChordlessError:
        """Return the exception that this event reports."""
        return _ERRORS.get(self.kind, EngineError)(self.message)


@dataclass(frozen=True)
class DeviceReport:
    """The answer to a probe; if the arch is not `available`, `message` says why.

    `pinned` says whether the system gives pinned memory, through which cycles come to the host; None if not on CUDA.
    `rates` are those of `chordless.engine.rates.BoundaryRates`, if they were asked for.
    """

    name: ClassVar[str] = "device"
    arch: str
    available: bool
    device: str | None = None
    memory: int | None = None
    threads: int | None = None
    message: str | None = None
    pinned: bool | None = None
    rates: dict[str, float | str | None] | None = None

    @property
    def summary(self) -> str:
        """One line about the device, or the reason why there is none."""
        if not self.available:
            return (self.message or "not usable here").removeprefix(f"arch {self.arch} is ")
        parts = [self.device or "?"]
        if self.threads is not None:
            parts.append(f"{self.threads} thread{'s' * (self.threads != 1)}")
        if self.memory is not None:
            parts.append(bytes_text(self.memory))
        if self.pinned is False:
            parts.append("no pinned memory (cycles reach the host slowly)")
        return ", ".join(parts)


@dataclass(frozen=True)
class Log:
    """A line that the engine, or a driver, printed to standard error. The client makes this event."""

    name: ClassVar[str] = "log"
    text: str

    @property
    def is_warning(self) -> bool:
        """Whether the compute library wrote it for the user to read, and not a driver."""
        return self.text.startswith("chordless: ")


Event = (
    Started | Progress | Paused | Checkpointed | Finished | BatchStarted | BatchSearching | BatchProgress
    | BatchFinished | Failed | DeviceReport | Log
)  # fmt: skip
