"""What the commands share that go along a boundary in this process: the graph, the bounds, the progress line."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chordless.commands import options as shared
from chordless.values import any_cycle_length, duration, size

if TYPE_CHECKING:
    from chordless.graphs.load import LoadedGraph
    from chordless.protocol.orders import RunCommand
    from kernels_ti import Graph
    from kernels_ti.blocks.search_space import SearchSpace
    from kernels_ti.boundary.forward_and_back.blocks import Report


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what bounds the cycles, the memory and the time, and what is reported."""
    group = parser.add_argument_group("which cycles")
    shared.add_lengths(group, any_cycle_length)
    shared.add_restriction(group)
    group = parser.add_argument_group("how to run")
    group.add_argument(
        "--memory",
        type=size,
        metavar="SIZE",
        help="limit of the whole process such as 256M or 1.5GiB (default: a share of what is free)",
    )
    group.add_argument("--timeout", type=duration, metavar="TIME", help="give up after this long: 10, 1.5, 90s, 5m, 2h")
    group.add_argument(
        "--arch",
        choices=("auto", "cpu", "cuda", "vulkan"),
        default="auto",
        metavar="ARCH",
        help="where large blocks are computed: cpu, cuda, or auto (default): cpu, but Python where the cores are few",
    )
    group.add_argument("--order", metavar="FILE", help="take the vertices in the order of FILE: all names, one a line")
    group.add_argument("--write-order", metavar="FILE", help="write the order that is used to FILE")
    shared.add_checkpoint(parser)
    group = parser.add_argument_group("progress (on standard error)")
    group.add_argument(
        "--progress",
        choices=shared.PROGRESS,
        default="auto",
        metavar="HOW",
        help="auto: a live line on a terminal; plain: a line every 2 s; none",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="only errors: no progress, no notes")


def loaded_graph(options: argparse.Namespace) -> LoadedGraph:
    """Load the graph, and say what its reader has to tell."""
    from chordless.commands.session import graph_asked_for, print_notes
    from chordless.graphs.readers.columns import WEIGHTS_UNUSED

    loaded = graph_asked_for(options)
    if not options.quiet:
        # Weights of the graph's own file are used.
        weights_are_used = getattr(options, "weight", None) == options.graph
        print_notes([note for note in loaded.notes if not (weights_are_used and WEIGHTS_UNUSED in note)])
    return loaded


def space_of(options: argparse.Namespace, graph: Graph) -> SearchSpace:
    """Return a graph with the bounds on its cycles."""
    from chordless.graphs.vertex_names import edges_named, restriction_named
    from kernels_ti import Options
    from kernels_ti.blocks.search_space import SearchSpace

    through, avoid = restriction_named(graph, options.through, options.through_edge, options.avoid)
    wanted = Options(
        min_length=options.min_length,
        max_length=options.max_length,
        memory=options.memory,
        through=through,
        avoid=avoid,
        avoid_edges=edges_named(graph, options.avoid_edge),
    )
    return SearchSpace(graph, wanted)


def command_of(options: argparse.Namespace) -> RunCommand:
    """Return what ``run.json`` keeps of the options that ``longest`` and ``sample`` share."""
    from chordless.protocol.orders import RunCommand

    return RunCommand(
        **shared.graph_fields(options),
        method="boundary",
        arch=options.arch,
        memory=options.memory,
        order=None if options.order is None else os.path.abspath(options.order),
        write_order=None if options.write_order is None else os.path.abspath(options.write_order),
        checkpoint=options.checkpoint,
        checkpoint_every=options.checkpoint_every or RunCommand.checkpoint_every,
        **shared.restriction_fields(options),
    )


def options_of(command: RunCommand, options: argparse.Namespace) -> argparse.Namespace:
    """Return the options of a command that goes on, with those of ``resume`` that say how to run."""
    known = {
        name: getattr(command, name)
        for name in (
            "arch", "min_length", "max_length", "memory", "order", "write_order", "through", "avoid", "encoding",
            "shortest", "seed", "timeout",
        )
    }  # fmt: skip
    more = {"through_edge": command.through_edges, "avoid_edge": command.avoid_edges}
    return argparse.Namespace(**{**vars(options), **known, **more})


def orders(options: argparse.Namespace, graph: Graph) -> dict[str, Any]:
    """Return the order that is to be taken, and what writes the one that is used, as keywords of the library."""
    from functools import partial

    from chordless.graphs.vertex_order import read_order, write_order

    return {
        "order": None if options.order is None else read_order(options.order, graph),
        "tell_order": None if options.write_order is None else partial(write_order, options.write_order, graph),
    }


@contextlib.contextmanager
def progress(options: argparse.Namespace) -> Iterator[Report | None]:
    """Yield what shows the progress on standard error, and erase the line at the end."""
    if options.quiet or options.progress == "none":
        yield None
        return
    from chordless.commands.progress_lines import BoundaryLine
    from chordless.commands.terminal import is_live

    line = BoundaryLine(options.progress, sys.stderr, live=is_live(sys.stderr))
    try:
        yield line.show
    finally:
        line.clear()
