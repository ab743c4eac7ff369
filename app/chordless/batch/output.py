"""The output file of a batch: one JSON line for each graph, in the order of the input. A batch can always be resumed.

An earlier line is kept if a job still asks for its graph with the same options; ``hash`` identifies both. Lines at the
right place stay. At the first missing or misplaced line the file is cut off, and the lines behind the cut are moved to
the "file beside", a second file next to it. From there each line is taken when its turn comes. So no result is lost,
whenever the batch ends. Lines that no job asks for stay in the file beside.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

from chordless.files import open_alone, remove_abandoned, replaced, require_in_place, same_file, writing
from kernels_ti import EngineError, OptionError

FIELDS: dict[str, str] = {
    "graph": "text",
    "name": "text",
    "status": "text",
    "error": "text",
    "n": "whole",
    "m": "whole",
    "max_degree": "whole",
    "min_length": "whole",
    "max_length": "whole",
    "parity": "text",
    "reading": "text",
    "part": "json",
    "triangles": "whole",
    "chordless_cycles": "whole",
    "total": "whole",
    "by_length": "json",
    "frontier": "json",
    "paths": "whole",
    "method": "text",
    "boundary": "json",
    "complete": "flag",
    "share": "real",
    "arch": "text",
    "device": "text",
    "seconds": "json",
    "peak_memory_bytes": "whole",
    "checkpoint": "text",
    "listing": "text",
    "listed": "whole",
    "interval": "flag",
    "hash": "text",
}
"""The fields of a line, in order, and the kind of their values. Every value may also be null."""

ADDED_LATER = ("interval", "parity", "reading")  # Fields that tables of earlier versions lack
DONE = ("complete", "limit", "timeout")  # Statuses of graphs that are not searched again
UNREADABLE = "unreadable"
"""Prefix of the hash of an unreadable graph. The rest of this hash depends on the error message."""

EARLIER = ".earlier"  # Suffix of the file beside, after the name of the output file


class BatchFile:
    """The output file. Only one engine at a time can hold it.

    With `keep_unreadable` the lines of unreadable graphs are kept while their error is the same. An OptionError is
    raised if the file is not the output of a batch, or another engine holds it, or it is no regular file; an
    EngineError if it cannot be written.
    """

    def __init__(self, path: str, *, keep_unreadable: bool = True) -> None:
        self._path = path
        self._keep_unreadable = keep_unreadable
        self._held = Path(path + EARLIER)
        with writing(self._held):
            self._held.exists()  # an OSError where its name is too long
        with writing(path):
            self._descriptor = open_alone(path, os.O_RDWR | os.O_CREAT)
            if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                os.close(self._descriptor)
                raise OptionError(f"{path} is no regular file: a batch goes on in one, or writes to standard output")
            remove_abandoned(self._held)
            # A umask may forbid to read what was made just now.
            self._in_place: IO[bytes] | None = open(path, "rb")  # noqa: SIM115
        self._end = 0
        self._earlier: dict[str, int] = {}  # offset of each line in the file beside, by its key
        self._taken: set[str] = set()
        self._is_complete = False
        self._was_held = self._held.exists()
        self._beside: IO[bytes] | None = None
        self._next = self._read_next()

    def find(self, key: str, graph: str) -> tuple[dict[str, Any], bool] | None:
        """Return the earlier line of the next graph, by its hash, and whether it is already at its place; or None."""
        if self._in_place is not None:
            line = self._next
            if line is not None and line["hash"] == key and line["graph"] == graph and self._is_done(line):
                self._end = self._in_place.tell()
                if self._was_held:
                    self._taken.add(_key_of(line))  # an interrupted batch took it from the file beside
                self._next = self._read_next()
                return line, True
            self._hold_the_rest()
        found = next((which for which in (_listed_key(key, graph), key) if which in self._earlier), None)
        if found is None or self._beside is None:
            return None
        self._taken.add(found)
        self._beside.seek(self._earlier[found])
        return {**json.loads(self._beside.readline()), "graph": graph}, False

    def write(self, lines: bytes) -> None:
        """Add lines behind those that are at their place."""
        if self._in_place is not None:
            self._hold_the_rest()
        view = memoryview(lines)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            # The file ends with a whole line.
            cut = len(lines) - len(view) - (lines[: len(lines) - len(view)].rfind(b"\n") + 1)
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, os.lseek(self._descriptor, 0, os.SEEK_CUR) - cut)
                self._remove_if_empty()
            raise EngineError(f"cannot write {self._path}: {error.strerror}") from error

    def complete(self) -> int:
        """Sync the file to the disk. Return how many lines that no job asked for stay in the file beside."""
        if self._in_place is not None:
            self._hold_the_rest()
        self._is_complete = True
        left = len(self._earlier.keys() - self._taken)
        with writing(self._path):
            require_in_place(self._descriptor, self._path)
            os.fsync(self._descriptor)
            if not left:
                self._held.unlink(missing_ok=True)
            elif left < len(self._earlier):
                self._hold(line for line in read_lines(self._held) if _key_of(line) not in self._taken)
        return left

    def close(self) -> None:
        """Close the file. The file beside stays, unless the output has all its lines."""
        if not self._is_complete and self._held.exists():
            here = {_key_of(line) for line in read_lines(self._path)}
            if all(_key_of(line) in here for line in read_lines(self._held)):
                os.fsync(self._descriptor)
                self._held.unlink()
        for stream in (self._in_place, self._beside):
            if stream is not None:
                stream.close()
        os.close(self._descriptor)

    def _remove_if_empty(self) -> None:
        """Remove the file if nothing is in it; never a link, nor while its lines are in the file beside."""
        is_empty = not os.fstat(self._descriptor).st_size and not self._held.exists()
        if is_empty and same_file(self._descriptor, Path(self._path)):
            os.unlink(self._path)

    def _read_next(self) -> dict[str, Any] | None:
        assert self._in_place is not None
        text = self._in_place.readline()
        line = _parsed(text)
        if line is None and text and self._end == 0 and not text.startswith(b'{"graph":'):
            raise OptionError(f"{self._path} is there and no file of a batch; write to another")
        return line

    def _is_done(self, line: dict[str, Any]) -> bool:
        if line.get("listing") and not _has_cycles(line["listing"], line["total"]):
            return False
        return line["status"] in DONE or (self._keep_unreadable and str(line["hash"]).startswith(UNREADABLE))

    def _hold_the_rest(self) -> None:
        """Move all lines that are not at their place to the file beside, then cut the output file off."""
        assert self._in_place is not None
        with writing(self._path):
            if self._held.exists() or os.fstat(self._descriptor).st_size > self._end:
                self._in_place.seek(self._end)
                self._hold(chain(read_lines(self._held), _lines_in(self._in_place)))
            self._in_place.close()
            self._in_place = None
            os.ftruncate(self._descriptor, self._end)
            os.lseek(self._descriptor, 0, os.SEEK_END)

    def _hold(self, lines: Iterator[dict[str, Any]]) -> None:
        self._earlier = {}
        with replaced(self._held) as stream:
            for line in lines:
                key = _key_of(line)
                if self._is_done(line) and key not in self._earlier:
                    self._earlier[key] = stream.tell()
                    stream.write(encoded(line))
        if not self._earlier:
            self._held.unlink()
            return
        if self._beside is not None:
            self._beside.close()
        self._beside = open(self._held, "rb")  # noqa: SIM115


def encoded(line: dict[str, Any]) -> bytes:
    """Return a line of the file."""
    return json.dumps(line).encode() + b"\n"


def write_whole(lines: Iterable[bytes], path: str) -> None:
    """Write lines to a file, which appears only when it is complete; an EngineError if it cannot be written."""
    with writing(path), replaced(path, tidy=True) as stream:
        stream.writelines(lines)


def _key_of(line: dict[str, Any]) -> str:
    """Return the key that a line is found by: its hash. With a file of cycles, the graph's name is part of the key."""
    return _listed_key(line["hash"], line["graph"]) if line.get("listing") else str(line["hash"])


def _listed_key(key: str, graph: str) -> str:
    return f"{key} {graph}"


def _has_cycles(listing: str, cycles: int | None) -> bool:
    """Return whether a file of cycles exists, and is not empty unless there are no cycles."""
    try:
        return os.path.getsize(listing) > 0 or not cycles
    except OSError:
        return False


def read_lines(path: str | Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of an output file, even while it is being written. An incomplete last line is left out."""
    try:
        with open(path, "rb") as stream:
            yield from _lines_in(stream)
    except FileNotFoundError:
        return


def _lines_in(stream: IO[bytes]) -> Iterator[dict[str, Any]]:
    return (line for line in map(_parsed, stream) if line is not None)


def _parsed(text: bytes) -> dict[str, Any] | None:
    """Return the object of a line; None for an incomplete one, which a killed process or a power cut can leave."""
    if not text.endswith(b"\n"):
        return None
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) and {"graph", "status", "hash"} <= line.keys() else None
