"""``chordless bench boundary``: counts and longest cycles along a boundary."""

from __future__ import annotations

import argparse
from typing import Any

from chordless.commands.parser import Parser, examples
from kernels_ti import OptionError

SUMMARY = "totals, counts by length and longest cycles along a boundary"

DESCRIPTION = """\
Measure the boundary method: all cycles together, by length, and the longest
cycle, each in a process that has done the same before. The order of the
vertices is sought once, before the clock starts. The first run, which compiles
the kernels, is shown apart.

Without a GRAPH these are grid:12x12 and grid:14x14; with --arch cuda larger
grids follow, up to grid:20x20.
"""


def add_parser(benches: Any, check: Any, add_common: Any) -> None:
    """Add the bench to those of ``chordless bench``.

    Parameters
    ----------
    benches : argparse subparsers
    check, add_common : callable
        What all benches share, see `chordless.commands.bench`.
    """
    parser: Parser = benches.add_parser(
        "boundary",
        help=SUMMARY,
        description=DESCRIPTION,
        closing=lambda: examples(
            "chordless bench boundary --repeat 3 --json boundary.json",
            "chordless bench boundary --arch cuda --markdown",
            "chordless bench boundary roads.txt --ways total,longest",
        ),
    )
    parser.add_argument("graphs", nargs="*", metavar="GRAPH", help="a file or a spec, see chordless help specs")
    parser.add_argument(
        "--ways",
        type=lambda text: tuple(text.split(",")),
        metavar="WAY,...",
        help="only these: total, lengths, longest (default: all)",
    )
    add_common(parser)
    parser.set_defaults(act=act, check=check, parser=parser)


def act(options: argparse.Namespace) -> int:
    """Measure, print the table, return the exit code."""
    from chordless.bench import boundary
    from chordless.bench.measure import machine, probe
    from chordless.bench.report import Report, heading
    from chordless.bench.searches import SearchProcess
    from chordless.commands.bench_acts import print_report, report_file
    from chordless.commands.info import version_of

    ways = options.ways or boundary.WAYS
    unknown = [way for way in ways if way not in boundary.WAYS]
    if unknown:
        raise OptionError(f"--ways {unknown[0]}: there is no such way; there are {', '.join(boundary.WAYS)}")
    device = probe("cpu" if options.arch in ("auto", "reference") else options.arch)
    settings = {"arch": options.arch, "threads": options.threads, "repeat": options.repeat, "ways": list(ways)}
    heads = heading("boundary", boundary.LEGEND, version_of("chordless"), machine(device), **settings)
    report = Report[boundary.BoundaryRow](heads)
    with SearchProcess(options.arch, options.threads, "chordless.bench.boundary_process") as process:
        rows = boundary.rows(options.graphs, ways, options.arch, process)
        report.measure(rows, lambda row: row.measure(options.repeat), report_file(options))
    return print_report(report, options, boundary.COLUMNS, [row.cells() for row in report.rows])
