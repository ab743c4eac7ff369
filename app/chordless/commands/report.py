"""``chordless report``: a run as one page of HTML."""

from __future__ import annotations

import argparse
from pathlib import PurePath

from chordless.files import whole_file
from chordless.pictures import style
from chordless.values import name_of_input, output_file

DESCRIPTION = """\
Write a run as one page of HTML, to be sent, kept or printed: what was asked,
the graph, the counts by length, the evolution chart and the histogram; of a
count --per-vertex or --per-edge those in the most cycles, ranked, and the graph
with its edges as wide as they are used; the longest cycle drawn in the graph
where the run keeps its cycles and the graph is small enough; time, memory,
machine, and the command that repeats it. The page needs no other file and no
network.
"""
EXAMPLES = ("chordless report week/ -o week.html", "chordless report events.jsonl -o run.html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "runs",
        nargs="+",
        type=name_of_input,
        metavar="RUN",
        help="a run directory, or a recording made with --events; or the results of all parts of one search, run "
        "directories or files of `count --json`",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=output_file,
        required=True,
        metavar="FILE.html",
        help="the page; its name ends in .html or .htm",
    )


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for a name that does not end as that of an HTML file."""
    if PurePath(options.output).suffix.lower() not in (".html", ".htm"):
        parser.error(f"-o {options.output}: the name of a page ends in .html or .htm")


def act(options: argparse.Namespace) -> int:
    """Write the page; return the exit code."""
    style.require_matplotlib()

    from chordless.pictures.page import report_page
    from chordless.pictures.recorded_run import read_runs

    with style.in_style():
        page = report_page(read_runs(options.runs))
    with whole_file(options.output) as stream:
        stream.write(page.encode("utf-8"))
    return 0
