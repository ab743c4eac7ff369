"""The checkpoints of a run of any kind, and the totals of its sessions."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chordless.protocol.events import Checkpointed
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory
from chordless.runs.saved import Sessions
from kernels_ti import Device, DeviceError, EngineError, SizeError, Snapshot
from kernels_ti.cycles import Cycles
from kernels_ti.device.machine import cpu_name
from kernels_ti.device.memory import peak_memory
from kernels_ti.errors import NoOrderError
from kernels_ti.state import Layout, Rows, RunState

if TYPE_CHECKING:
    from chordless.cycles.base import CycleOutput
    from kernels_ti.boundary.values.saved import SavedCount, SavedPick

# A checkpoint of a large frontier takes minutes to write. After such a one, work goes on for this many times as long.
_WORK_PER_WRITING = 10.0
_LONG_WRITING = 1.0  # In seconds; a shorter one changes nothing.


@dataclass(frozen=True)
class Place:
    """Where a run is at work that needs no device of this machine: by default Python."""

    arch: str = "cpu"
    find_name: Callable[[], str] = cpu_name  # The workers of a cluster may come and go

    @property
    def name(self) -> str:
        """Name of the processor, or of the workers."""
        return self.find_name()


@dataclass(frozen=True)
class Session:
    """One session of a run, and the totals of the earlier ones."""

    command: RunCommand
    device: Device | Place
    setup_seconds: float  # From the start of the user's program to the first slice
    earlier: Sessions | None

    def so_far(self, write_seconds: float = 0.0) -> Sessions:
        """Return the totals of all sessions until now; this one has spent `write_seconds` on output and checkpoints."""
        before = self.earlier or Sessions("", "", 0.0, 0.0, 0)
        return Sessions(
            arch=self.device.arch,
            device=self.device.name,
            setup_seconds=before.setup_seconds + self.setup_seconds,
            total_seconds=before.total_seconds + time.monotonic() - self.command.program_start,
            peak_memory_bytes=max(before.peak_memory_bytes, peak_memory()),
            write_seconds=before.write_seconds + write_seconds,
        )


@dataclass
class Keeper:
    """Writes the checkpoints of a run."""

    directory: RunDirectory
    graph_hash: str
    options: dict[str, Any]  # See `chordless.runs.checkpoint.Checkpoint`
    session: Session
    _kept: float = field(default_factory=time.monotonic, init=False)
    _writing: float = field(default=0.0, init=False)  # Seconds that the last checkpoint took

    @property
    def seconds_since(self) -> float:
        """Seconds since the last checkpoint, or since the run began."""
        return time.monotonic() - self._kept

    @property
    def is_due(self) -> bool:
        """Whether it is time for another checkpoint."""
        least = _WORK_PER_WRITING * self._writing if self._writing > _LONG_WRITING else 0.0
        return self.seconds_since >= max(self.session.command.checkpoint_every, least)

    def write(
        self,
        state: RunState,
        cycles: int = 0,
        output: CycleOutput | None = None,
        *,
        unwritten: Sequence[Cycles | Rows] = (),
        along: SavedCount | SavedPick | None = None,
        finished: bool = False,
        write_seconds: float = 0.0,
    ) -> Checkpointed:
        """Write a checkpoint; only to be called between two slices, or two vertices.

        `cycles` were found, `unwritten` ones are not in the output yet, and `along` is work along a boundary, once the
        orders of its vertices are known. Raise EngineError if the folder was moved or replaced, or if it cannot be
        written; the last checkpoint is still there.
        """
        from chordless.runs.checkpoint import Checkpoint, write_checkpoint  # most runs keep none

        began = time.monotonic()
        self.directory.require_held()
        path, listed = self.directory.checkpoint, 0 if output is None else output.listed
        checkpoint = Checkpoint(
            graph_hash=self.graph_hash,
            options=self.options,
            state=state,
            # Syncs the output to the disk before the checkpoint relies on it.
            position=None if output is None else output.position(),
            listed=listed,
            unwritten=tuple(unwritten),
            sessions=self.session.so_far(write_seconds),
            finished=finished,
            along=along,
        )
        size = write_checkpoint(path, checkpoint)
        self._kept = time.monotonic()
        self._writing = self._kept - began
        return Checkpointed(str(path), cycles=cycles, listed=listed, bytes=size)

    @contextlib.contextmanager
    def telling_the_way_on(self, what: str, keep: Callable[[], None]) -> Iterator[None]:
        """Let an error of the block say how to go on with the work named `what`, after `keep` has written its state."""
        try:
            yield
        except NoOrderError:
            raise
        except (EngineError, MemoryError) as error:
            # A device that has failed cannot tell its state either: then its last checkpoint stays.
            with contextlib.suppress(DeviceError, EngineError, MemoryError):
                keep()
            more = " --memory SIZE" if isinstance(error, SizeError) else ""
            kind, said = (EngineError, "out of memory") if isinstance(error, MemoryError) else (type(error), error)
            way_on = self.directory.way_on()
            if way_on in str(error):
                raise
            raise kind(f"{said}; {what} is kept, and goes on with: {way_on}{more}") from error


def totals_of(snapshot: Snapshot) -> RunState:
    """Return the state of work that has totals, and no paths that are left."""
    counts = snapshot.cycles_by_length
    return RunState(Layout(), 0, (), cycles_by_length=counts, seconds=snapshot.seconds, share=snapshot.share)
