"""``chordless list``: write the cycles."""

from __future__ import annotations

import argparse
import sys
from pathlib import PurePath

from chordless.commands import options as shared
from chordless.commands import up_to_symmetry
from chordless.commands.session import print_way_on, run_engine
from chordless.commands.terminal import NO_PROOF, ending
from chordless.protocol.events import Finished
from chordless.protocol.orders import FORMATS, CycleFormat, RunCommand
from chordless.values import names_a_folder, output_name
from chordless.words.numbers import seconds_text
from chordless.words.shown import on_terminal
from kernels_ti.errors import quantity

DESCRIPTION = """\
List every chordless cycle of a graph, one a line, while the search runs.

A line holds the names of the cycle's vertices in the order of the cycle. They
are separated by blanks, or by TABs if some vertex of the graph has white space
in its name. A FILE.jsonl has a JSON array in each line. Each cycle comes once
and starts at its first vertex in the order of the graph. The lines come in the
order in which the cycles are found, which differs between arches. --sorted
keeps all cycles in memory and writes them at the end, by length, then by their
vertices in the order of the graph.

A FILE.npy has a bit row for each cycle: bit v % 64 of word v // 64 is set where
vertex v lies on it. This is the fastest output. A FILE.parquet or FILE.arrow
has the columns length and vertices (names in cycle order). It appears
when the search has ended, and not after an error. A folder, -o DIR/, becomes a
run directory with bit rows in cycles/part-*.npy and a checkpoint, for
`chordless resume DIR` and `chordless export DIR`.
"""
EXAMPLES = (
    "chordless list grid:6x6 | sort -u | wc -l",
    "chordless list karate -o cycles.jsonl",
    "chordless list roads.txt --min-length 5 --limit 100",
    "chordless list grid:6x9 -o cycles.parquet",
    "chordless list karate --sorted --proof -o cycles.txt",
    "chordless list hypercube:5 --up-to-symmetry   # one cycle of each of 23 orbits",
    "chordless list grid:7x10 -o run/   # then: chordless export run",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_graph(parser)
    shared.add(
        parser,
        "-o --output",
        "write to FILE: text (.txt, or no suffix), .jsonl, .npy, .parquet or .arrow; or to a run directory, "
        "with a slash: DIR/ (default, or -: text to standard output)",
        type=output_name,
        default=shared.STANDARD_OUTPUT,
    )
    shared.add(parser, "--sorted", "write the cycles by length, then by their vertices, once all are found")
    up_to_symmetry.add(parser, "write the size of each orbit, a TAB, and one cycle of it, for the orbits")
    shared.add(parser, "--proof")
    shared.add_search(parser, limit_help="stop after N cycles")
    shared.add_checkpoint(parser, also="; for -o FILE only: -o DIR/ has its own")
    shared.add_reporting(parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for impossible bounds or outputs."""
    shared.check_search(parser, options)
    if options.up_to_symmetry:
        up_to_symmetry.check(parser, options)
        return
    check_output(parser, options)
    if options.sorted and options.limit is not None:
        parser.error("--sorted sorts the cycles that there are: leave --limit out, or bound their length")
    if options.sorted and (options.checkpoint is not None or format_of(options.output) == "parts"):
        parser.error("--sorted writes at the end of the search, so it keeps no checkpoint: list to a file without one")


def check_output(parser: argparse.ArgumentParser, options: argparse.Namespace, things: str = "cycles") -> None:
    """End with a usage error for impossible outputs of a list of cycles, or of paths."""
    if options.output == "":
        parser.error("-o: the name of the output is empty")
    output_format = format_of(options.output)
    if output_format is None:
        parser.error(
            f"-o {options.output}: {things} are written as .txt, .jsonl, .npy, .parquet or .arrow, or to a folder DIR/"
        )
    if options.checkpoint is not None and options.output == shared.STANDARD_OUTPUT:
        parser.error("--checkpoint needs -o FILE or -o DIR/: standard output cannot be cut back to a checkpoint")
    if options.checkpoint is not None and output_format in ("parquet", "arrow"):
        parser.error(
            f"--checkpoint: a run cannot go on with {options.output}, which is written as a whole: "
            f"list to a folder DIR/, then `chordless export DIR -o {options.output}`"
        )
    if options.checkpoint is not None and output_format == "parts":
        parser.error(f"-o {options.output} is a folder, which keeps a checkpoint anyway: leave --checkpoint out")
    shared.check_checkpoint_every(parser, options, folder_of(options))


def act(options: argparse.Namespace) -> int:
    """List the cycles, print how it ended unless the output shows it, return the exit code."""
    if options.up_to_symmetry:
        return up_to_symmetry.list_orbits(options)
    kept = {"output_format": format_of(options.output), "checkpoint": folder_of(options)}
    command = shared.order_of(RunCommand, options, **kept, in_order=options.sorted, reading_timeout=options.timeout)
    finished, exit_code = run_engine(command, options)
    print_end(command, finished, quiet=options.quiet)
    return exit_code


def print_end(command: RunCommand, finished: Finished, *, quiet: bool) -> None:
    """Print to standard error how a listing ended, and the hash of all cycles, if there is one."""
    assert command.output is not None
    if not quiet:
        _print_note(finished, command.output, command.thing)
        print_way_on(finished)
    if finished.proof is not None:
        sys.stderr.write(f"proof {finished.proof}\n")
    elif command.proof and not quiet:
        sys.stderr.write(f"{NO_PROOF}\n")


def _print_note(finished: Finished, output: str, thing: str) -> None:
    """Print to standard error how a listing of cycles, or of paths, ended, unless its output shows it."""
    to_file = output != shared.STANDARD_OUTPUT
    if finished.reason == "closed" or (finished.complete and not to_file):
        return
    where = f" in {on_terminal(output, sys.stderr)}" if to_file else ""
    listed = f"{quantity(finished.listed, thing)}{where}"
    if finished.complete:
        sys.stderr.write(f"{listed}, {seconds_text(finished.total_seconds)} in all\n")
    else:
        sys.stderr.write(f"not complete: {ending(finished)}; {listed}\n")


def folder_of(options: argparse.Namespace) -> str | None:
    """Return the run directory of a list: that of ``--checkpoint``, or the output itself."""
    folder: str | None = options.output if format_of(options.output) == "parts" else options.checkpoint
    return folder


def format_of(output: str) -> CycleFormat | None:
    """Return how an output is written, None if its name does not tell."""
    if names_a_folder(output):
        return "parts"
    return FORMATS.get(PurePath(output).suffix.lower() or ".txt")
