"""The cache of compiled kernels between processes: its folder, and checksums of its files.

Taichi does not check the files in its cache. A file with a single flipped bit makes it crash, or gives a kernel that
computes wrong results. So the folder is ours alone and has a list of the checksums of its files. The list is written
after Taichi has written the kernels, and checked before Taichi reads them. If anything differs, the cache is emptied.
A second list has notes about what was done with these kernels: which kinds are compiled thoroughly, and on which
processors the self-test was passed. It is emptied with the cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from kernels_ti import taichi_door
from kernels_ti.folders import take_lock
from kernels_ti.taichi_door.libraries import library

_CHOSEN = "OFFLINE_CACHE_FILE_PATH"
"""Taichi's own variable for the folder. Such a folder is the user's and is not checked: others may write there."""

_USED = "OFFLINE_CACHE"  # Taichi's own variable that turns its cache off with 0

NOT_USED: dict[str, str | bool] = {"offline_cache": False, "offline_cache_file_path": os.devnull}
"""Taichi opens its list of kernels even then: below this path is none, and no pipe for whose writer it would wait."""

STALE_LOCK = 60.0
"""Seconds after which Taichi's lock on its cache counts as abandoned: it is normally held for milliseconds."""

_LOCK, _CHECKSUMS, _NOTES = "chordless.lock", "checksums.json", "kinds.json"

_summed: dict[Path, tuple[tuple[int, int], str]] = {}  # by file its checksum, and its size and time when that was made
_held: set[str] = set()
_noted: set[str] = set()


def holds(what: str) -> bool:
    """Whether the cache had this note when Taichi was started."""
    return what in _held


def note(what: str) -> None:
    """Make a note, such as that a kind of kernel is compiled thoroughly; `writing` keeps it with the kernels."""
    _noted.add(what)


def settings() -> dict[str, str | bool]:
    """Check the cache and return the arguments of `ti.init` about it.

    A cache whose checksums differ is emptied, with a line on standard error.
    """
    if chosen := _variable(_CHOSEN):
        _remove_stale_lock(Path(chosen))
        return {}
    folder = _folder()
    if folder is not None:
        with _locked(folder) as locked:
            if locked:
                _remove_stale_lock(folder)
                if _checksums(folder) != _listed(folder):
                    _empty(folder)
                    _say(f"the compiled kernels in {folder} are damaged or incomplete")
                _held.update(_notes(folder))
                return {"offline_cache_file_path": str(folder)}
    return NOT_USED


@contextmanager
def writing() -> Iterator[None]:
    """Save the checksums of the files that Taichi writes to the cache inside the block."""
    folder = _folder()
    if folder is None:
        yield
        return
    with _locked(folder) as locked:
        yield
        if locked:
            new = folder / f"{_CHECKSUMS}.{os.getpid()}"
            with suppress(OSError):  # for example a full disk: the next start compiles again
                new.write_text(json.dumps(_checksums(folder), indent=0), encoding="utf-8")
                new.replace(folder / _CHECKSUMS)
                if _noted - _notes(folder):
                    new.write_text(json.dumps(sorted(_noted | _notes(folder)), indent=0), encoding="utf-8")
                    new.replace(folder / _NOTES)
            with suppress(OSError):
                new.unlink(missing_ok=True)


def discard() -> bool:
    """Empty the cache after a failed start; return whether it held anything, and tell the user if so."""
    folder = _folder()
    if folder is None or not _checksums(folder):
        return False
    with _locked(folder) as locked:
        if locked:
            _empty(folder)
            _say(f"the device did not start with the compiled kernels in {folder}")
        return locked


def _folder() -> Path | None:
    """Return the folder of the cache, which exists.

    Return None if it cannot be made, has a pipe or a folder where a file belongs, or Taichi's own variables set one.
    """
    if _variable(_USED) == "0" or _variable(_CHOSEN):
        return None
    home = taichi_door.cache_home()
    if home is None:
        return None
    folder = home / library().cache
    return None if any(map(_is_in_the_way, folder.rglob("*"))) else folder


def _is_in_the_way(path: Path) -> bool:
    """Whether this is a pipe or a device, on which a reader may wait for ever, or a folder where our file belongs."""
    if path.is_dir():
        return path.name in (_LOCK, _CHECKSUMS, _NOTES)
    return path.exists() and not path.is_file()


def _variable(name: str) -> str | None:
    return os.environ.get(library().variable(name))


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Lock the cache against our other processes; yield whether that was possible."""
    with ExitStack() as stack:
        locked = False
        with suppress(OSError):
            locked = take_lock(stack.enter_context(open(folder / _LOCK, "ab")).fileno())
        yield locked


def _checksums(folder: Path) -> dict[str, str]:
    sums = {}
    for path in _files(folder):
        with suppress(OSError):  # removed by another process
            sums[str(path.relative_to(folder))] = _checksum(path)
    return sums


def _checksum(path: Path) -> str:
    """Return the checksum of a file; it is read once unless it is written to."""
    stat = path.stat()
    written = (stat.st_size, stat.st_mtime_ns)
    known = _summed.get(path)
    if known is None or known[0] != written:
        known = _summed[path] = written, hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    return known[1]


def _listed(folder: Path) -> object:
    """Return the content of the list; an empty one if there is no list."""
    try:
        return json.loads((folder / _CHECKSUMS).read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        return None


def _notes(folder: Path) -> set[str]:
    """Return the notes in the list; none if there is no list, or if it cannot be read."""
    try:
        return set(map(str, json.loads((folder / _NOTES).read_bytes())))
    except (OSError, ValueError, TypeError, RecursionError):  # without a note the work is done again: nothing is lost
        return set()


def _files(folder: Path) -> list[Path]:
    """Return the files of Taichi; its fork has folders below its own."""
    ours = (_LOCK, Path(library().lock).name, _NOTES)
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in found if path.name not in ours and not path.name.startswith(_CHECKSUMS)]


def _empty(folder: Path) -> None:
    for path in _files(folder):
        path.unlink(missing_ok=True)
    (folder / _CHECKSUMS).unlink(missing_ok=True)
    (folder / _NOTES).unlink(missing_ok=True)


def _remove_stale_lock(folder: Path) -> None:
    """Remove Taichi's lock if it is left from a process that was killed while it held the lock.

    Otherwise the lock stays, and every later process silently compiles its kernels again.
    """
    lock = folder / library().lock
    with suppress(OSError):  # usually there is none
        if time.time() - lock.stat().st_mtime > STALE_LOCK:
            lock.unlink()


def _say(what: str) -> None:
    # The prefix tells front ends of the engine that the line is for the user.
    print(f"chordless: {what}: they are compiled again", file=sys.stderr)
