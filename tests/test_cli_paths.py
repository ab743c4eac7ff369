"""``chordless paths`` through the engine, and its estimate: the commands as a user drives them."""

from __future__ import annotations

import json
import random

import networkx as nx
import pytest
from chordless.cli import main
from directed_graphs import KINDS, random_graph
from json_schemas import is_promised

from kernels_ti import count_paths


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a graph of networkx to a file; it returns the words that name it to a command."""

    def write(graph):
        path = tmp_path / "graph.txt"
        path.write_text("".join(f"{u} {v}\n" for u, v in graph.edges()))
        loops = any(u == v for u, v in graph.edges())
        kind = {"--directed": graph.is_directed(), "--multigraph": graph.is_multigraph() or loops}
        return [str(path), *(option for option, is_given in kind.items() if is_given)]

    return write


def printed(capfd, *arguments, exit_code=0):
    assert main(list(map(str, arguments))) == exit_code
    return capfd.readouterr().out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_a_small_estimate_of_paths_is_their_number(kind, seed, written, capfd):
    numbers = random.Random(seed)
    graph = random_graph(kind, seed, 8, numbers.choice([0.3, 0.4]))
    graph.remove_nodes_from(list(nx.isolates(graph)))  # an edge list has none
    s, t = numbers.sample(sorted(graph), 2)
    for ends, more in ((["--between", s, t], (s, t)), (["--all-pairs"], ())):
        found = json.loads(printed(capfd, "estimate", *written(graph), *ends, "--json", "--seconds", "1"))
        is_promised("estimate", found)
        counts = count_paths(graph, *more)
        assert found["exact"] is True
        assert (found["n"], found["m"], found["triangles"]) == (len(graph), graph.number_of_edges(), None)
        assert found["total"]["estimate"] == counts.total
        assert found["by_length"] == {str(length): count for length, count in counts.by_length.items()}


def test_a_large_estimate_of_paths_holds_their_number_and_speaks_of_paths(capfd):
    found = json.loads(printed(capfd, "estimate", "grid:7x7", "--between", "0,0", "6,6", "--json"))
    counts = count_paths(nx.grid_2d_graph(7, 7), (0, 0), (6, 6), method="boundary")
    # The range holds the truth in 9 cases of 10; ten times as wide a one always does.
    assert found["total"]["low"] / 10 <= counts.total <= 10 * found["total"]["high"]
    assert set(map(int, found["by_length"])) <= set(counts.by_length)
    told = printed(capfd, "estimate", "grid:7x7", "--between", "0,0", "6,6")
    assert "chordless paths" in told
    assert "cycles" not in told
    assert "--total-only" not in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cycle:5", "--between", "0", "7"], "there is no vertex '7'"),
        (["cycle:5", "--between", "3", "3"], "two different ends"),
        (["cycle:5", "--between", "0,1", "3"], "'0,1' names 2 vertices"),
        (["cycle:5", "--between", "0", "2", "--all-pairs"], "not allowed with"),
        (["cycle:5", "--between", "0", "2", "--symmetry"], "--symmetry is for cycles"),
        (["cycle:5", "--between", "0", "2", "--length", "1"], "a path has 2 vertices or more"),
    ],
)
def test_an_estimate_of_paths_refuses_in_a_line(arguments, message, capfd):
    assert main(["estimate", *arguments]) == 2
    assert message in capfd.readouterr().err
