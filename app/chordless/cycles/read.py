"""Reading cycles from bit rows: memory maps of the parts of a run, or of a single file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from chordless.files import open_to_read
from kernels_ti import OptionError
from kernels_ti.errors import CheckpointError

Rows = npt.NDArray[np.uint64]

CYCLES_FOLDER = "cycles"
WORD_BITS = 64


def row_words(n: int) -> int:
    """Return the 64-bit words of a bit row over `n` vertices: vertex v is bit v % 64 of word v // 64."""
    return -(-n // WORD_BITS)


def part_path(folder: Path, part: int) -> Path:
    """Return the file of a part, counted from 0."""
    return folder / f"part-{part:05d}.npy"


def parts_in(folder: Path) -> list[int]:
    """Return the numbers of the parts that `folder` holds, ascending."""
    matches = (re.fullmatch(r"part-(\d{5}|[1-9]\d{5,})\.npy", name) for name in os.listdir(folder))
    return sorted(int(match[1]) for match in matches if match is not None)


def read_rows(path: str | Path, position: Mapping[str, int] | None = None) -> list[Rows]:
    """Map the cycles of a run directory or a .npy file into memory, a read-only map (k, words) for each part, in order.

    Rows beyond `position`, see `chordless.cycles.write.RowOutput.position`, are left out. Nothing is read yet. Raises
    OptionError for a path without bit rows, CheckpointError for a part that is missing, of another graph or too short
    for `position`.
    """
    path = Path(path)
    if not os.path.isdir(path):
        files = [path]
    else:
        folder = path / CYCLES_FOLDER
        if not os.path.isdir(folder):
            raise OptionError(f"{path}: this folder holds no cycles; `chordless list GRAPH -o {path}/` writes some")
        parts = parts_in(folder)
        if position is not None:
            parts = [part for part in parts if part <= position["part"]]
        last = parts[-1] if position is None and parts else -1 if position is None else position["part"]
        if parts != list(range(len(parts))) or len(parts) <= last:
            missing = min(set(range(len(parts) + 1)) - set(parts))
            raise CheckpointError(f"{part_path(folder, missing)}: this part of the cycles is missing")
        files = [part_path(folder, part) for part in parts]
    maps = [_mapped(file) for file in files]
    if len({rows.shape[1] for rows in maps}) > 1:
        raise CheckpointError(f"{path}: the parts are of different graphs")
    if position is not None:
        if len(maps[-1]) < position["rows"]:
            raise CheckpointError(
                f"{files[-1]}: holds {len(maps[-1]):,} cycles, the checkpoint says {position['rows']:,}"
            )
        maps[-1] = maps[-1][: position["rows"]]
    return maps


def _mapped(file: Path) -> Rows:
    try:
        with open_to_read(file), np.errstate(over="ignore"):  # the shape in a damaged header may be impossible
            rows = np.load(file, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise OptionError(f"{file}: cannot be read: {error.strerror or error}") from None
    except Exception:
        # A damaged header makes numpy raise errors of nearly every class. Some of its messages are about pickled
        # objects, which would mislead the user.
        raise OptionError(f"{file}: not a whole .npy file, as `chordless list -o FILE.npy` writes it") from None
    if not isinstance(rows, np.ndarray) or rows.dtype != np.dtype("<u8") or rows.ndim != 2:
        raise OptionError(f"{file}: not a file of cycles, which are rows of 64-bit words")
    return rows


class CycleStore:
    """Cycles as bit rows that stay on the disk in maps of shape (k, words), with fast access to any slice."""

    def __init__(self, maps: Sequence[Rows]) -> None:
        self._maps = list(maps)
        self._starts = np.concatenate(([0], np.cumsum([len(rows) for rows in maps], dtype=np.int64)))

    @classmethod
    def joined(cls, stores: Sequence[CycleStore]) -> CycleStore:
        """Return all cycles of some stores of one graph, one store after the other."""
        return cls([rows for store in stores for rows in store._maps])

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def words(self) -> int:
        """Words of a row; 0 where there is no part at all."""
        return self._maps[0].shape[1] if self._maps else 0

    def is_kept_in(self, path: str | Path) -> bool:
        """Return whether `path` is one of the mapped files."""
        files = (rows.filename for rows in self._maps if isinstance(rows, np.memmap))
        return os.path.exists(path) and any(file is not None and os.path.samefile(path, file) for file in files)

    def __getitem__(self, which: slice) -> Rows:
        """Read the rows of a slice of step 1, shape (k, words)."""
        start, stop, step = which.indices(len(self))
        if step != 1:
            raise IndexError("cycles are read by slices of step 1")
        stop = max(start, stop)
        first = int(np.searchsorted(self._starts, start, side="right")) - 1
        pieces = [np.empty((0, self.words), np.uint64)]
        for part in range(first, len(self._maps)):
            begin = int(self._starts[part])
            if begin >= stop:
                break
            pieces.append(self._maps[part][max(start - begin, 0) : stop - begin])
        return pieces[-1] if len(pieces) == 2 else np.concatenate(pieces)

    def chunks(self, cycles: int) -> Iterator[Rows]:
        """Yield all rows in pieces of at most `cycles` rows."""
        for start in range(0, len(self), cycles):
            yield self[start : start + cycles]
