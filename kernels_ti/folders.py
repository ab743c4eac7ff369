"""Folders for files that stay between two starts of a program, those of the XDG standard or others, and their locks."""

from __future__ import annotations

import errno
import itertools
import os
import stat
import tempfile
import time
from functools import lru_cache
from pathlib import Path

from kernels_ti.errors import EngineError

SECONDS_TO_WAIT_FOR_A_LOCK = 5.0
"""A process that writes takes milliseconds; an engine whose client was killed notices it after its present slice."""

_SECONDS_BETWEEN_TRIES = 0.02


def base_folder(variable: str, below_home: str) -> Path:
    """Return an absolute folder of the user, which need not exist.

    The environment variable names it; a relative path is ignored, as the standard demands. Otherwise it is
    `below_home`, or without a home a folder for temporary files that only this user can read.
    """
    named = os.environ.get(variable, "")
    if os.path.isabs(named):
        return Path(named)
    folder = home()
    return private_folder() / below_home if folder is None else folder / below_home


def home() -> Path | None:
    """Return the user's home from ``HOME``; None if it is not the absolute path of a folder."""
    named = os.environ.get("HOME", "")
    return Path(named) if os.path.isabs(named) and os.path.isdir(named) else None


@lru_cache
def private_folder() -> Path:
    """Return a temporary folder that only this user can read: the same one each time if possible."""
    if not hasattr(os, "getuid"):  # on Windows the temporary folder itself is the user's own
        folder = Path(tempfile.gettempdir(), "chordless")
        folder.mkdir(exist_ok=True)
        return folder
    folder = Path(tempfile.gettempdir(), f"chordless-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
            # Another user has made something of this name.
            folder = Path(tempfile.mkdtemp(prefix="chordless-"))
    return folder


def temporary_folder(prefix: str, *, ignore_cleanup_errors: bool = False) -> tempfile.TemporaryDirectory[str]:
    """Make a folder that goes with the object; an EngineError says that no place for temporary files has room."""
    try:
        return tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=ignore_cleanup_errors)
    except OSError as error:
        raise EngineError(
            f"cannot make a temporary folder: {error.strerror}; make room, or name another place by TMPDIR"
        ) from error


def make_folder(path: str | Path, mode: int = 0o777) -> None:
    """Make a folder and those above it, unless they exist, with `mode` for the folder itself.

    `Path.mkdir` and `os.makedirs` call themselves for each folder above, which Python refuses from a thousand on.
    """
    missing = list(itertools.takewhile(lambda folder: not os.path.exists(folder), Path(path).parents))
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
    Path(path).mkdir(mode, exist_ok=True)


def take_lock(descriptor: int, seconds: float = SECONDS_TO_WAIT_FOR_A_LOCK) -> bool:
    """Lock an open file, waiting so long; return whether it is locked. An OSError says that there are no locks."""
    try:
        import fcntl
    except ModuleNotFoundError as error:
        raise OSError(errno.ENOSYS, "this system has no locks of whole files") from error
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_SECONDS_BETWEEN_TRIES)
