"""The engine's end of the two pipes: commands come in, events go out. Orders may also come from a mailbox."""

from __future__ import annotations

import os
import select
from collections.abc import Callable

from chordless.graphs.paths import told_in_paths
from chordless.protocol.codec import command_from_json, event_to_json
from chordless.protocol.events import Event
from chordless.protocol.orders import CheckpointCommand, Command, GoCommand, PauseCommand, StopCommand
from chordless.runs.mailbox import SECONDS_BETWEEN_LOOKS, Mailbox


class ClientIsGone(BaseException):
    """The client has closed its end of the pipes, so there is nobody to work for or to report to."""


class Channel:
    """The engine's end of the two pipes: the descriptors to read commands from and to write events to.

    `stop_asked`, `paused` and `checkpoint_asked` are what the commands so far ask for; the code that writes a
    checkpoint resets the last one. `mailbox` is the file with orders of other processes. `extra` is the number of
    vertices that cycles have and the paths for which they stand do not; see `chordless.graphs.paths`.
    """

    extra = 0

    def __init__(self, commands: int, events: int) -> None:
        os.set_inheritable(commands, False)
        os.set_inheritable(events, False)
        self._commands = commands
        self._events = events
        self._unread = b""
        self.stop_asked = False
        self.paused = False
        self.checkpoint_asked = False
        self.mailbox: Mailbox | None = None

    def first_command(self) -> Command:
        """Wait for the first command and return it."""
        while b"\n" not in self._unread:
            self._read()
        line, _, self._unread = self._unread.partition(b"\n")
        return command_from_json(line)

    def obey(self, *, wait: bool = False) -> None:
        """Apply the commands received since the last call; with `wait`, wait for at least one."""
        while True:
            commands = self._piped_commands(wait)
            if self.mailbox is not None:
                commands += self.mailbox.take()
            for command in commands:
                self._take_note(command)
            if commands or not wait:
                return

    def _piped_commands(self, wait: bool) -> list[Command]:
        """Return the commands of the pipe; with `wait`, wait for one, or until the mailbox is due to be read."""
        patience = 0.0 if not wait else None if self.mailbox is None else SECONDS_BETWEEN_LOOKS
        while select.select([self._commands], [], [], patience)[0]:
            self._read()
            patience = 0.0
        *lines, self._unread = self._unread.split(b"\n")
        return [command_from_json(line) for line in lines]

    def _take_note(self, command: Command) -> None:
        if isinstance(command, StopCommand):
            self.stop_asked = True
        elif isinstance(command, (PauseCommand, GoCommand)):
            self.paused = isinstance(command, PauseCommand)
        elif isinstance(command, CheckpointCommand):
            self.checkpoint_asked = True

    def send(self, event: Event) -> None:
        """Report `event`."""
        try:
            data = memoryview(event_to_json(told_in_paths(event, self.extra)).encode() + b"\n")
            while data:
                data = data[os.write(self._events, data) :]
        except BrokenPipeError as error:
            raise ClientIsGone from error

    def _read(self) -> None:
        data = os.read(self._commands, 1 << 16)
        if not data:
            raise ClientIsGone
        self._unread += data


class CallChannel(Channel):
    """Hands its events to a function instead of a pipe. It gets one order: `must_stop` says whether to stop."""

    def __init__(self, hear: Callable[[Event], None], must_stop: Callable[[], bool] = lambda: False) -> None:
        self._hear, self._must_stop = hear, must_stop
        self.stop_asked = self.paused = self.checkpoint_asked = False
        self.mailbox = None

    def obey(self, *, wait: bool = False) -> None:
        """Ask whether to stop."""
        self.stop_asked = self._must_stop()

    def send(self, event: Event) -> None:
        """Hand an event over."""
        self._hear(told_in_paths(event, self.extra))
