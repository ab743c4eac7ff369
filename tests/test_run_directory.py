"""The folder of a run: what it keeps, what it refuses, who may work in it."""

from __future__ import annotations

import json
import os
import re
import time

import chordless.runs.directory
import networkx as nx
import numpy as np
import pytest
from chordless.graphs.load import LoadedGraph, load_graph
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory, check_is_free, created, graph_hash, reopened, resume_line
from chordless.runs.history import list_runs
from program import refused

from kernels_ti import EngineError, Graph
from kernels_ti.errors import CheckpointError
from kernels_ti.folders import take_lock

COMMAND = RunCommand(
    "grid:3x4", 123.0, threads=2, max_length=9, part=(2, 3), limit=5, timeout=1.5, output="c.txt", memory=1 << 28,
    checkpoint="x", checkpoint_every=0.5,
)  # fmt: skip


def begin(path, command=COMMAND, graph="grid:3x4"):
    """Make a directory as a run does that came to its first checkpoint."""
    with created(path, command, load_graph(graph)) as directory:
        directory.checkpoint.write_bytes(b"")
    return directory


def test_a_directory_keeps_what_shapes_the_search(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    begin(tmp_path / "run")
    monkeypatch.chdir("/")
    os.rename(tmp_path / "run", tmp_path / "moved")
    command = RunDirectory(tmp_path / "moved").command()
    assert command == RunCommand(
        "grid:3x4", 0.0, threads=2, max_length=9, part=(2, 3), output=str(tmp_path / "c.txt"), memory=1 << 28,
        checkpoint=str(tmp_path / "moved"), checkpoint_every=0.5, resume=True,
    )  # fmt: skip


def test_parts_go_where_the_directory_is(tmp_path):
    begin(tmp_path / "run", RunCommand("grid:3x4", 1.0, output="run/", output_format="parts", checkpoint="run/"))
    os.rename(tmp_path / "run", tmp_path / "moved")
    command = RunDirectory(tmp_path / "moved").command()
    assert (command.output, command.output_format) == (str(tmp_path / "moved"), "parts")


def graphs():
    triangle = [(0, 1), (1, 2), (0, 2)]
    yield LoadedGraph(Graph.from_edges(4, triangle), "numbers")
    yield LoadedGraph(Graph.from_edges(3, triangle, names=[7, "7", "\udc80 \u00e4"]), "title \udcff")
    yield LoadedGraph(Graph.from_edges(3, triangle, names=[np.int64(5), (0, 1), True]), "t", {0: (0.5, -1e300)})
    yield LoadedGraph(Graph.from_edges(0, []), "nothing")
    yield LoadedGraph(Graph.from_networkx(nx.karate_club_graph()), "karate")


@pytest.mark.parametrize("loaded", list(graphs()), ids=lambda loaded: repr(loaded.title))
def test_the_graph_reads_back(tmp_path, loaded):
    with created(tmp_path / "run", COMMAND, loaded) as directory:
        found = directory.graph()
    assert found.title == loaded.title
    assert found.positions == loaded.positions
    assert [str(name) for name in found.graph.names] == [str(name) for name in loaded.graph.names]
    kept = [name for name in loaded.graph.names if isinstance(name, (int, np.integer, str)) and name is not True]
    assert [name for name in found.graph.names if name in kept] == kept
    np.testing.assert_array_equal(found.graph.row_ptr, loaded.graph.row_ptr)
    np.testing.assert_array_equal(found.graph.col_idx, loaded.graph.col_idx)
    assert graph_hash(found.graph) == graph_hash(loaded.graph)


def test_the_hash_tells_graphs_apart():
    square = [(0, 1), (1, 2), (2, 3), (0, 3)]
    found = {
        graph_hash(Graph.from_edges(4, square)),
        graph_hash(Graph.from_edges(5, square)),
        graph_hash(Graph.from_edges(4, [*square, (0, 2)])),
        graph_hash(Graph.from_edges(4, square, names="abcd")),
        graph_hash(Graph.from_edges(4, square, names=[0, 1, 2, "3"])),
    }
    assert len(found) == 5


def test_a_folder_with_something_in_it_is_refused(tmp_path):
    directory = begin(tmp_path / "run")
    with pytest.raises(CheckpointError, match="holds a run already: `chordless resume"):
        begin(tmp_path / "run")
    directory.checkpoint.rename(tmp_path / "moved")
    with pytest.raises(CheckpointError, match="holds a run already, which has no checkpoint yet: name another folder"):
        begin(tmp_path / "run")
    (tmp_path / "moved").rename(directory.checkpoint)
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(CheckpointError, match="is not empty"):
        begin(tmp_path)
    with pytest.raises(CheckpointError, match="is a file: a run directory begins as a new or an empty folder"):
        check_is_free(tmp_path / "thesis.tex")
    assert sorted(os.listdir(directory.path)) == ["checkpoint", "graph.json", "run.json"]


def test_the_run_of_somebody_else_is_told_where_it_may_only_be_read(tmp_path, monkeypatch):
    begin(tmp_path / "run")
    monkeypatch.setattr("chordless.runs.directory.open", refused, raising=False)
    with pytest.raises(CheckpointError, match="holds a run already"):
        check_is_free(tmp_path / "run")


def test_a_run_that_never_began_leaves_nothing(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        with created(tmp_path / name, COMMAND, load_graph("petersen")) as directory:
            (directory.path / "cycles").mkdir()
    assert os.listdir(tmp_path) == ["empty"]
    assert os.listdir(tmp_path / "empty") == []


def test_a_folder_in_which_a_process_was_killed_before_its_run_is_free(tmp_path):
    """The process makes run.json empty, as its lock, and writes the order after the graph."""
    (tmp_path / "graph.json").write_text("{}")
    (tmp_path / "run.json").touch()
    with pytest.raises(CheckpointError, match="holds a run already"):  # it may be beginning now
        check_is_free(tmp_path)
    os.utime(tmp_path / "run.json", (1e9, 1e9))
    with pytest.raises(CheckpointError, match=r"no run was begun in .*: its process was killed too soon"):
        RunDirectory(tmp_path).command()
    with open(tmp_path / "run.json", "rb+") as held:
        assert take_lock(held.fileno(), 0.0)
        with pytest.raises(CheckpointError, match="holds a run already"):
            check_is_free(tmp_path)
    begin(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "graph.json", "run.json"]


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises((EngineError, CheckpointError), match="file"):
        begin(tmp_path / "file" / "run")


def test_a_name_that_the_system_does_not_take_is_one_line(tmp_path):
    path = tmp_path / ("x" * 300)
    with pytest.raises(CheckpointError, match="cannot be a run directory: File name too long"):
        check_is_free(path)
    for read in (RunDirectory(path).command, RunDirectory(path).graph):
        with pytest.raises(CheckpointError, match="cannot be read: File name too long"):
            read()


def test_one_engine_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(chordless.runs.directory, "take_lock", lambda lock, seconds=0.1: take_lock(lock, seconds))
    path = tmp_path / "run"
    with created(path, COMMAND, load_graph("petersen")) as directory:
        directory.checkpoint.write_bytes(b"")
        with pytest.raises(CheckpointError, match="another engine is at work"), reopened(path):
            pass
    with reopened(path), pytest.raises(CheckpointError, match="another engine is at work"), reopened(path):
        pass
    with reopened(path):
        pass


def test_the_lock_of_an_engine_that_is_about_to_end_is_waited_for(tmp_path):
    path = begin(tmp_path / "run").path
    held, told = os.pipe()
    child = os.fork()
    if child == 0:
        with reopened(path):
            os.write(told, b".")
            time.sleep(0.5)
        os._exit(0)
    os.close(told)
    with open(held, "rb") as stream:
        assert stream.read(1) == b"."
    with reopened(path):
        pass
    assert os.waitpid(child, 0)[1] == 0


def test_no_run_and_damaged_runs_are_one_line(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(CheckpointError, match="there is no run in"):
            RunDirectory(path).command()
        with pytest.raises(CheckpointError, match="there is no run in"), reopened(path):
            pass
    directory = begin(tmp_path / "run")
    run = directory.path / "run.json"
    values = json.loads(run.read_text())
    for text in ("", "[]", "{}", json.dumps({**values, "command": {"arch": "cpu"}}), "{" + "[" * 50, "[" * 99_999):
        run.write_text(text)
        with pytest.raises(CheckpointError, match=r"run\.json is damaged") as caught:
            directory.command()
        assert not re.search(r"\n|Error|NoneType|indices", str(caught.value))
    run.write_text(json.dumps({**values, "format": 2}))
    with pytest.raises(CheckpointError, match="is of format 2; this program reads format 1"):
        directory.command()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("through", [5]),
        ("part", 5),
        ("avoid", [None]),
        ("part", [1, "b"]),
        ("part", [1]),
        ("part", [True, 2]),
        ("between", ["0"]),
        ("arch", "x"),
    ],
)
def test_each_element_of_a_field_is_checked(tmp_path, field, value):
    directory = begin(tmp_path / "run")
    run = directory.path / "run.json"
    values = json.loads(run.read_text())
    run.write_text(json.dumps({**values, "command": {**values["command"], field: value}}))
    with pytest.raises(CheckpointError, match="damaged") as caught:
        directory.command()
    assert str(caught.value).endswith(f"run.json is damaged: {field} is {value!r}")


@pytest.mark.parametrize(
    ("field", "value"), [("began", [1]), ("began", 1e300), ("began", float("inf")), ("program", 5), ("graph_hash", {})]
)
def test_what_the_beginning_of_a_run_was_is_checked(tmp_path, field, value):
    directory = begin(tmp_path / "run")
    run = directory.path / "run.json"
    run.write_text(json.dumps({**json.loads(run.read_text()), field: value}))
    with pytest.raises(CheckpointError, match="damaged") as caught:
        directory.began_with()
    assert str(caught.value).endswith(f"run.json is damaged: {field} is {value!r}")
    (summary,) = list_runs(tmp_path)
    assert (summary.stage, summary.why) == ("damaged", f"run.json is damaged: {field} is {value!r}")


def test_a_graph_that_was_exchanged_or_damaged_is_refused(tmp_path):
    directory = begin(tmp_path / "run")
    path = directory.path / "graph.json"
    values = json.loads(path.read_text())
    for text in ("", "[]", json.dumps({**values, "names": ["a"]}), json.dumps({**values, "edges": [[0, 99]]})):
        path.write_text(text)
        with pytest.raises(CheckpointError, match=r"graph\.json is damaged"):
            directory.graph()
    path.write_text(json.dumps({**values, "edges": values["edges"][1:]}))
    with pytest.raises(CheckpointError, match="not the graph that this run began with"):
        directory.graph()


def test_a_torn_line_of_the_recording_is_cut_off(tmp_path):
    directory = RunDirectory(tmp_path)
    for before, kept in (("", ""), ("a\n", "a\n"), ("a\nb\nto", "a\nb\n"), ("torn" * 50_000, "")):
        directory.events.write_text(before)
        with directory.record() as stream:
            stream.write("new\n")
        assert directory.events.read_text() == kept + "new\n"
    directory.events.unlink()
    with directory.record():
        pass
    assert directory.events.read_text() == ""
    with pytest.raises(EngineError, match="cannot write"):
        RunDirectory(tmp_path / "none").record()


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("output", "-", "a run that is kept lists to a file, not '-'"),
        ("output", 5, "output is 5"),
        ("checkpoint_every", None, "checkpoint_every is None"),
        ("threads", "two", "threads is 'two'"),
        ("min_length", 3.5, "min_length is 3.5"),
        ("simplify", 1, "simplify is 1"),
        ("seed", True, "seed is True"),
        ("method", "magic", "method is 'magic'"),
        ("through", 5, "through is 5"),
    ],
)
def test_a_field_with_a_wrong_type_is_named(field, value, said, tmp_path):
    directory = begin(tmp_path / "run")
    path = directory.path / "run.json"
    content = json.loads(path.read_text())
    content["command"][field] = value
    path.write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match="damaged") as caught:
        directory.command()
    assert said in str(caught.value)


def test_a_pipe_in_the_place_of_the_recording_is_refused(tmp_path):
    directory = begin(tmp_path / "run")
    os.mkfifo(directory.events)
    with pytest.raises(EngineError, match="is no plain file"):
        directory.record()


def test_the_line_that_goes_on_can_be_pasted():
    assert resume_line("my run/") == "chordless resume 'my run/'"
    assert resume_line("-x") == "chordless resume -- -x"
