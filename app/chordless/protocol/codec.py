"""The protocol between the engine and its clients: one JSON object a line, commands down, events up.

A command is an object with the field ``command``, an event one with the field ``event``. The same event lines,
each with the wall-clock ``time`` added, are what ``--events FILE`` records.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from types import UnionType
from typing import Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

from chordless.protocol.events import PROTOCOL_VERSION, Event
from chordless.protocol.orders import BatchCommand, BatchJob, Command
from kernels_ti import EngineError

# Lengths and steps are keys, and JSON knows only strings as keys.
_BY_NUMBER = frozenset(
    {"frontier_by_length", "cycles_by_length", "waiting_by_length", "states_by_step", "expected_by_step"}
)
TUPLE_FIELDS = frozenset({"gpus", "part", "through", "through_edges", "avoid", "avoid_edges"})
"""Fields of commands that are tuples; JSON has lists only."""

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
        One JSON object. Fields that this version does not know are ignored.

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
    if isinstance(version, int) and version > PROTOCOL_VERSION:
        raise EngineError(f"events of version {version}; this program reads up to version {PROTOCOL_VERSION}")
    event = _build(_EVENTS, values.get("event"), values)
    for key, classes in _classes_by_field(event.name).items():
        if not isinstance(getattr(event, key), classes):
            raise EngineError(f"the message {event.name!r} is wrong: {key} is {_shown(getattr(event, key))}")
    return event


def _parse(line: str | bytes) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EngineError(f"not a line of JSON: {_shown(line)} ({error})") from error
    if not isinstance(values, dict):
        raise EngineError(f"not a JSON object: {_shown(line)}")
    return values


def _build(kinds: Mapping[str, type[_Message]], name: Any, values: dict[str, Any]) -> _Message:
    if not isinstance(name, str) or name not in kinds:
        raise EngineError(f"no such message: {_shown(name)}")
    kind = kinds[name]
    known = {item.name for item in fields(kind)}
    try:
        given: dict[str, Any] = {
            key: {int(number): int(count) for number, count in value.items()} if key in _BY_NUMBER else value
            for key, value in values.items()
            if key in known
        }
        for key in TUPLE_FIELDS & given.keys():
            if given[key] is not None:
                given[key] = tuple(given[key])
        if kind is BatchCommand and "jobs" in given:
            given["jobs"] = tuple(BatchJob(**job) for job in given["jobs"])
            given["crashes"] = tuple((first, stop, how) for first, stop, how in given.get("crashes", ()))
        return kind(**given)
    except (TypeError, ValueError, AttributeError) as error:
        raise EngineError(f"the message {name!r} is incomplete or wrong: {error}") from error


@functools.cache
def _classes_by_field(name: str) -> dict[str, tuple[type, ...]]:
    """Return the types that the value of each field of an event may have."""
    hints = get_type_hints(_EVENTS[name])
    return {key: _classes(hint) for key, hint in hints.items() if get_origin(hint) is not ClassVar}


def _classes(hint: Any) -> tuple[type, ...]:
    origin = get_origin(hint) or hint
    if origin is UnionType:
        return tuple(itertools.chain.from_iterable(map(_classes, get_args(hint))))
    if origin is Literal:
        return (str,)
    # JSON does not distinguish whole floats from integers.
    return (int, float) if origin is float else (origin,)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
