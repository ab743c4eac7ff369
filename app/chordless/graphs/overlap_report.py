"""The report on a niche overlap graph: its holes, the species in them, and whether it is an interval graph."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chordless.graphs.overlap import FoodWeb

if TYPE_CHECKING:
    from chordless.protocol.events import Finished
    from kernels_ti import Graph

SHORTEST_HOLE = 4
MOST_SPECIES = 10
"""Largest number of species in the report for people; the JSON has all."""

_COLUMNS = 78
_COHEN = "J. E. Cohen (1978), Food Webs and Niche Space. Princeton University Press."
_LEKKERKERKER_BOLAND = (
    "C. G. Lekkerkerker, J. C. Boland (1962), Representation of a finite graph by a set of intervals on the real "
    "line. Fundamenta Mathematicae 51, 45-64."
)


@dataclass(frozen=True)
class SpeciesHoles:
    """The number of holes through a species, in total and by length."""

    name: str
    holes: int
    by_length: dict[int, int]


@dataclass(frozen=True)
class OverlapReport:
    """A report on a niche overlap graph.

    Parameters
    ----------
    web : str
        The name of the web as it was given.
    vertices : int
        Vertices of the web, including those that are not living.
    types : str or None
        The partition with the types of the vertices; None if all are living.
    living : int
        Living species.
    links : int
        Feeding links between living species.
    sharing : int
        Species that share prey with another one.
    edges : int
        Pairs of species that share prey.
    holes_by_length : dict of int to int
        Chordless cycles of 4 or more species; lower bounds if the search is not `complete`.
    species : tuple of SpeciesHoles
        Species in holes, sorted by their number of holes, the largest first.
    asteroidal_triple : tuple of str, or None
        In a chordal graph: three species. Any two of them are joined by a path that contains neither the third nor a
        neighbour of the third.
    chordal : bool
        Whether there is no hole.
    complete : bool
        Whether every hole was counted.
    """

    web: str
    vertices: int
    types: str | None
    living: int
    links: int
    sharing: int
    edges: int
    holes_by_length: dict[int, int]
    species: tuple[SpeciesHoles, ...]
    asteroidal_triple: tuple[str, ...] | None
    chordal: bool
    complete: bool

    @property
    def holes(self) -> int:
        """Total number of holes."""
        return sum(self.holes_by_length.values())

    @property
    def is_interval(self) -> bool:
        """Whether the species can be ordered along one line of niches."""
        return self.chordal and self.asteroidal_triple is None

    def to_object(self) -> dict[str, Any]:
        """Return the report as an object for JSON."""
        return {
            "web": self.web,
            "types": self.types,
            "n": self.vertices,
            "living": self.living,
            "links": self.links,
            "sharing_prey": self.sharing,
            "m": self.edges,
            "chordal": self.chordal,
            "interval": self.is_interval,
            "asteroidal_triple": None if self.asteroidal_triple is None else list(self.asteroidal_triple),
            "holes": self.holes,
            "holes_by_length": self.holes_by_length,
            "species": [
                {"name": one.name, "holes": one.holes, "holes_by_length": one.by_length} for one in self.species
            ],
            "complete": self.complete,
        }


def report_without_holes(name: str, web: FoodWeb) -> OverlapReport:
    """Report on a web whose niche overlap graph is known to be chordal.

    Parameters
    ----------
    name : str
    web : FoodWeb

    Returns
    -------
    OverlapReport
        With an asteroidal triple, if there is one.
    """
    return _report(name, web, {}, (), asteroidal_triple(web.overlap), chordal=True, complete=True)


def report_of_holes(name: str, web: FoodWeb, counted: Finished) -> OverlapReport:
    """Report on a web whose holes were counted, for each vertex of its niche overlap graph.

    Parameters
    ----------
    name : str
    web : FoodWeb
    counted : Finished
        Counts of the cycles of 4 or more vertices, with the participation of each vertex.

    Returns
    -------
    OverlapReport
    """
    entries = (counted.participation or {}).get("vertices", [])
    # By index, not by name: a file may have changed the names.
    species = [
        SpeciesHoles(str(label), entry["cycles"], {int(t): count for t, count in entry["by_length"].items()})
        for label, entry in zip(web.overlap.names, entries, strict=True)
        if entry["cycles"]
    ]
    species.sort(key=lambda one: -one.holes)
    by_length = dict(sorted(counted.cycles_by_length.items()))
    return _report(name, web, by_length, tuple(species), None, chordal=False, complete=counted.complete)


def is_interval(graph: Graph) -> bool:
    """Return whether a graph is an interval graph. Meant for at most some hundred vertices."""
    from kernels_ti import is_chordal

    return bool(is_chordal(graph)) and asteroidal_triple(graph) is None


def asteroidal_triple(graph: Graph) -> tuple[str, ...] | None:
    """Find an asteroidal triple: each two vertices are joined by a path without the third and its neighbours.

    A graph is an interval graph if and only if it is chordal and has no such triple. Meant for some hundred vertices.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    tuple of str, or None
        Their names.

    References
    ----------
    Lekkerkerker, Boland, *Representation of a finite graph by a set of intervals on the real line*, 1962.
    """
    import networkx as nx

    whole = nx.Graph()
    whole.add_nodes_from(range(graph.n))
    whole.add_edges_from(graph.edges().tolist())
    found = nx.find_asteroidal_triple(whole)
    return None if found is None else tuple(str(graph.names[v]) for v in found)


def report_lines(report: OverlapReport) -> Iterator[str]:
    """Yield the lines of a report for people, fit for 80 columns."""
    rows = [
        ("vertices of the web", report.vertices),
        ("living species", report.living),
        ("links between them", report.links),
        ("that share prey", report.sharing),
        ("niche overlap edges", report.edges),
        ("holes", report.holes),
    ]
    width = max(len(f"{value:,}") for _, value in rows)
    yield report.web
    if report.types is None:
        yield "  (no types: every vertex counts as a living species)"
    for label, value in rows:
        at_least = "  (at least: not complete)" if label == "holes" and not report.complete else ""
        yield f"  {label:<19}  {value:>{width},}{at_least}"
    if report.holes:
        yield ""
        yield from _table(("length", "holes"), [(f"{t:,}", f"{k:,}") for t, k in report.holes_by_length.items()])
        yield ""
        yield from _table(
            ("holes", "share", "species in most of them"),
            [
                (f"{one.holes:,}", f"{100 * one.holes / report.holes:.1f}%", one.name)
                for one in report.species[:MOST_SPECIES]
            ],
        )
        left = len(report.species) - MOST_SPECIES
        if left > 0:
            yield f"  and {left:,} more: --json has all, by length"
    yield ""
    for paragraph in _conclusion(report):
        yield from textwrap.wrap(paragraph, _COLUMNS, initial_indent="  ", subsequent_indent="  ") or [""]


def _report(
    name: str,
    web: FoodWeb,
    by_length: dict[int, int],
    species: tuple[SpeciesHoles, ...],
    triple: tuple[str, ...] | None,
    *,
    chordal: bool,
    complete: bool,
) -> OverlapReport:
    return OverlapReport(
        web=name,
        vertices=web.overlap.n,
        types=web.types_path,
        living=sum(web.living),
        links=web.links,
        sharing=int(np.count_nonzero(np.diff(web.overlap.row_ptr))),
        edges=web.overlap.m,
        holes_by_length=by_length,
        species=species,
        asteroidal_triple=triple,
        chordal=chordal,
        complete=complete,
    )


def _table(heading: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of a table: numbers to the right, names to the left."""
    table = [heading, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    names_last = len(heading) > 2
    for row in table:
        cells = [f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)]
        if names_last:
            cells[-1] = row[-1]
        yield f"  {'  '.join(cells)}"


def _conclusion(report: OverlapReport) -> Iterator[str]:
    line = "along one line of niches, each an interval that overlaps those of the species it shares prey with"
    if not report.chordal:
        yield (
            f"A graph with a hole is no interval graph, so the species cannot be ordered {line} (Cohen 1978): one "
            "dimension of niche space is not enough."
        )
    elif report.asteroidal_triple is not None:
        yield (
            "No hole: the graph is chordal. That is necessary, not sufficient: this graph is not an interval graph, "
            f"as {'; '.join(report.asteroidal_triple)} are an asteroidal triple, any two joined by a path that "
            "avoids the third and its neighbours (Lekkerkerker and Boland 1962). So the species cannot be ordered "
            f"{line} (Cohen 1978): one dimension of niche space is not enough."
        )
    else:
        yield (
            "No hole: the graph is chordal. There is no asteroidal triple either, so the graph is an interval graph "
            "(Lekkerkerker and Boland 1962). So the species can be ordered "
            f"{line} (Cohen 1978)."
        )
    yield ""
    yield _COHEN
    if report.chordal:
        yield _LEKKERKERKER_BOLAND
