"""Size of a graph while its name is being typed: at once, and in bounded time; and whether it has weights."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from chordless.graphs import generators
from chordless.graphs.families import LARGEST_NETWORKX_SIZE, LARGEST_SIZE
from chordless.graphs.load import LoadedGraph, load_graph, read_weight_file
from chordless.graphs.readers.incoming import Limits
from chordless.values import SHORTEST_CYCLE
from kernels_ti import GraphError
from kernels_ti.errors import quantity, vertices_text

LARGEST_MADE = 20_000
"""Vertices and edges up to which a graph is made for this check, which takes some hundredths of a second."""
LARGEST_READ = 2_000_000
"""Bytes up to which a file is read for this check."""
# Some files in /proc look like any other, and block as a device does.
_LIMITS = Limits(patience=1.0)


@dataclass(frozen=True)
class GraphFacts:
    """The known facts about a graph."""

    # `n`, `m`, `max_degree`: vertices, edges and largest degree; None if the whole graph would have to be read
    n: int | None
    m: int | None
    max_degree: int | None
    note: str = ""  # A remark: empty, or a clause without a full stop
    reader_notes: tuple[str, ...] = ()  # See `chordless.graphs.load.LoadedGraph.notes`
    directed: bool = False  # Edges are arcs
    # Vertices of the shortest cycle that such a graph can have: 3 if it is known to be simple
    shortest: int = SHORTEST_CYCLE
    loaded: LoadedGraph | None = field(default=None, compare=False, repr=False)  # The graph itself, if it was made

    @classmethod
    def of(cls, loaded: LoadedGraph, note: str = "") -> GraphFacts:
        """Return the facts of a graph in memory."""
        graph, notes = loaded.graph, loaded.notes
        shortest = SHORTEST_CYCLE if graph.is_simple else 1
        return cls(graph.n, graph.m, graph.max_degree, note, notes, graph.directed, shortest, loaded)

    def __str__(self) -> str:
        parts = [
            "" if self.n is None else vertices_text(self.n),
            "" if self.m is None else quantity(self.m, "arc" if self.directed else "edge"),
            "" if self.max_degree is None else f"largest degree {self.max_degree:,}",
            self.note,
        ]
        return ", ".join(part for part in parts if part)


def check_graph(source: str, *, simplify: bool = False, directed: bool = False, multigraph: bool = False) -> GraphFacts:
    """Return the facts of a graph as the engine will read it; of a large graph, only those known without reading it.

    The parameters are those of `chordless.graphs.load.load_graph`, without ``-``, and a GraphError has the message of
    the engine.
    """
    if source == "-":
        raise GraphError("standard input is the keyboard here; name a file or a spec such as grid:7x10")
    limits = None
    if os.path.lexists(source):
        if too_large := _too_large(source):
            return too_large
        limits = _LIMITS
    elif (known := _known_before(source)) is not None:
        cost, facts = known
        if LARGEST_MADE < cost <= LARGEST_SIZE and not directed:
            return facts
    # A graph that is too large to be made is refused by its size, before anything is allocated.
    loaded = load_graph(source, simplify=simplify, directed=directed, multigraph=multigraph, limits=limits)
    return GraphFacts.of(loaded)


def check_overlap(web: str, types: str | None) -> GraphFacts:
    """Return the facts of the niche overlap graph of a food web; a GraphError if there is no such web."""
    from chordless.graphs.overlap import read_food_web, require_web, types_beside

    require_web(web)
    _check_kind(types or types_beside(web) or web)
    if too_large := _too_large(web):
        return too_large
    read = read_food_web(web, types)
    note = "no .clu beside it: every vertex counts as living, detritus too" if read.lacks_types else ""
    return GraphFacts.of(LoadedGraph(read.overlap, web), note)


def check_weights(loaded: LoadedGraph, name: str) -> None:
    """Raise a ChordlessError with the message of the engine if a file or an attribute gives a graph no weights.

    A large file is not looked into.
    """
    from chordless.graphs.attribute_weights import weights_asked_for

    if _too_large(name) is None:
        data, _ = weights_asked_for(loaded, loaded.title, name)
        read_weight_file(name, loaded.graph, data=data, graph_file=loaded.title).gains.require_fit()


def is_food_web(path: str) -> bool:
    """Return whether a file is a web of arcs with a partition beside it that says which vertices are living."""
    from chordless.graphs.overlap import read_food_web, types_beside

    if not os.path.isfile(path) or os.path.getsize(path) > LARGEST_READ or Path(path).suffix.lower() != ".net":
        return False
    types = types_beside(path)
    if types is None or not os.path.isfile(types):
        return False
    try:
        read_food_web(path, types)
    except GraphError:
        return False
    return True


def _check_kind(path: str) -> None:
    # Reading a device or a pipe may never end, or take data away from another reader.
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise GraphError(f"{path}: this is a device or a pipe, not a graph file; name a file")


def _too_large(path: str) -> GraphFacts | None:
    _check_kind(path)
    # The reader reports what is not a file or does not exist.
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    if size <= LARGEST_READ:
        return None
    from chordless.words.numbers import bytes_text

    note = f"a file of {bytes_text(size)}: too large to look into before the start"
    return GraphFacts(None, None, None, note, shortest=1)


def _known_before(spec: str) -> tuple[int, GraphFacts] | None:
    """Return the cost of making the graph of a spec, and its known facts; None where making it tells more."""
    try:
        known = generators.family_size(spec)
    except GraphError:
        return None
    if known is not None:
        family, size = known
        cost = max(size.n, size.m)
        return (cost, GraphFacts(*size)) if cost <= family.largest else None
    numbers = generators.random_numbers(spec)
    if numbers is None:
        return None
    kind, (first, second, *_) = spec.partition(":")[0], numbers
    if kind == "planar":
        return 3 * first // 2, GraphFacts(first, 3 * first // 2, None)
    if kind == "regular":
        m = first * second // 2
        exists = first < second and first * second % 2 == 0 and m <= LARGEST_NETWORKX_SIZE
        return (m, GraphFacts(second, m, first)) if exists else None
    pairs = first * (first - 1) // 2
    if second > 1 or (m := round(pairs * second)) > LARGEST_NETWORKX_SIZE:
        return None
    return max(first, pairs), GraphFacts(first, None, None, f"about {m:,} edges drawn at random")
