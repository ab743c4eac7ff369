"""How the graphs of a batch are counted: small ones together, others on their own, by an engine or a worker."""

from __future__ import annotations

import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence

from chordless.batch.entries import Entry, TogetherLines, alone_line, error_line, gathered
from chordless.batch.inputs import Chunk
from chordless.engine.channel import CallChannel, Channel
from chordless.graphs.load import LoadedGraph
from chordless.protocol.events import BatchSearching, Event, Finished, Progress
from chordless.protocol.orders import FORMATS, BatchCommand, RunCommand
from chordless.words.shown import fault_text
from kernels_ti import ChordlessError, open_device
from kernels_ti.device.memory import search_budget
from kernels_ti.folders import make_folder
from kernels_ti.many.count import MOST_VERTICES, count_many


def run_command(entry: Entry, loaded: LoadedGraph, batch: BatchCommand, threads: int | None) -> RunCommand:
    """Make the command that searches one graph of a batch with `threads` threads. Create the folder for its cycles."""
    job = entry.chunk.job
    output = None
    if job.listing is not None:
        make_folder(job.listing)
        suffix = next(suffix for suffix, form in FORMATS.items() if form == job.listing_format)
        stem = re.sub(r"[^\w.+-]+", "_", os.path.basename(entry.title.rstrip("/"))).strip("._") or "graph"
        output = os.path.join(job.listing, f"{stem}-{entry.key[:8]}{suffix}")
    # Only a search lists cycles, stops at a number of them, and runs on these arches.
    needs_search = output is not None or job.limit is not None or job.arch in ("vulkan", "reference")
    return RunCommand(
        graph=loaded.title,
        program_start=time.monotonic(),
        arch=job.arch,
        threads=threads,
        min_length=job.min_length,
        max_length=job.max_length,
        parity=job.parity,
        limit=job.limit,
        timeout=job.timeout,
        output=output,
        output_format=job.listing_format,
        memory=batch.memory,
        method="search" if needs_search or (job.method == "auto" and batch.threads is not None) else job.method,
    )


def message_of(entry: Entry, error: Exception) -> str:
    """Return one line with the graph and its error."""
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    elif isinstance(error, (ChordlessError, OSError)):
        text = str(error)
    elif isinstance(error, MemoryError):
        text = f"out of memory: {error}".removesuffix(": ")
    else:
        sys.stderr.write(traceback.format_exc())
        text = fault_text(error)
    line = " ".join(text.split())
    return line if line.startswith(entry.title) else f"{entry.title}: {line}"


Result = tuple[str | bytes, str, int]  # The line of a graph, its status, the number of its cycles


def cycles_of(results: Iterable[Result]) -> int:
    """Return the number of cycles in some results."""
    return sum(cycles for _, _, cycles in results)


class Counting:
    """Counts graphs. It says on the channel which ones, so that the fatal graph is known if the engine dies.

    Meanwhile `attend` obeys commands and reports: it takes how many graphs of a group are counted, with the number of
    their cycles, as `ahead`, and the `cycles` of the graph that is searched now.
    `graph` is the one that is searched on its own now, with the share of its search that is done, or None.
    """

    def __init__(
        self, command: BatchCommand, channel: Channel, threads: int | None, attend: Callable[..., None]
    ) -> None:
        self._command = command
        self._channel = channel
        self._threads = threads
        self._attend = attend
        self._crashes = sorted(command.crashes, key=lambda crash: crash[1] - crash[0])
        self.graph: tuple[str, float] | None = None

    def crash_at(self, place: int) -> str | None:
        """Return how an engine died at the graph of a place of the batch; None if none did."""
        return next((how for first, stop, how in self._crashes if (first, stop) == (place, place + 1)), None)

    def error_of(self, entry: Entry) -> str | None:
        """Return why the graph of an entry is not counted; None if it is."""
        crash = self.crash_at(entry.place)
        return entry.error or (None if crash is None else f"{entry.title}: {crash}")

    def together(self, entries: Sequence[Entry]) -> dict[int, Result]:
        """Count the graphs that can be counted together. Return the results by place."""
        pieces: dict[tuple[int, int, int], list[Entry]] = {}
        for entry in entries:
            if entry.error is None and can_be_together(entry.chunk):
                piece = self._piece_of(entry.place)
                if piece is not None:
                    pieces.setdefault(piece, []).append(entry)
        results: dict[int, Result] = {}
        for some in pieces.values():
            if len(some) > 1 or some[0].chunk.loaded is None:
                results.update(self._launch(some, (len(results), cycles_of(results.values()))))
        return results

    def _launch(self, entries: list[Entry], ahead: tuple[int, int]) -> dict[int, Result]:
        job = entries[0].chunk.job
        try:
            device = open_device("cpu" if job.arch == "auto" else job.arch, threads=self._threads)
            search_budget(device, self._command.memory)
        except ChordlessError:
            # Each graph is then searched on its own, and gets this error in its line.
            return {}
        self._channel.send(BatchSearching(entries[0].place, entries[-1].place + 1, entries[0].title))
        graphs, degrees = gathered(entries)
        counts = count_many(
            graphs,
            device,
            min_length=job.min_length,
            max_length=job.max_length,
            parity=job.parity,
            progress=lambda done, found: self._attend(ahead=(ahead[0] + done, ahead[1] + found)),
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
        """Return a key: graphs with equal keys are counted together. Where an engine died, the halves are keys."""
        for first, stop, _ in self._crashes:
            if first <= place < stop:
                return None if stop - first == 1 else (first, stop, (place - first) // ((stop - first + 1) // 2))
        return -1, -1, 0

    def alone(self, entry: Entry) -> Result | None:
        """Search a graph on its own. Return None if the search was interrupted."""
        from chordless.engine.search_run import count_or_search

        self._channel.send(BatchSearching(entry.place, entry.place + 1, entry.title))
        self.graph = (entry.title, 0.0)
        finished: Finished | None = None

        def hear(event: Event) -> None:
            nonlocal finished
            if isinstance(event, Finished):
                finished = event
            elif isinstance(event, Progress):
                self.graph = (entry.title, event.share)
                self._attend(cycles=event.cycles)

        def must_stop() -> bool:
            self._channel.obey()
            return self._channel.stop_asked

        try:
            loaded = entry.chunk.graph(entry.number)
            command = run_command(entry, loaded, self._command, self._threads)
            count_or_search(command, CallChannel(hear, must_stop), -1, loaded)
        except Exception as error:
            return error_line(entry, message_of(entry, error)), "error", 0
        finally:
            self.graph = None
            self._search_nothing(entry.place + 1)
        assert finished is not None
        if finished.reason == "interrupted":
            return None
        return alone_line(entry, command, finished), finished.reason, finished.cycles

    def _search_nothing(self, place: int) -> None:
        """Report that all graphs before this place are done: if the engine dies now, none of them is the cause."""
        self._channel.send(BatchSearching(place, place, ""))


def can_be_together(chunk: Chunk) -> bool:
    """Return whether the graphs of a chunk may be counted together with others.

    A time-out does not matter here: a graph that takes long is left over, and is then searched on its own.
    """
    job = chunk.job
    if job.listing is not None or job.limit is not None or job.arch == "reference" or job.method == "boundary":
        return False
    return chunk.loaded is None or (chunk.loaded.graph.is_simple and chunk.loaded.graph.n <= MOST_VERTICES)
