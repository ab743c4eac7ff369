"""A batch on this machine: read graphs, count small ones together and large ones one by one, and write their lines."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

from chordless.batch.counting import Counting, Result, can_be_together, cycles_of
from chordless.batch.detect import count_graphs
from chordless.batch.entries import Entry, entries_of, error_line
from chordless.batch.inputs import LINES_AT_ONCE, Chunk, Notes, read_job
from chordless.batch.output import BatchFile, encoded
from chordless.engine.channel import Channel
from chordless.graphs.readers.incoming import Limits
from chordless.protocol.events import BatchFinished, BatchProgress, BatchSearching, BatchStarted
from chordless.protocol.orders import BatchCommand, BatchJob
from kernels_ti import open_device

_SECONDS_BETWEEN_REPORTS = 0.1
_SECONDS_OF_READING = 0.5  # then the graphs that were read are counted, and their lines written
_SECONDS_OF_COUNTING = 0.2  # inputs, before the start; the rest a tenth of the time

Reason = Literal["complete", "interrupted", "failed"]


@dataclass
class Batch:
    """One batch. If an earlier engine did a part of it, only the rest is done."""

    command: BatchCommand
    channel: Channel
    output: BatchFile
    # Numbers of a `BatchProgress`
    _tally: Counter[str] = field(default_factory=lambda: Counter(done=0, kept=0, failed=0, stopped=0, cycles=0))
    _notes: Notes = field(default_factory=Notes)
    _lines: list[str | bytes] = field(default_factory=list)
    # How many graphs are counted while their lines wait for earlier ones, and how many cycles they have
    _ahead: tuple[int, int] = (0, 0)
    _reason: Reason | None = None

    def __post_init__(self) -> None:
        self._began = self._reported = time.monotonic()
        self._total: int | None = None
        self._uncounted, self._total_so_far = iter(self.command.jobs), 0
        self._counting = Counting(self.command, self.channel, self.command.threads, self._attend)

    def go(self) -> None:
        """Do everything that is left, until the end or a stop."""
        self._open_device()
        self._count_inputs(_SECONDS_OF_COUNTING)
        self.channel.send(BatchStarted(os.getpid(), self.command.output, self._total))
        self._do_all()
        reason = self._reason or "complete"
        beside = self.output.complete() if reason == "complete" else 0
        seconds = time.monotonic() - self._began
        self.channel.send(
            BatchFinished(reason, **self._tally, seconds=seconds, beside=beside, notes=self._notes.lines())
        )

    def _count_inputs(self, seconds: float) -> None:
        """Count the graphs of inputs for a while; the total is known once all are counted."""
        if self._total is not None:
            return
        until = time.monotonic() + seconds
        for job in self._uncounted:
            count = count_graphs(job)
            if count is None:
                self._uncounted, self._total_so_far = iter(()), -1  # it is not known before the end
                return
            self._total_so_far += count
            if time.monotonic() >= until:
                return
        if self._total_so_far >= 0:
            self._total = self._total_so_far

    def _open_device(self) -> None:
        """Open the device at once if all jobs ask for the same arch, which may not be available."""
        arches = {job.arch for job in self.command.jobs}
        if len(arches) == 1 and arches != {"auto"}:
            open_device(arches.pop(), threads=self.command.threads)

    def _do_all(self) -> None:
        for launch in self._launches():
            self._do(launch)
            self._attend(report=True)
            if self._reason is not None:
                return

    def _launches(self) -> Iterator[list[Entry]]:
        """Yield the graphs in order, in groups that can be counted together."""
        waiting: list[Entry] = []
        place, began = 0, time.monotonic()
        bounds = attrgetter("min_length", "max_length", "parity", "arch")
        for job in self.command.jobs:
            for chunk in self._chunks(job, place):
                entries = entries_of(chunk, place)
                place += len(entries)
                if waiting and not (can_be_together(chunk) and bounds(waiting[-1].chunk.job) == bounds(job)):
                    yield waiting
                    waiting = []
                waiting += entries
                late = time.monotonic() - began >= _SECONDS_OF_READING
                if not can_be_together(chunk) or len(waiting) >= LINES_AT_ONCE or late:
                    yield waiting
                    waiting, began = [], time.monotonic()
                self._attend()
                if self._reason is not None:
                    return
        if waiting:
            yield waiting

    def _chunks(self, job: BatchJob, place: int) -> Iterator[Chunk]:
        """Read an input. If it has one graph, and an engine died at it, yield only the error."""
        crash = self._counting.crash_at(place)
        if crash is not None and count_graphs(job) == 1:
            yield Chunk(job, (job.graph,), (None,), {0: f"{job.graph}: {crash}"})
            return
        self.channel.send(BatchSearching(place, place + 1, job.graph))
        for chunk in read_job(job, Limits(self.command.memory), self.command.output):
            for title, note in chunk.notes:
                self._notes.take(title, note)
            yield chunk

    def _do(self, entries: list[Entry]) -> None:
        """Process entries in order: take the earlier line, search the graph, or note its error. Write the lines."""
        known = {entry.place: result for entry in entries if (result := self._known(entry)) is not None}
        together = self._counting.together([entry for entry in entries if entry.place not in known])
        self._ahead = len(together), cycles_of(together.values())
        for entry in entries:
            if entry.place in known:
                self._put(known[entry.place], kept=True)
            elif entry.place in together:
                result = together[entry.place]
                self._ahead = self._ahead[0] - 1, self._ahead[1] - cycles_of([result])
                self._put(result)
            elif self._reason is None:
                self._do_one(entry)
            if self._reason == "failed":
                break
        self._ahead = 0, 0
        self._flush()

    def _known(self, entry: Entry) -> Result | None:
        """Return the earlier line of an entry, which is empty where it is already at its place; None without one."""
        found = self.output.find(entry.key, entry.title)
        if found is None:
            return None
        line, in_place = found
        cycles = line["total"] if isinstance(line["total"], int) else 0
        return b"" if in_place else encoded({**line, "name": entry.name}), str(line["status"]), cycles

    def _do_one(self, entry: Entry) -> None:
        error = self._counting.error_of(entry)
        if error is not None:
            self._put((error_line(entry, error), "error", 0))
            return
        # Write all earlier lines first, since this search may kill the engine.
        self._flush()
        result = self._counting.alone(entry)
        if result is None:
            self._reason = "interrupted"
        else:
            self._put(result)

    def _put(self, result: Result, *, kept: bool = False) -> None:
        line, status, cycles = result
        self._lines.append(line)
        tally = self._tally
        tally["done"] += 1
        tally["kept"] += kept
        tally["failed"] += status == "error"
        tally["stopped"] += status in ("limit", "timeout")
        tally["cycles"] += cycles
        if status == "error" and self.command.fail_fast and not kept:
            self._reason = "failed"

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        text = b"".join(line if isinstance(line, bytes) else line.encode() for line in lines)
        if text:
            self.output.write(text)

    def _attend(self, *, report: bool = False, ahead: tuple[int, int] | None = None, cycles: int = 0) -> None:
        """Obey commands. Report progress, ten times a second or at once with `report`."""
        self.channel.obey()
        self._ahead = self._ahead if ahead is None else ahead
        if self.channel.stop_asked:
            self._reason = self._reason or "interrupted"
        now = time.monotonic()
        if not report and now - self._reported < _SECONDS_BETWEEN_REPORTS:
            return
        self._reported = now
        self._count_inputs(_SECONDS_BETWEEN_REPORTS / 10)
        graphs_ahead, cycles_ahead = self._ahead
        cycles += self._tally["cycles"] + cycles_ahead
        tally = {**self._tally, "done": self._tally["done"] + graphs_ahead, "cycles": cycles}
        graph, share = self._counting.graph or (None, 0.0)
        seconds = now - self._began
        self.channel.send(BatchProgress(seconds, **tally, total=self._total, graph=graph, share=share))
