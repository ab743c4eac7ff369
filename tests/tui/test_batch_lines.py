"""The file of a batch as the dashboard reads it, and what is typed into the form for one."""

from __future__ import annotations

from pathlib import Path

import pytest
from chordless.cli import main
from chordless.protocol.orders import BatchJob
from chordless.tui.batch_form import BatchQuestion, plan_of, run_of, source_of
from chordless.tui.batch_lines import BatchLine, LineIndex, is_batch_file, line_count
from chordless.tui.batch_words import COLUMNS
from chordless.tui.screens.batch_sorting import ColumnOrder, titles_of

from tui.batch_files import TRIANGLE, error, line


def test_the_index_follows_a_file_that_grows_and_one_that_is_cut_off(tmp_path):
    path = tmp_path / "out.jsonl"
    index = LineIndex(str(path))
    assert not index.look()
    path.write_bytes(line("a") + error("b") + line("c")[:40])
    assert index.look()
    before = index.lines()
    assert [found.graph for found in before.read(0, 9)] == ["a", "b"]
    assert not index.look()
    with open(path, "ab") as stream:
        stream.write(line("c")[40:] + line("d", "limit") + b'{"graph": "torn\n' + line("e"))
    assert index.look()
    lines = index.lines()
    assert len(before) == 2
    assert (len(lines), lines.failed, lines.stopped) == (6, 1, 1)
    assert lines.generation == before.generation
    assert [found.status for found in lines.read(0, 9)] == [
        "complete",
        "error",
        "complete",
        "limit",
        "damaged",
        "complete",
    ]
    first = lines.failures_first()
    assert [found.graph for found in first.read(0, 3)] == ["b", "d", "a"]
    assert [first.place_of(position) for position in (1, 3, 0)] == [0, 1, 2]
    path.write_bytes(line("a") + line("B") + line("C") + line("D") + line("E") + line("F") + line("G"))
    while index.look():
        pass
    assert [found.graph for found in index.lines().read(0, 9)] == ["a", "B", "C", "D", "E", "F", "G"]
    assert index.lines().generation > lines.generation
    path.unlink()
    assert index.look()
    assert len(index.lines()) == 0


def test_a_graph_that_was_not_read_has_no_number_of_holes(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(error("unread") + line("read", total=0, by_length={}))
    index = LineIndex(str(path))
    assert index.look()
    cells = [{column.title: column.text(found).strip() for column in COLUMNS} for found in index.lines().read(0, 2)]
    assert set(cells[0].values()) == {"-"}
    assert (cells[1]["holes"], cells[1]["longest"]) == ("0", "-")


def test_lines_longer_than_what_is_read_at_once_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr("chordless.tui.batch_lines._BYTES_AT_ONCE", 300)
    path = tmp_path / "out.jsonl"
    names = [f"{i}" * (1 + 400 * (i % 3)) for i in range(3000)]
    path.write_bytes(b"".join(error(name) if i % 7 == 0 else line(name) for i, name in enumerate(names)))
    index = LineIndex(str(path))
    while index.look():
        pass
    lines = index.lines()
    assert [found.graph for found in lines.read(0, 3000)] == names
    assert lines.failed == len(range(0, 3000, 7))
    assert line_count(str(path)) == 3000


def test_a_name_cannot_pass_for_a_status(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(line("a", name='"status": "error"') + line("b", name='\\"status": "error"'))
    index = LineIndex(str(path))
    index.look()
    assert index.lines().failed == 0


def test_files_of_batches_are_told_from_others(folder, written):
    (folder / "events.jsonl").write_text('{"event": "started"}\n')
    assert is_batch_file("out.jsonl")
    assert not is_batch_file("events.jsonl")
    assert line_count("events.jsonl") is None
    assert line_count("out.jsonl") == 100


@pytest.mark.parametrize(
    ("graphs", "output", "graphs_fault", "output_fault"),
    [
        ("grid:3x3 'all.g6", "new.jsonl", "a quotation mark is missing", None),
        ("nosuch*.net", "new.jsonl", "no file matches this pattern", None),
        ("grid:3x3 grid:3x3", "new.jsonl", "given twice", None),
        ("-", "new.jsonl", "standard input is the keyboard", None),
        ("no.toml", "new.jsonl", "no.toml: cannot be read", None),
        ("grid:3x3", "", None, "name a file"),
        ("grid:3x3", ".", None, "this is a folder"),
        ("grid:3x3", "new.csv", None, "FILE.jsonl"),
        ("grid:3x3", "no/new.jsonl", None, "there is no folder"),
        ("grid:3x3", "all.g6", None, "was not written by a batch"),
        ("grid:3x3 *.g6", "out.jsonl", None, None),
    ],
)
def test_mistakes_are_found_before_the_start(folder, written, graphs, output, graphs_fault, output_fault):
    (folder / "all.g6").write_bytes(TRIANGLE + b"\n" + TRIANGLE)
    plan = plan_of(BatchQuestion(graphs, output))
    for fault, wanted in ((plan.graphs_fault, graphs_fault), (plan.output_fault, output_fault)):
        assert (fault is None) == (wanted is None)
        assert wanted is None or wanted in fault
    assert plan.can_start == (graphs_fault is None and output_fault is None)
    if plan.can_start:
        assert plan.graphs_words == "2 inputs, 3 graphs"
        assert plan.output_words == "100 lines so far"


@pytest.mark.parametrize(
    ("typed", "cluster", "fault"),
    [
        ("", None, None),
        (" local:4 ", "local:4", None),
        ("nowhere", None, "there is no cluster 'nowhere'"),
        ("none.json", None, "there is no such scheduler file"),
    ],
)
def test_a_cluster_may_be_named(folder, typed, cluster, fault):
    pytest.importorskip("distributed", reason="needs Dask (pip install distributed)")
    plan = plan_of(BatchQuestion("grid:3x3", "out.jsonl", cluster=typed))
    assert plan.cluster == cluster
    assert (plan.cluster_fault or "").startswith(fault or "")
    assert plan.can_start == (plan.cluster_fault is None) == (fault is None)


def test_a_manifest_is_read(folder):
    (folder / "jobs.toml").write_text('[[jobs]]\ngraph = ["grid:3x3", "grid:4x4"]\nmax_length = 8\n')
    plan = plan_of(BatchQuestion("jobs.toml", "new.jsonl"))
    assert [(job.graph, job.max_length) for job in plan.jobs] == [("grid:3x3", 8), ("grid:4x4", 8)]


def test_the_graph_of_a_line_is_named_for_the_engine(folder):
    (folder / "all.g6").write_bytes(TRIANGLE)
    assert source_of("all.g6:12", "out.jsonl") == str(folder / "all.g6:12")
    assert source_of("all.g6", "out.jsonl") == str(folder / "all.g6")
    assert source_of("complete:12", "out.jsonl") == "complete:12"


def test_a_graph_from_standard_input_is_opened_from_its_copy(folder):
    assert source_of("stdin:3", "out.jsonl") is None
    Path("out.jsonl.stdin.g6").write_bytes(TRIANGLE)
    assert source_of("stdin:3", "out.jsonl") == str(folder / "out.jsonl.stdin.g6:3")
    source = source_of("stdin", str(folder / "out.jsonl"))
    assert source == str(folder / "out.jsonl.stdin.g6")
    command = run_of(BatchLine(0, "stdin"), source, (BatchJob("-", simplify=True),), folder / "run")
    assert (command.graph, command.simplify) == (source, True)
    Path("out.jsonl.stdin.g6").rename("out.jsonl.stdin.txt")
    source = source_of("stdin", "out.jsonl")
    command = run_of(BatchLine(0, "stdin"), source, (BatchJob("-", simplify=True, arch="cpu"),), folder / "run")
    assert (command.graph, command.simplify, command.arch) == (source, False, "cpu")
    Path("stdin").write_bytes(TRIANGLE)
    assert source_of("stdin", "out.jsonl") == str(folder / "stdin")


def ordered(column, index, *, falling, cancelled=False):
    order = column.order(index.lines(), falling=falling, cancelled=lambda: cancelled)
    return None if order is None else order.tolist()


def test_lines_are_sorted_by_a_column_and_only_new_ones_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("chordless.tui.screens.batch_sorting._LINES_AT_ONCE", 2)
    path = tmp_path / "out.jsonl"
    path.write_bytes(line("b", n=5) + error("x") + line("a", n=7) + line("c", n=5))
    index = LineIndex(str(path))
    assert index.look()
    column = ColumnOrder("n")
    assert ordered(column, index, falling=True, cancelled=True) is None
    assert ordered(column, index, falling=True) == [2, 0, 3, 1]
    assert ordered(column, index, falling=False) == [0, 3, 2, 1]
    with open(path, "ab") as stream:
        stream.write(line("d", n=6))
    assert index.look()
    assert ordered(column, index, falling=True) == [2, 4, 0, 3, 1]
    assert ordered(ColumnOrder("graph"), index, falling=False) == [2, 0, 3, 4, 1]
    path.write_bytes(line("q", n=1) + line("r", n=2))
    while index.look():
        pass
    assert ordered(column, index, falling=True) == [1, 0]


@pytest.mark.parametrize("title", titles_of({"seconds", "interval"})[1:])
def test_every_column_can_be_sorted_by(tmp_path, title):
    path = tmp_path / "out.jsonl"
    path.write_bytes(line("b", interval=True) + error("x"))
    index = LineIndex(str(path))
    assert index.look()
    assert ordered(ColumnOrder(title), index, falling=True)[-1] == (0 if title == "graph" else 1)


@pytest.mark.parametrize(
    ("reading", "options"),
    [
        ("as-is", {}),
        ("simplified", {"simplify": True}),
        ("directed", {"directed": True}),
        ("multigraph", {"multigraph": True}),
        ("overlap", {"overlap": True}),
    ],
)
def test_graphs_are_read_and_opened_as_the_form_says(tmp_path, monkeypatch, reading, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.net").write_text('*Vertices 1\n1 "a"\n')
    plan = plan_of(BatchQuestion("web.net", "out.jsonl", reading))
    names = ("simplify", "directed", "multigraph", "overlap")
    (job,) = plan.jobs
    assert {name: True for name in names if getattr(job, name)} == options
    command = run_of(BatchLine(0, "web.net", cycles=3, status="complete"), "web.net", plan.jobs, tmp_path)
    assert {name: True for name in names if getattr(command, name)} == options


@pytest.mark.parametrize(
    "options", [(), ("--simplify",), ("--directed",), ("--multigraph",), ("--directed", "--multigraph"), ("--overlap",)]
)
def test_a_graph_of_an_earlier_batch_is_opened_as_it_was_read(tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.net").write_text('*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Arcs\n1 2\n2 3\n3 1\n')
    assert main(["batch", "web.net", *options, "-o", "out.jsonl", "--arch", "reference", "-q"]) == 0
    index = LineIndex("out.jsonl")
    assert index.look()
    opened = run_of(index.lines().read(0, 1)[0], "web.net", (), tmp_path)
    names = ("simplify", "directed", "multigraph", "overlap")
    assert [f"--{name}" for name in names if getattr(opened, name)] == list(options)
