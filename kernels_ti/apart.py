"""The functions of the library beside a program's own Taichi: which calls go to another process, and by what names.

The names of the vertices stay in this process, so that any will do: the graph goes there with a stand-in for each.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, cast

from kernels_ti import taichi_door
from kernels_ti.blocks.restriction import are_pairs, edges_called, vertices_called
from kernels_ti.conversion import as_graph, attribute_weights
from kernels_ti.device.own_process import NeedsDeviceError, StandIn, call_apart, with_choice

P = ParamSpec("P")
T = TypeVar("T")


def apart_if_needed(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function of the library make its search in a process of its own where Taichi is used for something else.

    Arguments and result are pickled. A callable among the arguments is called in this process, and its result is
    dropped. An iterator of cycles takes them from the child as they are found.
    """

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        if not taichi_door.is_used_by_others():
            return function(*args, **kwargs)
        # An iterator would be empty at the second try.
        again = [list(value) if isinstance(value, Iterator) else value for value in args]
        named = {name: list(value) if isinstance(value, Iterator) else value for name, value in kwargs.items()}
        try:
            with with_choice():
                return function(*again, **named)  # type: ignore[arg-type]
        except NeedsDeviceError:
            pass
        sent, names = _with_stand_ins(dict(signature(function).bind(*again, **named).arguments))
        return cast(T, call_apart(function.__module__, function.__qualname__, sent, names))

    return called


def _with_stand_ins(given: dict[str, Any]) -> tuple[dict[str, Any], tuple[Hashable, ...]]:
    """Return arguments, which have been checked, with a stand-in for each name of a vertex; and these names."""
    simplify = given.pop("simplify", False)
    weight = given.get("weight")
    if isinstance(weight, str):
        weight = attribute_weights(given["graph"], weight, simplify=simplify)
    graph = as_graph(given["graph"], simplify=simplify)
    stand_ins = None if graph.vertex_names is None else tuple(map(StandIn, range(graph.n)))
    given["graph"] = sent = replace(graph, vertex_names=stand_ins)
    names = sent.names
    for option in ("through", "avoid", "order"):
        if given.get(option) is not None:
            given[option] = [names[v] for v in vertices_called(graph, given[option])]
    if "avoid_edges" in given:
        given["avoid_edges"] = [(names[u], names[v]) for u, v in edges_called(graph, given["avoid_edges"])]
    if weight is not None:
        stand_in, of_edges = dict(zip(graph.names, names, strict=True)), are_pairs(graph, weight)
        given["weight"] = {
            tuple(stand_in[end] for end in key) if of_edges else stand_in[key]: value for key, value in weight.items()
        }
    return given, graph.names
