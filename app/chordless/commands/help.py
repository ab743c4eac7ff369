"""``chordless help``: the help of a command, or of a topic that several commands share."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable

from chordless.commands.parser import Parser, did_you_mean

EXIT_CODES = """\
exit codes:
  0    complete
  1    failed: the output could not be written, memory ran out, the engine died
       (`first`, as grep: there is no such cycle; a failure is 2 there)
  2    wrong usage; a graph that cannot be read, or is too large for the memory
       or the method; a checkpoint or an output file that cannot be used, or
       that another run is using
  3    the arch asked for is not available here
  4    stopped by --limit, by --timeout or because the reader of the output
       went away: what was reported is right, but not complete
  5    some graphs of a batch, or webs of a report, failed; the others are right
  129, 130, 143
       ended by a hang-up, by Ctrl-C, by SIGTERM; what was found is reported
"""

ENVIRONMENT = """\
environment variables:
  NO_COLOR=1         no colour
  COLUMNS            the width of help and tables
  XDG_CACHE_HOME     compiled kernels and measured speeds are kept in chordless/
                     below it (default: ~/.cache)
  TI_OFFLINE_CACHE=0 keep no compiled kernels
  CHORDLESS_DEBUG=1  after an error: where it arose, and the last lines that the
                     engine printed
"""

CLUSTER = """\
--cluster WHERE searches on the workers of a Dask cluster (pip install
'chordless[cluster]'). The count is exact, whatever happens to a worker.

  local             one worker for each GPU of this machine; without GPUs one
                    for each 16 cores. --gpus 0,2 chooses GPUs
  local:4           four workers that share the cores of this machine
  tcp://HOST:8786   the workers of a cluster that is there already
  FILE.json         the same, by the file that its scheduler wrote

--arch, --threads and --memory hold for each worker. --part divides the search
between clusters. `batch` searches each graph on one worker. A checkpoint can be
resumed on one machine, or on another cluster. A Dask scheduler runs whatever
its clients send: let nobody reach it whom you do not trust. A local cluster
listens on 127.0.0.1 only.
"""

_FORMATS = {
    "edgelist": "a line `u v`, `u,v` or `u v weight` for each edge; # begins a comment",
    "dimacs": "DIMACS: a line `p edge n m`, then `e u v`",
    "pajek": "Pajek: *Vertices, then *Edges",
    "graphml": "GraphML",
    "gml": "GML",
    "graph6": "graph6 and sparse6 of nauty; FILE:12 is the graph in line 12",
    "mtx": "a matrix in MatrixMarket format",
    "adjlist": "a line `u v w ...`: a vertex, then its neighbours",
    "matrix": "a table of numbers with names in the first row and column (Excel's CSV)",
    "json": "node-link JSON of networkx and D3; GeoJSON, its lines for edges",
    "table": "a row for each edge, with a heading of 4 columns or more; TNTP",
    "metis": "METIS: a line `n m`, then a line of neighbours for each vertex, from 1",
    "sdf": "one molecule, or FILE:12 for the twelfth, FILE:NAME; chordless batch reads all",
    "smiles": "one molecule, or FILE:12 for that of line 12; also a table with a column `smiles`",
}
_WIDTH = 80
_WIDEST_LEFT = 18
DESCRIPTION = "Show the help of a command, or of a topic that several commands share."
EXAMPLES = ("chordless help specs", "chordless help count", "chordless help bench peers")


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.below.insert(0, topic_list)
    parser.add_argument("topic", nargs="*", metavar="TOPIC", help="a topic or a command (default: the program itself)")


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for what is neither a topic nor a command."""
    if len(options.topic) == 1 and options.topic[0] in TOPICS:
        return
    commands = _subcommands(options.whole_parser)
    for i, word in enumerate(options.topic):
        if word not in commands:
            if i == 0 and word in TOPICS:
                parser.error(f"the topic {word} stands alone: chordless help {word}")
            known = [*commands, *TOPICS] if i == 0 else list(commands)
            parser.error(f"there is no help on {' '.join(options.topic[: i + 1])!r}{did_you_mean(word, known)}")
        commands = _subcommands(commands[word])


def act(options: argparse.Namespace) -> int:
    """Print the help, return the exit code."""
    if len(options.topic) == 1 and options.topic[0] in TOPICS:
        sys.stdout.write(f"{TOPICS[options.topic[0]][1]().rstrip()}\n")
        return 0
    parser = options.whole_parser
    for word in options.topic:
        parser = _subcommands(parser)[word]
    parser.print_help()
    return 0


def _subcommands(parser: argparse.ArgumentParser) -> dict[str, Parser]:
    actions = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(actions[0].choices) if actions else {}


def topic_list() -> str:
    """Return the help section that lists the topics."""
    width = max(map(len, TOPICS))
    return "\n".join(
        ["topics (chordless help TOPIC):", *(f"  {name:<{width}}  {about}" for name, (about, _) in TOPICS.items())]
    )


def spec_help() -> str:
    """Return the help on generated graphs."""
    from chordless.graphs.generators import known_kinds

    kinds = known_kinds()
    families = [kind for kind in kinds if kind.example != kind.name]
    names = ", ".join(kind.name for kind in kinds if kind.example == kind.name)
    named = textwrap.wrap(names, _WIDTH - 2, initial_indent="  ", subsequent_indent="  ")
    return "\n".join(
        [
            "A spec stands for a graph that is generated; it may stand wherever a GRAPH may.",
            "",
            *_rows([(kind.example, kind.summary) for kind in families]),
            "",
            "well known graphs, by name, as networkx has them:",
            *named,
        ]
    )


def format_help() -> str:
    """Return the help on the formats of graph files."""
    from chordless.graphs.load import FORMATS, MOLECULE_FORMATS

    return "\n".join(
        [
            "A GRAPH may be a file in one of these formats, plain or compressed by gzip, or",
            "- for standard input. The format is told by the name and the content of the",
            "file; --format names it (--graph-format in `batch`, `plot`, `export`).",
            "",
            *_rows([(name, _FORMATS[name]) for name in (*FORMATS, *MOLECULE_FORMATS)]),
            "",
            "A graph may be directed, as the file says or with --directed; --multigraph keeps",
            "self-loops and repeated edges, --underlying (or --simplify) drops them and",
            "directions: the underlying simple graph is searched. Weights are used by",
            "--weight of `longest` and `paths` only. Text is UTF-8; --encoding names another.",
            "A self-loop is a cycle of 1 vertex, two opposite arcs or parallel edges are one",
            "of 2: they count with --min-length 1.",
            "The atoms of a molecule are called C1, N2 ...: symbol, and number in the file,",
            "which is one more than RDKit's index.",
        ]
    )


def _rows(rows: list[tuple[str, str]]) -> list[str]:
    """Lay out two columns; a text that is too long for the first has a line of its own."""
    width = min(max(len(left) for left, _ in rows), _WIDEST_LEFT)
    below = " " * (width + 4)
    lines = []
    for left, right in rows:
        start = f"  {left:<{width}}  "
        if len(left) > width:
            lines.append(f"  {left}")
            start = below
        lines += textwrap.wrap(right, _WIDTH, initial_indent=start, subsequent_indent=below)
    return lines


TOPICS: dict[str, tuple[str, Callable[[], str]]] = {
    "specs": ("graphs that are generated, such as grid:7x10 and petersen", spec_help),
    "formats": ("the formats of graph files", format_help),
    "cluster": ("search on several GPUs or machines", lambda: CLUSTER),
    "exit-codes": ("what each exit code means", lambda: EXIT_CODES),
    "environment": ("the environment variables that matter", lambda: ENVIRONMENT),
}
"""For each topic its line in the list, and what makes its text."""
