"""How many bytes a pipe takes without blocking, so that a sleeping reader does not block the engine."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import stat
import struct
import sys
import termios
from collections import deque

_PAGE = os.sysconf("SC_PAGE_SIZE")
_WANTED_BYTES = 1 << 20
"""The most that Linux gives to a user. With its usual 64 KiB, reader and writer wait for each other more often."""


class PipeRoom:
    """The room in a pipe, seen from its writing end. Linux keeps what is written in pages.

    A write fills up the last page only if its rest fits there, so pages are counted, not bytes. A page that the reader
    has begun counts as full. For another kind of file, or another system, there is room for ``select.PIPE_BUF`` bytes.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pages = 0
        if sys.platform == "linux" and stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            with contextlib.suppress(OSError):  # a user may have only so many pages in all pipes
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _WANTED_BYTES)
            self._pages = fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ) // _PAGE
        self._unread: deque[int] = deque()  # the writes that the reader has not read to their end
        self._unread_bytes = self._unread_pages = 0

    def bytes(self) -> int:
        """Return how much can be written at once to a descriptor that `select` calls ready."""
        if not self._pages:
            return select.PIPE_BUF
        left: int = struct.unpack("i", fcntl.ioctl(self._descriptor, termios.FIONREAD, bytes(4)))[0]
        while self._unread and self._unread_bytes - self._unread[0] >= left:
            self._unread_bytes -= self._unread[0]
            self._unread_pages -= _pages(self._unread.popleft())
        foreign = _pages(max(left - self._unread_bytes, 0))  # of other processes that write to the same pipe
        return max((self._pages - self._unread_pages - foreign) * _PAGE, select.PIPE_BUF)

    def wrote(self, size: int) -> None:
        """Note the bytes of a write."""
        if self._pages:
            self._unread.append(size)
            self._unread_bytes += size
            self._unread_pages += _pages(size)


def _pages(size: int) -> int:
    return -(-size // _PAGE)
