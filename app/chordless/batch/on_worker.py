"""The work of a cluster's worker for a batch: count the graphs of some entries, or list them, as an engine would."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chordless.batch.counting import Counting, Result, message_of
from chordless.batch.cycle_files import CycleFile, written
from chordless.batch.entries import Entry, error_line
from chordless.batch.output import encoded
from chordless.engine.channel import CallChannel
from chordless.protocol.orders import BatchCommand
from kernels_ti import EngineError
from kernels_ti.cluster.on_worker import is_recalled
from kernels_ti.errors import in_words_of_command_line


@dataclass(frozen=True)
class Counted:
    """The answer to a call."""

    results: list[Result]  # In the order of the entries; fewer if the call was recalled
    files: list[CycleFile]  # The cycles of those graphs whose cycles are wanted


def count_entries(
    key: str, number: int, threads: int, entries: Sequence[Entry], command: BatchCommand, parts: Mapping[str, str]
) -> Counted:
    """Count the graphs of some entries; `parts` has the hidden folder for each folder of cycles, see `PartFolders`."""
    # The driver reports.
    channel = CallChannel(lambda event: None, lambda: is_recalled(key, number))

    def attend(**_: object) -> None:
        channel.obey()

    counting = Counting(command, channel, command.threads or threads, attend)
    counted = Counted([], [])
    with in_words_of_command_line():
        together = counting.together(entries)
        for entry in entries:
            result = together.get(entry.place)
            if result is None and not channel.stop_asked:
                listed = entry.chunk.job.listing is not None
                result = _list(entry, counting, counted.files, parts) if listed else counting.alone(entry)
            if result is not None:
                counted.results.append(result)
    return counted


def _list(entry: Entry, counting: Counting, files: list[CycleFile], parts: Mapping[str, str]) -> Result | None:
    """List the cycles of a graph where the driver finds them, and add their file."""
    job = entry.chunk.job
    assert job.listing is not None

    def search(folder: str) -> tuple[Result | None, str | None]:
        elsewhere = replace(entry.chunk, job=replace(job, listing=folder))
        result = counting.alone(entry._replace(chunk=elsewhere))
        return result, None if result is None else json.loads(result[0])["listing"]

    try:
        result, file = written(parts[job.listing], search)
    except EngineError as error:
        return error_line(entry, message_of(entry, error)), "error", 0
    if result is None or file is None:
        return result
    files.append(replace(file, path=os.path.join(job.listing, os.path.basename(file.path))))
    line = json.loads(result[0])
    return encoded({**line, "listing": files[-1].path}), *result[1:]
