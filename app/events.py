"""The protocol between the engine and its clients: one JSON object a line, commands down, events up.

A command is an object with the field ``command``, an event one with the field ``event``. The same event lines,
each with the wall-clock ``time`` added, are what ``--events FILE`` records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeVar

from kernels_ti.errors import ChordlessError, DeviceError, EngineError, GraphError, OptionError

PROTOCOL_VERSION = 1

Reason = Literal["complete", "limit", "timeout", "interrupted", "closed"]
CycleFormat = Literal["text", "jsonl"]

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
        Where the search runs; see `kernels_ti.device.open_device`.
    min_length, max_length, expansion
        See `kernels_ti.run.Options`.
    limit : int or None
        Stop once so many cycles were found; a listing ends after exactly so many.
    timeout : float or None
        Stop so many seconds after the search began; the writing of a listing counts as well.
    output : str or None
        Where the cycles go: None counts only, ``-`` is standard output, anything else a file.
    output_format : {"text", "jsonl"}
        How a cycle is written.
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
class Started:
    """The graph is read, the device is open, the first slice is next.

    `options` holds the fields of the `RunCommand` that shape the search, `pid` is the engine's process.
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


@dataclass(frozen=True)
class Progress:
    """Totals so far.

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


@dataclass(frozen=True)
class Finished:
    """The search ended; all that a result needs is here, so the last line of a recording suffices.

    `reason` says why it ended; the counts are the whole truth only where it is ``complete``. `frontier` is the
    number of paths that were left.
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
        for known in (GraphError, OptionError, DeviceError, EngineError):
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


Command = RunCommand | ProbeCommand | StopCommand
Event = Started | Progress | Finished | Failed | DeviceReport | Log

_Message = TypeVar("_Message", Command, Event)

_COMMANDS: dict[str, type[Command]] = {kind.name: kind for kind in (RunCommand, ProbeCommand, StopCommand)}
_EVENTS: dict[str, type[Event]] = {kind.name: kind for kind in (Started, Progress, Finished, Failed, DeviceReport, Log)}


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
    try:
        return kind(**given)
    except TypeError as error:
        raise EngineError(f"the message {name!r} is incomplete: {error}") from error


def _shown(line: str | bytes) -> str:
    text = repr(line)
    return text if len(text) <= 80 else text[:77] + "..."
