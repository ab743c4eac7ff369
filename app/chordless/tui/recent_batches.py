"""The latest batches of the dashboard, with their graphs and output files, so that they can be resumed."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from chordless.files import replaced
from chordless.graphs.generators import is_spec
from chordless.tui.readings import AS_IT_IS
from chordless.tui.settings import settings_path
from kernels_ti import EngineError

_FILE = "batches.json"
_MOST = 20


@dataclass(frozen=True)
class RecentBatch:
    """The fields of the form, and the folder that their paths are relative to."""

    output: str  # The absolute path of the output file
    graphs: str  # As they were typed
    # The current folder at that time. Relative paths start there.
    folder: str
    reading: str = AS_IT_IS  # How the graphs were read, one of `chordless.tui.readings.READINGS`
    cluster: str = ""  # The workers that counted; empty for this machine alone

    def fields_here(self) -> dict[str, str]:
        """Return the fields of the form but for the output file, with paths that hold in the current folder."""
        return {"graphs": self.graphs_here(), "reading": self.reading, "cluster": self.cluster}

    def graphs_here(self) -> str:
        """Return the graphs with paths that hold in the current folder."""
        if self.folder == os.getcwd():
            return self.graphs
        words = [word if is_spec(word) else os.path.join(self.folder, word) for word in words_of(self.graphs)]
        return shlex.join(words)


def words_of(text: str) -> list[str]:
    """Split typed text as a shell does. ``~`` is the home folder.

    Raise ValueError if a closing quotation mark is missing.
    """
    return [os.path.expanduser(word) for word in shlex.split(text)]


def load_recent() -> tuple[list[RecentBatch], str | None]:
    """Return the latest batches, the newest first, and the fault of their file, if any."""
    path = settings_path().with_name(_FILE)
    try:
        entries = json.loads(path.read_bytes())
        return [RecentBatch(**{key: str(value) for key, value in entry.items()}) for entry in entries], None
    except (FileNotFoundError, NotADirectoryError):
        return [], None
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        return [], f"{path} is ignored: {error}"


def remember(batch: RecentBatch, others: Sequence[RecentBatch]) -> list[RecentBatch]:
    """Put a batch in front of the others, save all, and return them.

    Raise EngineError if they cannot be written.
    """
    path = settings_path().with_name(_FILE)
    recent = [batch, *(other for other in others if other.output != batch.output)][:_MOST]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced(path) as stream:
            stream.write(json.dumps([asdict(entry) for entry in recent], indent=1).encode())
    except OSError as error:
        raise EngineError(f"cannot write {path}: {error.strerror}") from error
    return recent
