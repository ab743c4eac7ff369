"""The hash of all cycles, made again by others; and listings in a defined order."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from chordless.cycles.passing_on import SortedOutput
from chordless.cycles.read import read_rows
from chordless.graphs.load import load_graph
from chordless.runs.command_words import command_line
from program import chordless, count, without_progress

import kernels_ti.proof
from kernels_ti import CycleTable, SizeError, collect_cycles
from kernels_ti.cycles import Cycles

PAGE = Path(__file__).parent.parent / "assets" / "docs" / "output.md"
NAMED = "a b;c\nc;d\nd;a b\nd;e f\ne f;g\ng;c\n"


def documented_program(listing: Path) -> str:
    """Run the program that the documentation gives to others."""
    if not PAGE.exists():
        pytest.skip("the checkout with its assets is not here")
    (program,) = re.findall(r"```python\n(import hashlib.*?)```", PAGE.read_text(), re.DOTALL)
    return subprocess.run(
        [sys.executable, "-c", program, listing], capture_output=True, text=True, check=True
    ).stdout.strip()


def proof_of(graph: nx.Graph, least: int = 3) -> str:
    total = 0
    for cycle in nx.chordless_cycles(graph):
        if len(cycle) >= least:
            names = sorted(str(name).encode() for name in cycle)
            total += int.from_bytes(hashlib.sha256(b"\0".join(names)).digest(), "big")
    return f"{total % 2**256:064x}"


def listed_proof(*arguments: object, **more: object) -> str:
    done = chordless("list", *arguments, "--proof", "-q", **more)
    assert done.returncode == 0, done.stderr
    return done.stderr.removeprefix("proof ").strip()


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "graph"), [("petersen", nx.petersen_graph()), ("karate", nx.karate_club_graph())])
@pytest.mark.parametrize("arch", ["reference", "cpu"])
@pytest.mark.slow_on("cpu")
def test_others_make_the_same_proof(tmp_path, spec, graph, arch):
    expected = proof_of(graph)
    found, code = count(spec, "--proof", "--arch", arch)
    assert (found["proof"], code) == (expected, 0)
    for file in ("cycles.txt", "cycles.npy", "cycles.jsonl", *(["folder/"] if arch == "cpu" else [])):
        assert listed_proof(spec, "--arch", arch, "-o", f"{tmp_path}/{file}") == expected
    assert documented_program(tmp_path / "cycles.txt") == expected
    assert f"  proof  {expected}\n" in chordless("count", spec, "--proof", "--arch", arch).stdout


@pytest.mark.parametrize("arch", ["auto", "cpu"])
@pytest.mark.parametrize(
    "graph", [nx.petersen_graph(), nx.cycle_graph(600), nx.relabel_nodes(nx.karate_club_graph(), str)]
)
def test_a_table_has_a_proof(arch, graph, monkeypatch):
    monkeypatch.setattr(kernels_ti.proof, "_HASHED_AT_ONCE", 7)
    table = collect_cycles(graph, arch=arch)
    assert table.proof() == proof_of(graph)
    assert table[:0].proof() == "0" * 64
    turned = CycleTable(table.graph, table.offsets, table.vertices)
    assert turned.proof() == table.proof()


def test_names_with_blanks(tmp_path):
    (tmp_path / "graph.csv").write_text(NAMED)
    graph = nx.Graph(line.split(";") for line in NAMED.splitlines())
    proof = listed_proof(tmp_path / "graph.csv", "-o", tmp_path / "cycles.txt")
    assert proof == proof_of(graph) == documented_program(tmp_path / "cycles.txt")


def test_directed_and_short_cycles(tmp_path):
    graph = nx.gnp_random_graph(9, 0.3, seed=3, directed=True)
    graph.add_edges_from([(0, 0), (1, 2), (2, 1)])
    (tmp_path / "graph.txt").write_text("".join(f"{u} -> {v}\n" for u, v in graph.edges))
    found, _ = count(tmp_path / "graph.txt", "--proof", "--min-length", "1")
    assert found["proof"] == proof_of(graph, 1)
    assert found["by_length"]["1"] == 1


def test_one_cycle_less_is_another_proof():
    proofs = {count("petersen", "--proof", *more)[0]["proof"] for more in ((), ("--avoid", "0"), ("--max-length", "5"))}
    assert len(proofs) == 3


@pytest.mark.slow
def test_the_proofs_of_parts_add_up(tmp_path):
    for part in (1, 2, 3):
        found, _ = count("grid:5x6", "--proof", "--part", f"{part}/3", "--arch", "cpu")
        (tmp_path / f"{part}.json").write_text(json.dumps(found))
    whole, _ = count("grid:5x6", "--proof", "--arch", "cpu")
    merged = chordless("merge", *(tmp_path / f"{part}.json" for part in (1, 2, 3)), "--json")
    assert json.loads(merged.stdout)["proof"] == whole["proof"] is not None


def test_where_cycles_were_not_found_the_proof_is_missed_in_words():
    stopped = chordless("count", "grid:6x8", "--proof", "--arch", "cpu", "--limit", "10")
    assert (stopped.returncode, "no proof: it is of all cycles" in stopped.stdout) == (4, True)


@pytest.mark.slow
def test_a_proof_goes_on_after_a_stop(tmp_path):
    whole, _ = count("grid:6x8", "--proof", "--arch", "cpu")
    stopped, code = count("grid:6x8", "--proof", "--arch", "cpu", "--limit", "10", "--checkpoint", tmp_path / "run")
    assert (stopped["proof"], code) == (None, 4)
    for _ in range(2):  # the second time it is finished
        resumed = chordless("resume", tmp_path / "run", "--json")
        assert json.loads(resumed.stdout)["proof"] == whole["proof"]
    for name in ("folder/", "cycles.txt"):
        keep = ("--checkpoint", tmp_path / "listing") if "." in name else ()
        output = f"{tmp_path}/{name}"
        begun = chordless("list", "grid:6x8", "--proof", "--arch", "cpu", "--limit", "10", "-o", output, *keep)
        assert (begun.returncode, "no proof: it is of all cycles" in begun.stderr) == (4, True)
        done = chordless("resume", tmp_path / ("listing" if keep else "folder"), "-q")
        assert done.stderr == f"proof {whole['proof']}\n"
    assert documented_program(tmp_path / "cycles.txt") == whole["proof"]


def in_order(lines: list[str], graph: str) -> list[list[int]]:
    """Return the cycles of a listing as places of vertices, after a check of their order."""
    place = {str(name): v for v, name in enumerate(load_graph(graph).graph.names)}
    cycles = [[place[name] for name in line.split()] for line in lines]
    assert cycles == sorted(cycles, key=lambda cycle: (len(cycle), cycle))
    return cycles


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "more"), [("grid:5x6", ()), pytest.param("grid:17x17", ("--max-length", "8"), marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("arch", ["reference", "cpu"])
@pytest.mark.slow_on("cpu")
def test_a_sorted_listing(tmp_path, spec, more, arch):
    plain = chordless("list", spec, "--arch", arch, *more).stdout.splitlines()
    done = chordless("list", spec, "--arch", arch, "--sorted", *more)
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == sorted(plain)
    cycles = in_order(done.stdout.splitlines(), spec)
    rows = tmp_path / "cycles.npy"
    assert chordless("list", spec, "--arch", arch, "--sorted", *more, "-o", rows).returncode == 0
    n = load_graph(spec).graph.n
    assert np.load(rows).tolist() == Cycles.of_lists(cycles).rows(n).tolist()
    assert read_rows(rows)


def test_a_sorted_listing_of_columns(tmp_path):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "cycles.parquet"
    assert chordless("list", "karate", "--sorted", "-o", path).returncode == 0
    cycles = pyarrow.read_table(path)["vertices"].to_pylist()
    assert len(cycles) == 103
    assert cycles == sorted(cycles, key=lambda cycle: (len(cycle), cycle))


@pytest.mark.slow
def test_a_reader_that_leaves_a_sorted_listing():
    line = [sys.executable, "-m", "chordless", "list", "grid:6x7", "--sorted", "--arch", "cpu"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as listing:
        assert listing.stdout.readline()
        listing.stdout.close()
        said = listing.stderr.read()
    assert (listing.returncode, without_progress(said)) == (4, "")


def test_cycles_that_do_not_fit_are_refused():
    output = SortedOutput(None, 300, budget=1000)
    some = Cycles.of_lists([[0, 1, 2, 3]] * 20)
    assert output.write(some, lambda: False)
    with pytest.raises(SizeError, match=r"40 cycles found so far take more than 1000 bytes to sort.*without sorted"):
        output.write(some, lambda: False)


def test_the_line_that_repeats_a_run_asks_for_the_same():
    asked = {"proof": True, "in_order": True, "output": "a.txt", "output_format": "text"}
    assert command_line("petersen", asked) == "chordless list petersen --proof --sorted -o a.txt"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("list", "karate", "--sorted", "--limit", "3"), "leave --limit out"),
        (("list", "karate", "--sorted", "-o", "folder/"), "keeps no checkpoint"),
        (("count", "karate", "--proof", "--per-vertex"), "leave one of them out"),
        (("count", "karate", "--proof", "--method", "boundary"), "--proof is for --method search"),
        (("count", "karate", "--proof", "--symmetry"), "leave --proof out"),
    ],
)
def test_what_does_not_go_together(arguments, word):
    done = chordless(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert word in done.stderr
