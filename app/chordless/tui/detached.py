"""A run that goes on without the dashboard: ``chordless resume`` in a session of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from chordless.protocol.orders import RunCommand
from kernels_ti import EngineError, child

LOG = "detached.log"
_BOOT = "from chordless.cli import main; sys.exit(main())"


def go_on_detached(command: RunCommand, directory: Path) -> subprocess.Popen[bytes]:
    """Start a process that resumes a stopped run and outlives this process; nobody has to wait for it.

    The device, the limit and the other options of `command` stay in force. Whatever the process prints besides events
    is appended to ``detached.log`` in the run directory. Raise EngineError if it cannot be started.
    """
    arguments = ["resume", str(directory.resolve()), *_options(command)]
    try:
        with open(directory / LOG, "ab") as log:
            return subprocess.Popen(
                child.command(_BOOT, *arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
    except OSError as error:
        raise EngineError(f"cannot let the run go on by itself: {error.strerror}") from error


def _options(command: RunCommand) -> list[str]:
    given = {
        "--arch": command.arch,
        "--threads": command.threads,
        "--memory": command.memory,
        # The number of cycles of a sample is kept in its folder.
        "--limit": command.limit if command.pick == "all" else None,
        "--timeout": command.timeout,
        "--checkpoint-every": command.checkpoint_every,
        "--cluster": command.cluster,
        "--gpus": None if command.gpus is None else ",".join(map(str, command.gpus)),
    }
    chosen = [text for option, value in given.items() if value is not None for text in (option, str(value))]
    return [*chosen, "--progress", "none"]
