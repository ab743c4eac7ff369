"""The option ``--web``: the dashboard in a browser."""

from __future__ import annotations

import argparse
import os

from kernels_ti import EngineError, OptionError

PORT = 8000
_LARGEST_PORT = 65535


def port(text: str) -> int:
    """Return the port that `text` means."""
    number = int(text) if text.isascii() and text.isdecimal() else 0
    if not 1 <= number <= _LARGEST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, 1 to {_LARGEST_PORT}; a GRAPH stands before --web")
    return number


def serve(arguments: list[str], port: int) -> int:
    """Serve a dashboard to each browser tab on this machine until Ctrl-C; return the exit code.

    `arguments` follow ``chordless tui`` in each. A ChordlessError says that textual-serve is missing or the port taken.
    """
    import socket

    try:
        from chordless.web.server import HOST, GuardedServer
    except ModuleNotFoundError as error:
        raise OptionError("a dashboard in the browser needs textual-serve: pip install 'chordless[web]'") from error

    try:
        # Before the line that says where it is.
        socket.create_server((HOST, port)).close()
        GuardedServer(["tui", *arguments], port).serve()
    except OSError as error:
        # Not its text: asyncio puts the whole address into it.
        reason = os.strerror(error.errno or 0).lower()
        raise EngineError(f"cannot serve at port {port}: {reason}; --web PORT takes another") from error
    return 0
