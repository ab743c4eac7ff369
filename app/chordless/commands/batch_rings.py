"""``chordless batch --rings``: the table of the rings of molecules."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

from chordless.batch.ring_table import COLUMNS, RingTable
from chordless.batch.tables import write_csv_rows, write_rows
from chordless.commands import options as shared
from chordless.commands.batch_session import FAILED_EXIT_CODE
from chordless.commands.writing import THE_GRAPH, require_other_files
from chordless.cycles.columns import require_parquet
from chordless.protocol.orders import BatchJob
from chordless.words.numbers import seconds_text
from chordless.words.shown import lines_on_terminal, on_terminal, shortened
from kernels_ti import OptionError
from kernels_ti.errors import quantity


def print_rings(jobs: Sequence[BatchJob], options: argparse.Namespace) -> int:
    """Write a row for each ring of the molecules, then one line on standard error; return the exit code."""
    table = RingTable(jobs, options.memory)
    if options.output == shared.STANDARD_OUTPUT:
        write_csv_rows(table.rows(), COLUMNS, lines_on_terminal(sys.stdout))
    else:
        if os.path.lexists(options.output):
            require_other_files([(THE_GRAPH, job.graph) for job in jobs], {"-o": options.output})
            raise OptionError(f"{options.output} is there already: write to another file")
        if options.output_format == "parquet":
            require_parquet()
        write_rows(table.rows(), COLUMNS, options.output, options.output_format)
    if not options.quiet:
        where = "" if options.output == shared.STANDARD_OUTPUT else f" in {options.output}"
        failed = f", {len(table.errors):,} failed" if table.errors else ""
        took = seconds_text(time.monotonic() - options.program_start)
        found = f"{quantity(table.rings, 'ring')} of {quantity(table.molecules, 'molecule')}"
        for line in (f"{found}{where}{failed}, {took} in all", *table.errors[:1], *table.notes.lines()):
            sys.stderr.write(f"{on_terminal(shortened(line), sys.stderr)}\n")
    return FAILED_EXIT_CODE if table.errors else 0
