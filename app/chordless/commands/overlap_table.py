"""Many food webs as one table: a row for each, with the cycles of its niche overlap graph and the interval verdict."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import IO, Any

from chordless.batch.jobs import checked, jobs_of
from chordless.batch.output import read_lines
from chordless.batch.tables import write_csv_rows
from chordless.commands import options as shared
from chordless.commands.batch_session import run_batch, warn_of_missing_types
from chordless.files import text_of, whole_file
from chordless.graphs.overlap import FoodWeb, read_food_web
from chordless.protocol.orders import BatchCommand, BatchJob
from chordless.words.shown import lines_on_terminal, on_terminal
from kernels_ti import GraphError
from kernels_ti.options import require_threads

COLUMNS = {
    **dict.fromkeys(("web", "types"), "text"),
    **dict.fromkeys(("n", "living", "links", "sharing_prey", "m"), "whole"),
    "interval": "flag",
    **dict.fromkeys(("triangles", "holes", "total", "longest"), "whole"),
    **dict.fromkeys(("status", "error"), "text"),
}
"""The columns and the kinds of their values; named as in the JSON of a report, and in a batch."""


def print_table(webs: list[str], options: argparse.Namespace) -> int:
    """Count the cycles of all food webs in one engine, write the table, return the exit code."""
    require_threads(options.threads)
    template = shared.order_of(BatchJob, options, graph="", overlap=True)
    jobs = checked(jobs_of(webs, template))
    if not options.quiet:
        warn_of_missing_types(jobs)
    with tempfile.TemporaryDirectory(prefix="chordless-") as folder:
        lines = str(Path(folder, "lines.jsonl"))
        command = shared.order_of(BatchCommand, options, jobs=jobs, output=lines)
        outcome = run_batch(command, options)
        rows = [_row(line, options.types, options.encoding) for line in read_lines(lines)]
    if options.output in (None, "-"):
        _write(rows, lines_on_terminal(sys.stdout), as_json=options.json)
    else:
        with whole_file(options.output) as file, text_of(file) as stream:
            _write(rows, stream, as_json=PurePath(options.output).suffix.lower() == ".jsonl")
    failures = [row["error"] for row in rows if row["error"] is not None]
    if failures and not options.quiet:
        line = f"{len(failures):,} of {len(rows):,} webs failed, first: {failures[0]}"
        sys.stderr.write(f"{on_terminal(line, sys.stderr)}\n")
    return outcome.exit_code


def _row(line: dict[str, Any], types: str | None, encoding: str | None) -> dict[str, Any]:
    row = {**dict.fromkeys(COLUMNS), "web": line["graph"], "status": line["status"], "error": line["error"]}
    if line["status"] == "error":
        return row
    try:
        web = read_food_web(line["graph"], types, encoding)
    except GraphError as error:
        # It was there when the engine read it.
        return {**row, "status": "error", "error": str(error)}
    return {**row, **_facts_of_web(web), **_facts_of_cycles(line)}


def _facts_of_web(web: FoodWeb) -> dict[str, Any]:
    sharing = {v for edge in web.overlap.edges().tolist() for v in edge}
    return {
        "types": web.types_path,
        "n": web.overlap.n,
        "living": sum(web.living),
        "links": web.links,
        "sharing_prey": len(sharing),
        "m": web.overlap.m,
    }


def _facts_of_cycles(line: dict[str, Any]) -> dict[str, Any]:
    lengths = [int(length) for length, count in line["by_length"].items() if count]
    return {
        "interval": line["interval"],
        "triangles": line["triangles"],
        "holes": line["chordless_cycles"],
        "total": line["total"],
        "longest": max(lengths, default=None),
    }


def _write(rows: Iterable[dict[str, Any]], stream: IO[str], *, as_json: bool) -> None:
    if as_json:
        stream.writelines(f"{json.dumps(row)}\n" for row in rows)
        return
    write_csv_rows(rows, COLUMNS, stream)
