"""``chordless batch`` on a real engine: lines, order, errors, formats."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest
from batches import ATLAS, batch_in_process, expected, graph6, lines_in
from chordless.batch.entries import Entry, TogetherLines
from chordless.batch.inputs import Chunk, read_job
from chordless.batch.jobs import expand
from chordless.batch.output import FIELDS, read_lines
from chordless.cli import main
from chordless.commands.terminal import BatchDisplay
from chordless.graphs.load import load_graph
from chordless.graphs.readers.incoming import Limits
from chordless.protocol.codec import command_from_json, command_to_json, event_from_json, event_to_json
from chordless.protocol.events import BatchFinished, BatchProgress, BatchSearching, BatchStarted
from chordless.protocol.orders import BatchCommand, BatchJob
from oracles import nauty
from patience import PATIENCE
from program import COUNT_KEYS, ENVIRONMENT, REFERENCE, chordless, command, fails, refused


@pytest.mark.slow
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
    # These are for the merging of parts, which a batch has none of.
    assert set(COUNT_KEYS) - {"expansion", "graph_hash", "program"} < set(FIELDS)
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


def graphs_read(path, **options):
    """Return title, direction and number of edges, and error of each graph that a batch reads from a file."""
    found = []
    for chunk in read_job(BatchJob(str(path), **options), Limits()):
        readable = iter(range(len(chunk.titles)))
        for i, title in enumerate(chunk.titles):
            error = chunk.errors.get(i)
            graph = None if error is not None else chunk.graph(next(readable)).graph
            found.append((title.removeprefix(f"{path.parent}/"), graph and (graph.directed, graph.m), error))
    return found


def test_a_file_of_many_graphs_may_have_directed_ones_and_multigraphs(tmp_path):
    path = tmp_path / "all.g6"
    doubled = nx.to_sparse6_bytes(nx.MultiGraph([(0, 1), (0, 1), (1, 2)]), header=False).strip()
    ring, arcs = nx.to_graph6_bytes(nx.cycle_graph(4), header=False).strip(), b"&BP_"  # 0 -> 1 -> 2 -> 0
    path.write_bytes(b"\n".join([ring, b"D", arcs, doubled, ring, b"&B?"]) + b"\n")
    one, three, four, five = (f"all.g6:{i}" for i in (1, 3, 4, 5))
    read = graphs_read(path)
    assert [title for title, _, _ in read] == [f"all.g6:{i}" for i in range(1, 7)]
    assert [graph for _, graph, _ in read] == [(False, 4), None, (True, 3), None, (False, 4), None]
    assert "the edge 0 - 1 is there more than once" in read[3][2]
    assert "all.g6:6: not a readable digraph6 file: 3 vertices take 2 characters" in read[5][2]
    by_title = {title: graph for title, graph, _ in graphs_read(path, multigraph=True)}
    assert (by_title[one], by_title[three], by_title[four]) == ((False, 4), (True, 3), (False, 3))
    by_title = {title: graph for title, graph, _ in graphs_read(path, simplify=True)}
    assert (by_title[three], by_title[four], by_title[five]) == ((False, 3), (False, 2), (False, 4))
    path.write_bytes(arcs)
    assert graphs_read(path) == [("all.g6", (True, 3), None)]
    assert "says itself whether it is directed" in graphs_read(path, directed=True)[0][2]


@pytest.mark.slow
def test_a_batch_takes_graphs_as_directed_or_drops_directions(tmp_path):
    path, output = tmp_path / "arcs.txt", tmp_path / "out.jsonl"
    path.write_text("1 2\n2 3\n3 1\n3 4\n4 3\n4 4\n")
    for options, found in (
        (["--multigraph", "--min-length", "1"], {"1": 1, "3": 1}),
        (["--directed", "--min-length", "2"], {"3": 1}),
        (["--underlying", "--min-length", "1", "--limit", "9"], {"3": 1}),
    ):
        output.unlink(missing_ok=True)
        assert main(["batch", str(path), *options, "--progress", "none", "-o", str(output)]) == 0
        assert [line["by_length"] for line in lines_in(output)] == [found]


@pytest.mark.parametrize(("min_length", "triangles", "others"), [(3, 2, 7), (4, None, 7)])
def test_a_line_has_triangles_only_where_they_were_asked_for(min_length, triangles, others):
    job = BatchJob("g", min_length=min_length, multigraph=True)
    entry = Entry(0, "g", None, "key", None, Chunk(job, ["g"], [None]), 0)
    counts = [0, 0, 0, triangles or 0, 7]
    line = json.loads(TogetherLines(job, "cpu", "a device").line(entry, 9, 9, 4, counts))
    assert (line["triangles"], line["chordless_cycles"]) == (triangles, others)
    assert list(line) == list(FIELDS)
    assert line["reading"] == "multigraph"


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_a_folder_that_cannot_be_read_is_not_called_empty(tmp_path, monkeypatch, capsys):
    (tmp_path / "graph.txt").write_text("1 2\n")
    monkeypatch.setattr(os, "scandir", refused)
    assert main(["batch", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"chordless: error: {tmp_path}: this folder cannot be read: Permission denied\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing*.g6"], ["nothing*.g6: no file matches this pattern"]),
        (["petersen", "petersen"], ["petersen is given twice"]),
        (["-", "cycle:4", "-"], ["standard input is given twice"]),
        (["missing.txt"], ["missing.txt: no such file"]),
        (["petersen", "--directed", "--underlying"], ["petersen", "have no directions: leave directed out"]),
        (["petersen", "--multigraph", "--underlying"], ["petersen", "has no repeated edges: leave multigraph out"]),
        (["empty"], ["empty: there is no file in this folder"]),
        (
            ["pipe"],
            ["pipe is a pipe, which cannot be read twice, as a batch may have to: give a file, or one graph file"],
        ),
        (["petersen", "--graph-format", "cbor"], ["there is no file format 'cbor'; the formats are edgelist,"]),
        (["--manifest", "missing.toml"], ["missing.toml: cannot be read: No such file or directory"]),
    ],
)
def test_inputs_that_are_not_there(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    os.mkdir("empty")
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


def test_each_kind_of_note_of_the_readers_is_one_line_at_the_end(tmp_path, capsys):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text(f"from to cost\n1 2 .5\n2 {name} 1\n")
    (tmp_path / "d.txt").write_text("source target\n1 2\n")
    arguments = ["batch", f"{tmp_path}/*.txt", "-o", str(tmp_path / "out.jsonl"), "--arch", "cpu"]
    assert main([*arguments, "--progress", "none"]) == 0
    assert capsys.readouterr().err.splitlines()[1:] == [
        f"{tmp_path}/a.txt:1: taken for a heading, not for an edge: 'from to cost' (and so in 3 other graphs)",
        f"{tmp_path}/a.txt: the third column, weights, is not used: every line is an edge (and so in 2 other graphs)",
    ]
    assert main([*arguments, "--resume", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


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
    assert f"cannot make the folder {tmp_path / 'file'} for the cycles: there is a file" in capsys.readouterr().err
    assert main(["batch", "grid:3x3", "-o", str(tmp_path / "a.jsonl"), "--threads", "99999"]) == 2
    assert "99,999 threads are too many" in capsys.readouterr().err
    assert not (tmp_path / "a.jsonl").exists()


def test_the_client_loads_no_taichi(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("1 2\n2 3\n3 1\n")
    code = (
        "import sys; from chordless.cli import main; "
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
        display.show_batch(progress)
        display.draw()
    said = screen.getvalue().decode(encoding).split("\r\x1b[K")[1:]
    bar = "▕████████████    ▏" if encoding == "utf-8" else "[############    ]"
    assert said == [
        "reading the graphs, preparing the search",
        f"12.3 s  {bar}  75%  90,000 of 120,000 graphs (6.5 k/s)  3 failed",
        "12.3 s  90,000 graphs (7.32 k/s)  grid:9x10 12%  0 cycles",
    ]


def test_directed_graphs_are_searched_one_by_one_among_others(tmp_path):
    cycle = "1 -> 2\n2 -> 3\n3 -> 4\n4 -> 1\n"
    files = {"around": cycle, "across": cycle.replace("4 -> 1", "1 -> 4"), "plain": cycle.replace("->", "")}
    for name, text in files.items():
        (tmp_path / f"{name}.txt").write_text(text)
    done = chordless("batch", *(tmp_path / f"{name}.txt" for name in files), "-o", tmp_path / "out.jsonl")
    assert done.returncode == 0, done.stderr
    lines = lines_in(tmp_path / "out.jsonl")
    assert [line["by_length"] for line in lines] == [{"4": 1}, {}, {"4": 1}]
    assert len({line["hash"] for line in lines}) == 3


@pytest.mark.parametrize("more", [[], ["--limit", "9"], ["--cycles", "cycles"], ["--method", "boundary"]])
def test_a_simple_graph_has_no_cycle_of_two_vertices(more, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ["petersen", "grid:3x3", "--min-length", "1", "--max-length", "2", *more]
    assert main(["batch", *asked, "--arch", "cpu", "-o", "lines.jsonl", "-q"]) == 0
    for line in lines_in(tmp_path / "lines.jsonl"):
        assert (line["status"], line["total"], line["min_length"], line["max_length"]) == ("complete", 0, 1, 2)


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
        BatchFinished("interrupted", 7, 2, 1, 0, 2**70, 1.5, notes=["a.txt: weights"]),
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


def test_a_table_that_cannot_be_made_leaves_nothing_and_says_where_the_lines_are(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("chordless.batch.tables.write_csv_rows", full)
        assert main(["batch", "petersen", "cycle:5", "-o", "counts.csv"]) == 1
    assert (
        "cannot write counts.csv: No space left on device; nothing is lost: the lines are in counts.csv.jsonl, and the "
        "same command with --resume makes the output of them"
    ) in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["counts.csv.jsonl"]
    assert main(["batch", "petersen", "cycle:5", "-o", "counts.csv", "--resume"]) == 0
    assert "2 done before" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["counts.csv"]


def test_a_folder_stands_for_its_files(tmp_path):
    folder = tmp_path / "el[1]"
    (folder / "below").mkdir(parents=True)
    for name, edges in (("b.txt", "1 2\n2 3\n3 1\n"), ("a.txt", "1 2\n")):
        (folder / name).write_text(edges)
    done = chordless("batch", "el[1]/", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [(line["graph"], line["total"]) for line in map(json.loads, done.stdout.splitlines())] == [
        ("el[1]/a.txt", 0),
        ("el[1]/b.txt", 1),
    ]


def test_the_types_of_a_food_web_are_no_graph_of_its_folder(tmp_path):
    for name in ("NARR.NET", "narr.clu", "alone.clu", "b.net"):
        (tmp_path / name).write_text("")
    assert [os.path.basename(path) for path in expand(str(tmp_path))] == ["NARR.NET", "alone.clu", "b.net"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "search", "boundary"])
def test_each_method_counts_the_same(tmp_path, method):
    out = tmp_path / "out.jsonl"
    done = chordless("batch", "grid:5x8", "petersen", "cycle:9", "-o", out, "--method", method)
    assert done.returncode == 0
    lines = read_lines(out)
    expected_method = "boundary" if method == "boundary" else "search"
    assert [(line["graph"], line["total"], line["method"]) for line in lines] == [
        ("grid:5x8", 6188, expected_method), ("petersen", 22, expected_method), ("cycle:9", 1, expected_method),
    ]  # fmt: skip


def test_a_graph_that_is_too_large_for_a_search_is_counted_along_a_boundary(tmp_path):
    out = tmp_path / "out.jsonl"
    assert chordless("batch", "grid:10x10", "-o", out).returncode == 0
    (line,) = read_lines(out)
    assert (line["total"], line["method"], line["boundary"]["width"]) == (7234839185, "boundary", 11)


def test_what_only_a_search_does_is_refused_along_a_boundary(tmp_path):
    for options in (("--cycles", tmp_path / "cycles"), ("--limit", "3"), ("--arch", "reference")):
        done = chordless("batch", "petersen", "--method", "boundary", *options)
        assert fails(
            done, 2, "petersen: a listing, a limit and the arches vulkan and reference are for the method search"
        )


@pytest.mark.slow
@pytest.mark.parametrize("content", ["", "\n", ">>graph6<<"])
def test_a_filter_that_lets_nothing_through_leaves_no_graphs(tmp_path, content):
    path, output = tmp_path / "none.g6", tmp_path / "out.csv"
    path.write_text(content)
    from_stream = chordless("batch", "-", *REFERENCE, input=content)
    from_file = chordless("batch", path, "-o", output, *REFERENCE)
    assert (from_stream.returncode, from_stream.stdout, from_file.returncode) == (0, "", 0)
    assert from_stream.stderr.endswith("stdin: no graph in it\n")
    assert from_file.stderr.endswith(f"{path}: no graph in it\n")
    assert output.read_text().count("\n") == 1  # the heading


def test_an_empty_file_of_a_format_with_one_graph_is_a_bad_graph(tmp_path):
    (tmp_path / "none.txt").touch()
    assert chordless("batch", tmp_path / "none.txt", *REFERENCE).returncode == 5


def test_the_plan_has_a_row_for_each_input_whatever_its_name(tmp_path):
    (tmp_path / "two\nlines.g6").write_text("Bw\nBw\n")
    (tmp_path / "none.g6").touch()
    planned = chordless("batch", tmp_path, "--dry-run")
    assert [row.split("  ", 1)[1].split() for row in planned.stdout.splitlines()] == [
        ["0", "graphs", "count"],
        ["2", "graphs", "count"],
    ]


def test_graphs_that_are_counted_together_keep_to_the_limit_of_memory():
    done = chordless("batch", "grid:4x4", "grid:4x5", "--arch", "cpu", "--memory", "64M")
    assert done.returncode == 5, done.stderr
    for line in map(json.loads, done.stdout.splitlines()):
        assert line["status"] == "error"
        assert "--memory 64.0 MiB is too small" in line["error"]
