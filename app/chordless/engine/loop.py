"""The loop of a run in the engine: slices of search, and the work between two slices.

Between two slices a run is consistent: every cycle found is in the output, or is kept here until it is written.
Checkpoints are written only there. Whatever happens during a slice, a resumed run cuts the output back to the last
checkpoint, so no cycle is lost and none comes twice.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from chordless.engine.channel import Channel
from chordless.engine.forecast import Forecast
from chordless.engine.framing import found_so_far
from chordless.engine.keeper import Keeper
from chordless.protocol.events import Paused, Progress, Reason
from chordless.protocol.orders import RunCommand
from chordless.runs.mailbox import Mailbox
from kernels_ti import EngineError, Run, Snapshot
from kernels_ti.cycles import Cycles
from kernels_ti.device.memory import resident_bytes
from kernels_ti.state import Rows

if TYPE_CHECKING:
    from chordless.cycles.base import CycleOutput
    from kernels_ti.cluster.driver import ClusterRun

_SECONDS_BETWEEN_REPORTS = 0.1


@dataclass
class Search:
    """One session of a run; `write_seconds` went into output and checkpoints, with the waiting for a reader."""

    command: RunCommand
    channel: Channel
    run: Run | ClusterRun
    output: CycleOutput | None  # None counts only
    keeper: Keeper | None = None  # None keeps no checkpoint
    forecast: Forecast | None = None
    cluster: ClusterRun | None = None  # The same as `run` where that is on a cluster
    # Cycles of an earlier session that are not in the output yet.
    unwritten: list[Cycles | Rows] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._snapshot = self.run.snapshot()
        self._began = self._reported = time.monotonic()
        self._halted = False
        self._share = 0.0
        self.write_seconds = 0.0
        if self.keeper is not None:
            self.channel.mailbox = Mailbox(self.keeper.directory.path)
        # A part of a search has found some cycles before its first slice.
        self._take()

    def keep(self) -> None:
        """Write the first checkpoint, before the search begins."""
        assert self.keeper is not None
        self._checkpoint(self.keeper, told=False)

    def go(self) -> tuple[Reason, Snapshot]:
        """Search to the end, or until a limit or a stop; return the reason and the last totals."""
        try:
            reason = self._search()
        except EngineError:
            if self.cluster is not None and self.keeper is not None:
                # The driver's state is whole, whatever happened to its workers.
                self._checkpoint(self.keeper)
            raise
        if self.cluster is not None and reason != "complete":
            self.cluster.settle()
            self._snapshot = self.cluster.snapshot()
            self._take()
        if self.keeper is not None:
            self._checkpoint(self.keeper, finished=reason == "complete")
        return reason, replace(self._snapshot, share=self._share_done())

    def _search(self) -> Reason:
        reason = self._write()
        while reason is None and not self.run.finished:
            reason = self._between_slices()
            if reason is None:
                began, compiles = time.monotonic(), self._snapshot.compiling
                self._snapshot = self.run.advance()
                if compiles:  # The time does not count.
                    self._began += time.monotonic() - began
                self._take()
                reason = self._write()
        return reason or "complete"

    def _take(self) -> None:
        if self.output is None:
            return
        found = self.run.take_rows() if self.output.rows else self.run.take_cycles()
        if len(found):
            self.unwritten.append(found)

    def _write(self) -> Reason | None:
        """Write the cycles found; those that a limit or a stop leaves unwritten are kept for the checkpoint."""
        while self.output is not None and self.unwritten:
            found, before = self.unwritten[0], self.output.listed
            began = time.monotonic()
            try:
                whole = self.output.write(found, lambda: self._attend() is not None)
            except BrokenPipeError:
                return "closed"
            finally:
                self.write_seconds += time.monotonic() - began
            if whole:
                del self.unwritten[0]
                continue
            self.unwritten[0] = _without_first(found, self.output.listed - before)
            reason = self._attend()
            if reason is not None:
                return reason
        return None

    def _between_slices(self) -> Reason | None:
        reason = self._attend()
        while reason is None:
            if self.channel.checkpoint_asked and self.keeper is None:
                sys.stderr.write("no checkpoint is written: this run has no directory\n")
            elif self.keeper is not None:
                # A stop kills an engine that compiles: no more than a second is to be lost then.
                compiles_midway = self._snapshot.compiling and self.keeper.seconds_since >= 1.0
                if self.channel.checkpoint_asked or self.keeper.is_due or compiles_midway:
                    self._checkpoint(self.keeper)
            self.channel.checkpoint_asked = False
            if not self.channel.paused:
                break
            self._pause()
            reason = self._attend()
        if reason is None and self.forecast is not None:
            self.forecast.improve()
        return reason

    def _pause(self) -> None:
        """Wait for a command other than a pause; the time does not count."""
        began = time.monotonic()
        if not self._halted:
            self.channel.send(Paused())
        while self.channel.paused and not (self.channel.stop_asked or self.channel.checkpoint_asked):
            self.channel.obey(wait=True)
        self._began += time.monotonic() - began
        self._halted = self.channel.paused
        if not self._halted:
            self._reported = -math.inf

    def _attend(self) -> Reason | None:
        """Report if a report is due; return the reason to end, None if there is none. A given reason stays."""
        due = self._snapshot.compiling or time.monotonic() - self._reported >= _SECONDS_BETWEEN_REPORTS
        if not self.channel.paused and due:
            self._reported = time.monotonic()
            self.channel.send(self._progress())
        self.channel.obey()
        if self.channel.stop_asked:
            return "interrupted"
        if self.output is not None and self.output.reader_is_gone():
            return "closed"
        found = self._snapshot.cycles if self.output is None else self.output.listed
        if self.command.limit is not None and found >= self.command.limit:
            return "limit"
        if self.command.timeout is not None and time.monotonic() - self._began >= self.command.timeout:
            return "timeout"
        return None

    def _checkpoint(self, keeper: Keeper, *, finished: bool = False, told: bool = True) -> None:
        began = time.monotonic()
        written = keeper.write(
            # A session that goes on from here begins with the share that was told last.
            replace(self.run.state(), share=self._share_done()),
            self.run.snapshot().cycles,
            self.output,
            unwritten=self.unwritten,
            finished=finished,
            write_seconds=self.write_seconds,
        )
        self.write_seconds += time.monotonic() - began
        if told:
            self.channel.send(written)

    def _share_done(self) -> float:
        """Return the share that is done; it never goes back."""
        snapshot = self._snapshot
        share = snapshot.share
        if self.forecast is not None and not snapshot.finished:
            share = self.forecast.share(share, snapshot.cycles)
        self._share = max(self._share, share)
        return self._share

    def _progress(self) -> Progress:
        snapshot = self._snapshot
        return Progress(
            **found_so_far(snapshot),
            seconds=snapshot.seconds,
            listed=0 if self.output is None else self.output.listed,
            share=self._share_done(),
            memory_bytes=resident_bytes(),
            workers=[] if self.cluster is None else [asdict(view) for view in self.cluster.worker_views()],
            compiling=snapshot.compiling,
            **cast(Any, self.forecast.fields if self.forecast is not None else {}),
        )


def _without_first(found: Cycles | Rows, written: int) -> Cycles | Rows:
    if isinstance(found, Cycles):
        return found.part(written, len(found))
    return np.ascontiguousarray(found[written:])
