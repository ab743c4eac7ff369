"""A batch in the engine: read graphs, count small ones together and large ones one by one, and write their lines."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from chordless.batch.alone import AloneChannel, message_of, run_command
from chordless.batch.detect import count_graphs
from chordless.batch.entries import Entry, entries_of, gathered
from chordless.batch.inputs import LINES_AT_ONCE, Chunk, read_job
from chordless.batch.notes import Notes
from chordless.batch.output import BatchFile, encoded
from chordless.batch.rows import TogetherLines, alone_line, error_line
from chordless.engine.channel import Channel
from chordless.graphs.readers.incoming import Limits
from chordless.protocol.events import BatchFinished, BatchProgress, BatchSearching, BatchStarted, Event, Progress
from chordless.protocol.orders import BatchCommand, BatchJob
from kernels_ti import ChordlessError, open_device
from kernels_ti.many.count import MOST_VERTICES, count_many

_SECONDS_BETWEEN_REPORTS = 0.1

Reason = Literal["complete", "interrupted", "failed"]


def run_batch(command: BatchCommand, channel: Channel) -> None:
    """Do all jobs of a batch, and send its events.

    Parameters
    ----------
    command : BatchCommand
    channel : Channel

    Raises
    ------
    ChordlessError
        If the output cannot be written, or all jobs ask for the same arch and it is not available. If the cluster
        cannot be used.
    """
    output = BatchFile(command.output, keep_unreadable=not command.fail_fast)
    try:
        if command.cluster is None:
            Batch(command, channel, output).go()
        else:
            from chordless.batch.spread import go_on_cluster

            go_on_cluster(command, channel, output)
    finally:
        output.close()


@dataclass
class _Tally:
    done: int = 0
    kept: int = 0
    failed: int = 0
    stopped: int = 0
    cycles: int = 0


@dataclass
class Batch:
    """One batch. If an earlier engine did a part of it, only the rest is done.

    Parameters
    ----------
    command : BatchCommand
    channel : Channel
    output : BatchFile
    """

    command: BatchCommand
    channel: Channel
    output: BatchFile
    _tally: _Tally = field(default_factory=_Tally)
    _notes: Notes = field(default_factory=Notes)
    _lines: list[str | bytes] = field(default_factory=list)
    _ahead: int = 0  # graphs that are counted, but whose lines wait for earlier ones
    _reason: Reason | None = None

    def __post_init__(self) -> None:
        self._began = self._reported = time.monotonic()
        self._total: int | None = None
        self._alone: tuple[str, float] | None = None
        self._threads = self.command.threads
        self._crashes = sorted(self.command.crashes, key=lambda crash: crash[1] - crash[0])

    def go(self) -> None:
        """Do everything that is left, until the end or a stop."""
        self._open_device()
        counts = [count_graphs(job) for job in self.command.jobs]
        self._total = None if None in counts else sum(count for count in counts if count is not None)
        self.channel.send(BatchStarted(os.getpid(), self.command.output, self._total))
        self._do_all()
        reason = self._reason or "complete"
        beside = self.output.complete() if reason == "complete" else 0
        tally, seconds = self._tally, time.monotonic() - self._began
        self.channel.send(
            BatchFinished(
                reason,
                tally.done,
                tally.kept,
                tally.failed,
                tally.stopped,
                tally.cycles,
                seconds,
                beside,
                self._notes.lines(),
            )
        )

    def _open_device(self) -> None:
        """Open the device at once if all jobs ask for the same arch, which may not be available."""
        arches = {job.arch for job in self.command.jobs}
        if len(arches) == 1 and arches != {"auto"}:
            open_device(arches.pop(), threads=self.command.threads)

    def _do_all(self) -> None:
        """Do the graphs one group after another, until the end or a stop."""
        for launch in self._launches():
            self._do(launch)
            self._attend(report=True)
            if self._reason is not None:
                return

    # Groups of graphs

    def _launches(self) -> Iterator[list[Entry]]:
        """Yield the graphs in order, in groups that can be counted together."""
        waiting: list[Entry] = []
        place = 0
        for job in self.command.jobs:
            for chunk in self._chunks(job, place):
                entries = entries_of(chunk, place)
                place += len(entries)
                if waiting and not (_together(chunk) and _same_search(waiting[-1].chunk.job, job)):
                    yield waiting
                    waiting = []
                waiting += entries
                if not _together(chunk) or len(waiting) >= LINES_AT_ONCE:
                    yield waiting
                    waiting = []
                self._attend()
                if self._reason is not None:
                    return
        if waiting:
            yield waiting

    def _chunks(self, job: BatchJob, place: int) -> Iterator[Chunk]:
        """Read an input. If it has one graph, and an engine died at it, yield only the error."""
        crash = next((how for first, stop, how in self._crashes if (first, stop) == (place, place + 1)), None)
        if crash is not None and count_graphs(job) == 1:
            yield Chunk(job, (job.graph,), (None,), {0: f"{job.graph}: {crash}"})
            return
        self.channel.send(BatchSearching(place, place + 1, job.graph))
        for chunk in read_job(job, Limits(self.command.memory), self.command.output):
            for note in () if chunk.loaded is None else chunk.loaded.notes:
                self._notes.take(job.graph, note)
            yield chunk

    def _do(self, entries: list[Entry]) -> None:
        """Process entries in order: take the earlier line, search the graph, or note its error. Write the lines."""
        found: dict[int, dict[str, object]] = {}
        to_write: list[Entry] = []
        for entry in entries:
            known = self.output.find(entry.key, entry.title)
            if known is not None:
                line, in_place = known
                self._note(str(line["status"]), line["total"], kept=True)
                if in_place:
                    continue
                found[entry.place] = line
            to_write.append(entry)
        together = self._search_together([entry for entry in to_write if entry.place not in found])
        for entry in to_write:
            if entry.place in found:
                self._lines.append(encoded({**found[entry.place], "name": entry.name}))
            elif entry.place in together:
                self._ahead -= 1
                self._put(together[entry.place])
            elif self._reason is None:
                self._do_one(entry)
            if self._reason == "failed":
                break
        self._ahead = 0
        self._flush()

    def _do_one(self, entry: Entry) -> None:
        error = entry.error or self._crash_of(entry)
        if error is not None:
            self._put((error_line(entry, error), "error", 0))
            return
        # Write all earlier lines first, since this search may kill the engine.
        self._flush()
        result = self._search_alone(entry)
        if result is not None:
            self._put(result)

    def _put(self, result: tuple[str | bytes, str, int]) -> None:
        line, status, cycles = result
        self._lines.append(line)
        self._note(status, cycles)
        if status == "error" and self.command.fail_fast:
            self._reason = "failed"

    def _note(self, status: str, cycles: object, *, kept: bool = False) -> None:
        tally = self._tally
        tally.done += 1
        tally.kept += kept
        tally.failed += status == "error"
        tally.stopped += status in ("limit", "timeout")
        tally.cycles += cycles if isinstance(cycles, int) else 0

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        if lines:
            self.output.write(b"".join(line if isinstance(line, bytes) else line.encode() for line in lines))

    # Graphs that are counted together

    def _search_together(self, entries: list[Entry]) -> dict[int, tuple[str, str, int]]:
        """Count the graphs that can be counted together. Return line, status and cycles by place."""
        pieces: dict[tuple[int, int, int], list[Entry]] = {}
        for entry in entries:
            if entry.error is None and _together(entry.chunk):
                piece = self._piece_of(entry.place)
                if piece is not None:
                    pieces.setdefault(piece, []).append(entry)
        results: dict[int, tuple[str, str, int]] = {}
        for some in pieces.values():
            if len(some) > 1 or some[0].chunk.loaded is None:
                results.update(self._launch(some))
                self._ahead = len(results)
        return results

    def _launch(self, entries: list[Entry]) -> dict[int, tuple[str, str, int]]:
        job = entries[0].chunk.job
        try:
            device = open_device("cpu" if job.arch == "auto" else job.arch, threads=self._threads)
        except ChordlessError:
            # Each graph is then searched on its own, and gets this error in its line.
            return {}
        self.channel.send(BatchSearching(entries[0].place, entries[-1].place + 1, entries[0].title))
        graphs, degrees = gathered(entries)
        base = self._tally.done + self._ahead
        counts = count_many(
            graphs,
            device,
            min_length=job.min_length,
            max_length=job.max_length,
            progress=lambda done: self._attend(done=base + done),
        )
        self._search_nothing(entries[-1].place + 1)
        lines = TogetherLines(job, device.arch, device.name)
        left_over = set(counts.left_over.tolist())
        by_length, first = counts.cycles_by_length.tolist(), counts.first_count.tolist()
        vertices, edges, totals = graphs.vertices.tolist(), graphs.edge_counts.tolist(), counts.totals.tolist()
        return {
            entry.place: (
                lines.line(entry, vertices[i], edges[i], degrees[i], by_length[first[i] : first[i + 1]]),
                "complete",
                totals[i],
            )
            for i, entry in enumerate(entries)
            if i not in left_over
        }

    def _piece_of(self, place: int) -> tuple[int, int, int] | None:
        """Return a group key. Graphs with equal keys may be counted together; None means on its own.

        If an engine died at a range of places, each half of the range is a group: this bisects to the fatal graph.
        """
        for first, stop, _ in self._crashes:
            if first <= place < stop:
                return None if stop - first == 1 else (first, stop, (place - first) // ((stop - first + 1) // 2))
        return -1, -1, 0

    def _crash_of(self, entry: Entry) -> str | None:
        for first, stop, how in self._crashes:
            if (first, stop) == (entry.place, entry.place + 1):
                return f"{entry.title}: {how}"
        return None

    # Graphs that are searched on their own

    def _search_alone(self, entry: Entry) -> tuple[bytes, str, int] | None:
        """Search a graph on its own. Return None if the search was interrupted."""
        from chordless.engine.search_run import count_or_search

        self.channel.send(BatchSearching(entry.place, entry.place + 1, entry.title))
        self._alone = (entry.title, 0.0)
        try:
            loaded = entry.chunk.graph(entry.number)
            command = run_command(entry, loaded, self.command, self._threads)
            alone = AloneChannel(self.channel, self._hear)
            count_or_search(command, alone, -1, loaded)
        except Exception as error:
            return error_line(entry, message_of(entry, error)), "error", 0
        finally:
            self._alone = None
            self._search_nothing(entry.place + 1)
        finished = alone.finished
        assert finished is not None
        if finished.reason == "interrupted":
            self._reason = "interrupted"
            return None
        return alone_line(entry, command, finished), finished.reason, finished.cycles

    def _search_nothing(self, place: int) -> None:
        """Report that all graphs before this place are done: if the engine dies now, none of them is the cause."""
        self.channel.send(BatchSearching(place, place, ""))

    def _hear(self, event: Event) -> None:
        if isinstance(event, Progress) and self._alone is not None:
            self._alone = (self._alone[0], event.share)
            self._attend(cycles=event.cycles)

    # Commands and progress

    def _attend(self, *, report: bool = False, done: int | None = None, cycles: int = 0) -> None:
        """Obey commands. Report progress, ten times a second or at once with `report`."""
        self.channel.obey()
        if self.channel.stop_asked:
            self._reason = self._reason or "interrupted"
        now = time.monotonic()
        if not report and now - self._reported < _SECONDS_BETWEEN_REPORTS:
            return
        self._reported = now
        tally, alone = self._tally, self._alone
        self.channel.send(
            BatchProgress(
                seconds=now - self._began,
                done=tally.done + self._ahead if done is None else done,
                kept=tally.kept,
                failed=tally.failed,
                stopped=tally.stopped,
                cycles=tally.cycles + cycles,
                total=self._total,
                graph=None if alone is None else alone[0],
                share=0.0 if alone is None else alone[1],
            )
        )


def _together(chunk: Chunk) -> bool:
    """Return whether the graphs of a chunk may be counted together with others.

    A time-out does not matter here: a graph that takes long is left over, and is then searched on its own.
    """
    job = chunk.job
    if job.listing is not None or job.limit is not None or job.arch == "reference" or job.method == "boundary":
        return False
    return chunk.loaded is None or (chunk.loaded.graph.is_simple and chunk.loaded.graph.n <= MOST_VERTICES)


def _same_search(one: BatchJob, other: BatchJob) -> bool:
    return (one.min_length, one.max_length, one.arch) == (other.min_length, other.max_length, other.arch)
