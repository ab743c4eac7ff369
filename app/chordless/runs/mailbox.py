"""Orders from any process to the engine at work in a run directory, through a file that it reads between slices.

Commands are appended to the file ``commands`` of the run directory, one a line, under a lock on that file. The engine
reads them and removes the file under the same lock, so no command is lost and none is obeyed twice.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

from chordless.files import open_own, open_to_read, remove, writing
from chordless.protocol.codec import command_from_json, command_to_json
from chordless.protocol.orders import CheckpointCommand, GoCommand, PauseCommand, StopCommand
from kernels_ti import EngineError

with contextlib.suppress(ModuleNotFoundError):  # Windows: help is shown there, too
    import fcntl

_MAILBOX = "commands"
_LOCKED = "run.json"
SECONDS_BETWEEN_LOOKS = 0.2
# run.json exists for a moment before it is locked.
_SECONDS_TO_BEGIN = 10.0
Order = StopCommand | PauseCommand | GoCommand | CheckpointCommand  # The orders that an engine at work obeys


def post(directory: str | Path, order: Order) -> None:
    """Leave an order for the engine at work in a run directory; an EngineError if none is, or it cannot be written."""
    if not is_at_work(directory):
        raise EngineError(f"no engine is at work in {directory}")
    path = Path(directory) / _MAILBOX
    line = command_to_json(order).encode() + b"\n"
    with writing(path):
        while not _append(path, line):
            pass


def is_at_work(directory: str | Path) -> bool:
    """Return whether an engine is at work in a run directory; False if there is no such directory."""
    try:
        locked = open_to_read(Path(directory) / _LOCKED)
    except OSError:
        return False
    with locked:
        status = os.fstat(locked.fileno())
        if status.st_size == 0 and time.time() - status.st_mtime < _SECONDS_TO_BEGIN:
            # An engine is about to take the lock. It would fail if this process held the lock, even for a moment.
            return True
        try:
            fcntl.flock(locked, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


class Mailbox:
    """The engine's end of the mailbox; this process holds the directory's lock.

    Orders for an earlier engine are discarded.
    """

    def __init__(self, directory: str | Path) -> None:
        self._path = Path(directory) / _MAILBOX
        self._next = 0.0
        self._noted = ""
        with contextlib.suppress(FileNotFoundError):
            remove(self._path)

    def take(self) -> list[Order]:
        """Return the orders that have come, if a look is due; a line that is not an order is skipped with a note."""
        now = time.monotonic()
        if now < self._next:
            return []
        self._next = now + SECONDS_BETWEEN_LOOKS
        orders: list[Order] = []
        for line in self._take_lines():
            try:
                command = command_from_json(line)
            except EngineError as error:
                sys.stderr.write(f"{self._path}: a line is skipped: {error}\n")
                continue
            if isinstance(command, Order):
                orders.append(command)
            else:
                sys.stderr.write(f"{self._path}: a line is skipped: {command.name!r} is not an order\n")
        return orders

    def _take_lines(self) -> list[bytes]:
        try:
            descriptor = open_own(self._path, os.O_RDWR)
        except FileNotFoundError:
            return []
        except EngineError as error:
            sys.stderr.write(f"{error}; it is removed\n")
            remove(self._path)
            return []
        except OSError as error:
            note = f"cannot read {self._path}: {error.strerror}\n"
            if note != self._noted:
                sys.stderr.write(note)
            self._noted = note
            return []
        with open(descriptor, "rb") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                # Another process is writing; read at the next look.
                return []
            lines = stream.read().splitlines()
            self._path.unlink()
        return lines


def _append(path: Path, line: bytes) -> bool:
    """Append `line`; return False if the engine took the file away in between."""
    with open(open_own(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        try:
            if not os.path.samestat(os.fstat(stream.fileno()), os.stat(path)):
                return False
        except FileNotFoundError:
            return False
        stream.write(line)
        return True
