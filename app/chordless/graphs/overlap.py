"""The undirected niche overlap graph of a directed food web."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chordless.graphs.load import LoadedGraph, checked_encoding, format_of_web, read_arcs
from chordless.graphs.readers.incoming import SHOWN_STANDARD_INPUT, STANDARD_INPUT, read_bytes, shown_name
from chordless.graphs.readers.pajek import parse_network, parse_partition
from chordless.graphs.readers.source import Source
from chordless.values import ALL_LIVING
from kernels_ti import Graph, GraphError
from kernels_ti.errors import parameter, vertices_text
from kernels_ti.graph import IntArray

LIVING = 1
_HAS_EDGES = "a food web has arcs only, this file has undirected edges; count its cycles without `overlap`"
_NO_ARCS = (
    "a food web has arcs, this file has none: right is a Pajek network (`*Vertices N`, then `*Arcs`), a table with "
    "prey in rows and predators in columns, a list with the heading `prey,predator`, or lines `prey -> predator`"
)
TYPES = {1: "living", 2: "other (detritus)", 3: "input", 4: "output", 5: "respiration"}


@dataclass(frozen=True, eq=False)
class FoodWeb:
    """A food web with its niche overlap graph."""

    overlap: Graph  # Its niche overlap graph, with every vertex of the web
    living: tuple[bool, ...]  # Whether each vertex is a living species
    types_path: str | None  # The partition with the types; None if there is none, and all vertices are living
    links: int  # Feeding links: pairs of living prey and living predator, a species that eats itself included
    notes: tuple[str, ...] = ()  # Parts of the file that were ignored or interpreted
    # Whether it is a Pajek network without the partition that tells detritus from species; other formats name species
    lacks_types: bool = False


def niche_overlap(net_path: str, types_path: str | None = None, encoding: str | None = None) -> Graph:
    """Build the niche overlap graph of a food web, with every vertex of the web; see `read_food_web`."""
    return read_food_web(net_path, types_path, encoding).overlap


def load_overlap(net_path: str, types_path: str | None = None, encoding: str | None = None) -> LoadedGraph:
    """Load the niche overlap graph of a food web as a graph to be searched; see `niche_overlap`."""
    web = read_food_web(net_path, types_path, encoding)
    return LoadedGraph(web.overlap, net_path, notes=web.notes)


def read_food_web(net_path: str, types_path: str | None = None, encoding: str | None = None) -> FoodWeb:
    """Read a food web and join those of its species that share a living prey; see `chordless.overlap_graph`.

    An arc a b of the web means that b eats a. Only arcs between living vertices count, whatever their weight, in Pajek
    also a weight of 0. A species that eats itself is one of its own predators, and shares this prey with the others (J.
    E. Cohen, Food Webs and Niche Space, 1978). A partition has the type of every vertex, see `TYPES`. A GraphError is
    raised for a file that cannot be read, a web with edges instead of arcs, and a partition with another number of
    vertices than the web, with unknown types or with no living vertex.
    """
    require_web(net_path)
    names, arcs, notes, is_network = _read_arcs(net_path, encoding)
    is_untold = types_path is None
    if types_path is None:
        types_path = types_beside(net_path)
    elif types_path == ALL_LIVING:
        types_path = None
    living = [True] * len(names) if types_path is None else _living(len(names), net_path, types_path)
    links = {(prey, predator) for prey, predator in arcs if living[prey] and living[predator]}
    overlap = overlap_of_links(links, names)
    lacks_types = is_network and is_untold and types_path is None
    return FoodWeb(overlap, tuple(living), types_path, len(links), notes, lacks_types)


def require_web(path: str) -> None:
    """Raise GraphError if a food web is neither a file nor standard input: a spec is none."""
    if path != STANDARD_INPUT and not os.path.lexists(path):
        raise GraphError(f"{path}: no such file; a food web is a file, such as web.net")


def overlap_of_links(links: Iterable[tuple[int, int]], names: Sequence[Hashable]) -> Graph:
    """Return the niche overlap graph of the links (prey, predator) between the vertices of a web with these names."""
    return Graph.from_edge_array(_shared_prey(links), n=len(names), names=names, simplify=True)


def _read_arcs(
    path: str, encoding: str | None
) -> tuple[Sequence[Hashable], list[tuple[int, int]], tuple[str, ...], bool]:
    """Return the names of the vertices of a web, its arcs from prey to predator, notes, and whether it is in Pajek."""
    source = Source(shown_name(path), read_bytes(path), checked_encoding(encoding))
    graph = read_arcs(path, source)
    if graph is not None:
        if not graph.directed:
            raise source.error(_NO_ARCS)
        return graph.names, list(map(tuple, graph.edges().tolist())), tuple(source.notes), False
    web = parse_network(source)
    if web.edges:
        raise source.error(_HAS_EDGES, web.edges[0][2])
    names = web.names(source)
    return names, [(prey, predator) for prey, predator, _ in web.arcs], tuple(source.notes), True


def types_beside(net_path: str) -> str | None:
    """Return the partition in the folder of a food web with the same stem, if there is one.

    A name in other letters will do if nothing has the same: ``NARR.CLU`` belongs to ``NARR.NET``, and to ``narr.net``.
    """
    web = Path(net_path)
    beside = web.with_suffix(".clu")
    if beside.exists():
        return str(beside)
    wanted = beside.name.casefold()
    others = [path for path in web.parent.iterdir() if path.name.casefold() == wanted] if web.parent.is_dir() else []
    return str(min(others, key=lambda path: (path.stem != web.stem, path.name))) if others else None


def lacks_types(web: str, encoding: str | None = None) -> bool:
    """Return whether a file is a Pajek network without a partition beside it; False for what cannot be read."""
    if types_beside(web) is not None or not Path(web).is_file():
        return False
    try:
        source = Source(shown_name(web), read_bytes(web), checked_encoding(encoding))
    except GraphError:
        return False
    return format_of_web(web, source) == "pajek"


def _living(n: int, net_path: str, types_path: str) -> list[bool]:
    types = parse_partition(Source(types_path, read_bytes(types_path)))
    if len(types) != n:
        raise GraphError(
            f"{types_path}: the partition has {vertices_text(len(types))}, the web {net_path} has {n}; they must agree"
        )
    unknown = next((kind for kind in types if kind not in TYPES), None)
    known = ", ".join(f"{kind} {meaning}" for kind, meaning in TYPES.items())
    if unknown is not None:
        raise GraphError(f"{types_path}: vertex {types.index(unknown) + 1} has type {unknown}; the types are {known}")
    if LIVING not in types:
        anyway = f"{parameter('types', ALL_LIVING)} takes every vertex as living"
        raise GraphError(f"{types_path}: no vertex has type {LIVING} (living); the types are {known}; {anyway}")
    return [kind == LIVING for kind in types]


def warning_of_missing_types(webs: Sequence[str], way: str = "--types none") -> str:
    """Return the warning that these webs have no types, so detritus and respiration count as species."""
    if list(webs) == [STANDARD_INPUT]:
        what = f"{SHOWN_STANDARD_INPUT}: no types come with a web that is read from there"
    elif len(webs) == 1:
        what = f"{webs[0]}: there is no {Path(webs[0]).with_suffix('.clu').name} beside it"
    else:
        what = f"{len(webs):,} food webs have no .clu beside them ({', '.join(webs[:3])}{', ...' * (len(webs) > 3)})"
    return (
        f"{what}, so every vertex counts as a living species, detritus and respiration too; {way} says that "
        "this is meant"
    )


def _shared_prey(links: Iterable[tuple[int, int]]) -> IntArray:
    """List the pairs of predators of each prey; a pair comes once for every prey that it shares."""
    predators: dict[int, set[int]] = {}
    for prey, predator in links:
        predators.setdefault(prey, set()).add(predator)
    pairs = [np.empty((0, 2), np.int64)]
    for group in predators.values():
        members = np.array(sorted(group), np.int64)
        first, second = np.triu_indices(len(members), 1)
        pairs.append(np.column_stack((members[first], members[second])))
    return np.concatenate(pairs)
