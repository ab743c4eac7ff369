"""``chordless plot``: a run, or a cycle in its graph, as a picture for a paper."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chordless import values
from chordless.commands import options as shared
from chordless.commands.writing import THE_GRAPH, require_other_files
from chordless.files import whole_file
from chordless.pictures import style
from chordless.protocol.recording import NO_RECORDING
from chordless.words.shown import on_terminal
from kernels_ti import OptionError

if TYPE_CHECKING:
    from chordless.cycles.heat import Heat
    from chordless.graphs.load import LoadedGraph
    from chordless.pictures.cycle_drawing import DrawnCycle
    from chordless.pictures.recorded_run import RecordedRun

_MAP = "geojson"
_EAST, _NORTH = 180, 90  # Degrees; GeoJSON has longitudes and latitudes

DESCRIPTION = """\
Draw a run as SVG, PNG or PDF. By default the evolution chart: how many
chordless paths |T_t| the search looked at, and how many chordless cycles |C_t|
it found, of each length t. Several runs are drawn into one picture, to compare
them. Equal runs give equal files.

With --graph a cycle of a file is drawn: what list, sample, export, first, or
longest --json wrote, or a line with the names of a cycle; or a path that paths
--shortest --json or --longest --json wrote. A map (.geojson) has its weight.
With --all a map has all of them, and tells which cycles are faces: blocks of
houses, into which no street leads, dead ends left aside.

With --heat each edge is as wide as its number of cycles: of a run that lists
cycles or counts --per-edge, or with --graph of a file of cycles, or of what
count --per-edge --json wrote.

The lines of a batch, OUT.jsonl, become one picture: a small chart for each
graph.
"""
EXAMPLES = (
    "chordless plot week/ -o evolution.pdf",
    "chordless plot two-ended/ paper/ -o both.svg",
    "chordless plot week/ --histogram -o lengths.svg",
    "chordless plot listed/ --longest -o cycle.png",
    "chordless plot cycles.txt --graph roads.txt --cycle 7 -o cycle.png",
    "chordless plot hole.json --graph city.graphml -o hole.geojson   # for a map",
    "chordless plot blocks.txt --graph city.graphml --all -o blocks.geojson",
    "chordless plot streets.json --graph city.graphml --heat -o heat.svg",
    "chordless plot webs.jsonl -o webs.svg                    # of a batch",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "runs",
        nargs="+",
        type=values.name_of_input,
        metavar="RUN",
        help="a run directory, or a recording made with --events; one or several. With --graph a file of cycles, or "
        "-; or the lines of a batch, OUT.jsonl",
    )
    shared.add(
        parser,
        "-o --output",
        f"the picture; its name ends in .{', .'.join(style.FORMATS)}; of a "
        "cycle, or with --heat, in a graph with coordinates also in .geojson, for a map",
        type=values.output_file,
        required=True,
    )
    group = parser.add_argument_group("reading the graph of a file of cycles")
    shared.add(group, "--graph", "the graph of the cycles: a file or a spec")
    shared.add(group, "--graph-format")
    shared.add_kind(group)
    shared.add(group, "--encoding")
    group = parser.add_argument_group("what to draw").add_mutually_exclusive_group()
    shared.add(group, "--histogram", "cycles by length, as bars")
    shared.add(
        group,
        "--cycle",
        "the N-th cycle that the run found, in the graph; so `chordless export` orders its lines. Of a "
        "file: the N-th of the file (default: the first)",
    )
    shared.add(group, "--longest", "the first of the longest cycles, in the graph")
    shared.add(group, "--all", "all cycles of a file, in a .geojson; `face` is null where another street crosses")
    shared.add(group, "--heat", "how many cycles pass each edge, as its width")
    group = parser.add_argument_group("scale of the counts").add_mutually_exclusive_group()
    shared.add(group, "--linear", "linear (default of the histogram)")
    shared.add(group, "--log", "logarithmic (default of the evolution chart)")


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for options that do not go together."""
    if options.graph is not None and options.histogram:
        parser.error("--histogram is drawn of runs; leave --graph out")
    if options.graph is not None and (folder := next(filter(os.path.isdir, options.runs), None)) is not None:
        parser.error(f"--graph is for a file of cycles; {folder} is a run, which has its graph: leave --graph out")
    if options.all and options.graph is None:
        run = next(filter(os.path.isdir, options.runs), None)
        made = "" if run is None else f"make one with `chordless export {shlex.quote(run)} -o cycles.txt`, and "
        parser.error(f"--all writes all cycles of a file: {made}name their graph, --graph GRAPH")
    if options.all and shared.suffix_of(options.output) != _MAP:
        parser.error(f"-o {options.output}: --all writes a map; name it .{_MAP}")
    if options.graph is not None and options.cycle is None and not (options.longest or options.all or options.heat):
        options.cycle = 1
    is_cycle = options.cycle is not None or options.longest or options.all or options.heat
    suffixes = (*style.FORMATS, *[_MAP] * is_cycle)
    if shared.suffix_of(options.output) not in suffixes:
        parser.error(f"-o {options.output}: the name of a picture ends in .{', .'.join(suffixes)}")
    if options.graph is None and any(shared.reading_of(options).values()):
        parser.error("--graph is missing: how it is read is said without a graph")
    if not is_cycle:
        return
    asked = {"--heat": options.heat, "--longest": options.longest, "--cycle": options.graph is None}
    what = next((name for name, is_asked in asked.items() if is_asked), "--graph")
    if len(options.runs) > 1:
        parser.error(f"{what} is drawn of one run, not of {len(options.runs)}")
    if options.linear or options.log:
        parser.error(f"{what} draws a graph, which has no scale; leave --linear and --log out")


def act(options: argparse.Namespace) -> int:
    """Draw, write, return the exit code."""
    _require_other_files(options)
    if shared.suffix_of(options.output) == _MAP:
        features = _features(options)
        data = json.dumps({"type": "FeatureCollection", "features": features}).encode() + b"\n"
        if any(abs(x) > _EAST or abs(y) > _NORTH for one in features for x, y in one["geometry"]["coordinates"]):
            note = f"{options.output}: its coordinates are those of the graph, no longitudes and latitudes"
            sys.stderr.write(f"{on_terminal(note, sys.stderr)}\n")
    else:
        style.require_matplotlib()
        with style.in_style():
            data = style.file_bytes(_figure(options), shared.suffix_of(options.output))
    with whole_file(options.output) as stream:
        stream.write(data)
    return 0


def _require_other_files(options: argparse.Namespace) -> None:
    """Raise an OptionError if the picture would take the place of a graph, or of what is drawn."""
    from chordless.runs.directory import RunDirectory

    graphs = [options.graph, *(RunDirectory(Path(run)).command().graph for run in options.runs if os.path.isdir(run))]
    inputs = [*((THE_GRAPH, graph) for graph in graphs), *(("what is drawn", run) for run in options.runs)]
    require_other_files(inputs, {"-o": options.output})


def _features(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the lines of a map, as GeoJSON has them."""
    if options.heat:
        from chordless.pictures.participation_drawing import heat_features

        return heat_features(*_heat(options))
    from chordless.pictures.cycle_drawing import all_cycles_of_file, cycle_feature, cycles_features

    if options.all:
        return cycles_features(all_cycles_of_file(options.runs[0], options.graph, **shared.reading_of(options)))
    return [cycle_feature(_cycle(options))]


def _figure(options: argparse.Namespace) -> Any:
    if options.heat:
        from chordless.pictures.participation_drawing import draw_heat

        return draw_heat(*_heat(options), titled=True)
    if options.cycle is not None or options.longest:
        from chordless.pictures.cycle_drawing import draw_cycle

        return draw_cycle(_cycle(options))
    from chordless.pictures.batch_drawing import is_batch, small_multiples
    from chordless.pictures.charts import evolution_chart, length_histogram

    if batches := [path for path in options.runs if is_batch(path)]:
        if len(options.runs) > 1:
            raise OptionError(f"{batches[0]}: a batch is drawn by itself: leave the other runs out")
        return small_multiples(batches[0], log=not options.linear)
    runs = [_recorded_run(path, options) for path in options.runs]
    if options.histogram:
        return length_histogram(runs, log=options.log)
    return evolution_chart(runs, log=not options.linear)


def _recorded_run(path: str, options: argparse.Namespace) -> RecordedRun:
    """Read a run; the error for a file that is no recording tells how a file of cycles is drawn."""
    from chordless.pictures.recorded_run import read_run

    try:
        return read_run(path)
    except OptionError as error:
        if NO_RECORDING not in str(error) or options.histogram or len(options.runs) > 1:
            raise
        raise OptionError(f"{error}; to draw a cycle of a file of cycles, name their graph: --graph GRAPH") from error


def _cycle(options: argparse.Namespace) -> DrawnCycle:
    from chordless.pictures.cycle_drawing import cycle_number, cycle_of_file, longest_cycle

    if options.graph is not None:
        return cycle_of_file(options.runs[0], options.graph, options.cycle, **shared.reading_of(options))
    run, directory = options.runs[0], Path(options.runs[0])
    if os.path.isfile(directory):
        raise OptionError(
            f"{run}: a recording has no cycles to draw; name the run directory, or say --graph for a file of cycles"
        )
    return longest_cycle(directory) if options.longest else cycle_number(directory, options.cycle)


def _heat(options: argparse.Namespace) -> tuple[LoadedGraph, Heat]:
    if options.graph is None:
        from chordless.pictures.participation_drawing import heat_of_run

        return heat_of_run(options.runs[0])
    from chordless.cycles.heat import heat_of_file
    from chordless.graphs.load import load_graph

    reading = shared.reading_of(options)
    loaded = load_graph(options.graph, **reading)
    return loaded, heat_of_file(options.runs[0], loaded.graph, options.graph, **reading)
