"""``chordless batch``: count or list the cycles of many graphs, one line of output for each graph."""

from __future__ import annotations

import argparse
import os

from chordless.batch.jobs import checked, jobs_of, without_files
from chordless.batch.output import read_lines
from chordless.batch.properties import NAMES, Property
from chordless.commands import batch_output
from chordless.commands import options as shared
from chordless.commands.parser import Parser
from chordless.commands.session import run_batch, warn_of_missing_types
from chordless.commands.writing import THE_GRAPH, require_other_files
from chordless.files import writing
from chordless.protocol.orders import BatchCommand, BatchJob
from chordless.values import ALL_LIVING, SHORTEST_CYCLE, name_of_input
from kernels_ti import OptionError
from kernels_ti.folders import make_folder
from kernels_ti.options import require_threads

FORMATS = ("jsonl", "csv", "parquet")
_NOT_OF_RINGS = (
    *("manifest", "cycles", "resume", "dry_run", "fail_fast", "limit", "timeout", "overlap", "directed", "cluster"),
    *("arch", "method", "events"),
)

DESCRIPTION = """\
Count the chordless cycles of many graphs, in one engine: small graphs side by
side, thousands at a time, larger ones one after another.

A GRAPH is a file, a folder (all files in it), a spec, a pattern in quotes
('webs/*.net', ** goes through all folders), a family ('grid:{2..9}x4'), or -
for standard input. Files of graph6 and sparse6 hold a graph
to a line, as geng of nauty writes them; SDF and SMILES files hold molecules
(pip install 'chordless[molecules]').

The output has a line for each graph, in the order of the input: the fields of
`chordless count --json`, and name, status (complete, limit, timeout, error),
error, listing (the file of cycles), listed (how many are in it: --limit bounds
that number), and hash, which tells this graph with these options from
any other; for food webs (--overlap) also interval, whether the niche overlap
graph is an interval graph. Unknown fields of a graph that was counted beside
others are null: frontier, paths, seconds, peak_memory_bytes.

A graph that cannot be read or searched is a line with its error, and the others
go on; the exit code is 5 then. A file that is not there at all is refused at
once. A file of graph6 or of molecules may hold no graph, and standard input may
be empty, as a filter leaves them: that is no error, and is told. --resume keeps
the lines that are there already, of the graphs that are asked for again; the
others go to a file beside it, whose name ends in .earlier.
With --limit or --cycles each graph is searched by itself, which takes longer
where they are many and small. A --timeout is for those that are searched by
themselves.
"""

MANIFEST = """\
a manifest:
  [defaults]                    # each key may stand here or in a job
  max_length = 20               # also min_length, parity = "odd"
  method = "auto"               # or "search", "boundary"
  timeout = "5m"                # also limit: they end the search of each graph
  [[jobs]]
  graph = "webs/*.net"          # or a list; files are relative to the manifest
  overlap = true                # these are food webs; also types = "none"
  [[jobs]]
  graph = ["grid:6x6", "roads.txt"]
  simplify = true               # or directed, multigraph; also format = "gml"
  task = "list"                 # instead of "count"
  cycles = "cycles"             # a folder; also cycles_format: txt, jsonl, npy
  arch = "cpu"
  What the command line says holds where the manifest says nothing."""
EXAMPLES = (
    "chordless batch 'graphs/*.txt' roads.gml grid:6x6 -o counts.jsonl",
    "chordless batch --overlap 'webs/*.net' -o webs.csv   # food webs",
    "geng -q 8 | chordless batch - --keep 'odd > 0' -o odd.g6   # with an odd hole",
    "chordless batch 'hypercube:{1..5}' --bfile total   # rows n a(n)",
    "geng -q 8 | chordless batch - --max-length 6 -o counts.csv",
    "chordless batch molecules.smi -o counts.parquet --resume",
    "chordless batch molecules.smi --rings -o rings.csv   # a row for each ring",
    "chordless batch --manifest jobs.toml -o counts.jsonl --dry-run",
    "jq 'select(.status == \"error\") | .error' counts.jsonl",
)


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.below.append(lambda: MANIFEST)
    parser.add_argument(
        "graphs",
        nargs="*",
        type=name_of_input,
        metavar="GRAPH",
        help="files, folders, patterns, specs, or - for standard input",
    )
    shared.add(parser, "--manifest", "jobs with options of their own, see below", metavar="FILE.toml")
    shared.add_output(parser)
    shared.add_output_format(parser, FORMATS)
    shared.add(parser, "--resume", "keep the lines that FILE has already of these graphs")
    shared.add(parser, "--dry-run", "say what would be done, and do nothing")
    group = parser.add_mutually_exclusive_group()
    shared.add(
        group,
        "--keep",
        "write the graphs themselves, one a line, for which EXPR is true (FILE.g6, .s6 or .d6: graph6, sparse6, "
        "digraph6): whole numbers and the names "
        f"{' '.join(NAMES)} with + - * // %% < <= == != and or not; odd, even, longest and shortest are of holes, "
        "that is, of chordless cycles of 4 or more",
        metavar="EXPR",
    )
    shared.add(
        group,
        "--bfile",
        "write rows 'n a(n)', a(n) being EXPR for the graph with number n: 'hypercube:{1..5}' --bfile total",
        metavar="EXPR",
    )
    shared.add(
        group,
        "--rings",
        "write a row for each ring of each molecule, as CSV or Parquet: its atoms, numbered from 0 as in RDKit, "
        "their symbols, whether it is aromatic, in the SSSR, a relevant cycle, and its unique ring family",
    )
    group = parser.add_mutually_exclusive_group()
    shared.add(group, "--keep-going", "go on after a graph that fails (default)")
    shared.add(group, "--fail-fast", "end at the first graph that fails")
    _add_reading(parser)
    _add_search(parser)
    shared.add_reporting(parser)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("reading the graphs")
    shared.add(group, "--graph-format", "one of chordless help formats (default: by name and content of each file)")
    shared.add_kind(group)
    shared.add(
        group,
        "--overlap",
        "each GRAPH is a food web, as `chordless overlap` reads it: count in its niche overlap graph, and say "
        "whether that is an interval graph; `chordless overlap` makes a shorter table of the same",
    )
    shared.add(
        group,
        "--types",
        "with --overlap: every vertex is living, whatever the .clu beside the web says",
        choices=(ALL_LIVING,),
    )
    shared.add(group, "--encoding")


def _add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to look for in each graph, and when to stop")
    shared.add_lengths(group)
    shared.add(
        group,
        "--cycles",
        "list the cycles as well, to a file in DIR for each GRAPH; with a manifest, of the jobs that list",
        type=name_of_input,
        metavar="DIR",
    )
    shared.add_stops(group, "stop a graph once N cycles or more were found")
    group = parser.add_argument_group("how to run")
    shared.add_device(group)
    shared.add_cluster(group)
    shared.add(
        group,
        "--method",
        "search; boundary: count without finding each cycle; auto (default): search, unless that is expected to "
        "take more than 1 s for a graph and the boundary a tenth of it",
    )


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Determine the output format; end with a usage error for options that contradict each other."""
    to_file = options.output != shared.STANDARD_OUTPUT
    shared.settle_lengths(parser, options)
    if options.manifest is not None and options.graphs:
        parser.error("a GRAPH and a --manifest exclude each other: name the graph in the manifest")
    if options.manifest is None and not options.graphs:
        parser.error("there is no GRAPH, and no --manifest")
    if options.types is not None and not options.overlap:
        parser.error("--types is for food webs; add --overlap")
    if options.keep is not None or options.bfile is not None:
        _check_derived(parser, options)
    if options.rings:
        _check_rings(parser, options)
    shared.settle_output_format(parser, options, FORMATS)
    if not to_file and options.output_format == "parquet":
        parser.error("--format parquet needs a file: -o FILE.parquet")
    if not to_file and options.resume:
        parser.error("--resume needs a file to go on with: -o FILE")
    shared.check_cluster(parser, options)


def _check_derived(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Settle the output of --keep and --bfile; end with a usage error for options that they exclude."""
    name = "--keep" if options.keep is not None else "--bfile"
    others = shared.given(parser, options, "manifest", "cycles", "limit", "length", "max_length")
    others += ["--min-length"] * (options.min_length != SHORTEST_CYCLE)
    others += ["--directed and --multigraph"] * (options.keep is None and (options.directed or options.multigraph))
    others += [f"--format {options.output_format}"] * (options.output_format is not None)
    of = "" if options.keep is not None else "simple graphs and "
    for option in others:
        parser.error(f"{name} is for {of}cycles of all lengths: leave {option} out")
    expression = options.bfile if options.keep is None else options.keep
    if options.parity is not None and not Property(expression).knows_only(options.parity):
        instead = "write odd and even in the expression" if name == "--keep" else "write --bfile odd or --bfile even"
        parser.error(f"{name} knows holes by parity: {instead}, and leave --{options.parity} out")
    if options.output != shared.STANDARD_OUTPUT:
        if options.keep is not None and not batch_output.suffix_of_graphs(options.output):
            parser.error(f"-o {options.output}: {name} writes a file *.g6, *.s6 or *.d6")
        if options.bfile is not None and shared.suffix_of(options.output) != "txt":
            parser.error(f"-o {options.output}: {name} writes a file *.txt")
    options.output_format = batch_output.DERIVED


def _check_rings(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Settle the output of --rings; end with a usage error for options that it excludes."""
    others = shared.given(parser, options, *_NOT_OF_RINGS)
    others += ["--format jsonl"] * (options.output_format == "jsonl")
    for option in others:
        parser.error(f"--rings makes one table of molecules in CSV or Parquet: leave {option} out")
    if options.output_format is None:
        if options.output == shared.STANDARD_OUTPUT:
            options.output_format = "csv"
        elif shared.suffix_of(options.output) not in FORMATS[1:]:
            parser.error(f"-o {options.output}: --rings makes one table of molecules; name it .csv or .parquet")


def act(options: argparse.Namespace) -> int:
    """Run the batch, print how it ended, return the exit code."""
    if options.file_format is not None or options.encoding is not None:
        from chordless.graphs.load import checked_encoding, checked_format  # with numpy, which the client does without

        if options.file_format is not None:
            checked_format(options.file_format)
        checked_encoding(options.encoding)
    template = shared.order_of(
        BatchJob,
        options,
        graph="",
        listing=options.cycles,
        with_graph=options.keep is not None or (options.bfile is not None and Property(options.bfile).needs_graph),
    )
    if options.keep is not None:
        Property(options.keep)  # it is read before anything is done
    if options.manifest is not None:
        from chordless.batch.manifest import read_manifest

        found = [*read_manifest(options.manifest, template)]
    else:
        found = jobs_of(options.graphs, template)
    jobs = checked(without_files(found, batch_output.files_of(options)))
    if options.rings:
        return batch_output.print_rings(jobs, options)
    if options.dry_run:
        return batch_output.print_plan(options, jobs)
    _require_other_files(options, jobs)
    if options.output_format == "parquet":
        from chordless.cycles.columns import require_parquet

        require_parquet()
    require_threads(options.threads)
    for folder in sorted({job.listing for job in jobs if job.listing is not None}):
        if os.path.isfile(folder):
            raise OptionError(f"cannot make the folder {folder} for the cycles: there is a file of this name")
        with writing(folder):
            make_folder(folder)
    if not options.quiet:
        warn_of_missing_types(jobs)
    with batch_output.lines_file(options) as lines:
        return _run(shared.order_of(BatchCommand, options, jobs=jobs, output=lines), options)


def _require_other_files(options: argparse.Namespace, jobs: tuple[BatchJob, ...]) -> None:
    """Raise an OptionError if the events would destroy a graph, the manifest, or the lines of the batch."""
    if options.events is None:
        return
    to_file = options.output != shared.STANDARD_OUTPUT
    outputs = {"-o": options.output, "the lines": batch_output.lines_path(options)} if to_file else {}
    for option, path in outputs.items():
        require_other_files([], {option: path, "--events": options.events})
    inputs = [("the manifest", options.manifest)]
    if os.path.exists(options.events):
        inputs += [(THE_GRAPH, job.graph) for job in jobs]
    require_other_files(inputs, {"--events": options.events})


def _run(command: BatchCommand, options: argparse.Namespace) -> int:
    to_file = options.output != shared.STANDARD_OUTPUT
    with batch_output.copy_to_standard_output(command, options) as copy:
        outcome = run_batch(
            command, options, meanwhile=None if to_file else copy, way_on=batch_output.WAY_ON if to_file else None
        )
    failed = read_lines(command.output) if outcome.end.failed and not options.quiet else ()
    failure = next((line["error"] for line in failed if line["status"] == "error"), None)
    batch_output.write_table(command, options, outcome.end)
    if not options.quiet:
        batch_output.print_note(options, outcome.end, failure, deaths=outcome.deaths)
    return outcome.exit_code
