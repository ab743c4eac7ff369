"""The cache of compiled kernels between processes: its folder, and checksums of its files.

Taichi does not check the files in its cache. A file with a single flipped bit makes it crash, or gives a kernel that
computes wrong results. So the folder is ours alone and has a list of the checksums of its files. The list is written
after Taichi has written the kernels, and checked before Taichi reads them. If anything differs, the cache is emptied.
A second list has notes about what was done with these kernels: which kinds are compiled thoroughly, and on which
processors the self-test was passed. It is emptied with the cache.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from kernels_ti.folders import base_folder, private_folder

CHOSEN = "TI_OFFLINE_CACHE_FILE_PATH"
"""Taichi's own variable for the folder. Such a folder is the user's and is not checked: others may write there."""

STALE_LOCK = 60.0
"""Seconds after which Taichi's lock on its cache counts as abandoned: it is normally held for milliseconds."""

SECONDS_FOR_LOCK = 5.0
"""Seconds to wait for another process that reads or writes checksums, which takes milliseconds."""

_TAICHI_LOCK, _LOCK, _CHECKSUMS, _NOTES = "ticache.lock", "chordless.lock", "checksums.json", "kinds.json"
_BELOW = "taichi/ticache"  # Taichi's default folder in XDG_CACHE_HOME

_held: set[str] = set()
_noted: set[str] = set()


def holds(what: str) -> bool:
    """Whether the cache had this note when Taichi was started."""
    return what in _held


def note(what: str) -> None:
    """Make a note, such as that a kind of kernel is compiled thoroughly; `writing` keeps it with the kernels."""
    _noted.add(what)


@contextmanager
def own_cache_home() -> Iterator[None]:
    """Make Taichi use our folder inside the block.

    Taichi makes a folder when it is imported, started or reset. It aborts if there is no ``HOME``.
    """
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(_cache_home() or os.devnull)
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before


def settings() -> dict[str, str | bool]:
    """Check the cache and return the arguments of `ti.init` about it.

    A cache whose checksums differ is emptied, with a line on standard error.
    """
    if chosen := os.environ.get(CHOSEN):
        _remove_stale_lock(Path(chosen))
        return {}
    if os.environ.get("TI_OFFLINE_CACHE") == "0":
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
    return {"offline_cache": False}


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
            with suppress(OSError):  # for example a full disk: the next start compiles again
                new = folder / f"{_CHECKSUMS}.{os.getpid()}"
                new.write_text(json.dumps(_checksums(folder), indent=0), encoding="utf-8")
                new.replace(folder / _CHECKSUMS)
                if _noted - _notes(folder):
                    new.write_text(json.dumps(sorted(_noted | _notes(folder)), indent=0), encoding="utf-8")
                    new.replace(folder / _NOTES)


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
    """Return the folder of the cache, which exists; None if it cannot be made or Taichi's own variables set one."""
    if os.environ.get("TI_OFFLINE_CACHE") == "0" or os.environ.get(CHOSEN):
        return None
    home = _cache_home()
    return None if home is None else home / _BELOW


def _cache_home() -> Path | None:
    """Return the folder in which Taichi makes its own; a substitute if the user's folder is not writable."""
    for base in (partial(base_folder, "XDG_CACHE_HOME", ".cache"), private_folder):
        with suppress(OSError):  # for example a read-only folder
            home = base() / "chordless"
            (home / _BELOW).mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(home / _BELOW, os.W_OK | os.X_OK):
                return home
    return None


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Lock the cache against our other processes; yield whether that was possible."""
    with ExitStack() as stack:
        locked = False
        with suppress(OSError):
            locked = _lock(stack.enter_context(open(folder / _LOCK, "ab")).fileno())
        yield locked


def _lock(descriptor: int) -> bool:
    """Return whether the lock was acquired in time; OSError on a file system without locks."""
    deadline = time.monotonic() + SECONDS_FOR_LOCK
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        else:
            return True


def _checksums(folder: Path) -> dict[str, str]:
    sums = {}
    for path in _files(folder):
        with suppress(OSError):  # removed by another process
            sums[path.name] = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    return sums


def _listed(folder: Path) -> object:
    """Return the content of the list; an empty one if there is no list."""
    try:
        return json.loads((folder / _CHECKSUMS).read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None


def _notes(folder: Path) -> set[str]:
    """Return the notes in the list; none if there is no list, or if it cannot be read."""
    try:
        return set(map(str, json.loads((folder / _NOTES).read_bytes())))
    except (OSError, ValueError, TypeError):  # without a note the work is done again: nothing is lost
        return set()


def _files(folder: Path) -> list[Path]:
    ours = (_LOCK, _TAICHI_LOCK, _NOTES)
    return [path for path in sorted(folder.iterdir()) if path.name not in ours and not path.name.startswith(_CHECKSUMS)]


def _empty(folder: Path) -> None:
    for path in _files(folder):
        path.unlink(missing_ok=True)
    (folder / _CHECKSUMS).unlink(missing_ok=True)
    (folder / _NOTES).unlink(missing_ok=True)


def _remove_stale_lock(folder: Path) -> None:
    """Remove Taichi's lock if it is left from a process that was killed while it held the lock.

    Otherwise the lock stays, and every later process silently compiles its kernels again.
    """
    lock = folder / _TAICHI_LOCK
    with suppress(OSError):  # usually there is none
        if time.time() - lock.stat().st_mtime > STALE_LOCK:
            lock.unlink()


def _say(what: str) -> None:
    # The prefix tells front ends of the engine that the line is for the user.
    print(f"chordless: {what}: they are compiled again", file=sys.stderr)
