"""Files that are written and read safely.

They are replaced as a whole, locked by one writer at a time, and never written through a planted link. A
file that has no end, such as a device, is not read.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from kernels_ti import EngineError, OptionError
from kernels_ti.folders import SECONDS_TO_WAIT_FOR_A_LOCK, take_lock

_NEW = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.new")
# The errors of a file system without locks.
_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)

_TRIES = 8  # to open a file that others remove or replace while they hold its lock


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Raise an EngineError that a file cannot be written for an OSError of the block."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise EngineError(f"cannot write {path}: {error.strerror or error}") from error


@contextlib.contextmanager
def replaced(path: str | Path, *, private: bool = False, tidy: bool = False) -> Iterator[BinaryIO]:
    """Yield a stream whose content takes the place of a file once the block has ended without an error.

    The content goes to a new file in the same folder. Its name cannot be guessed, and it is only opened if nothing has
    that name, so no link is followed. It is safe on the disk before it is renamed. An old file keeps its permissions; a
    `private` new one is for nobody but the user. With `tidy` what killed processes left of the same work is removed
    first. If `path` is a link, the link is replaced. Raise OSError if that is not possible; the old file stays.
    """
    path = Path(path)
    if tidy:
        remove_abandoned(path)
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(new, flags, 0o600 if private else 0o666)
    stream = open(descriptor, "w+b")  # noqa: SIM115 - an error of its own must not take the place of another
    try:
        with contextlib.suppress(FileNotFoundError):
            old = path.lstat()
            if stat.S_ISREG(old.st_mode):
                os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)
        _is_free(descriptor)  # while it is locked, `remove_abandoned` leaves it alone
        yield stream
        stream.flush()
        os.fsync(descriptor)
        stream.close()
        os.replace(new, path)
    except BaseException:
        for undo in (stream.close, new.unlink):
            with contextlib.suppress(OSError):
                undo()
        raise
    sync_folder(path.parent)


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Yield a stream whose content replaces a file at the end; after a failure the old file stays.

    A link, or something that is no regular file, such as /dev/stdout, is written to directly, because it must not be
    replaced. See `replaced` for all others. An EngineError says that it cannot be written.
    """
    path = Path(path)
    with writing(path):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            with path.open("wb") as stream:
                yield stream
            return
        if path.exists():
            # Raises if the file is write-protected: such a file is not to be replaced.
            path.open("ab").close()
        with replaced(path) as stream:
            yield stream


def open_to_read(path: str | Path, *, pipes: bool = False) -> BinaryIO:
    """Open a file that has an end, or with `pipes` a pipe of a shell, ``<(zcat run.jsonl.gz)``; else raise OSError."""

    def opener(name: str, flags: int) -> int:
        # Without a writer a pipe would block here.
        descriptor = os.open(name, flags | os.O_NOCTTY | (0 if pipes else os.O_NONBLOCK))
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISREG(kind) or (pipes and stat.S_ISFIFO(kind)):
            return descriptor
        os.close(descriptor)
        what = "a folder" if stat.S_ISDIR(kind) else "a pipe" if stat.S_ISFIFO(kind) else "a device"
        raise OSError(errno.ENOTSUP, f"this is {what}, not a file", str(name))

    return open(path, "rb", opener=opener)


def read_file(path: str | Path, *, pipes: bool = False) -> bytes:
    """Read all of a file that has an end, see `open_to_read`."""
    with open_to_read(path, pipes=pipes) as stream:
        return stream.read()


@contextlib.contextmanager
def text_of(stream: BinaryIO) -> Iterator[TextIO]:
    """Yield a text stream over one of bytes, in UTF-8 and without translated line ends; the other stays open."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    try:
        yield text
        text.flush()
    finally:
        text.detach()


def is_leftover(name: str, of: str) -> bool:
    """Say whether `name` is what a killed process leaves that was replacing the file `of` in the same folder."""
    found = _NEW.fullmatch(name)
    return found is not None and found["name"] == of


def remove_abandoned(path: Path) -> None:
    """Remove what killed processes left that were replacing a file, see `replaced`; any process may call this."""
    for name in os.listdir(path.parent):
        if not is_leftover(name, path.name):
            continue
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(path.with_name(name), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if _is_free(descriptor):
                    path.with_name(name).unlink()
            finally:
                os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it; of a link the link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def sync_folder(path: Path) -> None:
    """Make what was created, renamed or removed in a folder safe on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_free(descriptor: int) -> bool:
    """Lock an open file if no other process holds its lock; say whether that was possible."""
    try:
        return take_lock(descriptor, 0.0)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return False


def open_alone(path: str | Path, flags: int = 0, *, seconds: float = SECONDS_TO_WAIT_FOR_A_LOCK) -> int:
    """Open a file to write to it, and lock it, so that no other run of this program writes to it meanwhile.

    `flags` are more flags of `os.open`; ``os.O_TRUNC`` takes effect once the lock is held, for which others are waited
    for so many seconds. What is no regular file, such as a pipe or a terminal, is not locked, nor is a file on a file
    system without locks. The lock is gone when the descriptor is closed. Raise OSError if the file cannot be opened,
    OptionError, which names the process where the system tells it, if another one is writing to the file.
    """
    access = flags & os.O_ACCMODE or os.O_WRONLY
    for _ in range(_TRIES):
        descriptor = os.open(path, access | (flags & ~os.O_ACCMODE & ~os.O_TRUNC) | os.O_CLOEXEC, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return descriptor
            _lock_alone(descriptor, path, seconds)
            # The run that was waited for may have removed or replaced the file.
            if same_file(descriptor, path, follow=True):
                if flags & os.O_TRUNC:
                    os.ftruncate(descriptor, 0)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise OptionError(f"{path} is removed or replaced again and again: write to another file")


def _lock_alone(descriptor: int, path: str | Path, seconds: float) -> None:
    try:
        is_held = take_lock(descriptor, seconds)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return
    if not is_held:
        raise OptionError(
            f"{path} is being written by another run of chordless{_holder(descriptor)}: wait until that has ended, "
            "or write to another file"
        )


def _holder(descriptor: int) -> str:
    """Return the process that holds the lock of a file, in brackets; empty where the system does not tell."""
    status = os.fstat(descriptor)
    file = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    try:
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return ""
    for line in lines:
        fields = line.split()
        if "FLOCK" in fields and "->" not in fields and file in fields:
            process = fields[fields.index(file) - 1]
            return f" (process {process})" if int(process) > 0 else ""
    return ""


def same_file(descriptor: int, path: str | Path, *, follow: bool = False) -> bool:
    """Say whether an open file is still the one that lies at `path`, or with `follow` where a link there leads."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=follow))
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise
        return False


def require_in_place(descriptor: int, path: str | Path) -> None:
    """Raise EngineError if an output is a file that was moved, replaced or removed while it was written."""
    with writing(path):
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and not same_file(descriptor, path, follow=True):
            raise EngineError(
                f"{path} is no longer the file of this output: it was moved, replaced or removed meanwhile, "
                "and what was written is where that file is now"
            )


def open_own(path: str | Path, flags: int, *, folder: int | None = None) -> int:
    """Open a file that this program keeps in a folder of its own.

    With the descriptor of a `folder`, which may have been moved, `path` is only its name in messages. Raise OSError if
    that is not possible, EngineError if it is a link, a pipe or a device.
    """
    try:
        name = path if folder is None else Path(path).name
        # Opening a pipe would wait for whoever opens its other end.
        descriptor = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise EngineError(f"{path} is a symbolic link: a run writes only to files of its own folder") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise EngineError(f"{path} is no plain file: a run writes only to files of its own folder")
    return descriptor
