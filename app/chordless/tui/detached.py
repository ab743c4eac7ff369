"""A run that goes on without the dashboard: ``chordless resume`` in a session of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from chordless.protocol.orders import RunCommand
from kernels_ti import EngineError

LOG = "detached.log"
# It looks where its parent looks, and nowhere else; see `chordless.engine.process`.
_BOOT = (
    "import sys; n = int(sys.argv[1]); arguments = sys.argv[2 : 2 + n]; sys.path[:] = sys.argv[2 + n :]; "
    "from chordless.cli import main; sys.exit(main(arguments))"
)


def go_on_detached(command: RunCommand, directory: Path) -> subprocess.Popen[bytes]:
    """Start a process that goes on with a stopped run and outlives this one.

    Parameters
    ----------
    command : RunCommand
        What was asked of the engine that stopped: its device, limit and so on hold further on.
    directory : Path
        The run directory. What the process says besides events is appended to ``detached.log`` there.

    Returns
    -------
    Popen
        The process; it need not be waited for.

    Raises
    ------
    EngineError
        If it cannot be started.
    """
    arguments = ["resume", str(directory.resolve()), *_options(command)]
    try:
        with open(directory / LOG, "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", _BOOT, str(len(arguments)), *arguments, *sys.path],
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
        "--limit": command.limit,
        "--timeout": command.timeout,
        "--checkpoint-every": command.checkpoint_every,
    }
    chosen = [text for option, value in given.items() if value is not None for text in (option, str(value))]
    return [*chosen, "--progress", "none"]
