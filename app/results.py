"""Cycles out: text or JSON lines, written while the search runs."""

from __future__ import annotations

import json
import os
import select
import stat
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from app.events import CycleFormat
from kernels_ti.errors import EngineError, OptionError

if TYPE_CHECKING:
    from kernels_ti.search import Cycles

# Bytes put together at a time: small enough to stay in the second-level cache.
_PIECE_BYTES = 1 << 18
# A pipe that is ready takes this much without blocking, so nothing hangs while a reader sleeps.
_PIPE_BYTES = select.PIPE_BUF
_SECONDS_BETWEEN_QUESTIONS = 0.1


class CycleEncoder:
    """Turns cycles of vertex indices into lines of vertex names, vectorised over all vertices of a slice.

    Parameters
    ----------
    names : sequence of hashable
        Name of each vertex.
    line_format : {"text", "jsonl"}
        ``text``: names separated by a blank, or by a TAB in the whole output if some name contains white space.
        ``jsonl``: a JSON array a line; names that are integers stay integers, all others are strings.

    Raises
    ------
    OptionError
        If a name cannot be told from the separators of the text format.
    """

    def __init__(self, names: Sequence[Hashable], line_format: CycleFormat) -> None:
        if line_format == "jsonl":
            encoded = [_json_name(name) for name in names]
            first, middle, last = (b"[", b","), (b"", b","), (b"", b"]\n")
        else:
            texts = [str(name) for name in names]
            separator = b"\t" if any(_has_white_space(text) for text in texts) else b" "
            encoded = [_text_name(text) for text in texts]
            first = middle = (b"", separator)
            last = (b"", b"\n")
        # One table of zero-padded tokens; which third a vertex reads depends on its place in the cycle.
        tokens = [before + name + after for before, after in (middle, first, last) for name in encoded]
        self._count = len(encoded)
        self._width = _padded_width(max(map(len, tokens), default=0))
        padded = np.array(tokens, dtype=f"S{self._width}")
        word = np.dtype(np.uint32 if self._width == 4 else np.uint64)
        self._table: npt.NDArray[Any] = padded.view(word).reshape(len(tokens), self._width // word.itemsize)

    def encode(self, cycles: Cycles) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of `cycles` in pieces: the number of lines in the piece, and its bytes."""
        offsets = np.asarray(cycles.offsets)
        step = max(_PIECE_BYTES // self._width, 1)
        start = 0
        while start < len(offsets) - 1:
            stop = int(np.searchsorted(offsets, offsets[start] + step, side="right")) - 1
            stop = max(stop, start + 1)
            yield stop - start, self._lines(offsets[start : stop + 1], cycles.vertices)
            start = stop

    def _lines(self, offsets: npt.NDArray[np.int64], vertices: npt.NDArray[np.integer]) -> bytes:
        tokens = vertices[offsets[0] : offsets[-1]].astype(np.intp)
        tokens[offsets[:-1] - offsets[0]] += self._count
        tokens[offsets[1:] - offsets[0] - 1] += 2 * self._count
        return self._table[tokens].tobytes().translate(None, b"\0")


class CycleOutput:
    """Where the lines go: a file, or the standard output of the program.

    Parameters
    ----------
    descriptor : int
        Open for writing; it is not closed here.
    label : str
        What it is called in messages.
    encoder : CycleEncoder
        Makes the lines.
    limit : int or None
        Never write more lines than this.
    """

    def __init__(self, descriptor: int, label: str, encoder: CycleEncoder, *, limit: int | None) -> None:
        self._descriptor = descriptor
        self._label = label
        self._encoder = encoder
        self._limit = limit
        self._ask_at = 0.0
        self._regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self.listed = 0

    @property
    def full(self) -> bool:
        """Whether the limit is reached."""
        return self._limit is not None and self.listed >= self._limit

    def write(self, cycles: Cycles, give_up: Callable[[], bool]) -> bool:
        """Write the cycles of a slice.

        Parameters
        ----------
        cycles : Cycles
        give_up : callable
            Asked between pieces, and while a reader sleeps; once it says True the rest is not written.

        Returns
        -------
        bool
            Whether every one of them was written; False if the limit came first or the rest was given up.

        Raises
        ------
        BrokenPipeError
            If nobody reads any more.
        EngineError
            If the output cannot be written; what is there are whole lines.
        """
        for lines, data in self._encoder.encode(cycles):
            if give_up():
                return False
            if self._limit is not None and self.listed + lines > self._limit:
                self._put(_first_lines(data, self._limit - self.listed), give_up)
                return False
            if not self._put(data, give_up):
                return False
        return True

    def reader_is_gone(self) -> bool:
        """Whether this is a pipe whose reader has closed its end."""
        if self._regular:
            return False
        poll = select.poll()
        poll.register(self._descriptor, 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))

    def _put(self, data: bytes, give_up: Callable[[], bool]) -> bool:
        if self._regular:
            self._send(data)
            return True
        done = 0
        while done < len(data):
            end = data.rfind(b"\n", done, done + _PIPE_BYTES) + 1
            if end == 0:
                end = data.index(b"\n", done) + 1
            if not self._reader_is_ready(give_up):
                return False
            self._send(data[done:end])
            done = end
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

    def _send(self, data: bytes) -> None:
        written = 0
        view = memoryview(data)
        try:
            while written < len(data):
                written += os.write(self._descriptor, view[written:])
        except BrokenPipeError:
            raise
        except OSError as error:
            whole = data.rfind(b"\n", 0, written) + 1
            self.listed += data.count(b"\n", 0, whole)
            self._cut(written - whole)
            kept = f"; whole lines written before: {self.listed:,}" if self.listed else ""
            raise EngineError(f"cannot write {self._label}: {error.strerror}{kept}") from error
        self.listed += data.count(b"\n")

    def _cut(self, torn: int) -> None:
        if self._regular and torn:
            end = os.lseek(self._descriptor, -torn, os.SEEK_CUR)
            os.ftruncate(self._descriptor, end)


def _text_name(text: str) -> bytes:
    if any(character in text for character in "\t\n\r\v\f\0"):
        raise OptionError(f"the vertex name {text!r} does not fit in a line of text; list to a file.jsonl instead")
    return text.encode(errors="backslashreplace")


def _json_name(name: Hashable) -> bytes:
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        return b"%d" % int(name)
    return json.dumps(str(name), ensure_ascii=False).encode(errors="backslashreplace")


def _has_white_space(text: str) -> bool:
    return any(character.isspace() for character in text)


def _padded_width(longest: int) -> int:
    return 4 if longest <= 4 else -(-longest // 8) * 8


def _first_lines(data: bytes, lines: int) -> bytes:
    end = 0
    for _ in range(lines):
        end = data.index(b"\n", end) + 1
    return data[:end]
