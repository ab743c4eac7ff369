"""Reading the bytes of graph files: files, pipes, devices, standard input, gzip. All graph files are opened here.

No read waits for ever or fills the memory: anything but an ordinary file is opened without blocking, and every read has
`Limits`.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import io
import os
import select
import signal
import stat
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import IO, Any, cast

from chordless.words.numbers import bytes_text, seconds_text
from kernels_ti import GraphError
from kernels_ti.errors import ReadingStoppedError, parameter

STANDARD_INPUT = "-"
SHOWN_STANDARD_INPUT = "standard input"
"""The name of standard input in messages."""
GZIP_MAGIC = b"\x1f\x8b"

_AT_ONCE = 1 << 20
# Lists of edges seldom become ten times as small.
_MOST_TIMES = 200
_MOST_UNPACKED = 64 << 20
_SHARE_OF_FREE = 0.8
# A reader holds the bytes, the text and its lines, the numbers and the graph: it needs at least this factor.
_MEMORY_PER_BYTE = 8
MEMORY_PER_EDGE = 48
"""Bytes for an edge in the arrays from which a graph is made."""
MEMORY_PER_VERTEX = 256
"""Bytes for a name and its place in an index, and for a vertex in the arrays of the graph and of its blocks."""

_LEAST_MEMORY = 64 << 20
"""Bytes that reading may always use: a budget may be smaller than the memory that Python alone needs."""


@dataclass(frozen=True)
class Limits:
    """Limits of memory and time for reading a graph."""

    memory: int | None = None  # Bytes of memory; None for most of the free memory
    seconds: float | None = None  # After this many seconds reading ends with an error; None for no limit
    # Seconds to wait for the first byte of a pipe that nobody writes to, or for the next of a device
    patience: float = 60.0

    @property
    def most_vertices(self) -> int:
        """Largest number of vertices that a file may declare."""
        return self.most_bytes // MEMORY_PER_VERTEX

    @property
    def most_bytes(self) -> int:
        """Bytes that reading may use."""
        import psutil

        budget = _SHARE_OF_FREE * psutil.virtual_memory().available if self.memory is None else self.memory
        return max(int(budget), _LEAST_MEMORY)


def open_input(path: str, limits: Limits) -> IO[bytes]:
    """Open a file or standard input for reading bytes: decompressed, behind a byte order mark of UTF-8.

    A GraphError says why not.
    """
    with _one_line(path):
        stream: Any = standard_input() if path == STANDARD_INPUT else _opened(path, limits.patience)
        if stream.peek(2).startswith(GZIP_MAGIC):
            stream = gzip.GzipFile(fileobj=stream)
        if stream.peek(3).startswith(codecs.BOM_UTF8):
            stream.read(3)
    return cast("IO[bytes]", stream)


def read_bytes(path: str, limits: Limits | None = None) -> bytes:
    """Read all of a file, or of standard input, decompressed. A GraphError says why not, or which limit it exceeds."""
    limits = limits or Limits()
    largest = limits.most_bytes // _MEMORY_PER_BYTE  # of the content, decompressed
    name = shown_name(path)
    # Unlike pieces that are joined, the bytes are not twice in memory at the end.
    whole = io.BytesIO()
    total = 0
    with _one_line(path):
        # The size of a pipe is not known before its end.
        packed_size = os.path.getsize(path) if path != STANDARD_INPUT and os.path.isfile(path) else largest
        if packed_size > largest:
            raise _too_large(name, largest)
        stream = open_input(path, limits)
        try:
            # In pieces: a small gzip file may decompress to any size.
            while piece := stream.read(_AT_ONCE):
                if not total and not piece.strip(b"\0"):
                    raise GraphError(f"{name}: this is a binary file (it begins with NUL bytes), not a graph file")
                whole.write(piece)
                total += len(piece)
                if total > largest:
                    raise _too_large(name, largest)
                if total > max(_MOST_UNPACKED, packed_size * _MOST_TIMES):
                    raise GraphError(
                        f"{name}: this unpacks to more than {_MOST_TIMES} times its size; unpack it if that is meant"
                    )
        finally:
            if path != STANDARD_INPUT:
                stream.close()
    return whole.getvalue()


def with_newlines(data: bytes) -> bytes:
    """Return text in which every line ends in a newline: a CR alone ends a line, too."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def shown_name(path: str) -> str:
    """Return the name of an input in messages."""
    return SHOWN_STANDARD_INPUT if path == STANDARD_INPUT else path


def comes_through_a_pipe(path: str) -> bool:
    """Return whether an input comes through a pipe, which only one process can read."""
    return path == STANDARD_INPUT or (os.path.exists(path) and not os.path.isfile(path))


@contextmanager
def ends_in_time(name: str, limits: Limits) -> Iterator[None]:
    """Raise ReadingStoppedError inside the block when the time of `limits` is over; only in the main thread."""
    if limits.seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise ReadingStoppedError(
            f"{name}: stopped by --timeout after {seconds_text(limits.seconds or 0)}, while the graph was still read"
        )

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, min(limits.seconds, threading.TIMEOUT_MAX))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _too_large(name: str, largest: int) -> GraphError:
    return GraphError(
        f"{name}: there is more to read than {bytes_text(largest)}, which is what memory allows here "
        f"({parameter('memory')} sets another limit: eight times the size of the file)"
    )


@contextmanager
def _one_line(path: str) -> Iterator[None]:
    name = shown_name(path)
    try:
        yield
    except IsADirectoryError:
        raise GraphError(f"{name}: this is a folder, not a graph file") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise GraphError(f"{name}: the gzip file is damaged or cut short: {error}") from None
    except OSError as error:
        raise GraphError(f"{name}: cannot be read: {error.strerror or error}") from None


def standard_input() -> io.BufferedReader:
    """Return standard input as bytes; bytes that are peeked at stay in its buffer."""
    buffer: Any = sys.stdin.buffer
    return buffer if isinstance(buffer, io.BufferedReader) else io.BufferedReader(buffer)


def _opened(path: str, patience: float) -> io.BufferedReader:
    if not hasattr(select, "poll"):  # Windows, whose files do not wait
        return open(path, "rb")
    return io.BufferedReader(_PatientFile(path, patience))


class _PatientFile(io.RawIOBase):
    """A file opened without blocking, so that waiting for its bytes can be ended: files in ``/proc`` may block."""

    _descriptor = -1  # of an object whose opening failed

    def __init__(self, path: str, patience: float) -> None:
        self._path = path
        self._patience = patience
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        kind = os.fstat(self._descriptor).st_mode
        if stat.S_ISDIR(kind):
            # Through `close`: Python calls that once more as it drops the object, and the number may be another's then.
            self.close()
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        self._is_pipe = stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        if not self.closed and self._descriptor >= 0:
            os.close(self._descriptor)
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Wait for bytes and read those that have come; return their number, 0 at the end."""
        waits_until = time.monotonic() + self._patience
        while True:
            ready = self._poll.poll(max(1000 * (waits_until - time.monotonic()), 0))
            try:
                count = os.readv(self._descriptor, [buffer])
            except BlockingIOError:
                # A writer has the other end of the pipe open, so there is no time limit.
                if self._is_pipe:
                    waits_until = time.monotonic() + self._patience
            else:
                # A pipe without a writer reads like a pipe at its end, but a writer may still come.
                if count or ready or not self._is_pipe:
                    return count
            if time.monotonic() >= waits_until:
                who = "nobody writes to this pipe" if self._is_pipe else "nothing comes from this device"
                raise GraphError(f"{self._path}: {who}; gave up after {seconds_text(self._patience)}")
