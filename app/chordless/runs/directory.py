"""The folder of a run that can be resumed: the command, the graph, the events, the checkpoint.

``run.json`` is the command with the graph's hash and the program's version. ``graph.json`` is the graph itself, so that
a resumed run needs nothing outside. ``events.jsonl`` holds the events of all sessions. ``checkpoint`` is the state, see
`chordless.runs.checkpoint`. ``cycles`` holds the parts of a listing. The engine at work in the folder locks
``run.json``.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from chordless.files import open_own, read_file, remove, remove_abandoned, replaced, same_file, sync_folder, writing
from chordless.protocol.codec import with_tuples, wrong_field
from chordless.protocol.orders import RunCommand
from chordless.protocol.recording import is_time
from kernels_ti import EngineError
from kernels_ti.choices import ARCHES
from kernels_ti.errors import CheckpointError, NoOrderError
from kernels_ti.folders import make_folder, take_lock

if TYPE_CHECKING:
    from chordless.graphs.load import LoadedGraph
    from kernels_ti import Graph

RUN_FORMAT = 1
EDGE_LIST = "graph.txt"
"""The graph as an edge list: written when another run shall read it, and the file that it came from is gone."""

_STANDARD_OUTPUT = "-"
_RUN, _GRAPH, _EVENTS, _CHECKPOINT, _WEIGHTS = "run.json", "graph.json", "events.jsonl", "checkpoint", "weights"
FILES = (_RUN, _GRAPH, _EVENTS, _CHECKPOINT, _WEIGHTS)
"""What a run keeps in its folder, apart from its cycles."""
# Between the lock of a new run and its order
_SECONDS_TO_BEGIN = 10.0
# These fields belong to one session, or give the place of the folder itself.
_NOT_KEPT = ("program_start", "limit", "timeout", "checkpoint", "resume", "cluster", "gpus")
# What run.json tells of the beginning of a run, apart from the command; and whether a value that was read is one.
_BEGINNING: dict[str, Callable[[Any], bool]] = {
    "graph_hash": lambda value: isinstance(value, str),
    "program": lambda value: isinstance(value, str),
    "began": is_time,
}


@dataclass(frozen=True)
class RunDirectory:
    """A run directory. `lock` is the descriptor of the ``run.json`` that this process has locked; None for readers."""

    path: Path
    lock: int | None = field(default=None, compare=False)

    def require_held(self) -> None:
        """Raise EngineError if the folder of the locked ``run.json`` was moved, replaced or removed since."""
        if self.lock is None or same_file(self.lock, self.path / _RUN):
            return
        raise EngineError(
            f"{self.path} is no longer the folder of this run: it was moved, replaced or removed. Nothing was written "
            f"to it; from its last checkpoint it goes on with: {self.way_on()}"
        )

    def way_on(self) -> str:
        """Return the command line that resumes the run: where its folder is now, if the system tells that."""
        if self.lock is None or same_file(self.lock, self.path / _RUN):
            return resume_line(self.path)
        with contextlib.suppress(OSError):
            moved = Path(os.readlink(f"/proc/self/fd/{self.lock}"))
            if same_file(self.lock, moved):
                return resume_line(moved.parent)
        return _resume_elsewhere(self.path)

    @property
    def events(self) -> Path:
        """The recording of all sessions."""
        return self.path / _EVENTS

    @property
    def checkpoint(self) -> Path:
        """The one checkpoint."""
        return self.path / _CHECKPOINT

    @property
    def weights(self) -> Path:
        """The copy of a file of weights."""
        return self.path / _WEIGHTS

    def keep_weights(self, data: bytes) -> None:
        """Write the copy of the file of weights; an EngineError if it cannot be written."""
        with writing(self.weights), replaced(self.weights) as stream:
            stream.write(data)

    def hash_of_weights(self) -> str:
        """Return the hash of the copy of the weights; a CheckpointError if it cannot be read."""
        try:
            return hashlib.sha256(read_file(self.weights)).hexdigest()
        except OSError as error:
            raise CheckpointError(f"cannot read {self.weights}: {error.strerror}") from error

    def command(self) -> RunCommand:
        """Return the command that began the run, changed to resume it; a CheckpointError if there is no run here."""
        return _command_of(self._run_json(), self.path)

    def began_with(self) -> dict[str, Any]:
        """Return what `command` does not say of the beginning; None for what the file does not tell.

        It is ``graph_hash``, that of the graph, ``program``, the version that began the run, and ``began``, the time.
        """
        values = self._run_json()
        return {name: values.get(name) for name in _BEGINNING}

    def graph(self) -> LoadedGraph:
        """Read the graph, with its names, title and positions; a CheckpointError if it has changed."""
        from chordless.graphs.load import LoadedGraph
        from kernels_ti import Graph

        path = self.path / _GRAPH
        try:
            values = json.loads(read_file(path))
            kind = {"directed": values.get("directed", False), "multigraph": values.get("multigraph", False)}
            graph = Graph.from_edge_array(values["edges"], n=values["n"], names=values["names"], **kind)
            positions = values["positions"]
            if positions is not None:
                positions = {int(v): (float(x), float(y)) for v, (x, y) in positions.items()}
            title = str(values["title"])
        except OSError as error:
            raise CheckpointError(f"{path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise CheckpointError(f"{path} is damaged: {_reason(error)}") from error
        if graph_hash(graph) != self._run_json().get("graph_hash"):
            raise CheckpointError(f"{path} is not the graph that this run began with")
        return LoadedGraph(graph, title, positions)

    def record(self) -> IO[str]:
        """Open the recording to append events; an incomplete last line of a killed process is cut off first."""
        with writing(self.events):
            descriptor = open_own(self.events, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            with open(descriptor, "rb+", closefd=False) as stream:
                stream.truncate(sum(len(line) for line in stream if line.endswith(b"\n")))
            return open(descriptor, "a", encoding="utf-8")

    def _run_json(self) -> dict[str, Any]:
        path = self.path / _RUN
        try:
            content = read_file(path)
            if not content:
                raise CheckpointError(
                    f"no run was begun in {self.path}: its process was killed too soon; begin it again"
                )
            values = json.loads(content)
            found = values["format"]
        except (FileNotFoundError, NotADirectoryError):
            raise _no_run(self.path) from None
        except OSError as error:
            raise CheckpointError(f"{path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise CheckpointError(f"{path} is damaged: {_reason(error)}") from error
        if found != RUN_FORMAT:
            raise CheckpointError(f"{path} is of format {found}; this program reads format {RUN_FORMAT}")
        for name, is_fit in _BEGINNING.items():
            if values.get(name) is not None and not is_fit(values[name]):
                raise CheckpointError(f"{path} is damaged: {name} is {values[name]!r:.80}")
        return dict(values)


def run_that_keeps(path: str | Path) -> Path | None:
    """Return the folder of the run that has this one among its `FILES`, if there is one."""
    folder, name = os.path.split(os.path.realpath(path))
    return Path(folder) if name in FILES and os.path.isfile(os.path.join(folder, _RUN)) else None


def check_is_free(path: str | Path) -> None:
    """Raise CheckpointError, which says what is in the way, for a folder that is not empty."""
    path = Path(path)
    try:
        present = os.listdir(path)
    except FileNotFoundError:
        return
    except OSError as error:
        if os.path.isfile(path):
            raise CheckpointError(f"{path} is a file: a run directory begins as a new or an empty folder") from None
        raise CheckpointError(f"{path} cannot be a run directory: {error.strerror}") from error
    if _RUN in present:
        if _never_begun(path / _RUN):
            _clear(path, is_new=False)
            return
        if not RunDirectory(path).checkpoint.exists():
            raise CheckpointError(f"{path} holds a run already, which has no checkpoint yet: name another folder")
        raise CheckpointError(f"{path} holds a run already: `{resume_line(path)}` goes on with it")
    if present:
        raise CheckpointError(f"{path} is not empty: a run directory begins as a new or an empty folder")


def _never_begun(run: Path) -> bool:
    """Whether a process was killed before it wrote the order of its run: it holds the lock of the empty file before."""
    try:
        status = os.stat(run)
        if status.st_size > 0 or time.time() - status.st_mtime <= _SECONDS_TO_BEGIN:
            return False
        with open(run, "rb+") as stream:
            return take_lock(stream.fileno(), 0.0)
    except OSError as error:
        raise CheckpointError(f"{run} cannot be read: {error.strerror}") from error


@contextlib.contextmanager
def created(path: str | Path, command: RunCommand, loaded: LoadedGraph) -> Iterator[RunDirectory]:
    """Make a run directory, in a new or an empty folder, and hold its lock.

    If the block ends before there is a checkpoint, or with a NoOrderError, the files are removed again. Raises
    CheckpointError if something is there already, EngineError if it cannot be written.
    """
    directory = RunDirectory(Path(path))
    check_is_free(path)
    try:
        is_new = not directory.path.exists()
        make_folder(directory.path)
        lock = open_own(directory.path / _RUN, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        raise CheckpointError(f"another run has just begun in {path}") from None
    except OSError as error:
        raise EngineError(f"cannot write {path}: {error.strerror}") from error
    directory = replace(directory, lock=lock)
    can_go_on = True
    try:
        with writing(path):
            if not take_lock(lock, 0.0):
                raise CheckpointError(f"another run has just begun in {path}")
            _write_graph(directory.path, loaded)
            _write_run(lock, command, loaded.graph)
            sync_folder(directory.path)
        yield directory
    except NoOrderError:
        can_go_on = False
        raise
    finally:
        if same_file(lock, directory.path / _RUN) and not (can_go_on and directory.checkpoint.exists()):
            _clear(directory.path, is_new)
        os.close(lock)


@contextlib.contextmanager
def reopened(path: str | Path) -> Iterator[RunDirectory]:
    """Hold the lock of a run directory to resume its run; a CheckpointError for no run or one at work."""
    directory = RunDirectory(Path(path))
    try:
        lock = open_own(directory.path / _RUN, os.O_RDWR)
    except (FileNotFoundError, NotADirectoryError):
        raise _no_run(directory.path) from None
    except OSError as error:
        raise EngineError(f"cannot write {directory.path / _RUN}: {error.strerror}") from error
    try:
        if not take_lock(lock):
            raise CheckpointError(f"another engine is at work in {path}")
        # Since the folder was opened, it may have been replaced.
        directory = replace(directory, lock=lock)
        directory.require_held()
        with writing(path):
            remove_abandoned(directory.checkpoint)
        yield directory
    finally:
        os.close(lock)


def resume_line(path: str | Path) -> str:
    """Return the command line that resumes a run."""
    import shlex

    return f"chordless resume {'-- ' if str(path).startswith('-') else ''}{shlex.quote(str(path))}"


def way_on_of(path: str | Path) -> str:
    """Return the command line that resumes a run which this process has not locked, also where it was moved."""
    return resume_line(path) if os.path.exists(os.path.join(path, _RUN)) else _resume_elsewhere(path)


def _resume_elsewhere(path: str | Path) -> str:
    return f"{resume_line('FOLDER')}, where FOLDER is the place to which {path} was moved"


def graph_hash(graph: Graph) -> str:
    """Return the hash of a graph: of its vertices, edges and names, and whether it is directed."""
    digest = hashlib.sha256(f"{graph.n} {'directed ' if graph.directed else ''}".encode())
    digest.update(graph.edges().astype("<i8").tobytes())
    digest.update(json.dumps(_json_names(graph)).encode())
    return digest.hexdigest()


@functools.cache
def program_version() -> str:
    """Return the version of this program, or a note that it runs from its sources without being installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("chordless")
    except PackageNotFoundError:
        return "not installed"


def _write_graph(path: Path, loaded: LoadedGraph) -> None:
    graph = loaded.graph
    values = {
        "title": loaded.title,
        "n": graph.n,
        "edges": graph.edges().tolist(),
        "names": _json_names(graph),
        "positions": loaded.positions,
        **({} if graph.is_simple else {"directed": graph.directed, "multigraph": True}),
    }
    with open(path / _GRAPH, "w", encoding="utf-8") as stream:
        json.dump(values, stream)
        stream.flush()
        os.fsync(stream.fileno())


def _json_names(graph: Graph) -> list[int | str] | None:
    from chordless.graphs.vertex_names import json_name

    return None if graph.vertex_names is None else list(map(json_name, graph.vertex_names))


def _write_run(descriptor: int, command: RunCommand, graph: Graph) -> None:
    if command.output == _STANDARD_OUTPUT:
        command = replace(command, output=None)
    elif command.output is not None:
        # The run may be resumed from another current folder.
        command = replace(command, output=None if command.output_format == "parts" else os.path.abspath(command.output))
    asked = {key: value for key, value in asdict(command).items() if key not in _NOT_KEPT}
    if command.pick == "sample":
        # It says how many cycles are drawn.
        asked["limit"] = command.limit
    values = {
        "format": RUN_FORMAT,
        "program": program_version(),
        "began": round(time.time(), 3),
        "graph_hash": graph_hash(graph),
        "command": asked,
    }
    with open(descriptor, "w", encoding="utf-8", closefd=False) as stream:
        json.dump(values, stream, indent=1)
        stream.write("\n")
        stream.flush()
        os.fsync(descriptor)


def _command_of(values: dict[str, Any], path: Path) -> RunCommand:
    try:
        asked = with_tuples(dict(values["command"]))
        if asked["output_format"] == "parts":
            asked["output"] = str(path)
        command = RunCommand(**asked, program_start=0.0, checkpoint=str(path), resume=True)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path / _RUN} is damaged: {_reason(error)}") from error
    if wrong := wrong_field(command):
        raise CheckpointError(f"{path / _RUN} is damaged: {wrong}")
    if command.arch not in ARCHES:
        raise CheckpointError(f"{path / _RUN} is damaged: arch is {command.arch!r}")
    if command.output in ("", _STANDARD_OUTPUT):
        raise CheckpointError(f"{path / _RUN} is damaged: a run that is kept lists to a file, not {command.output!r}")
    return command


def _no_run(path: Path) -> CheckpointError:
    why = f"it has no {_RUN}" if path.is_dir() else "it is a file" if path.exists() else "there is no such folder"
    return CheckpointError(f"there is no run in {path}: {why}")


def _clear(path: Path, is_new: bool) -> None:
    """Remove the files of a run that cannot go on."""
    for entry in (path,) if is_new else path.iterdir():
        remove(entry)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "its values are nested too deeply"
    if isinstance(error, (TypeError, AttributeError)):
        return "its values are of other kinds"
    text = " ".join(str(error).split())[:200] or type(error).__name__
    return f"{text} is missing" if isinstance(error, KeyError) else text
