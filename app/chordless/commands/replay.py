"""``chordless replay``: watch a recorded run once more."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from chordless.commands import tui
from chordless.tui.settings import load_settings

DESCRIPTION = """\
Play a recording in the dashboard: what `--events FILE` has written, or the
events.jsonl of a run directory. No wait is longer than five seconds.
"""
EXAMPLES = ("chordless replay week --speed 100", "chordless replay events.jsonl")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("recording", metavar="EVENTS", help="a file of events, or a run directory")
    parser.add_argument(
        "--speed",
        type=speed,
        default=1.0,
        metavar="X",
        help="X times as fast as it was (default: 1); 0 shows the end at once",
    )
    tui.add_ascii(parser)


def speed(text: str) -> float:
    """Return the factor that `text` means: 0 or more."""
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not 0 <= factor < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a speed: a number, 0 or more")
    return factor


def act(options: argparse.Namespace) -> int:
    """Play the recording; return the exit code."""
    tui.check_terminal("the recording is JSON, one event a line")

    from chordless.tui.app import ChordlessApp

    settings, warnings = load_settings()
    app = ChordlessApp(
        settings, replay=Path(options.recording), speed=options.speed, ascii_only=options.ascii, warnings=warnings
    )
    return tui.show(app)
