"""The last event of an engine that was killed because it compiled when it was asked to stop."""

from __future__ import annotations

import time
from dataclasses import fields

from chordless.protocol.events import Finished, Progress, Started
from chordless.protocol.orders import Command, RunCommand


def loses_nothing(command: Command) -> bool:
    """Return whether an engine that compiles may be killed: cycles on their way to a file or pipe would be lost.

    Those of a run with a folder are on the disk, since such a run keeps a checkpoint before it compiles.
    """
    return isinstance(command, RunCommand) and (command.output is None or command.checkpoint is not None)


def finished_at(started: Started, newest: Progress, command: Command) -> Finished:
    """Return the last event of a stopped run whose last report is the `newest`."""
    assert isinstance(command, RunCommand)
    known = {item.name for item in fields(Finished)}
    seconds = max(started.setup_seconds + newest.seconds, time.time() - command.program_start)
    along = {"width": newest.width, "states": newest.states or 0}
    return Finished(
        **{name: value for name, value in {**vars(started), **vars(newest)}.items() if name in known},
        reason="interrupted",
        enumerate_seconds=newest.seconds,
        total_seconds=seconds,
        peak_memory_bytes=newest.memory_bytes,
        checkpoint=None if started.directory is None else command.checkpoint,
        boundary=None if newest.states is None else along,
    )
