"""The undirected niche overlap graph of a directed food web."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chordless.graphs.load import LoadedGraph, checked_encoding
from chordless.graphs.readers.incoming import read_bytes
from chordless.graphs.readers.pajek import PajekNetwork, parse_network, parse_partition
from chordless.graphs.readers.source import Source
from chordless.values import ALL_LIVING
from kernels_ti import Graph, GraphError
from kernels_ti.errors import vertices_text
from kernels_ti.graph import IntArray

LIVING = 1
TYPES = {1: "living", 2: "other (detritus)", 3: "input", 4: "output", 5: "respiration"}


@dataclass(frozen=True, eq=False)
class FoodWeb:
    """A food web with its niche overlap graph.

    Parameters
    ----------
    overlap : Graph
        Its niche overlap graph, with every vertex of the web.
    living : tuple of bool
        Whether each vertex is a living species.
    types_path : str or None
        The partition with the types; None if there is none, and all vertices are living.
    links : int
        Feeding links: pairs of living prey and living predator, a species that eats itself included.
    """

    overlap: Graph
    living: tuple[bool, ...]
    types_path: str | None
    links: int


def niche_overlap(net_path: str, types_path: str | None = None, encoding: str | None = None) -> Graph:
    """Build the niche overlap graph of a food web: two species are joined when they share a living prey.

    The parameters and errors are those of `read_food_web`.

    Returns
    -------
    Graph
        With every vertex of the web, in its order and with its names.
    """
    return read_food_web(net_path, types_path, encoding).overlap


def load_overlap(net_path: str, types_path: str | None = None, encoding: str | None = None) -> LoadedGraph:
    """Load the niche overlap graph of a food web as a graph to be searched; see `niche_overlap`."""
    return LoadedGraph(niche_overlap(net_path, types_path, encoding), net_path)


def read_food_web(net_path: str, types_path: str | None = None, encoding: str | None = None) -> FoodWeb:
    """Read a food web, and join those of its species that share a living prey.

    An arc a b of the web means that b eats a. Only arcs between living vertices count, whatever their weight, also
    a weight of 0. A species that eats itself is one of its own predators, and shares this prey with the others.

    Parameters
    ----------
    net_path : str
        The web, a Pajek network (.net) with arcs.
    types_path : str, optional
        A Pajek partition (.clu) with the type of every vertex: 1 living, 2 other (detritus), 3 input, 4 output,
        5 respiration. By default the partition in the same folder with the same stem; if there is none, every vertex
        counts as living. With "none" every vertex is living, even if there is such a partition.
    encoding : str, optional
        The encoding of the web; by default UTF-8.

    Returns
    -------
    FoodWeb

    Raises
    ------
    GraphError
        For a file that cannot be read, a web with edges instead of arcs, and a partition with another number of
        vertices than the web, with unknown types or with no living vertex.

    References
    ----------
    J. E. Cohen, Food Webs and Niche Space, Princeton University Press, 1978.
    """
    source = Source(net_path, read_bytes(net_path), checked_encoding(encoding))
    web = parse_network(source)
    if web.edges:
        raise source.error(
            "a food web has arcs only, this file has undirected edges; count its cycles without `overlap`",
            web.edges[0][2],
        )
    if types_path is None:
        types_path = types_beside(net_path)
    elif types_path == ALL_LIVING:
        types_path = None
    living = [True] * web.n if types_path is None else _living(web, net_path, types_path)
    links = {(prey, predator) for prey, predator, _ in web.arcs if living[prey] and living[predator]}
    overlap = Graph.from_edge_array(_shared_prey(links), n=web.n, names=web.names(), simplify=True)
    return FoodWeb(overlap, tuple(living), types_path, len(links))


def types_beside(net_path: str) -> str | None:
    """Return the partition in the folder of a food web with the same stem, if there is one."""
    beside = Path(net_path).with_suffix(".clu")
    return str(beside) if beside.exists() else None


def _living(web: PajekNetwork, net_path: str, types_path: str) -> list[bool]:
    types = parse_partition(Source(types_path, read_bytes(types_path)))
    if len(types) != web.n:
        raise GraphError(
            f"{types_path}: the partition has {vertices_text(len(types))}, the web {net_path} has {web.n}; "
            "they must agree"
        )
    unknown = next((kind for kind in types if kind not in TYPES), None)
    known = ", ".join(f"{kind} {meaning}" for kind, meaning in TYPES.items())
    if unknown is not None:
        raise GraphError(f"{types_path}: vertex {types.index(unknown) + 1} has type {unknown}; the types are {known}")
    if LIVING not in types:
        raise GraphError(f"{types_path}: no vertex has type {LIVING} (living); the types are {known}")
    return [kind == LIVING for kind in types]


def warning_of_missing_types(webs: Sequence[str]) -> str:
    """Return the warning that these webs have no types, so detritus and respiration count as species."""
    beside = Path(webs[0]).with_suffix(".clu")
    if len(webs) == 1:
        what = f"{webs[0]}: there is no {beside.name} beside it"
    else:
        what = f"{len(webs):,} food webs have no .clu beside them ({', '.join(webs[:3])}{', ...' * (len(webs) > 3)})"
    return (
        f"{what}, so every vertex counts as a living species, detritus and respiration too; --types none says that "
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
