"""The text on the terminal when the dashboard itself has failed."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

_PROGRAM = Path(__file__).parents[1]
_FRAMES_SHOWN = 3


def short_traceback() -> str:
    """Return the current error and the places in this program that it came from."""
    _, error, trace = sys.exc_info()
    own = [frame for frame in traceback.extract_tb(trace) if _PROGRAM in Path(frame.filename).parents]
    lines = traceback.format_list(own[-_FRAMES_SHOWN:]) + traceback.format_exception_only(error)
    return f"{''.join(lines).rstrip()}\nThe dashboard has failed; CHORDLESS_DEBUG=1 shows more."
