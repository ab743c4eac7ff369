"""A graph to a file or to standard output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.formats import write_edge_list
from kernels_ti.errors import EngineError

if TYPE_CHECKING:
    from kernels_ti.graph import Graph


def write_graph(graph: Graph, output: str, comments: Sequence[str]) -> None:
    """Write `graph` as an edge list.

    Parameters
    ----------
    graph : Graph
    output : str
        A file, or ``-`` for standard output.
    comments : sequence of str
        Lines at the top.

    Raises
    ------
    EngineError
        If that is not possible.
    """
    to_file = output != "-"
    target = output if to_file else sys.stdout.fileno()
    try:
        # UTF-8 whatever the terminal speaks: that is what the readers take.
        with open(target, "w", encoding="utf-8", closefd=to_file) as stream:
            write_edge_list(graph, stream, comments)
    except BrokenPipeError:
        raise
    except OSError as error:
        label = output if to_file else "standard output"
        raise EngineError(f"cannot write {label}: {error.strerror}") from error
