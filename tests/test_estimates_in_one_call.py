"""`estimate_cycles` and `estimate_paths`, as users call them: exact where a graph is small, else a range."""

import math
import time
from dataclasses import FrozenInstanceError, asdict

import networkx as nx
import pytest
from chordless import (
    CountEstimate,
    EstimatedRange,
    OptionError,
    Progress,
    SizeError,
    TimeIsUpError,
    count_cycles,
    count_paths,
    estimate_cycles,
    estimate_paths,
    generate,
)
from directed_graphs import KINDS, random_graph

GRID = generate("grid:5x6")  # too large to be searched at once in Python
CYCLES_8_9, PATHS_8_9 = 10_614_143, 7_775_655
RESTRICTIONS = {
    "none": {},
    "lengths": {"min_length": 6, "max_length": 16},
    "parity": {"parity": "odd"},
    "through": {"through": ["1,1", "3,4"]},
    "avoid": {"avoid": ["2,2"]},
    "avoid_edges": {"avoid_edges": [("0,0", "0,1"), ("2,2", "2,3"), ("3,3", "4,3")]},
}


def check_exact(found, counts):
    assert found.exact
    assert found.by_length == counts.by_length
    assert found.total == EstimatedRange(counts.total, counts.total, counts.total)
    assert all(isinstance(count, int) for count in (found.total.estimate, found.paths.estimate))


@pytest.mark.parametrize("name", RESTRICTIONS)
def test_a_small_graph_is_counted(name):
    check_exact(
        estimate_cycles(GRID, **RESTRICTIONS[name]), count_cycles(GRID, method="boundary", **RESTRICTIONS[name])
    )
    found = estimate_paths(GRID, "0,0", "4,5", **RESTRICTIONS[name])
    check_exact(found, count_paths(GRID, "0,0", "4,5", method="boundary", **RESTRICTIONS[name]))
    assert found.triangles is None


def test_a_small_graph_is_counted_whatever_edges_are_avoided():
    avoided = list(nx.cycle_graph(11).edges)  # 25 batches of blocks
    found = estimate_cycles(nx.complete_graph(11), avoid_edges=avoided, seconds=300)
    check_exact(found, count_cycles(nx.complete_graph(11), avoid_edges=avoided))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [8, 14])
def test_graphs_of_every_kind_are_counted(kind, n):
    graph = random_graph(kind, n, n, 0.2)
    check_exact(estimate_cycles(graph, min_length=1), count_cycles(graph, min_length=1, method="boundary"))
    check_exact(estimate_paths(graph, 0, n - 1), count_paths(graph, 0, n - 1, method="boundary"))
    simple = estimate_cycles(graph, simplify=True)
    check_exact(simple, count_cycles(graph, simplify=True, method="boundary"))
    assert simple.triangles == simple.by_length.get(3, 0)


def test_all_paths_of_a_graph_are_counted():
    graph = generate("grid:4x5")
    check_exact(estimate_paths(graph), count_paths(graph, method="boundary"))


def test_a_large_graph_gets_a_range():
    found = estimate_cycles(generate("grid:8x9"))
    assert not found.exact
    assert 0 < found.total.low <= found.total.estimate <= found.total.high < math.inf
    assert found.total.estimate == pytest.approx(CYCLES_8_9, rel=0.5)
    assert sum(found.by_length.values()) == pytest.approx(found.total.estimate)
    assert min(found.probes, found.walks) > 1
    assert repr(found) == (
        f"CountEstimate(about {found.total.estimate:.3g}, {found.total.low:.3g} to {found.total.high:.3g})"
    )
    paths = estimate_paths(generate("grid:8x9"), "0,0", "7,8")
    assert 0 < paths.total.low <= paths.total.high
    assert paths.total.estimate == pytest.approx(PATHS_8_9, rel=0.5)


def test_too_little_time_tells_a_lower_bound():
    found = estimate_cycles(generate("grid:20x20"), seconds=0.01)
    assert found.total.high == math.inf
    assert repr(found) == f"CountEstimate(at least {found.total.low:.3g})"


def test_an_estimate_is_frozen_short_and_has_the_keys_of_json():
    found = estimate_cycles(nx.petersen_graph())
    assert repr(found) == "CountEstimate(22, exact)"
    assert list(asdict(found)) == ["triangles", "total", "by_length", "paths", "exact", "probes", "walks"]
    assert list(asdict(found)["total"]) == ["estimate", "low", "high"]
    with pytest.raises(FrozenInstanceError):
        found.exact = False
    assert isinstance(found, CountEstimate)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        *(
            ({"seconds": each}, OptionError, "^seconds must be a number")
            for each in (0, -1, math.inf, math.nan, "2", True)
        ),
        ({"seed": -1}, OptionError, "^the seed must be"),
        ({"memory": "1G"}, OptionError, "^memory must be"),
        ({"memory": 100}, SizeError, "too large for an estimate"),
        ({"min_length": 9, "max_length": 8}, OptionError, "^the maximum length 8"),
        ({"through": ["nobody"]}, OptionError, "nobody"),
        ({"progress": 1.5}, OptionError, "^progress must be"),
    ],
)
@pytest.mark.parametrize("function", [estimate_cycles, estimate_paths])
def test_a_wrong_option_gets_one_line(function, wrong, error, words):
    with pytest.raises(error, match=words) as raised:
        function(GRID, **wrong)
    assert "\n" not in str(raised.value)


def test_wrong_ends_and_keywords_get_one_line():
    with pytest.raises(OptionError, match=r"^a path has two ends"):
        estimate_paths(GRID, "0,0")
    with pytest.raises(TypeError, match=r"^estimate_paths\(\) got an unexpected keyword argument 'arch'$"):
        estimate_paths(GRID, "0,0", "4,5", arch="cpu")


def test_a_graph_that_takes_too_long_to_probe_is_refused_at_once():
    with pytest.raises(
        TimeIsUpError, match=r"^no probe of so large a graph can begin within 0.1 s: allow more seconds"
    ):
        estimate_cycles(generate("grid:200x200"), seconds=0.1)


def test_symmetry_probes_the_search_of_one_path_of_each_orbit():
    cube = generate("hypercube:5")
    # It ends when it is exact; a busy machine takes longer.
    plain, symmetric = (estimate_cycles(cube, seconds=60, symmetry=symmetry) for symmetry in (False, True))
    assert symmetric.by_length == plain.by_length == count_cycles(cube).by_length
    assert symmetric.paths.estimate < plain.paths.estimate / 100
    cube = generate("hypercube:4")
    check_exact(estimate_paths(cube, seconds=60, symmetry=True), count_paths(cube))
    with pytest.raises(OptionError, match=r"for simple undirected graphs$"):
        estimate_cycles(nx.DiGraph([(0, 1), (1, 2), (2, 0)]), symmetry=True)


@pytest.mark.parametrize("function", [estimate_cycles, estimate_paths])
def test_progress_is_told_while_it_probes(function, monkeypatch):
    monkeypatch.setattr("kernels_ti.watch.SECONDS_BETWEEN_REPORTS", 0.01)  # a busy machine tells fewer
    told = []
    function(generate("grid:8x9"), seconds=0.8, progress=told.append)
    assert all(isinstance(now, Progress) for now in told)
    assert [now.stage for now in told] == ["reading", *["searching"] * (len(told) - 1)]
    shares = [now.share for now in told]
    assert len(told) > 4
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_an_error_of_the_progress_ends_the_estimate():
    def stop(now):
        if now.stage == "searching":
            raise KeyError(now.stage)

    with pytest.raises(KeyError, match="searching"):
        estimate_cycles(GRID, progress=stop)


@pytest.mark.slow
def test_a_large_graph_takes_little_longer_than_its_time():
    graph, spent = generate("grid:100x100"), []
    for _ in range(3):
        began = time.process_time()
        estimate_cycles(graph, seconds=0.5)
        spent.append(time.process_time() - began)
    assert min(spent) < 1.5
