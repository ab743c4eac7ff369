"""The run directory of ``longest`` and ``sample``: checkpoints between two vertices, signals, and the way on."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chordless.commands.session import InterruptedRunError, Signals
from chordless.engine.framing import identity_of
from chordless.files import read_file, replaced
from chordless.runs.checkpoint import Checkpoint, Sessions, open_checkpoint, write_checkpoint
from chordless.runs.directory import RunDirectory, created, graph_hash, reopened, resume_line
from kernels_ti import EngineError
from kernels_ti.boundary.forward_and_back.keeping import Keeping
from kernels_ti.boundary.states.saved import SavedPick, SavedResult
from kernels_ti.boundary.states.states import GivenUp
from kernels_ti.errors import CheckpointError, SizeError
from kernels_ti.state import Layout, RunState

if TYPE_CHECKING:
    from chordless.graphs.load import LoadedGraph
    from chordless.protocol.orders import RunCommand
    from kernels_ti import Graph
    from kernels_ti.cycles import Cycles

WEIGHTS = "weights"
# A block that took less is gone through again.
_FEWEST_SECONDS = 1.0


class KeptPick:
    """A search for a best cycle, or a sample, with a run directory.

    Parameters
    ----------
    command : RunCommand
    directory : RunDirectory
    graph : Graph
    checkpoint : Checkpoint, optional
        From which it goes on.

    Attributes
    ----------
    keeping : Keeping
    last : Checkpoint or None
        That from which it goes on.
    """

    search_began = True

    def __init__(
        self, command: RunCommand, directory: RunDirectory, graph: Graph, checkpoint: Checkpoint | None = None
    ) -> None:
        self._command, self._directory = command, directory
        self._hash, self._identity = graph_hash(graph), _identity(command, directory)
        self.last = checkpoint
        self._seconds_before = 0.0 if checkpoint is None else checkpoint.state.seconds
        self._began = self._kept = time.monotonic()
        self._offered: Callable[[], SavedPick] | None = None
        self.stopping = self._is_stopped = False
        self.keeping = Keeping(self.offered, None if checkpoint is None else checkpoint.pick, lambda: self._is_stopped)

    @property
    def weights(self) -> str | None:
        """The copy of the file of weights, if there is one."""
        path = self._directory.path / WEIGHTS
        return None if self._command.weight is None else str(path)

    @property
    def seconds(self) -> float:
        """Seconds of all sessions."""
        return self._seconds_before + time.monotonic() - self._began

    def stop(self) -> None:
        """End at the next vertex."""
        self._is_stopped = True

    def kill(self) -> None:
        """End at once."""
        raise KeyboardInterrupt

    @contextlib.contextmanager
    def at_work(self) -> Iterator[Keeping]:
        """Obey signals while the block runs. If it does not come to its end, keep its state and say how to go on.

        Raises
        ------
        InterruptedRunError
            If a signal came.
        EngineError
            If the time is up, or the states do not fit into the memory.
        """
        if self.last is None:
            self.write(None)
        way_on, signals = resume_line(self._directory.path), Signals(self, self)
        try:
            with signals.in_force():
                yield self.keeping
        except GivenUp:
            self._keep_offered()
            assert signals.received is not None
            why = f"interrupted; to go on from the checkpoint: {way_on}"
            raise InterruptedRunError(signals.received, why) from None
        except (EngineError, MemoryError) as error:
            if "chordless resume" in str(error):
                raise
            with contextlib.suppress(EngineError, MemoryError):
                self._keep_offered()
            more = " --memory SIZE" if isinstance(error, SizeError) else ""
            kind, said = (EngineError, "out of memory") if isinstance(error, MemoryError) else (type(error), error)
            raise kind(f"{said}; to go on from the last checkpoint: {way_on}{more}") from error

    def finish(self, cycles: Cycles | None = None, total: int = 0) -> float:
        """Write the last checkpoint, unless there is one; return the seconds of all sessions.

        Parameters
        ----------
        cycles : Cycles, optional
            Those that were drawn.
        total : int
            The cycles from which they were drawn.
        """
        if self.last is not None and self.last.finished:
            return self.last.state.seconds
        done = self.keeping.done if cycles is None else (SavedResult(None, total, 0),)
        self.write(SavedPick(self.keeping.orders or (), done, None), finished=True, cycles=cycles)
        return self.seconds

    def write(self, saved: SavedPick | None, *, finished: bool = False, cycles: Cycles | None = None) -> None:
        """Write a checkpoint.

        Parameters
        ----------
        saved : SavedPick or None
            None before the orders of the vertices are known.
        finished : bool
        cycles : Cycles, optional
            Those that were drawn.
        """
        self._directory.require_held()
        state = RunState(Layout(), 0, (), cycles_by_length={}, seconds=self.seconds, share=float(finished))
        write_checkpoint(
            self._directory.checkpoint,
            Checkpoint(
                graph_hash=self._hash,
                options=self._identity,
                state=state,
                position=None,
                listed=0,
                unwritten=() if cycles is None else (cycles,),
                sessions=Sessions(self._command.arch, "", 0.0, self.seconds, 0),
                finished=finished,
                pick=saved,
            ),
        )
        self._offered, self._kept = None, time.monotonic()

    def offered(self, offered: Callable[[], SavedPick], all_came: bool) -> None:
        """Write a checkpoint if it is time; else remember how, until the next vertex has come."""
        passed = time.monotonic() - self._kept
        self._offered = offered
        if passed >= self._command.checkpoint_every or (all_came and passed >= _FEWEST_SECONDS):
            self._keep_offered()
        if all_came:
            # The way back gives layers away that it needs no more.
            self._offered = None

    def _keep_offered(self) -> None:
        if self._offered is not None:
            self.write(self._offered())


@contextlib.contextmanager
def begun(command: RunCommand, loaded: LoadedGraph, weights: bytes | None = None) -> Iterator[KeptPick]:
    """Make the run directory; it stays if there is a checkpoint at the end of the block.

    Parameters
    ----------
    command : RunCommand
    loaded : LoadedGraph
    weights : bytes, optional
        The content of the file of weights.
    """
    assert command.checkpoint is not None
    with created(command.checkpoint, command, loaded) as directory:
        if weights is not None:
            try:
                with replaced(directory.path / WEIGHTS) as stream:
                    stream.write(weights)
            except OSError as error:
                raise EngineError(f"cannot write {directory.path / WEIGHTS}: {error.strerror}") from error
        yield KeptPick(command, directory, loaded.graph)


@contextlib.contextmanager
def resumed(command: RunCommand) -> Iterator[tuple[KeptPick, LoadedGraph]]:
    """Open the run directory of a command from which to go on; yield it with its graph."""
    assert command.checkpoint is not None
    with reopened(command.checkpoint) as directory:
        loaded = directory.graph()
        identity = _identity(command, directory)
        with open_checkpoint(directory.checkpoint, graph_hash(loaded.graph), identity) as checkpoint:
            kept = KeptPick(command, directory, loaded.graph, checkpoint)
        yield kept, loaded


def _identity(command: RunCommand, directory: RunDirectory) -> dict[str, Any]:
    """Return the options that a checkpoint must match."""
    return {
        **identity_of(command),
        "pick": command.pick,
        "shortest": command.shortest,
        "k": command.limit,
        "seed": command.seed,
        "weights": None if command.weight is None else _hash_of(directory.path / WEIGHTS),
    }


def _hash_of(path: Path) -> str:
    try:
        return hashlib.sha256(read_file(path)).hexdigest()
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror}") from error
