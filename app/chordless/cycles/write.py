"""Writing cycles as bit rows: one .npy file, or the parts of a run directory, each a .npy file."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from chordless.cycles.base import CycleOutput, changed, checksum_of, identity_of, require_own
from chordless.cycles.read import Rows, part_path, parts_in, row_words
from chordless.files import open_alone, open_own, open_to_read, require_in_place, sync_folder
from kernels_ti import EngineError, OptionError
from kernels_ti.errors import CheckpointError
from kernels_ti.folders import make_folder

LARGEST_GRAPH = 131_072
"""Vertices above which bit rows are refused: a cycle would take more than 16 KB."""
PART_BYTES = 1 << 30

_PIECE_BYTES = 1 << 25
_WORD = np.dtype("<u8")


class RowFile:
    """A .npy file of shape (rows, words) to which rows of 64-bit words are added.

    The header has room for any number of rows. It is rewritten in place whenever rows were added, so the file is valid
    however the process ends. With `position` that many ``rows`` stay, and the rest is cut off; outside a run directory
    it also has the file's identity, see `chordless.cycles.base`. `folder` is the descriptor of the folder of parts
    in which the file lies, wherever that was moved; files elsewhere are locked. `checksum` is that of the rows of
    earlier parts, and at last of all rows. Raises OSError if it cannot be opened
    or written, OptionError if it is no file or another process writes to it, CheckpointError if the run did not write
    it or of too few rows, and EngineError for a link in the place of a part.
    """

    def __init__(
        self, path: Path, words: int, *, position: Mapping[str, int] | None = None, folder: int | None = None,
        checksum: int = 0,
    ) -> None:  # fmt: skip
        self._row_bytes = words * _WORD.itemsize
        self._words = words
        self._header_bytes = len(npy_header(0, words))
        flags = os.O_RDWR | (os.O_CREAT | os.O_TRUNC if position is None else 0)
        if folder is None:
            self._descriptor = open_alone(path, flags)
        else:
            self._descriptor = open_own(path, flags, folder=folder)
        self.rows = 0 if position is None else position["rows"]
        try:
            if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                raise OptionError(f"{path}: bit rows can only be written to a file")
            if position is not None:
                self._check(path, None if folder is not None else position)
                # Checkpoints of earlier versions have none.
                checksum = position.get("checksum") or checksum_of(
                    self._descriptor, self._header_bytes, self._end, checksum
                )
            self.checksum = checksum
            self._write_header()
            os.ftruncate(self._descriptor, self._end)
            os.lseek(self._descriptor, 0, os.SEEK_END)
        except BaseException:
            made = os.fstat(self._descriptor)
            if position is None and stat.S_ISREG(made.st_mode) and made.st_size == 0:
                # A disk without room for its header may have had room for its name.
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path if folder is None else path.name, dir_fd=folder)
            os.close(self._descriptor)
            raise

    @property
    def _end(self) -> int:
        return self._header_bytes + self.rows * self._row_bytes

    def identity(self) -> dict[str, int]:
        """Return the identity of the file, see `chordless.cycles.base.identity_of`."""
        return identity_of(self._descriptor, self._header_bytes, self._end)

    def _check(self, path: Path, position: Mapping[str, int] | None) -> None:
        header = io.BytesIO(os.pread(self._descriptor, self._header_bytes, 0))
        try:
            np.lib.format.read_magic(header)
            shape, _, dtype = np.lib.format.read_array_header_1_0(header)
        except ValueError:
            shape, dtype = (), _WORD
        # The number of rows in the header may be outdated, if the process ended before it was rewritten.
        if (shape[1:], dtype, header.tell()) != ((self._words,), _WORD, self._header_bytes):
            raise CheckpointError(f"cannot go on with {path}: it is not the file that the run wrote")
        if os.fstat(self._descriptor).st_size < self._end:
            raise CheckpointError(
                f"cannot go on with {path}: it is shorter than the run left it; put the run's file back in its place, "
                "or begin the run again"
            )
        if position is not None:
            require_own(self._descriptor, path, position, self._header_bytes, self._end, self._has_a_cycle)

    def _has_a_cycle(self) -> bool:
        first = os.pread(self._descriptor, self._row_bytes, self._header_bytes)
        return len(first) == self._row_bytes and any(first)  # a self-loop is a cycle of one vertex

    def append(self, rows: Rows) -> None:
        """Add rows, shape (k, words); after an OSError those that fit are there, none in part."""
        data = np.ascontiguousarray(rows, _WORD).reshape(-1).view(np.uint8).data
        written = 0
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written : written + _PIECE_BYTES])
        finally:
            # A graph without vertices has no cycles, so a row has at least one word.
            added = written // max(self._row_bytes, 1)
            self.rows += added
            self.checksum = zlib.crc32(data[: added * self._row_bytes], self.checksum)
            if written < len(data):
                os.ftruncate(self._descriptor, self._end)
                os.lseek(self._descriptor, 0, os.SEEK_END)
            self._write_header()

    def require_in_place(self, path: Path) -> None:
        """Raise EngineError if the file is no longer where it was opened."""
        require_in_place(self._descriptor, path)

    def save(self) -> None:
        """Sync all rows to the disk."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _write_header(self) -> None:
        os.pwrite(self._descriptor, npy_header(self.rows, self._words), 0)


def npy_header(rows: int, words: int) -> bytes:
    """Return the first bytes of a .npy file of bit rows."""
    header = io.BytesIO()
    # numpy pads for a first dimension of 20 digits, so the header of every number of rows is of the same size.
    np.lib.format.write_array_header_1_0(
        header, {"descr": np.lib.format.dtype_to_descr(_WORD), "fortran_order": False, "shape": (rows, words)}
    )
    return header.getvalue()


def begins_like_rows(path: str, n: int) -> bool:
    """Return whether a file is an array of bit rows of a graph with n vertices."""
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError):
        return False
    return bool(rows.dtype == _WORD and rows.shape[1:] == (row_words(n),))


def require_unchanged(path: Path, n: int, position: Mapping[str, int]) -> int:
    """Raise CheckpointError if rows up to a position of `RowOutput` were changed; `path` is its file, or its folder.

    Return the checksum of the parts before the last. Where the checkpoint is of an earlier version, none is compared.
    """
    words = row_words(n)
    header = len(npy_header(0, words))
    before = whole = 0
    for part in range(position["part"] + 1):
        before = whole
        with open_to_read(part_path(path, part) if path.is_dir() else path) as stream:
            is_last = part == position["part"]
            end = header + position["rows"] * words * _WORD.itemsize if is_last else os.fstat(stream.fileno()).st_size
            whole = checksum_of(stream.fileno(), header, end, before)
    if position.get("checksum", whole) != whole:
        raise changed(path)
    return before


class RowOutput(CycleOutput):
    """Bit rows to a .npy file, or to a folder of parts: see `to_folder`.

    No more than `limit` rows are written, and a new part begins after `part_rows` of them; None stands for a single
    file. With `position`, a result of that method, writing continues there. Raises OptionError for a graph of too many
    vertices, EngineError if the output cannot be opened, CheckpointError if it no longer holds what `position` says.
    """

    rows = True

    def __init__(
        self,
        path: Path,
        n: int,
        *,
        limit: int | None = None,
        position: Mapping[str, int] | None = None,
        part_rows: int | None = None,
    ) -> None:
        super().__init__(0 if position is None else position["listed"])
        check_size(n)
        self._path = path
        self._words = row_words(n)
        self._limit = limit
        self._part_rows = part_rows
        self._part = 0 if position is None else position["part"]
        self._folder: int | None = None
        try:
            checksum = 0
            if part_rows is not None:
                self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                if position is not None:
                    checksum = require_unchanged(path, n, position)
            self._file = RowFile(
                self._file_path, self._words, position=position, folder=self._folder, checksum=checksum
            )
        except OSError as error:
            action = "write" if position is None else "go on with"
            raise EngineError(f"cannot {action} {self._file_path}: {error.strerror}") from error

    @classmethod
    def to_folder(
        cls,
        folder: Path,
        n: int,
        *,
        limit: int | None = None,
        position: Mapping[str, int] | None = None,
        part_bytes: int = PART_BYTES,
    ) -> RowOutput:
        """Make a folder and write parts to it; a new part begins when one has `part_bytes` bytes.

        Parts beyond `position` are deleted. An OptionError says that the folder has cycles of another run.
        """
        check_size(n)
        row_bytes = max(row_words(n), 1) * _WORD.itemsize
        try:
            if folder.is_symlink():
                raise OptionError(f"{folder} is a symbolic link: a run keeps its cycles in its own folder")
            make_folder(folder)
            beyond = [part_path(folder, part) for part in parts_in(folder) if not position or part > position["part"]]
            # Only parts with rows are cycles of another run; empty ones are removed below.
            if position is None and any(path.stat().st_size > len(npy_header(0, row_words(n))) for path in beyond):
                raise OptionError(f"{folder} holds the cycles of another run; list to another folder")
            for path in reversed(beyond):
                path.unlink()
        except OSError as error:
            raise EngineError(f"cannot write {error.filename or folder}: {error.strerror}") from error
        return cls(folder, n, limit=limit, position=position, part_rows=max(part_bytes // row_bytes, 1))

    def write(self, found: Rows, give_up: Callable[[], bool]) -> bool:
        """Write the rows (k, words) of a slice; return False after the limit, or once `give_up` is True.

        That is asked between pieces. An EngineError says that the output cannot be written; only whole rows are there.
        """
        if found.shape[1] != self._words:
            raise EngineError(f"bit rows of {found.shape[1]} words for a file of {self._words}")
        wanted = len(found) if self._limit is None else min(len(found), max(self._limit - self.listed, 0))
        at_once = max(_PIECE_BYTES // max(self._words * _WORD.itemsize, 1), 1)
        start = 0
        while start < wanted:
            if give_up():
                return False
            stop = min(start + at_once, wanted)
            if self._part_rows is not None:
                if self._file.rows >= self._part_rows:
                    self._next_part()
                stop = min(stop, start + self._part_rows - self._file.rows)
            before = self._file.rows
            with self._failures():
                try:
                    self._file.append(found[start:stop])
                finally:
                    self._listed += self._file.rows - before
            start = stop
        return wanted == len(found)

    def require_in_place(self) -> None:
        """Raise EngineError if a single file is no longer where it was opened; of a run, its folder tells."""
        if self._folder is None:
            self._file.require_in_place(self._path)

    def position(self) -> dict[str, int]:
        """Sync everything written to the disk; return the position from which to continue.

        It has ``part``, the ``rows`` of that part, the total ``listed`` and the ``checksum`` of all rows; for a single
        file also its identity. An EngineError says that the disk fails.
        """
        identity = {}
        with self._failures():
            self._file.save()
            if self._folder is None:
                sync_folder(self._path.parent)
                identity = self._file.identity()
            else:
                os.fsync(self._folder)
        place = {"part": self._part, "rows": self._file.rows, "listed": self.listed}
        return {**place, "checksum": self._file.checksum, **identity}

    def close(self) -> None:
        """Close the file."""
        with self._failures():
            self._file.close()
            if self._folder is not None:
                os.close(self._folder)

    def _next_part(self) -> None:
        with self._failures():
            self._file.save()
            following = RowFile(
                part_path(self._path, self._part + 1), self._words, folder=self._folder, checksum=self._file.checksum
            )
            self._file.close()
        self._part += 1
        self._file = following

    @property
    def _file_path(self) -> Path:
        return self._path if self._part_rows is None else part_path(self._path, self._part)

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            kept = f"; whole cycles written before: {self.listed:,}" if self.listed else ""
            raise EngineError(f"cannot write {error.filename or self._file_path}: {error.strerror}{kept}") from error


def check_size(n: int) -> None:
    """Raise OptionError, with a way out, if `n` vertices are too many for bit rows."""
    if n > LARGEST_GRAPH:
        raise OptionError(
            f"a cycle of a graph of {n:,} vertices would take {row_words(n) * 8:,} bytes as a bit row, "
            f"{LARGEST_GRAPH:,} vertices are the most; list to a .txt or .jsonl file instead"
        )
