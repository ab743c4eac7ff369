"""Batches that end early, in whatever way, and are resumed."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import pytest
from batches import ATLAS, batch_in_process, expected, graph6, lines_in
from chordless.batch.client import BatchClient
from chordless.batch.inputs import read_job
from chordless.batch.jobs import jobs_of
from chordless.batch.kept_input import find_kept, keeping
from chordless.batch.output import BatchFile, encoded, read_lines
from chordless.cli import main
from chordless.engine import process
from chordless.graphs.load import load_graph
from chordless.graphs.readers.incoming import Limits
from chordless.protocol.events import BatchFinished, BatchProgress
from chordless.protocol.orders import BatchCommand, BatchJob
from chordless.runs.directory import graph_hash
from patience import PATIENCE
from program import ENVIRONMENT, REFERENCE, chordless, refused, without_progress

from kernels_ti import EngineError, OptionError


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_holds_everything_and_is_gone_on_with(tmp_path, capsys, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    from chordless.batch.tables import lines_of_table

    atlas = graph6(tmp_path / "atlas.g6", ATLAS[:60])
    (tmp_path / "bad.g6").write_text("xx\n")
    table = tmp_path / f"table.{suffix}"
    assert main(["batch", str(atlas), str(tmp_path / "bad.g6"), "-o", str(table), *REFERENCE]) == 5
    *good, bad = lines_of_table(str(table), suffix)
    assert [line["by_length"] for line in good] == [expected(graph) for graph in ATLAS[:60]]
    assert {type(line[field]) for line in good for field in ("seconds", "frontier")} == {dict}
    assert {(line["complete"], line["max_length"], line["share"]) for line in good} == {(True, None, 1.0)}
    assert (bad["status"], bad["total"], bad["complete"]) == ("error", None, False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["atlas.g6", "bad.g6", table.name]
    capsys.readouterr()
    assert main(["batch", "petersen", str(atlas), "-o", str(table), "--resume", *REFERENCE]) == 0
    assert "61 graphs" in (said := capsys.readouterr().err)
    assert "60 done before" in said
    first, *rest = lines_of_table(str(table), suffix)
    assert first["total"] == 22
    assert rest == good


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("out.jsonl", "out.jsonl"),
        ("out.csv", "out.csv"),
        ("out.csv.jsonl", "out.csv"),  # as an interrupted batch leaves it
    ],
)
def test_the_output_is_no_graph_of_the_folder_in_which_it_lies(tmp_path, capsys, first, then):
    graph6(tmp_path / "some.g6", ATLAS[100:105])
    graph6(tmp_path / "more.g6", ATLAS[200:203])
    assert main(["batch", str(tmp_path), "-o", str(tmp_path / first), *REFERENCE]) == 0
    capsys.readouterr()
    assert main(["batch", str(tmp_path), "-o", str(tmp_path / then), "--resume", *REFERENCE]) == 0
    assert "8 graphs in" in (said := capsys.readouterr().err)
    assert "8 done before" in said


@pytest.mark.slow
def test_resume_keeps_what_is_done_wherever_it_stands(tmp_path):
    output = tmp_path / "out.jsonl"
    first = graph6(tmp_path / "first.g6", ATLAS[100:130])
    slow = BatchJob("", arch="reference")
    batch_in_process([first, "grid:5x5", "petersen"], output, slow)
    whole = lines_in(output)
    # Torn by a kill, a line out of its place, one that nobody asks for any more.
    text = output.read_text().splitlines(keepends=True)
    output.write_text("".join(text[:10]) + "".join(text[11:]) + text[10][:50])
    events, _ = batch_in_process([first, "cycle:5", "petersen"], output, slow)
    finished = events[-1]
    assert isinstance(finished, BatchFinished)
    assert (finished.done, finished.kept, finished.failed) == (32, 30, 0)
    lines = lines_in(output)
    assert lines.pop(30)["by_length"] == {"5": 1}
    expected_lines = [line for line in whole if line["graph"] != "grid:5x5"]
    assert [line["by_length"] for line in lines] == [line["by_length"] for line in expected_lines]
    # The torn one was searched again, the others are as they were.
    assert [line for line in lines if line not in expected_lines] == [lines[10]]
    # Nothing is lost that nobody asks for any more.
    beside = tmp_path / "out.jsonl.earlier"
    assert finished.beside == 1
    assert lines_in(beside) == [line for line in whole if line["graph"] == "grid:5x5"]
    # Other options, other results.
    events, _ = batch_in_process([first], output, replace(slow, max_length=4))
    assert (events[-1].kept, events[-1].beside) == (0, 33)
    assert {length for line in lines_in(output) for length in line["by_length"]} == {"3", "4"}
    # Asked for again, all are taken back.
    events, _ = batch_in_process([first, "grid:5x5", "petersen"], output, slow)
    assert (events[-1].kept, events[-1].beside) == (32, 31)
    again = lines_in(output)
    assert [line["by_length"] for line in again] == [line["by_length"] for line in whole]
    assert {line["max_length"] for line in lines_in(beside) if line["graph"] != "cycle:5"} == {4}
    # What was taken before an interrupt is not there twice.
    beside.write_text(beside.read_text() + "".join(map(json.dumps, again[:1])) + "\n")
    events, _ = batch_in_process([first, "grid:5x5", "petersen"], output, slow)
    assert (events[-1].kept, events[-1].beside) == (32, 31)


def test_what_was_done_outlives_a_kill_in_the_middle_of_putting_it_right(tmp_path):
    output = tmp_path / "out.jsonl"
    batch_in_process(["cycle:5", "cycle:6", "cycle:7"], output, BatchJob("", arch="reference"))
    keys = [line["hash"] for line in lines_in(output)]
    file = BatchFile(str(output))
    assert file.find("a graph that is new", "x") is None  # all three are out of place now
    file.write(b'{"graph": "x", "status": "comp')
    file.close()
    assert [line["graph"] for line in lines_in(tmp_path / "out.jsonl.earlier")] == ["cycle:5", "cycle:6", "cycle:7"]
    file = BatchFile(str(output))
    found = [file.find(key, "now") for key in keys]
    assert [(line["n"], line["graph"], in_place) for line, in_place in found] == [
        (5, "now", False), (6, "now", False), (7, "now", False),
    ]  # fmt: skip
    file.complete()
    file.close()
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_a_name_that_leaves_no_room_for_the_file_beside_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = "b" * 246 + ".jsonl"
    assert main(["batch", "petersen", *REFERENCE, "-o", path, "-q"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("chordless: error: cannot write bbb")
    assert said.endswith(": File name too long\n")


@pytest.mark.parametrize("device", ["/dev/full", "/dev/null"])
def test_a_device_is_no_file_to_go_on_with(device):
    with pytest.raises(OptionError, match=f"{device} is no regular file"):
        BatchFile(device)


@pytest.mark.parametrize("more", [[], ["--resume"]])
def test_a_pipe_is_not_said_to_be_gone_on_with(tmp_path, capsys, more):
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert main(["batch", "petersen", *REFERENCE, "-o", str(tmp_path / "pipe.jsonl"), *more]) == 2
    assert "is no regular file: a batch goes on in one, and -o - is standard output" in capsys.readouterr().err


def test_a_file_that_may_not_be_read_is_one_line(tmp_path, monkeypatch):
    """With ``umask 777`` that is so for each new file."""
    monkeypatch.setattr("chordless.batch.output.open", refused, raising=False)
    with pytest.raises(EngineError, match=r"cannot write .*out.jsonl: Permission denied"):
        BatchFile(str(tmp_path / "out.jsonl"))


@pytest.mark.parametrize("written", [2, 3])
def test_the_file_beside_goes_when_an_interrupted_batch_has_put_everything_back(tmp_path, written):
    output, beside = tmp_path / "out.jsonl", tmp_path / "out.jsonl.earlier"
    batch_in_process(["cycle:5", "cycle:6", "cycle:7"], output, BatchJob("", arch="reference"))
    keys = [line["hash"] for line in lines_in(output)]
    file = BatchFile(str(output))
    assert file.find("a graph that is new", "x") is None  # all three are out of place now
    found = [file.find(key, "now") for key in keys]
    file.write(b"".join(encoded(line) for line, _ in found[:written]))
    file.close()  # interrupted
    assert beside.exists() == (written < 3)
    assert len(lines_in(output)) == written


def test_fail_fast_ends_at_the_first_failure(tmp_path, capsys):
    (tmp_path / "bad.txt").write_text("1 1\n")
    output = tmp_path / "out.jsonl"
    arguments = ["batch", "cycle:4", str(tmp_path / "bad.txt"), "cycle:5", "-o", str(output), "--resume", *REFERENCE]
    for _ in range(2):
        assert main([*arguments, "--fail-fast"]) == 5
        assert capsys.readouterr().err.startswith("ended at the first failure; 2 graphs in")
        assert [line["status"] for line in lines_in(output)] == ["complete", "error"]
    assert main(arguments) == 5
    assert [line["status"] for line in lines_in(output)] == ["complete", "error", "complete"]


@pytest.mark.slow
def test_what_is_counted_stays_when_a_large_graph_is_interrupted_and_progress_never_goes_back(tmp_path):
    many = graph6(tmp_path / "many.g6", ATLAS[:200])
    jobs = jobs_of(["grid:9x11", str(many)], BatchJob("", arch="cpu"))
    done = []
    with BatchClient(BatchCommand(jobs, str(tmp_path / "out.jsonl"))) as batch:
        for event in batch.events():
            if isinstance(event, BatchProgress):
                done.append(event.done)
                if event.graph == "grid:9x11":
                    batch.stop()
    assert isinstance(event, BatchFinished)
    assert (event.reason, event.done) == ("interrupted", 200)
    assert done == sorted(done)
    assert [line["n"] for line in read_lines(str(tmp_path / "out.jsonl"))] == [graph.order() for graph in ATLAS[:200]]


def test_cycles_that_are_gone_are_listed_again(tmp_path):
    jobs = BatchJob("", arch="reference", listing=str(tmp_path / "cycles"))
    names = []
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text("1 2\n2 3\n3 1\n")
        names.append(str(tmp_path / f"{name}.txt"))
    output = tmp_path / "out.jsonl"
    batch_in_process(names, output, jobs)
    lines = {line["graph"]: line for line in lines_in(output)}
    assert len({line["listing"] for line in lines.values()}) == 3
    # Equal graphs have files of their own, in any order.
    events, _ = batch_in_process(names[::-1], output, jobs)
    assert events[-1].kept == 3
    assert lines_in(output) == [lines[name] for name in names[::-1]]
    Path(lines[names[0]]["listing"]).unlink()
    Path(lines[names[1]]["listing"]).write_text("")
    events, _ = batch_in_process(names, output, jobs)
    assert (events[-1].kept, events[-1].beside) == (1, 0)
    assert [Path(line["listing"]).read_text() for line in lines_in(output)] == ["1 2 3\n"] * 3


# An engine that dies of every graph with 13 vertices, be it among others or alone.
DEADLY = (
    "import os, kernels_ti.many.count as many, kernels_ti.run as run; "
    "count = many.count_many; init = run.Run.__init__; "
    "die = lambda n: os.abort() if n == 13 else None; "
    "many.count_many = lambda graphs, *a, **k: ([die(n) for n in graphs.vertices.tolist()], "
    "count(graphs, *a, **k))[1]; "
    "run.Run.__init__ = lambda self, graph, *a, **k: (die(graph.n), init(self, graph, *a, **k))[1]; "
)


@pytest.mark.slow
def test_an_engine_that_dies_of_a_graph_does_not_end_the_batch(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        process,
        "_BOOT",
        process._BOOT.replace("from chordless.worker", DEADLY + "from chordless.worker"),
    )
    sizes = [5, 13, 6]
    path = graph6(tmp_path / "sizes.g6", map(nx.cycle_graph, sizes))
    output = tmp_path / "out.jsonl"
    events, engines = batch_in_process([path, "cycle:9"], output)
    finished = events[-1]
    assert isinstance(finished, BatchFinished)
    assert (finished.done, finished.failed) == (4, 1)
    lines = lines_in(output)
    assert [line["n"] for line in lines] == [5, None, 6, 9]
    assert "the engine was killed (SIGABRT)" in lines[1]["error"]
    assert lines[1]["error"].startswith(f"{path}:2: ")
    assert 2 <= engines <= 5
    output.unlink()
    assert main(["batch", str(path), "-o", str(output)]) == 5
    said = capsys.readouterr().err
    assert re.search(r"\nthe engine died \d times; a new one continued\n", said)
    assert "done before" not in said


SLOW = "import time, chordless.batch.inputs as inputs; inputs.LINES_AT_ONCE = 20; " \
    "import chordless.batch.runner as runner, chordless.batch.counting as counting; " \
    "runner.LINES_AT_ONCE = 20; count = counting.count_many; " \
    "counting.count_many = lambda *a, **k: (time.sleep(0.3), count(*a, **k))[1]; "  # fmt: skip


def slow_batch(*arguments):
    """Start a batch that does twenty graphs in three tenths of a second, in a process group of its own."""
    boot = process._BOOT.replace("from chordless.worker", SLOW + "from chordless.worker")
    code = (
        "import sys; from chordless.engine import process; from chordless.cli import main; "
        f"process._BOOT = {boot!r}; sys.exit(main())"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, "batch", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=ENVIRONMENT, start_new_session=True,
    )  # fmt: skip


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.slow
def test_ended_in_the_middle_and_gone_on_with(tmp_path, how):
    atlas, output = graph6(tmp_path / "atlas.g6", ATLAS[:1000]), tmp_path / "out.jsonl"
    process = slow_batch(atlas, "-o", output)
    try:
        deadline = time.monotonic() + PATIENCE
        while not (output.exists() and output.read_bytes().count(b"\n") >= 60) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, how)
        errors = without_progress(process.communicate(timeout=PATIENCE)[1])
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    before = output.read_bytes().count(b"\n")
    assert 60 <= before < 1000
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert before % 20 == 0
        assert errors == (
            f"interrupted; {before:,} graphs in {output}, {sum(line['total'] for line in lines_in(output)):,} cycles, "
            f"{errors.split(', ')[-1].split(';')[0]}; --resume goes on from there\n"
        )
    done = chordless("batch", atlas, "-o", output, "--resume")
    assert done.returncode == 0, done.stderr
    assert f"{before} done before" in done.stderr
    lines = lines_in(output)
    assert [line["graph"] for line in lines] == [f"{atlas}:{i + 1}" for i in range(1000)]
    assert [line["by_length"] for line in lines[::50]] == [expected(graph) for graph in ATLAS[:1000:50]]


@pytest.mark.parametrize(
    ("second", "kept"),
    [
        ([b"Bw\n", b"C~\n"], b"Bw\nC~\nDhc\n"),  # interrupted: what else was kept still fits the old lines
        ([b"Bw\n", b"C]\n"], b"Bw\nC]\n"),
        ([b"Bw\n", b"C~\n", b""], b"Bw\nC~\n"),
    ],
    ids=["the same so far", "another graph", "shorter"],
)
def test_the_copy_of_standard_input_fits_the_lines_so_far(tmp_path, second, kept):
    def keep(pieces):
        waiting = iter(pieces)
        source = SimpleNamespace(read=None, read1=lambda size: next(waiting))
        with keeping(source, str(tmp_path / "copy.g6")) as stream:
            return b"".join(stream.read1(1 << 20) for _ in pieces)

    first = [b"Bw\n", b"C~\n", b"Dhc\n", b""]
    assert keep(first) == b"".join(first)
    assert keep(second) == b"".join(second)
    assert (tmp_path / "copy.g6").read_bytes() == kept


def test_lines_from_standard_input_keep_their_graphs(tmp_path, monkeypatch):
    output = str(tmp_path / "out.jsonl")
    lines = b"Bw\n:Bc\n&BP_\n"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(lines))))
    job = BatchJob("-")
    titles = [title for chunk in read_job(job, Limits(), output) for title in chunk.titles]
    assert titles == ["stdin:1", "stdin:2", "stdin:3"]
    kept = find_kept(output)
    assert Path(kept).read_bytes() == lines
    graphs = [load_graph(f"{kept}:{line}").graph for line in (1, 2, 3)]
    assert [(graph.directed, graph.m) for graph in graphs] == [(False, 3), (False, 2), (True, 3)]


def test_a_lone_graph_from_standard_input_is_kept_as_it_was_read(tmp_path, monkeypatch):
    output = str(tmp_path / "out.jsonl")
    Path(f"{output}.stdin.g6").write_bytes(b"Bw\nBw\n")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(b"a b\nb c\nb c\nc b\n"))))
    (chunk,) = read_job(BatchJob("-", directed=True, multigraph=True), Limits(), output)
    kept = find_kept(output)
    assert kept == f"{output}.stdin.txt"
    again = load_graph(kept, multigraph=True).graph
    assert (graph_hash(again), chunk.titles) == (graph_hash(chunk.loaded.graph), ("stdin",))


def test_a_copy_of_standard_input_that_cannot_be_written_ends_the_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(b"Bw\nBw\n"))))
    with pytest.raises(EngineError, match=r"cannot write .*/none/out.jsonl.stdin.g6: No such file"):
        list(read_job(BatchJob("-"), Limits(), str(tmp_path / "none/out.jsonl")))


@pytest.mark.parametrize(("room", "whole"), [(25, b'{"first": 1}\n'), (5, None), (0, None)])
def test_a_full_disk_leaves_whole_lines_or_no_file(tmp_path, monkeypatch, room, whole):
    path, left = tmp_path / "out.jsonl", [room]

    def write(descriptor, data):
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        number = min(len(data), left[0])
        left[0] -= number
        return write_all(descriptor, data[:number])

    file, write_all = BatchFile(str(path)), os.write
    monkeypatch.setattr("chordless.batch.output.os.write", write)
    with pytest.raises(EngineError, match=r"cannot write .*: No space left on device"):
        file.write(b'{"first": 1}\n{"second": 2}\n')
    file.close()
    assert (path.read_bytes() if path.exists() else None) == whole


def test_a_full_disk_removes_no_link_and_no_file_whose_lines_are_beside(tmp_path, monkeypatch):
    target, path, link = tmp_path / "target", tmp_path / "out.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(target)
    path.write_bytes(encoded({"graph": "a", "status": "complete", "hash": "1"}))

    def write(descriptor, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("chordless.batch.output.os.write", write)
    for each in (path, link):
        with contextlib.closing(BatchFile(str(each))) as file, pytest.raises(EngineError):
            file.write(b'{"first": 1}\n')
    assert (path.stat().st_size, link.is_symlink(), target.exists()) == (0, True, True)
    assert [line["hash"] for line in read_lines(f"{path}.earlier")] == ["1"]
