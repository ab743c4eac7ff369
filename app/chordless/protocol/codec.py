"""The protocol between the engine and its clients: one JSON object a line, commands down, events up.

A command is an object with the field ``command``, an event one with the field ``event``. The same event lines,
each with the wall-clock ``time`` added, are what ``--events FILE`` records.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import UnionType
from typing import Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from chordless.protocol.events import PROTOCOL_VERSION, Event, Finished, Started
from chordless.protocol.orders import BatchCommand, BatchJob, Command, RunCommand
from kernels_ti import EngineError

# The keys of these fields are lengths and steps, and JSON knows only strings as keys.
_BY_NUMBER = ("_by_length", "_by_step")
TUPLE_FIELDS = frozenset({"gpus", "part", "through", "through_edges", "avoid", "avoid_edges", "between"})
"""Fields of commands that are tuples; JSON has lists only."""

# Of a Literal and None, ``|`` makes the older kind.
_UNIONS = (UnionType, Union)

_Message = TypeVar("_Message", Command, Event)

_COMMANDS: dict[str, type[Command]] = {kind.name: kind for kind in get_args(Command)}
_EVENTS: dict[str, type[Event]] = {kind.name: kind for kind in get_args(Event)}


def command_to_json(command: Command) -> str:
    """Return `command` as one line of JSON, without the line end."""
    return json.dumps({"command": command.name, **vars(command)}, default=vars)


def event_to_json(event: Event, **more: Any) -> str:
    """Return `event` as one line of JSON, without the line end, with the fields `more` added."""
    return json.dumps({"event": event.name, **vars(event), **more}, default=vars)


def command_from_json(line: str | bytes) -> Command:
    """Return the command that `line` holds; see `event_from_json`."""
    values = _parse(line)
    return _build(_COMMANDS, values.get("command"), values)


def event_from_json(line: str | bytes) -> Event:
    """Return the event that `line`, one JSON object, holds. Fields that this version does not know are ignored.

    Raise EngineError if the line is not an event, or was recorded by a newer version of the protocol.
    """
    values = _parse(line)
    version = values.get("version", PROTOCOL_VERSION)
    if isinstance(version, int) and version > PROTOCOL_VERSION:
        raise EngineError(f"events of version {version}; this program reads up to version {PROTOCOL_VERSION}")
    return _build(_EVENTS, values.get("event"), values)


def wrong_field(message: Command | Event) -> str | None:
    """Return the fault of the first field that has not the type its class says: ``output is 5``; else None.

    The options of a run are the fields of the command that began it, and its counts for vertices and edges are whole.
    """
    wrong = wrong_value(type(message), vars(message))
    if wrong is None and isinstance(message, Started):
        wrong = wrong_value(RunCommand, with_tuples(message.options))
    if wrong is None and isinstance(message, Finished) and message.participation is not None:
        wrong = wrong_participation(message.participation)
    return wrong


def wrong_participation(counted: Mapping[str, Any]) -> str | None:
    """Return the fault of the counts of `chordless.cycles.participation` that were read; None if there is none."""
    for what in ("vertices", "edges"):
        entries = counted.get(what, [])
        if not isinstance(entries, list):
            return f"{what} is {_shown(entries)}"
        for entry in entries:
            fields_fit = isinstance(entry, dict) and is_count(entry.get("cycles"))
            if not fields_fit or not _is_named(entry.get("name"), what) or not is_by_length(entry.get("by_length", {})):
                return f"an entry of {what} is {_shown(entry)}"
    return None


def is_count(value: Any) -> bool:
    """Return whether a value that was read is a whole number of things."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_by_length(value: Any) -> bool:
    """Return whether a value that was read has counts by length: the lengths are keys, which JSON makes strings."""
    return isinstance(value, dict) and all(str(key).isdecimal() and is_count(count) for key, count in value.items())


def _is_named(name: Any, what: str) -> bool:
    ends = name if what == "edges" else [name]
    return (
        isinstance(ends, (list, tuple))
        and len(ends) == (2 if what == "edges" else 1)
        and all(isinstance(end, (int, str)) and not isinstance(end, bool) for end in ends)
    )


def with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values that were read from JSON, with tuples where a command has them."""
    return {
        key: tuple(value) if key in TUPLE_FIELDS and isinstance(value, list) else value for key, value in values.items()
    }


def wrong_value(kind: type, values: Mapping[str, Any]) -> str | None:
    """Return the fault of the first value that does not fit the field of a class; one that is missing fits."""
    for key, (classes, choices) in _types_by_field(kind).items():
        if key not in values:
            continue
        value = values[key]
        # For Python a truth value is an integer.
        fits = isinstance(value, classes) and (bool in classes or not isinstance(value, bool))
        if not fits or (choices and isinstance(value, str) and value not in choices):
            return f"{key} is {_shown(value)}"
        if key in TUPLE_FIELDS and isinstance(value, (tuple, list)):
            element = int if key in ("part", "gpus") else str
            whole = key != "part" or len(value) == 2
            if not whole or any(not isinstance(each, element) or isinstance(each, bool) for each in value):
                return f"{key} is {_shown(list(value))}"
    return None


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
            key: value
            if value is None or not key.endswith(_BY_NUMBER)
            else {int(number): int(count) for number, count in value.items()}
            for key, value in values.items()
            if key in known
        }
        for key in TUPLE_FIELDS & given.keys():
            if given[key] is not None:
                given[key] = tuple(given[key])
        if kind is BatchCommand and "jobs" in given:
            given["jobs"] = tuple(BatchJob(**job) for job in given["jobs"])
            given["crashes"] = tuple((first, stop, how) for first, stop, how in given.get("crashes", ()))
        message = kind(**given)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise EngineError(f"the message {name!r} is incomplete or wrong: {error}") from error
    if wrong := wrong_field(message):
        raise EngineError(f"the message {name!r} is wrong: {wrong}")
    return message


@functools.cache
def _types_by_field(kind: type) -> dict[str, tuple[tuple[type, ...], tuple[str, ...]]]:
    hints = get_type_hints(kind)
    return {key: (_classes(hint), _choices(hint)) for key, hint in hints.items() if get_origin(hint) is not ClassVar}


def _classes(hint: Any) -> tuple[type, ...]:
    origin = get_origin(hint) or hint
    if origin in _UNIONS:
        return tuple(itertools.chain.from_iterable(map(_classes, get_args(hint))))
    if origin is Literal:
        return (str,)
    if origin is Sequence:
        return (tuple, list)
    # JSON does not distinguish whole floats from integers.
    return (int, float) if origin is float else (origin,)


def _choices(hint: Any) -> tuple[str, ...]:
    if get_origin(hint) in _UNIONS:
        return tuple(itertools.chain.from_iterable(map(_choices, get_args(hint))))
    return get_args(hint) if get_origin(hint) is Literal else ()


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
