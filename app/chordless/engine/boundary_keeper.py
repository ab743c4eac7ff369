"""The checkpoints of a run along a boundary."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from chordless.cycles.output import CycleOutput
from chordless.engine.framing import identity_of
from chordless.engine.loop import Session
from chordless.protocol.events import Checkpointed
from chordless.protocol.orders import RunCommand
from chordless.runs.checkpoint import Checkpoint, write_checkpoint
from chordless.runs.directory import RunDirectory
from kernels_ti import Snapshot
from kernels_ti.boundary.states.saved import SavedCount
from kernels_ti.state import Layout, RunState


@dataclass
class Keeper:
    """Writes the checkpoints of a run along a boundary.

    Parameters
    ----------
    command : RunCommand
    directory : RunDirectory
    graph_hash : str
    session : Session
    """

    command: RunCommand
    directory: RunDirectory
    graph_hash: str
    session: Session
    _kept: float = field(default_factory=time.monotonic, init=False)

    @property
    def is_due(self) -> bool:
        """Whether it is time for another checkpoint."""
        return time.monotonic() - self._kept >= self.command.checkpoint_every

    def keep(
        self,
        snapshot: Snapshot,
        along: SavedCount | None = None,
        output: CycleOutput | None = None,
        *,
        finished: bool = False,
    ) -> Checkpointed:
        """Write a checkpoint between two vertices.

        Parameters
        ----------
        snapshot : Snapshot
            The totals of all sessions.
        along : SavedCount, optional
            The count, once the orders of its vertices are known.
        output : CycleOutput, optional
            The cycles that were picked.
        finished : bool

        Raises
        ------
        EngineError
            If the folder was moved or replaced, or if it cannot be written; the last checkpoint is still there.
        """
        self.directory.require_held()
        counts, listed = snapshot.cycles_by_length, 0 if output is None else output.listed
        size = write_checkpoint(
            self.directory.checkpoint,
            Checkpoint(
                graph_hash=self.graph_hash,
                options=identity_of(self.command),
                state=RunState(
                    Layout(), 0, (), cycles_by_length=counts, seconds=snapshot.seconds, share=snapshot.share
                ),
                position=None if output is None else output.position(),
                listed=listed,
                unwritten=(),
                sessions=self.session.so_far(),
                finished=finished,
                along=along,
            ),
        )
        self._kept = time.monotonic()
        return Checkpointed(str(self.directory.checkpoint), cycles=snapshot.cycles, listed=listed, bytes=size)
