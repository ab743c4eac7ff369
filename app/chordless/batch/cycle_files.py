"""Files of cycles that the workers of a cluster write for a batch, and their way to where the user wants them.

A worker that sees the driver's disk writes into a hidden folder beside the place of the file. The driver moves the file
when it takes the worker's answer, so a file that is in its place is whole. From other workers the content travels with
the answer.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from chordless.files import replaced, writing
from kernels_ti import EngineError
from kernels_ti.folders import make_folder, temporary_folder

MOST_BYTES = 64 << 20  # Largest file that travels with an answer
T = TypeVar("T")


@dataclass(frozen=True)
class CycleFile:
    """The cycles of one graph."""

    path: str  # Where the file is to be, as the user named it
    part: str | None  # Where it is now; None if it travels
    content: bytes = b""  # The whole file, if it travels


class PartFolders:
    """The hidden folders of one driver, one in each folder of cycles; they are removed with the block."""

    def __init__(self, name: str) -> None:
        self._name = f".chordless-{name}"
        self._made: dict[str, str] = {}

    def beside(self, folder: str) -> str:
        """Make the hidden folder in a folder, and return its absolute path; an EngineError if that is not possible."""
        if folder not in self._made:
            made = os.path.join(os.path.abspath(folder), self._name)
            try:
                make_folder(made)
            except OSError as error:
                raise EngineError(f"cannot make the folder {made}: {error.strerror}") from error
            self._made[folder] = made
        return self._made[folder]

    def take(self, file: CycleFile) -> None:
        """Put a file in its place; an EngineError if it cannot be written."""
        with writing(file.path):
            if file.part is not None:
                os.replace(file.part, file.path)
                return
            with replaced(file.path) as stream:
                stream.write(file.content)

    def close(self) -> None:
        """Remove the folders, with the files of answers that were not taken."""
        for made in self._made.values():
            shutil.rmtree(made, ignore_errors=True)


def is_seen(parts: str) -> bool:
    """Whether this process sees the hidden folder of the driver."""
    return os.path.isdir(parts)


def written(parts: str, write: Callable[[str], tuple[T, str | None]]) -> tuple[T, CycleFile | None]:
    """Let a worker write a file of cycles where the driver finds it: below its hidden folder `parts`, if it sees that.

    `write` writes into a folder, and returns anything, and the path of the file, None if there is none. Returns what it
    returned, and the file. An EngineError is raised for a file that is too large to travel.
    """
    with nullcontext() if is_seen(parts) else temporary_folder("chordless-cycles-") as own:
        folder = tempfile.mkdtemp(dir=parts) if own is None else own
        result, path = write(folder)
        if path is None:
            return result, None
        place = os.path.join(os.path.dirname(parts), os.path.basename(path))
        if own is None:
            return result, CycleFile(place, path)
        size = os.path.getsize(path)
        if size > MOST_BYTES:
            raise EngineError(
                f"its cycles take {size:,} bytes, and the worker on {socket.gethostname()} does not see the folder "
                f"{os.path.dirname(parts)}: name a folder that all machines share"
            )
        return result, CycleFile(place, None, Path(path).read_bytes())
