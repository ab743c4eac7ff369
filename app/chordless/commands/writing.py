"""Writing files as a whole or not at all, and writing to standard output, which may fail."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from chordless.files import whole_file
from chordless.words.shown import lines_on_terminal, on_terminal
from kernels_ti import EngineError, OptionError

if TYPE_CHECKING:
    from kernels_ti import Graph


THE_GRAPH = "the file of the graph"


def require_other_files(
    inputs: Iterable[tuple[str, str | None]], outputs: Mapping[str, str | None], folder: str | None = None
) -> None:
    """Raise an OptionError if an output would destroy something: an input, another output, or a file of a run.

    Each input has its name, such as `THE_GRAPH`, and its path, each output its option; no output may lie in the
    `folder` of the run that begins.
    """
    inputs, named = list(inputs), [(option, path) for option, path in outputs.items() if path is not None]
    for i, (option, path) in enumerate(named):
        from chordless.runs.directory import run_that_keeps  # most commands name no output

        for what, read in inputs:
            read = "/dev/stdin" if read == "-" else read
            if read is not None and os.path.isfile(read) and _is_same(read, path):
                raise OptionError(f"{option} {path}: this is {what}, which would be lost; name another file")
        for other, there in named[:i]:
            if _is_same(there, path):
                raise OptionError(
                    f"{other} {there} and {option} {path}: this is one file; name another for one of them"
                )
        if folder is not None and _lies_in(folder, path):
            raise OptionError(f"{option} {path}: this lies in the folder of the run, {folder}; name a file outside")
        if (run := run_that_keeps(path)) is not None:
            raise OptionError(f"{option} {path}: this is a file of the run in {run}, which would be lost")


def _is_same(one: str, other: str) -> bool:
    """Return whether two paths are one file; a device such as /dev/null takes the output of many."""
    try:
        return os.path.samefile(one, other) and os.path.isfile(one)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def _lies_in(folder: str, path: str) -> bool:
    return os.path.join(os.path.realpath(path), "").startswith(os.path.join(os.path.realpath(folder), ""))


def require_writable(output: str) -> None:
    """Raise an OptionError if graphs are not written in the format that the suffix of a file says."""
    from chordless.graphs.writers import format_to_write

    if output != "-":
        format_to_write(output)


def write_graph(graph: Graph, output: str, comments: Sequence[str]) -> list[str]:
    """Write a graph to a file, in the format of its suffix, or for ``-`` to standard output as an edge list.

    The comments go to the top, where the format has any. Returns notes for the user, a line each, about what the format
    does not hold. Raises EngineError for a failing disk, GraphError for a graph that the format cannot hold, and
    OptionError for a format that is not written.
    """
    from chordless.graphs.writers import write_edge_list, write_graph_file

    # Always UTF-8, whatever the encoding of the terminal, because the readers take nothing else.
    if output != "-":
        require_writable(output)
        with whole_file(output) as file:
            return write_graph_file(graph, output, file, comments)
    try:
        with open(sys.stdout.fileno(), "w", encoding="utf-8", closefd=False) as stream:
            write_edge_list(graph, lines_on_terminal(stream), comments)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise EngineError(f"cannot write standard output: {error.strerror}") from error
    return []


def write_lines(lines: Iterable[str], output: str) -> None:
    """Write lines to a file, as a whole, or for ``-`` to standard output, as they come; a TAB may stand in them."""
    if output != "-":
        with whole_file(output) as file:
            file.writelines(f"{line}\n".encode() for line in lines)
        return
    for line in lines:
        sys.stdout.write("\t".join(on_terminal(part, sys.stdout) for part in line.split("\t")) + "\n")
    sys.stdout.flush()
