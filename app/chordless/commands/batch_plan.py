"""The plan that ``--dry-run`` prints, and the path of the file of JSON lines."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chordless.words.numbers import lengths_text
from kernels_ti.choices import ARCHES

if TYPE_CHECKING:
    from chordless.protocol.orders import BatchJob


def print_plan(options: argparse.Namespace, jobs: tuple[BatchJob, ...]) -> int:
    """Print a line for each input, and how many graphs are done already; return the exit code."""
    from chordless.batch.detect import count_graphs
    from chordless.words.shown import visible

    rows = []
    for job in jobs:
        graphs = count_graphs(job)
        how_many = "? graphs" if graphs is None else f"{graphs:,} graph{'s' * (graphs != 1)}"
        rows.append((visible(job.graph), how_many, "list" if job.listing else "count", _bounds(job)))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for graph, how_many, task, bounds in rows:
        print(f"{graph:<{widths[0]}}  {how_many:>{widths[1]}}  {task:<{widths[2]}}  {bounds}".rstrip())
    if options.resume:
        from chordless.batch.output import DONE

        done = sum(line["status"] in DONE for line in _lines_so_far(options))
        how_many = "1 graph that is done" if done == 1 else f"{done:,} graphs that are done"
        sys.stderr.write(f"{options.output} has {how_many}; what is among the above is kept\n")
    return 0


def _lines_so_far(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    path = lines_path(options)
    if os.path.exists(path) or options.keep or options.bfile or not os.path.exists(options.output):
        from chordless.batch.output import read_lines

        return read_lines(path)
    from chordless.batch.tables import lines_of_table

    return lines_of_table(options.output, options.output_format)


def _bounds(job: BatchJob) -> str:
    parts = [lengths] if (lengths := lengths_text(job.min_length, job.max_length, job.parity)) else []
    if job.limit is not None:
        parts.append(f"limit {job.limit:,}")
    if job.timeout is not None:
        parts.append(f"timeout {job.timeout:g} s")
    if job.arch != ARCHES[0]:
        parts.append(f"on {job.arch}")
    return ", ".join(parts)


def lines_path(options: argparse.Namespace) -> str:
    """Return the path of the JSON lines: the output itself, or the file from which a table is made."""
    return str(options.output) if options.output_format == "jsonl" else f"{options.output}.jsonl"
