"""The one tree of errors. Each class carries the exit code with which the program ends."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernels_ti.foreign_text import visible_lines

_MARKED = re.compile("\ue000([^\ue001\ue002]*)\ue001([^\ue001\ue002]*)\ue002")
_in_words_of_command_line = False


def worded(python: str, command_line: str) -> str:
    """Return a part of a message that reads differently in Python and on the command line."""
    return f"\ue000{python}\ue001{command_line}\ue002"


def parameter(name: str, value: str = "") -> str:
    """Name a parameter in a message: ``arch="cpu"`` in Python, ``--arch cpu`` on the command line."""
    option = f"--{name.replace('_', '-')}"
    return worded(f'{name}="{value}"' if value else name, f"{option} {value}" if value else option)


def type_of(value: object) -> str:
    """Name the type of a value with its article: ``a list``, ``an int``."""
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeio' else 'a'} {name}"


def quantity(number: int, one: str, more: str = "") -> str:
    """Return a number with its noun: ``1 edge``, ``1,475 edges``; `more` is the plural where "s" does not make it."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"


def vertices_text(number: int) -> str:
    """Return a number of vertices: ``1 vertex``, ``1,040 vertices``."""
    return quantity(number, "vertex", "vertices")


def bytes_text(size: float) -> str:
    """Return an amount of memory for people."""
    amount, unit = float(size), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if amount >= 100 or unit == "bytes" else f"{amount:.1f} {unit}"


SIMPLIFY = worded("simplify=True", "--simplify")
"""How a message names the option that drops self-loops, repeated edges and directions."""

MULTIGRAPH = worded("multigraph=True", "--multigraph")
"""How a message names the option that keeps self-loops and repeated edges."""

DIRECTED = worded("directed=True", "--directed")  # How a message names the option that takes edges as arcs


@contextmanager
def in_words_of_command_line() -> Iterator[None]:
    """Let the errors of this process name options of the command line instead of parameters of Python."""
    global _in_words_of_command_line
    before, _in_words_of_command_line = _in_words_of_command_line, True
    try:
        yield
    finally:
        _in_words_of_command_line = before


class ChordlessError(Exception):
    """Anything this project raises on purpose: one line for people, and an exit code.

    Messages name the parameters of Python, or the options of the command line within `in_words_of_command_line`.

    Attributes
    ----------
    exit_code : int
        What the command line exits with: 1 failed, 2 usage or unreadable graph, 3 arch not available,
        4 stopped by a limit.
    """

    exit_code = 1

    def __str__(self) -> str:
        # Names and paths of others may hold orders to the terminal on which Python shows the error.
        return visible_lines(_MARKED.sub(r"\2" if _in_words_of_command_line else r"\1", super().__str__()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class GraphError(ChordlessError, ValueError):
    """The input is not a graph that can be searched; the message names what is wrong and where."""

    exit_code = 2


class ReadingStoppedError(GraphError):
    """The time limit passed while the graph was still being read."""

    exit_code = 4


class OptionError(ChordlessError, ValueError):
    """An option has no such value, or two options contradict each other."""

    exit_code = 2


def require_flags(**flags: Any) -> None:
    """Raise OptionError if one of these options is neither True nor False; those of numpy are taken too."""
    for name, value in flags.items():
        is_flag = isinstance(value, bool) or (getattr(value, "dtype", None) == "bool" and value.shape == ())
        if not is_flag:
            raise OptionError(f"{name} must be True or False, not {value!r}")


class DeviceError(ChordlessError, RuntimeError):
    """The arch asked for is not there, fails its self-test, or cannot run this graph."""

    exit_code = 3


class EngineError(ChordlessError, RuntimeError):
    """The enumeration itself failed: out of memory, a driver error, a child process that died."""

    exit_code = 1


class TimeIsUpError(EngineError):
    """The time limit passed before there was an answer.

    Attributes
    ----------
    best : BestCycle or None
        Of `kernels_ti.longest_cycle`: the best cycle that was found; others may be better. Of `longest_path` a
        BestPath. None if none was found.
    """

    exit_code = 4
    best: Any = None


def time_is_up(seconds: float | None, answer: str, best: Any = None) -> TimeIsUpError:
    """Return the error for a time that was up before `answer`, with the best that was found, if anything was.

    Without a time-out the call was stopped: a watch may have another reason to say that it is too late.
    """
    so_far = "" if best is None else f"; the best one so far has {vertices_text(best.length)}"
    if best is not None and best.no_longer_than is not None:
        so_far += f", and none has more than {best.no_longer_than:,}"
    ended = "the call was stopped" if seconds is None or seconds == math.inf else f"the {seconds:g} s allowed were up"
    error = TimeIsUpError(f"{ended} before {answer}{so_far}")
    error.best = best
    return error


class SizeError(EngineError):
    """A block of the graph needs more memory than is allowed; a smaller maximum length may help."""

    exit_code = 2


class StatesError(SizeError):
    """The states of a boundary need more memory than is allowed; those of a count of all lengths may need less."""


class NoOrderError(SizeError):
    """No order of the vertices was found whose boundaries a state can hold: the graph has to be searched."""


class CheckpointError(ChordlessError, ValueError):
    """A run directory or its checkpoint cannot be used: damaged, foreign, in use, or not there."""

    exit_code = 2
