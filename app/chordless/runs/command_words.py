"""The command line that repeats a run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from chordless.protocol.orders import USUAL_SAMPLE
from chordless.protocol.results import RESTRICTIONS
from chordless.values import SHORTEST_PATH

# Fields of a `RunCommand` whose options have a value, with the defaults that are not None; and those that have none.
_WITH_VALUE = (
    *("file_format", "encoding", "min_length", "max_length", "limit", "timeout", "arch", "threads", "memory"),
    *("expansion", "method", "order", "cluster"),
)
_DEFAULTS = {"min_length": 3, "expansion": "two-ended"}
_FLAGS = ("simplify", "directed", "multigraph", "total_only", "per_vertex", "per_edge", "symmetry", "proof", "in_order")
# Fields that make a count a search by themselves, see `chordless.commands.count.check_method`.
_OF_A_SEARCH = ("part", "cluster", "limit", "threads", "symmetry", "proof")
_CALLED = {"file_format": "format", "in_order": "sorted", "through_edges": "through-edge", "avoid_edges": "avoid-edge"}


def option_of(field: str) -> str:
    """Return the option of the command line that sets a field of a `RunCommand`."""
    return f"--{_CALLED.get(field, field.replace('_', '-'))}"


def command_line(graph: str, asked: Mapping[str, Any]) -> str:
    """Return a line for a shell that searches for the same in a file or spec.

    `asked` has the fields of `chordless.protocol.orders.RunCommand`, as `Started.options`; fields that an older
    recording lacks have their defaults.
    """
    if not asked.get("overlap"):
        return shlex.join(_words(graph, asked))
    types = [*_valued("--types", asked["types"])] if asked.get("types") else []
    if asked.get("per_vertex"):
        options = ["--report", *types, *_options({**asked, "min_length": 3, "per_vertex": False})]
        return shlex.join(_line("overlap", [graph], options))
    return f"{shlex.join(_line('overlap', [graph], types))} | {shlex.join(_words('-', asked))}"


def _words(graph: str, asked: Mapping[str, Any]) -> list[str]:
    lists = asked.get("output") is not None
    if asked.get("between") or asked.get("all_pairs"):
        named, every = [graph, *asked["between"]], [] if asked["between"] else ["--all-pairs"]
        if _picks(asked):
            best = [] if asked.get("shortest") or asked["pick"] == "sample" else ["--longest"]
            return _line("paths", named, [*every, *best, *_of_pick(asked, "--sample"), *_options(asked)])
        output = [*(["--list"] if asked["output"] == "-" else []), *_output(asked)] if lists else []
        return _line("paths", named, [*every, *_options(asked, _usual_method(asked)), *output])
    if _picks(asked):
        return _line(asked["pick"], [graph], [*_of_pick(asked, "-k"), *_options(asked)])
    options = [*_options(asked, _usual_method(asked)), *(_output(asked) if lists else ())]
    return _line("list" if lists else "count", [graph], options)


def _usual_method(asked: Mapping[str, Any]) -> str:
    """Return the method of a count or a listing without ``--method``; of an older recording, a search."""
    of_a_search = asked.get("arch") in ("vulkan", "reference") or asked.get("expansion") == "paper"
    settled = of_a_search or any(asked.get(field) for field in _OF_A_SEARCH)
    return "search" if settled or asked.get("output") is not None or "method" not in asked else "auto"


def _line(command: str, named: list[str], options: list[str]) -> list[str]:
    """Return the words of a line; what is named goes behind ``--`` where it looks like an option."""
    if any(name.startswith("-") and name != "-" for name in named):
        return ["chordless", command, *options, "--", *named]
    return ["chordless", command, *named, *options]


def _valued(option: str, value: Any) -> list[str]:
    """Return the words of an option and its value: one word where the value looks like an option itself."""
    text = repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
    return [f"{option}={text}"] if text.startswith("-") and text != "-" else [option, text]


def _picks(asked: Mapping[str, Any]) -> bool:
    return bool(asked.get("pick", "all") != "all")


def _of_pick(asked: Mapping[str, Any], number: str) -> Iterator[str]:
    """Return which cycles or paths are picked, and where a sample of a `number` goes; the best are printed."""
    if asked["pick"] == "sample":
        yield from (number, str(asked.get("limit") or USUAL_SAMPLE), "--seed", str(asked.get("seed", 0)))
        yield from _output(asked) if asked.get("output") is not None else ()
        return
    yield from ["--shortest"] if asked.get("shortest") else []
    yield from _valued("--weight", asked["weight"]) if asked.get("weight") is not None else []
    yield from ["-k", str(asked["limit"])] if asked.get("limit") is not None else []


def _options(asked: Mapping[str, Any], usual_method: str = "search") -> Iterator[str]:
    defaults: dict[str, Any] = {**_DEFAULTS, "method": usual_method}
    if asked.get("between") or asked.get("all_pairs"):
        defaults["min_length"] = SHORTEST_PATH
    if _picks(asked):
        defaults["method"] = "auto"
        asked = {**asked, "limit": None, "per_vertex": False, "per_edge": False}
    for field in _WITH_VALUE:
        value = asked.get(field, default := defaults.get(field))
        if value != default:
            yield from _valued(option_of(field), value)
    if asked.get("gpus") is not None:
        yield from ("--gpus", ",".join(map(str, asked["gpus"])))
    if asked.get("parity") is not None:
        yield f"--{asked['parity']}"
    if asked.get("part") is not None:
        first, parts = asked["part"]
        yield from ("--part", f"{first}/{parts}")
    for field in RESTRICTIONS:
        for names in asked.get(field, ()):
            yield from _valued(option_of(field), names)
    yield from (option_of(field) for field in _FLAGS if asked.get(field))


def _output(asked: Mapping[str, Any]) -> Iterator[str]:
    output = str(asked["output"])
    if asked.get("output_format") == "parts":
        yield from _valued("-o", f"{output.rstrip('/')}/")
    elif output != "-":
        yield from _valued("-o", output)
    elif asked.get("output_format") == "jsonl":
        yield "--json"
