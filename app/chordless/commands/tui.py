"""``chordless tui``: the dashboard."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from typing import TYPE_CHECKING

from kernels_ti import EngineError, OptionError

if TYPE_CHECKING:
    from chordless.tui.app import ChordlessApp

PORT = 8000
_LARGEST_PORT = 65535
_DUMB = (None, "", "dumb", "unknown")


DESCRIPTION = """\
Choose a graph, start a run and watch it: the frontier and the cycles by length,
live. Browse the cycles that were found, see them drawn, go on with earlier
runs. With GRAPH the form for a new run is filled in; with DIR the run there is
shown, live if an engine is at work in it, whoever started it. With the file of
a batch its graphs are shown; with a manifest the form for a batch is filled in.

`chordless` alone, on a terminal, does the same. F1 or ? shows every key.
"""
EXAMPLES = (
    "chordless tui grid:7x10",
    "chordless tui week",
    "chordless tui counts.jsonl",
    "chordless tui --ascii",
    "chordless tui week --web   # in a browser, at the address that it prints",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "target",
        metavar="GRAPH|DIR|BATCH",
        nargs="?",
        help="a file or a spec, a run directory, the file of a batch (.jsonl) or its manifest (.toml)",
    )
    add_ascii(parser)
    parser.add_argument(
        "--web",
        nargs="?",
        type=port,
        const=PORT,
        metavar="PORT",
        help=f"serve it to the browsers of this machine instead (default: port {PORT})",
    )


def add_ascii(parser: argparse.ArgumentParser) -> None:
    """Add ``--ascii``."""
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters alone")


def act(options: argparse.Namespace) -> int:
    """Run the dashboard; return the exit code."""
    if options.target == "-":
        raise OptionError("the dashboard reads its keys from standard input, so no graph: name a file or a spec")
    if options.web is not None:
        return serve([*["--ascii"] * options.ascii, "--", *[options.target] * bool(options.target)], options.web)
    check_terminal("`chordless count GRAPH` works without one")

    from pathlib import Path

    from chordless.tui.app import ChordlessApp
    from chordless.tui.batch_form import is_of_batch
    from chordless.tui.settings import load_settings

    target = options.target
    is_directory = target is not None and os.path.isdir(target)
    is_batch = target is not None and is_of_batch(target)
    settings, warnings = load_settings()
    app = ChordlessApp(
        settings,
        graph=None if is_directory or is_batch else target,
        directory=Path(target) if is_directory else None,
        batch=target if is_batch else None,
        ascii_only=options.ascii,
        warnings=warnings,
    )
    return show(app)


def check_terminal(otherwise: str) -> None:
    """Raise OptionError if standard input or output is no terminal; the message ends with `otherwise`."""
    if not is_usable_terminal():
        raise OptionError(f"the dashboard needs a terminal; {otherwise}")


def is_usable_terminal() -> bool:
    """Return whether this process has a terminal, or a browser, to draw on and to read keys from."""
    if os.environ.get("TEXTUAL_DRIVER"):
        return True
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") not in _DUMB


def show(app: ChordlessApp) -> int:
    """Run the dashboard to its end, print its last message, return the exit code."""
    from chordless.commands.lasting_terminal import lasting

    app.driver_class = lasting(app.driver_class)
    # The end of a dashboard drops what Textual has not begun yet; Python would tell of it on the terminal.
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
    try:
        last_words = app.run()
    finally:
        # After an exception, the engine that this process started is still running.
        app.end_sessions()
    if last_words:
        sys.stderr.write(f"{last_words}\n")
    return app.return_code or 0


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
