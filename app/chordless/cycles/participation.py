"""The number of cycles through each vertex and each edge, in the form that the engine reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chordless.graphs.vertex_names import json_name

if TYPE_CHECKING:
    from kernels_ti import CycleShares, Graph, Participation
    from kernels_ti.graph import IntArray


def participation_object(graph: Graph, counted: Participation, *, vertices: bool) -> dict[str, Any]:
    """Return counts as an object for JSON, with ``vertices`` if they are wanted and ``edges`` if they were counted.

    Each entry, in the order of the graph, has its ``name`` (of an edge the names of both ends), the ``cycles`` through
    it and these ``by_length``.
    """
    names = [json_name(name) for name in graph.names]
    found: dict[str, Any] = {}
    if vertices:
        found["vertices"] = _entries(names, counted.vertices)
    if counted.edges is not None:
        ends = [[names[u], names[v]] for u, v in counted.edge_list.tolist()]
        found["edges"] = _entries(ends, counted.edges)
    return found


def shares_object(graph: Graph, shares: CycleShares, *, vertices: bool, edges: bool) -> dict[str, Any]:
    """Return counts along a boundary as `participation_object` does; ``by_length`` is empty."""
    names = [json_name(name) for name in graph.names]
    found: dict[str, Any] = {}
    if vertices:
        found["vertices"] = _totals(names, shares.vertices)
    if edges:
        found["edges"] = _totals([[names[u], names[v]] for u, v in shares.edge_list.tolist()], shares.edges)
    return found


def _totals(names: list[Any], counts: list[int]) -> list[dict[str, Any]]:
    return [{"name": name, "cycles": count, "by_length": {}} for name, count in zip(names, counts, strict=True)]


def _entries(names: list[Any], counts: IntArray) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "cycles": sum(by_length),
            "by_length": {length: count for length, count in enumerate(by_length) if count},
        }
        for name, by_length in zip(names, counts.tolist(), strict=True)
    ]
