"""The act of ``chordless bench``: measure, print the table, then what is wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chordless.bench.layout import Column
    from chordless.bench.report import Report

STANDARD_OUTPUT = "-"
_WIDTH = 120
_PROBLEM_EXIT_CODE = 1


def act(options: argparse.Namespace) -> int:
    """Measure, print the table, return the exit code; the module of the bench has its rows, legend and columns."""
    from contextlib import ExitStack
    from importlib import import_module

    from chordless.bench.report import Report, heading

    bench = import_module(f"chordless.bench.{options.bench}")
    with ExitStack() as stack:
        made = bench.prepared(options, stack)
        settings = {"arch": options.arch, "threads": options.threads, "repeat": options.repeat, **made.settings}
        begun = heading(options.bench, bench.LEGEND, made.machine, **settings)
        report = Report(begun, notes=[*made.notes])
        report.measure(made.rows, options.repeat, None if options.json == STANDARD_OUTPUT else options.json)
        made.after(report)
    return print_report(report, options, bench.COLUMNS)


def print_report(report: Report, options: argparse.Namespace, columns: Sequence[Column]) -> int:
    """Print what was measured, then what is wrong; return the exit code."""
    import json

    from chordless.bench.layout import markdown_table, text_table
    from chordless.commands.session import InterruptedRunError
    from chordless.words.shown import error_line, on_terminal

    if report.interrupted is not None and not report.rows:
        raise InterruptedRunError(report.interrupted, "interrupted, nothing to report")
    if options.json not in (None, STANDARD_OUTPUT):
        report.save(options.json)
    if options.json == STANDARD_OUTPUT:
        print(json.dumps(report.to_json()))
    else:
        make = markdown_table if options.markdown else text_table
        lines = [line for row in report.rows for line in row.cells()]
        for line in (*make(columns, lines), "", *_lines_below(report, options.markdown)):
            print(on_terminal(line, sys.stdout))
    sys.stdout.flush()
    for problem in report.problems:
        sys.stderr.write(f"chordless: error: {error_line(problem, sys.stderr)}\n")
    if report.interrupted is not None:
        return 128 + report.interrupted
    return _PROBLEM_EXIT_CODE if report.problems else 0


def _lines_below(report: Report, markdown: bool) -> Iterator[str]:
    """Yield the lines below the table: machine and date, the meaning of the columns, notes."""
    import textwrap

    heading, machine = report.heading, report.heading["machine"]
    where = f"{machine['cpu']}, {machine['cores']} cores"
    if machine["device"] != machine["cpu"]:
        where = f"{machine['device']} ({machine['arch']}); {where}"
    repeat = heading["settings"]["repeat"]
    runs = "a single run" if repeat == 1 else f"medians of up to {repeat} runs"
    ended = "; interrupted, not complete" if report.interrupted is not None else ""
    said = [f"{where}; chordless {heading['chordless']}, {heading['date'][:10]}, {runs}{ended}.", heading["legend"]]
    for text in (*said, *report.notes):
        yield from [f"- {text}"] if markdown else textwrap.wrap(text, _WIDTH)
