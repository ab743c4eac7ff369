"""Cycles with an odd, or an even, number of vertices: every door that takes a parity, against networkx."""

from __future__ import annotations

import csv
import json
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from batches import ATLAS, graph6, lines_in
from chordless.batch.properties import Property
from chordless.cli import main
from chordless.protocol.codec import command_from_json, command_to_json
from chordless.protocol.orders import RunCommand
from chordless.runs.command_words import command_line
from chordless.runs.saved import identity_of
from chordless.tui.run_words import search_words
from chordless.words.numbers import lengths_text
from oracles import by_length, networkx_cycles
from program import REFERENCE, chordless

from kernels_ti import (
    EngineError,
    Graph,
    OptionError,
    Options,
    Run,
    as_graph,
    collect_cycles,
    count_cycles,
    count_participation,
    count_paths,
    open_device,
)
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.estimate.estimate import Estimator
from kernels_ti.options import Lengths

PARITIES = ("odd", "even")
KARATE = Graph.from_networkx(nx.karate_club_graph())
RANDOM = as_graph(nx.disjoint_union(nx.gnp_random_graph(40, 0.12, seed=5), nx.petersen_graph()))
"""Several lengths of both parities, in rows of several words."""


def of_parity(graph, parity):
    """Return the number of cycles by length that networkx finds."""
    counts = by_length(networkx_cycles(graph))
    return {length: count for length, count in counts.items() if length % 2 == (parity == "odd")}


def said(capfd, *arguments):
    exit_code = main(list(map(str, arguments)))
    return exit_code, *capfd.readouterr()


@pytest.mark.parametrize(
    "lengths", [Lengths(), Lengths(5), Lengths(1, 6), Lengths(2, 9, "odd"), Lengths(3, None, "even")]
)
def test_wanted_lengths_are_the_same_one_by_one_and_in_an_array(lengths):
    wanted = [length for length in range(12) if length in lengths]
    assert np.flatnonzero(lengths.among(np.arange(12))).tolist() == wanted
    dropped = set(range(3, 1 + (lengths.longest or 11))) - set(wanted)
    assert lengths.exclude_some_found is bool(dropped)


@pytest.mark.parametrize("parity", PARITIES)
@pytest.mark.slow_on("vulkan")
def test_every_arch_finds_the_cycles_of_a_parity(arch, parity):
    right = of_parity(RANDOM, parity)
    assert count_cycles(RANDOM, arch=arch, parity=parity).by_length == right
    table = collect_cycles(RANDOM, arch=arch, parity=parity)
    assert Counter(table.lengths.tolist()) == right
    members = Counter(table.vertices.tolist())
    shares = count_participation(RANDOM, arch=arch, parity=parity)
    assert shares.vertices.sum(axis=1).tolist() == [members[v] for v in range(RANDOM.n)]


@pytest.mark.parametrize("parity", PARITIES)
def test_a_run_of_a_parity_goes_on_where_it_was_stopped(parity):
    space = SearchSpace(RANDOM, Options(parity=parity))
    run = Run(space, open_device("cpu"), state=Run(space, open_device("cpu")).state())
    while not run.finished:
        run.advance()
    assert run.snapshot().cycles_by_length == of_parity(RANDOM, parity)
    with pytest.raises(OptionError, match="made with other bounds"):
        Run(space, open_device("cpu"), Options())


@pytest.mark.parametrize("parity", PARITIES)
def test_an_exact_estimate_is_of_the_parity(parity):
    estimator = Estimator(SearchSpace(KARATE, Options(parity=parity)))
    assert estimator.probe(60)
    assert estimator.estimate().by_length == of_parity(KARATE, parity)
    assert (estimator.estimate().triangles is None) is (parity == "even")


def test_triangles_are_odd():
    assert count_cycles(KARATE, parity="odd").triangles == 45
    assert count_cycles(KARATE, parity="even").triangles is None


def test_paths_count_their_own_vertices():
    house = nx.house_graph()
    paths = [path for path in nx.all_simple_paths(house, 4, 0) if is_induced(house, path)]
    for parity in PARITIES:
        right = Counter(len(path) for path in paths if len(path) % 2 == (parity == "odd"))
        assert count_paths(house, 4, 0, parity=parity).by_length == right
    assert {len(path) % 2 for path in paths} == {0, 1}


def is_induced(graph, path):
    return graph.subgraph(path).number_of_edges() == len(path) - 1


@pytest.mark.parametrize("parity", PARITIES)
@pytest.mark.parametrize("method", ["search", "boundary"])
def test_a_count_by_command(capfd, parity, method):
    exit_code, printed, _ = said(capfd, "count", "karate", f"--{parity}", "--method", method, "--json")
    found = json.loads(printed)
    assert (exit_code, found["parity"], found["method"]) == (0, parity, method)
    assert {int(length): count for length, count in found["by_length"].items()} == of_parity(KARATE, parity)
    assert found["triangles"] == (45 if parity == "odd" else None)


def test_a_count_for_people_names_the_parity(capfd):
    exit_code, printed, _ = said(capfd, "count", "karate", "--even", "--max-length", "6")
    assert (exit_code, printed.splitlines()[0]) == (0, "karate, even cycles of 3 to 6 vertices")
    assert "triangles" not in printed


def test_a_list_by_command(capfd):
    _, printed, _ = said(capfd, "list", "karate", "--odd", "--min-length", "4", *REFERENCE)
    assert Counter(len(line.split()) for line in printed.splitlines()) == {5: 20}


def test_the_first_odd_hole(capfd):
    assert said(capfd, "first", "cycle:7", "--odd")[:2] == (0, "0 1 2 3 4 5 6\n")
    assert len(said(capfd, "first", "petersen", "--even")[1].split()) == 6
    exit_code, printed, notes = said(capfd, "first", "grid:3x3", "--odd", "--json")
    assert (exit_code, notes) == (1, "grid:3x3 has no chordless odd cycles of 4 or more vertices\n")
    found = json.loads(printed)
    assert (found["cycle"], found["chordal"], found["parity"]) == (None, None, "odd")


def test_paths_by_command(capfd):
    _, printed, _ = said(capfd, "paths", "petersen", "0", "2", "--odd", "--json")
    assert json.loads(printed)["by_length"] == {"3": 1, "5": 2}
    _, printed, _ = said(capfd, "paths", "petersen", "0", "2", "--even", "--list")
    assert {len(line.split()) for line in printed.splitlines()} == {4}


@pytest.mark.slow
def test_a_batch_of_odd_cycles_agrees_with_what_keep_counts(tmp_path):
    graphs = ATLAS[900:1253:9]
    atlas = graph6(tmp_path / "atlas.g6", graphs)
    options = ("batch", atlas, "--min-length", "4", "-q", "--arch", "cpu", "-o", tmp_path / "out.jsonl")
    assert chordless(*options, "--odd").returncode == 0
    lines = lines_in(tmp_path / "out.jsonl")
    counts = [by_length(networkx_cycles(Graph.from_networkx(graph))) for graph in graphs]
    odd = [Property("odd").of({"by_length": each}, lambda: KARATE) for each in counts]
    assert [line["total"] for line in lines] == odd
    assert any(odd)
    assert {line["parity"] for line in lines} == {"odd"}
    # The same graphs with another parity are other lines.
    assert chordless(*options, "--even", "--resume").returncode == 0
    even = [Property("even").of({"by_length": each}, lambda: KARATE) for each in counts]
    assert [line["total"] for line in lines_in(tmp_path / "out.jsonl")] == even


def test_a_manifest_and_a_table(tmp_path):
    (tmp_path / "jobs.toml").write_text(
        '[[jobs]]\ngraph = "karate"\nparity = "odd"\n[[jobs]]\ngraph = "karate"\nparity = "even"\narch = "reference"\n'
    )
    output = tmp_path / "out.csv"
    done = chordless("batch", "--manifest", tmp_path / "jobs.toml", "-o", output, "-q")
    assert done.returncode == 0, done.stderr
    with output.open(newline="") as stream:
        cells = [[row[name] for name in ("parity", "total", "c3", "c4", "c5")] for row in csv.DictReader(stream)]
    assert cells == [["odd", "65", "45", "", "20"], ["even", "38", "", "36", ""]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["count", "petersen", "--odd", "--even"], "--even: not allowed with argument --odd"),
        (["count", "petersen", "--odd", "--total-only"], "counts all lengths together: for --odd leave it out"),
        (
            ["batch", "petersen", "--odd", "--keep", "holes > 0"],
            "write odd and even in the expression, and leave --odd out",
        ),
        (["batch", "petersen", "--even", "--bfile", "c3"], "write --bfile odd or --bfile even, and leave --even out"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments, words, capfd):
    exit_code, printed, notes = said(capfd, *arguments)
    assert (exit_code, printed) == (2, "")
    assert words in notes.splitlines()[0]


def test_there_are_two_parities():
    for wrong in ("both", 1, True):
        with pytest.raises(OptionError, match="there is no parity"):
            count_cycles(KARATE, parity=wrong)
    with pytest.raises(EngineError, match="parity is 'both'"):
        command_from_json(command_to_json(RunCommand("karate", 0.0, parity="both")))


@pytest.mark.parametrize(
    ("arguments", "length", "ways"),
    [(["--odd"], 5, 20), (["--even"], 6, 2), (["--even", "--shortest"], 4, 36), (["--odd", "--shortest"], 5, 20)],
)
@pytest.mark.parametrize("method", ["search", "boundary"])
def test_the_longest_and_the_shortest_of_a_parity_by_command(arguments, length, ways, method, capfd):
    _, printed, _ = said(capfd, "longest", "karate", *arguments, "--method", method, "--json")
    found = json.loads(printed)
    assert (found["length"], found["ways"], found["method"]) == (length, ways, method)
    assert f"--{found['parity']}" in arguments


def test_a_sample_of_a_parity_goes_on(tmp_path, capfd):
    _, printed, _ = said(capfd, "sample", "karate", "--odd", "-k", "40", "--checkpoint", tmp_path / "run")
    lengths = {len(line.split()) for line in printed.splitlines()}
    assert (lengths, len(printed.splitlines())) == ({3, 5}, 40)
    assert said(capfd, "resume", tmp_path / "run")[1] == printed


@pytest.mark.parametrize("parity", PARITIES)
def test_cycles_through_each_vertex_by_both_methods(parity, capfd):
    told = []
    for method in ("search", "boundary"):
        options = (f"--{parity}", "--per-vertex", "--method", method, "--json")
        found = json.loads(said(capfd, "count", "karate", *options)[1])
        told.append([entry["cycles"] for entry in found["vertices"]])
    assert told[0] == told[1]
    assert any(told[0])


def test_the_boundary_does_not_count_what_it_cannot_tell():
    space = SearchSpace(KARATE, Options(parity="odd"))
    with pytest.raises(OptionError, match="need counts by length"):
        BoundaryCount(space, by_length=False)


@pytest.mark.parametrize(("parity", "words"), [(None, ""), ("odd", "odd cycles"), ("even", "even cycles")])
def test_a_parity_in_words(parity, words):
    command = RunCommand("karate", 0.0, parity=parity)
    assert lengths_text(3, None, parity) == words
    assert lengths_text(5, None, parity).endswith("cycles of 5 or more vertices")
    assert command_from_json(command_to_json(command)) == command
    line = f"chordless count karate --arch auto --method search{f' --{parity}' if parity else ''}"
    assert command_line("karate", vars(command)) == line
    assert search_words(vars(command)).startswith(f"{parity} lengths" if parity else "all lengths")
    assert identity_of(command).get("parity") == parity
