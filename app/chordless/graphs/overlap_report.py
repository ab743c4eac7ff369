"""The report on a niche overlap graph: its holes, the species in them, and whether it is an interval graph."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from chordless.graphs.interval import asteroidal_triple, interval_order
from chordless.graphs.overlap import FoodWeb

if TYPE_CHECKING:
    from chordless.protocol.events import Finished

MOST_SPECIES = 10
"""Largest number of species in the report for people; the JSON has all."""

_COLUMNS = 78
_COHEN = "J. E. Cohen (1978), Food Webs and Niche Space. Princeton University Press."
_GILMORE_HOFFMAN = (
    "P. C. Gilmore, A. J. Hoffman (1964), A characterization of comparability graphs and of interval graphs. "
    "Canadian Journal of Mathematics 16, 539-548."
)
_LEKKERKERKER_BOLAND = (
    "C. G. Lekkerkerker, J. C. Boland (1962), Representation of a finite graph by a set of intervals on the real "
    "line. Fundamenta Mathematicae 51, 45-64."
)


@dataclass(frozen=True)
class SpeciesHoles:
    """The number of holes through a species, in total and by length."""

    name: str
    holes: int
    holes_by_length: dict[int, int]


_KEYS = (
    "web", "types", "n", "living", "links", "sharing_prey", "m", "chordal", "interval", "order", "asteroidal_triple",
    "holes", "holes_by_length", "species", "complete",
)  # fmt: skip
"""Of the report in JSON."""


@dataclass(frozen=True)
class OverlapReport:
    """A report on a niche overlap graph."""

    web: str  # The name of the web as it was given
    n: int  # Vertices of the web, including those that are not living
    types: str | None  # The partition with the types of the vertices; None if all are living
    living: int  # Living species
    links: int  # Feeding links between living species
    sharing_prey: int  # Species that share prey with another one
    m: int  # Pairs of species that share prey
    # Chordless cycles of 4 or more species; lower bounds if the search is not `complete`
    holes_by_length: dict[int, int] = field(default_factory=dict)
    species: tuple[SpeciesHoles, ...] = ()  # Species in holes, sorted by their number of holes, the largest first
    # The species that share prey along one line of niches, each with its ``name`` and its interval, ``from`` and
    # ``to``, which overlaps those of the species that it shares prey with, and no others; None if no line has them all
    order: tuple[dict[str, Any], ...] | None = None
    # In a chordal graph without an order: three species. Any two of them are joined by a path that contains neither the
    # third nor a neighbour of the third.
    asteroidal_triple: tuple[str, ...] | None = None
    chordal: bool = True  # Whether there is no hole
    complete: bool = True  # Whether every hole was counted

    @property
    def holes(self) -> int:
        """Total number of holes."""
        return sum(self.holes_by_length.values())

    @property
    def interval(self) -> bool:
        """Whether the species can be ordered along one line of niches."""
        return self.order is not None

    def to_object(self) -> dict[str, Any]:
        """Return the report as an object for JSON."""
        species = [asdict(one) for one in self.species]
        return {key: getattr(self, key) for key in _KEYS} | {"species": species}


def report_without_holes(name: str, web: FoodWeb) -> OverlapReport:
    """Report on a web whose niche overlap graph is chordal: the order of its species, or why there is none."""
    stretches = interval_order(web.overlap)
    if stretches is None:
        found = asteroidal_triple(web.overlap)
        triple = None if found is None else tuple(str(web.overlap.names[v]) for v in found)
        return OverlapReport(name, **facts_of(web), asteroidal_triple=triple)
    order = tuple({"name": str(one.vertex), "from": one.first, "to": one.last} for one in stretches)
    return OverlapReport(name, **facts_of(web), order=order)


def report_of_holes(name: str, web: FoodWeb, counted: Finished) -> OverlapReport:
    """Report on a web from the counts of its cycles of 4 or more vertices, with the participation of each vertex."""
    species: list[SpeciesHoles] = []
    # An engine that was stopped while it compiled has told the holes only.
    if counted.participation is not None:
        # By index, not by name: a file may have changed the names.
        species = [
            SpeciesHoles(str(label), entry["cycles"], {int(t): count for t, count in entry["by_length"].items()})
            for label, entry in zip(web.overlap.names, counted.participation["vertices"], strict=True)
            if entry["cycles"]
        ]
    species.sort(key=lambda one: -one.holes)
    by_length = dict(sorted(counted.cycles_by_length.items()))
    return OverlapReport(
        name,
        **facts_of(web),
        holes_by_length=by_length,
        species=tuple(species),
        chordal=False,
        complete=counted.complete,
    )


SPECIES_COLUMNS = {"web": "text", "species": "text", "length": "whole", "holes": "whole", "complete": "flag"}
"""The columns of `species_rows` and the kinds of their values."""


def species_rows(report: OverlapReport) -> Iterator[dict[str, Any]]:
    """Yield a row for each species of a web and each length of its holes; without `complete` they are lower bounds."""
    for one in report.species:
        for length, holes in sorted(one.holes_by_length.items()):
            yield {
                "web": report.web,
                "species": one.name,
                "length": length,
                "holes": holes,
                "complete": report.complete,
            }


def report_lines(report: OverlapReport) -> Iterator[str]:
    """Yield the lines of a report for people, fit for 80 columns."""
    rows = [
        ("vertices of the web", report.n),
        ("living species", report.living),
        ("links between them", report.links),
        ("that share prey", report.sharing_prey),
        ("niche overlap edges", report.m),
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
    if report.species:
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
    if report.order:
        yield ""
        yield from _table(
            ("from", "to", "species along one line of niches"),
            [(f"{one['from']:,}", f"{one['to']:,}", one["name"]) for one in report.order],
        )
    yield ""
    for paragraph in _conclusion(report):
        yield from textwrap.wrap(paragraph, _COLUMNS, initial_indent="  ", subsequent_indent="  ") or [""]


def facts_of(web: FoodWeb) -> dict[str, Any]:
    """Return what is known of a web and of its niche overlap graph without a search."""
    return {
        "n": web.overlap.n,
        "types": web.types_path,
        "living": sum(web.living),
        "links": web.links,
        "sharing_prey": int(np.count_nonzero(np.diff(web.overlap.row_ptr))),
        "m": web.overlap.m,
    }


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
        shared = (
            "Two species share prey if and only if their stretches above have a place in common; this is one such "
            "order of several (Gilmore and Hoffman 1964)."
        )
        yield (
            "No hole: the graph is chordal. There is no asteroidal triple either, so the graph is an interval graph "
            "(Lekkerkerker and Boland 1962). So the species can be ordered "
            f"{line} (Cohen 1978). {shared if report.order else 'Here no two species share prey.'}"
        )
    yield ""
    yield _COHEN
    if report.order:
        yield _GILMORE_HOFFMAN
    if report.chordal:
        yield _LEKKERKERKER_BOLAND
