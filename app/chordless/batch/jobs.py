"""The jobs of a batch: inputs by name, pattern or spec. They are checked before an engine starts."""

from __future__ import annotations

import glob
import math
import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import replace

from chordless.graphs.readers.incoming import STANDARD_INPUT
from chordless.protocol.orders import BatchJob
from kernels_ti import GraphError, OptionError

# The boundary method does not run on these arches.
_SEARCHED = ("vulkan", "reference")


_RANGE = re.compile(r"\{([0-9]{1,99})\.\.([0-9]{1,99})\}")
_MOST_OF_FAMILY = 1_000_000


def first_number(graphs: Sequence[str]) -> int:
    """Return the number of the first graph of a family: 3 for ``grid:4x{3..9}`` alone, and 1 for anything else."""
    found = _RANGE.findall(graphs[0]) if len(graphs) == 1 else []
    return int(found[0][0]) if len(found) == 1 else 1


def expand(graph: str) -> list[str]:
    """Return the inputs that one GRAPH stands for: itself, or files sorted by name.

    It is a file, a pattern of files such as ``webs/*.net`` (``**`` goes through all folders), a folder, a spec, or
    ``-``. A folder stands for all files in it but the types of a food web, ``WEB.clu`` beside ``WEB.net``, and
    ``hypercube:{1..5}`` for five specs. A GraphError is raised if there is no such file or spec, no file matches, or a
    folder has no files.
    """
    if graph == STANDARD_INPUT:
        return [graph]
    if os.path.isdir(graph):
        try:
            os.scandir(graph).close()
        except OSError as error:
            raise GraphError(f"{graph}: this folder cannot be read: {error.strerror}") from error
        files = _files(os.path.join(glob.escape(graph), "*"))
        if not files:
            raise GraphError(f"{graph}: there is no file in this folder")
        types = {os.path.splitext(path.lower())[0] + ".clu" for path in files if path.lower().endswith(".net")}
        return [path for path in files if path.lower() not in types]
    if os.path.lexists(graph):
        return [graph]
    if (found := _RANGE.search(graph)) is not None:
        sizes = [int(last) - int(first) + 1 for first, last in _RANGE.findall(graph)]
        if min(sizes) < 1 or math.prod(sizes) > _MOST_OF_FAMILY:
            raise OptionError(f"{graph}: a range has no number, or there are more than {_MOST_OF_FAMILY:,} graphs")
        first, last = int(found[1]), int(found[2])
        numbered = (f"{graph[: found.start()]}{number}{graph[found.end() :]}" for number in range(first, last + 1))
        return [path for each in numbered for path in expand(each)]
    is_pattern = glob.has_magic(graph)
    if is_pattern and (files := _files(graph)):
        return files
    from chordless.graphs.generators import is_spec
    from chordless.graphs.load import load_graph

    if is_spec(graph):
        return [graph]
    if is_pattern:
        raise GraphError(f"{graph}: no file matches this pattern")
    load_graph(graph)  # This raises an error that says what is wrong with the name.
    return [graph]


def _files(pattern: str) -> list[str]:
    return sorted(path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path))


def jobs_of(graphs: Iterable[str], template: BatchJob) -> list[BatchJob]:
    """Return a job for each input that `graphs` stand for, with the options of `template`."""
    return [replace(template, graph=path) for graph in graphs for path in expand(graph)]


def without_files(jobs: Iterable[BatchJob], files: Iterable[str]) -> list[BatchJob]:
    """Return the jobs whose graph is none of these files, such as what the batch itself has written."""
    left_out = set(map(os.path.realpath, files))
    return [job for job in jobs if os.path.realpath(job.graph) not in left_out]


def checked(jobs: Sequence[BatchJob]) -> tuple[BatchJob, ...]:
    """Return `jobs` as a tuple; an OptionError if they cannot be done in one batch, and says why not."""
    seen: set[BatchJob] = set()
    reads_input = False
    for job in jobs:
        if job.max_length is not None and job.max_length < job.min_length:
            raise OptionError(
                f"{job.graph}: the maximum length {job.max_length} is less than the minimum {job.min_length}"
            )
        if job.method == "boundary" and (job.listing is not None or job.limit is not None or job.arch in _SEARCHED):
            raise OptionError(
                f"{job.graph}: a listing, a limit and the arches {' and '.join(_SEARCHED)} are for the method search"
            )
        if job.directed and (job.simplify or job.overlap):
            raise OptionError(
                f"{job.graph}: the underlying graph and the niche overlap graph have no directions: leave directed out"
            )
        if job.multigraph and job.simplify:
            raise OptionError(f"{job.graph}: the underlying graph has no repeated edges: leave multigraph out")
        if job.overlap and job.graph == STANDARD_INPUT:
            raise OptionError("a food web is a file, with its types beside it; standard input is none")
        if job.graph != STANDARD_INPUT and stat.S_ISFIFO(_mode(job.graph)):
            raise OptionError(
                f"{job.graph} is a pipe, which cannot be read twice, as a batch may have to: give a file, or one graph "
                "file on standard input, as -"
            )
        same = replace(job, graph=os.path.realpath(job.graph) if os.path.lexists(job.graph) else job.graph)
        if same in seen or (reads_input and job.graph == STANDARD_INPUT):
            name = "standard input" if job.graph == STANDARD_INPUT else job.graph
            raise OptionError(f"{name} is given twice; each graph is counted once")
        seen.add(same)
        reads_input = reads_input or job.graph == STANDARD_INPUT
    if not seen:
        raise OptionError("there is no graph to count: give a GRAPH, or a manifest with jobs")
    return tuple(jobs)


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        return 0  # A spec; or a file whose line says why it cannot be read.
