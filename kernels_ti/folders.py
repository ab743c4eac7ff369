"""Where a program keeps files between its runs: the folders of the XDG standard, and what takes their place."""

from __future__ import annotations

import os
import stat
import tempfile
from functools import lru_cache
from pathlib import Path


def base_folder(variable: str, below_home: str) -> Path:
    """Return a folder of the user's, which need not exist.

    Parameters
    ----------
    variable : str
        The environment variable that names it, such as ``XDG_CACHE_HOME``; as the standard wants it, a relative path
        is passed over.
    below_home : str
        Where it is in the user's home otherwise.

    Returns
    -------
    Path
        Absolute. Without a home, a folder that only this user can read, in the folder for temporary files.
    """
    named = os.environ.get(variable, "")
    if os.path.isabs(named):
        return Path(named)
    folder = home()
    return private_folder() / below_home if folder is None else folder / below_home


def home() -> Path | None:
    """Return the user's home as ``HOME`` names it; None if that is no absolute path of a folder."""
    named = os.environ.get("HOME", "")
    return Path(named) if os.path.isabs(named) and os.path.isdir(named) else None


@lru_cache
def private_folder() -> Path:
    """Return a folder among the temporary ones that only this user can read, the same one each time if possible."""
    folder = Path(tempfile.gettempdir(), f"chordless-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
            # Somebody else has put something in its place.
            folder = Path(tempfile.mkdtemp(prefix="chordless-"))
    return folder
