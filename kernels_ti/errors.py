"""The one tree of errors. Each class carries the exit code with which the program ends."""

from __future__ import annotations


class ChordlessError(Exception):
    """Anything this project raises on purpose: one line for people, and an exit code.

    Attributes
    ----------
    exit_code : int
        What the command line exits with: 1 failed, 2 usage or unreadable graph, 3 arch not available,
        4 stopped by a limit.
    """

    exit_code = 1


class GraphError(ChordlessError, ValueError):
    """The input is not a finite simple undirected graph; the message names what is wrong and where."""

    exit_code = 2


class ReadingStoppedError(GraphError):
    """The time that was allowed ended while the graph was still being read."""

    exit_code = 4


class OptionError(ChordlessError, ValueError):
    """An option has no such value, or two options contradict each other."""

    exit_code = 2


class DeviceError(ChordlessError, RuntimeError):
    """The arch asked for is not there, fails its self-test, or cannot run this graph."""

    exit_code = 3


class EngineError(ChordlessError, RuntimeError):
    """The enumeration itself failed: out of memory, a driver error, a child process that died."""

    exit_code = 1


class SizeError(EngineError):
    """A block of the graph is too large for the memory allowed, whatever is searched first; another bound may help."""

    exit_code = 2


class CheckpointError(ChordlessError, ValueError):
    """A run directory or its checkpoint cannot be used: damaged, foreign, in use, or not there."""

    exit_code = 2
