"""The dashboard in a browser, through textual-serve."""

from __future__ import annotations

import argparse
import os
import shlex
import socket
import sys
from typing import Any

from kernels_ti.errors import EngineError, OptionError

PORT = 8000
_HOST = "localhost"
# Each dashboard finds the program where this process does: `-c` and `-m` would look into the current folder first.
_BOOT = "import sys; sys.path[:] = {path!r}; from chordless.cli import main; sys.exit(main(sys.argv[1:]))"
_LARGEST_PORT = 65535
# A dashboard that stops a run lets it write a checkpoint first.
_SECONDS_TO_END = 60.0


def port(text: str) -> int:
    """Return the port that `text` means."""
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= _LARGEST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, 1 to {_LARGEST_PORT}; a GRAPH stands before --web")
    return number


def serve(arguments: list[str], port: int) -> int:
    """Serve a dashboard to each browser window on this machine until Ctrl-C; return the exit code.

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
    import asyncio  # here, as every command would load it

    try:
        from textual_serve import app_service, server
    except ImportError as error:
        raise OptionError("a dashboard in the browser needs textual-serve: pip install 'chordless[web]'") from error

    browsers: set[asyncio.Task[object]] = set()

    class PatientService(app_service.AppService):
        """Waits for its dashboard: a loop that is closed before it knows of a child's end complains."""

        async def stop(self) -> None:
            if self._process is None:
                return
            try:
                await asyncio.wait_for(super().stop(), _SECONDS_TO_END)
            except asyncio.TimeoutError:
                self._process.kill()
            await self._process.wait()

    class QuietServer(server.Server):
        """Says one line, logs nothing but what failed, and ends at once, its dashboards first."""

        def initialize_logging(self) -> None:
            pass

        async def on_startup(self, app: object) -> None:
            sys.stderr.write(f"the dashboard is at {self.public_url}, for this machine alone; Ctrl-C ends it\n")

        async def handle_websocket(self, request: Any) -> Any:
            browser = asyncio.current_task()
            assert browser is not None
            browsers.add(browser)
            try:
                return await super().handle_websocket(request)
            finally:
                browsers.remove(browser)

        async def on_shutdown(self, app: object) -> None:
            # A browser that stays would hold the server for a minute.
            for browser in browsers:
                browser.cancel()
            await asyncio.gather(*browsers, return_exceptions=True)

    # The server's own class of them cannot be given to it.
    server.AppService = PatientService  # type: ignore[attr-defined]
    command = shlex.join([sys.executable, "-c", _BOOT.format(path=sys.path), "tui", *arguments])
    try:
        # Before the line that says where it is.
        socket.create_server((_HOST, port)).close()
        QuietServer(command, host=_HOST, port=port, title="chordless").serve()
    except OSError as error:
        # Not its text: asyncio puts the whole address into it.
        reason = os.strerror(error.errno or 0).lower()
        raise EngineError(f"cannot serve at port {port}: {reason}; --web PORT takes another") from error
    return 0
