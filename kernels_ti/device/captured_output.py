"""The log that Taichi writes while it starts: it names a Vulkan device only there."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

_OF_THE_LOG = re.compile(rb"\[([A-Z] \d|Taichi|Quadrants)")


@contextmanager
def captured_output() -> Iterator[list[str]]:
    """Capture the log that is written to the standard output and error of the process.

    Lines that are not of the log, such as those of another thread, are written once the block is left. The only item of
    the list is the log, from then on.
    """
    captured = [""]
    _flush()
    with ExitStack() as stack:
        files = {}
        for descriptor in (1, 2):
            with suppress(OSError):  # it may be closed
                files[os.dup(descriptor)] = descriptor, stack.enter_context(tempfile.TemporaryFile())
        try:
            for descriptor, file in files.values():
                os.dup2(file.fileno(), descriptor)
            yield captured
        finally:
            _flush()
            for original, (descriptor, _) in files.items():
                os.dup2(original, descriptor)
                os.close(original)
            for descriptor, file in files.values():
                file.seek(0)
                for line in file:
                    if _OF_THE_LOG.match(line):
                        captured[0] += line.decode(errors="replace")
                    else:
                        os.write(descriptor, line)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
