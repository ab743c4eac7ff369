"""What every output of cycles has, and an output that passes cycles on to another one."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kernels_ti.errors import CheckpointError

_HASHED_BYTES = 1 << 16
_DIGEST_BYTES = 16
_READ_AT_ONCE = 1 << 20


class CycleOutput:
    """The output to which a search writes its cycles.

    With `rows` it takes bit rows, uint64 (k, ceil(n / 64)); otherwise `kernels_ti.cycles.Cycles`.
    """

    rows = False

    def __init__(self, listed: int = 0) -> None:
        self._listed = listed

    @property
    def listed(self) -> int:
        """Cycles written in all sessions."""
        return self._listed

    def write(self, found: Any, give_up: Callable[[], bool]) -> bool:
        """Write the cycles of a slice; return whether every one was written."""
        raise NotImplementedError

    def reader_is_gone(self) -> bool:
        """Whether the reader of the output has gone; a file has none."""
        return False

    def position(self) -> dict[str, int]:
        """Sync everything written to the disk and return the position from which to continue."""
        raise NotImplementedError


class NoOutput(CycleOutput):
    """Counts the cycles that it gets."""

    def write(self, found: Any, give_up: Callable[[], bool]) -> bool:
        """Count the cycles of a slice."""
        self._listed += len(found)
        return True

    def position(self) -> dict[str, int]:
        """Return how many cycles there were."""
        return {"listed": self._listed}


class PassingOn(CycleOutput):
    """Passes cycles on to another output, whose cycles are those that it has listed."""

    def __init__(self, inner: CycleOutput) -> None:
        super().__init__()
        self._inner = inner

    @property
    def listed(self) -> int:
        """Cycles in the other output."""
        return self._inner.listed

    def reader_is_gone(self) -> bool:
        """Whether the reader of the other output has gone."""
        return self._inner.reader_is_gone()

    def position(self) -> dict[str, int]:
        """Return the position of the other output."""
        return self._inner.position()


def identity_of(descriptor: int, start: int, end: int) -> dict[str, int]:
    """Return the data of an output file by which a checkpoint recognises it.

    The run has written the bytes from `start` to `end`; a header before them may change. The data are ``beginning``, a
    hash of the first 64 KiB that were written.
    """
    data = os.pread(descriptor, min(end - start, _HASHED_BYTES), start)
    digest = hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
    return {"beginning": int.from_bytes(digest, "big")}


def checksum_of(descriptor: int, start: int, end: int, before: int = 0) -> int:
    """Return the CRC-32 of the bytes from `start` to `end` of a file, behind others that have the one `before`."""
    while start < end and (data := os.pread(descriptor, min(end - start, _READ_AT_ONCE), start)):
        before = zlib.crc32(data, before)
        start += len(data)
    return before


def require_own(
    descriptor: int,
    path: str | Path,
    position: Mapping[str, int],
    start: int,
    end: int,
    begins_like_a_listing: Callable[[], bool],
) -> None:
    """Raise CheckpointError for a file that the run has not written, before anything in it is cut off or overwritten.

    The bytes that the checkpoint vouches for must be there, by their ``checksum``. So the file may be a copy or come
    from a backup. Where the checkpoint vouches for nothing yet, and for
    checkpoints of version 0.4.0, which have no hash, the file must be empty or begin like a listing of this graph:
    somebody may have written something else into the same file.
    """
    has_more = os.fstat(descriptor).st_size > end
    if "beginning" in position:
        is_beginning = identity_of(descriptor, start, end)["beginning"] == position["beginning"]
        is_own = is_beginning and (end > start or not has_more or begins_like_a_listing())
    else:
        is_own = (end == start and not has_more) or begins_like_a_listing()
    if not is_own:
        raise not_own(path)
    if "checksum" in position and checksum_of(descriptor, start, end) != position["checksum"]:
        raise changed(path)


def not_own(path: str | Path) -> CheckpointError:
    """Return the error for a file in the place of a run's output that the run has not written."""
    return CheckpointError(
        f"cannot go on with {path}: it is not the file that the run wrote, so it is left as it is; put the run's "
        "file back in its place, or begin the run again"
    )


def changed(path: str | Path) -> CheckpointError:
    """Return the error for an output of a run in which cycles that were listed are others now."""
    return CheckpointError(
        f"cannot go on with {path}: what the run has written there was changed, so it is left as it is; put the run's "
        "file back in its place, or begin the run again"
    )
