"""What Taichi prints while it starts: it names its device only there."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress


@contextmanager
def captured_output() -> Iterator[list[str]]:
    """Capture the standard output and error of the process, also what its libraries write there.

    Yields
    ------
    list of str
        Its only item is the text, once the block is left.
    """
    captured = [""]
    _flush()
    saved = {}
    for descriptor in (1, 2):
        with suppress(OSError):  # it may be closed
            saved[descriptor] = os.dup(descriptor)
    with tempfile.TemporaryFile() as file:
        try:
            for descriptor in saved:
                os.dup2(file.fileno(), descriptor)
            with redirect_stdout(io.StringIO()):  # a notebook's output is not descriptor 1
                yield captured
        finally:
            _flush()
            for descriptor, original in saved.items():
                os.dup2(original, descriptor)
                os.close(original)
            file.seek(0)
            captured[0] = file.read().decode(errors="replace")


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
