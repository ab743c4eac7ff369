"""``chordless plot``: a run, or a cycle in its graph, as a picture for a paper."""

from __future__ import annotations

import argparse
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from chordless import values
from chordless.commands import options as shared
from chordless.commands.parser import examples

if TYPE_CHECKING:
    from chordless.pictures.cycle_drawing import DrawnCycle

SUMMARY = "draw a run: paths and cycles by length, or a cycle in its graph"
FORMATS = ("svg", "png", "pdf")
_MAP = "geojson"

DESCRIPTION = """\
Draw a run as SVG, PNG or PDF. By default the evolution chart: how many
chordless paths |T_t| the search looked at, and how many chordless cycles |C_t|
it found, of each length t. Several runs are drawn into one picture, to compare
them. Equal runs give equal files.

With --graph a cycle of a file is drawn: what list, sample, export, first, or
longest --json wrote, or a line with the names of a cycle.
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
            "chordless plot cycles.txt --graph roads.txt --cycle 7 -o cycle.png",
            "chordless plot hole.json --graph city.graphml -o hole.geojson   # for a map",
        ),
    )
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="a run directory, or a recording made with --events; one or several. With --graph a file of cycles, or -",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help=f"the picture; its name ends in .{', .'.join(FORMATS)}; of a "
        "cycle in a graph with coordinates also in .geojson, for a map",
    )
    group = parser.add_argument_group("reading the graph of a file of cycles")
    group.add_argument("--graph", metavar="GRAPH", help="the graph of the cycles: a file or a spec")
    shared.add_kind(group)
    shared.add_encoding(group)
    group = parser.add_argument_group("what to draw").add_mutually_exclusive_group()
    group.add_argument("--histogram", action="store_true", help="cycles by length, as bars")
    group.add_argument(
        "--cycle",
        type=values.positive,
        metavar="N",
        help="the N-th cycle that the run found, in the graph; so `chordless export` orders its lines. Of a "
        "file: the N-th of the file (default: the first)",
    )
    group.add_argument("--longest", action="store_true", help="the first of the longest cycles, in the graph")
    group = parser.add_argument_group("scale of the counts").add_mutually_exclusive_group()
    group.add_argument("--linear", action="store_true", help="linear (default of the histogram)")
    group.add_argument("--log", action="store_true", help="logarithmic (default of the evolution chart)")
    parser.set_defaults(act=act, check=check, parser=parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for options that do not go together."""
    if options.graph is not None and options.histogram:
        parser.error("--histogram is drawn of runs; leave --graph out")
    if options.graph is not None and options.cycle is None and not options.longest:
        options.cycle = 1
    is_cycle = options.cycle is not None or options.longest
    if _suffix(options) not in (*FORMATS, *[_MAP] * is_cycle):
        parser.error(f"-o {options.output}: the name of a picture ends in .{', .'.join(FORMATS)}")
    if options.graph is None and (options.simplify or options.directed or options.multigraph or options.encoding):
        parser.error("--graph is missing: how it is read is said without a graph")
    if not is_cycle:
        return
    what = "--longest" if options.longest else "--cycle" if options.graph is None else "--graph"
    if len(options.runs) > 1:
        parser.error(f"{what} is drawn of one run, not of {len(options.runs)}")
    if options.linear or options.log:
        parser.error(f"{what} draws a graph, which has no scale; leave --linear and --log out")


def act(options: argparse.Namespace) -> int:
    """Draw, write, return the exit code."""
    from chordless.files import whole_file
    from chordless.pictures import style

    if _suffix(options) == _MAP:
        from chordless.pictures.cycle_drawing import cycle_geojson

        data = cycle_geojson(_cycle(options))
    else:
        style.require_matplotlib()
        with style.in_style():
            data = style.file_bytes(_figure(options), _suffix(options))
    with whole_file(options.output) as stream:
        stream.write(data)
    return 0


def _figure(options: argparse.Namespace) -> Any:
    if options.cycle is not None or options.longest:
        from chordless.pictures.cycle_drawing import draw_cycle

        return draw_cycle(_cycle(options))
    from chordless.pictures.charts import evolution_chart, length_histogram
    from chordless.pictures.recorded_run import read_run

    runs = [read_run(path) for path in options.runs]
    if options.histogram:
        return length_histogram(runs, log=options.log)
    return evolution_chart(runs, log=not options.linear)


def _suffix(options: argparse.Namespace) -> str:
    return PurePath(options.output).suffix.lower().removeprefix(".")


def _cycle(options: argparse.Namespace) -> DrawnCycle:
    from chordless.pictures.cycle_drawing import cycle_number, cycle_of_file, longest_cycle

    if options.graph is not None:
        reading = shared.fields_of(options, "simplify", "directed", "multigraph", "encoding")
        return cycle_of_file(options.runs[0], options.graph, options.cycle, **reading)
    directory = _directory(options.runs[0])
    return longest_cycle(directory) if options.longest else cycle_number(directory, options.cycle)


def _directory(run: str) -> Path:
    from kernels_ti import OptionError

    path = Path(run)
    if path.is_file():
        raise OptionError(
            f"{run}: a recording has no cycles to draw; name the run directory, or say --graph for a file of cycles"
        )
    return path
