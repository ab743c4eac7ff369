"""Programs to compare with: their command lines, and how count and time are read from their output."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from chordless.bench.graphs import BenchGraph
from chordless.bench.measure import Count, Outcome
from chordless.bench.process import module_command, run_process
from kernels_ti import EngineError, OptionError

PLACEHOLDERS: dict[str, Callable[[BenchGraph], str]] = {
    "{el}": lambda graph: graph.plain_edge_list,
    "{g6}": lambda graph: graph.graph6,
    "{file}": lambda graph: graph.file,
}
_NUMBER = r"[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"
_OWN_SECONDS = re.compile(rf"\bsec(?:onds?)?\b[ \t=:]*({_NUMBER})")
_LABELLED = {"c3": re.compile(r"\bc3\b[ \t=:]*([0-9]+)"), "clc": re.compile(r"\bclc\b[ \t=:]*([0-9]+)")}
_WHOLE_NUMBER = re.compile(r"(?<![\w.,+-])[0-9]+(?![\w,]|\.[0-9])")
_LARGEST_OF_NAUTY = 64


@dataclass(frozen=True)
class Program:
    """A program that counts the chordless cycles of a graph file.

    Attributes
    ----------
    name : str
        Its name in the table.
    arguments : tuple of str
        The command line, with `PLACEHOLDERS`.
    shown : str
        The command line, for readers.
    count : re.Pattern, optional
        Matches the count in its only group. The default is `read_count`.
    largest : int, optional
        Number of vertices of the largest graph that it accepts.
    """

    name: str
    arguments: tuple[str, ...]
    shown: str
    count: re.Pattern[str] | None = None
    largest: int | None = None

    def obstacle(self, graph: BenchGraph) -> str | None:
        """Return a short reason why it cannot be run on `graph`; None if it can."""
        if not self.arguments:
            return "not installed"
        if self.largest is not None and graph.graph.n > self.largest:
            return f"n > {self.largest}"
        return None

    def run(self, graph: BenchGraph, timeout: float) -> Outcome:
        """Run the program once.

        Parameters
        ----------
        graph : BenchGraph
        timeout : float
            Seconds after which it is killed, with all processes that it started.

        Raises
        ------
        EngineError
            If the program cannot be started, fails, or prints no count.
        """
        ended = run_process([_filled_in(argument, graph) for argument in self.arguments], timeout)
        if ended.exit_code is None:
            return Outcome(timeout, complete=False)
        if ended.exit_code:
            raise EngineError(f"{self.name} ended with exit code {ended.exit_code}{ended.last_words}")
        count = self._count(ended.printed)
        if not count:
            raise EngineError(f"{self.name} printed no count")
        own = _OWN_SECONDS.findall(ended.printed)
        return Outcome(float(own[-1]) if own else ended.seconds, count=count)

    def _count(self, printed: str) -> Count:
        if self.count is None:
            return read_count(printed)
        found = self.count.search(printed)
        return {"cycles": int(found[1])} if found else {}


def networkx() -> Program:
    """Return the program that calls `networkx.chordless_cycles`. Its time is that of the enumeration only."""
    arguments = module_command("chordless.bench.networkx_count", "{el}")
    return Program("networkx", arguments, "sum(1 for c in networkx.chordless_cycles(G) if len(c) > 2)")


def nauty() -> Program:
    """Return ``countg`` of nauty, under its name on this system. Its time is that of the whole process."""
    found = next((name for name in ("countg", "nauty-countg") if shutil.which(name)), None)
    arguments = (found, "--H", "-q", "{g6}") if found else ()
    shown = shlex.join(arguments or ("countg", "--H", "-q", "{g6}"))
    return Program(
        "nauty-countg", arguments, shown, count=re.compile(r"induced cycles=([0-9]+)"), largest=_LARGEST_OF_NAUTY
    )


def given(text: str, option: str = "--program") -> Program:
    """Return the program of an option, such as ``--program NAME=COMMAND``.

    Raises
    ------
    OptionError
        If the name or a placeholder is missing, or there is no such program.
    """
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
    """Find the count in the output of a program.

    Parameters
    ----------
    printed : str

    Returns
    -------
    dict
        From ``clc N`` (cycles of four or more vertices) and perhaps ``c3 N``: ``clc`` and ``c3``. Otherwise
        ``cycles``: the last whole number, without a time ``sec S``. Empty if there is no number.
    """
    labelled = {key: int(numbers[-1]) for key, pattern in _LABELLED.items() if (numbers := pattern.findall(printed))}
    if "clc" in labelled:
        return labelled
    numbers = _WHOLE_NUMBER.findall(_OWN_SECONDS.sub(" ", printed))
    return {"cycles": int(numbers[-1])} if numbers else {}


def agrees(reported: Count, triangles: int, chordless: int) -> bool:
    """Return whether a reported count is right. A single number may include the triangles or not."""
    if "cycles" in reported:
        return reported["cycles"] in (chordless, triangles + chordless)
    return reported["clc"] == chordless and reported.get("c3", triangles) == triangles


def _filled_in(argument: str, graph: BenchGraph) -> str:
    for placeholder, path_of in PLACEHOLDERS.items():
        if placeholder in argument:
            argument = argument.replace(placeholder, path_of(graph))
    return argument
