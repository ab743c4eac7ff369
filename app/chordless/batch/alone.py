"""The search of one graph of a batch on its own: its command, its channel, and its error message."""

from __future__ import annotations

import os
import re
import sys
import time
import traceback
from collections.abc import Callable

from chordless.batch.entries import Entry
from chordless.engine.channel import CallChannel, Channel
from chordless.graphs.load import LoadedGraph
from chordless.protocol.events import Event
from chordless.protocol.orders import FORMATS, BatchCommand, RunCommand
from kernels_ti import ChordlessError


class AloneChannel(CallChannel):
    """The channel of a search within a batch: it obeys the commands to the batch."""

    def __init__(self, channel: Channel, hear: Callable[[Event], None]) -> None:
        super().__init__(hear)
        self._channel = channel
        self.stop_asked = channel.stop_asked

    def obey(self, *, wait: bool = False) -> None:
        """Read the commands to the batch."""
        self._channel.obey(wait=wait)
        self.stop_asked = self._channel.stop_asked


def run_command(entry: Entry, loaded: LoadedGraph, batch: BatchCommand, threads: int | None) -> RunCommand:
    """Make the command that searches one graph of a batch with `threads` threads. Create the folder for its cycles."""
    job = entry.chunk.job
    output = None
    if job.listing is not None:
        os.makedirs(job.listing, exist_ok=True)
        suffix = next(suffix for suffix, form in FORMATS.items() if form == job.listing_format)
        stem = re.sub(r"[^\w.+-]+", "_", os.path.basename(entry.title.rstrip("/"))).strip("._") or "graph"
        output = os.path.join(job.listing, f"{stem}-{entry.key[:8]}{suffix}")
    # Only a search lists cycles, stops at a number of them, and runs on these arches.
    needs_search = output is not None or job.limit is not None or job.arch in ("vulkan", "reference")
    return RunCommand(
        graph=loaded.title,
        program_start=time.time(),
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
        text = f"internal error: {type(error).__name__}: {error} (CHORDLESS_DEBUG=1 shows where)"
    line = " ".join(text.split())
    return line if line.startswith(entry.title) else f"{entry.title}: {line}"
