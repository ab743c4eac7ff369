"""``chordless sample``: chordless cycles drawn uniformly at random."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from chordless.commands import along_boundary
from chordless.commands import options as shared
from chordless.values import positive, seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chordless.commands.kept_pick import KeptPick
    from chordless.graphs.load import LoadedGraph
    from chordless.protocol.orders import RunCommand
    from kernels_ti import CycleTable

SUMMARY = "draw chordless cycles uniformly at random"
STANDARD_OUTPUT = "-"
_FORMATS = {"": "text", ".txt": "text", ".jsonl": "jsonl", ".npy": "npy"}

DESCRIPTION = """\
Draw chordless cycles uniformly at random: each with exactly the same
probability, from all cycles of the graph or from those of given lengths. Each
draw is from all of them, so a cycle may come several times.

The cycles are counted and drawn by dynamic programming over a path
decomposition, without looking at every cycle: 1,000 of 10^18 in seconds. The
output is that of `chordless list`, in the order in which they were drawn.
"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = subparsers.add_parser(
        "sample",
        help=SUMMARY,
        description=DESCRIPTION,
        closing=lambda: shared.graph_help(
            "chordless sample grid:12x12",
            "chordless sample roads.txt --simplify -k 1000 -o cycles.jsonl",
            "chordless sample roads.txt -k 100 --length 40 --seed 7",
            "chordless sample grid:16x16 -k 10 --arch cuda",
            "chordless sample petersen -k 2 --json",
        ),
    )
    shared.add_graph(parser)
    parser.add_argument("--json", action="store_true", help="print each cycle as a JSON array, one a line")
    parser.add_argument("-k", type=positive, default=1, metavar="N", help="how many cycles to draw (default: 1)")
    parser.add_argument(
        "--seed",
        type=seed,
        default=0,
        metavar="N",
        help="the same seed draws the same cycles on cpu and cuda; Python draws others (default: 0)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=STANDARD_OUTPUT,
        help="write to FILE: text (.txt, or no suffix), .jsonl or .npy (default, or -: text to standard output)",
    )
    along_boundary.add_options(parser)
    parser.set_defaults(act=act, check=check, parser=parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for impossible bounds or outputs."""
    shared.settle_lengths(parser, options)
    shared.check_checkpoint_every(parser, options, options.checkpoint)
    if options.output == "":
        parser.error("-o: the name of the output is empty")
    if options.json and options.output != STANDARD_OUTPUT and _suffix(options) != ".jsonl":
        parser.error(f"--json with -o {options.output}: JSON lines are written to a file named .jsonl")
    if options.output.endswith("/") or os.path.isdir(options.output) or _suffix(options) not in _FORMATS:
        parser.error(f"-o {options.output}: cycles are written as .txt, .jsonl or .npy")


def act(options: argparse.Namespace) -> int:
    """Draw the cycles, write them, return the exit code."""
    if options.checkpoint is None:
        return _answer(options, along_boundary.loaded_graph(options))
    from dataclasses import replace

    from chordless.commands.kept_pick import begun
    from chordless.runs.directory import check_is_free

    check_is_free(options.checkpoint)
    loaded = along_boundary.loaded_graph(options)
    command = replace(
        along_boundary.command_of(options),
        pick="sample",
        limit=options.k,
        seed=options.seed,
        output=None if options.output == STANDARD_OUTPUT else options.output,
        output_format="jsonl" if options.json else "text",
    )
    with begun(command, loaded) as kept:
        return _answer(options, loaded, kept)


def resume(command: RunCommand, options: argparse.Namespace) -> int:
    """Go on from a checkpoint, write the cycles, return the exit code."""
    from chordless.commands.kept_pick import resumed

    with resumed(command) as (kept, loaded):
        options = along_boundary.options_of(command, options)
        options.k, options.output = command.limit, command.output or STANDARD_OUTPUT
        options.json = command.output_format == "jsonl"
        return _answer(options, loaded, kept)


def _answer(options: argparse.Namespace, loaded: LoadedGraph, kept: KeptPick | None = None) -> int:
    from chordless.commands.writing import whole_file

    table, total = _drawn(options, loaded, kept)
    if options.output == STANDARD_OUTPUT:
        sys.stdout.flush()
        for data in _data(table, "jsonl" if options.json else "text", for_terminal=sys.stdout.isatty()):
            sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        with whole_file(options.output) as stream:
            for data in _data(table, _FORMATS[_suffix(options)]):
                stream.write(data)
    if not options.quiet and (total == 0 or options.output != STANDARD_OUTPUT):
        from kernels_ti.errors import quantity

        drawn = (
            f"{quantity(len(table), 'cycle')}, drawn from {total:,}" if total else "there is no chordless cycle to draw"
        )
        sys.stderr.write(f"{drawn}\n")
    return 0


def _drawn(options: argparse.Namespace, loaded: LoadedGraph, kept: KeptPick | None) -> tuple[CycleTable, int]:
    """Draw the cycles, or take those of a run that is finished; return them, and how many there are in all."""
    from contextlib import nullcontext

    from kernels_ti import CycleTable
    from kernels_ti.boundary.sample import sample_in
    from kernels_ti.cycles import Cycles

    if kept is not None and kept.last is not None and kept.last.finished:
        assert kept.last.pick is not None
        table = CycleTable.of_pieces(loaded.graph, [each for each in kept.last.unwritten if isinstance(each, Cycles)])
        return table, kept.last.pick.done[0].ways
    space = along_boundary.space_of(options, loaded.graph)
    orders = along_boundary.orders(options, space.graph)
    at_work = nullcontext(None) if kept is None else kept.at_work()
    with along_boundary.progress(options) as report, at_work as keeping:
        table, total = sample_in(
            space,
            options.k,
            options.seed,
            report,
            arch=options.arch,
            timeout=options.timeout,
            keeping=keeping,
            **orders,
        )
    if kept is not None:
        kept.finish(Cycles(table.offsets, table.vertices), total)
    return table, total


def _suffix(options: argparse.Namespace) -> str:
    return PurePath(options.output).suffix.lower()


def _data(table: CycleTable, output_format: str, *, for_terminal: bool = False) -> Iterator[bytes]:
    """Yield the bytes of an output."""
    if output_format == "npy":
        import io

        import numpy as np

        stream = io.BytesIO()
        np.save(stream, table.rows())
        yield stream.getvalue()
        return
    from chordless.cycles.lines import CycleEncoder
    from chordless.words.shown import visible
    from kernels_ti.cycles import Cycles

    names = table.graph.names
    if for_terminal:
        names = tuple(visible(str(name)) for name in names)
    encoder = CycleEncoder(names, "jsonl" if output_format == "jsonl" else "text")
    for _, data in encoder.encode(Cycles(table.offsets, table.vertices.astype("int64"))):
        yield data
