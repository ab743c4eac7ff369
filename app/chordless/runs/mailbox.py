"""Orders to the engine that is at work in a run directory, from any process: a file that it looks into between slices.

Commands are appended to the file ``commands`` of the run directory, one a line, under a lock of that file; the engine
takes them out, and the file away, under the same lock, so none gets lost or is obeyed twice.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from pathlib import Path

from chordless.protocol.codec import command_from_json, command_to_json
from chordless.protocol.orders import CheckpointCommand, GoCommand, PauseCommand, StopCommand
from kernels_ti.errors import EngineError

_MAILBOX = "commands"
_LOCKED = "run.json"
SECONDS_BETWEEN_LOOKS = 0.2
# Between the making of run.json and its lock a moment passes.
_SECONDS_TO_BEGIN = 10.0
Order = StopCommand | PauseCommand | GoCommand | CheckpointCommand
"""What an engine at work obeys."""


def post(directory: str | Path, order: Order) -> None:
    """Leave a command for the engine that is at work in a run directory.

    Parameters
    ----------
    directory : str or Path
    order : StopCommand, PauseCommand, GoCommand or CheckpointCommand

    Raises
    ------
    EngineError
        If no engine is at work there, or the file cannot be written.
    """
    if not is_at_work(directory):
        raise EngineError(f"no engine is at work in {directory}")
    path = Path(directory) / _MAILBOX
    line = command_to_json(order).encode() + b"\n"
    try:
        while not _append(path, line):
            pass
    except OSError as error:
        raise EngineError(f"cannot write {path}: {error.strerror}") from error


def is_at_work(directory: str | Path) -> bool:
    """Return whether an engine is at work in a run directory; False also where there is no such directory."""
    try:
        descriptor = os.open(Path(directory) / _LOCKED, os.O_RDONLY)
    except OSError:
        return False
    try:
        status = os.fstat(descriptor)
        if status.st_size == 0 and time.time() - status.st_mtime < _SECONDS_TO_BEGIN:
            # An engine is about to take the lock, and would fail if it were taken just now, even for a moment.
            return True
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


class Mailbox:
    """The engine's end. What was left there for an engine before this one is thrown away.

    Parameters
    ----------
    directory : str or Path
        The run directory, whose lock this process holds.
    """

    def __init__(self, directory: str | Path) -> None:
        self._path = Path(directory) / _MAILBOX
        self._next = 0.0
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()

    def take(self) -> list[Order]:
        """Return what has come, if it is time to look again; a line that is no order is passed over with a note."""
        now = time.monotonic()
        if now < self._next:
            return []
        self._next = now + SECONDS_BETWEEN_LOOKS
        orders: list[Order] = []
        for line in self._take_lines():
            try:
                command = command_from_json(line)
            except EngineError as error:
                sys.stderr.write(f"{self._path}: a line is passed over: {error}\n")
                continue
            if isinstance(command, Order):
                orders.append(command)
            else:
                sys.stderr.write(f"{self._path}: a line is passed over: {command.name!r} is no order\n")
        return orders

    def _take_lines(self) -> list[bytes]:
        try:
            descriptor = os.open(self._path, os.O_RDWR)
        except FileNotFoundError:
            return []
        except OSError as error:
            sys.stderr.write(f"cannot read {self._path}: {error.strerror}\n")
            return []
        with open(descriptor, "rb") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                # Somebody is writing; next time.
                return []
            lines = stream.read().splitlines()
            self._path.unlink()
        return lines


def _append(path: Path, line: bytes) -> bool:
    """Append `line`; return False if the engine took the file away in between."""
    with open(path, "ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        try:
            if not os.path.samestat(os.fstat(stream.fileno()), os.stat(path)):
                return False
        except FileNotFoundError:
            return False
        stream.write(line)
        return True
