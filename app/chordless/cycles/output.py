"""The outputs of a listing: lines or bit rows, written during the search and continued when a run is resumed."""

from __future__ import annotations

import contextlib
import io
import mmap
import os
import select
import stat
import struct
import sys
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from chordless.cycles.base import CycleOutput, checksum_of, identity_of, not_own, require_own
from chordless.cycles.lines import CycleEncoder, LineFormat
from chordless.cycles.read import CYCLES_FOLDER, read_rows
from chordless.cycles.write import RowOutput, begins_like_rows, require_unchanged
from chordless.files import open_alone, require_in_place, writing
from chordless.values import SHORTEST_CYCLE
from chordless.words.shown import visible
from kernels_ti import EngineError, OptionError
from kernels_ti.cycles import Cycles
from kernels_ti.errors import CheckpointError

with contextlib.suppress(ModuleNotFoundError):  # Windows: help is shown there, too
    import fcntl
    import termios

if TYPE_CHECKING:
    from chordless.protocol.orders import RunCommand
    from kernels_ti import Graph

STANDARD_OUTPUT = "-"

_PAGE = mmap.PAGESIZE
_PIPE_BYTES = 1 << 20
"""The most that Linux gives to a user. With its usual 64 KiB, reader and writer wait for each other more often."""
_SECONDS_BETWEEN_QUESTIONS = 0.1
# Bytes read to find the first line of a file; a foreign file may have no line end.
_LONGEST_FIRST_LINE = 1 << 26


@contextlib.contextmanager
def open_output(
    command: RunCommand, graph: Graph, standard_output: int, position: Mapping[str, int] | None = None
) -> Iterator[CycleOutput]:
    """Open the output that `command` names: standard output, a file of lines, bit rows or columns, a run directory.

    The descriptor of standard output is closed at the end if it is the output. With a result of `CycleOutput.position`,
    output beyond it is cut off, and writing continues there. Raises OptionError for a name that does not fit in a line
    or a graph too large for bit rows, EngineError for an output that cannot be opened or no longer holds what
    `position` says.
    """
    assert command.output is not None
    output: RowOutput | LineOutput
    if command.output_format == "parquet" or command.output_format == "arrow":
        from chordless.cycles.columns import column_output

        with column_output(command.output, graph, command.output_format, command.limit) as columns:
            yield columns
        return
    if command.output_format == "parts":
        folder = Path(command.output) / CYCLES_FOLDER
        output = RowOutput.to_folder(folder, graph.n, limit=command.limit, position=position)
    elif command.output_format == "npy":
        output = RowOutput(Path(command.output), graph.n, limit=command.limit, position=position)
    else:
        names = graph.names
        if command.output == STANDARD_OUTPUT and os.isatty(standard_output):
            names = tuple(visible(str(name)) for name in names)
        encoder = CycleEncoder(names, command.output_format, shortest=_shortest(command))
        if command.output == STANDARD_OUTPUT:
            output = LineOutput(standard_output, "standard output", encoder, limit=command.limit)
        else:
            output = LineOutput.to_file(command.output, encoder, limit=command.limit, position=position)
    try:
        yield output
        if command.output != STANDARD_OUTPUT:
            output.require_in_place()
    finally:
        output.close()


def check_listing(command: RunCommand, graph: Graph, position: Mapping[str, int]) -> None:
    """Raise CheckpointError if the cycles of a finished listing are not in its file any more; see `require_own`."""
    if command.output is None:
        return
    if command.output_format == "text" or command.output_format == "jsonl":
        encoder = CycleEncoder(graph.names, command.output_format, shortest=_shortest(command))
        os.close(LineOutput.own_file(command.output, encoder, position))
    elif command.output_format == "npy":
        if not begins_like_rows(command.output, graph.n):
            raise not_own(command.output)
        require_unchanged(Path(command.output), graph.n, position)
    elif command.output_format == "parts":
        # It raises an error where parts are gone.
        read_rows(command.output, position)
        require_unchanged(Path(command.output) / CYCLES_FOLDER, graph.n, position)


def _shortest(command: RunCommand) -> int:
    """Return the fewest names in a line of a listing: one for a self-loop, two for a path that is an edge."""
    return min(command.min_length, SHORTEST_CYCLE)


def require_listing(command: RunCommand, graph: Graph) -> None:
    """Raise CheckpointError if the output of a resumed run is a file with content that is no listing of this graph.

    The cycles of a pick are written anew from the beginning. A file that somebody else has put there must not be
    lost.
    """
    path = command.output
    if path is None or path == STANDARD_OUTPUT or not os.path.isfile(path) or not os.path.getsize(path):
        return
    if command.output_format == "npy":
        is_listing = begins_like_rows(path, graph.n)
    else:
        with open(path, "rb") as stream:
            line_format: LineFormat = "jsonl" if command.output_format == "jsonl" else "text"
            encoder = CycleEncoder(graph.names, line_format, shortest=_shortest(command))
            is_listing = encoder.could_begin(stream.readline(_LONGEST_FIRST_LINE))
    if not is_listing:
        raise not_own(path)


class _PipeRoom:
    """How many bytes a pipe takes without blocking, so that a sleeping reader does not block the engine.

    Linux keeps what is written in pages. A write fills up the last page only if its rest fits there, so pages are
    counted, not bytes. A page that the reader has begun counts as full. For another kind of file, or another system,
    there is room for ``select.PIPE_BUF`` bytes.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pages = 0
        if sys.platform == "linux" and stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            with contextlib.suppress(OSError):  # a user may have only so many pages in all pipes
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
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


class LineOutput(CycleOutput):
    """Lines to a file or to standard output, at most `limit`, of which `listed` exist; `label` is for messages."""

    def __init__(
        self, descriptor: int, label: str, encoder: CycleEncoder, *, limit: int | None, listed: int = 0,
        checksum: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(listed)
        self._checksum = checksum
        self._descriptor = descriptor
        self._label = label
        self._encoder = encoder
        self._limit = limit
        self._ask_at = 0.0
        self._regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._room = _PipeRoom(descriptor)

    @classmethod
    def to_file(
        cls, path: str, encoder: CycleEncoder, *, limit: int | None = None, position: Mapping[str, int] | None = None
    ) -> LineOutput:
        """Open a file, empty, or cut off at a position; see `open_output`."""
        if position is None:
            with writing(path):
                # A pipe that is open for reading as well would never report that its reader has gone.
                access = os.O_RDWR if os.path.isfile(path) or not os.path.exists(path) else os.O_WRONLY
                descriptor = open_alone(path, access | os.O_CREAT | os.O_TRUNC)
            return cls(descriptor, path, encoder, limit=limit)
        descriptor = cls.own_file(path, encoder, position)
        os.ftruncate(descriptor, position["bytes"])
        os.lseek(descriptor, 0, os.SEEK_END)
        # Checkpoints of earlier versions have none.
        checksum = position.get("checksum") or checksum_of(descriptor, 0, position["bytes"])
        return cls(descriptor, path, encoder, limit=limit, listed=position["listed"], checksum=checksum)

    @staticmethod
    def own_file(path: str, encoder: CycleEncoder, position: Mapping[str, int]) -> int:
        """Open the file that the run wrote; a CheckpointError if the lines up to a position are not in it any more."""
        again = "put the run's file back in its place, or begin the run again"
        try:
            descriptor = open_alone(path, os.O_RDWR)
        except OSError as error:
            raise CheckpointError(f"cannot go on with {path}: {error.strerror}; {again}") from error
        try:
            if os.fstat(descriptor).st_size < position["bytes"]:
                raise CheckpointError(f"cannot go on with {path}: it is shorter than the run left it; {again}")
            require_own(
                descriptor, path, position, 0, position["bytes"], lambda: encoder.could_begin(_first_line(descriptor))
            )
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def write(self, found: Cycles, give_up: Callable[[], bool]) -> bool:
        """Write the cycles of a slice; return False after the limit, or once `give_up` is True.

        That is asked between pieces, and while a reader sleeps. Raises BrokenPipeError if the reader has gone,
        EngineError if the output cannot be written; only whole lines are there.
        """
        for lines, data in self._encoder.encode(found):
            if give_up():
                return False
            if self._limit is not None and self.listed + lines > self._limit:
                left = self._limit - self.listed
                self._put(b"".join(islice(io.BytesIO(data), left)), left, give_up)
                return False
            if not self._put(data, lines, give_up):
                return False
        return True

    def reader_is_gone(self) -> bool:
        """Whether this is a pipe whose reader has closed its end."""
        if self._regular:
            return False
        poll = select.poll()
        poll.register(self._descriptor, 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))

    def require_in_place(self) -> None:
        """Raise EngineError if the file is no longer where it was opened."""
        require_in_place(self._descriptor, self._label)

    def position(self) -> dict[str, int]:
        """Sync everything written to the disk; return the position from which to continue.

        It has ``bytes``, their ``checksum``, ``listed`` and what `chordless.cycles.base.identity_of` returns. Raises
        OptionError if this is not a file, EngineError if the disk fails.
        """
        if not self._regular:
            raise OptionError(f"{self._label} is not a file, so a run that writes to it cannot be resumed later")
        with writing(self._label):
            os.fsync(self._descriptor)
        end = os.lseek(self._descriptor, 0, os.SEEK_CUR)
        identity = identity_of(self._descriptor, 0, end)
        return {"bytes": end, "listed": self.listed, "checksum": self._checksum, **identity}

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._descriptor)

    def _put(self, data: bytes, lines: int, give_up: Callable[[], bool]) -> bool:
        """Write whole lines, `lines` in number; return whether all were written, or the rest was given up."""
        sent = known = 0  # bytes that were sent, and how many of their lines are in `listed`
        view = memoryview(data)

        def count_lines() -> None:
            nonlocal known
            # To find the line ends takes as long as to make the lines: not for whole pieces.
            total = lines if sent == len(data) else data.count(b"\n", 0, sent)
            self._listed += total - known
            known = total

        def asked() -> bool:
            count_lines()
            return give_up()

        try:
            try:
                while sent < len(data):
                    end = len(data)
                    if not self._regular:
                        if not self._reader_is_ready(asked):
                            return False
                        end = data.rfind(b"\n", sent, sent + self._room.bytes()) + 1 or data.index(b"\n", sent) + 1
                    begin = sent
                    while sent < end:
                        sent += os.write(self._descriptor, view[sent:end])
                    self._room.wrote(end - begin)
            finally:
                count_lines()
        except BrokenPipeError:
            raise
        except OSError as error:
            whole = data.rfind(b"\n", 0, sent) + 1
            self._cut(sent - whole)
            self._checksum = zlib.crc32(view[:whole], self._checksum)
            kept = f"; whole lines written before: {self.listed:,}" if self.listed else ""
            raise EngineError(f"cannot write {self._label}: {error.strerror}{kept}") from error
        if self._regular:
            self._checksum = zlib.crc32(data, self._checksum)
        return True

    def _reader_is_ready(self, give_up: Callable[[], bool]) -> bool:
        while True:
            ready = select.select([], [self._descriptor], [], _SECONDS_BETWEEN_QUESTIONS)[1]
            now = time.monotonic()
            if now >= self._ask_at:
                self._ask_at = now + _SECONDS_BETWEEN_QUESTIONS
                if give_up():
                    return False
            if ready:
                return True

    def _cut(self, torn: int) -> None:
        if self._regular and torn:
            end = os.lseek(self._descriptor, -torn, os.SEEK_CUR)
            os.ftruncate(self._descriptor, end)


def _first_line(descriptor: int) -> bytes:
    """Return the first line of a file, with its end; without it if the line is torn."""
    with open(descriptor, "rb", closefd=False) as stream:
        stream.seek(0)
        return stream.readline(_LONGEST_FIRST_LINE)
