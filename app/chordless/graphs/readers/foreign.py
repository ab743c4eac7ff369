"""Formats that are not read, and whose files would pass for lists of edges."""

from __future__ import annotations

import re

from chordless.graphs.readers.source import format_options
from kernels_ti import GraphError

_ELSE = "is not read: save the graph as GraphML, GML or an edge list"
_FOREIGN = (
    (re.compile(rb"version https://git-lfs\."), "this is a pointer of Git LFS: `git lfs pull` fetches the file itself"),
    (re.compile(rb"nodedef>", re.IGNORECASE), f"GDF {_ELSE}"),
    (re.compile(rb"(?:strict\s+)?(?:di)?graph(?:\s+[^\s{]+)?\s*\{[^}]*-[->]", re.IGNORECASE), f"DOT {_ELSE}"),
)


def require_no_other_format(start: bytes, name: str) -> None:
    """Raise a GraphError if the beginning of a file is that of a format that is not read."""
    beginning = start.lstrip()
    for signature, words in _FOREIGN:
        if signature.match(beginning):
            raise GraphError(f"{name}: {words}")
    if _is_tgf(beginning):
        raise GraphError(f"{name}: TGF {_ELSE} ({format_options('edgelist')} takes each line for an edge)")


def _is_tgf(start: bytes) -> bool:
    """Return whether a line ``#`` stands between vertices with labels and edges between these vertices."""
    vertices, mark, edges = start.partition(b"\n#\n")
    if not mark:
        return False
    names = [line.split()[0] for line in vertices.split(b"\n") if line.strip()]
    ends = [line.split()[:2] for line in edges.split(b"\n")[:-1] if line.strip()]
    known = set(names)
    are_ends = bool(ends) and all(len(pair) == 2 and known.issuperset(pair) for pair in ends)
    return are_ends and len(known) == len(names)
