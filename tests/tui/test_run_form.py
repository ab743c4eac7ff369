"""The form for a new run without its looks: how paths go on, where its folder may be, and what it is called."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from chordless.cli import main
from chordless.graphs.load import load_graph
from chordless.protocol.orders import RunCommand
from chordless.tui.run_form import (
    command_of,
    faults_of,
    faults_of_ends,
    listing_of,
    run_folder,
    sample_of,
    sentence_of,
    wave_of,
)
from chordless.tui.settings import LastChoices
from chordless.tui.widgets.form_row import complete_path


def test_a_folder_without_a_place_to_write_is_refused(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    forbidden = {tmp_path, tmp_path / "empty"}
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) not in forbidden)
    for name, place in (("empty", tmp_path / "empty"), ("new/mine", tmp_path), ("empty/mine", tmp_path / "empty")):
        faults = faults_of(LastChoices(directory=str(tmp_path / name)))
        assert faults == {"directory": f"{place} cannot be written to: name a folder elsewhere"}
    forbidden.clear()
    assert faults_of(LastChoices(directory=str(tmp_path / "new" / "mine"))) == {}


def test_names_of_run_folders_are_plain_and_new(tmp_path):
    first = run_folder(tmp_path, "gnp:60,0.1,1")
    assert first.name.startswith("gnp-60-0.1-1-20")
    first.mkdir()
    assert run_folder(tmp_path, "gnp:60,0.1,1") != first


def test_paths_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "roads.txt").write_text("1 2\n")
    assert complete_path("gr") == "graphs/"
    assert complete_path("graphs/r") == "graphs/roads.txt"
    assert complete_path("graphs/roads.txt") is None
    assert complete_path("nowhere/r") is None
    for suffix in ("clu", "net"):
        (tmp_path / "graphs" / f"web.{suffix}").write_text("")
    assert complete_path("graphs/w") == "graphs/web.net"
    assert complete_path("graphs/w", types_first=True) == "graphs/web.clu"


def test_bounds_that_cannot_be_are_told_beside_their_field():
    wrong = LastChoices(min_length="200000", threads="9999999")
    faults = faults_of(wrong, 930)
    assert faults["min_length"] == "the graph has 930 vertices"
    assert faults["threads"].startswith("at most ")
    assert "min_length" not in faults_of(wrong)
    assert faults_of(LastChoices(min_length="930", threads="2"), 930) == {}


def test_a_run_on_a_cluster_names_it(tmp_path):
    pytest.importorskip("distributed")
    file = tmp_path / "scheduler.json"
    file.write_text("{}")
    for where in ("local", " local:4", "tcp://head:8786", str(file)):
        choices = LastChoices(cluster=where, arch="cuda")
        assert faults_of(choices) == {}
        assert command_of(choices, "petersen", None).cluster == where.strip()
    assert command_of(LastChoices(), "petersen", None).cluster is None


@pytest.mark.parametrize(
    ("typed", "field", "fault"),
    [
        ({"cluster": "head:8786"}, "cluster", "there is no cluster 'head:8786': give local, local:4"),
        ({"cluster": "nothing.json"}, "cluster", "there is no such scheduler file"),
        ({"find": "boundary"}, "cluster", "one machine does this: leave this empty"),
        ({"find": "sample"}, "cluster", "one machine does this: leave this empty"),
        ({"arch": "reference"}, "cluster", "arch reference is for one machine: leave this empty"),
        ({"expansion": "paper"}, "expansion", "on a cluster paths grow at both ends"),
    ],
)
def test_what_a_cluster_cannot_do_is_told(typed, field, fault):
    pytest.importorskip("distributed")
    faults = faults_of(LastChoices(**{"cluster": "local:2", **typed}))
    assert faults[field].startswith(fault)


def test_a_cluster_without_dask_is_told(monkeypatch):
    monkeypatch.setattr("chordless.tui.run_form.find_spec", lambda name: None)
    assert faults_of(LastChoices(cluster="local")) == {"cluster": "this needs Dask: pip install 'chordless[cluster]'"}


@pytest.mark.parametrize("find", ["boundary", "longest", "shortest", "sample"])
def test_what_means_nothing_along_a_boundary_is_told(find):
    typed = LastChoices(find=find, arch="vulkan", limit="5", threads="2", expansion="paper", cluster="local:2")
    wrong = {"cluster", "expansion"} | (set() if find == "sample" else {"limit"})
    # Shortest paths are found by plain Python on every arch.
    wrong |= set() if find == "shortest" else {"what"}
    assert faults_of(typed).keys() == wrong
    assert faults_of(LastChoices(find=find, arch="cpu")) == {}
    assert faults_of(LastChoices(find=find, arch="cuda", threads="2")) == {}
    assert faults_of(replace(typed, find="count", cluster="")) == {}


@pytest.mark.parametrize(
    ("find", "method", "pick", "is_listed"),
    [
        ("count", "search", "all", False),
        ("boundary", "boundary", "all", False),
        ("list", "search", "all", True),
        ("longest", "auto", "longest", True),
        ("shortest", "auto", "longest", True),
        ("sample", "auto", "sample", True),
    ],
)
def test_each_thing_to_find_has_its_command(tmp_path, find, method, pick, is_listed):
    command = command_of(LastChoices(find=find, limit="7" if find == "sample" else ""), "petersen", tmp_path)
    assert (command.method, command.pick, command.output_format == "parts") == (method, pick, is_listed)
    assert command.per_edge == (find == "sample")
    assert (command.shortest, command.min_length) == ((True, 4) if find == "shortest" else (False, 3))


def test_weights_are_those_of_a_best_cycle_and_parity_is_that_of_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "metres.txt").write_text("1 2 3\n")
    choices = LastChoices(graph="petersen", find="shortest", weight=" metres.txt", parity="odd")
    command = command_of(choices, "petersen", tmp_path)
    assert (command.weight, command.parity) == (str(tmp_path / "metres.txt"), "odd")
    assert sentence_of(choices) == "Draw one of the lightest odd chordless cycles in petersen"
    assert sentence_of(replace(choices, find="longest")).startswith("Draw one of the heaviest odd ")
    assert command_of(replace(choices, weight="length"), "petersen", tmp_path).weight == "length"
    assert [make(command, tmp_path).weight for make in (wave_of, listing_of)] == [None, None]
    count = replace(choices, find="count", things="all-paths")
    command = command_of(count, "petersen", tmp_path)
    assert (command.weight, command.parity) == (None, "odd")
    assert sentence_of(count) == "Count all odd chordless paths in petersen"
    assert command_of(LastChoices(), "petersen", tmp_path).parity is None


@pytest.mark.parametrize(
    ("ends", "field", "fault"),
    [
        (("0,0", "9,9"), "path_end", "there is no vertex '9,9' in the graph (its first is called '0,0')"),
        (("0,0,1,1", "2,2"), "path_start", "'0,0,1,1' names 2 vertices: a path has one at each end"),
        (("1,1", " 1,1"), "path_end", "a path has two different ends, not 1,1 twice"),
    ],
)
def test_the_ends_of_paths_are_refused_as_in_the_shell(ends, field, fault, capfd):
    choices = LastChoices(things="paths", path_start=ends[0], path_end=ends[1])
    assert faults_of_ends(choices, load_graph("grid:3x3").graph) == {field: fault}
    assert main(["paths", "grid:3x3", *ends, "--quiet"]) != 0
    assert capfd.readouterr().err == f"chordless: error: {fault}\n"


def test_paths_have_ends_and_are_picked_between_two():
    choices = LastChoices(things="paths", path_start="0,0")
    assert faults_of_ends(choices, load_graph("grid:3x3").graph) == {"path_end": "name a vertex, such as 0,0"}
    assert faults_of_ends(choices, None) == {"path_end": "name a vertex"}
    assert faults_of_ends(replace(choices, things="all-paths"), None) == {}
    assert faults_of(replace(choices, min_length="1"))["min_length"] == "a path has at least 2 vertices, not 1"
    assert faults_of(replace(choices, min_length="2", max_length="2")) == {}
    for find in ("longest", "shortest", "sample"):
        assert faults_of(replace(choices, find=find)) == {}
        assert f"--{find}" in faults_of(replace(choices, things="all-paths", find=find))["what"]
    assert "two ends" in faults_of(replace(choices, things="all-paths", find="list"))["what"]
    assert faults_of(replace(choices, cluster="local:2")) == {}


def test_the_form_asks_for_paths_as_the_shell_does(tmp_path):
    choices = LastChoices(graph="grid:3x3", things="paths", path_start=" 0,0", path_end="2,2", max_length="7")
    command = command_of(choices, "grid:3x3", tmp_path)
    assert (command.between, command.all_pairs, command.min_length, command.max_length) == (("0,0", "2,2"), False, 2, 7)
    assert sentence_of(choices) == "Count all chordless paths from 0,0 to 2,2 of 2 to 7 vertices in grid:3x3"
    every = replace(choices, things="all-paths", max_length="")
    command = command_of(every, "grid:3x3", tmp_path)
    assert (command.between, command.all_pairs, command.min_length) == ((), True, 2)
    assert sentence_of(every) == "Count all chordless paths in grid:3x3"


def test_a_count_becomes_a_sample_of_the_same_cycles(tmp_path):
    counted = RunCommand("petersen", 0.0, method="boundary", max_length=8, avoid=("0",), threads=2, limit=9)
    sample = sample_of(counted, tmp_path)
    assert (sample.pick, sample.per_edge, sample.output) == ("sample", True, str(tmp_path))
    assert (sample.max_length, sample.avoid, sample.threads, sample.limit) == (8, ("0",), 2, None)
