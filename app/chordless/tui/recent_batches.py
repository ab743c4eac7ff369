"""Which graphs the latest batches of the dashboard were made of, so that they can be gone on with."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from chordless.files import replaced
from chordless.graphs.generators import is_spec
from chordless.tui.settings import settings_path
from kernels_ti import EngineError

_FILE = "batches.json"
_MOST = 20


@dataclass(frozen=True)
class RecentBatch:
    """What was asked for.

    Parameters
    ----------
    output : str
        The absolute path of the file of lines.
    graphs : str
        As they were typed.
    folder : str
        Where that was: paths are relative to it.
    """

    output: str
    graphs: str
    folder: str

    def graphs_here(self) -> str:
        """Return the graphs as they are called from the current folder."""
        if self.folder == os.getcwd():
            return self.graphs
        words = [word if is_spec(word) else os.path.join(self.folder, word) for word in words_of(self.graphs)]
        return shlex.join(words)


def words_of(text: str) -> list[str]:
    """Split what was typed as a shell would; ``~`` is the home folder.

    Raises
    ------
    ValueError
        If a quotation has no end.
    """
    return [os.path.expanduser(word) for word in shlex.split(text)]


def load_recent() -> tuple[list[RecentBatch], str | None]:
    """Return the latest batches, the newest first, and what is wrong with their file."""
    path = settings_path().with_name(_FILE)
    try:
        entries = json.loads(path.read_bytes())
        return [RecentBatch(**{key: str(value) for key, value in entry.items()}) for entry in entries], None
    except (FileNotFoundError, NotADirectoryError):
        return [], None
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        return [], f"{path} is ignored: {error}"


def remember(batch: RecentBatch, others: Sequence[RecentBatch]) -> list[RecentBatch]:
    """Write the latest batches with a new one; return them.

    Raises
    ------
    EngineError
        If they cannot be written.
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
