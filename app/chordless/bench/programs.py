"""Graphs to measure on, in every file format, and programs to compare with: command lines, and how output is read."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from chordless.bench.measure import Count, Outcome
from chordless.bench.process import checked, in_child, run_process
from chordless.graphs.load import load_graph
from chordless.graphs.writers import write_edge_list, write_graph_file
from kernels_ti import EngineError, Graph, OptionError, child

_NUMBER = r"[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"
_OWN_SECONDS = re.compile(rf"\bsec(?:onds?)?\b[ \t=:]*({_NUMBER})")
_LABELLED = {"c3": re.compile(r"\bc3\b[ \t=:]*([0-9]+)"), "clc": re.compile(r"\bclc\b[ \t=:]*([0-9]+)")}
_WHOLE_NUMBER = re.compile(r"(?<![\w.,+-])[0-9]+(?![\w,]|\.[0-9])")
_NAUTY_LINE = re.compile(r"^\s*([0-9]+) graphs : induced cycles=([0-9]+)\s*$", re.MULTILINE)
_LARGEST_OF_NAUTY = 64


@dataclass(frozen=True, eq=False)
class BenchGraph:
    """A graph with its name, and its files, which number the vertices in the same way; each is written when used."""

    title: str
    graph: Graph
    folder: Path

    @cached_property
    def file(self) -> str:
        """Path of an edge list in the format of ``chordless generate``. Vertices are numbered from 1."""
        path = self.folder / "graph.txt"
        # Numbers, not names: a search does not need names, and some names cannot be written.
        with path.open("w", encoding="utf-8") as stream:
            write_edge_list(Graph(self.graph.row_ptr, self.graph.col_idx), stream)
        return str(path)

    @cached_property
    def plain_edge_list(self) -> str:
        """Path of a file with a line ``n m`` and a line ``u v`` for each edge. Vertices are numbered from 0."""
        path = self.folder / "graph.el"
        with path.open("w", encoding="ascii") as stream:
            stream.write(f"{self.graph.n} {self.graph.m}\n")
            stream.writelines(f"{u} {v}\n" for u, v in self.graph.edges().tolist())
        return str(path)

    @cached_property
    def graph6(self) -> str:
        """Path of a graph6 file."""
        path = self.folder / "graph.g6"
        with path.open("wb") as stream:
            write_graph_file(self.graph, str(path), stream)
        return str(path)


def new_folder(stack: ExitStack) -> Path:
    """Make an empty folder that is there until the stack is left."""
    return Path(stack.enter_context(TemporaryDirectory(prefix="chordless-bench-")))


def graphs_of(names: Sequence[str], stack: ExitStack, *, simplify: bool = False) -> list[BenchGraph]:
    """Load graphs by their files or specs, each with a folder of its own."""
    return [BenchGraph(name, load_graph(name, simplify=simplify).graph, new_folder(stack)) for name in names]


PLACEHOLDERS: dict[str, Callable[[BenchGraph], str]] = {
    "{el}": lambda graph: graph.plain_edge_list,
    "{g6}": lambda graph: graph.graph6,
    "{file}": lambda graph: graph.file,
}


@dataclass(frozen=True)
class Program:
    """A program that counts the chordless cycles of a graph file."""

    name: str  # In the table
    arguments: tuple[str, ...]  # The command line, with `PLACEHOLDERS`; empty if the program is not installed
    shown: str  # The command line, for readers
    count: Callable[[str], Count] = lambda printed: read_count(printed)  # Finds the count in the output
    largest: int | None = None  # Vertices of the largest graph that it accepts

    def obstacle(self, graph: BenchGraph) -> str | None:
        """Return a short reason why it cannot be run on `graph`; None if it can."""
        if not self.arguments:
            return "not installed"
        if self.largest is not None and graph.graph.n > self.largest:
            return f"n > {self.largest}"
        return None

    def run(self, graph: BenchGraph, timeout: float) -> Outcome:
        """Run the program once; see `run_counter`."""
        return run_counter([_filled_in(argument, graph) for argument in self.arguments], self.count, timeout)


def run_counter(arguments: Sequence[str], count_in: Callable[[str], Count], timeout: float | None = None) -> Outcome:
    """Run a program once; its time is what it prints as ``sec S``, or else that of the process; see `run_process`."""
    ended = run_process(arguments, timeout)
    if ended.exit_code is None:
        return Outcome(ended.seconds if timeout is None else timeout, complete=False)
    checked(ended)
    count = count_in(ended.printed)
    if not count:
        raise EngineError("printed no count")
    own = _OWN_SECONDS.findall(ended.printed)
    return Outcome(float(own[-1]) if own else ended.seconds, count=count)


def networkx() -> Program:
    """Return the program that calls `networkx.chordless_cycles`. Its time is that of the enumeration only."""
    arguments = child.command(in_child("count_with_networkx"), "{el}")
    return Program("networkx", arguments, "sum(1 for c in networkx.chordless_cycles(G) if len(c) > 2)")


def nauty() -> Program:
    """Return ``countg`` of nauty, under its name on this system. Its time is that of the whole process."""
    found = installed("countg")
    arguments = (found, "--H", "-q", "{g6}") if found else ()
    shown = shlex.join(arguments or ("countg", "--H", "-q", "{g6}"))

    def count(printed: str) -> Count:
        return {name: cycles for name, cycles in read_nauty(printed).items() if name == "cycles"}

    return Program("nauty-countg", arguments, shown, count, _LARGEST_OF_NAUTY)


def installed(tool: str) -> str | None:
    """Return the name of a tool of nauty on this system; None if it is not installed."""
    return next((name for name in (tool, f"nauty-{tool}") if shutil.which(name)), None)


def read_nauty(printed: str) -> Count:
    """Return the graphs and cycles of the lines of ``countg --H``; nothing if there is no line."""
    found = [(int(graphs), int(cycles)) for graphs, cycles in _NAUTY_LINE.findall(printed)]
    return {"graphs": sum(n for n, _ in found), "cycles": sum(n * cycles for n, cycles in found)} if found else {}


def given(text: str, option: str = "--program") -> Program:
    """Return the program of an option ``--program NAME=COMMAND``, or raise an OptionError."""
    name, _, command = text.partition("=")
    example = "right is 'NAME=COMMAND {el}', with {el}, {g6} or {file} where the graph's file goes"
    if not name.strip() or not command.strip():
        raise OptionError(f"{option} {text}: {example}")
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise OptionError(f"{option} {text}: {error}") from None
    if not any(placeholder in argument for argument in arguments for placeholder in PLACEHOLDERS):
        raise OptionError(f"{option} {text}: the graph has no place in it; {example}")
    if shutil.which(arguments[0]) is None:
        raise OptionError(f"{option} {text}: there is no program {arguments[0]}")
    return Program(name.strip(), tuple(arguments), command.strip())


def read_count(printed: str) -> Count:
    """Find the count in the output of a program; it is empty if there is no number.

    It is that of ``clc N`` and perhaps ``c3 N``, else ``cycles``: the last whole number, without a time ``sec S``.
    """
    labelled = {key: int(numbers[-1]) for key, pattern in _LABELLED.items() if (numbers := pattern.findall(printed))}
    if "clc" in labelled:
        return labelled
    numbers = _WHOLE_NUMBER.findall(_OWN_SECONDS.sub(" ", printed))
    return {"cycles": int(numbers[-1])} if numbers else {}


def _filled_in(argument: str, graph: BenchGraph) -> str:
    for placeholder, path_of in PLACEHOLDERS.items():
        if placeholder in argument:
            argument = argument.replace(placeholder, path_of(graph))
    return argument
