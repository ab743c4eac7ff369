"""The number of cycles through each vertex and each edge, in the form that the engine reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chordless.graphs.vertex_names import json_name

if TYPE_CHECKING:
    from kernels_ti import CycleShares, Graph, Participation
    from kernels_ti.graph import IntArray


def participation_object(
    graph: Graph, counted: Participation | CycleShares, *, vertices: bool, edges: bool
) -> dict[str, Any]:
    """Return counts as an object for JSON, with ``vertices`` and ``edges`` if they are wanted.

    Each entry, in the order of the graph, has its ``name`` (of an edge the names of both ends), the ``cycles`` through
    it and these ``by_length``, which is empty for counts along a boundary.
    """
    names = [json_name(name) for name in graph.names]
    found: dict[str, Any] = {}
    if vertices:
        found["vertices"] = _entries(names, counted.vertices)
    if edges:
        assert counted.edges is not None
        found["edges"] = _entries([[names[u], names[v]] for u, v in counted.edge_list.tolist()], counted.edges)
    return found


def _entries(names: list[Any], counts: IntArray | list[int]) -> list[dict[str, Any]]:
    if isinstance(counts, list):
        return [{"name": name, "cycles": count, "by_length": {}} for name, count in zip(names, counts, strict=True)]
    return [
        {
            "name": name,
            "cycles": sum(by_length),
            "by_length": {length: count for length, count in enumerate(by_length) if count},
        }
        for name, by_length in zip(names, counts.tolist(), strict=True)
    ]
