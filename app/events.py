"""The protocol between the engine and its clients: one JSON object a line, commands down, events up.

A command is an object with the field ``command``, an event one with the field ``event``. The same event lines,
each with the wall-clock ``time`` added, are what ``--events FILE`` records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeVar, get_args

from kernels_ti.errors import CheckpointError, ChordlessError, DeviceError, EngineError, GraphError, OptionError

PROTOCOL_VERSION = 2
"""Recordings of version 1 are read too; what they do not say has a default."""

Reason = Literal["complete", "limit", "timeout", "interrupted", "closed"]
CycleFormat = Literal["text", "jsonl", "npy", "parts"]

# Lengths are keys, and JSON knows only strings as keys.
_BY_LENGTH = frozenset({"frontier_by_length", "cycles_by_length"})


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


@dataclass(frozen=True)
class ProbeCommand:
    """The first line to the engine: open this arch, test it, say what it is."""

    name: ClassVar[str] = "probe"
    arch: str


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
    `checkpoint` is the run directory to resume from.
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

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return self.reason == "complete"


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


Command = RunCommand | ProbeCommand | StopCommand | PauseCommand | GoCommand | CheckpointCommand
Event = Started | Progress | Paused | Checkpointed | Finished | Failed | DeviceReport | Log

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
    if given.get("part") is not None:
        given["part"] = tuple(given["part"])
    try:
        return kind(**given)
    except TypeError as error:
        raise EngineError(f"the message {name!r} is incomplete: {error}") from error


def _shown(line: str | bytes) -> str:
    text = repr(line)
    return text if len(text) <= 80 else text[:77] + "..."
