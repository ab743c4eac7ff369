"""Run folders outside the folder of runs: they are noted, so that the dashboard lists them too."""

from __future__ import annotations

import json
import os
from pathlib import Path

from chordless.files import replaced
from kernels_ti import EngineError
from kernels_ti.folders import base_folder, make_folder

_MOST_NOTES, _MOST_BYTES = 200, 1 << 16


def data_folder() -> Path:
    """Return the folder of this program below the user's data folder."""
    return base_folder("XDG_DATA_HOME", ".local/share") / "chordless"


def note_folder(path: str | Path) -> None:
    """Note that a run is kept in a folder, wherever that lies. Raise EngineError if the note cannot be written."""
    notes, wanted = _notes_path(), os.path.abspath(path)
    try:
        make_folder(notes.parent)
        # Other processes may add theirs at the same time: a line that is appended in one piece is not torn.
        descriptor = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, f"{json.dumps(wanted)}\n".encode())
            is_long = os.fstat(descriptor).st_size > _MOST_BYTES
        finally:
            os.close(descriptor)
        if is_long:
            with replaced(notes, private=True) as stream:
                kept = reversed(noted_folders()[:_MOST_NOTES])
                stream.write("".join(f"{json.dumps(str(folder))}\n" for folder in kept).encode())
    except OSError as error:
        raise EngineError(f"cannot write {error.filename or notes}: {error.strerror}") from error


def note_runs_of(folder: Path) -> None:
    """Note each run of a folder of runs that is to be another one, so that they stay listed."""
    try:
        runs = sorted(path.parent for path in folder.glob("*/run.json"))
    except OSError as error:
        raise EngineError(f"cannot read {folder}: {error.strerror}") from error
    for run in runs[-_MOST_NOTES:]:
        note_folder(run)


def noted_folders() -> list[Path]:
    """Return the noted folders that are still there, each once, the latest note first; an EngineError if damaged."""
    notes = _notes_path()
    try:
        lines = notes.read_bytes().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise EngineError(f"cannot read {notes}: {error.strerror}") from error
    try:
        paths = dict.fromkeys(Path(json.loads(line)) for line in reversed(lines))
    except (ValueError, TypeError, RecursionError) as error:
        raise EngineError(f"{notes} is damaged: {error}; it may be deleted") from error
    # A note may have a name that the system does not take.
    return [path for path in paths if os.path.isdir(path)]


def _notes_path() -> Path:
    return data_folder() / "folders.jsonl"
