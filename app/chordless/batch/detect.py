"""The format of an input of a batch, and the number of its graphs, without parsing them."""

from __future__ import annotations

import codecs
import os
import zlib
from typing import IO

from chordless.graphs.load import MOLECULE_FORMATS, format_of_content, format_of_name
from chordless.graphs.molecules import lines_of
from chordless.graphs.readers.incoming import GZIP_MAGIC, STANDARD_INPUT, Limits, open_input, shown_name, standard_input
from chordless.protocol.orders import BatchJob
from kernels_ti import ChordlessError

_START_BYTES = 1 << 16
_COUNTED_AT_ONCE = 1 << 22
# Larger files are not read an extra time just to count their graphs.
_MOST_BYTES_TO_COUNT = 1 << 31


def count_graphs(job: BatchJob) -> int | None:
    """Return the number of graphs of an input, by its lines; None if that needs a full read."""
    try:
        if job.graph == STANDARD_INPUT:
            return None
        file_format = many_format(job)
        if file_format is None:
            return 1
        if os.path.getsize(job.graph) > _MOST_BYTES_TO_COUNT:
            return None
        with open_input(job.graph, Limits()) as stream:
            return _count_records(stream) if file_format == "sdf" else _count_lines(stream)
    except (ChordlessError, OSError, EOFError, zlib.error):
        return 1  # One line, with the error.


def _count_lines(stream: IO[bytes]) -> int:
    lines, last = 0, b"\n"
    while data := stream.read(_COUNTED_AT_ONCE):
        lines += data.count(b"\n") or data.count(b"\r")
        last = data[-1:]
    return lines + (last not in b"\r\n")


def _count_records(stream: IO[bytes]) -> int:
    records, open_record = 0, False
    for line in lines_of(stream):
        ends = line.startswith(b"$$$$")
        records += ends
        open_record = not ends and (open_record or not line.isspace())
    return records + open_record


def many_format(job: BatchJob) -> str | None:
    """Return ``graph6``, ``sdf`` or ``smiles`` for an input with many graphs; None for one graph."""
    if job.overlap:
        return None
    chosen = job.file_format
    if chosen is None:
        if job.graph != STANDARD_INPUT and not os.path.isfile(job.graph):
            return None
        chosen = format_of_name(job.graph)
        if chosen is None:
            start = _start(job.graph)
            # A filter that lets nothing through leaves an empty stream.
            ended = job.graph == STANDARD_INPUT and not start.strip()
            chosen = "graph6" if ended else format_of_content(start, shown_name(job.graph))
    return chosen if chosen in ("graph6", *MOLECULE_FORMATS) else None


def _start(path: str) -> bytes:
    """Return the decompressed beginning of an input. Standard input keeps it in its buffer for the real reader."""
    if path == STANDARD_INPUT:
        start = bytes(standard_input().peek(_START_BYTES))
        if start.startswith(GZIP_MAGIC):
            start = zlib.decompressobj(31).decompress(start, _START_BYTES)
        return start.removeprefix(codecs.BOM_UTF8)
    with open_input(path, Limits()) as stream:
        return stream.read(_START_BYTES)
