"""The output of a batch: the plan, the file of lines, the copy on standard output, the tables, the note at the end."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from chordless.batch.jobs import first_number
from chordless.batch.output import DONE, EARLIER, read_lines, write_whole
from chordless.batch.properties import Property
from chordless.commands import options as shared
from chordless.commands.session import FAILED_EXIT_CODE
from chordless.commands.writing import THE_GRAPH, require_other_files
from chordless.files import open_alone, writing
from chordless.protocol.events import BatchFinished
from chordless.protocol.orders import BatchCommand, BatchJob
from chordless.words.numbers import lengths_text, seconds_text
from chordless.words.shown import lines_on_terminal, on_terminal, shortened, visible
from kernels_ti import ChordlessError, OptionError
from kernels_ti.choices import ARCHES
from kernels_ti.errors import quantity
from kernels_ti.folders import temporary_folder

DERIVED = "derived"
WAY_ON = "--resume goes on from there"
_COPIED_AT_ONCE = 1 << 20
_SUFFIXES_OF_GRAPHS = {
    long: short
    for short, kind in ((".g6", "graph"), (".s6", "sparse"), (".d6", "digraph"))
    for long in (short, f".{kind}6")
}


@contextlib.contextmanager
def lines_file(options: argparse.Namespace) -> Iterator[str]:
    """Yield the path of the file to which the engine writes its lines."""
    if options.output == shared.STANDARD_OUTPUT:
        with temporary_folder("chordless-batch-") as folder:
            yield str(Path(folder, "lines.jsonl"))
        return
    path = lines_path(options)
    if path != options.output:
        if os.path.islink(options.output) or (os.path.exists(options.output) and not os.path.isfile(options.output)):
            # The table would take the place of the link or the device.
            raise OptionError(f"{options.output} is no regular file: a table replaces one, and -o - is standard output")
        # The engine would name the file of the lines.
        with writing(options.output), tempfile.TemporaryFile(dir=PurePath(path).parent):
            pass
    elif os.path.exists(path) and not os.path.isfile(path):
        raise OptionError(f"{path} is no regular file: a batch goes on in one, and -o - is standard output")
    if options.output_format == DERIVED and os.path.lexists(options.output) and not os.path.lexists(path):
        # It does not tell of which batch it is, if of any.
        raise OptionError(f"{options.output} is there already: write to another file")
    for there in {path, options.output}:
        if os.path.lexists(there) and not options.resume:
            raise OptionError(f"{there} is there already: --resume keeps what is done, or write to another")
    if path != options.output and not os.path.exists(path) and os.path.exists(options.output):
        from chordless.batch.tables import table_to_lines

        table_to_lines(options.output, options.output_format, path)
    yield path


def suffix_of_graphs(output: str) -> str:
    """Return the short suffix of a file of graphs, one a line; "" for any other file."""
    return _SUFFIXES_OF_GRAPHS.get(PurePath(output).suffix.lower(), "")


def _derivation(options: argparse.Namespace) -> Callable[[Iterable[dict[str, Any]]], Iterator[bytes]]:
    """Return the maker of the output of --keep or --bfile from lines."""
    from chordless.batch.derived import TermRows, kept_graphs

    if options.keep is not None:
        suffix = "" if options.output == shared.STANDARD_OUTPUT else suffix_of_graphs(options.output)
        return partial(kept_graphs, keep=Property(options.keep), suffix=suffix)
    return TermRows(Property(options.bfile), first_number(options.graphs)).rows


@contextlib.contextmanager
def copy_to_standard_output(command: BatchCommand, options: argparse.Namespace) -> Iterator[Any]:
    """Yield a function that copies the lines written since its last call; a table is printed at the end instead."""
    if options.output != shared.STANDARD_OUTPUT or options.output_format not in ("jsonl", DERIVED):
        yield lambda: None
        return
    derive = _derivation(options) if options.output_format == DERIVED else None
    done = 0

    def copy() -> None:
        nonlocal done
        if not os.path.exists(command.output):
            return
        with open(command.output, "rb") as stream:
            stream.seek(done)
            while data := stream.read(_COPIED_AT_ONCE):
                whole = data[: data.rfind(b"\n") + 1]
                if not whole:
                    break
                rows = whole if derive is None else b"".join(derive(map(json.loads, whole.splitlines())))
                sys.stdout.buffer.write(rows)
                done += len(whole)
                stream.seek(done)
        sys.stdout.buffer.flush()

    yield copy
    copy()


def write_table(command: BatchCommand, options: argparse.Namespace, end: BatchFinished) -> None:
    """Turn the lines of a batch that has ended into a CSV or Parquet file."""
    if options.output_format == "jsonl":
        return
    from chordless.batch import tables
    from chordless.batch.kept_input import find_kept

    if options.output == shared.STANDARD_OUTPUT:
        if options.output_format == DERIVED:
            return
        tables.write_csv(lambda: read_lines(command.output), lines_on_terminal(sys.stdout))
    elif end.reason == "complete":
        with writing(command.output):
            lock = open_alone(command.output)  # No other batch goes on with lines that are about to be removed
        try:
            if options.output_format == DERIVED:
                write_whole(_derivation(options)(read_lines(command.output)), options.output)
            else:
                tables.write_table(lambda: read_lines(command.output), options.output, options.output_format)
            if end.failed and options.output_format == DERIVED:
                return  # Unlike a table, the output does not tell which graphs failed, nor the others for --resume.
            os.unlink(command.output)
            # A table does not open its graphs.
            kept = find_kept(command.output)
            if kept is not None:
                os.unlink(kept)
        except ChordlessError as error:
            also = ", also with another expression, or with -o FILE once they are named FILE.jsonl"
            raise type(error)(
                f"{error}; nothing is lost: the lines are in {command.output}, and the same command with --resume "
                f"makes the output of them{also * (options.output_format == DERIVED)}"
            ) from error
        finally:
            os.close(lock)


def print_note(options: argparse.Namespace, end: BatchFinished, failure: str | None, *, deaths: int) -> None:
    """Print to standard error how a batch ended, its engine's deaths, the first error and the notes of readers."""
    # The table is written only when the batch is complete; until then there are only the lines.
    path = options.output if end.reason == "complete" else lines_path(options)
    # Of the graphs, --keep writes some only, and --bfile a term for each.
    is_part = options.output_format == DERIVED and end.reason == "complete"
    # The lines of graphs that a resumed batch has not reached yet are in the file, too.
    is_short = end.reason == "interrupted" and options.resume
    where = "" if options.output == shared.STANDARD_OUTPUT or is_part or is_short else f" in {path}"
    parts = [f"{end.done:,} graph{'s' * (end.done != 1)}{where}, {end.cycles:,} cycle{'s' * (end.cycles != 1)}"]
    parts += [f"{end.kept:,} done before"] * (end.kept > 0 and options.resume)
    parts += [f"{end.failed:,} failed"] * (end.failed > 0)
    parts += [f"{end.stopped:,} stopped by a limit"] * (end.stopped > 0)
    parts.append(f"{seconds_text(time.monotonic() - options.program_start)} in all")
    line = ", ".join(parts)
    if is_part and options.output != shared.STANDARD_OUTPUT:
        lines = f", and {lines_path(options)} their lines, from which --resume goes on" if end.failed else ""
        line += f"; {path} has what was asked of them{lines}"
    if end.reason == "interrupted":
        line = (
            f"interrupted; {line}; {'nothing more to report' if options.output == shared.STANDARD_OUTPUT else WAY_ON}"
        )
    elif end.reason == "failed":
        line = f"ended at the first failure; {line}"
    if deaths:
        line += f"\nthe engine died {'once' if deaths == 1 else f'{deaths} times'}; a new one continued"
    if end.beside:
        lines, kept = ("1 line", "is") if end.beside == 1 else (f"{end.beside:,} lines", "are")
        line += f"\n{lines} of other graphs or with other options {kept} kept in {lines_path(options)}{EARLIER}"
    if failure is not None:
        line += f"\n{'the failure' if end.failed == 1 else 'the first failure'}: {failure}"
    for one in (*line.split("\n"), *end.notes):
        sys.stderr.write(f"{on_terminal(shortened(one), sys.stderr)}\n")


def print_plan(options: argparse.Namespace, jobs: tuple[BatchJob, ...]) -> int:
    """Print a line for each input, and how many graphs are done already; return the exit code."""
    from chordless.batch.detect import count_graphs

    rows = []
    for job in jobs:
        graphs = count_graphs(job)
        how_many = "? graphs" if graphs is None else f"{graphs:,} graph{'s' * (graphs != 1)}"
        rows.append((visible(job.graph), how_many, "list" if job.listing else "count", _bounds(job)))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for graph, how_many, task, bounds in rows:
        print(f"{graph:<{widths[0]}}  {how_many:>{widths[1]}}  {task:<{widths[2]}}  {bounds}".rstrip())
    if options.resume:
        done = sum(line["status"] in DONE for line in _lines_so_far(options))
        how_many = "1 graph that is done" if done == 1 else f"{done:,} graphs that are done"
        sys.stderr.write(f"{options.output} has {how_many}; what is among the above is kept\n")
    return 0


def print_rings(jobs: tuple[BatchJob, ...], options: argparse.Namespace) -> int:
    """Write a row for each ring of the molecules, then one line on standard error; return the exit code."""
    from chordless.batch.ring_table import COLUMNS, RingTable
    from chordless.batch.tables import write_csv_rows, write_rows
    from chordless.cycles.columns import require_parquet

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


def _lines_so_far(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    path = lines_path(options)
    if os.path.exists(path) or options.keep or options.bfile or not os.path.exists(options.output):
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


def files_of(options: argparse.Namespace) -> list[str]:
    """Return the files that the batch writes and no GRAPH names, which a folder or a pattern may hold.

    The graphs or rows of an expression are not among them: they are made at the end, and replace no file.
    """
    if options.output == shared.STANDARD_OUTPUT:
        return []
    lines = lines_path(options)
    written = [lines, lines + EARLIER, *[options.output] * (options.output_format != DERIVED)]
    return [path for path in written if path not in options.graphs]
