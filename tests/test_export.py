"""``chordless export``: each format against the reference, unfinished runs, and what it refuses."""

from __future__ import annotations

import importlib
import json
import os
import sys
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest
from chordless.cli import make_parser
from chordless.commands import export as command
from chordless.cycles.write import RowOutput
from chordless.graphs.load import LoadedGraph, load_graph
from chordless.protocol.orders import RunCommand
from chordless.runs.checkpoint import CHECKPOINT_FORMAT
from chordless.runs.directory import created
from chordless.runs.saved import identity_in
from program import REFERENCE, chordless, fails
from test_order import rows_of

from kernels_ti import ChordlessError, EngineError, Graph, GraphError, OptionError
from kernels_ti.errors import CheckpointError
from kernels_ti.reference.algorithm import chordless_cycles

COLUMNS = ("parquet", "arrow")


def export(*arguments):
    options = make_parser().parse_args(["export", *map(str, arguments)])
    options.program_start = 0.0
    options.check(options.parser, options)
    return options.act(options)


@contextmanager
def usage_error(capfd, *words):
    with pytest.raises(SystemExit):
        yield
    said = capfd.readouterr().err
    for word in words:
        assert word in said


def checkpoint(directory, position, *, finished):
    """Write as much of a checkpoint as an export reads."""
    header = {
        "format": CHECKPOINT_FORMAT,
        "position": position,
        "finished": finished,
        "graph_hash": directory.began_with()["graph_hash"],
        "options": identity_in(directory.command(), directory),
    }
    with zipfile.ZipFile(directory.checkpoint, "w") as archive:
        archive.writestr("header.json", json.dumps(header))


def make_run(path, graph, *, finished=True, more=0, part_bytes=300, title="a graph", between=()):
    """Make a run directory as a listing leaves it, with `more` cycles beyond its checkpoint."""
    cycles = list(chordless_cycles(graph))
    asked = RunCommand(graph=title, program_start=0.0, output=str(path), output_format="parts", between=between)
    with created(path, asked, LoadedGraph(graph, title)) as directory:
        output = RowOutput.to_folder(path / "cycles", graph.n, part_bytes=part_bytes)
        rows = rows_of(cycles, graph.n)
        split = len(rows) - more
        output.write(rows[:split], lambda: False)
        checkpoint(directory, output.position(), finished=finished)
        output.write(rows[split:], lambda: False)
        output.close()
    return cycles[:split]


def require(suffix):
    if suffix in COLUMNS:
        pytest.importorskip("pyarrow")


def read_columns(path):
    """Read a Parquet or an Arrow file."""
    if path.suffix == ".parquet":
        return importlib.import_module("pyarrow.parquet").read_table(path)
    with importlib.import_module("pyarrow.ipc").open_file(path) as reader:
        return reader.read_all()


def named(graph, cycles):
    return [[graph.names[v] for v in cycle] for cycle in cycles]


GRAPH = load_graph("grid:4x5").graph
INTEGERS = load_graph("petersen").graph


def with_names(names):
    return Graph.from_edge_array(INTEGERS.edges(), names=names)


def test_text_to_standard_output_and_to_a_file(tmp_path, capfd):
    cycles = make_run(tmp_path / "run", GRAPH)
    expected = "".join(" ".join(cycle) + "\n" for cycle in named(GRAPH, cycles))
    assert export(tmp_path / "run") == 0
    assert capfd.readouterr() == (expected, "")
    assert export(tmp_path / "run", "--format", "txt", "-o", tmp_path / "cycles") == 0
    assert (tmp_path / "cycles").read_text() == expected
    said = capfd.readouterr()
    assert said.out == ""
    assert f"{len(cycles)} cycles in " in said.err
    assert export(tmp_path / "run", "-o", tmp_path / "cycles.txt", "-q") == 0
    assert (tmp_path / "cycles.txt").read_text() == expected
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("graph", [GRAPH, INTEGERS, with_names([f"blue crab {i}" for i in range(10)])])
def test_json_lines(tmp_path, graph):
    cycles = make_run(tmp_path / "run", graph)
    export(tmp_path / "run", "-o", tmp_path / "cycles.jsonl")
    lines = (tmp_path / "cycles.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == named(graph, cycles)


def test_names_with_blanks_are_separated_by_tabs(tmp_path, capfd):
    graph = with_names([f"blue crab {i}" for i in range(10)])
    cycles = make_run(tmp_path / "run", graph)
    export(tmp_path / "run")
    assert capfd.readouterr().out.splitlines() == ["\t".join(cycle) for cycle in named(graph, cycles)]


def test_npy_joins_the_parts(tmp_path):
    cycles = make_run(tmp_path / "run", GRAPH)
    assert len(os.listdir(tmp_path / "run" / "cycles")) > 1
    export(tmp_path / "run", "-o", tmp_path / "cycles.npy")
    assert np.array_equal(np.load(tmp_path / "cycles.npy", mmap_mode="r"), rows_of(cycles, GRAPH.n))


@pytest.mark.parametrize(
    ("graph", "kind"),
    [
        (GRAPH, "string"),
        (INTEGERS, "int64"),
        (with_names([*range(9), "x"]), "string"),
        (with_names([*range(9), 1 << 70]), "string"),
    ],
)
@pytest.mark.parametrize("few_names", [0, 4096])
def test_parquet(tmp_path, monkeypatch, graph, kind, few_names):
    """Names go to the file as text where they are many, and else as a dictionary; readers see the same."""
    require("parquet")
    monkeypatch.setattr("chordless.cycles.columns._FEW_NAMES", few_names)
    cycles = make_run(tmp_path / "run", graph)
    export(tmp_path / "run", "-o", tmp_path / "cycles.parquet")
    table = read_columns(tmp_path / "cycles.parquet")
    assert [str(field.type) for field in table.schema] == ["int32", f"list<element: {kind}>"]
    expected = named(graph, cycles) if kind == "int64" else [[str(v) for v in cycle] for cycle in named(graph, cycles)]
    assert table["vertices"].to_pylist() == expected
    assert table["length"].to_pylist() == [len(cycle) for cycle in cycles]


@pytest.mark.parametrize("chunk", [1, 7, 50])
@pytest.mark.parametrize("suffix", ["txt", "npy", *COLUMNS])
def test_chunks_join_without_a_seam(tmp_path, monkeypatch, chunk, suffix):
    require(suffix)
    make_run(tmp_path / "run", GRAPH)
    export(tmp_path / "run", "-o", tmp_path / f"whole.{suffix}")
    monkeypatch.setattr("chordless.cycles.export._ROWS_AT_ONCE", chunk)
    monkeypatch.setattr("chordless.cycles.columns._CYCLES_AT_ONCE", chunk)
    export(tmp_path / "run", "-o", tmp_path / f"pieces.{suffix}")
    if suffix in COLUMNS:
        assert read_columns(tmp_path / f"pieces.{suffix}").equals(read_columns(tmp_path / f"whole.{suffix}"))
    else:
        assert (tmp_path / f"pieces.{suffix}").read_bytes() == (tmp_path / f"whole.{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", ["txt", "jsonl", "npy", *COLUMNS])
def test_no_cycles(tmp_path, suffix):
    require(suffix)
    make_run(tmp_path / "run", load_graph("path:70").graph)
    path = tmp_path / f"cycles.{suffix}"
    assert export(tmp_path / "run", "-o", path) == 0
    if suffix == "npy":
        assert np.load(path).shape == (0, 2)
    elif suffix in COLUMNS:
        assert read_columns(path).num_rows == 0
    else:
        assert path.read_bytes() == b""


@pytest.mark.parametrize("more", [0, 1, 20])
def test_an_unfinished_run_is_exported_up_to_its_checkpoint(tmp_path, capfd, more):
    cycles = make_run(tmp_path / "run", GRAPH, finished=False, more=more)
    assert export(tmp_path / "run") == 4
    said = capfd.readouterr()
    assert said.out.splitlines() == [" ".join(cycle) for cycle in named(GRAPH, cycles)]
    assert "not complete: the run in " in said.err
    assert said.err.count("\n") == 1
    assert export(tmp_path / "run", "-o", tmp_path / "cycles.npy", "-q") == 4
    assert len(np.load(tmp_path / "cycles.npy")) == len(cycles)
    assert capfd.readouterr() == ("", "")


def test_a_file_of_rows_with_its_graph(tmp_path, capfd):
    cycles = make_run(tmp_path / "run", GRAPH)
    export(tmp_path / "run", "-o", tmp_path / "cycles.npy", "-q")
    assert export(tmp_path / "cycles.npy", "--graph", "grid:4x5") == 0
    assert capfd.readouterr().out.splitlines() == [" ".join(cycle) for cycle in named(GRAPH, cycles)]
    with pytest.raises(GraphError, match="not a chordless cycle of this graph"):
        export(tmp_path / "cycles.npy", "--graph", "grid:5x4")
    with pytest.raises(OptionError, match="another graph: its rows have 64 bits, those of grid:9x9 would have 128"):
        export(tmp_path / "cycles.npy", "--graph", "grid:9x9")
    with pytest.raises(OptionError, match="write to another"):
        export(tmp_path / "cycles.npy", "--graph", "grid:4x5", "-o", tmp_path / "cycles.npy")
    with pytest.raises(OptionError, match="write to another"):
        export(tmp_path / "run", "-o", tmp_path / "run" / "cycles" / "part-00000.npy")
    assert len(np.load(tmp_path / "cycles.npy")) == len(cycles)


def test_options_that_contradict_each_other(tmp_path, capfd):
    make_run(tmp_path / "run", INTEGERS)
    export(tmp_path / "run", "-o", tmp_path / "cycles.npy", "-q")
    for arguments, words in [
        (["run", "--format", "npy"], ["needs a file: -o FILE.npy"]),
        (["run", "--format", "parquet"], ["needs a file"]),
        (["run", "-o", "cycles.csv"], ["which format?", "txt, jsonl, npy, parquet, arrow"]),
        (["run", "--format", "npy", "-o", "cycles.bin"], ["ends in .npy"]),
        (["run", "--graph", "petersen"], ["holds its graph"]),
        (["cycles.npy"], ["--graph GRAPH is missing"]),
        (["cycles.npy", "--graph-format", "gml"], ["--graph GRAPH is missing"]),
        (["run/run.json"], ["is neither a run directory nor a .npy file of bit rows"]),
        (["run", "--simplify"], ["how a graph is read is said without --graph"]),
    ]:
        with usage_error(capfd, *words):
            export(tmp_path / arguments[0], *arguments[1:])


def test_runs_without_cycles_say_where_they_are(tmp_path):
    loaded = LoadedGraph(INTEGERS, "petersen")
    for name, output, output_format, words in [
        ("counted", None, "text", "keeps no cycles"),
        ("listed", "/somewhere/cycles.txt", "text", "are in /somewhere/cycles.txt"),
    ]:
        asked = RunCommand(graph="petersen", program_start=0.0, output=output, output_format=output_format)
        with created(tmp_path / name, asked, loaded) as directory:
            checkpoint(directory, None, finished=True)
        with pytest.raises(OptionError, match=words):
            export(tmp_path / name)
    (tmp_path / "empty").mkdir()
    for name in ("empty", "nothing", "nothing.npy"):
        with pytest.raises(CheckpointError, match="there is no run"):
            export(tmp_path / name)


def test_a_damaged_run_is_one_line(tmp_path):
    make_run(tmp_path / "run", GRAPH)
    path = tmp_path / "run" / "checkpoint"
    for damage in (b"", b"no zip", path.read_bytes()[:40]):
        path.write_bytes(damage)
        with pytest.raises(CheckpointError, match="damaged") as caught:
            export(tmp_path / "run")
        assert "\n" not in str(caught.value)
    path.unlink()
    with pytest.raises(CheckpointError, match="has no checkpoint"):
        export(tmp_path / "run")


def test_a_checkpoint_of_another_format_is_refused(tmp_path):
    make_run(tmp_path / "run", GRAPH)
    path = tmp_path / "run" / "checkpoint"
    with zipfile.ZipFile(path, "w") as archive:
        header = {"format": CHECKPOINT_FORMAT + 1, "position": {"part": 0, "rows": 1, "listed": 1}, "finished": True}
        archive.writestr("header.json", json.dumps(header))
    with pytest.raises(CheckpointError, match="of a newer format"):
        export(tmp_path / "run")


def test_parquet_without_pyarrow_is_one_line(tmp_path, monkeypatch):
    make_run(tmp_path / "run", INTEGERS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(OptionError, match=r"pip install 'chordless\[parquet\]'") as caught:
        export(tmp_path / "run", "-o", tmp_path / "cycles.parquet")
    assert caught.value.exit_code == 2
    assert not (tmp_path / "cycles.parquet").exists()


def test_a_full_disk_is_one_line(tmp_path):
    make_run(tmp_path / "run", GRAPH)
    with pytest.raises(EngineError, match="cannot write /dev/full: No space left"):
        export(tmp_path / "run", "--format", "txt", "-o", "/dev/full")
    for suffix in ("txt", "npy"):
        with pytest.raises(ChordlessError, match=r"cannot write .*No such file"):
            export(tmp_path / "run", "-o", tmp_path / "no" / f"cycles.{suffix}")


def test_a_parquet_file_that_cannot_be_opened_is_left_alone(tmp_path, capsys):
    require("parquet")
    make_run(tmp_path / "run", GRAPH)
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(EngineError, match=r"cannot write .*no/cycles\.parquet: No such file or directory"):
        export(tmp_path / "run", "-o", tmp_path / "no" / "cycles.parquet")
    with pytest.raises(SystemExit) as ended:
        export(tmp_path / "run", "-o", tmp_path / "folder.parquet")
    assert ended.value.code == 2
    assert "folder.parquet: this is a folder; the output is a file" in capsys.readouterr().err
    assert (tmp_path / "folder.parquet").is_dir()


def test_a_parquet_file_that_came_to_nothing_is_taken_away(tmp_path):
    require("parquet")
    cycles = make_run(tmp_path / "run", GRAPH)
    part = tmp_path / "run" / "cycles" / "part-00001.npy"
    rows = np.load(part)
    rows[3] = 7
    np.save(part, rows)
    assert len(cycles) > 40
    with pytest.raises(GraphError):
        export(tmp_path / "run", "-o", tmp_path / "cycles.parquet")
    assert not (tmp_path / "cycles.parquet").exists()


@pytest.mark.parametrize(("between", "things"), [((), "cycles"), (("0", "1"), "paths")])
def test_progress_tells_how_far_it_is(tmp_path, monkeypatch, capfd, between, things):
    cycles = make_run(tmp_path / "run", GRAPH, between=between)
    monkeypatch.setattr("chordless.cycles.export._ROWS_AT_ONCE", 20)
    clock = iter(range(0, 10_000, 3))
    monkeypatch.setattr(command.time, "monotonic", lambda: next(clock))
    export(tmp_path / "run", "-o", tmp_path / "cycles.npy", "--progress", "plain")
    lines = capfd.readouterr().err.splitlines()
    assert f"20 of {len(cycles)} {things}" in lines[0]
    assert lines[-2].endswith(f"{len(cycles)} of {len(cycles)} {things}  100 %")
    export(tmp_path / "run", "-o", tmp_path / "cycles.npy", "--progress", "none")
    assert len(capfd.readouterr().err.splitlines()) == 1


@pytest.mark.slow
def test_a_listing_to_a_run_directory_and_on_to_lines(tmp_path):
    lines = chordless("list", "grid:5x6", *REFERENCE).stdout.splitlines()
    assert chordless("list", "grid:5x6", "--arch", "cpu", "-o", f"{tmp_path}/run/").returncode == 0
    done = chordless("export", tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == sorted(lines)
    assert len(lines) == 749


@pytest.mark.slow
def test_a_listing_that_a_limit_stopped(tmp_path):
    assert chordless("list", "grid:5x6", "--arch", "cpu", "-o", f"{tmp_path}/run/", "--limit", 100).returncode == 4
    done = chordless("export", tmp_path / "run", "--format", "jsonl")
    assert done.returncode == 4
    assert len({tuple(json.loads(line)) for line in done.stdout.splitlines()}) == 100
    assert done.stderr.count("\n") == 1
    assert "not complete: the run in" in done.stderr


def test_a_file_of_another_graph_is_named(tmp_path):
    path = tmp_path / "cycles.npy"
    np.save(path, np.array([[7]], np.uint64))
    with pytest.raises(GraphError, match=r"cycles\.npy: the row at 0 is not a chordless cycle of this graph"):
        export(path, "--graph", "grid:2x5", "-o", tmp_path / "out.txt")


@pytest.mark.slow
def test_a_listing_of_bit_rows(tmp_path):
    path = tmp_path / "cycles.npy"
    assert chordless("list", "petersen", *REFERENCE, "-o", path).returncode == 0
    done = chordless("export", path, "--graph", "petersen")
    assert sorted(done.stdout.splitlines()) == sorted(chordless("list", "petersen", *REFERENCE).stdout.splitlines())
    assert fails(chordless("export", path, "--graph", "grid:2x5"), 2, f"{path}: the row at 0 is not a chordless cycle")
    assert fails(chordless("export", tmp_path / "nothing.npy", "--graph", "petersen"), 2, "cannot be read")
    assert chordless("export", path).returncode == 2
