"""Options that several subcommands share, and the checks that belong to them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import fields
from pathlib import PurePath
from typing import Any, TypeVar

from chordless import values
from chordless.runs.command_words import option_of
from chordless.values import SHORTEST_CYCLE
from kernels_ti import OptionError
from kernels_ti.choices import ARCHES, EXPANSIONS, METHODS, PARITIES
from kernels_ti.errors import in_words_of_command_line

STANDARD_OUTPUT = "-"
NOT_ON_VULKAN = "--method boundary needs 64-bit atomics, which Taichi does not have on Vulkan: choose cpu or cuda"
_Order = TypeVar("_Order")
_KINDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("-k --limit --sample --cycle", {"type": values.positive, "metavar": "N"}),
    ("--length --min-length --max-length", {"type": values.any_cycle_length, "metavar": "N"}),
    ("--timeout --checkpoint-every --seconds", {"type": values.duration, "metavar": "TIME"}),
    ("--memory", {"type": values.size, "metavar": "SIZE"}),
    ("--seed", {"type": values.seed, "metavar": "N"}),
    ("--threads", {"type": values.thread_count, "metavar": "N"}),
    ("--gpus", {"type": values.whole_numbers, "metavar": "N,N.."}),
    ("--order", {"type": values.name_of_input, "metavar": "FILE"}),
    ("--write-order --events", {"type": values.file_beside, "metavar": "FILE"}),
    ("--method", {"choices": METHODS, "default": "auto", "metavar": "HOW"}),
    ("--arch", {"metavar": "ARCH"}),
    ("--graph", {"metavar": "GRAPH"}),
    ("--weight", {"metavar": "FILE|NAME"}),
    ("-o", {"metavar": "FILE"}),
    ("--format --graph-format", {"dest": "file_format", "metavar": "FORMAT"}),
    ("--encoding", {"metavar": "NAME"}),
    ("--progress", {"choices": ("auto", "plain", "none"), "default": "auto", "metavar": "HOW"}),
)
"""How the values of options are read, in every command."""
_KIND_OF = {name: how for names, how in _KINDS for name in names.split()}
_TEXTS = {
    "--json": "print one JSON object",
    "--encoding": "of the text in the file: latin-1, utf-16 and the like (default: utf-8)",
    "--graph-format": "format of the graph, see chordless help formats (default: by its name and content)",
    "--symmetry": "search one path of each orbit under the automorphisms of the graph: far less work for hypercubes, "
    "tori and other symmetric graphs (pip install 'chordless[symmetry]')",
    "--proof": "also make a hash of all cycles that does not depend on their order: the sum of their SHA-256, which "
    "a short program makes again from a listing (see the documentation, Output)",
}
"""The help of options that mean the same in every command."""


def add(group: Any, names: str, text: str | None = None, **more: Any) -> None:
    """Add an option with its help. `more` is beside what is known of its values; where neither is, it has none."""
    first = names.split()[0]
    how = {**_KIND_OF.get(first, {}), **more} or {"action": "store_true"}
    group.add_argument(*names.split(), help=text or _TEXTS[first], **how)


def add_graph(parser: Any) -> None:
    """Add GRAPH and how to read it."""
    parser.below.append(lambda: "GRAPH: see `chordless help specs` and `chordless help formats`")
    parser.add_argument("graph", metavar="GRAPH", help="a file, a spec such as grid:7x10, or - for standard input")
    group = parser.add_argument_group("reading the graph")
    add(group, "--format", "format of the file (default: by its name and content)")
    add_kind(group)
    add(group, "--encoding")


def fields_of(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the options of these names as arguments of a function, which have the same names."""
    return {name: getattr(options, name) for name in names}


def reading_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return how the graph of a file of cycles is read, as arguments of a function: `add_graph_format`, and so on."""
    return fields_of(options, "simplify", "directed", "multigraph", "encoding", "file_format")


def order_of(kind: type[_Order], options: argparse.Namespace, **more: Any) -> _Order:
    """Make an order to the engine: `more` has some of its fields, the options of their names give the others."""
    names = {item.name for item in fields(kind)}  # type: ignore[arg-type]
    given = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(options).items()
        if name in names and value is not None
    }
    return kind(**{**given, **more})


def given(parser: argparse.ArgumentParser, options: argparse.Namespace, *names: str) -> list[str]:
    """Return those of some options that do not have their defaults, as a user writes them."""
    return [option_of(name) for name in names if getattr(options, name, None) != parser.get_default(name)]


def add_kind(group: Any) -> None:
    """Add what kind of graph is searched: the underlying simple one, or what the file has and may not say."""
    add(
        group,
        "--underlying --simplify",
        "drop self-loops, repeated edges and directions: the underlying simple graph is searched (both names mean "
        "the same)",
        dest="simplify",
        action="store_true",
    )
    add(group, "--directed", "each edge leads from its first vertex to its second (for formats that do not say)")
    add(group, "--multigraph", "keep self-loops and repeated edges")


def add_search(parser: argparse.ArgumentParser, *, limit_help: str, things: str = "cycles") -> None:
    """Add what bounds the search of cycles, or of paths, and where it runs."""
    group = parser.add_argument_group(f"which {things}, and when to stop")
    add_lengths(group, things)
    add(
        group,
        "--part",
        f"search only the I-th of N parts; each of the {things} is in exactly one part, so the counts add up",
        type=values.part,
        metavar="I/N",
    )
    add_restriction(group, things)
    add_stops(group, limit_help)
    group = parser.add_argument_group("how to run")
    add_device(group)
    add_cluster(group)
    add(
        group,
        "--expansion",
        "two-ended (default), or paper: breadth first, each path growing at one end, as in the paper",
        choices=EXPANSIONS,
        default=EXPANSIONS[0],
        metavar="HOW",
    )


def add_lengths(group: Any, things: str = "cycles") -> None:
    """Add the bounds on the length, and its parity; `settle_lengths` makes the bounds of what is given."""
    add(group, "--length", f"only {things} of exactly N vertices")
    add(group, "--min-length", f"only {things} of N vertices or more")
    add(group, "--max-length", f"only {things} of N vertices or fewer")
    exclusive = group.add_mutually_exclusive_group()
    for parity in PARITIES:
        exclusive.add_argument(
            f"--{parity}",
            dest="parity",
            action="store_const",
            const=parity,
            help=f"only {things} with an {parity} number of vertices",
        )


def settle_lengths(
    parser: argparse.ArgumentParser, options: argparse.Namespace, shortest: int = SHORTEST_CYCLE
) -> None:
    """Set ``min_length``, by default `shortest`, and ``max_length``; a usage error if no length lies within them."""
    if options.length is not None:
        if options.min_length is not None or options.max_length is not None:
            parser.error(f"--length {options.length} is both bounds: leave --min-length and --max-length out")
        options.min_length = options.max_length = options.length
    least = f"--min-length {options.min_length}"
    if options.min_length is None:
        options.min_length, least = shortest, f"{shortest}, the least that is searched for without --min-length"
    if options.max_length is not None and options.max_length < options.min_length:
        parser.error(f"--max-length {options.max_length} is below {least}")


def add_restriction(group: Any, things: str = "cycles") -> None:
    """Add which vertices and edges a cycle, or a path, must contain or must not contain; both shorten the search."""
    for field, metavar, text in (
        ("through", "V[,V..]", "through all of these vertices, named as `chordless list` names them"),
        ("through_edges", "U-V", "with this edge, or arc from U to V; may be given several times"),
        ("avoid", "V[,V..]", "through none of these vertices"),
        (
            *("avoid_edges", "U-V"),
            "without this edge, or arc from U to V; it stays a chord of others; may be given several times",
        ),
    ):
        how: dict[str, Any] = {"action": "append", "default": [], "metavar": metavar}
        group.add_argument(option_of(field), dest=field, help=f"only {things} {text}", **how)


def add_stops(group: Any, limit_help: str) -> None:
    """Add what ends a search early."""
    add(group, "--limit", limit_help)
    add(
        group,
        "--timeout",
        "stop after this much time of search (the compilation of its kernels does not count), and give up a graph that "
        "takes as long to read: 10, 1.5, 90s, 5m, 2h",
    )


def add_device(group: Any, *, resumed: bool = False) -> None:
    """Add where a search runs; `resumed` makes the settings of the earlier session the default."""
    before = "as it was"
    arch = None if resumed else ARCHES[0]
    add(group, "--arch", f"one of {', '.join(ARCHES)} (default: {arch or before})", choices=ARCHES, default=arch)
    threads = before if resumed else "all"
    add(group, "--threads", f"threads of the CPU to use (default: {threads})")
    memory = before if resumed else "a share of what is free"
    add(
        group,
        "--memory",
        "limit such as 256M or 1.5GiB: on the CPU of the whole process, on a GPU of the buffers on the device "
        f"(default: {memory})",
    )


def check_symmetry(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for options that cannot be combined with symmetry, if that is asked for."""
    if not options.symmetry:
        return
    for option in given(parser, options, "per_vertex", "per_edge", "proof", "directed", "multigraph"):
        parser.error(f"--symmetry counts simple graphs by length: leave {option} out")
    if options.arch == "reference":
        parser.error("--symmetry is for a device: leave --arch reference out")


def add_cluster(group: Any) -> None:
    """Add the choice of a cluster."""
    add(
        group,
        "--cluster",
        "search on the workers of a Dask cluster: local, local:4, tcp://HOST:8786, or FILE.json of a scheduler; "
        "see `chordless help cluster`",
        metavar="WHERE",
    )
    add(group, "--gpus", "with --cluster local: use these GPUs only, such as 0,2")


def check_cluster(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error if there is no such cluster, or it cannot search what is wanted."""
    if options.gpus is not None and options.cluster is None:
        parser.error("--gpus needs --cluster local: it chooses which GPUs get a worker")
    if options.cluster is None:
        return
    from kernels_ti.cluster.address import check_cluster

    with in_words_of_command_line():
        try:
            check_cluster(options.cluster, options.gpus)
        except OptionError as error:
            parser.error(str(error))


def add_checkpoint(parser: argparse.ArgumentParser, *, also: str = "") -> None:
    """Add what makes a run resumable."""
    group = parser.add_argument_group("to continue later (chordless resume DIR)")
    add(
        group,
        "--checkpoint",
        f"keep a checkpoint in DIR, a new or empty folder: at intervals, and when the run stops{also}",
        metavar="DIR",
    )
    add_checkpoint_every(group)


def add_checkpoint_every(group: Any, *, resumed: bool = False) -> None:
    """Add how often a checkpoint is written; the value is None unless the option is given."""
    add(
        group,
        "--checkpoint-every",
        f"how often: 0.5, 30s, 10m (default: {'as it was' if resumed else '1m'}); less often where writing takes "
        "more than a tenth of the time",
    )


def add_reporting(parser: argparse.ArgumentParser, *, events: bool = True) -> None:
    """Add what is reported while the command runs; `events` if an engine does the work."""
    group = parser.add_argument_group("progress (on standard error)")
    add(
        group,
        "--progress",
        "auto: a live line on a terminal, elsewhere a line every 10 s; plain: a line every 2 s; none",
    )
    if events:
        add(group, "--events", "record every event of the engine, one JSON object a line")
    add(group, "-q --quiet", "only errors: no progress, no notes")


def check_search(parser: argparse.ArgumentParser, options: argparse.Namespace, shortest: int = SHORTEST_CYCLE) -> None:
    """Set the bounds on the length; end with a usage error for bad bounds or an empty name of a folder."""
    settle_lengths(parser, options, shortest)
    if options.checkpoint == "":
        parser.error("--checkpoint: the name of the folder is empty")
    check_cluster(parser, options)


def check_checkpoint_every(parser: argparse.ArgumentParser, options: argparse.Namespace, directory: str | None) -> None:
    """End with a usage error for ``--checkpoint-every`` without a checkpoint."""
    if options.checkpoint_every is not None and directory is None:
        parser.error("--checkpoint-every needs --checkpoint DIR: where the checkpoint is written")


def check_json_lines(parser: argparse.ArgumentParser, options: argparse.Namespace, output_format: str | None) -> None:
    """End with a usage error for ``--json`` with a file of another format."""
    if options.json and options.output not in (None, STANDARD_OUTPUT) and output_format != "jsonl":
        parser.error(f"--json with -o {options.output}: JSON lines are written to a file named .jsonl")


def suffix_of(path: str) -> str:
    """Return the suffix of a file in lower case, without its dot."""
    return PurePath(path).suffix.lower().removeprefix(".")


def add_output_format(parser: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """Add the format of the output, by default that of its name, or the first for standard output."""
    text = f"one of {', '.join(formats)} (default: by the name of the output file, else {formats[0]})"
    add(parser, "--format", text, dest="output_format", choices=formats)


def settle_output_format(parser: argparse.ArgumentParser, options: argparse.Namespace, formats: Sequence[str]) -> None:
    """Determine the format of the output where it is not given; end with a usage error if the name does not tell it."""
    if options.output_format is None:
        to_file, suffix = options.output != STANDARD_OUTPUT, suffix_of(options.output)
        if to_file and suffix not in formats:
            parser.error(f"-o {options.output}: which format? --format is one of {', '.join(formats)}")
        options.output_format = suffix if to_file else formats[0]


def add_output(
    parser: argparse.ArgumentParser,
    text: str = "write to FILE (default, or -: standard output)",
    default: str | None = STANDARD_OUTPUT,
) -> None:
    """Add ``-o`` of the commands that write one file."""
    add(parser, "-o --output", text, type=values.output_file, default=default)


def add_orders(group: Any, where: str = "") -> None:
    """Add the files with an order of the vertices that is taken, or was found."""
    add(group, "--order", f"{where}take the vertices in the order of FILE: all names, one a line")
    add(group, "--write-order", f"{where}write the order that is used to FILE")
