"""The manifest of a batch: defaults and jobs, in TOML.

::

    [defaults]
    max_length = 20
    timeout = "5m"

    [[jobs]]
    graph = "webs/*.net"

    [[jobs]]
    graph = ["roads.txt", "grid:6x6"]
    task = "list"
    cycles = "cycles"

Paths are relative to the folder of the manifest.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from chordless import values
from chordless.batch.jobs import checked, expand
from chordless.files import read_file
from chordless.graphs.generators import is_spec
from chordless.graphs.load import checked_encoding, checked_format
from chordless.graphs.readers.incoming import STANDARD_INPUT
from chordless.protocol.orders import FORMATS, BatchJob
from chordless.values import ALL_LIVING
from kernels_ti import ChordlessError, OptionError
from kernels_ti.choices import ARCHES, METHODS, PARITIES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TASKS = ("count", "list")
LISTING_FORMATS = ("txt", "jsonl", "npy")
_TABLES = ("defaults", "jobs")


def read_manifest(path: str, template: BatchJob) -> tuple[BatchJob, ...]:
    """Return the jobs of a manifest in its order, with the files that match instead of patterns.

    `template` has the values for fields that neither the job nor the defaults set. Its `listing` is the folder for the
    jobs that list cycles. It does not turn a job into a listing. An OptionError, which names file, job and key and says
    what would be right, is raised if the file is not TOML, or a key or a value is wrong.
    """
    values = _read(path)
    for name in values:
        if name not in _TABLES:
            raise OptionError(f"{path}: {name}: {_unknown(name, _TABLES)}")
    defaults = values.get("defaults", {})
    if not isinstance(defaults, dict):
        raise OptionError(f"{path}: defaults: must be a table, [defaults]")
    if "graph" in defaults:
        raise OptionError(f"{path}: defaults: graph: belongs to a job, [[jobs]]")
    entries = values.get("jobs", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise OptionError(f"{path}: jobs: must be tables, [[jobs]]")
    if not entries:
        raise OptionError(f"{path}: there are no jobs; each begins with a line [[jobs]] and has a key graph")
    given = _checked(defaults, f"{path}: defaults")
    jobs: list[BatchJob] = []
    for i, entry in enumerate(entries):
        jobs += _jobs(entry, given, template, Path(path).parent, f"{path}: job {i + 1}")
    try:
        return checked(jobs)
    except OptionError as error:
        raise OptionError(f"{path}: {error}") from error


def _read(path: str) -> dict[str, Any]:
    try:
        text = read_file(path, pipes=True).decode("utf-8-sig")
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise OptionError(f"{path}: this is not UTF-8 text; a manifest is a TOML file") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at line ([0-9]+), column [0-9]+\)$", str(error))
        place = f"{path}:{found[1]}" if found else path
        what = str(error)[: found.start()] if found else str(error)
        raise OptionError(f"{place}: not TOML: {what[:1].lower()}{what[1:]}") from None
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{path}: not a manifest: {error}") from None


def _jobs(
    entry: dict[str, Any], defaults: dict[str, Any], template: BatchJob, folder: Path, place: str
) -> list[BatchJob]:
    values = {**defaults, **_checked(entry, place)}
    if "graph" not in values:
        raise OptionError(f"{place}: graph: is missing; a file, a pattern, a spec, or a list of these")
    graphs, task, cycles = values.pop("graph"), values.pop("task", TASKS[0]), values.pop("cycles", None)
    listing = template.listing if cycles is None else os.path.normpath(os.path.join(folder, cycles))
    if task == "list" and listing is None:
        raise OptionError(f"{place}: cycles: is missing; a list needs a folder to write to, here or by --cycles DIR")
    if values.get("types", ALL_LIVING) != ALL_LIVING:
        values["types"] = os.path.normpath(os.path.join(folder, values["types"]))
    job = replace(template, **values, listing=listing if task == "list" else None)
    if job.types is not None and not job.overlap:
        raise OptionError(f"{place}: types: is for food webs; add overlap = true")
    try:
        paths = [path for graph in graphs for path in expand(_from(folder, graph))]
    except ChordlessError as error:
        raise OptionError(f"{place}: graph: {error}") from error
    return [replace(job, graph=path) for path in paths]


def _from(folder: Path, graph: str) -> str:
    """Return a path relative to the current folder, or a spec unchanged."""
    path = os.path.normpath(os.path.join(folder, graph))
    if graph == STANDARD_INPUT or os.path.lexists(path):
        return graph if graph == STANDARD_INPUT else path
    return graph if is_spec(graph) else path


def _checked(table: dict[str, Any], place: str) -> dict[str, Any]:
    """Return the checked values of a table: fields of `BatchJob`, ``graph``, ``task`` and ``cycles``."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KEYS:
            raise OptionError(f"{place}: {key}: {_unknown(key, tuple(_KEYS))}")
        field, read = _KEYS[key]
        try:
            values[field] = read(value)
        except (argparse.ArgumentTypeError, OptionError) as error:
            raise OptionError(f"{place}: {key}: {error}") from None
    return values


def _unknown(name: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"there is no such key; did you mean {close[0]}?" if close else f"there is no such key; {', '.join(known)}"


def _graphs(value: Any) -> list[str]:
    graphs = [value] if isinstance(value, str) else value
    if not isinstance(graphs, list) or not graphs or not all(isinstance(graph, str) and graph for graph in graphs):
        raise OptionError(f"{value!r} is no graph: a file, a pattern, a spec, or a list of these")
    return graphs


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise OptionError(f"{value!r} is not a name in quotes")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise OptionError(f"{value!r} is neither true nor false")
    return value


def _number(read: Callable[[str], int]) -> Callable[[Any], int]:
    def checked_number(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise OptionError(f"{value!r} is not a whole number")
        return read(str(value))

    return checked_number


def _duration(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise OptionError(f'{value!r} is not a time: seconds above 0, or "90s", "5m", "2h"')
    return values.duration(str(value))


def _one_of(choices: tuple[str, ...]) -> Callable[[Any], str]:
    def chosen(value: Any) -> str:
        if value not in choices:
            raise OptionError(f"{value!r} is not one of {', '.join(choices)}")
        return str(value)

    return chosen


_KEYS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "graph": ("graph", _graphs),
    "format": ("file_format", lambda value: checked_format(_text(value))),
    "simplify": ("simplify", _flag),
    "directed": ("directed", _flag),
    "multigraph": ("multigraph", _flag),
    "overlap": ("overlap", _flag),
    "types": ("types", _text),
    "encoding": ("encoding", lambda value: checked_encoding(_text(value))),
    "min_length": ("min_length", _number(values.any_cycle_length)),
    "max_length": ("max_length", _number(values.any_cycle_length)),
    "parity": ("parity", _one_of(PARITIES)),
    "task": ("task", _one_of(TASKS)),
    "cycles": ("cycles", _text),
    "cycles_format": ("listing_format", lambda value: FORMATS[f".{_one_of(LISTING_FORMATS)(value)}"]),
    "arch": ("arch", _one_of(ARCHES)),
    "method": ("method", _one_of(METHODS)),
    "limit": ("limit", _number(values.positive)),
    "timeout": ("timeout", _duration),
}
