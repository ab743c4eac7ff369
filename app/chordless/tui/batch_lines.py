"""Random access to the lines of a batch's output file: an index of where lines begin, and reading on demand."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chordless.batch.output import UNREADABLE
from chordless.values import SHORTEST_CYCLE
from kernels_ti.choices import Parity

# Small, so that the thread that draws gets its turn in between.
_BYTES_AT_ONCE = 1 << 20
# A line ends with its hash. So the last bytes read tell whether the file is still the same.
_BYTES_TO_COMPARE = 64
_NEWLINE = ord("\n")
# Inside a JSON string a quotation mark has a backslash before it. So this pattern matches no text within a string.
_STATUS = re.compile(rb'"status": ?"(error|limit|timeout)"')
# Columns that many batches do not have: graphs that are counted together have no time of their own.
_VALUES = {"seconds": re.compile(rb'"seconds": ?\{'), "interval": re.compile(rb'"interval": ?(?:true|false)')}
FAILED, STOPPED, DONE = range(3)
_FIRST_LINES = 1024


@dataclass(frozen=True)
class BatchLine:
    """One line of the file, about one graph. Fields that the line does not have are None."""

    position: int  # The number of the line, from 0
    # `graph`, `name`, `status` and `error`: as in the file. The status of a line that cannot be read is ``damaged``.
    graph: str
    name: str | None = None
    status: str = "damaged"
    error: str | None = None
    # `n`, `m`, `cycles` and `longest`: vertices, edges, cycles, and the length of the longest cycle found
    n: int | None = None
    m: int | None = None
    cycles: int | None = None
    longest: int | None = None
    seconds: float | None = None  # Time of the search
    by_length: Mapping[int, int] | None = None  # Number of cycles of each length; None if none were counted
    min_length: int = 3
    max_length: int | None = None
    is_readable: bool = False  # Whether the graph could be read
    parity: Parity | None = None
    interval: bool | None = None  # Of a niche overlap graph: whether it is an interval graph
    reading: str | None = None  # The options of reading, see `chordless.protocol.orders.BatchJob`

    @property
    def holes(self) -> int | None:
        """The number of cycles of four or more vertices."""
        lengths = self.by_length
        return None if lengths is None else sum(count for length, count in lengths.items() if length > SHORTEST_CYCLE)


@dataclass(frozen=True, eq=False)
class BatchLines:
    """A snapshot of the lines of the file."""

    path: str
    # ndarray of int64, shape (lines + 1,): Offset of the beginning of each line, and of the end of the last one, in
    # bytes.
    bounds: NDArray[np.int64]
    # ndarray of uint8, shape (lines,): `FAILED`, `STOPPED` (by a limit or a time-out), or `DONE`.
    kinds: NDArray[np.uint8]
    # In two snapshots of the same generation, the later one begins with all lines of the earlier one.
    generation: int = 0
    # ndarray of int64, shape (lines,): The numbers of the lines, in the order in which they are shown. The default is
    # the order of the file.
    order: NDArray[np.int64] | None = None
    # Which of the columns ``seconds`` and ``interval`` have a value in some line
    known: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def failed(self) -> int:
        """How many graphs failed."""
        return int(np.count_nonzero(self.kinds == FAILED))

    @property
    def stopped(self) -> int:
        """How many were stopped by a limit or a time-out."""
        return int(np.count_nonzero(self.kinds == STOPPED))

    def failures_first(self) -> BatchLines:
        """Return the same lines in another order: failed ones, stopped ones, then all others."""
        return replace(self, order=np.argsort(self.kinds, kind="stable"))

    def place_of(self, position: int) -> int:
        """Return the place of a line in the order."""
        if self.order is None:
            return position
        found = np.flatnonzero(self.order == position)
        return int(found[0]) if len(found) else 0

    def read(self, start: int, stop: int) -> list[BatchLine]:
        """Read the lines at the places `start` to `stop` - 1 of the order."""
        stop = min(stop, len(self))
        numbers = range(start, stop) if self.order is None else self.order[start:stop].tolist()
        try:
            with open(self.path, "rb") as stream:
                ends = self.bounds
                return [parsed(n, os.pread(stream.fileno(), int(ends[n + 1] - ends[n]), int(ends[n]))) for n in numbers]
        except OSError as error:
            why = f"{self.path}: cannot be read: {error.strerror}"
            return [BatchLine(number, self.path, error=why) for number in numbers]


def parsed(number: int, text: bytes) -> BatchLine:
    """Parse a line."""
    try:
        values: dict[str, Any] = json.loads(text)
        found = values["by_length"]
        by_length = None if found is None else {int(length): int(count) for length, count in found.items()}
        return BatchLine(
            number,
            values["graph"],
            values["name"],
            values["status"],
            values["error"],
            values["n"],
            values["m"],
            values["total"],
            max(by_length or (), default=None),
            (values["seconds"] or {}).get("enumerate"),
            by_length,
            values["min_length"],
            values["max_length"],
            not values["hash"].startswith(UNREADABLE),
            values.get("parity"),
            values.get("interval"),
            values.get("reading"),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return BatchLine(number, "?", error="this line is damaged; resuming the batch repairs it")


class LineIndex:
    """Finds where lines begin, even while the file is being written. It is safe to use from several threads."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._bounds: NDArray[np.int64] = np.zeros(_FIRST_LINES + 1, np.int64)
        self._kinds: NDArray[np.uint8] = np.empty(_FIRST_LINES, np.uint8)
        self._count, self._tail, self._generation = 0, b"", 0
        self._known: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def look(self) -> bool:
        """Index about one new megabyte. Return whether there was anything new.

        Raise OSError if the file exists but cannot be read.
        """
        with self._lock:
            try:
                stream = open(self._path, "rb")  # noqa: SIM115
            except FileNotFoundError:
                return self._forget()
            with stream:
                descriptor = stream.fileno()
                end = int(self._bounds[self._count])
                tail = os.pread(descriptor, len(self._tail), end - len(self._tail))
                if tail != self._tail:
                    # The file was cut off or replaced, so the known offsets are void.
                    self._forget()
                    return True
                data = os.pread(descriptor, _BYTES_AT_ONCE, end)
                while len(data) >= _BYTES_AT_ONCE and b"\n" not in data:
                    more = os.pread(descriptor, len(data), end + len(data))
                    if not more:
                        break
                    data += more
            whole = data[: data.rfind(b"\n") + 1]
            if not whole:
                return False
            self._add(whole)
            return True

    def lines(self) -> BatchLines:
        """Return the lines that are indexed."""
        with self._lock:
            # The arrays only ever grow behind these slices, or are replaced by new ones.
            bounds, kinds = self._bounds[: self._count + 1], self._kinds[: self._count]
            return BatchLines(self._path, bounds, kinds, self._generation, known=self._known)

    def _forget(self) -> bool:
        had_lines = self._count > 0
        self._bounds, self._kinds = np.zeros_like(self._bounds), np.empty_like(self._kinds)
        self._count, self._tail, self._generation, self._known = 0, b"", self._generation + 1, frozenset()
        return had_lines

    def _add(self, whole: bytes) -> None:
        ends = np.flatnonzero(np.frombuffer(whole, np.uint8) == _NEWLINE) + 1
        kinds = np.full(len(ends), DONE, np.uint8)
        for found in _STATUS.finditer(whole):
            kinds[np.searchsorted(ends, found.start(), side="right")] = FAILED if found[1] == b"error" else STOPPED
        self._known |= {name for name, value in _VALUES.items() if name not in self._known and value.search(whole)}
        count = self._count + len(ends)
        if count > len(self._kinds):
            self._bounds = cast("NDArray[np.int64]", np.resize(self._bounds, 2 * count + 1))
            self._kinds = cast("NDArray[np.uint8]", np.resize(self._kinds, 2 * count))
        self._bounds[self._count + 1 : count + 1] = self._bounds[self._count] + ends
        self._kinds[self._count : count] = kinds
        self._count, self._tail = count, whole[-_BYTES_TO_COMPARE:]


def line_count(path: str) -> int | None:
    """Return the number of lines of a batch's output file, 0 for an empty file, or None for any other file.

    Raise OSError if it cannot be read.
    """
    with open(path, "rb") as stream:
        first = stream.readline(_BYTES_AT_ONCE)
        if first and not first.startswith(b'{"graph":'):
            return None
        lines = int(first.endswith(b"\n"))
        while data := stream.read(_BYTES_AT_ONCE):
            lines += data.count(b"\n")
    return lines


def is_batch_file(path: str) -> bool:
    """Return whether a file holds the lines of a batch."""
    try:
        with open(path, "rb") as stream:
            values = json.loads(stream.readline(_BYTES_AT_ONCE))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(values, dict) and {"graph", "status", "hash"} <= values.keys()
