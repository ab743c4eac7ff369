"""``--up-to-symmetry`` of ``chordless count`` and ``chordless list``: the orbits of the cycles."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chordless.commands import options as shared
from chordless.commands.session import graph_asked_for
from chordless.commands.terminal import title_of
from chordless.commands.writing import THE_GRAPH, require_other_files, write_lines
from chordless.protocol.orders import RunCommand
from chordless.values import output_file
from chordless.words.numbers import seconds_text
from chordless.words.shown import on_terminal, separator_of

if TYPE_CHECKING:
    from kernels_ti import CycleOrbits

_WITH_OTHER_SEARCHES = (
    *("part", "limit", "arch", "threads", "memory", "cluster", "gpus", "expansion"),
    *("checkpoint", "checkpoint_every", "events", "proof", "sorted", "per_vertex", "per_edge", "method", "total_only"),
    *("order", "write_order", "symmetry", "directed", "multigraph"),
)
"""Options that a search for orbits does not have."""


def add(group: Any, what: str) -> None:
    """Add the option; `what` says what is done with an orbit."""
    shared.add(
        group,
        "--up-to-symmetry",
        f"{what} under the automorphisms of the graph, for some million cycles at the most "
        "(pip install 'chordless[symmetry]')",
    )


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for options that cannot be combined with it; the lengths are settled."""
    for option in shared.given(parser, options, *_WITH_OTHER_SEARCHES):
        parser.error(f"--up-to-symmetry finds all orbits of a simple graph in one piece: leave {option} out")
    output = getattr(options, "output", "-")
    try:
        output_file(output)
    except argparse.ArgumentTypeError as error:
        parser.error(f"-o: {error}")
    if shared.suffix_of(output) not in ("", "txt", "jsonl"):
        parser.error(f"-o {output}: orbits are written as text or JSON lines; name it .txt or .jsonl")


def count(command: RunCommand, options: argparse.Namespace) -> int:
    """Print the number of orbits and of cycles by length, return the exit code."""
    began = time.perf_counter()
    title, size, found = _found(options)
    seconds = time.perf_counter() - began
    if options.json:
        result = {
            "graph": title,
            **size,
            "automorphisms": found.automorphisms,
            "orbits": len(found.sizes),
            "orbits_by_length": found.orbits_by_length,
            "total": sum(found.sizes),
            "by_length": found.by_length,
            "seconds": round(seconds, 6),
        }
        print(json.dumps(result))
        return 0
    rows = [("length", "orbits", "cycles")]
    rows += [(f"{length:,}", f"{found.orbits_by_length[length]:,}", f"{k:,}") for length, k in found.by_length.items()]
    rows += [("total", f"{len(found.sizes):,}", f"{sum(found.sizes):,}")]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(on_terminal(title_of(title, command), sys.stdout))
    for row in rows:
        print("  " + "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))
    print(f"  {seconds_text(seconds)}, {found.automorphisms:,} automorphisms")
    return 0


def list_orbits(options: argparse.Namespace) -> int:
    """Write the size and one cycle of each orbit, return the exit code."""
    if options.output != "-":
        require_other_files([(THE_GRAPH, options.graph)], {"-o": options.output})
    as_json = shared.suffix_of(options.output) == "jsonl"
    write_lines(_lines(_found(options)[2], as_json=as_json), options.output)
    return 0


def _found(options: argparse.Namespace) -> tuple[str, dict[str, int], CycleOrbits]:
    """Return the title of the graph, its numbers of vertices and edges, and the orbits of its cycles."""
    from chordless.graphs.vertex_names import edge_named, restriction_named
    from kernels_ti import cycle_orbits

    loaded = graph_asked_for(options)
    graph = loaded.graph
    through, avoid = restriction_named(graph, options.through, options.through_edges, options.avoid)
    avoid_edges = [edge_named(graph, edge) for edge in options.avoid_edges]
    found = cycle_orbits(
        graph,
        min_length=options.min_length,
        max_length=options.max_length,
        parity=options.parity,
        through=[graph.names[v] for v in through],
        avoid=[graph.names[v] for v in avoid],
        avoid_edges=[(graph.names[u], graph.names[v]) for u, v in avoid_edges],
        timeout=options.timeout,
        progress=not options.quiet and options.progress != "none",
    )
    return loaded.title, {"n": graph.n, "m": graph.m}, found


def _lines(found: CycleOrbits, *, as_json: bool) -> Iterator[str]:
    from chordless.graphs.vertex_names import json_name

    separator = separator_of(v for cycle in found.cycles for v in cycle)
    for size, cycle in zip(found.sizes, found.cycles, strict=True):
        if as_json:
            yield json.dumps({"orbit": size, "cycle": [json_name(v) for v in cycle]})
        else:
            yield f"{size}\t{separator.join(map(str, cycle))}"
