"""The engine's end of the two pipes: commands in, events out."""

from __future__ import annotations

import os
import select

from app.events import (
    CheckpointCommand,
    Command,
    Event,
    GoCommand,
    PauseCommand,
    StopCommand,
    command_from_json,
    event_to_json,
)


class ClientIsGone(BaseException):
    """The other end of the pipes has closed: there is nobody left to work for, nor to report an error to."""


class Channel:
    """The engine's end of the two pipes.

    Parameters
    ----------
    commands, events : int
        The descriptors to read from and to write to.

    Attributes
    ----------
    stop_asked, paused, checkpoint_asked : bool
        What the commands so far amount to; whoever writes the checkpoint resets the last one.
    """

    def __init__(self, commands: int, events: int) -> None:
        os.set_inheritable(commands, False)
        os.set_inheritable(events, False)
        self._commands = commands
        self._events = events
        self._unread = b""
        self.stop_asked = False
        self.paused = False
        self.checkpoint_asked = False

    def first_command(self) -> Command:
        """Wait for the first command and return it."""
        while b"\n" not in self._unread:
            self._read()
        line, _, self._unread = self._unread.partition(b"\n")
        return command_from_json(line)

    def obey(self, *, wait: bool = False) -> None:
        """Take note of the commands that have come since the last call; with `wait`, of one at least."""
        while select.select([self._commands], [], [], None if wait else 0)[0]:
            self._read()
            wait = False
        *lines, self._unread = self._unread.split(b"\n")
        for line in lines:
            command = command_from_json(line)
            if isinstance(command, StopCommand):
                self.stop_asked = True
            elif isinstance(command, (PauseCommand, GoCommand)):
                self.paused = isinstance(command, PauseCommand)
            elif isinstance(command, CheckpointCommand):
                self.checkpoint_asked = True

    def send(self, event: Event) -> None:
        """Report `event`."""
        try:
            data = memoryview(event_to_json(event).encode() + b"\n")
            while data:
                data = data[os.write(self._events, data) :]
        except BrokenPipeError as error:
            raise ClientIsGone from error

    def _read(self) -> None:
        data = os.read(self._commands, 1 << 16)
        if not data:
            raise ClientIsGone
        self._unread += data
