"""A copy of the graphs that came through standard input, beside the output file, so that each can be opened later."""

from __future__ import annotations

import contextlib
import io
import os
from typing import IO, Any, cast

from chordless.graphs.load import LoadedGraph
from chordless.graphs.writers import save_graph
from kernels_ti import EngineError, GraphError

LONE = "edgelist"  # The format of the copy of a graph that came by itself, whatever the format in which it came
_SUFFIXES = {"graph6": ".stdin.g6", "sdf": ".stdin.sdf", "smiles": ".stdin.smi", LONE: ".stdin.txt"}
"""The ending after the name of the output file, by the format of the graphs."""


def keep_lone_graph(loaded: LoadedGraph, output: str) -> None:
    """Write the only graph of standard input, as it was read, beside the output; unless names do not fit in there."""
    with contextlib.suppress(GraphError):
        save_graph(loaded, path_to_keep(output, LONE))


def is_as_read(path: str) -> bool:
    """Return whether a copy holds a graph as it was read: nothing but `multigraph` applies to it any more."""
    return path.endswith(_SUFFIXES[LONE])


def path_to_keep(output: str, file_format: str) -> str:
    """Remove the copies of earlier batches in other formats; return the path of the copy for an output file."""
    path = kept_path(output, file_format)
    for other in _SUFFIXES:
        if other != file_format:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(kept_path(output, other))
    return path


def kept_path(output: str, file_format: str) -> str:
    """Return the path of the copy for the output file of a batch."""
    return output + _SUFFIXES[file_format]


def find_kept(output: str) -> str | None:
    """Return the path of the copy beside the output file of a batch; None if there is none."""
    paths = (kept_path(output, file_format) for file_format in _SUFFIXES)
    return next((path for path in paths if os.path.isfile(path)), None)


def keeping(source: IO[bytes], path: str) -> IO[bytes]:
    """Return a stream with the bytes of `source`. The bytes that were read are also in the file `path`.

    An earlier copy is cut off where it differs. So the copy fits the lines of an interrupted batch at all times. An
    EngineError is raised if it cannot be written, here or while the stream is read.
    """
    return cast("IO[bytes]", io.BufferedReader(_Keeping(source, path)))


class _Keeping(io.RawIOBase):
    _descriptor = -1  # of an object whose opening failed

    def __init__(self, source: IO[bytes], path: str) -> None:
        self._read = getattr(source, "read1", source.read)
        self._path = path
        self._length = 0
        self._is_same = True
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise self._fault(error) from error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        try:
            self._keep(data)
        except OSError as error:
            raise self._fault(error) from error
        return len(data)

    def close(self) -> None:
        if not self.closed and self._descriptor >= 0:
            os.close(self._descriptor)
        super().close()

    def _keep(self, data: bytes) -> None:
        if not data:
            os.ftruncate(self._descriptor, self._length)
            return
        if self._is_same and os.pread(self._descriptor, len(data), self._length) != data:
            os.ftruncate(self._descriptor, self._length)
            self._is_same = False
        if not self._is_same:
            view, place = memoryview(data), self._length
            while view:
                written = os.pwrite(self._descriptor, view, place)
                view, place = view[written:], place + written
        self._length += len(data)

    def _fault(self, error: OSError) -> EngineError:
        return EngineError(f"cannot write {self._path}: {error.strerror}")
