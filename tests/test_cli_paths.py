"""``chordless paths`` through the engine, and its estimate: the commands as a user drives them."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
import tracemalloc
from collections import Counter
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from chordless.cli import main
from chordless.cycles.base import NoOutput
from chordless.cycles.browse import RunCycles
from chordless.cycles.paths import as_paths
from chordless.graphs.generators import generate
from chordless.protocol.orders import RunCommand
from chordless.runs.history import list_runs
from chordless.tui.run_list import counted_before, counted_words, row_title
from directed_graphs import KINDS, random_graph
from json_schemas import is_promised
from patience import PATIENCE
from program import ENVIRONMENT, chordless, command
from test_paths import chordless_paths

from kernels_ti import count_paths, longest_path
from kernels_ti.cycles import Cycles
from kernels_ti.errors import quantity


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


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_a_small_estimate_of_paths_is_their_number(kind, seed, written, capfd):
    numbers = random.Random(seed)
    graph = random_graph(kind, seed, 8, numbers.choice([0.3, 0.4]))
    graph.remove_nodes_from(list(nx.isolates(graph)))  # an edge list has none
    s, t = numbers.sample(sorted(graph), 2)
    for ends, more in ((["--between", s, t], (s, t)), (["--all-pairs"], ())):
        found = json.loads(printed(capfd, "estimate", *written(graph), *ends, "--json", "--seconds", "10"))
        is_promised("estimate", found)
        counts = count_paths(graph, *more)
        assert found["exact"] is True
        assert (found["n"], found["m"], found["triangles"]) == (len(graph), graph.number_of_edges(), None)
        assert found["total"]["estimate"] == counts.total
        assert found["by_length"] == {str(length): count for length, count in counts.by_length.items()}


@pytest.mark.slow
def test_a_large_estimate_of_paths_holds_their_number_and_speaks_of_paths(capfd):
    found = json.loads(printed(capfd, "estimate", "grid:7x7", "--between", "0,0", "6,6", "--json"))
    counts = count_paths(nx.grid_2d_graph(7, 7), (0, 0), (6, 6), method="boundary")
    # The range holds the truth in 9 cases of 10; ten times as wide a one always does.
    assert found["total"]["low"] / 10 <= counts.total <= 10 * found["total"]["high"]
    assert set(map(int, found["by_length"])) <= set(counts.by_length)
    told = printed(capfd, "estimate", "grid:7x7", "--between", "0,0", "6,6")
    assert "chordless paths" in told
    assert "cycles" not in told


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


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arch", ["cpu", "reference"])
def test_an_engine_counts_and_lists_the_paths_of_brute_force(kind, arch, written, tmp_path, capfd):
    graph = random_graph(kind, 3, 9, 0.35)
    graph.remove_nodes_from(list(nx.isolates(graph)))
    between = {(s, t): chordless_paths(graph, s, t) for s in graph for t in graph if s != t}
    (s, t), expected = max(between.items(), key=lambda entry: len(entry[1]))
    whole = {path for paths in between.values() for path in paths if graph.is_directed() or path[0] < path[-1]}
    output = tmp_path / "paths.jsonl"
    for ends, paths in (([s, t], expected), (["--all-pairs"], sorted(whole))):
        path, *kinds = written(graph)
        asked = ["paths", path, *ends, *kinds, "--arch", arch]
        found = is_promised("paths", json.loads(printed(capfd, *asked, "--json")))
        by_length = Counter(map(len, paths))
        assert found["by_length"] == {str(length): count for length, count in sorted(by_length.items())}
        assert [found["start"], found["end"]] == (list(map(str, ends)) if len(ends) > 1 else [None, None])
        assert printed(capfd, *asked, "-o", output) == ""
        listed = [tuple(map(int, json.loads(line))) for line in output.read_text().splitlines()]
        if len(ends) == 1 and not graph.is_directed():
            # They begin at the end that comes first in the graph, which may not have the smaller name.
            listed = [min(path, path[::-1]) for path in listed]
        assert sorted(listed) == paths
        bounded = json.loads(printed(capfd, *asked, "--json", "--odd", "--max-length", "4"))
        assert bounded["total"] == by_length[3]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "listed"), [("search", False), ("search", True), ("boundary", False)])
def test_a_stopped_run_of_paths_is_resumed_to_the_same_paths(method, listed, tmp_path, capfd):
    run, output, graph = tmp_path / "run", tmp_path / "paths.txt", nx.grid_2d_graph(7, 7)
    expected = count_paths(graph, (0, 0), (6, 6), method="boundary")
    arguments = ["paths", "grid:7x7", "0,0", "6,6", "--method", method, "--arch", "cpu", "--checkpoint", run]
    stop = ["--limit", "1000"] if listed else ["--timeout", "0.001"]
    told = printed(capfd, *arguments, *stop, *(["-o", output] if listed else []), exit_code=4)
    assert told.startswith("grid:7x7\n") or listed
    if not listed:
        found = is_promised("paths", json.loads(printed(capfd, "resume", run, "--json")))
        assert found["by_length"] == {str(length): count for length, count in expected.by_length.items()}
        assert (found["start"], found["end"], found["complete"]) == ("0,0", "6,6", True)
        assert f"total     {expected.total:,}\n" in printed(capfd, "resume", run)
        return
    assert main(["resume", str(run)]) == 0
    assert f"{expected.total:,} paths in {output}" in capfd.readouterr().err
    lines = output.read_text().splitlines()
    assert len(lines) == len(set(lines)) == expected.total
    assert Counter(len(line.split()) for line in lines) == expected.by_length
    assert all(line.startswith("0,0 ") and line.endswith(" 6,6") for line in lines)


@pytest.mark.slow
def test_a_killed_list_of_paths_goes_on_from_its_checkpoint(tmp_path, capfd):
    run, output, events = tmp_path / "run", tmp_path / "paths.txt", tmp_path / "events.jsonl"
    whole = count_paths(nx.grid_2d_graph(8, 8), (0, 0), (7, 7), method="boundary").by_length
    expected = {length: count for length, count in whole.items() if length <= 29}
    asked = ("paths", "grid:8x8", "0,0", "7,7", "--max-length", "29", "-o", output, "--checkpoint", run)
    with subprocess.Popen(
        command(*asked, "--checkpoint-every", "0.05", "--events", events), stderr=subprocess.DEVNULL, env=ENVIRONMENT
    ) as process:
        until = time.monotonic() + PATIENCE
        while not (events.exists() and events.read_text().count('"checkpointed"') > 1) and process.poll() is None:
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert main(["resume", str(run)]) == 0
    assert f"{sum(expected.values()):,} paths in {output}" in capfd.readouterr().err
    assert Counter(len(line.split()) for line in set(output.read_text().splitlines())) == expected


def test_events_of_paths_tell_their_lengths(tmp_path, capfd):
    events = tmp_path / "events.jsonl"
    found = json.loads(printed(capfd, "paths", "grid:6x6", "0,0", "5,5", "--arch", "cpu", "--json", "--events", events))
    last = json.loads(events.read_text().splitlines()[-1])
    assert (last["event"], last["ends"]) == ("finished", ["0,0", "5,5"])
    assert last["cycles_by_length"] == found["by_length"]
    assert last["frontier_by_length"].keys() <= set(map(str, range(2, 36)))


@pytest.mark.parametrize("file_format", ["parquet", "arrow"])
def test_paths_are_written_as_columns(file_format, tmp_path, capfd):
    pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    output = tmp_path / f"paths.{file_format}"
    printed(capfd, "paths", "cycle:6", 4, 1, "-o", output)
    read = pyarrow.parquet.read_table if file_format == "parquet" else pyarrow.feather.read_table
    assert sorted(read(output)["vertices"].to_pylist()) == [[4, 3, 2, 1], [4, 5, 0, 1]]


@pytest.mark.slow
def test_the_progress_of_paths_speaks_of_paths(capfd):
    printed(capfd, "paths", "grid:9x9", "0,0", "8,8", "--method", "search", "--arch", "cpu", "--progress", "plain")
    told = capfd.readouterr().err
    assert "cycles" not in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--list", "--checkpoint", "run"], "--checkpoint needs -o FILE"),
        (["-o", "paths.parquet", "--checkpoint", "run"], "which is written as a whole"),
        (["--longest", "--method", "search", "--checkpoint", "run"], "--checkpoint is for the method boundary"),
        (["--longest", "-k", "3", "--checkpoint", "run"], "several paths are found without a checkpoint"),
        (["--sample", "3", "--cluster", "local"], "--cluster is for counts and lists"),
        (["--longest", "--part", "1/2"], "--part is for counts and lists"),
        (["--longest", "-o", "paths.txt"], "-o is for lists and --sample"),
        (["--list", "--json", "-o", "paths.txt"], "JSON lines are written to a file named .jsonl"),
        (["--checkpoint-every", "3s"], "--checkpoint-every needs --checkpoint DIR"),
        (["--method", "boundary", "--limit", "3"], "--limit is for --method search"),
        (["--total-only", "--list"], "--total-only is for counts"),
        (["--total-only", "--min-length", "3"], "--total-only counts all lengths together"),
        (["--total-only", "--limit", "3"], "--limit is for --method search: leave it out, or --total-only"),
        (["-o", "run/", "--checkpoint", "run"], "which keeps a checkpoint anyway"),
        (["-o", "run.parquet", "--sample", "3"], "paths are written as .txt, .jsonl or .npy"),
    ],
)
def test_a_run_of_paths_refuses_in_a_line(arguments, message, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["paths", "cycle:5", "0", "2", *arguments]) == 2
    assert message in capfd.readouterr().err


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_total_alone_is_that_of_all_lengths(kind, every, written, capfd):
    graph = random_graph(kind, 3, 9, 0.35)
    total = {(s, t): len(chordless_paths(graph, s, t)) for s in graph for t in graph if s != t}
    ends = max(total, key=total.__getitem__)
    path, *kinds = written(graph)
    arguments = ["paths", path, *kinds, *(["--all-pairs"] if every else ends), "--total-only", "-q"]
    if every and graph.is_directed():
        assert main(list(map(str, arguments))) == 2
        assert "--total-only counts all paths of a graph without directions" in capfd.readouterr().err
        return
    found = is_promised("paths", json.loads(printed(capfd, *arguments, "--json")))
    expected = sum(total.values()) // 2 if every else total[ends]
    assert expected > 0
    assert (found["total"], found["by_length"]) == (expected, None)
    table = printed(capfd, *arguments)
    assert f"  total     {expected}\n" in table
    assert "vertices" not in table


def test_a_total_alone_goes_on_from_a_checkpoint(tmp_path, capfd):
    run = str(tmp_path / "run")
    arguments = ["paths", "grid:6x6", "--all-pairs", "--total-only", "--checkpoint", run, "--json", "-q"]
    total = json.loads(printed(capfd, *arguments))["total"]
    assert total == count_paths(nx.grid_2d_graph(6, 6)).total
    assert json.loads(printed(capfd, "resume", run, "--json", "-q"))["total"] == total


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_of_paths_is_exported_and_browsed(kind, written, tmp_path, capfd):
    graph = random_graph(kind, 5, 9, 0.25)
    graph.remove_nodes_from(list(nx.isolates(graph)))
    between = {(s, t): chordless_paths(graph, s, t) for s in graph for t in graph if s != t}
    (s, t), expected = max(between.items(), key=lambda entry: len(entry[1]))
    path, *kinds = written(graph)
    run = tmp_path / "run"
    # Where there is one path, the search may be through when it meets it.
    assert main(["paths", path, str(s), str(t), *kinds, "-o", f"{run}/", "--limit", "1"]) in (0, 4)
    assert main(["resume", str(run)]) == 0
    assert f"{quantity(len(expected), 'path')} in {run}" in capfd.readouterr().err
    exported = [tuple(map(int, line.split())) for line in printed(capfd, "export", run).splitlines()]
    assert sorted(exported) == expected
    browsed = RunCycles(run)
    names = browsed.loaded.graph.names
    shown = [tuple(int(names[v]) for v in found.vertices) for found in browsed.found(np.arange(len(browsed)))]
    assert sorted(shown) == expected


def test_all_paths_have_no_bit_rows(capfd):
    assert main(["paths", "cycle:5", "--all-pairs", "-o", "paths.npy"]) == 2
    assert "bit rows are for the paths between two vertices" in capfd.readouterr().err


def test_a_run_of_paths_answers_no_question_about_cycles(tmp_path, capfd):
    printed(capfd, "paths", "grid:5x5", "0,0", "4,4", "--min-length", "3", "--checkpoint", tmp_path / "run")
    runs = list_runs(tmp_path)
    command = RunCommand("grid:5x5", 0.0)
    assert counted_before(runs, command) == []
    told = counted_words(counted_before(runs, replace(command, between=("0,0", "4,4")))[0])
    assert told.startswith(f"{runs[0].cycles} chordless paths: counted")
    assert row_title(runs[0]) == "grid:5x5, paths from 0,0 to 4,4, from 3"


def names_a_chordless_path(graph, path):
    return len(set(path)) == len(path) == graph.subgraph(path).number_of_edges() + 1


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_a_longest_path_goes_on_from_its_checkpoint(weighted, tmp_path, capfd):
    weights = tmp_path / "weights.txt"
    weights.write_text("".join(f"{x},{y} {1 + (3 * x + y) % 5}\n" for x in range(7) for y in range(7)))
    graph, run = nx.grid_2d_graph(7, 7), tmp_path / "run"
    more = ["--weight", weights] if weighted else []
    asked = ["paths", "grid:7x7", "0,0", "6,6", "--longest", *more]
    whole = is_promised("paths", json.loads(printed(capfd, *asked, "--json")))
    told = printed(capfd, *asked, "--checkpoint", run, "--timeout", "0.02", exit_code=4)
    assert ("before all paths were compared; none has more than" in told) is not weighted
    found = is_promised("paths", json.loads(printed(capfd, "resume", run, "--json")))
    assert (found["complete"], found["ways"], found.get("weight")) == (True, whole["ways"], whole.get("weight"))
    assert names_a_chordless_path(graph, [tuple(map(int, name.split(","))) for name in found["path"]])
    if weighted:
        expected = longest_path(graph, (0, 0), (6, 6), weight={(x, y): 1 + (3 * x + y) % 5 for x, y in graph})
        assert found["weight"] == expected.weight
    else:
        assert found["length"] == max(count_paths(graph, (0, 0), (6, 6), method="boundary").by_length)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["txt", "jsonl", "npy"])
def test_a_sample_of_paths_is_told_again_from_its_checkpoint(suffix, tmp_path, capfd):
    run, output, events = tmp_path / "run", tmp_path / f"paths.{suffix}", tmp_path / "events.jsonl"
    asked = ["paths", "grid:7x7", "0,0", "6,6", "--sample", "40", "--seed", "5", "-o", output]
    assert main([*map(str, asked), "--checkpoint", str(run), "--events", str(events)]) == 0
    total = count_paths(nx.grid_2d_graph(7, 7), (0, 0), (6, 6), method="boundary").total
    assert f"40 paths, drawn from {total:,}" in capfd.readouterr().err
    last = json.loads(events.read_text().splitlines()[-1])
    assert (last["event"], last["ends"], last["listed"]) == ("finished", ["0,0", "6,6"], 40)
    first = output.read_bytes()
    output.unlink()
    assert main(["resume", str(run)]) == 0
    assert output.read_bytes() == first
    if suffix == "txt":
        drawn = [line.split() for line in first.decode().splitlines()]
        assert all(path[0] == "0,0" and path[-1] == "6,6" for path in drawn)
        assert last["cycles_by_length"] == {str(k): n for k, n in Counter(map(len, drawn)).items()}


@pytest.mark.parametrize("ways", [["--all-pairs"], ["0", "8"]])
def test_the_best_paths_of_all_lengths_are_found_in_their_order(ways, capfd):
    """Each length is a search of its own along a boundary."""
    found = json.loads(printed(capfd, "paths", "petersen", *ways, "--longest", "-k", "9", "--json"))
    counts = count_paths(nx.petersen_graph(), *(map(int, ways) if len(ways) == 2 else ())).by_length
    expected = [length for length in sorted(counts, reverse=True) for _ in range(counts[length])][:9]
    assert list(map(len, found["paths"])) == expected


@pytest.mark.parametrize("order", [["--directed", 0, 3], [0, "--directed", 3], [0, 3, "--directed"]])
def test_options_may_stand_between_the_ends(order, tmp_path, capfd):
    path = tmp_path / "graph.txt"
    path.write_text("0 1\n1 2\n2 3\n0 4\n3 4\n")
    assert "  total     1\n" in printed(capfd, "paths", path, *order)


def test_parts_of_the_paths_add_up(tmp_path, capfd):
    whole = json.loads(printed(capfd, "paths", "grid:3x4", "0,0", "2,3", "--arch", "cpu", "--json"))
    folders = [tmp_path / f"part-{i}" for i in (1, 2)]
    for i, folder in enumerate(folders, 1):
        asked = ["paths", "grid:3x4", "0,0", "2,3", "--arch", "cpu", "--part", f"{i}/2", "--checkpoint", folder]
        assert printed(capfd, *asked).startswith(f"grid:3x4, part {i} of 2\n")
        assert is_promised("paths", json.loads(printed(capfd, "resume", folder, "--json")))["part"] == [i, 2]
    told = printed(capfd, "merge", *folders)
    assert told.startswith("grid:3x4\n  vertices  paths\n")
    assert f"  total     {whole['total']}\n" in told
    assert json.loads(printed(capfd, "merge", *folders, "--json"))["by_length"] == whole["by_length"]
    # Another search of the same graph with the same bounds.
    other = tmp_path / "other"
    printed(capfd, "paths", "grid:3x4", "--all-pairs", "--arch", "cpu", "--part", "2/2", "--checkpoint", other)
    assert main(["merge", str(folders[0]), str(other)]) == 2
    assert (
        "not parts of one search: --all-pairs is given in the one and not given in the other" in capfd.readouterr().err
    )
    assert main(["export", str(other)]) == 2
    assert "keeps no paths; `chordless paths -o DIR/` does" in capfd.readouterr().err


def test_the_paths_of_all_parts_become_one_list(tmp_path, capfd):
    asked = ["paths", "grid:3x4", "0,0", "2,3", "--arch", "cpu"]
    whole = printed(capfd, *asked, "--list")
    folders = [f"{tmp_path}/{i}/" for i in (1, 2)]
    for i, folder in enumerate(folders, 1):
        printed(capfd, *asked, "--part", f"{i}/2", "-o", folder)
    assert sorted(printed(capfd, "export", *folders).splitlines()) == sorted(whole.splitlines())
    assert main(["export", *folders, "-o", f"{tmp_path}/all.npy"]) == 0
    assert f"{len(whole.splitlines())} paths in" in capfd.readouterr().err


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("every", [False, True])
def test_the_order_that_is_written_has_the_vertices_of_the_graph_and_is_read_again(
    kind, every, written, tmp_path, capfd
):
    graph = random_graph(kind, 5, 9, 0.35)
    graph.remove_nodes_from(list(nx.isolates(graph)))  # an edge list has none
    ends = ["--all-pairs"] if every else sorted(graph)[:: len(graph) - 1]
    asked, orders = ["paths", *written(graph), *ends], [tmp_path / f"order{i}.txt" for i in range(4)]

    def found(*options):
        return json.loads(printed(capfd, *asked, "--json", *options))

    right = found("--method", "search")["by_length"]
    assert found("--write-order", orders[0])["by_length"] == right
    assert found("--order", orders[0], "--write-order", orders[1])["by_length"] == right
    longest = found("--longest", "--order", orders[0], "--write-order", orders[2])
    assert longest["length"] == max(map(int, right), default=0)
    drawn = printed(capfd, *asked, "--sample", 2, "--quiet", "--order", orders[0], "--write-order", orders[3])
    assert len(drawn.splitlines()) == (2 if right else 0)
    for order in orders:
        assert sorted(map(int, order.read_text().split())) == sorted(graph)


def test_an_order_is_for_paths_along_a_boundary(tmp_path, capfd):
    for option, reason in (("--list", "along which no path is listed"), ("--method=search", "needs --method boundary")):
        assert main(["paths", "petersen", "0", "7", option, "--order", str(tmp_path / "order.txt")]) == 2
        assert reason in capfd.readouterr().err


@pytest.mark.slow
def test_a_count_of_more_digits_than_python_writes_is_told(tmp_path):
    squares = 2200
    edges = [f"a{i} {side}{i}\n{side}{i} a{i + 1}\n" for i in range(squares) for side in "bc"]
    chain = tmp_path / "chain.txt"
    chain.write_text("".join(edges))
    asked = ("paths", chain, "a0", f"a{squares}", "--total-only", "--progress", "none")
    # As Python stops at 4,300, of which a count takes minutes.
    limited = {**ENVIRONMENT, "PYTHONINTMAXSTRDIGITS": "640"}
    done = chordless(*asked, env=limited)
    assert f"  total     {2**squares:,}\n" in done.stdout
    assert json.loads(chordless(*asked, "--json", env=limited).stdout)["total"] == 2**squares


def test_turning_many_cycles_into_paths_takes_little_memory():
    path = generate("path:40")
    output = as_paths(NoOutput(), RunCommand("path:40", 0.0, between=("0", "39")), path)
    number = 1 << 15
    cycles = Cycles.of_lists([list(range(41))] * number)
    tracemalloc.start()
    assert output.write(cycles, lambda: False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert output.listed == number
    assert peak < 2 * cycles.vertices.nbytes
