"""The engine process: reads the graph, opens the device, searches, writes the cycles, reports.

It is started by `chordless.engine.process`, obeys the commands of one pipe and reports on another; see
`chordless.protocol.codec`. It never looks at the terminal's signals: its client
decides, and where it dies of one, the pipes close.
"""

from __future__ import annotations

import os
import signal
import traceback
from typing import TYPE_CHECKING

from chordless.engine.channel import Channel, ClientIsGone
from chordless.protocol.events import DeviceReport, Failed
from chordless.protocol.orders import BatchCommand, ProbeCommand, RunCommand
from kernels_ti.errors import ChordlessError, DeviceError, EngineError

if TYPE_CHECKING:
    pass


def probe(command: ProbeCommand, channel: Channel) -> None:
    """Open the arch, which tests it, and report what it is; ``auto`` is here what it is for a large graph."""
    from kernels_ti.device.device import cuda_is_here, open_device

    arch = command.arch
    if arch == "auto":
        arch = "cuda" if cuda_is_here() else "cpu"
    try:
        device = open_device(arch)
    except DeviceError as error:
        channel.send(DeviceReport(arch, available=False, message=str(error)))
    else:
        channel.send(
            DeviceReport(arch, available=True, device=device.name, memory=device.memory, threads=device.threads)
        )


def _failure(error: Exception) -> Failed:
    if isinstance(error, OSError) and isinstance(error.__context__, ChordlessError):
        # The taking away of a folder that is gone has failed too; what went wrong is what came first.
        error = error.__context__
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
    left_to_client = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in left_to_client:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, left_to_client)
    # Taichi and drivers print to descriptor 1, and standard output carries data only.
    standard_output = os.dup(1)
    os.dup2(2, 1)
    channel = Channel(commands, events)
    try:
        try:
            command = channel.first_command()
            if isinstance(command, RunCommand):
                from chordless.engine.search_run import run

                run(command, channel, standard_output)
            elif isinstance(command, BatchCommand):
                from chordless.batch.runner import run_batch

                run_batch(command, channel)
            elif isinstance(command, ProbeCommand):
                probe(command, channel)
        except Exception as error:
            channel.send(_failure(error))
    except ClientIsGone:
        # Nobody is left to hear of anything, so nothing is cleaned up that the system does not clean up itself.
        os._exit(1)
