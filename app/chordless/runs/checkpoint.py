"""The file from which a run is resumed: its state, the cycles not written yet, and the position in the output.

It is an uncompressed zip of ``.npy`` arrays and a ``header.json``. A new checkpoint is written beside the old one,
synced to the disk, and renamed over the old one, so a complete checkpoint exists at any moment.
"""

from __future__ import annotations

import contextlib
import errno
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chordless.files import open_to_read, replaced
from chordless.runs.directory import RunDirectory, program_version, resume_line
from chordless.runs.saved import Arrays, Sessions, identity_in, packed, require_sound, typed, unpacked
from kernels_ti import EngineError
from kernels_ti.boundary.values.saved import SavedCount, SavedPick
from kernels_ti.cycles import Cycles
from kernels_ti.errors import CheckpointError
from kernels_ti.state import Frames, GroupState, Layout, Rows, RunState

CHECKPOINT_FORMAT = 1
_HEADER = "header.json"
_ALONG = {"boundary": SavedCount, "pick": SavedPick}
_FRAME_ARRAYS = ("allowed", "extensions", "members", "end", "length", "weight")
# Errors that a changed byte in a zip, in one of its arrays or in the header can cause.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, TypeError, AttributeError, IndexError,
    OverflowError, NotImplementedError, RuntimeError, MemoryError,
)  # fmt: skip

# Versions that number the rows and the seeds of a graph as this one does. Their states along a boundary may differ.
_SAME_NUMBERING = frozenset({"0.4.0", "0.5.0"})
# How the vertices of a large graph are labelled. Checkpoints without a number have 1: one vertex at a time.
_LARGE_NUMBERING = 3


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of a run between two slices."""

    graph_hash: str  # Of the graph that is searched, see `chordless.runs.directory.graph_hash`
    # The options that the state belongs to: bounds, expansion, part, whether cycles are collected.
    options: dict[str, Any]
    # The remaining work. If it comes from a file, its frames are read while they are iterated.
    state: RunState
    # The position in the output, as its writer reports it; None if cycles are only counted.
    position: dict[str, int] | None
    listed: int  # Cycles in the output up to that position
    unwritten: tuple[Cycles | Rows, ...]  # Cycles that the state counts as found, but that are not in the output yet
    sessions: Sessions
    finished: bool  # Whether nothing is left to search or to write
    # A count along a boundary, or a search for a best cycle or a sample, once the orders of its vertices are known. The
    # state then has its totals only.
    along: SavedCount | SavedPick | None = None


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> int:
    """Replace the checkpoint of a run; return its bytes. An EngineError says that the old one stays."""
    try:
        with replaced(path) as stream:
            _write(stream, checkpoint)
            return stream.tell()
    except OSError as error:
        kept = f"; the last good one is kept: {resume_line(path.parent)}" if path.is_file() else ""
        raise EngineError(f"cannot write the checkpoint {path}: {error.strerror}{kept}") from error


@contextlib.contextmanager
def open_checkpoint(
    path: Path, graph_hash: str, options: Mapping[str, Any], *, large: bool = False, listing: str | None = None
) -> Iterator[Checkpoint]:
    """Read a checkpoint, valid inside the block only; its checksums are verified before the block begins.

    It must belong to the graph and have been written with the options; for `large` see `kernels_ti.blocks.bulk`.
    `listing` is the format of the cycles, of a run that lists them. Raise CheckpointError if there is none, if it is
    damaged, or made for something else.
    """
    with contextlib.ExitStack() as stack:
        with _whole(path):
            archive = stack.enter_context(zipfile.ZipFile(stack.enter_context(open_to_read(path))))
            damaged = archive.testzip()
            if damaged is not None:
                raise ValueError(f"wrong checksum of {damaged}")
            header = _read_header(archive, path)
            is_search = all(header.get(name) is None for name in _ALONG)
            known = {program_version(), *(_SAME_NUMBERING if is_search else ())}
            if header["program"] not in known:
                # Another version may number the rows and the seeds of the same graph differently.
                raise CheckpointError(
                    f"the checkpoint {path} was written by chordless {header['program']}, this is "
                    f"{program_version()}: go on with the version that began"
                )
            if large and not header["finished"] and header.get("large_numbering", 1) != _LARGE_NUMBERING:
                raise CheckpointError(
                    f"the checkpoint {path} was written by an earlier chordless, which numbers the vertices of so "
                    f"large a graph differently: go on with the version that began, {header['program']}"
                )
            _require_members(archive, header)
            require_sound(header, listing)
            checkpoint = _read(archive, header)
            _compare(path, header, graph_hash, options)
        yield checkpoint


def read_position(path: Path) -> tuple[dict[str, int], bool]:
    """Read only the position in the output from the checkpoint of a listing, not the state, which may be large.

    Another version of the program may have written it: cycles mean the same in all of them. Raise CheckpointError if
    there is none, if it is damaged or of another format, or if nothing is listed.
    """
    with _whole(path), open_to_read(path) as stream, zipfile.ZipFile(stream) as archive:
        header = _read_header(archive, path)
        position = {str(name): int(value) for name, value in header["position"].items()}
        return position, bool(header["finished"])


def require_own(directory: RunDirectory) -> None:
    """Raise CheckpointError unless the checkpoint of a run was written for the command and the graph in its run.json.

    Another version of the program may have written it, as for `read_position`.
    """
    path, wanted = directory.checkpoint, identity_in(directory.command(), directory)
    with _whole(path), open_to_read(path) as stream, zipfile.ZipFile(stream) as archive:
        header = _read_header(archive, path)
        _compare(path, header, directory.began_with()["graph_hash"], wanted)


def _read_header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(archive.read(_HEADER))
    found = header["format"]
    if found != CHECKPOINT_FORMAT:
        age = "a newer" if found > CHECKPOINT_FORMAT else "an older"
        raise CheckpointError(
            f"the checkpoint {path} is of {age} format, {found}; this program reads format {CHECKPOINT_FORMAT}"
        )
    return header


def _checksums(archive: zipfile.ZipFile) -> dict[str, int]:
    return {member.filename: member.CRC for member in archive.infolist() if member.filename != _HEADER}


def _require_members(archive: zipfile.ZipFile, header: Mapping[str, Any]) -> None:
    """Raise ValueError unless the arrays are those that were written with the header; earlier versions name them."""
    found, written = _checksums(archive), header["members"]
    if header["program"] in _SAME_NUMBERING and isinstance(written, list):
        written = {name: found.get(name) for name in written if name != _HEADER}
    if found.keys() != written.keys():
        raise ValueError("something is missing")
    for name, checksum in written.items():
        if found[name] != checksum:
            raise ValueError(f"{name} is not the one that was written")


def _write(stream: Any, checkpoint: Checkpoint) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        state = checkpoint.state
        groups = [
            {
                "surveyed": int(group.surveyed),
                "next_seed": int(group.next_seed),
                "chunks": _write_frames(archive, f"groups/{i}", group.frames),
            }
            for i, group in enumerate(state.groups)
        ]
        for i, found in enumerate(checkpoint.unwritten):
            if isinstance(found, Cycles):
                _write_array(archive, f"unwritten/{i}/offsets", found.offsets)
                _write_array(archive, f"unwritten/{i}/vertices", found.vertices)
            else:
                _write_array(archive, f"unwritten/{i}/rows", found)
        arrays: Arrays = {}
        along = {
            name: packed(checkpoint.along, arrays, name) if isinstance(checkpoint.along, kind) else None
            for name, kind in _ALONG.items()
        }
        for name, array in arrays.items():
            _write_array(archive, name, array)
        header = {
            "format": CHECKPOINT_FORMAT,
            "program": program_version(),
            "large_numbering": _LARGE_NUMBERING,
            "graph_hash": checkpoint.graph_hash,
            "options": checkpoint.options,
            "finished": checkpoint.finished,
            "position": checkpoint.position,
            "listed": checkpoint.listed,
            "unwritten": len(checkpoint.unwritten),
            "sessions": asdict(checkpoint.sessions),
            "layout": asdict(state.layout),
            "batch": int(state.batch),
            "groups": groups,
            "paths_by_length": _plain(state.paths_by_length),
            "cycles_by_length": _plain(state.cycles_by_length),
            "seconds": state.seconds,
            "share": state.share,
            **along,
            "members": _checksums(archive),
        }
        # The header comes last, because only now the number of pieces is known.
        archive.writestr(_HEADER, json.dumps(header))


def _write_frames(archive: zipfile.ZipFile, folder: str, pieces: Iterable[Frames]) -> int:
    chunks = 0
    for frames in pieces:
        for name in _FRAME_ARRAYS:
            array = getattr(frames, name)
            if array is not None:
                _write_array(archive, f"{folder}/{chunks}/{name}", array)
        chunks += 1
    return chunks


def _write_array(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def _read_array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    with archive.open(f"{name}.npy") as member:
        array: npt.NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
    return array


def _plain(by_length: Mapping[int, int]) -> dict[int, int]:
    return {int(length): int(count) for length, count in by_length.items()}


@dataclass(frozen=True)
class _FramesInFile:
    """Frames of one group, read piece by piece on each iteration."""

    path: Path
    archive: zipfile.ZipFile
    folder: str
    chunks: int
    names: frozenset[str]

    def __iter__(self) -> Iterator[Frames]:
        for chunk in range(self.chunks):
            with _whole(self.path):
                frames = Frames(*(self._array(chunk, name) for name in _FRAME_ARRAYS))
                _require_frames(frames)
            yield frames

    def _array(self, chunk: int, name: str) -> Any:
        member = f"{self.folder}/{chunk}/{name}"
        return None if name == "members" and f"{member}.npy" not in self.names else _read_array(self.archive, member)


def _require_frames(frames: Frames) -> None:
    """Raise ValueError for arrays that no frames have; earlier versions wrote no checksums into the header."""
    rows, ends = frames.extensions.shape, frames.end
    sets = (frames.allowed, frames.extensions, frames.extensions if frames.members is None else frames.members)
    columns = ((ends, np.int32), (frames.length, np.int32), (frames.weight, np.float64))
    fits = len(rows) == 2 and all(each.dtype == np.uint64 and each.shape == rows for each in sets)
    fits = fits and all(column.dtype == kind and column.shape == rows[:1] for column, kind in columns)
    if not fits or not ((ends >= 0) & (frames.length > 0) & np.isfinite(frames.weight)).all():
        raise ValueError("its frames do not fit together")


def _read(archive: zipfile.ZipFile, header: dict[str, Any]) -> Checkpoint:
    path, names = Path(str(archive.filename)), frozenset(archive.namelist())
    groups = tuple(
        GroupState(
            surveyed=group["surveyed"],
            next_seed=group["next_seed"],
            frames=_FramesInFile(path, archive, f"groups/{i}", group["chunks"], names) if group["chunks"] else (),
        )
        for i, group in enumerate(header["groups"])
    )
    state = RunState(
        layout=typed(Layout, header["layout"]),
        batch=header["batch"],
        groups=groups,
        paths_by_length={int(length): count for length, count in header["paths_by_length"].items()},
        cycles_by_length={int(length): count for length, count in header["cycles_by_length"].items()},
        seconds=header["seconds"],
        share=header["share"],
    )
    return Checkpoint(
        graph_hash=header["graph_hash"],
        options=header["options"],
        state=state,
        position=header["position"],
        listed=header["listed"],
        unwritten=tuple(_read_unwritten(archive, f"unwritten/{i}", names) for i in range(header["unwritten"])),
        sessions=typed(Sessions, header["sessions"]),
        finished=header["finished"],
        along=_read_along(archive, header),
    )


def _read_along(archive: zipfile.ZipFile, header: dict[str, Any]) -> SavedCount | SavedPick | None:
    for name, kind in _ALONG.items():
        if header.get(name) is not None:
            found: SavedCount | SavedPick = unpacked(kind, header[name], lambda each: _read_array(archive, each))
            return found
    return None


def _read_unwritten(archive: zipfile.ZipFile, folder: str, names: frozenset[str]) -> Cycles | Rows:
    if f"{folder}/rows.npy" in names:
        return _read_array(archive, f"{folder}/rows")
    # Version 0.5.0 wrote 8 bytes to a vertex.
    vertices = _read_array(archive, f"{folder}/vertices").astype(np.int32, copy=False)
    return Cycles(_read_array(archive, f"{folder}/offsets"), vertices)


def _compare(path: Path, header: Mapping[str, Any], graph_hash: str, wanted: Mapping[str, Any]) -> None:
    """Raise CheckpointError unless a checkpoint was written for this graph and these options."""
    if header["graph_hash"] != graph_hash:
        raise CheckpointError(f"the checkpoint {path} belongs to another graph")
    # In JSON a pair is a list.
    found, wanted = header["options"], json.loads(json.dumps(wanted))
    for name in sorted({*found, *wanted}):
        if found.get(name) != wanted.get(name):
            raise CheckpointError(
                f"the checkpoint {path} belongs to a run with other options: "
                f"{name} is {found.get(name)} there and {wanted.get(name)} in run.json"
            )


@contextlib.contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Turn every error that a damaged checkpoint causes into one line that says so."""
    try:
        yield
    except CheckpointError:
        raise
    except FileNotFoundError:
        raise CheckpointError(
            f"{path.parent} has no checkpoint: the run ended before its first one; delete the folder and begin again"
        ) from None
    except (OSError, *_DAMAGE) as error:
        # An impossible position in the file: the table of the zip is damaged.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise CheckpointError(f"the checkpoint {path} cannot be read: {error.strerror}") from error
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        if isinstance(error, zipfile.BadZipFile):
            reason = "its table of contents cannot be read"
        raise CheckpointError(
            f"the checkpoint {path} is damaged or cut short ({reason}): put {path.parent} back from a backup, or begin "
            "the run again in another folder"
        ) from error
