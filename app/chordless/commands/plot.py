"""``chordless plot``: a run as a picture for a paper."""

from __future__ import annotations

import argparse
from pathlib import Path, PurePath
from typing import Any

from chordless import values
from chordless.commands.parser import examples

SUMMARY = "draw a run: paths and cycles by length, or one of its cycles"
FORMATS = ("svg", "png", "pdf")

DESCRIPTION = """\
Draw a run as SVG, PNG or PDF. By default the evolution chart: how many
chordless paths |T_t| the search looked at, and how many chordless cycles |C_t|
it found, of each length t. Several runs are drawn into one picture, to compare
them. Equal runs give equal files.
"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = subparsers.add_parser(
        "plot",
        help=SUMMARY,
        description=DESCRIPTION,
        closing=lambda: examples(
            "chordless plot week/ -o evolution.pdf",
            "chordless plot two-ended/ paper/ -o both.svg",
            "chordless plot week/ --histogram -o lengths.svg",
            "chordless plot listed/ --longest -o cycle.png",
        ),
    )
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="a run directory, or a recording made with --events; one or several"
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help=f"the picture; its name ends in .{', .'.join(FORMATS)}"
    )
    group = parser.add_argument_group("what to draw").add_mutually_exclusive_group()
    group.add_argument("--histogram", action="store_true", help="cycles by length, as bars")
    group.add_argument(
        "--cycle",
        type=values.positive,
        metavar="N",
        help="the N-th cycle that the run found, in the graph; so `chordless export` orders its lines",
    )
    group.add_argument("--longest", action="store_true", help="the first of the longest cycles, in the graph")
    group = parser.add_argument_group("scale of the counts").add_mutually_exclusive_group()
    group.add_argument("--linear", action="store_true", help="linear (default of the histogram)")
    group.add_argument("--log", action="store_true", help="logarithmic (default of the evolution chart)")
    parser.set_defaults(act=act, check=check, parser=parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for options that do not go together."""
    if PurePath(options.output).suffix.lower().removeprefix(".") not in FORMATS:
        parser.error(f"-o {options.output}: the name of a picture ends in .{', .'.join(FORMATS)}")
    if options.cycle is None and not options.longest:
        return
    what = "--longest" if options.longest else "--cycle"
    if len(options.runs) > 1:
        parser.error(f"{what} is drawn of one run, not of {len(options.runs)}")
    if options.linear or options.log:
        parser.error(f"{what} draws a graph, which has no scale; leave --linear and --log out")


def act(options: argparse.Namespace) -> int:
    """Draw, write, return the exit code."""
    from chordless.files import whole_file
    from chordless.pictures import style

    style.require_matplotlib()
    with style.in_style():
        figure = _figure(options)
        data = style.file_bytes(figure, PurePath(options.output).suffix.lower().removeprefix("."))
    with whole_file(options.output) as stream:
        stream.write(data)
    return 0


def _figure(options: argparse.Namespace) -> Any:
    if options.cycle is not None or options.longest:
        from chordless.pictures.cycle_drawing import cycle_number, draw_cycle, longest_cycle

        directory = _directory(options.runs[0])
        return draw_cycle(longest_cycle(directory) if options.longest else cycle_number(directory, options.cycle))
    from chordless.pictures.charts import evolution_chart, length_histogram
    from chordless.pictures.recorded_run import read_run

    runs = [read_run(path) for path in options.runs]
    if options.histogram:
        return length_histogram(runs, log=options.log)
    return evolution_chart(runs, log=not options.linear)


def _directory(run: str) -> Path:
    from kernels_ti import OptionError

    path = Path(run)
    if path.is_file():
        raise OptionError(f"{run}: a recording has no cycles to draw; name the run directory")
    return path
