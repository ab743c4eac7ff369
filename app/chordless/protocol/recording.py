"""The recording of a run: its events, each with the wall-clock time at which the client received it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chordless.files import open_to_read
from chordless.protocol.codec import event_from_json
from chordless.protocol.events import Event
from kernels_ti import EngineError

NO_RECORDING = "this is not a recording made with --events"  # The fault of a file that is none
_END_OF_TIME = 253_402_300_800  # The year 10000


def is_time(value: Any) -> bool:
    """Return whether a value that was read is a wall-clock time, in seconds since 1970, of four digits of the year."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _END_OF_TIME


def recorded(path: Path, *, pipes: bool = False) -> Iterator[tuple[float, Event]]:
    """Yield time and event of each line but an incomplete last one; an EngineError for what is no recording."""
    try:
        with open_to_read(path, pipes=pipes) as stream:
            for number, line in enumerate(stream, start=1):
                # A process that was killed while writing leaves a last line without an end.
                if not line.endswith(b"\n"):
                    return
                try:
                    yield timed_event(line)
                except EngineError as error:
                    raise EngineError(f"{path}: line {number}: {error}") from error
    except OSError as error:
        raise EngineError(f"{path}: cannot be read: {error.strerror or error}") from error


def timed_event(line: bytes) -> tuple[float, Event]:
    """Return the time and the event of a line of a recording; an EngineError if it is none."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        raise EngineError(f"not a line of JSON: {NO_RECORDING}") from None
    if not isinstance(values, dict) or "event" not in values or not is_time(values.get("time")):
        raise EngineError(f"not an event with its time: {NO_RECORDING}")
    return float(values["time"]), event_from_json(line)
