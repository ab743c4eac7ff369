"""Chordless paths between two vertices, against the simple paths of networkx that have no chord."""

from __future__ import annotations

import itertools
import json
import random
import re
import shlex
import signal
import subprocess
import time
from collections import Counter
from fractions import Fraction

import networkx as nx
import pytest
from chordless import generate
from chordless.cli import main
from directed_graphs import KINDS, random_graph
from json_schemas import is_promised
from patience import PATIENCE
from program import ENVIRONMENT, command

from kernels_ti import (
    OptionError,
    TimeIsUpError,
    count_paths,
    enumerate_paths,
    longest_path,
    sample_paths,
    shortest_path,
)
from kernels_ti.path_graph import End, path_graph
from kernels_ti.paths import most_on_path


def chordless_paths(graph, s, t):
    """Return the paths whose vertices have only the edges of the path among them."""
    simple = {tuple(path) for path in nx.all_simple_paths(graph, s, t)}
    return sorted(path for path in simple if graph.subgraph(path).number_of_edges() == len(path) - 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_paths_are_those_of_networkx(kind, seed):
    numbers = random.Random(seed)
    graph = random_graph(kind, seed, 9, numbers.choice([0.15, 0.3, 0.45]), loops=0.05)
    s, t, other = numbers.sample(range(9), 3)
    expected = chordless_paths(graph, s, t)
    assert sorted(map(tuple, enumerate_paths(graph, s, t))) == expected
    assert count_paths(graph, s, t).by_length == dict(sorted(Counter(map(len, expected)).items()))
    for best, least in ((shortest_path(graph, s, t), min), (longest_path(graph, s, t), max)):
        lengths = list(map(len, expected))
        assert best.length == least(lengths, default=0)
        assert best.ways == lengths.count(best.length)
        assert not expected or tuple(best.path) in expected
    drawn = sample_paths(graph, s, t, 20, seed=seed)
    assert {tuple(path) for path in drawn} <= set(expected)
    assert len(drawn) == (20 if expected else 0)
    passing = [path for path in expected if other in path and 3 <= len(path) <= 5]
    bounds = {"through": [other], "min_length": 3, "max_length": 5}
    assert sorted(map(tuple, enumerate_paths(graph, s, t, **bounds))) == passing
    assert count_paths(graph, s, t, **bounds).total == len(passing)
    assert shortest_path(graph, s, t, **bounds).length == min(map(len, passing), default=0)
    odd = [path for path in expected if len(path) % 2]
    assert longest_path(graph, s, t, parity="odd").length == max(map(len, odd), default=0)
    assert {tuple(path) for path in sample_paths(graph, s, t, 20, parity="odd")} <= set(odd)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_all_paths_are_those_of_networkx(kind, seed):
    graph = random_graph(kind, seed, 7, 0.35, loops=0.05)
    of_pairs = [path for s, t in itertools.permutations(graph, 2) for path in chordless_paths(graph, s, t)]
    expected = {path for path in of_pairs if graph.is_directed() or path[0] < path[-1]}
    for options in ({"method": "search"}, {"method": "boundary"}, {"order": list(graph)[::-1]}):
        assert count_paths(graph, **options).by_length == dict(sorted(Counter(map(len, expected)).items()))
    assert sorted(map(tuple, enumerate_paths(graph))) == sorted(expected)
    assert longest_path(graph).length == max(map(len, expected), default=0)
    assert {tuple(path) for path in sample_paths(graph, k=20)} <= expected
    even = {path for path in expected if len(path) % 2 == 0 and 3 in path and len(path) < 6}
    assert count_paths(graph, parity="even", through=[3], max_length=5).total == len(even)


@pytest.mark.parametrize("of_edges", [False, True])
def test_the_weight_of_any_path(of_edges):
    graph = random_graph(nx.Graph, 3, 8, 0.35, loops=0)
    things = graph.edges if of_edges else graph.nodes
    for number, thing in enumerate(things):
        things[thing]["metres"] = (number * 7) % 5 + 1

    def weight(path):
        return nx.path_weight(graph, path, "metres") if of_edges else sum(graph.nodes[v]["metres"] for v in path)

    expected = [weight(path) for s, t in itertools.combinations(graph, 2) for path in chordless_paths(graph, s, t)]
    best = longest_path(graph, weight="metres", k=3)
    assert best.weights == sorted(expected, reverse=True)[:3]
    assert [weight(path) for path in best.paths] == best.weights
    assert shortest_path(graph, weight="metres").weight == min(expected)


@pytest.mark.parametrize(
    ("spec", "total"),
    [
        *[(f"grid:{n}x{n}", total) for n, total in enumerate([8, 94, 1004, 14864, 334536], 2)],  # A360200
        *[(f"grid:2x{n}", total) for n, total in enumerate([1, 8, 25, 58, 117, 218, 387], 1)],  # A360201
        *[(f"rook:{n}x{n}", total) for n, total in enumerate([8, 126, 2208, 55700], 2)],  # A360852
    ],
)
def test_published_numbers_of_all_paths(spec, total):
    assert count_paths(generate(spec)).total == total


def test_published_lengths_of_the_longest_paths_of_grids():
    published = {2: 3, 3: 7, 4: 11, 5: 17, 6: 24, 7: 33, 8: 42}  # A331968
    found = {n: longest_path(generate(f"grid:{n}x{n}")) for n in published}
    assert {n: best.length for n, best in found.items()} == published
    assert [best.ways for best in found.values()] == [4, 8, 84, 56, 136, 52, 216]  # A331986


def test_names_of_new_vertices_are_told_apart():
    assert count_paths(nx.path_graph("abcd")).by_length == {2: 3, 3: 2, 4: 1}
    assert longest_path(nx.path_graph("dcba")).path == ["d", "c", "b", "a"]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("of_edges", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_weight_of_a_path_is_that_of_its_own_vertices_or_edges(kind, of_edges, seed):
    numbers = random.Random(seed)
    graph = random_graph(kind, seed, 8, 0.35, loops=0)
    if of_edges:
        nx.set_edge_attributes(graph, {edge: numbers.randint(0, 9) / 4 for edge in graph.edges}, "metres")
    else:
        nx.set_node_attributes(graph, {v: numbers.randint(0, 9) / 4 for v in graph}, "metres")

    def weight(path):
        if of_edges:
            return nx.path_weight(graph, path, "metres")
        return sum(graph.nodes[v]["metres"] for v in path)

    expected = [weight(path) for path in chordless_paths(graph, 0, 7)]
    for best, least in (
        (shortest_path(graph, 0, 7, weight="metres"), min),
        (longest_path(graph, 0, 7, weight="metres"), max),
    ):
        assert best.weight == (least(expected) if expected else None)
        assert best.ways == expected.count(best.weight)
        assert not expected or weight(best.path) == best.weight


@pytest.mark.parametrize("ends", [(0, 2), ()])
@pytest.mark.parametrize("of_edges", [False, True])
def test_the_new_vertices_add_no_digits_to_the_weights(of_edges, ends):
    cycle = nx.cycle_graph(5)
    weights = {thing: 1.67e-27 * (3 + i) for i, thing in enumerate(cycle.edges if of_edges else cycle)}
    exact = {thing: Fraction(str(weight)) for thing, weight in weights.items()}

    def weight(path):
        things = itertools.pairwise(path) if of_edges else path
        return sum(exact[thing] if thing in exact else exact[thing[::-1]] for thing in things)

    pairs = [ends] if ends else itertools.combinations(cycle, 2)
    expected = [weight(path) for s, t in pairs for path in chordless_paths(cycle, s, t)]
    assert longest_path(cycle, *ends, weight=weights).weight == max(expected)
    assert shortest_path(cycle, *ends, weight=weights).weight == min(expected)


def test_two_neighbours_have_the_edge_alone():
    assert list(enumerate_paths(nx.cycle_graph(5), 0, 1)) == [[0, 1]]
    assert list(enumerate_paths(nx.DiGraph([(0, 1), (1, 2), (2, 0)]), 0, 2)) == []  # the arc back is a chord


def test_an_order_names_the_vertices_of_the_user():
    grid = nx.grid_2d_graph(3, 4)
    ends, backwards = ((0, 0), (2, 3)), list(grid)[::-1]
    assert count_paths(grid, *ends, method="boundary", order=backwards).by_length == {6: 10}
    assert longest_path(grid, *ends, order=backwards).ways == 10
    assert {len(path) for path in sample_paths(grid, *ends, 5, order=backwards)} == {6}
    with pytest.raises(OptionError, match="each of the 12 vertices once, but it has 11"):
        longest_path(grid, *ends, order=backwards[1:])


def test_names_of_any_kind_are_ends():
    graph = nx.grid_2d_graph(3, 3)
    assert count_paths(graph, (0, 0), (2, 2)).total == len(chordless_paths(graph, (0, 0), (2, 2)))
    assert shortest_path(nx.path_graph(["a", "b", "c"]), "a", "c").path == ["a", "b", "c"]


class Station:
    """A name that takes all others for its own kind, as careless classes do."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number

    def __hash__(self):
        return hash(("station", self.number))


def test_names_of_careless_classes_are_told_from_new_vertices():
    stations = list(map(Station, range(6)))
    ring = nx.relabel_nodes(nx.cycle_graph(6), dict(enumerate(stations)))
    ends = stations[5], stations[2]
    ways = [stations[v] for v in (5, 4, 3, 2)], [stations[v] for v in (5, 0, 1, 2)]
    assert all(path in ways for path in enumerate_paths(ring, *ends))
    assert longest_path(ring, *ends, weight=dict.fromkeys(stations, 2)).weight == 8
    assert all(path in ways for path in sample_paths(ring, *ends, k=3))
    assert sum(1 for _ in enumerate_paths(ring)) == count_paths(ring).total == 24


def test_a_path_begins_at_its_first_end_also_where_that_is_not_equal_to_itself():
    missing = float("nan")
    graph = nx.path_graph([missing, "b", "c"])
    assert list(enumerate_paths(graph, missing, "c")) == [[missing, "b", "c"]]
    assert longest_path(graph, "c", missing).path == ["c", "b", missing]


@pytest.mark.parametrize(
    ("ends", "bounds", "message"),
    [
        ((0, 0), {}, "two different ends"),
        ((0, 9), {}, "no vertex 9"),
        ((0,), {}, "name both, or none of them"),
        ((0, 2), {"min_length": 1}, "2 vertices or more: 1 is no minimum"),
        ((0, 2), {"max_length": 1}, "maximum length 1 of a path is less than the minimum 2"),
    ],
)
def test_wrong_ends_and_bounds_are_refused(ends, bounds, message):
    with pytest.raises(OptionError, match=message):
        count_paths(nx.cycle_graph(5), *ends, **bounds)


def test_the_command_counts_lists_and_finds_paths(tmp_path, capfd):
    def printed(*arguments):
        assert main(["paths", "grid:3x3", "0,0", "2,2", *arguments]) == 0
        return capfd.readouterr().out

    expected = chordless_paths(nx.grid_2d_graph(3, 3), (0, 0), (2, 2))
    by_length = {str(length): count for length, count in sorted(Counter(map(len, expected)).items())}
    found = is_promised("paths", json.loads(printed("--json")))
    assert (found["by_length"], found["total"], found["complete"]) == (by_length, len(expected), True)
    assert f"total     {len(expected)}\n" in printed()
    lines = printed("--list").splitlines()
    assert sorted(lines) == sorted(" ".join(f"{x},{y}" for x, y in path) for path in expected)
    assert printed("-o", "-").splitlines() == lines
    output = tmp_path / "paths.jsonl"
    assert printed("-o", str(output)) == ""
    assert sorted(map(json.loads, output.read_text().splitlines())) == sorted(map(str.split, lines))
    longest = is_promised("paths", json.loads(printed("--longest", "--json")))
    assert longest["length"] == len(longest["path"]) == max(map(len, expected))
    for line in printed("--list", "--json").splitlines():
        is_promised("cycle", json.loads(line))
    assert printed("--shortest").startswith("grid:3x3\n  shortest  5 vertices\n")
    for method in ("search", "boundary"):
        assert json.loads(printed("--method", method, "--json"))["by_length"] == by_length
    drawn = printed("--sample", "40", "--seed", "3").splitlines()
    assert len(drawn) == 40
    assert len(set(drawn)) > 3
    assert set(drawn) <= set(lines)


def test_the_command_weighs_paths(tmp_path, capfd):
    path = tmp_path / "roads.txt"
    path.write_text("a b 1.5\nb c 2\nc d 0.25\na d 3.5\nb e 1\ne d 0.1\n")

    def printed(*arguments):
        assert main(["paths", str(path), "a", "c", "--weight", str(path), *arguments]) == 0
        out, err = capfd.readouterr()
        assert err == ""
        return out

    best = is_promised("paths", json.loads(printed("--longest", "-k", "2", "--json")))
    assert (best["weight"], best["weights"]) == (3.75, [3.75, 3.5])
    assert best["paths"] == [["a", "d", "c"], ["a", "b", "c"]]
    assert "  lightest  weight 3.5, 3 vertices\n  paths     1 of this weight\n" in printed("--shortest")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cycle:5", "0", "7"], "there is no vertex '7'"),
        (["grid:3x4", "0,0", "9,9"], "there is no vertex '9,9'"),
        (["cycle:5", "3", "3"], "two different ends"),
        (["cycle:5", "0", "2", "--longest", "--list"], "not allowed with"),
        (["cycle:5", "0", "2", "--weight", "length"], "--weight is for --shortest and --longest"),
        (["cycle:5", "0", "2", "--list", "--method", "boundary"], "--sample N draws some"),
        (["cycle:5", "0", "2", "--seed", "1"], "--seed is for --sample"),
        (["cycle:5", "0", "2", "-o", "paths.csv"], "paths are written as .txt, .jsonl, .npy, .parquet or .arrow"),
        (["cycle:5", "0", "2", "--sample", "9999999999999"], "1,000,000,000,000 paths are the most"),
        (["cycle:5", "0", "2", "--sample", "2", "--limit", "1"], "--limit is for counts and lists"),
        (["cycle:5", "0", "2", "--shortest", "--weight", "length"], "no such attribute"),
    ],
)
def test_the_command_refuses_in_a_line(arguments, message, capfd):
    assert main(["paths", *arguments]) == 2
    assert message in capfd.readouterr().err


def test_a_graph_without_edges_has_no_path_of_any_weight():
    assert longest_path(nx.empty_graph(3), 0, 1, weight="metres").path == []


@pytest.mark.slow
def test_listed_paths_are_kept_when_a_listing_is_interrupted(tmp_path):
    path = tmp_path / "paths.txt"
    arguments = command("paths", "grid:14x14", "0,0", "13,13", "-o", path)
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        until = time.monotonic() + PATIENCE
        while not any(file.stat().st_size for file in tmp_path.iterdir()):
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    listed = path.read_text().splitlines()
    assert re.search(rf"^not complete: interrupted after [^;]+; {len(listed):,} paths in {path}$", said, re.MULTILINE)
    assert all(line.startswith("0,0 ") and line.endswith(" 13,13") for line in listed)


def test_a_tab_is_between_names_with_blanks_in_every_output(tmp_path, capfd):
    graph, output = tmp_path / "graph.csv", tmp_path / "paths.txt"
    graph.write_text('"a b","c"\n"c","d,e"\n"d,e","f"\n"f","a b"\n')
    whole = {"c\td,e\tf", "a b\tc\td,e", "a b\tf\td,e", "c\ta b\tf"}

    def printed(*arguments):
        assert main(["paths", str(graph), "--all-pairs", *arguments]) == 0
        return capfd.readouterr().out.splitlines()

    # A path without a blank in its names has the separator of the others.
    assert set(printed("--list", "--min-length", "3")) == whole
    assert set(printed("--sample", "99", "--min-length", "3")) == whole
    assert printed("--min-length", "3", "-o", str(output)) == []
    assert set(output.read_text().splitlines()) == whole
    shown = printed("--longest", "-k", "4")[-4:]
    assert {line[12:] for line in shown} == whole
    assert main(["longest", str(graph)]) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "  one       a b\tc\td,e\tf"


@pytest.mark.slow
def test_a_full_disk_leaves_the_whole_lines_before(tmp_path):
    path = tmp_path / "paths.txt"
    line = shlex.join(map(str, command("paths", "grid:7x7", "0,0", "6,6", "-o", path)))
    done = subprocess.run(["bash", "-c", f"ulimit -f 4; {line}"], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 1
    listed = path.read_text().splitlines()
    assert f"cannot write {path}: File too large; whole lines written before: {len(listed):,}" in done.stderr
    assert len(listed) > 10
    assert all(line.startswith("0,0 ") and line.endswith(" 6,6") for line in listed)
    assert list(tmp_path.iterdir()) == [path]


def test_paths_come_in_batches_too():
    graph = nx.petersen_graph()
    one_by_one = sorted(enumerate_paths(graph, 0, 6))
    batches = list(enumerate_paths(graph, 0, 6, arch="cpu").batches())
    assert sorted(itertools.chain.from_iterable(batches)) == one_by_one
    assert all(batch for batch in batches)
    taken = enumerate_paths(graph, 0, 6)
    next(taken)
    with pytest.raises(OptionError, match="taken one by one"):
        next(taken.batches())


def test_paths_that_are_not_found_in_time_are_called_paths():
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 12))
    expected = r"the 1e-06 s allowed were up before all paths were compared; the best one so far has \d+ vertices"
    for weight, bound in ((None, r", and none has more than (\d+)"), (dict.fromkeys(graph, 3), "")):
        with pytest.raises(TimeIsUpError, match=f"^{expected}{bound}$") as late:
            longest_path(graph, 0, 143, weight=weight, timeout=1e-6)
        best = late.value.best
        assert not best.complete
        assert best.no_longer_than is None if weight else best.length <= best.no_longer_than < 144
        assert (best.path[0], best.path[-1]) == (0, 143)
        assert len(graph.subgraph(best.path).edges) == best.length - 1
        assert best.weight == (None if weight is None else 3 * best.length)
    with pytest.raises(TimeIsUpError, match=r"^the 1e-06 s allowed were up before the paths were drawn$"):
        sample_paths(graph, 0, 143, 1, timeout=1e-6)


@pytest.mark.slow
def test_a_count_that_ends_before_its_first_path_tells_of_no_total(capsys):
    assert main(["paths", "grid:12x12", "0,0", "11,11", "--timeout", "0.000001", "-q"]) == 4
    assert re.fullmatch(r"grid:12x12\n  stopped after [\d.]+ m?s, before a path was counted\n", capsys.readouterr().out)


@pytest.mark.parametrize("bounds", [{"k": 0}, {"k": 2, "weight": dict.fromkeys(range(5), 1), "method": "boundary"}])
def test_faults_of_the_best_paths_do_not_tell_of_cycles(bounds):
    with pytest.raises(OptionError, match=r"^k (?!.*cycle)"):
        longest_path(nx.cycle_graph(5), 0, 2, **bounds)


@pytest.mark.parametrize("function", [count_paths, enumerate_paths, longest_path, shortest_path, sample_paths])
def test_an_unknown_keyword_names_the_function_that_was_called(function):
    graph = generate("grid:3x3")
    more = [1] if function is sample_paths else []
    with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) got an unexpected keyword argument 'avoid_edge'$"):
        function(graph, *graph.names[:2], *more, avoid_edge=[])


def test_the_shortest_path_has_no_keyword_that_says_so_again():
    with pytest.raises(TypeError, match=r"^shortest_path\(\) got an unexpected keyword argument 'shortest'$"):
        shortest_path(nx.cycle_graph(5), 0, 2, shortest=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_no_path_has_more_vertices_than_are_possible(kind, seed):
    graph = random_graph(kind, seed, 9, 0.15 + 0.1 * seed)
    for ends in ((0, 8), ()):
        longest = longest_path(graph, *ends).length
        joined = path_graph(graph, *(ends or (End.ANY, End.ANY)))
        assert longest <= most_on_path(joined, joined.graph.n) <= joined.given.n or longest == 0


def test_the_bound_of_all_paths_of_a_grid_counts_the_edges_that_leave_a_path():
    joined = path_graph(nx.grid_2d_graph(9, 9), End.ANY, End.ANY)
    assert most_on_path(joined, joined.graph.n) == 59  # 4 corners, 28 sides, 27 inside: 4 + 2 * 28 + 3 * 27 < 144
