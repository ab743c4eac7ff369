"""``chordless overlap``: from a directed food web to its niche overlap graph, and what there is to say of that."""

from __future__ import annotations

import argparse
import glob
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import IO, Any, cast

from chordless.batch.jobs import checked, expand, jobs_of
from chordless.batch.output import read_lines
from chordless.batch.tables import TableFormat, write_csv_rows, write_rows
from chordless.commands import options as shared
from chordless.commands.session import (
    FAILED_EXIT_CODE,
    STOPPED_EXIT_CODE,
    print_notes,
    run_batch,
    run_engine,
    warn_of_missing_types,
)
from chordless.commands.writing import require_other_files, require_writable, write_graph
from chordless.cycles.columns import require_columns
from chordless.files import text_of, whole_file
from chordless.graphs import overlap_report
from chordless.graphs.overlap import FoodWeb, read_food_web, warning_of_missing_types
from chordless.graphs.readers.incoming import comes_through_a_pipe
from chordless.protocol.events import Finished
from chordless.protocol.orders import BatchCommand, BatchJob, RunCommand
from chordless.values import ALL_LIVING, SHORTEST_HOLE, output_file
from chordless.words.shown import error_line, lines_on_terminal, on_terminal, silence
from kernels_ti import GraphError, is_chordal
from kernels_ti.folders import temporary_folder
from kernels_ti.options import require_threads

TABLES = ("csv", "jsonl")
SPECIES_TABLES = ("csv", "parquet")

DESCRIPTION = """\
Write the niche overlap graph of a directed food web as an edge list: two
species are joined if they share a living prey. An arc from a to b in the web
means that b eats a. The web is a Pajek network; a table with prey in rows and
predators in columns, such as Excel's CSV; a list with the heading
`prey,predator` or `consumer,resource`, or of lines `prey -> predator`; or a
directed graph in another format (chordless help formats).

With --report, say of that graph what an ecologist asks: how many species and
niche overlap edges there are, how many holes (chordless cycles of 4 or more
species) by length, which species lie in most of them, and whether the species
can be ordered along one line of niches, and in which order. That is so if the
graph is an interval graph (Cohen 1978). For this it is necessary that there is
no hole, but not sufficient: there must be no asteroidal triple either
(Lekkerkerker and Boland 1962), and that is checked as well.

Several webs, or a pattern in quotes ('webs/*.net', ** goes through all
folders), become one table with a row for each web: living species, feeding
links between them, species that share prey, niche overlap edges, whether the
graph is an interval graph, triangles, holes, chordless cycles in all, and the
length of the longest. It is CSV; with --json, or in a FILE.jsonl, a JSON object
to a line.
"""
EXAMPLES = (
    "chordless overlap Mondego.net -o niche.txt",
    "chordless overlap web.net --types types.clu | chordless count -",
    "chordless overlap Everglades.net --report",
    "chordless overlap predation.csv --report",
    "chordless overlap Everglades.net --json | jq '.species[0]'",
    "chordless overlap 'webs/*.net' -o webs.csv",
    "chordless overlap 'webs/*.net' --species species.csv   # holes of each species",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "webs", metavar="WEB", nargs="+", help="the file of a food web; several, or a pattern, for a table"
    )
    shared.add(
        parser,
        "--types",
        "a Pajek partition with the type of each vertex, 1 for the living ones "
        "(default: the .clu beside the web); none: every vertex is living",
        metavar="WEB.clu",
    )
    shared.add_output(
        parser,
        "write the graph to FILE, in the format of its suffix, such as .txt or .g6 (default, or -: an edge list to "
        "standard output, unless there is a report); of several webs the table, to a FILE.csv or FILE.jsonl",
        default=None,
    )
    shared.add(parser, "--report", "print a report on the graph of each web")
    shared.add(parser, "--json", "print that report, or the rows of the table, as JSON")
    shared.add(
        parser,
        "--species",
        "print the report, and write a table, FILE.csv or FILE.parquet: how many holes of each length go through "
        "each species of each web",
        type=output_file,
        metavar="FILE",
    )
    shared.add(parser, "--encoding")
    group = parser.add_argument_group("how the holes of a report or a table are counted")
    shared.add_stops(group, "stop once N holes, or N cycles in each row of a table, or more were found")
    shared.add_device(group)
    shared.add_reporting(parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for options that do not go together."""
    options.many = len(options.webs) > 1 or is_pattern(options.webs[0])
    if options.species is not None:
        options.report = True
        if shared.suffix_of(options.species) not in SPECIES_TABLES:
            parser.error(f"--species {options.species}: the table of species is written to a .csv or a .parquet file")
    if options.many:
        _check_many(parser, options)
        return
    options.report = options.report or options.json
    if options.report:
        if options.output == shared.STANDARD_OUTPUT:
            parser.error("-o -: standard output has the report; write the graph to a file")
        return
    for option in shared.given(parser, options, "limit", "timeout", "threads", "memory", "events", "arch"):
        parser.error(f"{option} is for the holes of a report; add --report")


def _check_many(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if options.types not in (None, ALL_LIVING):
        parser.error(f"--types {options.types} is of one web; of several, each has its .clu beside it")
    if options.output in (None, shared.STANDARD_OUTPUT):
        return
    if options.report or options.json:
        given = "--species" if options.species else "--report" if options.report else "--json"
        parser.error(f"-o {options.output} gets the table; leave {given} out")
    if shared.suffix_of(options.output) not in TABLES:
        parser.error(f"-o {options.output}: the table of several webs is written to a file.csv or a file.jsonl")


def is_pattern(web: str) -> bool:
    """Return whether a name stands for the files that match it."""
    return glob.has_magic(web) and not os.path.lexists(web)


def act(options: argparse.Namespace) -> int:
    """Transform, write, report, return the exit code."""
    if options.species is not None:
        require_other_files([("the food web", web) for web in options.webs], {"--species": options.species})
        if shared.suffix_of(options.species) == "parquet":
            require_columns("parquet")
    rows: list[dict[str, Any]] = []
    exit_code = _act_on_many(options, rows) if options.many else _act_on_one(options.webs[0], options, rows)
    if options.species is not None:
        write_rows(
            rows,
            overlap_report.SPECIES_COLUMNS,
            options.species,
            cast("TableFormat", shared.suffix_of(options.species)),
        )
    return exit_code


def _act_on_many(options: argparse.Namespace, rows: list[dict[str, Any]]) -> int:
    webs = [path for web in options.webs for path in (expand(web) if is_pattern(web) else [web])]
    if not options.report:
        return print_table(webs, options)
    exit_code = 0
    for i, web in enumerate(webs):
        try:
            ended = _act_on_one(web, options, rows, above="" if i == 0 or options.json else "\n")
        except GraphError as error:
            # The other webs are reported all the same.
            sys.stderr.write(f"chordless: error: {error_line(str(error), sys.stderr)}\n")
            ended = FAILED_EXIT_CODE
        exit_code = max(exit_code, ended)
    return exit_code


def _act_on_one(path: str, options: argparse.Namespace, rows: list[dict[str, Any]], above: str = "") -> int:
    """Transform, write and report one web; take the rows of its species."""
    output = shared.STANDARD_OUTPUT if options.output is None and not options.report else options.output
    if output is not None:
        require_writable(output)
    files = {"-o": None if output == shared.STANDARD_OUTPUT else output, "--events": options.events}
    require_other_files([("the file of the food web", path), ("the file of --types", options.types)], files)
    web = read_food_web(path, options.types, options.encoding)
    if web.lacks_types and not options.quiet:
        sys.stderr.write(f"warning: {warning_of_missing_types([path])}\n")
    chordal = options.report and bool(is_chordal(web.overlap))
    # A search for holes that are not there is made for its recording.
    is_counted = options.report and not (chordal and options.events is None)
    # An engine that reads the file as well tells the notes on it.
    told_later = is_counted and not comes_through_a_pipe(path)
    print_notes([] if options.quiet or told_later else web.notes)
    if output is not None:
        notes = write_graph(web.overlap, output, [f"niche overlap graph of {PurePath(path).name}"])
        print_notes([] if options.quiet else notes)
    if not options.report:
        if options.types is None and web.types_path is not None and not options.quiet:
            sys.stderr.write(f"types of the vertices: {on_terminal(web.types_path, sys.stderr)}\n")
        return 0

    exit_code = 0
    counted = _count_holes(path, web, options) if is_counted else None
    if chordal or counted is None:
        report = overlap_report.report_without_holes(path, web)
    else:
        finished, exit_code = counted
        report = overlap_report.report_of_holes(path, web, finished)
    rows.extend(overlap_report.species_rows(report))
    lines = [json.dumps(report.to_object())] if options.json else overlap_report.report_lines(report)
    try:
        print(above + "\n".join(on_terminal(line, sys.stdout) for line in lines), flush=True)
    except BrokenPipeError:
        if options.species is None:
            raise
        silence(sys.stdout)  # The table of species is made all the same.
        exit_code = max(exit_code, STOPPED_EXIT_CODE)
    return exit_code


def _count_holes(path: str, web: FoodWeb, options: argparse.Namespace) -> tuple[Finished, int]:
    about: dict[str, Any] = {"min_length": SHORTEST_HOLE, "per_vertex": True, "output": None}
    if not comes_through_a_pipe(path):
        return run_engine(shared.order_of(RunCommand, options, graph=path, overlap=True, **about), options)
    with temporary_folder("chordless-") as folder:
        # The pipe has been read; the engine gets a copy of the graph, without names.
        copy = os.path.join(folder, "overlap.g6")
        write_graph(web.overlap, copy, ())
        return run_engine(shared.order_of(RunCommand, options, graph=copy, types=None, encoding=None, **about), options)


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
    with temporary_folder("chordless-") as folder:
        lines = str(Path(folder, "lines.jsonl"))
        command = shared.order_of(BatchCommand, options, jobs=jobs, output=lines)
        outcome = run_batch(command, options)
        rows = [_row(line, options.types, options.encoding) for line in read_lines(lines)]
    if options.output in (None, shared.STANDARD_OUTPUT):
        _write(rows, lines_on_terminal(sys.stdout), as_json=options.json)
    else:
        with whole_file(options.output) as file, text_of(file) as stream:
            _write(rows, stream, as_json=shared.suffix_of(options.output) == "jsonl")
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
    lengths = [int(length) for length, count in line["by_length"].items() if count]
    return {
        **row,
        **overlap_report.facts_of(web),
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
