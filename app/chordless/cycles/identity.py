"""Recognising the output file of a resumed run: the identity of the file, and a hash of its beginning."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from kernels_ti.errors import CheckpointError

_HASHED_BYTES = 1 << 16
_DIGEST_BYTES = 16


def identity_of(descriptor: int, start: int, end: int) -> dict[str, int]:
    """Return the data of an output file by which a checkpoint recognises it.

    Parameters
    ----------
    descriptor : int
        Open for reading.
    start, end : int
        Between these bytes lies what the run has written; before `start` there may be a header that changes.

    Returns
    -------
    dict of str to int
        ``device`` and ``inode`` of the file, and ``beginning``, a hash of the first 64 KiB that were written.
    """
    status = os.fstat(descriptor)
    data = os.pread(descriptor, min(end - start, _HASHED_BYTES), start)
    digest = hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
    return {"device": status.st_dev, "inode": status.st_ino, "beginning": int.from_bytes(digest, "big")}


def require_own(
    descriptor: int,
    path: str | Path,
    position: Mapping[str, int],
    start: int,
    end: int,
    begins_like_a_listing: Callable[[], bool],
) -> None:
    """Raise an error for a file that the run has not written, before anything in it is cut off or overwritten.

    The beginning that the checkpoint vouches for must be there. That is enough for a file that was copied or restored
    from a backup, which is another file with the same content. Where the checkpoint vouches for nothing yet, the file
    must be the same one, be empty, or begin like a listing of this graph. Checkpoints of version 0.4.0 know neither
    identity nor hash: there the file must be empty or begin like a listing of this graph.

    Parameters
    ----------
    descriptor : int
        Open for reading.
    path : str or Path
        Name of the file in the message.
    position : mapping
        The position in the checkpoint, with the values of `identity_of`.
    start, end : int
        See `identity_of`.
    begins_like_a_listing : callable
        Whether the first cycle in the file can be one of this graph.

    Raises
    ------
    CheckpointError
        If the file is not the one that the run wrote.
    """
    has_more = os.fstat(descriptor).st_size > end
    if "beginning" in position:
        found = identity_of(descriptor, start, end)
        is_same = all(found[name] == position[name] for name in ("device", "inode"))
        is_own = found["beginning"] == position["beginning"] and (
            is_same or end > start or not has_more or begins_like_a_listing()
        )
    else:
        is_own = (end == start and not has_more) or begins_like_a_listing()
    if not is_own:
        raise CheckpointError(
            f"cannot go on with {path}: it is not the file that the run wrote, so it is left as it is; put the run's "
            "file back in its place, or begin the run again"
        )
