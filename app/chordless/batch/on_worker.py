"""What a worker of a cluster does for a batch: count the graphs of some entries, as an engine would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from chordless.batch.entries import Entry
from chordless.batch.output import BatchFile
from chordless.batch.runner import Batch
from chordless.engine.channel import Channel
from chordless.protocol.events import Event
from chordless.protocol.orders import BatchCommand
from kernels_ti.cluster.on_worker import is_recalled
from kernels_ti.errors import in_words_of_command_line

Result = tuple[str | bytes, str, int]
"""The line of a graph, its status, the number of its cycles."""


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

    def count(self, entries: Sequence[Entry], threads: int) -> list[Result]:
        self._threads = threads
        self._results: list[Result] = []
        self._do(list(entries))
        return self._results

    def _put(self, result: Result) -> None:
        self._results.append(result)


def count_entries(key: str, number: int, threads: int, entries: Sequence[Entry], command: BatchCommand) -> list[Result]:
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

    Returns
    -------
    list of (str or bytes, str, int)
        In the order of the entries; fewer if the call was recalled.
    """
    with in_words_of_command_line():
        batch = _WorkerBatch(command, _ChannelToDriver(key, number), cast(BatchFile, _NoFile()))
        return batch.count(entries, command.threads or threads)
