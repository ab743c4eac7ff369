"""The protocol between the engine and its clients: one JSON object a line, commands down, events up.

A command is an object with the field ``command``, an event one with the field ``event``. The same event lines,
each with the wall-clock ``time`` added, are what ``--events FILE`` records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeVar, get_args

from kernels_ti.errors import CheckpointError, ChordlessError, DeviceError, EngineError, GraphError, OptionError

PROTOCOL_VERSION = 2
"""Recordings of version 1 are read too; what they do not say has a default."""

Reason = Literal["complete", "limit", "timeout", "interrupted", "closed"]
CycleFormat = Literal["text", "jsonl", "npy", "parts"]
Method = Literal["search", "boundary"]

# Lengths are keys, and JSON knows only strings as keys.
_BY_LENGTH = frozenset({"frontier_by_length", "cycles_by_length"})
# JSON has lists only.
_TUPLES = frozenset({"part", "through", "through_edges", "avoid"})


@dataclass(frozen=True)
class RunCommand:
    """The first line to the engine: search this graph.

    Parameters
    ----------
    graph : str
        A file, a spec such as ``grid:7x10``, or ``-`` for standard input.
    program_start : float
        Wall-clock time (``time.time()``) at which the user's program began; the setup is measured from there.
    file_format, simplify
        How the graph is read; see `app.formats.load_graph`.
    arch, threads
        Where the search runs; see `kernels_ti.choice.device_for`.
    min_length, max_length, expansion
        See `kernels_ti.run.Options`.
    limit : int or None
        Stop once so many cycles were found; a listing ends after exactly so many. Those of the earlier sessions
        of a resumed run are among them.
    timeout : float or None
        Stop so many seconds after the search, or its resumption, began; the writing of a listing counts as well,
        pauses do not.
    output : str or None
        Where the cycles go: None counts only, ``-`` is standard output, anything else a file, or with the format
        ``parts`` the run directory.
    output_format : {"text", "jsonl", "npy", "parts"}
        How a cycle is written.
    memory : int or None
        Bytes that the search may take; see `kernels_ti.memory`.
    part : (int, int) or None
        Search only the i-th of so many parts, from 1 on.
    checkpoint : str or None
        The run directory that keeps the checkpoint, see `app.run_directory`; None keeps none.
    checkpoint_every : float
        Seconds between two checkpoints.
    resume : bool
        Go on with the run in that directory. Its own copy of the graph is searched; what `graph` says is passed
        over, and so are `file_format` and `simplify`.
    through, avoid : sequence of str
        Names of vertices that every cycle passes, and of those that none passes; several may stand in one string,
        separated by commas.
    through_edges : sequence of str
        Edges that every cycle has, such as ``3-4``.
    per_vertex, per_edge : bool
        Count for each vertex, or each edge, in how many cycles it lies. Not of a listing, and without checkpoints.
    method : {"search", "boundary"}
        How a count is made; see `kernels_ti.boundary` for the second.
    total_only : bool
        Along a boundary: count the cycles of all lengths together, in less time and memory.
    """

    name: ClassVar[str] = "run"
    graph: str
    program_start: float
    file_format: str | None = None
    simplify: bool = False
    arch: str = "auto"
    threads: int | None = None
    min_length: int = 3
    max_length: int | None = None
    expansion: str = "two-ended"
    limit: int | None = None
    timeout: float | None = None
    output: str | None = None
    output_format: CycleFormat = "text"
    memory: int | None = None
    part: tuple[int, int] | None = None
    checkpoint: str | None = None
    checkpoint_every: float = 60.0
    resume: bool = False
    method: Method = "search"
    total_only: bool = False
    through: Sequence[str] = ()
    through_edges: Sequence[str] = ()
    avoid: Sequence[str] = ()
    per_vertex: bool = False
    per_edge: bool = False


@dataclass(frozen=True)
class ProbeCommand:
    """The first line to the engine: open this arch, test it, say what it is."""

    name: ClassVar[str] = "probe"
    arch: str


@dataclass(frozen=True)
class BatchJob:
    """What a batch shall do with one input, which may hold many graphs.

    Parameters
    ----------
    graph : str
        A file, a spec such as ``grid:7x10``, or ``-`` for standard input.
    file_format : str or None
        One of `app.formats.FORMATS`, ``sdf`` or ``smiles``; by default the name and the content decide.
    simplify : bool
        Drop self-loops, repeated edges and directions instead of refusing them.
    min_length, max_length
        See `kernels_ti.run.Options`.
    listing : str or None
        The folder that gets a file of cycles for each graph; None counts only.
    listing_format : {"text", "jsonl", "npy"}
        How a cycle is written there.
    arch : str
        Where graphs are searched; see `kernels_ti.choice.device_for`.
    limit, timeout
        What ends the search of each graph early, see `RunCommand`.
    """

    graph: str
    file_format: str | None = None
    simplify: bool = False
    min_length: int = 3
    max_length: int | None = None
    listing: str | None = None
    listing_format: CycleFormat = "text"
    arch: str = "auto"
    limit: int | None = None
    timeout: float | None = None


@dataclass(frozen=True)
class BatchCommand:
    """The first line to the engine: count, or list, the cycles of many graphs.

    Parameters
    ----------
    jobs : tuple of BatchJob
        In the order of the lines.
    output : str
        The file of JSON lines, one for each graph. Lines that are there already, for the same graphs with the same
        options, are kept.
    threads, memory
        See `RunCommand`.
    fail_fast : bool
        End at the first graph that fails.
    crashes : tuple of (int, int, str)
        Places in the batch, from the first to before the second, where an earlier engine died, and how it did. One
        place alone is a failed graph; a range is searched in smaller pieces, until the graph is found.
    """

    name: ClassVar[str] = "batch"
    jobs: tuple[BatchJob, ...]
    output: str
    threads: int | None = None
    memory: int | None = None
    fail_fast: bool = False
    crashes: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True)
class StopCommand:
    """End at the next slice and report what was found."""

    name: ClassVar[str] = "stop"


@dataclass(frozen=True)
class PauseCommand:
    """Halt after this slice; until it shall go on, the engine answers commands and reports nothing else."""

    name: ClassVar[str] = "pause"


@dataclass(frozen=True)
class GoCommand:
    """Go on after a pause."""

    name: ClassVar[str] = "go"


@dataclass(frozen=True)
class CheckpointCommand:
    """Write a checkpoint after this slice. A run without a directory says on its log that it has none."""

    name: ClassVar[str] = "checkpoint"


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
    `checkpoint` is the run directory to resume from. `participation` is what `app.participation.participation_object`
    makes of a count for each vertex or edge, where one was asked for. `boundary` is there for a count along a
    boundary: its ``width`` in vertices and the most ``states`` that were held at once. Such a count has no paths;
    where it did not tell lengths apart, `cycles_by_length` has the triangles alone.
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
    """The graphs at the places from `first` to before `stop` are being searched; one place is a search of its own."""

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
    end it. The numbers are those of `BatchProgress`; `seconds` those of this engine.
    """

    name: ClassVar[str] = "batch_finished"
    reason: Literal["complete", "interrupted", "failed"]
    done: int
    kept: int
    failed: int
    stopped: int
    cycles: int
    seconds: float


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
        for known in (GraphError, OptionError, DeviceError, EngineError, CheckpointError):
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


Command = RunCommand | BatchCommand | ProbeCommand | StopCommand | PauseCommand | GoCommand | CheckpointCommand
Event = (
    Started | Progress | Paused | Checkpointed | Finished | BatchStarted | BatchSearching | BatchProgress
    | BatchFinished | Failed | DeviceReport | Log
)  # fmt: skip

_Message = TypeVar("_Message", Command, Event)

_COMMANDS: dict[str, type[Command]] = {kind.name: kind for kind in get_args(Command)}
_EVENTS: dict[str, type[Event]] = {kind.name: kind for kind in get_args(Event)}


def command_to_json(command: Command) -> str:
    """Return `command` as one line of JSON, without the line end."""
    return json.dumps({"command": command.name, **asdict(command)})


def event_to_json(event: Event, **more: Any) -> str:
    """Return `event` as one line of JSON, without the line end, with the fields `more` added."""
    return json.dumps({"event": event.name, **asdict(event), **more})


def command_from_json(line: str | bytes) -> Command:
    """Return the command that `line` holds; see `event_from_json`."""
    values = _parse(line)
    return _build(_COMMANDS, values.get("command"), values)


def event_from_json(line: str | bytes) -> Event:
    """Return the event that `line` holds.

    Parameters
    ----------
    line : str or bytes
        One JSON object. Fields that this version does not know are passed over.

    Returns
    -------
    Event

    Raises
    ------
    EngineError
        If the line is not an event, or was recorded by a newer version of the protocol.
    """
    values = _parse(line)
    version = values.get("version", PROTOCOL_VERSION)
    if version > PROTOCOL_VERSION:
        raise EngineError(f"events of version {version}; this program reads up to version {PROTOCOL_VERSION}")
    return _build(_EVENTS, values.get("event"), values)


def _parse(line: str | bytes) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise EngineError(f"not a line of JSON: {_shown(line)} ({error})") from error
    if not isinstance(values, dict):
        raise EngineError(f"not a JSON object: {_shown(line)}")
    return values


def _build(kinds: Mapping[str, type[_Message]], name: Any, values: dict[str, Any]) -> _Message:
    if name not in kinds:
        raise EngineError(f"no such message: {name!r}")
    kind = kinds[name]
    known = {item.name for item in fields(kind)}
    given: dict[str, Any] = {
        key: {int(length): count for length, count in value.items()} if key in _BY_LENGTH else value
        for key, value in values.items()
        if key in known
    }
    for key in _TUPLES & given.keys():
        if given[key] is not None:
            given[key] = tuple(given[key])
    try:
        if kind is BatchCommand and "jobs" in given:
            given["jobs"] = tuple(BatchJob(**job) for job in given["jobs"])
            given["crashes"] = tuple((first, stop, how) for first, stop, how in given.get("crashes", ()))
        return kind(**given)
    except TypeError as error:
        raise EngineError(f"the message {name!r} is incomplete: {error}") from error


def _shown(line: str | bytes) -> str:
    text = repr(line)
    return text if len(text) <= 80 else text[:77] + "..."
