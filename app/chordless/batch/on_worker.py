"""What a worker of a cluster does for a batch: count the graphs of some entries, or list them, as an engine would."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from chordless.batch.alone import message_of
from chordless.batch.cycle_files import CycleFile, written
from chordless.batch.entries import Entry
from chordless.batch.output import BatchFile, encoded
from chordless.batch.rows import error_line
from chordless.batch.runner import Batch
from chordless.engine.channel import Channel
from chordless.protocol.events import Event
from chordless.protocol.orders import BatchCommand
from kernels_ti import EngineError
from kernels_ti.cluster.on_worker import is_recalled
from kernels_ti.errors import in_words_of_command_line

Result = tuple[str | bytes, str, int]
"""The line of a graph, its status, the number of its cycles."""


@dataclass(frozen=True)
class Counted:
    """The answer to a call.

    Attributes
    ----------
    results : list of (str or bytes, str, int)
        In the order of the entries; fewer if the call was recalled.
    files : list of CycleFile
        The cycles of those graphs whose cycles are wanted.
    """

    results: list[Result]
    files: list[CycleFile]


class _ChannelToDriver(Channel):
    """Takes no events, and knows one command: to stop, once the driver has recalled the call."""

    def __init__(self, key: str, number: int) -> None:
        self._call = key, number
        self.stop_asked = self.paused = self.checkpoint_asked = False
        self.mailbox = None

    def obey(self, *, wait: bool = False) -> None:
        """Look whether the call is recalled."""
        self.stop_asked = is_recalled(*self._call)

    def send(self, event: Event) -> None:
        """Drop an event: the driver reports."""


class _NoFile:
    """In the place of the output file: no line is known, and none is written here."""

    def find(self, key: str, graph: str) -> None:
        """Return None."""

    def write(self, lines: bytes) -> None:
        """Do nothing."""


class _WorkerBatch(Batch):
    """A batch that keeps its results."""

    def count(self, entries: Sequence[Entry], threads: int, parts: Mapping[str, str]) -> Counted:
        self._threads = threads
        self._parts = parts
        self._counted = Counted([], [])
        self._do(list(entries))
        return self._counted

    def _put(self, result: Result) -> None:
        self._counted.results.append(result)

    def _search_alone(self, entry: Entry) -> tuple[bytes, str, int] | None:
        job = entry.chunk.job
        if job.listing is None:
            return super()._search_alone(entry)

        def search(folder: str) -> tuple[tuple[bytes, str, int] | None, str | None]:
            elsewhere = replace(entry.chunk, job=replace(job, listing=folder))
            result = super(_WorkerBatch, self)._search_alone(entry._replace(chunk=elsewhere))
            return result, None if result is None else json.loads(result[0])["listing"]

        try:
            result, file = written(self._parts[job.listing], search)
        except EngineError as error:
            return error_line(entry, message_of(entry, error)), "error", 0
        if result is None or file is None:
            return result
        self._counted.files.append(replace(file, path=os.path.join(job.listing, os.path.basename(file.path))))
        line = json.loads(result[0])
        return encoded({**line, "listing": self._counted.files[-1].path}), *result[1:]


def count_entries(
    key: str, number: int, threads: int, entries: Sequence[Entry], command: BatchCommand, parts: Mapping[str, str]
) -> Counted:
    """Count the graphs of some entries.

    Parameters
    ----------
    key : str
    number : int
        The call, see `kernels_ti.cluster.spread.Spread`.
    threads : int
        Threads of this worker.
    entries : sequence of Entry
        Without earlier lines.
    command : BatchCommand
    parts : mapping of str to str
        For each folder of cycles the driver's hidden folder, see `chordless.batch.cycle_files`.

    Returns
    -------
    Counted
    """
    with in_words_of_command_line():
        batch = _WorkerBatch(command, _ChannelToDriver(key, number), cast(BatchFile, _NoFile()))
        return batch.count(entries, command.threads or threads, parts)
