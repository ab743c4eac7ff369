"""Compiled kernels, kept between processes: where they lie, and whether they are still what was written.

Taichi takes what it finds in its cache as it is: of a file with a single bit flipped it makes a crash, or a kernel that
computes something else. So the folder is ours alone, and has a list of the checksums of its files. It is written after
Taichi has written the kernels, and compared before Taichi reads them. What differs is taken away as a whole.
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
"""Taichi's own variable for the folder. What lies there is the user's, and not checked: others may write there."""

STALE_LOCK = 60.0
"""Seconds after which Taichi's lock on its cache is nobody's: it is held for milliseconds."""

SECONDS_FOR_LOCK = 5.0
"""How long to wait for another process that reads or writes checksums, which takes milliseconds."""

_TAICHI_LOCK, _LOCK, _CHECKSUMS = "ticache.lock", "chordless.lock", "checksums.json"
_BELOW = "taichi/ticache"  # where Taichi makes its cache in XDG_CACHE_HOME, if it is told nothing else


@contextmanager
def own_cache_home() -> Iterator[None]:
    """Let Taichi make its folder where ours is.

    It makes one when it is imported and when it is started or reset, and aborts if it finds no ``HOME``.
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
    """Return what `ti.init` is told of the cache, once the cache is fit to be read.

    A cache that is not as it was left is emptied, with a line on standard error.
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
                return {"offline_cache_file_path": str(folder)}
    return {"offline_cache": False}


@contextmanager
def writing() -> Iterator[None]:
    """List the checksums of what Taichi writes to the cache in the block."""
    folder = _folder()
    if folder is None:
        yield
        return
    with _locked(folder) as locked:
        yield
        if locked:
            with suppress(OSError):  # the disk is full, say: then the next start compiles again
                new = folder / f"{_CHECKSUMS}.{os.getpid()}"
                new.write_text(json.dumps(_checksums(folder), indent=0), encoding="utf-8")
                new.replace(folder / _CHECKSUMS)


def discard() -> bool:
    """Empty the cache after a start that failed; return whether there was anything in it, and say so if there was."""
    folder = _folder()
    if folder is None or not _checksums(folder):
        return False
    with _locked(folder) as locked:
        if locked:
            _empty(folder)
            _say(f"the device did not start with the compiled kernels in {folder}")
        return locked


def _folder() -> Path | None:
    """Return the folder, which is there; None where none can be made, or Taichi's own variables decide."""
    if os.environ.get("TI_OFFLINE_CACHE") == "0" or os.environ.get(CHOSEN):
        return None
    home = _cache_home()
    return None if home is None else home / _BELOW


def _cache_home() -> Path | None:
    """Return the folder in which Taichi makes its own; another one than the user's if nothing can be written there."""
    for base in (partial(base_folder, "XDG_CACHE_HOME", ".cache"), private_folder):
        with suppress(OSError):  # read-only, say
            home = base() / "chordless"
            (home / _BELOW).mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(home / _BELOW, os.W_OK | os.X_OK):
                return home
    return None


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Let no other process of ours read or write the cache; yield whether that was possible."""
    with ExitStack() as stack:
        locked = False
        with suppress(OSError):
            locked = _lock(stack.enter_context(open(folder / _LOCK, "ab")).fileno())
        yield locked


def _lock(descriptor: int) -> bool:
    """Return whether the lock was got in time; OSError from a file system without locks."""
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
        with suppress(OSError):  # taken away meanwhile
            sums[path.name] = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    return sums


def _listed(folder: Path) -> object:
    """Return what the list says; of no list, that there are no files."""
    try:
        return json.loads((folder / _CHECKSUMS).read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None


def _files(folder: Path) -> list[Path]:
    ours = (_LOCK, _TAICHI_LOCK)
    return [path for path in sorted(folder.iterdir()) if path.name not in ours and not path.name.startswith(_CHECKSUMS)]


def _empty(folder: Path) -> None:
    for path in _files(folder):
        path.unlink(missing_ok=True)
    (folder / _CHECKSUMS).unlink(missing_ok=True)


def _remove_stale_lock(folder: Path) -> None:
    """Let compiled kernels be kept again after a process was killed as it kept its own.

    Its lock would stay, and every process from then on compile for itself, in silence.
    """
    lock = folder / _TAICHI_LOCK
    with suppress(OSError):  # there is none, as a rule
        if time.time() - lock.stat().st_mtime > STALE_LOCK:
            lock.unlink()


def _say(what: str) -> None:
    # The prefix tells front ends of the engine that the line is for the user.
    print(f"chordless: {what}: they are compiled again", file=sys.stderr)
