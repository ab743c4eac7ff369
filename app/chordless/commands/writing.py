"""Writing files as a whole or not at all, and writing to standard output, which may fail."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from chordless.files import whole_file
from kernels_ti import EngineError, OptionError

if TYPE_CHECKING:
    from kernels_ti import Graph


def require_other_files(graph: str, outputs: Mapping[str, str | None]) -> None:
    """Raise an OptionError if the file of an option is that of the graph, which would be lost."""
    for option, path in outputs.items():
        if path is None or not os.path.isfile(graph) or not os.path.exists(path):
            continue
        if os.path.samefile(graph, path):
            raise OptionError(f"{option} {path}: this is the file of the graph, which would be lost; name another file")


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
    from chordless.words.shown import lines_on_terminal

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


def silence(stream: TextIO) -> None:
    """Discard the buffer of a stream that cannot be written, and all that follows: else Python fails at exit."""
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), stream.fileno())
