"""Cycles as lines: the names of their vertices as text, or as JSON arrays."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from chordless.graphs.vertex_names import json_name
from chordless.words.shown import separator_of
from kernels_ti import OptionError
from kernels_ti.cycles import Cycles
from kernels_ti.device.made_ahead import made_ahead

LineFormat = Literal["text", "jsonl"]

# Vertices joined at a time: few calls for a piece, whose tokens stay in the cache.
_PIECE_VERTICES = 1 << 17
_TRIANGLE = 3


class CycleEncoder:
    """Turns cycles of vertex indices into lines of vertex names, vectorised over all vertices of a slice.

    A line of ``text`` has names separated by a blank, or by a TAB in the whole output if some name contains white
    space. A line of ``jsonl`` is a JSON array; names that are integers stay integers, all others are strings. An
    OptionError names a name that cannot be told from the separators of the text format. No cycle has fewer vertices
    than `shortest`.
    """

    def __init__(self, names: Sequence[Hashable], line_format: LineFormat, *, shortest: int = _TRIANGLE) -> None:
        self._shortest = shortest
        encode_name: Callable[[Hashable], bytes]
        if line_format == "jsonl":
            encode_name, opening, separator, closing = _json_name, b"[", b",", b"]\n"
        else:
            encode_name, opening, separator, closing = _text_name, b"", separator_of(names).encode(), b"\n"
        encoded = [encode_name(name) for name in names]
        self._encoded, self._separator = encoded, separator
        first = [opening + name + separator for name in encoded]
        middle = [name + separator for name in encoded]
        last = [name + closing for name in encoded]
        only = [opening + name + closing for name in encoded]
        widths = {len(token) for token in first + middle + last + only}
        self._width = max(widths, default=1)
        # Short tokens are padded with zero bytes, which no name contains. The padding is removed afterwards.
        self._padded = len(widths) > 1
        self._first, self._middle, self._last, self._only = (
            np.array(tokens, f"S{self._width}").view(f"V{self._width}") for tokens in (first, middle, last, only)
        )

    def encode(self, cycles: Cycles) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of `cycles` in pieces, in order: the number of lines in the piece, and its bytes.

        Several threads make the pieces while earlier ones are written.
        """

        def made(piece: tuple[int, int]) -> tuple[int, bytes]:
            start, stop = piece
            return stop - start, self._lines(cycles.offsets[start : stop + 1], cycles.vertices)

        pieces = list(self._pieces(cycles.offsets))
        yield from made_ahead(made, pieces) if len(pieces) > 1 else map(made, pieces)

    def _pieces(self, offsets: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        """Cut cycles into ranges with about as many vertices; the last number of a range is one past its end."""
        step = max(_PIECE_VERTICES // (1 + self._width // 8), 1)
        start = 0
        while start < len(offsets) - 1:
            stop = int(np.searchsorted(offsets, offsets[start] + step, side="right")) - 1
            stop = max(stop, start + 1)
            yield start, stop
            start = stop

    def could_begin(self, line: bytes) -> bool:
        """Say whether a line with its end names as many vertices as a cycle has, none of them twice."""
        if not line.endswith(b"\n"):
            return False
        if self._separator == b",":
            try:
                named = [_json_name(name) for name in json.loads(line)]
            except (ValueError, TypeError, RecursionError):
                return False
        else:
            named = line[:-1].split(self._separator)
        return len(named) >= self._shortest and len(set(named)) == len(named) and {*self._encoded}.issuperset(named)

    def _lines(self, offsets: npt.NDArray[np.int64], vertices: npt.NDArray[np.integer]) -> bytes:
        begin, end = offsets[0], offsets[-1]
        starts, ends = offsets[:-1], offsets[1:] - 1
        tokens: npt.NDArray[Any] = np.take(self._middle, vertices[begin:end])
        tokens[starts - begin] = self._first[vertices[starts]]
        tokens[ends - begin] = self._last[vertices[ends]]
        loops = ends[starts == ends]
        tokens[loops - begin] = self._only[vertices[loops]]
        flat: npt.NDArray[np.uint8] = tokens.view(np.uint8)
        return (flat[flat != 0] if self._padded else flat).tobytes()


def _text_name(name: Hashable) -> bytes:
    text = str(name)
    if any(character in text for character in "\t\n\r\v\f\0"):
        raise OptionError(f"the vertex name {text!r} does not fit in a line of text; list to a file.jsonl instead")
    return text.encode(errors="backslashreplace")


def _json_name(name: Hashable) -> bytes:
    return json.dumps(json_name(name), ensure_ascii=False).encode(errors="backslashreplace")
