"""The protocol between the engine and its clients: one JSON object a line, commands down, events up.

A command is an object with the field ``command``, an event one with the field ``event``. The same event lines,
each with the wall-clock ``time`` added, are what ``--events FILE`` records.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from chordless.protocol.events import PROTOCOL_VERSION, Event, Finished, Progress, Started
from chordless.protocol.orders import BatchCommand, BatchJob, Command, RunCommand
from kernels_ti import EngineError

# The keys of these fields are lengths and steps, and JSON knows only strings as keys.
_BY_NUMBER = ("_by_length", "_by_step")
TUPLE_FIELDS = frozenset({"gpus", "part", "through", "through_edges", "avoid", "avoid_edges", "between"})
"""Fields of commands that are tuples; JSON has lists only."""

# Of a Literal and None, ``|`` makes the older kind.
_UNIONS = (UnionType, Union)

# A count along a boundary may find more cycles than a float can tell.
_CYCLES_OF_A_COUNT = ("cycles", "cycles_by_length", "directed_by_length", "boundary", "symmetry")
_DRAWN_OF_A_WORKER = {
    **dict.fromkeys(("address", "device", "standing", "failure"), str),
    **dict.fromkeys(("paths", "leases", "memory_bytes"), int),
    **dict.fromkeys(("seconds", "share"), float),
}
_ALL_OF_IT = 1.0 + 1e-6  # The share of a worker that has done all, with what rounding adds

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

    The options of a run are the fields of the command that began it, its counts for vertices and edges are whole, and
    what it tells of its workers, its boundary and its best cycle is complete.
    """
    wrong = wrong_value(type(message), vars(message))
    if wrong is None and isinstance(message, Started):
        wrong = wrong_value(RunCommand, with_tuples(message.options))
        wrong = f"pid is {message.pid}" if message.pid < 0 else wrong
    if wrong is None and isinstance(message, (Progress, Finished)):
        wrong = _wrong_total(vars(message), _CYCLES_OF_A_COUNT) or _wrong_worker(message.workers)
    if wrong is None and isinstance(message, Finished):
        wrong = _wrong_result(message)
    return wrong


def _wrong_result(finished: Finished) -> str | None:
    if finished.boundary is not None and not finished.boundary.keys() >= {"states", "width"}:
        return f"boundary is {_shown(finished.boundary)}"
    if finished.best is not None and not isinstance(finished.best.get("weight", 0), (str, NoneType)):
        return f"best is {_shown(finished.best)}"
    return None if finished.participation is None else wrong_participation(finished.participation)


def _wrong_worker(workers: Sequence[Mapping[str, Any]]) -> str | None:
    for worker in workers:
        if not all(_fits(worker.get(name), kind) for name, kind in _DRAWN_OF_A_WORKER.items()):
            return f"a worker is {_shown(worker)}"
        if wrong := _wrong_total(worker, ()):
            return f"of a worker {wrong}"
        if not 0 <= worker["share"] <= _ALL_OF_IT:
            return f"of a worker share is {_shown(worker['share'])}"
    return None


def _wrong_total(values: Mapping[str, Any], of_any_size: Collection[str]) -> str | None:
    """Return the fault of the first number that no search reaches and no picture can show; None if there is none."""
    for key, value in values.items():
        if key not in of_any_size:
            for number in value.values() if isinstance(value, dict) else (value,):
                if isinstance(number, int) and not _is_finite(number):
                    return f"{key} is {_shown(value)}"
    return None


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
    for key, hint in _types_by_field(kind).items():
        if key in values and not _fits(values[key], hint):
            value = values[key]
            return f"{key} is {_shown(list(value) if isinstance(value, tuple) else value)}"
    return None


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value that was read is of a type, with all that is in it."""
    kind, inner = _kind_and_inner(hint)
    if kind is Any:
        return True
    if kind in _UNIONS:
        return any(_fits(value, each) for each in inner)
    if kind is Literal:
        return isinstance(value, str) and value in inner
    if kind is dict:
        return isinstance(value, dict) and all(
            _fits(key, inner[0]) and _fits(each, inner[1]) for key, each in value.items()
        )
    if kind in (list, tuple, Sequence):
        if kind is tuple and inner[-1:] != (Ellipsis,):
            return isinstance(value, (tuple, list)) and len(value) == len(inner) and all(map(_fits, value, inner))
        return isinstance(value, (tuple, list)) and all(_fits(each, inner[0]) for each in value)
    if isinstance(value, bool):
        # For Python a truth value is an integer.
        return kind is bool
    # JSON does not distinguish whole floats from integers.
    return isinstance(value, (int, float)) and _is_finite(value) if kind is float else isinstance(value, kind)


@functools.cache
def _kind_and_inner(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    # Cached, as each entry of each event asks for it.
    return get_origin(hint) or hint, get_args(hint)


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


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
def _types_by_field(kind: type) -> dict[str, Any]:
    return {key: hint for key, hint in get_type_hints(kind).items() if get_origin(hint) is not ClassVar}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
