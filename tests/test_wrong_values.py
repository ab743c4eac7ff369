"""A parameter of a wrong type or size, through the public functions: one line says what would be right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import chordless
import networkx as nx
import numpy as np
import pytest
from chordless import Graph, GraphError, OptionError, Options

PETERSEN = nx.petersen_graph()
GRID = nx.grid_2d_graph(5, 5)

WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "weight a number": (lambda: chordless.longest_cycle(PETERSEN, weight=3), OptionError, "weights are a mapping"),
    "weight a list": (lambda: chordless.longest_path(PETERSEN, 0, 6, weight=[1]), OptionError, "weights are a mapping"),
    "seed a text": (lambda: chordless.sample_cycles(PETERSEN, 2, seed="x"), OptionError, "seed must be a whole number"),
    "seed a list": (lambda: chordless.sample_paths(PETERSEN, 0, 6, 2, seed=[1]), OptionError, "seed must be a whole"),
    "seed negative": (lambda: chordless.sample_cycles(PETERSEN, 2, seed=-1), OptionError, "whole number from 0 on"),
    "seed of paths negative": (
        lambda: chordless.sample_paths(PETERSEN, 0, 6, 2, seed=-1),
        OptionError,
        "whole number from 0 on, not -1",
    ),
    "draws of paths": (lambda: chordless.sample_paths(PETERSEN, 0, 6, -1), OptionError, "the number of draws must"),
    "limit of paths": (
        lambda: chordless.enumerate_paths(PETERSEN, 0, 6, limit=0),
        OptionError,
        "limit must be a whole number, 1",
    ),
    "first a fraction": (lambda: chordless.collect_cycles(PETERSEN).first(1.5), OptionError, "whole number from 0 on"),
    "top a fraction": (lambda: chordless.count_participation(PETERSEN).top(1.5), OptionError, "whole number from 0 on"),
    "top negative": (lambda: chordless.count_participation(PETERSEN).top(-1), OptionError, "whole number from 0 on"),
    "top of shares": (lambda: chordless.participation(PETERSEN).top(1.5), OptionError, "whole number from 0 on"),
    "top of shares negative": (lambda: chordless.participation(PETERSEN).top(-1), OptionError, "from 0 on, not -1"),
    "too many vertices": (lambda: Graph.from_edges(10**30, [(0, 1)]), GraphError, "2,147,483,647 vertices at most"),
    "vertices a bool": (lambda: Graph.from_edges(True, []), GraphError, "vertices must be a whole number, not True"),
    "edges without vertices": (lambda: Graph.from_edges(0, [(0, 1)]), GraphError, "the graph has no vertices"),
    "rows of two lengths": (lambda: Graph.from_numpy([[0, 1], [1]]), GraphError, "an adjacency matrix is square: "),
    "edges none": (lambda: Graph.from_edges(3, None), GraphError, "edges must be pairs of vertices, not None"),
    "edges of one end": (lambda: Graph.from_edges(3, [(0, 1), (1,)]), GraphError, "edges must be pairs of vertices"),
    "names a number": (lambda: Graph.from_edges(3, [(0, 1)], names=5), GraphError, "names must be a list"),
    "names a mapping": (lambda: Graph.from_edges(2, [], names={1: "a", 0: "b"}), GraphError, "names must be a list"),
    "names a number of a matrix": (lambda: Graph.from_numpy(np.eye(3), names=5), GraphError, "names must be a list"),
    "names too few of a matrix": (
        lambda: Graph.from_numpy([[0, 1], [0, 0]], names=["a"]),
        GraphError,
        "1 name was given for 2 vertices",
    ),
    "names without places of a matrix": (
        lambda: Graph.from_numpy([[0, 1], [0, 0]], names={"a": 1, "b": 2}.keys()),
        GraphError,
        r"entry \(a, b\) but not \(b, a\)",
    ),
    "no networkx graph": (lambda: Graph.from_networkx(5), GraphError, "an int is not a graph of networkx"),
    "a class": (lambda: Graph.from_networkx(nx.Graph), GraphError, "a type is not a graph of networkx"),
    "no igraph graph": (lambda: Graph.from_igraph("x"), GraphError, "a str is not a graph of igraph"),
    "no rustworkx graph": (lambda: Graph.from_rustworkx(PETERSEN), GraphError, "not a graph of rustworkx"),
    "no sparse matrix": (lambda: Graph.from_scipy(np.eye(2)), GraphError, "a ndarray is not a sparse matrix"),
    "no data frame": (lambda: Graph.from_pandas([1]), GraphError, "a list is not a data frame"),
    "number a bool": (lambda: chordless.sample_cycles(PETERSEN, True), OptionError, "number of draws must be a whole"),
    "minimum a text": (lambda: chordless.count_paths(PETERSEN, 0, 6, min_length="x"), OptionError, "min_length must"),
    "minimum none": (
        lambda: chordless.sample_paths(PETERSEN, 0, 6, 2, min_length=None),
        OptionError,
        "min_length must",
    ),
    "maximum a list": (lambda: chordless.longest_path(PETERSEN, 0, 6, max_length=[1]), OptionError, "max_length must"),
    "arch of the longest": (lambda: chordless.longest_cycle(PETERSEN, arch="gpu"), OptionError, "no arch 'gpu'"),
    "arch of a path": (lambda: chordless.longest_path(PETERSEN, 0, 6, arch=None), OptionError, "there is no arch None"),
    "arch of draws": (lambda: chordless.sample_cycles(PETERSEN, arch="gpu"), OptionError, "there is no arch 'gpu'"),
    "time a bool": (lambda: chordless.count_cycles(PETERSEN, timeout=True), OptionError, "timeout must be a number"),
    "time of an estimate": (
        lambda: chordless.estimate_cycles(PETERSEN, seconds=10**400),
        OptionError,
        "seconds must be a number",
    ),
    "vertices of a search by name": (lambda: Options(through=("a",)), OptionError, "through has indices of vertices"),
    "vertices of a search a number": (lambda: Options(avoid=5), OptionError, "avoid has indices of vertices"),
    "edges of a search a pair": (lambda: Options(avoid_edges=(0, 1)), OptionError, "avoid_edges has pairs of indices"),
    "edges of a search by name": (lambda: Options(avoid_edges=(("a", 1),)), OptionError, "avoid_edges has indices"),
    "options of a run": (
        lambda: chordless.Run(GRID, chordless.open_device("reference"), {"max_length": 8}),
        OptionError,
        "the options of a run are an Options",
    ),
    "state of a run": (
        lambda: chordless.Run(GRID, chordless.open_device("reference"), state=3),
        OptionError,
        "the state of a run comes from Run.state",
    ),
    "order a number": (lambda: chordless.longest_cycle(PETERSEN, order=3), OptionError, "order is a list of all"),
    "kind a number": (lambda: chordless.generate(3), GraphError, "a generated graph is named by a text"),
    "memory a text": (lambda: chordless.generate("petersen", memory="x"), OptionError, "memory must be a number"),
    "file none": (lambda: chordless.load_graph(None), GraphError, "loaded by the name of its file or kind"),
    "encoding a number": (lambda: chordless.load_graph("petersen", encoding=3), OptionError, "an encoding is named"),
    "types a number": (lambda: chordless.overlap_graph("web.net", types=3), OptionError, "types is the name of a file"),
    "memory of a file": (lambda: chordless.load_graph("petersen", memory="1G"), OptionError, "memory must be a number"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_type_gets_one_line(name: str) -> None:
    call, error, words = WRONG[name]
    with pytest.raises(error, match=words) as raised:
        call()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("cluster", [5, 2.5, ["local"], object()])
def test_a_cluster_is_a_text_or_a_client(cluster: Any) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(OptionError, match="a cluster is a text such as 'local'"):
        chordless.count_cycles(GRID, cluster=cluster)


def test_whole_numbers_of_numpy_are_a_seed_and_a_number_of_cycles() -> None:
    drawn = chordless.sample_cycles(PETERSEN, np.int64(3), seed=np.int64(5))
    assert drawn.lists() == chordless.sample_cycles(PETERSEN, 3, seed=5).lists()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ends", [(0, 6), ()], ids=["between two ends", "all"])
@pytest.mark.parametrize("largest", [np.int8(127), np.uint8(254), np.uint8(255), np.int64(2**63 - 1)], ids=repr)
def test_bounds_of_paths_are_whole_numbers_of_any_size(largest: Any, ends: tuple[int, ...]) -> None:
    every = chordless.count_paths(PETERSEN, *ends).by_length
    assert chordless.count_paths(PETERSEN, *ends, max_length=largest).by_length == every
    assert chordless.count_paths(PETERSEN, *ends, min_length=largest).by_length == {}


@pytest.mark.parametrize("memory", [10**400, 1e308], ids=["beyond", "within"])
def test_a_memory_above_every_float_is_no_limit(memory: float) -> None:
    assert chordless.count_cycles(GRID, memory=memory, arch="cpu").total == chordless.count_cycles(GRID).total
    assert chordless.longest_cycle(GRID, memory=memory).cycle


@pytest.mark.parametrize("shortest", [11, 1 << 31, 10**30])
def test_no_cycle_is_as_long_as_a_minimum_beyond_the_graph(shortest: int) -> None:
    assert chordless.longest_cycle(PETERSEN, min_length=shortest).cycle == []
    assert chordless.sample_cycles(PETERSEN, 2, min_length=shortest).lists() == []
    assert chordless.participation(PETERSEN, min_length=shortest).total == 0
    assert chordless.longest_path(PETERSEN, 0, 6, min_length=shortest).path == []


def test_a_minimum_as_long_as_the_longest_cycle_keeps_it() -> None:
    blocks = Graph.from_edges(9, [(0, 1), (1, 2), (2, 0), *((v, v + 1) for v in range(2, 8)), (8, 2), (2, 5)])
    assert len(chordless.longest_cycle(blocks, min_length=5).cycle) == 5
    assert chordless.longest_cycle(blocks, min_length=6).cycle == []
