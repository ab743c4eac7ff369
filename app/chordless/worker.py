"""The engine process: reads the graph, opens the device, searches, writes the cycles, reports.

`chordless.engine.process` starts it. It reads commands from one pipe and writes events to another, see
`chordless.protocol.codec`. It ignores the signals of the terminal, because its client decides what to do with them; if
the client dies, the system kills this process (see `kernels_ti.child`).
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
import traceback
from dataclasses import asdict, replace

from chordless.engine.channel import Channel, ClientIsGone
from chordless.protocol.events import DeviceReport, Failed
from chordless.protocol.orders import BatchCommand, ProbeCommand, RunCommand
from chordless.words.shown import fault_text, long_counts
from kernels_ti import ChordlessError, DeviceError, EngineError, taichi_door
from kernels_ti.device import owner
from kernels_ti.errors import in_words_of_command_line

_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Python's own 700 make it look through all objects of Taichi again and again while those are made."""


def probe(command: ProbeCommand, channel: Channel) -> None:
    """Open and test the arch, and report its properties; ``auto`` is resolved as for a large graph."""
    from kernels_ti import open_device
    from kernels_ti.device.device import cuda_is_here

    arch = command.arch
    if arch == "auto":
        arch = "cuda" if cuda_is_here() else "cpu"
    try:
        rates = None
        if command.rates:
            from chordless.engine.rates import boundary_rates

            # They tell how long the arch takes to open.
            rates = asdict(boundary_rates(arch, threads=command.threads))
        device = open_device(arch, threads=command.threads)
    except DeviceError as error:
        channel.send(DeviceReport(arch, available=False, message=str(error)))
    else:
        report = DeviceReport(arch, True, device.name, device.memory, device.threads, pinned=device.can_pin())
        channel.send(replace(report, rates=rates))


def run_batch(command: BatchCommand, channel: Channel) -> None:
    """Do all jobs of a batch, on this machine or on a cluster, and send its events."""
    from chordless.batch.output import BatchFile

    with contextlib.closing(BatchFile(command.output, keep_unreadable=not command.fail_fast)) as output:
        if command.cluster is None:
            from chordless.batch.runner import Batch

            Batch(command, channel, output).go()
        else:
            from chordless.batch.spread import go_on_cluster  # Dask is an extra

            go_on_cluster(command, channel, output)


def _failure(error: Exception) -> Failed:
    if isinstance(error, OSError) and isinstance(error.__context__, ChordlessError):
        # If a folder has vanished, removing it fails as well. Report the first error.
        error = error.__context__
    if isinstance(error, ChordlessError):
        return Failed(type(error).__name__, str(error), error.exit_code)
    if isinstance(error, MemoryError):
        return Failed(EngineError.__name__, f"out of memory: {error}".removesuffix(": "), EngineError.exit_code)
    return Failed(type(error).__name__, fault_text(error), EngineError.exit_code, traceback.format_exc())


def main(commands: int, events: int) -> None:
    """Serve one command and end; the descriptors are those of the pipes from and to the client."""
    whole = False

    def leave() -> None:
        # Python would take apart all modules and look for garbage; the operating system frees the memory anyway.
        if whole:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)

    atexit.register(leave)  # registered first, so called last
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    left_to_client = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in left_to_client:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, left_to_client)
    # Taichi and drivers print to descriptor 1, but standard output must carry data only.
    standard_output = os.dup(1)
    os.dup2(2, 1)
    channel = Channel(commands, events)
    owner.own()
    taichi_door.hurry()
    try:
        with in_words_of_command_line(), long_counts():
            serve(channel, standard_output)
    except ClientIsGone:
        # The client is gone, so leave the cleaning up to the operating system.
        os._exit(1)
    whole = True


def serve(channel: Channel, standard_output: int) -> None:
    """Carry out the first command of a client, or report why that failed."""
    try:
        command = channel.first_command()
        if isinstance(command, RunCommand):
            if command.arch == "cuda" and command.cluster is None:  # with a cluster its workers take the GPUs
                from kernels_ti.device import cuda

                cuda.wake()
            from chordless.engine.search_run import run

            run(command, channel, standard_output)
        elif isinstance(command, BatchCommand):
            run_batch(command, channel)
        elif isinstance(command, ProbeCommand):
            probe(command, channel)
    except Exception as error:
        channel.send(_failure(error))
