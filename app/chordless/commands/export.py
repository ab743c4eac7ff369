"""``chordless export``: turn cycles that a run wrote as bit rows into lines, one .npy file or columns."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

from chordless.commands import options as shared
from chordless.commands.terminal import ExportLine, is_live
from chordless.commands.writing import THE_GRAPH, require_other_files
from chordless.cycles import export
from chordless.cycles.columns import require_columns
from chordless.cycles.output import open_output
from chordless.protocol.orders import FORMATS as FORMATS_OF_CYCLES
from chordless.protocol.orders import RunCommand
from chordless.values import name_of_input
from chordless.words.numbers import seconds_text
from chordless.words.shown import on_terminal
from kernels_ti import OptionError
from kernels_ti.errors import quantity

FORMATS = ("txt", "jsonl", "npy", "parquet", "arrow")
_UNFINISHED_EXIT_CODE = 4

DESCRIPTION = """\
Turn the cycles that `chordless list -o DIR/` or `chordless list -o FILE.npy`
wrote as bit rows into another format: text or JSON lines like those of
`chordless list`, one .npy file of bit rows, or a Parquet or Arrow file with the
columns length and vertices (names in the order of the cycle). The run
directories of all parts of one search (--part I/N) become one output.

Of a run that is not finished, the cycles up to its checkpoint are exported; the
exit code is 4 then.
"""
EXAMPLES = (
    "chordless export run/ --format txt | head",
    "chordless export run/ -o cycles.parquet",
    "chordless export part-1/ part-2/ part-3/ -o cycles.txt",
    "chordless export cycles.npy --graph grid:7x10 -o cycles.jsonl",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "cycles",
        nargs="+",
        type=name_of_input,
        metavar="DIR|FILE.npy",
        help="a run directory, a file of bit rows, or the run directories of all parts of one search (--part I/N)",
    )
    shared.add_output_format(parser, FORMATS)
    shared.add_output(parser, "write to FILE (default, for txt and jsonl: standard output)")
    shared.add(parser, "--graph", "for a FILE.npy: the graph whose cycles it holds")
    shared.add(parser, "--graph-format")
    shared.add_kind(parser)
    shared.add(parser, "--encoding")
    shared.add_reporting(parser, events=False)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Determine the output format; end with a usage error for options that contradict each other."""
    to_file = options.output != shared.STANDARD_OUTPUT
    shared.settle_output_format(parser, options, FORMATS)
    if not to_file and options.output_format not in ("txt", "jsonl"):
        parser.error(f"--format {options.output_format} needs a file: -o FILE.{options.output_format}")
    if options.output_format == "npy" and shared.suffix_of(options.output) != "npy":
        parser.error(f"-o {options.output}: the name of a .npy file ends in .npy")
    files = [path for path in options.cycles if os.path.isfile(path)]
    if len(options.cycles) > 1 and (files or options.graph is not None):
        parser.error("several inputs are the run directories of the parts of one search, without --graph")
    if options.graph is not None and os.path.isdir(options.cycles[0]):
        parser.error("--graph is for a FILE.npy; a run directory holds its graph")
    if options.graph is None and files:
        if shared.suffix_of(files[0]) != "npy":
            parser.error(f"{files[0]} is neither a run directory nor a .npy file of bit rows, which export reads")
        parser.error(f"--graph GRAPH is missing: the graph whose cycles {files[0]} holds")
    if options.graph is None and any(shared.reading_of(options).values()):
        parser.error("how a graph is read is said without --graph; a run directory holds its graph")


def act(options: argparse.Namespace) -> int:
    """Export, print how it ended unless the output shows it, return the exit code."""
    if options.output_format in ("parquet", "arrow"):
        require_columns(options.output_format)
    if options.graph is None:
        source = export.open_runs(options.cycles)
    else:
        source = export.open_file(options.cycles[0], options.graph, **shared.reading_of(options))
    to_file = options.output != shared.STANDARD_OUTPUT
    if to_file and source.store.is_kept_in(options.output):
        raise OptionError(f"{options.output} is itself a file of these cycles; write to another file")
    if to_file:
        graph = options.graph if source.command is None else source.command.graph
        require_other_files([(THE_GRAPH, graph)], {"-o": options.output})
    form = FORMATS_OF_CYCLES[f".{options.output_format}"]
    command = RunCommand(source.name, options.program_start, output=options.output, output_format=form)
    standard_output = -1 if to_file else os.dup(sys.stdout.fileno())
    thing = "cycle" if source.command is None else source.command.thing
    with (
        _progress(options, len(source.store), thing) as tell,
        open_output(command, source.graph, standard_output) as output,
    ):
        export.export(source, output, tell)
    note = quantity(len(source.store), thing)
    if to_file:
        note += f" in {options.output}, {seconds_text(time.monotonic() - options.program_start)} in all"
    if not source.complete:
        note = f"not complete: the run in {options.cycles[0]} is not finished; {note}"
    if not options.quiet and (to_file or not source.complete):
        sys.stderr.write(f"{on_terminal(note, sys.stderr)}\n")
    return 0 if source.complete else _UNFINISHED_EXIT_CODE


@contextlib.contextmanager
def _progress(options: argparse.Namespace, total: int, thing: str) -> Iterator[Callable[[int], None]]:
    to_terminal = options.output == shared.STANDARD_OUTPUT and sys.stdout.isatty()
    mode = "none" if options.quiet else options.progress
    line = ExportLine(mode, sys.stderr, live=is_live(sys.stderr) and not to_terminal)
    try:
        yield partial(line.show, total=total, thing=thing)
    finally:
        line.clear()
