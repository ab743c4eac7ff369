"""The option ``--web``: the dashboard in a browser."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from kernels_ti import EngineError, OptionError

PORT = 8000
# Each dashboard finds the program where this process does: `-c` and `-m` would look into the current folder first.
_BOOT = "import sys; sys.path[:] = {path!r}; from chordless.cli import main; sys.exit(main(sys.argv[1:]))"
_LARGEST_PORT = 65535


def port(text: str) -> int:
    """Return the port that `text` means."""
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= _LARGEST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, 1 to {_LARGEST_PORT}; a GRAPH stands before --web")
    return number


def serve(arguments: list[str], port: int) -> int:
    """Serve a dashboard to each browser tab on this machine until Ctrl-C; return the exit code.

    Parameters
    ----------
    arguments : list of str
        What follows ``chordless tui`` in each of them.
    port : int

    Raises
    ------
    ChordlessError
        If textual-serve is missing, or the port is taken.
    """
    import socket

    try:
        from chordless.web.server import HOST, GuardedServer
    except ModuleNotFoundError as error:
        raise OptionError("a dashboard in the browser needs textual-serve: pip install 'chordless[web]'") from error

    command = shlex.join([sys.executable, "-c", _BOOT.format(path=sys.path), "tui", *arguments])
    try:
        # Before the line that says where it is.
        socket.create_server((HOST, port)).close()
        GuardedServer(command, port).serve()
    except OSError as error:
        # Not its text: asyncio puts the whole address into it.
        reason = os.strerror(error.errno or 0).lower()
        raise EngineError(f"cannot serve at port {port}: {reason}; --web PORT takes another") from error
    return 0
