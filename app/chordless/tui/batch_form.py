"""The form for a batch, without its widgets: the meaning and the faults of its fields, and the latest batches."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePath

from chordless.batch.detect import count_graphs
from chordless.batch.jobs import checked, jobs_of, without_files
from chordless.batch.kept_input import find_kept, is_as_read
from chordless.batch.manifest import read_manifest
from chordless.batch.output import EARLIER
from chordless.files import replaced
from chordless.graphs.generators import is_spec
from chordless.graphs.load import MOLECULE_FORMATS
from chordless.graphs.readers.incoming import STANDARD_INPUT
from chordless.protocol.orders import BatchJob, RunCommand
from chordless.tui.batch_lines import BatchLine, is_batch_file, line_count
from chordless.tui.readings import AS_IT_IS, OVERLAP, options_of, said_here
from chordless.tui.run_form import cluster_name, graph_source
from chordless.tui.settings import settings_path
from kernels_ti import ChordlessError, EngineError, GraphError, OptionError
from kernels_ti.errors import quantity
from kernels_ti.folders import make_folder

MANIFEST = ".toml"
_RECENT_FILE, _MOST_RECENT = "batches.json", 20
_TABLES = (".csv", ".parquet")
# Larger files are not read just to count their graphs.
_MOST_BYTES_TO_COUNT = 1 << 26
_MOST_INPUTS_TO_COUNT = 200
_STANDARD_INPUT_TITLE = "stdin"
FROM_STANDARD_INPUT = (
    "This graph came from standard input, and no copy of it lies beside the output file. Put it into a file, and "
    "count that: then it can be opened."
)
# When a graph with at most this many cycles is opened, its cycles are listed, so that they can be browsed and drawn.
_MOST_CYCLES_TO_LIST = 1_000_000


@dataclass(frozen=True)
class BatchQuestion:
    """The text of the fields."""

    graphs: str  # Files, patterns and specs, or a manifest
    output: str  # The output file, with a JSON line for each graph
    # How graphs are read, one of `chordless.tui.readings.READINGS`. A manifest says it for each graph itself.
    reading: str = AS_IT_IS
    cluster: str = ""  # The workers that count; empty for this machine alone


@dataclass(frozen=True)
class BatchPlan:
    """The meaning of what was typed."""

    question: BatchQuestion
    jobs: tuple[BatchJob, ...] = ()  # Empty if nothing was typed, or something is wrong
    # `graphs_words` and `output_words`: the text beside each field.
    graphs_words: str = ""
    output_words: str = ""
    # `graphs_fault`, `output_fault` and `cluster_fault`: what is wrong with the field.
    graphs_fault: str | None = None
    output_fault: str | None = None
    cluster_fault: str | None = None
    cluster: str | None = None  # The name of the cluster; None for this machine alone
    lines: int | None = None  # Number of lines in the output file; None if there is no such file
    # Number of graphs in all jobs, counted by the lines of their files; None if it is unknown.
    graphs: int | None = None
    left_out: tuple[str, ...] = ()  # The faults of names that are left out, since there are other graphs

    @property
    def troubles(self) -> tuple[str, ...]:
        """All faults of the fields, in full."""
        faults = (("Graphs", self.graphs_fault), ("Write to", self.output_fault))
        return (*(f"{label}: {fault}" for label, fault in faults if fault), *self.what_is_left_out)

    @property
    def what_is_left_out(self) -> tuple[str, ...]:
        """The faults of names that are left out, as they are told."""
        return tuple(f"left out: {fault}" for fault in self.left_out)

    @property
    def output(self) -> str:
        """The absolute path of the output file."""
        return absolute(self.question.output)

    @property
    def can_start(self) -> bool:
        """Whether there are graphs to count and an output file to write."""
        return bool(self.jobs) and self.output_fault is None and self.cluster_fault is None


@dataclass(frozen=True)
class RecentBatch:
    """The fields of the form, and the folder that their paths are relative to."""

    output: str  # The absolute path of the output file
    graphs: str  # As they were typed
    # The current folder at that time. Relative paths start there.
    folder: str
    reading: str = AS_IT_IS  # How the graphs were read, one of `chordless.tui.readings.READINGS`
    cluster: str = ""  # The workers that counted; empty for this machine alone

    def fields_here(self) -> dict[str, str]:
        """Return the fields of the form but for the output file, with paths that hold in the current folder."""
        return {"graphs": self.graphs_here(), "reading": self.reading, "cluster": self.cluster}

    def graphs_here(self) -> str:
        """Return the graphs with paths that hold in the current folder."""
        if self.folder == os.getcwd():
            return self.graphs
        words = [word if is_spec(word) else os.path.join(self.folder, word) for word in words_of(self.graphs)]
        return shlex.join(words)


def words_of(text: str) -> list[str]:
    """Split typed text as a shell does. ``~`` is the home folder.

    Raise ValueError if a closing quotation mark is missing.
    """
    return [os.path.expanduser(word) for word in shlex.split(text)]


def load_recent() -> tuple[list[RecentBatch], str | None]:
    """Return the latest batches, the newest first, and the fault of their file, if any."""
    path = settings_path().with_name(_RECENT_FILE)
    try:
        entries = json.loads(path.read_bytes())
        return [RecentBatch(**{key: str(value) for key, value in entry.items()}) for entry in entries], None
    except (FileNotFoundError, NotADirectoryError):
        return [], None
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        return [], f"{path} is ignored: {error}"


def remember(batch: RecentBatch, others: Sequence[RecentBatch]) -> list[RecentBatch]:
    """Put a batch in front of the others, save all, and return them.

    Raise EngineError if they cannot be written.
    """
    path = settings_path().with_name(_RECENT_FILE)
    recent = [batch, *(other for other in others if other.output != batch.output)][:_MOST_RECENT]
    try:
        make_folder(path.parent)
        with replaced(path) as stream:
            stream.write(json.dumps([asdict(entry) for entry in recent], indent=1).encode())
    except OSError as error:
        raise EngineError(f"cannot write {path}: {error.strerror}") from error
    return recent


def recent_batch_of(plan: BatchPlan) -> RecentBatch:
    """Return the memory of a batch that begins in the current folder."""
    typed = plan.question
    return RecentBatch(plan.output, typed.graphs, str(Path.cwd()), typed.reading, typed.cluster.strip())


def absolute(output: str) -> str:
    """Return the absolute path of a typed file name. Empty text stays empty."""
    return os.path.abspath(os.path.expanduser(output.strip())) if output.strip() else ""


def shortest(path: str) -> str:
    """Return a path relative to the current folder if it lies in that folder, else the path itself."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def plan_of(question: BatchQuestion) -> BatchPlan:
    """Look at the named files. This may take seconds."""
    return _with_graphs(_with_output(_with_cluster(BatchPlan(question))))


def _with_cluster(plan: BatchPlan) -> BatchPlan:
    typed = plan.question.cluster.strip()
    try:
        return replace(plan, cluster=cluster_name(typed) if typed else None)
    except argparse.ArgumentTypeError as error:
        return replace(plan, cluster_fault=str(error))


def _with_graphs(plan: BatchPlan) -> BatchPlan:
    try:
        words = words_of(plan.question.graphs)
    except ValueError:
        return replace(plan, graphs_fault="a quotation mark is missing")
    if not words:
        return replace(plan, graphs_words="files, specs, manifest")
    found: list[BatchJob] = []
    faults: list[str] = []
    reading = plan.question.reading
    template = BatchJob("", overlap=reading == OVERLAP, **options_of(reading))
    try:
        if len(words) == 1 and words[0].endswith(MANIFEST):
            found += read_manifest(words[0], template)
        else:
            for word in words:
                # One wrong name is no reason not to count the other graphs.
                try:
                    found += jobs_of([word], template)
                except GraphError as error:
                    faults.append(said_here(str(error)))
            if not found:
                return replace(plan, graphs_fault=faults[0])
        # A folder or a pattern may hold what this batch has written before.
        jobs = checked(without_files(found, [plan.output, plan.output + EARLIER] if plan.output else []))
        if any(job.graph == STANDARD_INPUT for job in jobs):
            raise OptionError("-: standard input is the keyboard here; name a file")
    except ChordlessError as error:
        return replace(plan, graphs_fault=said_here(str(error)))
    graphs, inputs = _count(jobs), quantity(len(jobs), "input")
    more = "" if graphs is None or graphs == len(jobs) else f", {graphs:,} graphs"
    less = f"; {len(faults):,} left out" if faults else ""
    return replace(plan, jobs=jobs, graphs_words=inputs + more + less, graphs=graphs, left_out=tuple(faults))


def _count(jobs: tuple[BatchJob, ...]) -> int | None:
    if len(jobs) > _MOST_INPUTS_TO_COUNT:
        return None
    if sum(os.path.getsize(job.graph) for job in jobs if os.path.isfile(job.graph)) > _MOST_BYTES_TO_COUNT:
        return None
    counts = [count_graphs(job) for job in jobs]
    return None if None in counts else sum(count or 0 for count in counts)


def _with_output(plan: BatchPlan) -> BatchPlan:
    path, typed = plan.output, plan.question.output.strip()
    fault, lines = None, None
    try:
        if not path:
            fault = "name a file for the lines, such as batch.jsonl"
        elif typed.endswith("/") or os.path.isdir(path):
            fault = "this is a folder; name a file in it"
        elif PurePath(path).suffix.lower() in _TABLES:
            fault = "lines of JSON are written here: FILE.jsonl; `chordless batch` makes tables"
        elif not os.path.isdir(os.path.dirname(path)):
            fault = f"there is no folder {os.path.dirname(path)}"
        elif os.path.lexists(path):
            lines = line_count(path)
            if lines is None:
                fault = "this file exists and was not written by a batch"
            elif not os.access(path, os.W_OK):
                words = f"{quantity(lines, 'line')}, to look at only"
                return replace(plan, output_words=words, output_fault="", lines=lines)
    except OSError as error:
        fault = f"cannot be read: {error.strerror}"
    words = "a new file" if lines is None else f"{quantity(lines, 'line')} so far"
    return replace(plan, output_words=words, output_fault=fault, lines=lines)


def is_of_batch(path: str) -> bool:
    """Return whether a path is that of a manifest, or of the output file of a batch."""
    return os.path.isfile(path) and (path.endswith(MANIFEST) or is_batch_file(path))


def free_output(name: str = "batch.jsonl") -> str:
    """Return an unused file name in the current folder."""
    path, number = Path(name), 2
    while os.path.lexists(path):
        path = Path(name).with_stem(f"{Path(name).stem}-{number}")
        number += 1
    return str(path)


def run_of(line: BatchLine, source: str, jobs: tuple[BatchJob, ...], directory: Path) -> RunCommand:
    """Make the command that searches the graph of a line again, on its own, while the user watches.

    `source` is the graph as the engine shall read it, see `source_of`. The jobs of the batch, as far as they are known,
    say how to read the graph and on which arch to search. Without them the line says how it was read.
    """
    named = (STANDARD_INPUT,) if is_from_standard_input(line.graph) else (line.graph, line.graph.rpartition(":")[0])
    read = (line.reading or "").split()
    unknown = BatchJob(
        line.graph,
        simplify="simplify" in read,
        directed="directed" in read,
        multigraph="multigraph" in read,
        overlap="overlap" in read,
    )
    job = next((job for job in jobs if job.graph in named), unknown)
    if is_from_standard_input(line.graph) and is_as_read(source):
        job = BatchJob(line.graph, arch=job.arch, multigraph=True)
    lists = line.cycles is not None and line.cycles <= _MOST_CYCLES_TO_LIST and line.status == "complete"
    return RunCommand(
        graph=source,
        program_start=time.monotonic(),
        file_format=None if job.file_format in MOLECULE_FORMATS else job.file_format,
        simplify=job.simplify,
        directed=job.directed,
        multigraph=job.multigraph,
        encoding=job.encoding,
        overlap=job.overlap,
        types=job.types,
        # The reference writes no checkpoints, but a run of the dashboard needs them.
        arch="auto" if job.arch == "reference" else job.arch,
        min_length=line.min_length,
        max_length=line.max_length,
        parity=line.parity,
        output=str(directory) if lists else None,
        output_format="parts" if lists else "text",
        checkpoint=str(directory),
    )


def is_from_standard_input(graph: str) -> bool:
    """Return whether the graph of a line came through standard input."""
    name, _, number = graph.partition(":")
    return name == _STANDARD_INPUT_TITLE and (not number or number.isdecimal()) and not os.path.lexists(name)


def source_of(graph: str, output: str) -> str | None:
    """Return the graph of a line as the engine shall read it. A file, or a line of a file, gets its absolute path.

    A graph from standard input is read from the copy beside the `output` of the batch. Return None if there is no copy.
    """
    if is_from_standard_input(graph):
        kept = find_kept(output)
        return None if kept is None else os.path.abspath(kept) + graph.removeprefix(_STANDARD_INPUT_TITLE)
    path, colon, number = graph.rpartition(":")
    if colon and number.isdecimal() and not os.path.lexists(graph) and os.path.isfile(path):
        return f"{os.path.abspath(path)}:{number}"
    return graph_source(graph)
