"""The easy entry points: their limits, and the words of their errors in Python and on the command line."""

import networkx as nx
import numpy as np
import pytest
from oracles import grid

from kernels_ti import (
    ChordlessError,
    Graph,
    GraphError,
    OptionError,
    collect_cycles,
    count_cycles,
    count_participation,
    enumerate_cycles,
)
from kernels_ti.errors import in_words_of_command_line, parameter

LOOPED = np.array([[1, 1, 1], [0, 0, 1], [1, 0, 0]])
"""A triangle with a loop, each edge in one direction only."""


def test_what_is_not_simple_is_made_so_on_request() -> None:
    assert count_cycles(LOOPED, arch="reference", simplify=True).by_length == {3: 1}
    assert len(collect_cycles(LOOPED, arch="reference", simplify=True)) == 1
    assert len(list(enumerate_cycles(LOOPED, arch="reference", simplify=True))) == 1
    assert count_participation(LOOPED, arch="reference", simplify=True).top() == [(0, 1), (1, 1), (2, 1)]
    with pytest.raises(GraphError):
        count_cycles(LOOPED, arch="reference")


def test_a_search_that_reaches_its_limit_is_not_complete() -> None:
    graph = grid(7, 10)
    counts = count_cycles(graph, arch="reference", limit=5)
    assert counts.total >= 5
    assert not counts.complete
    table = collect_cycles(graph, arch="reference", limit=5)
    assert (len(table), len(table.vertices), table.complete) == (5, table.offsets[-1], False)
    assert not count_participation(graph, arch="reference", limit=5).complete


def test_a_search_that_is_done_before_its_limit_is_complete() -> None:
    graph = nx.petersen_graph()
    assert count_cycles(graph, arch="reference", limit=1000, timeout=1000).complete
    assert collect_cycles(graph, arch="reference", limit=22).complete
    assert not collect_cycles(graph, arch="reference", limit=21).complete
    assert count_participation(graph, arch="reference").complete


@pytest.mark.parametrize("method", ["search", "boundary"])
def test_a_count_ends_at_its_timeout(method) -> None:
    arch = "reference" if method == "search" else "auto"
    assert not count_cycles(grid(9, 16), arch=arch, method=method, timeout=0.01).complete
    assert count_cycles(grid(3, 3), arch=arch, method=method, timeout=60).complete


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": 1.5}, {"timeout": 0}, {"timeout": float("nan")}])
def test_limits_that_cannot_be_are_refused(wrong) -> None:
    with pytest.raises(OptionError, match=f"{next(iter(wrong))} must be a"):
        count_cycles(grid(2, 2), arch="reference", **wrong)


def test_a_count_along_a_boundary_has_no_limit() -> None:
    with pytest.raises(OptionError, match="limit are for the method search"):
        count_cycles(grid(2, 2), method="boundary", limit=5)


def test_the_vertices_and_edges_in_most_cycles_are_named() -> None:
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (4, 5)]
    counts = count_participation(Graph.from_edges(6, edges, names="abcdef"), arch="reference")
    assert counts.names == tuple("abcdef")
    assert counts.top() == [("a", 2), ("b", 2), ("c", 1), ("d", 1), ("e", 1)]
    assert counts.top(2, edges=True) == [(("a", "b"), 2), (("a", "d"), 1)]
    assert counts.top(0) == []
    alone = count_participation(grid(2, 2), arch="reference", edges=False)
    with pytest.raises(OptionError, match="edges=True"):
        alone.top(edges=True)


def test_a_message_names_what_its_reader_can_set() -> None:
    error = ChordlessError(f"use {parameter('arch', 'cpu')}, or allow more with {parameter('max_length')}")
    assert str(error) == 'use arch="cpu", or allow more with max_length'
    with in_words_of_command_line():
        assert str(error) == "use --arch cpu, or allow more with --max-length"
        assert repr(error) == "ChordlessError('use --arch cpu, or allow more with --max-length')"
    assert "arch=" in str(error)


def test_python_is_told_of_the_parameter_simplify() -> None:
    with pytest.raises(GraphError, match=r"directed graphs? .*\(simplify drops directions\)"):
        count_cycles(nx.DiGraph([(0, 1)]), arch="reference")
