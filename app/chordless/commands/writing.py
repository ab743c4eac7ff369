"""Writing files as a whole or not at all, and writing to standard output, which may fail."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from chordless.files import replaced, text_of
from kernels_ti import EngineError

if TYPE_CHECKING:
    from kernels_ti import Graph


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Yield a stream whose content replaces a file at the end; after a failure the old file stays.

    A link, or something that is no regular file, such as /dev/stdout, is written to directly, because it must not be
    replaced. See `chordless.files.replaced` for all others.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    EngineError
        If it cannot be written.
    """
    path = Path(path)
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            with path.open("wb") as stream:
                yield stream
            return
        if path.exists():
            # Raises if the file is write-protected: such a file is not to be replaced.
            path.open("ab").close()
        with replaced(path) as stream:
            yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise EngineError(f"cannot write {path}: {error.strerror or error}") from error


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
    from chordless.graphs.load import write_edge_list

    # Always UTF-8, whatever the encoding of the terminal, because the readers take nothing else.
    if output != "-":
        with whole_file(output) as file, text_of(file) as text:
            write_edge_list(graph, text, comments)
        return
    try:
        with open(sys.stdout.fileno(), "w", encoding="utf-8", closefd=False) as stream:
            write_edge_list(graph, stream, comments)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise EngineError(f"cannot write standard output: {error.strerror}") from error


def silence(stream: TextIO) -> None:
    """Discard what is buffered for a stream that cannot be written, and all that follows.

    Python would try to write it again at exit, and fail.
    """
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), stream.fileno())
