"""The form for a new run, without its widgets: its fields, their faults, and the command that they make."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import Any

from chordless.graphs.generators import is_spec
from chordless.graphs.paths import end_named
from chordless.graphs.writers import save_graph
from chordless.protocol.orders import USUAL_SAMPLE, RunCommand
from chordless.runs.directory import EDGE_LIST, RunDirectory, check_is_free
from chordless.tui.readings import AS_IT_IS, OVERLAP, options_of
from chordless.tui.settings import LastChoices
from chordless.values import SHORTEST_CYCLE, any_cycle_length, positive, size, usual_shortest
from chordless.words.numbers import best_text
from kernels_ti import ChordlessError, EngineError, Graph, OptionError
from kernels_ti.choices import EXPANSIONS
from kernels_ti.cluster.address import check_cluster
from kernels_ti.path_graph import same_ends

WITHOUT_FOLDER = "reference"
"""The arch without checkpoints. A run on it has no directory, lists no cycles, and is not in the history."""
# More make a search slower, and at last the system starts no more.
_MOST_THREADS_OF_A_CORE = 16
_SEEDS = 1 << 31
# The system reports these as writable for a superuser, but they are not.
_OF_THE_KERNEL = (Path("/proc"), Path("/sys"))


@dataclass(frozen=True)
class Field:
    """A text field. It may be left empty."""

    name: str  # As in `LastChoices`
    label: str
    # The parser of the command line's option. It raises `argparse.ArgumentTypeError`.
    parse: Callable[[str], Any]
    # The meaning of an empty field. The empty field shows it.
    empty: str
    help: str  # The text beside the field


def cluster_name(text: str) -> str:
    """Parse the name of a cluster.

    Raise argparse.ArgumentTypeError if there is no such cluster, or Dask is not installed.
    """
    try:
        check_cluster(text, None)
    except OptionError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if text.endswith(".json") and not os.path.isfile(expanded(text)):
        raise argparse.ArgumentTypeError("there is no such scheduler file")
    if find_spec("distributed") is None:
        raise argparse.ArgumentTypeError("this needs Dask: pip install 'chordless[cluster]'")
    return expanded(text)


ENDS = (
    Field("path_start", "From", str, "", "a vertex"),
    Field("path_end", "To", str, "", "another vertex"),
)
LENGTHS = (
    Field("min_length", "Shortest", any_cycle_length, "3", "vertices at least"),
    Field("max_length", "Longest", any_cycle_length, "any", "vertices at most"),
    Field("limit", "Stop after", positive, "all", "of them found"),
)
WEIGHTS = Field("weight", "Weights", str, "none", "file or attribute")
MEMORY = Field("memory", "Memory", size, "half of free", "such as 512M or 2G")
RESOURCES = (
    Field("threads", "Threads", positive, "all", "of the CPU"),
    MEMORY,
    Field("cluster", "Cluster", cluster_name, "none", "such as local:4"),
)


def shortest_of(choices: LastChoices) -> int:
    """Return the fewest vertices of the cycles or paths that are searched for, if the form names no other bound."""
    return usual_shortest(of_paths=choices.is_of_paths, shortest=choices.find == "shortest")


def faults_of_ends(choices: LastChoices, graph: Graph | None) -> dict[str, str]:
    """Find faults in the ends of paths, as `faults_of`; only missing ones where the graph is not known."""
    faults, ends = {}, list[Hashable]()
    for field, text in zip(ENDS, choices.between, strict=False):
        if not text:
            such_as = f", such as {graph.names[0]}" if graph is not None and graph.n else ""
            faults[field.name] = f"name a vertex{such_as}"
        elif graph is not None:
            try:
                ends.append(end_named(graph, text))
            except OptionError as error:
                faults[field.name] = str(error)
    if len(ends) == len(ENDS) and ends[0] == ends[1]:
        faults[ENDS[1].name] = str(same_ends(ends[1]))
    return faults


def faults_of(choices: LastChoices, vertices: int | None = None, least: int = SHORTEST_CYCLE) -> dict[str, str]:
    """Find faults in what was typed, except in the graph: for the name of each faulty field, the fault in one line.

    The graph has so many `vertices`, as far as it is known, and its shortest possible cycle `least`.
    """
    faults, values = {}, {}
    for field in (*LENGTHS, *RESOURCES):
        text = getattr(choices, field.name).strip()
        try:
            values[field.name] = field.parse(text) if text else None
        except argparse.ArgumentTypeError as error:
            faults[field.name] = str(error)
    shortest, longest = values.get("min_length"), values.get("max_length")
    usual = shortest_of(choices)
    of, least = ("path", usual) if choices.is_of_paths else ("cycle of a simple graph", least)
    for name, bound in (("min_length", shortest), ("max_length", longest)):
        if bound is not None and bound < least:
            faults[name] = f"a {of} has at least {least} vertices, not {bound}"
    if longest is not None and longest < (shortest or usual):
        faults["max_length"] = f"{longest} is below the shortest, {shortest or usual}"
    if vertices is not None and shortest is not None and shortest > vertices:
        faults["min_length"] = f"the graph has {vertices:,} vertices"
    threads, cores = values.get("threads"), os.cpu_count() or 1
    if threads is not None and threads > _MOST_THREADS_OF_A_CORE * cores:
        faults["threads"] = f"at most {_MOST_THREADS_OF_A_CORE * cores:,} here"
    if choices.arch == WITHOUT_FOLDER:
        if choices.collect:
            faults["what"] = f"arch {WITHOUT_FOLDER} keeps no cycles: count them, or choose another arch"
        if choices.directory.strip():
            faults["directory"] = f"arch {WITHOUT_FOLDER} keeps no run folder: leave this empty"
    if choices.arch != WITHOUT_FOLDER and choices.directory.strip():
        try:
            check_is_free(expanded(choices.directory))
            _check_is_writable(expanded(choices.directory))
        except ChordlessError as error:
            faults["directory"] = str(error)
    return {**faults, **_faults_along_boundary(choices), **_faults_on_cluster(choices), **_faults_of_paths(choices)}


def _faults_of_paths(choices: LastChoices) -> dict[str, str]:
    """Return the fields that ask of paths what only `chordless paths` answers."""
    if not choices.all_pairs or not choices.collect:
        return {}
    if choices.picks:
        return {"what": f"`chordless paths ... --all-pairs --{choices.find}` finds this: count them, or name two ends"}
    return {"what": "`chordless paths ... --all-pairs --list` lists all paths: count them, or name two ends"}


def _faults_on_cluster(choices: LastChoices) -> dict[str, str]:
    """Return the fields that mean nothing to a search on a cluster."""
    faults: dict[str, str] = {}
    if not choices.cluster.strip():
        return faults
    if choices.find == "boundary" or choices.picks:
        faults["cluster"] = "one machine does this: leave this empty"
    if choices.arch == WITHOUT_FOLDER:
        faults["cluster"] = f"arch {WITHOUT_FOLDER} is for one machine: leave this empty"
    if choices.expansion == "paper":
        faults["expansion"] = "on a cluster paths grow at both ends"
    return faults


def _faults_along_boundary(choices: LastChoices) -> dict[str, str]:
    """Return the fields that mean nothing to what is found along a boundary."""
    faults: dict[str, str] = {}
    if choices.find != "boundary" and not choices.picks:
        return faults
    if choices.arch == "vulkan" and choices.find != "shortest":
        faults["what"] = f"this does not run on {choices.arch}: choose auto or cpu"
    if choices.limit.strip() and choices.find != "sample":
        faults["limit"] = "nothing to stop at: leave this empty"
    if choices.expansion == "paper":
        faults["expansion"] = "no paths grow along a boundary: choose both ends"
    return faults


def bounds_of(choices: LastChoices, least: int = SHORTEST_CYCLE) -> dict[str, Any]:
    """Return the bounds on the number of vertices and on the memory. A bound that is wrong or empty is none."""
    faults = faults_of(replace(choices, directory=""), least=least)
    texts = {field: getattr(choices, field.name).strip() for field in (*LENGTHS[:2], MEMORY)}
    values = {f.name: f.parse(text) if text and f.name not in faults else None for f, text in texts.items()}
    return {**values, "min_length": values["min_length"] or shortest_of(choices)}


def folder_fault(directory: str) -> str | None:
    """Return why no folder can be made in a directory; None if one can."""
    try:
        _check_is_writable(directory)
    except EngineError as error:
        return str(error)
    return None


def _check_is_writable(directory: str) -> None:
    path = Path(os.path.abspath(directory))
    place = next(folder for folder in (path, *path.parents) if os.path.lexists(folder))
    if (
        not os.path.isdir(place)
        or not os.access(place, os.W_OK | os.X_OK)
        or any(place.is_relative_to(kernel) for kernel in _OF_THE_KERNEL)
    ):
        raise EngineError(f"{place} cannot be written to: name a folder elsewhere")


def command_of(
    choices: LastChoices, graph: str, directory: Path | None, *, reading: str = AS_IT_IS, types: str = ""
) -> RunCommand:
    """Make the engine's command from choices without faults; `graph` is a spec or a path for the engine.

    A run without a directory is one of `WITHOUT_FOLDER`. A listing writes its cycles to the run directory, as
    ``chordless list -o DIR/`` does. Without `types` the .clu file beside a food web says what is living.
    """
    values: dict[str, Any] = {"min_length": shortest_of(choices)} | {
        field.name: field.parse(text)
        for field in (*LENGTHS, *RESOURCES)
        if (text := getattr(choices, field.name).strip())
    }
    if reading == OVERLAP:
        values.update(overlap=True, types=graph_source(types) or None)
    if choices.collect:
        values.update(output=str(directory), output_format="parts")
    if choices.find == "boundary":
        values.update(method="boundary")
    elif choices.is_best:
        weight = graph_source(choices.weight) or None
        values.update(pick="longest", shortest=choices.find == "shortest", weight=weight, method="auto")
    elif choices.find == "sample":
        values.update(_of_sample())
    return RunCommand(
        graph=graph,
        program_start=time.monotonic(),
        arch=choices.arch,
        expansion=choices.expansion,
        parity=choices.only_parity,
        between=choices.between,
        all_pairs=choices.all_pairs,
        checkpoint=None if directory is None else str(directory),
        **options_of(reading),
        **values,
    )


def _anew(command: RunCommand, directory: Path, **changes: Any) -> RunCommand:
    """Return a command for another run of the same graph, in a new run directory."""
    return replace(command, program_start=time.monotonic(), checkpoint=str(directory), resume=False, **changes)


# Fields of a search for all cycles, whatever else was asked for before.
_OF_ALL: dict[str, Any] = {"method": "search", "pick": "all", "shortest": False, "weight": None, "total_only": False}


def listing_of(command: RunCommand, directory: Path) -> RunCommand:
    """Turn the command of a count into one that lists the same cycles, in a new run directory."""
    arch = "auto" if command.arch == WITHOUT_FOLDER else command.arch
    return replace(kept_pick_of(command, directory), arch=arch, per_vertex=False, per_edge=False, **_OF_ALL)


def kept_pick_of(command: RunCommand, directory: Path) -> RunCommand:
    """Turn the command of a pick into one that picks the same cycles and keeps them, in a new run directory."""
    return _anew(command, directory, output=str(directory), output_format="parts")


def wave_of(command: RunCommand, directory: Path) -> RunCommand:
    """Turn a command into one that searches the same graph breadth first, in a new run directory."""
    output = str(directory) if command.output_format == "parts" else None
    return _anew(command, directory, expansion="paper", output=output, cluster=None, **_OF_ALL)


def boundary_of(command: RunCommand, directory: Path) -> RunCommand:
    """Turn the command of a count by a search into one along a boundary, in a new run directory."""
    return _anew(command, directory, expansion=EXPANSIONS[0], method="boundary")


def sample_of(command: RunCommand, directory: Path) -> RunCommand:
    """Turn the command of a count into one that draws some of the same cycles, in a new run directory."""
    sample = replace(listing_of(command, directory), **_of_sample(), limit=None, expansion=EXPANSIONS[0])
    return replace(sample, cluster=None, gpus=None)


def _of_sample() -> dict[str, Any]:
    """Return the fields of a sample: another one each time; the run keeps the seed."""
    seed = time.time_ns() // 1_000_000 % _SEEDS
    return {"pick": "sample", "method": "auto", "seed": seed, "per_vertex": True, "per_edge": True}


def with_kept_graph(command: RunCommand) -> RunCommand:
    """Return the command of a run in a folder, changed to read its graph again.

    A graph that came from standard input, or whose file is gone, is written from the run folder to a file in it. Raise
    ChordlessError if it cannot be read or written.
    """
    if command.checkpoint is None or is_spec(command.graph) or os.path.lexists(command.graph):
        return command
    directory = Path(os.path.abspath(command.checkpoint))
    path = directory / EDGE_LIST
    save_graph(RunDirectory(directory).graph(), path)
    as_read = replace(command, simplify=False, directed=False, file_format=None, encoding=None)
    return replace(as_read, graph=str(path), multigraph=True, overlap=False, types=None)


def expanded(text: str) -> str:
    """Return a path as a shell would pass it: without blanks around it, and with ``~`` replaced by the home folder."""
    return os.path.expanduser(text.strip())


def graph_source(text: str) -> str:
    """Return the typed graph as the engine shall read it: a file by its absolute path, a spec unchanged."""
    source = expanded(text)
    return os.path.abspath(source) if os.path.lexists(source) else source


def run_folder(runs_folder: Path, graph: str, reading: str = AS_IT_IS) -> Path:
    """Return an unused run directory for a graph, such as ``grid-7x10-2026-11-21-154500``."""
    name = PurePath(graph).name if os.path.lexists(graph) else graph
    words = re.sub(r"[^\w.-]+", "-", re.sub(r"(\.\w{1,8}){1,2}$", "", name)).strip("-.")[:60] or "graph"
    words += "-overlap" if reading == OVERLAP else ""
    path = runs_folder / f"{words}-{time.strftime('%Y-%m-%d-%H%M%S')}"
    number, free = 2, path
    while os.path.lexists(free):
        free = path.with_name(f"{path.name}-{number}")
        number += 1
    return free


def sentence_of(choices: LastChoices) -> str:
    """Return a sentence about the search that the choices ask for."""
    least, most = choices.min_length.strip(), choices.max_length.strip()
    usual = str(shortest_of(choices))
    of = f" of {least} or more vertices" if least not in ("", usual) else ""
    if most:
        of = f" of {most} vertices" if most == (least or usual) else f" of {least or usual} to {most} vertices"
    things = "chordless paths" if choices.is_of_paths else "chordless cycles"
    things = f"{choices.only_parity} {things}" if choices.only_parity else things
    things += " from {} to {}".format(*choices.between) if choices.between else ""
    limit, where = choices.limit.strip(), f"{things}{of} in {choices.graph}"
    if choices.is_best:
        kind = best_text(shortest=choices.find == "shortest", weighted=bool(choices.weight.strip()))
        return f"Draw one of the {kind} {where}"
    if choices.find == "sample":
        return f"Draw {limit or f'{USUAL_SAMPLE:,}'} {where} at random, and how many pass each edge"
    how = " along a boundary, without a look at each" if choices.find == "boundary" else ""
    if choices.expansion == "paper":
        how = ", breadth first as in the paper"
    on = f", on the cluster {choices.cluster.strip()}" if choices.cluster.strip() else ""
    return f"{'List' if choices.collect else 'Count'} {f'up to {limit}' if limit else 'all'} {where}{how}{on}"
