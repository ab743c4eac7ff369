"""The jobs of a batch: inputs by name, pattern or spec. They are checked before an engine starts."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from chordless.graphs.readers.incoming import STANDARD_INPUT
from chordless.protocol.orders import BatchJob
from kernels_ti import GraphError, OptionError

# The boundary method does not run on these arches.
_SEARCHED = ("vulkan", "reference")


def expand(graph: str) -> list[str]:
    """Return the inputs that one GRAPH stands for.

    Parameters
    ----------
    graph : str
        A file, a pattern of files such as ``webs/*.net`` (``**`` goes through all folders), a spec, or ``-``.

    Returns
    -------
    list of str
        One input, or the files that match, sorted by name.

    Raises
    ------
    GraphError
        If there is no such file or spec, no file matches, or `graph` is a folder.
    """
    if graph == STANDARD_INPUT:
        return [graph]
    if os.path.isdir(graph):
        raise GraphError(f"{graph}: this is a folder; for all files in it, {os.path.join(graph, '*')} in quotes")
    if os.path.lexists(graph):
        return [graph]
    if glob.has_magic(graph):
        files = sorted(path for path in glob.glob(graph, recursive=True) if not os.path.isdir(path))
        if not files:
            raise GraphError(f"{graph}: no file matches this pattern")
        return files
    from chordless.graphs.generators import is_spec
    from chordless.graphs.load import load_graph

    if not is_spec(graph):
        load_graph(graph)  # This raises an error that says what is wrong with the name.
    return [graph]


def jobs_of(graphs: Iterable[str], template: BatchJob) -> list[BatchJob]:
    """Return a job for each input that `graphs` stand for, with the options of `template`."""
    return [replace(template, graph=path) for graph in graphs for path in expand(graph)]


def checked(jobs: Sequence[BatchJob]) -> tuple[BatchJob, ...]:
    """Return `jobs` as a tuple if they can be done in one batch.

    Raises
    ------
    OptionError
        If there are no jobs, two jobs are equal, or the bounds of a job contradict each other.
    """
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
        if job.overlap and job.graph == STANDARD_INPUT:
            raise OptionError("a food web is a file, with its types beside it; standard input is none")
        same = replace(job, graph=os.path.realpath(job.graph) if os.path.lexists(job.graph) else job.graph)
        if same in seen or (reads_input and job.graph == STANDARD_INPUT):
            name = "standard input" if job.graph == STANDARD_INPUT else job.graph
            raise OptionError(f"{name} is given twice; each graph is counted once")
        seen.add(same)
        reads_input = reads_input or job.graph == STANDARD_INPUT
    if not seen:
        raise OptionError("there is no graph to count: give a GRAPH, or a manifest with jobs")
    return tuple(jobs)
