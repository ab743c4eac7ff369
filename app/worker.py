"""The engine process: reads the graph, opens the device, searches, writes the cycles, reports.

It is started by `app.client`, obeys the commands of one pipe and reports on another; see `app.events`. It never
looks at the terminal's signals: its client decides.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from app.events import (
    Command,
    DeviceReport,
    Event,
    Failed,
    Finished,
    ProbeCommand,
    Progress,
    Reason,
    RunCommand,
    Started,
    StopCommand,
    command_from_json,
    event_to_json,
)
from kernels_ti.errors import ChordlessError, DeviceError, EngineError

if TYPE_CHECKING:
    from app.results import CycleOutput
    from kernels_ti.run import Run, Snapshot

_SECONDS_BETWEEN_REPORTS = 0.1
_NOT_OPTIONS = ("graph", "program_start")


class ClientIsGone(BaseException):
    """The other end of the pipes has closed: there is nobody left to work for, nor to report an error to."""


class Channel:
    """The engine's end of the two pipes.

    Parameters
    ----------
    commands, events : int
        The descriptors to read from and to write to.
    """

    def __init__(self, commands: int, events: int) -> None:
        os.set_inheritable(commands, False)
        os.set_inheritable(events, False)
        self._commands = commands
        self._events = events
        self._unread = b""
        self._stop_asked = False

    def first_command(self) -> Command:
        """Wait for the first command and return it."""
        while b"\n" not in self._unread:
            self._read()
        line, _, self._unread = self._unread.partition(b"\n")
        return command_from_json(line)

    def stop_asked(self) -> bool:
        """Obey what has come since the last call, without waiting; return whether a stop was asked for."""
        while select.select([self._commands], [], [], 0)[0]:
            self._read()
        *lines, self._unread = self._unread.split(b"\n")
        for line in lines:
            if isinstance(command_from_json(line), StopCommand):
                self._stop_asked = True
        return self._stop_asked

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


@dataclass
class Search:
    """One run: slices of search and pieces of output, between which commands, limits and reports have their turn."""

    command: RunCommand
    channel: Channel
    run: Run
    output: CycleOutput | None

    def __post_init__(self) -> None:
        self._snapshot = self.run.snapshot()
        self._began = self._reported = time.monotonic()

    def go(self) -> tuple[Reason, Snapshot]:
        """Search until the end, a limit or a stop; return why it ended and the last totals."""
        while not self.run.finished:
            reason = self._pause()
            if reason is not None:
                return reason, self._snapshot
            self._snapshot = self.run.advance()
            reason = self._drain()
            if reason is not None:
                return reason, self._snapshot
        return "complete", self._snapshot

    def _drain(self) -> Reason | None:
        if self.output is None:
            return None
        try:
            if self.output.write(self.run.take_cycles(), lambda: self._pause() is not None):
                return None
        except BrokenPipeError:
            return "closed"
        return self._pause()

    def _pause(self) -> Reason | None:
        """Report if it is time to; return why to end here, if there is a reason, and then the same from now on."""
        if time.monotonic() - self._reported >= _SECONDS_BETWEEN_REPORTS:
            self._reported = time.monotonic()
            self.channel.send(self._progress())
        if self.channel.stop_asked():
            return "interrupted"
        if self.output is not None and self.output.reader_is_gone():
            return "closed"
        if self.command.limit is not None and self._found() >= self.command.limit:
            return "limit"
        if self.command.timeout is not None and time.monotonic() - self._began >= self.command.timeout:
            return "timeout"
        return None

    def _found(self) -> int:
        return self._snapshot.cycles if self.output is None else self.output.listed

    def _progress(self) -> Progress:
        snapshot = self._snapshot
        return Progress(
            seconds=snapshot.seconds,
            paths=snapshot.paths,
            cycles=snapshot.cycles,
            frontier=snapshot.frontier,
            frontier_by_length=snapshot.paths_by_length,
            cycles_by_length=snapshot.cycles_by_length,
            device_bytes=snapshot.device_bytes,
            listed=0 if self.output is None else self.output.listed,
        )


def run(command: RunCommand, channel: Channel, standard_output: int) -> None:
    """Do what `command` says and report the result.

    Parameters
    ----------
    command : RunCommand
    channel : Channel
    standard_output : int
        Descriptor of what the user knows as standard output; this process's own descriptor 1 is something else.

    Raises
    ------
    ChordlessError
        If the graph, the options, the device or the output are no good.
    """
    from app.formats import load_graph
    from kernels_ti.run import Options, Run

    options = Options(
        min_length=command.min_length,
        max_length=command.max_length,
        expansion=command.expansion,
        collect=command.output is not None,
    )
    loaded = load_graph(command.graph, simplify=command.simplify, file_format=command.file_format)
    graph = loaded.graph

    from kernels_ti.device import open_device

    device = open_device(command.arch, threads=command.threads, graph=graph)
    engine = Run(graph, device, options)
    with _opened(command, graph.names, standard_output) as output:
        setup_seconds = time.time() - command.program_start
        channel.send(
            Started(
                graph=loaded.title,
                n=graph.n,
                m=graph.m,
                max_degree=graph.max_degree,
                arch=device.arch,
                device=device.name,
                setup_seconds=setup_seconds,
                pid=os.getpid(),
                options={key: value for key, value in asdict(command).items() if key not in _NOT_OPTIONS},
            )
        )
        reason, snapshot = Search(command, channel, engine, output).go()
        listed = 0 if output is None else output.listed
    channel.send(
        Finished(
            reason=reason,
            graph=loaded.title,
            n=graph.n,
            m=graph.m,
            max_degree=graph.max_degree,
            cycles=snapshot.cycles,
            cycles_by_length=snapshot.cycles_by_length,
            paths=snapshot.paths,
            frontier=snapshot.frontier,
            frontier_by_length=snapshot.paths_by_length,
            listed=listed,
            device_bytes=snapshot.device_bytes,
            arch=device.arch,
            device=device.name,
            setup_seconds=setup_seconds,
            enumerate_seconds=snapshot.seconds,
            total_seconds=time.time() - command.program_start,
        )
    )


def probe(command: ProbeCommand, channel: Channel) -> None:
    """Open the arch, which tests it, and report what it is."""
    from kernels_ti.device import open_device

    try:
        device = open_device(command.arch)
    except DeviceError as error:
        channel.send(DeviceReport(command.arch, available=False, message=str(error)))
    else:
        channel.send(
            DeviceReport(command.arch, available=True, device=device.name, memory=device.memory, threads=device.threads)
        )


@contextlib.contextmanager
def _opened(command: RunCommand, names: tuple[object, ...], standard_output: int) -> Iterator[CycleOutput | None]:
    if command.output is None:
        yield None
        return
    from app.results import CycleEncoder, CycleOutput

    encoder = CycleEncoder(names, command.output_format)
    if command.output == "-":
        descriptor, label = standard_output, "standard output"
    else:
        label = command.output
        try:
            descriptor = os.open(command.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        except OSError as error:
            raise EngineError(f"cannot write {label}: {error.strerror}") from error
    try:
        yield CycleOutput(descriptor, label, encoder, limit=command.limit)
    finally:
        os.close(descriptor)


def _failure(error: Exception) -> Failed:
    if isinstance(error, ChordlessError):
        return Failed(type(error).__name__, str(error), error.exit_code)
    if isinstance(error, MemoryError):
        return Failed(EngineError.__name__, f"out of memory: {error}".removesuffix(": "), EngineError.exit_code)
    message = f"internal error: {type(error).__name__}: {error} (CHORDLESS_DEBUG=1 shows where)"
    return Failed(type(error).__name__, message, EngineError.exit_code, traceback.format_exc())


def main(commands: int, events: int) -> None:
    """Serve one command and end.

    Parameters
    ----------
    commands, events : int
        Descriptors of the pipes from and to the client.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    # Taichi and drivers print to descriptor 1, and standard output carries data only.
    standard_output = os.dup(1)
    os.dup2(2, 1)
    channel = Channel(commands, events)
    try:
        try:
            command = channel.first_command()
            if isinstance(command, RunCommand):
                run(command, channel, standard_output)
            elif isinstance(command, ProbeCommand):
                probe(command, channel)
        except Exception as error:
            channel.send(_failure(error))
    except ClientIsGone:
        # Nobody is left to hear of anything, so nothing is cleaned up that the system does not clean up itself.
        os._exit(1)
