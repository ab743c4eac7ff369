"""``chordless batch`` on a real engine: lines, order, errors, formats, going on, and ends of all kinds."""

from __future__ import annotations

import csv
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

import networkx as nx
import pytest
from oracles import by_length, nauty, networkx_cycles
from patience import PATIENCE
from program import COUNT_KEYS, ENVIRONMENT, REFERENCE, chordless, command, fails, without_progress

import app.client
from app.batch.client import BatchClient
from app.batch.jobs import jobs_of
from app.batch.output import FIELDS, read_lines
from app.batch.tables import write_table
from app.cli import main
from app.commands.batch_display import BatchDisplay
from app.events import BatchFinished, BatchProgress, BatchSearching, BatchStarted
from app.formats import load_graph
from app.orders import BatchCommand, BatchJob
from app.protocol import command_from_json, command_to_json, event_from_json, event_to_json
from kernels_ti.errors import OptionError
from kernels_ti.graph import Graph

ATLAS = nx.graph_atlas_g()[1:]


def graph6(path, graphs):
    path.write_bytes(b"".join(nx.to_graph6_bytes(graph, header=False) for graph in graphs))
    return path


def lines_in(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def batch_in_process(graphs, output, template=BatchJob(""), **more):  # noqa: B008
    """Run a batch through the client; return its events."""
    with BatchClient(BatchCommand(tuple(jobs_of(map(str, graphs), template)), str(output), **more)) as batch:
        events = list(batch.events())
        return events, batch.engines


def expected(graph):
    return {str(length): count for length, count in by_length(networkx_cycles(Graph.from_networkx(graph))).items()}


def test_every_kind_of_input_in_order(tmp_path):
    atlas = graph6(tmp_path / "atlas.g6", ATLAS[::10])
    (tmp_path / "webs").mkdir()
    for name in ("b", "a"):
        (tmp_path / f"webs/{name}.txt").write_text(f"1 2\n2 3\n3 {name}\n{name} 1\n")
    with_loop = tmp_path / "loop.txt"
    with_loop.write_text("1 2\n2 2\n")
    output = tmp_path / "out.jsonl"
    done = chordless(
        "batch", "petersen", atlas, f"{tmp_path}/webs/*.txt", with_loop, "grid:12x12", "--max-length", "8",
        "-o", output,
    )  # fmt: skip
    assert done.returncode == 5, done.stderr
    assert "1 failed" in done.stderr
    assert f"the failure: {with_loop}:2: edge from 2 to itself" in done.stderr
    lines = lines_in(output)
    titles = [f"{atlas}:{i + 1}" for i in range(len(ATLAS[::10]))]
    webs = [f"{tmp_path}/webs/{name}.txt" for name in "ab"]
    assert [line["graph"] for line in lines] == ["petersen", *titles, *webs, str(with_loop), "grid:12x12"]
    assert all(list(line) == list(FIELDS) for line in lines)
    assert set(COUNT_KEYS) < set(FIELDS)
    assert [line["by_length"] for line in lines[1 : 1 + len(titles)]] == [expected(graph) for graph in ATLAS[::10]]
    for line, graph in zip(lines[1:], ATLAS[::10], strict=False):
        assert (line["n"], line["m"]) == (len(graph), graph.size())
        assert line["max_degree"] == max(degree for _, degree in graph.degree)
    assert lines[0]["by_length"] == {"5": 12, "6": 10}
    bad, large = lines[-2:]
    assert (bad["status"], bad["total"], bad["complete"]) == ("error", None, False)
    assert bad["error"].startswith(f"{with_loop}:2: edge from 2 to itself")
    # The last one is too large to be counted beside others, and says of itself what a count says.
    assert (large["n"], large["by_length"]) == (144, {"4": 121, "8": 100})
    assert large["frontier"]["by_length"]["3"] > 0
    assert large["seconds"]["total"] > 0


def test_a_file_of_many_graphs_is_simplified_too(tmp_path):
    path, output = tmp_path / "doubled.s6", tmp_path / "out.jsonl"
    ring = nx.MultiGraph(nx.cycle_graph(5))
    ring.add_edges_from([(0, 1), (3, 3)])
    path.write_bytes(2 * nx.to_sparse6_bytes(ring, header=False))
    assert main(["batch", str(path), "-o", str(output), "--progress", "none"]) == 5
    assert [line["status"] for line in lines_in(output)] == ["error"] * 2
    output.unlink()
    assert main(["batch", str(path), "--simplify", "-o", str(output), "--progress", "none"]) == 0
    assert [line["by_length"] for line in lines_in(output)] == [{"5": 1}] * 2


def test_all_small_graphs_through_a_pipe_as_csv(tmp_path):
    graphs = nauty("geng", "-q", "7")
    done = chordless("batch", "-", "--format", "csv", "-q", input=graphs, text=False)
    assert (done.returncode, done.stderr) == (0, b"")
    rows = list(csv.DictReader(done.stdout.decode().splitlines()))
    assert [row["graph"] for row in rows] == [f"stdin:{i + 1}" for i in range(1044)]
    counted = [int(line.split()[0]) * int(line.split(b"=")[1]) for line in nauty(
        "countg", "--H", "-q", stdin=graphs).splitlines() if b"induced" in line]  # fmt: skip
    assert sum(int(row["total"]) for row in rows) == sum(counted)
    assert {row["paths"] for row in rows} == {""}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_holds_everything_and_is_gone_on_with(tmp_path, capsys, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    from app.batch.tables import lines_of_table

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
    from app.batch.output import BatchFile

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


def test_a_manifest_with_lists_limits_and_timeouts(tmp_path):
    graph6(tmp_path / "two.g6", [nx.cycle_graph(5), nx.complete_graph(4)])
    (tmp_path / "jobs.toml").write_text(
        '[defaults]\nmax_length = 8\ncycles = "cycles"\n'
        '[[jobs]]\ngraph = ["two.g6", "grid:3x3"]\ntask = "list"\ncycles_format = "jsonl"\n'
        '[[jobs]]\ngraph = "grid:4x4"\nmin_length = 5\n'
        '[[jobs]]\ngraph = "grid:8x8"\nmax_length = 36\nlimit = 10\ntimeout = "1m"\narch = "reference"\n'
    )
    planned = chordless("batch", "--manifest", tmp_path / "jobs.toml", "--dry-run")
    assert (planned.returncode, planned.stderr) == (0, "")
    assert [line.split()[1] for line in planned.stdout.splitlines()] == ["2", "1", "1", "1"]
    assert "cycles of 3 to 36 vertices, limit 10, timeout 60 s, on reference" in planned.stdout
    assert not (tmp_path / "cycles").exists()
    output = tmp_path / "out.jsonl"
    done = chordless("batch", "--manifest", tmp_path / "jobs.toml", "-o", output)
    assert done.returncode == 4, done.stderr
    assert "1 stopped by a limit" in done.stderr
    lines = lines_in(output)
    assert [line["by_length"] for line in lines[:4]] == [{"5": 1}, {"3": 4}, {"4": 4, "8": 1}, {"8": 4}]
    assert (lines[4]["status"], lines[4]["complete"], lines[4]["arch"]) == ("limit", False, "reference")
    for line in lines[:3]:
        assert len(lines_in(Path(line["listing"]))) == line["total"]
        assert os.path.dirname(line["listing"]) == str(tmp_path / "cycles")
    assert lines[3]["listing"] is None


def toml(text):
    return f'[[jobs]]\ngraph = "petersen"\n{text}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are no jobs; each begins with a line [[jobs]] and has a key graph"),
        ("jobs = 3", "jobs: must be tables, [[jobs]]"),
        ("[job]", "job: there is no such key; did you mean jobs?"),
        ("[[jobs]]\n[[jobs]\n", "4: not TOML"),
        (toml("max_lenght = 3"), "job 1: max_lenght: there is no such key; did you mean max_length?"),
        (toml("max_length = 2"), "job 1: max_length: a cycle has at least 3 vertices, not 2"),
        (toml("max_length = 4.5"), "job 1: max_length: 4.5 is not a whole number"),
        (toml("min_length = 5\nmax_length = 4"), "petersen: the maximum length 4 is less than the minimum 5"),
        (toml('timeout = "soon"'), "job 1: timeout: 'soon' is not a time: seconds above 0, or 90s, 5m, 2h"),
        (toml('task = "draw"'), "job 1: task: 'draw' is not one of count, list"),
        (toml('task = "list"'), "job 1: cycles: is missing; a list needs a folder to write to, here or by --cycles"),
        (toml('format = "cbor"'), "job 1: format: there is no file format 'cbor'; the formats are edgelist,"),
        (toml("simplify = 1"), "job 1: simplify: 1 is neither true nor false"),
        ("[[jobs]]\n", "job 1: graph: is missing; a file, a pattern, a spec, or a list of these"),
        ("[[jobs]]\ngraph = []\n", "job 1: graph: [] is no graph"),
        ('[[jobs]]\ngraph = "nothing/*.g6"\n', "nothing/*.g6: no file matches this pattern"),
        (toml("") + toml(""), "petersen is given twice"),
        ('[defaults]\ngraph = "petersen"\n', "defaults: graph: belongs to a job, [[jobs]]"),
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_read(tmp_path, text, message):
    from app.batch.manifest import read_manifest
    from kernels_ti.errors import OptionError

    path = tmp_path / "jobs.toml"
    path.write_text(text if "4: not" not in message else f"\n\n{text}")
    with pytest.raises(OptionError) as caught:
        read_manifest(str(path), BatchJob(""))
    assert str(caught.value).startswith(f"{path}:")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing*.g6"], ["nothing*.g6: no file matches this pattern"]),
        (["petersen", "petersen"], ["petersen is given twice"]),
        (["-", "cycle:4", "-"], ["standard input is given twice"]),
        (["missing.txt"], ["missing.txt: no such file"]),
        (["."], [".: this is a folder; for all files in it, ./* in quotes"]),
        (["petersen", "--graph-format", "cbor"], ["there is no file format 'cbor'; the formats are edgelist,"]),
        (["--manifest", "missing.toml"], ["missing.toml: cannot be read: No such file or directory"]),
    ],
)
def test_inputs_that_are_not_there(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert main(["batch", *arguments]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert all(word in printed.err for word in words)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is no GRAPH, and no --manifest"),
        ([""], "GRAPH: the name is empty"),
        (["petersen", "--manifest", "m.toml"], "exclude each other"),
        (["petersen", "-o", "out.txt"], "-o out.txt: which format?"),
        (["petersen", "--format", "parquet"], "--format parquet needs a file"),
        (["petersen", "--resume"], "--resume needs a file"),
        (["petersen", "--keep-going", "--fail-fast"], "not allowed with"),
        (["petersen", "--min-length", "6", "--max-length", "5"], "--max-length 5 is below --min-length 6"),
    ],
)
def test_command_lines_that_mean_nothing(capsys, arguments, message):
    assert main(["batch", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err


def test_an_output_that_is_there_is_not_written_over(tmp_path, capsys):
    output = tmp_path / "out.jsonl"
    output.write_text("my diary\n")
    assert main(["batch", "petersen", "-o", str(output)]) == 2
    assert f"{output} is there already: --resume keeps what is done" in capsys.readouterr().err
    assert main(["batch", "petersen", "-o", str(output), "--resume", *REFERENCE]) == 2
    assert f"{output} is there and no file of a batch" in capsys.readouterr().err
    assert output.read_text() == "my diary\n"


def test_one_graph_of_many_goes_by_the_name_of_its_line(tmp_path):
    path = graph6(tmp_path / "three.g6", [nx.cycle_graph(4), nx.cycle_graph(5), nx.cycle_graph(6)])
    events, _ = batch_in_process([path], tmp_path / "out.jsonl", BatchJob("", arch="reference"))
    for line in read_lines(str(tmp_path / "out.jsonl")):
        assert load_graph(line["graph"]).graph.n == line["n"]
    started, *between, finished = [event for event in events if event.name != "log"]
    assert isinstance(started, BatchStarted)
    assert started.total == 3
    assert {type(event) for event in between} == {BatchSearching, BatchProgress}
    assert (finished.reason, finished.done, finished.cycles) == ("complete", 3, 3)


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


def test_a_limited_listing_says_how_many_it_has(tmp_path, capsys):
    output = tmp_path / "out.jsonl"
    arguments = ["batch", "grid:6x6", "-o", str(output), "--cycles", str(tmp_path / "cycles"), "--limit", "7"]
    assert main([*arguments, "--arch", "cpu"]) == 4
    (line,) = lines_in(output)
    assert (line["status"], line["listed"]) == ("limit", 7)
    assert len(Path(line["listing"]).read_text().splitlines()) == 7
    assert line["total"] >= 7
    capsys.readouterr()
    # Nothing is begun where it would fail of every graph.
    (tmp_path / "file").write_text("")
    assert main(["batch", "grid:3x3", "-o", str(tmp_path / "a.jsonl"), "--cycles", str(tmp_path / "file")]) == 2
    assert "cannot make the folder" in capsys.readouterr().err
    assert main(["batch", "grid:3x3", "-o", str(tmp_path / "a.jsonl"), "--threads", "99999"]) == 2
    assert "threads must be a whole number from 1 to 1024, not 99999" in capsys.readouterr().err
    assert not (tmp_path / "a.jsonl").exists()


# An engine that dies of every graph with 13 vertices, be it among others or alone.
DEADLY = (
    "import os, kernels_ti.many as many, kernels_ti.run as run; count = many.count_many; init = run.Run.__init__; "
    "die = lambda n: os.abort() if n == 13 else None; "
    "many.count_many = lambda graphs, *a, **k: ([die(n) for n in graphs.vertices.tolist()], "
    "count(graphs, *a, **k))[1]; "
    "run.Run.__init__ = lambda self, graph, *a, **k: (die(graph.n), init(self, graph, *a, **k))[1]; "
)


def test_an_engine_that_dies_of_a_graph_does_not_end_the_batch(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(app.client, "_BOOT", app.client._BOOT.replace("from app.worker", DEADLY + "from app.worker"))
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
    assert re.search(r"\nthe engine died \d times; another went on where it was\n", said)
    assert "done before" not in said


SLOW = "import time, app.batch.inputs as inputs; inputs.LINES_AT_ONCE = 20; import app.batch.runner as runner; " \
    "runner.LINES_AT_ONCE = 20; count = runner.count_many; " \
    "runner.count_many = lambda *a, **k: (time.sleep(0.1), count(*a, **k))[1]; "  # fmt: skip


def slow_batch(*arguments):
    """Start a batch that does twenty graphs in a tenth of a second, in a process group of its own."""
    boot = app.client._BOOT.replace("from app.worker", SLOW + "from app.worker")
    code = f"import sys, app.client, app.cli; app.client._BOOT = {boot!r}; sys.exit(app.cli.main())"
    return subprocess.Popen(
        [sys.executable, "-c", code, "batch", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=ENVIRONMENT, start_new_session=True,
    )  # fmt: skip


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
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


def test_the_client_loads_no_taichi(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("1 2\n2 3\n3 1\n")
    code = (
        "import sys; from app.cli import main; "
        f"main(['batch', {str(tmp_path / '*.txt')!r}, '-o', {str(tmp_path / 'out.jsonl')!r}, *{REFERENCE}]); "
        "print([name for name in ('taichi', 'textual', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, env=ENVIRONMENT
    )
    assert done.stdout == "[]\n"
    assert len(lines_in(tmp_path / "out.jsonl")) == 2


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_the_progress_fits_a_line_and_says_the_most_telling_first(monkeypatch, encoding):
    monkeypatch.setenv("COLUMNS", "80")
    screen = io.BytesIO()
    display = BatchDisplay("auto", io.TextIOWrapper(screen, encoding=encoding), live=True)
    for progress in (
        None,
        BatchProgress(12.3, done=90_000, kept=10_000, failed=3, cycles=5 * 10**6, total=120_000),
        BatchProgress(12.3, done=90_000, graph="grid:9x10", share=0.129),
    ):
        display._next = 0.0
        display.show_batch(progress)
    said = screen.getvalue().decode(encoding).split("\r\x1b[K")[1:]
    bar = "▕████████████    ▏" if encoding == "utf-8" else "[############    ]"
    assert said == [
        "reading the graphs, preparing the device",
        f"12.3 s  {bar}  75%  90,000 of 120,000 graphs (6.5 k/s)  3 failed",
        "12.3 s  90,000 graphs (7.32 k/s)  grid:9x10 12%  0 cycles",
    ]


def test_help_has_examples():
    done = subprocess.run(command("batch", "--help"), capture_output=True, text=True, timeout=PATIENCE, env=ENVIRONMENT)
    assert "geng -q 8 | chordless batch -" in done.stdout
    assert "[[jobs]]" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    "command",
    [
        BatchCommand((BatchJob("a.g6", arch="cpu", limit=3), BatchJob("b c")), "out", crashes=((3, 9, "died"),)),
        BatchCommand((), "out", fail_fast=True),
    ],
)
def test_a_command_reads_back_as_it_was(command):
    assert command_from_json(command_to_json(command)) == command


@pytest.mark.parametrize(
    "event",
    [
        BatchStarted(77, "out.jsonl", None),
        BatchSearching(3, 9, "a.g6:4"),
        BatchProgress(1.5, 7, 2, 1, 0, 2**70, 9, "grid:7x10", 0.25),
        BatchFinished("interrupted", 7, 2, 1, 0, 2**70, 1.5),
    ],
)
def test_an_event_reads_back_as_it_was(event):
    assert event_from_json(event_to_json(event)) == event


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_what_is_no_table_of_a_batch_stays_as_it_is(suffix, tmp_path):
    path = tmp_path / f"other.{suffix}"
    path.write_text("a,b\n")
    done = chordless("batch", "petersen", "-o", path, "--resume")
    assert fails(done, 2, f"other.{suffix} is there and no table of a batch")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(path.name, "a,b\n")]


def test_a_table_that_cannot_be_made_leaves_nothing(tmp_path):
    with pytest.raises(OptionError, match="more than 63 bits"):
        write_table([{"total": 1 << 63}], str(tmp_path / "counts.parquet"), "parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_manifest_may_begin_with_a_byte_order_mark(tmp_path):
    from app.batch.manifest import read_manifest

    path = tmp_path / "jobs.toml"
    path.write_text('[[jobs]]\ngraph = "petersen"\n', encoding="utf-8-sig")
    assert [job.graph for job in read_manifest(str(path), BatchJob(""))] == ["petersen"]
