"""The command line that repeats a run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from chordless.values import SHORTEST_PATH

# The field of a `RunCommand`, the option, and the default.
_WITH_VALUE = (
    ("file_format", "--format", None),
    ("encoding", "--encoding", None),
    ("min_length", "--min-length", 3),
    ("max_length", "--max-length", None),
    ("limit", "--limit", None),
    ("timeout", "--timeout", None),
    ("arch", "--arch", None),
    ("threads", "--threads", None),
    ("memory", "--memory", None),
    ("expansion", "--expansion", "two-ended"),
    ("method", "--method", "search"),
    ("order", "--order", None),
)
_FLAGS = (
    ("simplify", "--simplify"),
    ("directed", "--directed"),
    ("multigraph", "--multigraph"),
    ("total_only", "--total-only"),
    ("per_vertex", "--per-vertex"),
    ("per_edge", "--per-edge"),
    ("symmetry", "--symmetry"),
    ("proof", "--proof"),
    ("in_order", "--sorted"),
)
_NAMES = (
    ("through", "--through"),
    ("through_edges", "--through-edge"),
    ("avoid", "--avoid"),
    ("avoid_edges", "--avoid-edge"),
)


def command_line(graph: str, asked: Mapping[str, Any]) -> str:
    """Return a line for a shell that searches for the same in a file or spec.

    `asked` has the fields of `chordless.protocol.orders.RunCommand`, as `Started.options`; fields that an older
    recording lacks have their defaults.
    """
    if not asked.get("overlap"):
        return shlex.join(_words(graph, asked))
    overlap = ["chordless", "overlap", graph]
    types = ["--types", asked["types"]] if asked.get("types") else []
    if asked.get("per_vertex"):
        return shlex.join([*overlap, "--report", *types, *_options({**asked, "min_length": 3, "per_vertex": False})])
    return f"{shlex.join([*overlap, *types])} | {shlex.join(_words('-', asked))}"


def _words(graph: str, asked: Mapping[str, Any]) -> list[str]:
    lists = asked.get("output") is not None
    if asked.get("between") or asked.get("all_pairs"):
        ends = asked["between"] or ["--all-pairs"]
        output = list(_output(asked)) if lists else []
        return ["chordless", "paths", graph, *ends, *_options(asked), *(output or (["--list"] if lists else []))]
    return ["chordless", "list" if lists else "count", graph, *_options(asked), *(_output(asked) if lists else ())]


def _options(asked: Mapping[str, Any]) -> Iterator[str]:
    for field, option, usual in _WITH_VALUE:
        default = SHORTEST_PATH if field == "min_length" and (asked.get("between") or asked.get("all_pairs")) else usual
        value = asked.get(field, default)
        if value != default:
            yield from (option, f"{value:g}" if isinstance(value, float) else str(value))
    if asked.get("parity") is not None:
        yield f"--{asked['parity']}"
    if asked.get("part") is not None:
        first, parts = asked["part"]
        yield from ("--part", f"{first}/{parts}")
    for field, option in _NAMES:
        for names in asked.get(field, ()):
            yield from (option, str(names))
    yield from (option for field, option in _FLAGS if asked.get(field))


def _output(asked: Mapping[str, Any]) -> Iterator[str]:
    output = str(asked["output"])
    if asked.get("output_format") == "parts":
        yield from ("-o", f"{output.rstrip('/')}/")
    elif output != "-":
        yield from ("-o", output)
