"""``chordless first``: find one chordless cycle of 4 or more vertices, or show that there is none."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Hashable, Sequence
from pathlib import Path

from chordless.commands import options as shared
from chordless.commands.parser import USAGE_EXIT_CODE
from chordless.commands.session import graph_asked_for, run_engine
from chordless.commands.terminal import ending
from chordless.protocol.orders import RunCommand
from chordless.words.numbers import lengths_text
from chordless.words.shown import names_line, on_terminal, silence
from kernels_ti import ChordlessError, EngineError
from kernels_ti.folders import temporary_folder

SHORTEST_HOLE = 4
NONE_EXIT_CODE = 1

DESCRIPTION = """\
Print one chordless cycle of 4 or more vertices: the names of its vertices in
the order of the cycle, separated by blanks (by TABs if a name has white space).
If there is none, the graph is chordal, and a note on standard error says so.
The time is linear in the size of the graph, however many cycles it has.

As with grep, the exit code is 0 if there is such a cycle, 1 if there is none,
and 2 if the graph cannot be read or the search failed.

The proof that a graph is not chordal is the cycle. The proof that it is, with
--certificate, is a perfect elimination ordering: all vertices in an order in
which the later neighbours of each are adjacent to one another.
"""
EXAMPLES = (
    "chordless first petersen",
    "chordless first complete:5 --certificate",
    "chordless first web.net -q; test $? -eq 1 && echo chordal",
    "chordless first roads.txt --min-length 20",
    "chordless first web.net --odd   # an odd hole",
    "chordless first hypercube:6 --length 26 --symmetry   # a longest coil",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_graph(parser)
    shared.add(parser, "--json", "print one JSON object; null stands for what was not looked for or does not exist")
    shared.add(parser, "--certificate", "for a chordal graph: print a perfect elimination ordering")
    group = parser.add_argument_group("other lengths (searched for as `chordless list` does, which may take long)")
    shared.add_lengths(group)
    shared.add(group, "--symmetry")
    shared.add_device(group)
    shared.add_cluster(group)
    shared.add_reporting(parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for options that do not go together."""
    shared.settle_lengths(parser, options, SHORTEST_HOLE)
    shared.check_cluster(parser, options)
    shared.check_symmetry(parser, options)
    others = shared.given(parser, options, "events", "cluster", "symmetry")
    if others and _asks_for_any_hole(options):
        parser.error(
            f"{others[0]} needs other lengths, such as --length 8: some cycle of {SHORTEST_HOLE} or more vertices is "
            "found without a search"
        )
    if options.certificate and not _asks_for_any_hole(options):
        parser.error(f"--certificate proves that no cycle has {SHORTEST_HOLE} or more vertices: leave out the lengths")


def _asks_for_any_hole(options: argparse.Namespace) -> bool:
    """Return whether any cycle of 4 or more vertices will do, which a linear-time test of chordality finds."""
    return options.min_length == SHORTEST_HOLE and options.max_length is None and options.parity is None


def act(options: argparse.Namespace) -> int:
    """Look for a cycle, print it, return the exit code."""
    try:
        exit_code = _chordality(options) if _asks_for_any_hole(options) else _engine(options)
        sys.stdout.flush()
        return exit_code
    except BrokenPipeError:
        raise
    except OSError as error:
        silence(sys.stdout)
        failure: ChordlessError = EngineError(f"cannot write standard output: {error.strerror}")
    except MemoryError:
        failure = EngineError("out of memory")
    except ChordlessError as error:
        failure = error
    # Exit code 1 is an answer here: there is no such cycle.
    if failure.exit_code == NONE_EXIT_CODE:
        failure.exit_code = USAGE_EXIT_CODE
    raise failure


def _chordality(options: argparse.Namespace) -> int:
    from kernels_ti import is_chordal

    loaded = graph_asked_for(options)
    if not loaded.graph.is_simple and not options.certificate:
        return _engine(options)
    found = is_chordal(loaded.graph)
    if options.json:
        ordering = found.elimination_ordering if options.certificate else None
        size = {"n": loaded.graph.n, "m": loaded.graph.m}
        _print_object(options, loaded.title, size, found.hole, found.chordal, ordering)
    elif found.hole is not None:
        _print_line(found.hole)
    elif options.certificate and found.elimination_ordering:
        _print_line(found.elimination_ordering)
    if found.chordal and not options.quiet:
        title = on_terminal(loaded.title, sys.stderr)
        sys.stderr.write(f"{title} is chordal: no chordless cycle of it has 4 or more vertices\n")
    return NONE_EXIT_CODE if found.chordal else 0


def _engine(options: argparse.Namespace) -> int:
    with temporary_folder("chordless-") as folder:
        output = Path(folder) / "cycle.jsonl"
        command = shared.order_of(RunCommand, options, limit=1, output=str(output), output_format="jsonl")
        finished, exit_code = run_engine(command, options)
        line = output.read_text(encoding="utf-8").split("\n")[0]
    cycle = json.loads(line) if line else None
    if options.json and (cycle or finished.complete):
        size = {"n": finished.n, "m": finished.m}
        _print_object(options, finished.graph, size, cycle, _is_chordal(cycle, options), None)
    elif cycle is not None:
        _print_line(cycle)
    if cycle is not None:
        return 0
    if not options.quiet:
        lengths_asked = lengths_text(options.min_length, options.max_length, options.parity) or "cycles"
        none = f"{on_terminal(finished.graph, sys.stderr)} has no chordless {lengths_asked}"
        sys.stderr.write(f"{none if finished.complete else f'not complete: {ending(finished)}; none found'}\n")
    return NONE_EXIT_CODE if finished.complete else exit_code


def _is_chordal(cycle: Sequence[Hashable] | None, wanted: argparse.Namespace) -> bool | None:
    """Return whether the graph is chordal, None if the cycle found of the wanted lengths (or none) does not tell."""
    if cycle is None:
        is_any_hole = wanted.min_length <= SHORTEST_HOLE and (wanted.max_length, wanted.parity) == (None, None)
        return True if is_any_hole else None
    return False if len(cycle) >= SHORTEST_HOLE else None


def _print_object(
    wanted: argparse.Namespace,
    title: str,
    size: dict[str, int],
    cycle: Sequence[Hashable] | None,
    chordal: bool | None,
    ordering: Sequence[Hashable] | None,
) -> None:
    from chordless.graphs.vertex_names import json_name

    found = {
        "graph": title,
        **size,
        "min_length": wanted.min_length,
        "max_length": wanted.max_length,
        **({"parity": wanted.parity} if wanted.parity else {}),
        "cycle": None if cycle is None else list(map(json_name, cycle)),
        "chordal": chordal,
        "elimination_ordering": None if ordering is None else list(map(json_name, ordering)),
    }
    print(json.dumps(found))


def _print_line(names: Sequence[Hashable]) -> None:
    print(names_line(names, sys.stdout))
