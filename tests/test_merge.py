"""The parts of one search: put together they are the whole; what does not belong together is refused by name."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
from chordless.cli import main
from chordless.cycles.write import RowOutput
from chordless.graphs.load import load_graph
from chordless.protocol.codec import event_to_json
from chordless.protocol.events import Finished, Started
from chordless.protocol.orders import RunCommand
from chordless.protocol.results import result_object, result_of_object
from chordless.runs.directory import created, graph_hash
from chordless.runs.merge import PartResult, check_parts, merged, read_result
from program import chordless, count
from test_export import checkpoint
from test_order import rows_of

from kernels_ti import OptionError
from kernels_ti.errors import CheckpointError
from kernels_ti.reference.algorithm import chordless_cycles

LOADED = load_graph("grid:4x5")
CYCLES = list(chordless_cycles(LOADED.graph))
_ASKED = {field.name for field in dataclasses.fields(RunCommand)} - {"arch"}


def part(number, parts=3, cycles=None, source=None, **more):
    """Make the result of a part that has found every third cycle."""
    found = CYCLES[number - 1 :: parts] if cycles is None else cycles
    lengths = {}
    for cycle in found:
        lengths[len(cycle)] = lengths.get(len(cycle), 0) + 1
    asked = {"part": (number, parts), **{key: more.pop(key) for key in _ASKED & more.keys()}}
    finished = Finished(**{
        "reason": "complete", "graph": "grid:4x5", "n": LOADED.graph.n, "m": LOADED.graph.m, "max_degree": 4,
        "cycles": len(found), "cycles_by_length": lengths, "paths": 10 * number, "frontier": 0,
        "frontier_by_length": {3: number}, "listed": 0, "device_bytes": 0, "arch": "cpu", "device": "a processor",
        "setup_seconds": 0.5, "enumerate_seconds": 1.0, "total_seconds": 1.75, "share": 1.0,
        "peak_memory_bytes": number,
        "write_seconds": 0.125, "graph_hash": graph_hash(LOADED.graph), "program": "1.2.3", **more,
    })  # fmt: skip
    return PartResult(source or f"{number}.json", RunCommand("grid:4x5", 0.0, **asked), finished)


def written(tmp_path, results):
    paths = []
    for i, result in enumerate(results):
        paths.append(tmp_path / f"{i + 1}.json")
        paths[-1].write_text(json.dumps(result_object(result.command, result.finished)))
    return list(map(str, paths))


@pytest.mark.slow
def test_a_finished_part_that_was_resumed_goes_with_the_others(tmp_path):
    """As where the jobs of a cluster are sent once more until all are done: the second job needs no device."""
    for number in (1, 2):
        folder, file = tmp_path / f"run-{number}", tmp_path / f"{number}.json"
        options = ("--part", f"{number}/2", "--arch", "cpu", "--checkpoint", folder, "--json")
        file.write_text(chordless("count", "grid:4x5", *options).stdout)
    (tmp_path / "1.json").write_text(chordless("resume", tmp_path / "run-1", "--json").stdout)
    done = chordless("merge", tmp_path / "1.json", tmp_path / "2.json", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["total"] == len(CYCLES)


@pytest.mark.parametrize("below", ["taichi 1.7.4", "quadrants 1.4.0"])
def test_parts_of_one_version_may_have_been_searched_by_another_library(below):
    check_parts([part(1, parts=2), part(2, parts=2, program=f"1.2.3 ({below})")])


def test_the_parts_make_the_whole(tmp_path, capsys):
    paths = written(tmp_path, [part(number) for number in (1, 2, 3)])
    assert main(["merge", *paths, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    lengths = sorted({len(cycle) for cycle in CYCLES})
    assert result["by_length"] == {str(length): sum(len(cycle) == length for cycle in CYCLES) for length in lengths}
    assert (result["total"], result["paths"], result["part"], result["complete"]) == (len(CYCLES), 60, None, True)
    assert result["frontier"]["by_length"] == {"3": 6}
    assert result["seconds"] == {"setup": 1.5, "enumerate": 3.0, "write": 0.375, "other": 0.375, "total": 5.25}
    assert result["peak_memory_bytes"] == 3
    assert main(["merge", *reversed(paths)]) == 0
    assert f"total  {len(CYCLES):>14,}".split() == [
        words for line in capsys.readouterr().out.splitlines() if "total" in line for words in line.split()
    ]


def test_counts_for_each_vertex_add_up(tmp_path):
    def counted(cycles):
        return {"vertices": [{"name": "a", "cycles": cycles, "by_length": {4: cycles}}]}

    parts = [part(i, participation=counted(i), per_vertex=True) for i in (1, 2, 3)]
    read = [read_result(path) for path in written(tmp_path, parts)]
    assert merged(read)[1].participation == counted(6)


def test_a_result_reads_back_as_it_was():
    for result in (
        part(2, through=("0", "a,b"), max_length=9, parity="odd"),
        part(1, 1, min_length=5, expansion="paper"),
    ):
        values = json.loads(json.dumps(result_object(result.command, result.finished)))
        assert json.loads(json.dumps(result_object(*result_of_object(values)))) == values


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ([part(1), part(3)], ["part 2 of 3 is missing"]),
        ([part(3)], ["parts 1 and 2 of 3 are missing"]),
        ([part(1), part(2), part(1, source="b.json"), part(3)], ["part 1 of 3 is given twice: 1.json and b.json"]),
        ([part(1), part(2, 4)], ["2.json and 1.json", "the number of parts is 4 in the one and 3 in the other"]),
        ([part(1), part(2, max_length=8)], ["2.json and 1.json", "--max-length is 8 in the one and not given"]),
        ([part(1), part(2, min_length=4)], ["--min-length is 4 in the one and 3 in the other"]),
        ([part(1), part(2, parity="odd")], ["--odd or --even is odd in the one and not given in the other"]),
        ([part(1), part(2, avoid=("7",))], ["--avoid is 7 in the one and not given in the other"]),
        ([part(1), part(2, through_edges=("1-2",))], ["--through-edge is 1-2 in the one"]),
        ([part(1), part(2, expansion="paper")], ["--expansion is paper in the one and two-ended"]),
        ([part(1), part(2, per_vertex=True)], ["--per-vertex is given in the one and not given in the other"]),
        ([part(1), part(2, program="1.2.4")], ["the version of chordless is 1.2.4 in the one and 1.2.3"]),
        ([part(1), part(2, graph_hash="other", n=99)], ["2.json and 1.json are parts of different graphs", "n=99"]),
        ([part(1, expansion="paper"), part(2, expansion="paper", arch="cuda")], ["--arch is cuda in the one and cpu"]),
        ([part(1), part(2, reason="timeout"), part(3)], ["2.json is not complete: part 2 of 3 was ended early"]),
        ([part(1), part(2, cycles_by_length={4: 1}), part(3)], ["2.json was changed", "the total is", "to 1"]),
        ([part(1), part(2, cycles=[], cycles_by_length={4: -1, 5: 1})], ["a count by length is negative"]),
        ([part(1), part(5), part(2), part(3)], ["5.json says that it is part 5 of 3, which is none"]),
        ([part(1, 10**15)], ["999,999,999,999,999 of 1,000,000,000,000,000 parts are missing"]),
        ([part(1), part(2, boundary={"width": 1}), part(3)], ["2.json", "this was counted along a boundary"]),
        ([part(1, part=None)], ["1.json is not a part of a search", "--part I/N"]),
    ],
)
def test_what_does_not_belong_together_is_refused_by_name(results, words):
    with pytest.raises(OptionError) as refused:
        check_parts(results)
    for word in words:
        assert word in str(refused.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "no result: a part is a file of `chordless count --json`"),
        ("[1]", "not a whole result"),
        ('{"graph": "g", "part": [1, 2], "by_length": {}}', "a result of version 0.4.0"),
        ('{"graph": "g", "probes": 5, "by_length": {}}', "not a whole result"),
        ('{"graph": "g", "orbits": 5, "by_length": {}, "seconds": 0.1}', "not a whole result"),
        (
            '{"graph": "g", "start": 0, "end": 3, "by_length": {}}',
            "a result of `chordless paths`, whose parts are run directories",
        ),
        ('{"graph_hash": "h"}', "not a whole result of `chordless count --json`: it has no 'seconds'"),
        (None, "cannot be read: No such file"),
    ],
)
def test_what_is_no_result_is_one_line(tmp_path, content, words):
    path = tmp_path / "a.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(OptionError, match=words):
        read_result(path)
    with pytest.raises(CheckpointError, match="there is no run in"):
        read_result(tmp_path)


@pytest.mark.parametrize(
    ("edited", "words"),
    [
        ({"proof": 5}, "not a whole result of `chordless count --json`: proof is 5"),
        ({"proof": None}, "changed or damaged: its proof is not a number of 64 hexadecimal digits"),
        ({"proof": "5"}, "changed or damaged: its proof is not a number of 64 hexadecimal digits"),
        ({"total": 1}, "changed or damaged: the total is 1, but the counts by length add up to 29"),
        ({"total": float("inf")}, "its values are of other kinds"),
        ({"total": 29.0}, "its values are of other kinds"),
        ({"by_length": {"4": True}}, "its values are of other kinds"),
        ({"by_length": None}, "while this was counted along a boundary"),
        ({"part": [1]}, "its values are of other kinds"),
        ({"program": 5}, "program is 5"),
        ({"vertices": [{"name": "a"}]}, "it has no 'cycles'"),
        ({"vertices": [{"name": "a", "cycles": 3, "by_length": {"4": 2}}]}, "the cycles through a are 3, but not"),
    ],
    ids=str,
)
def test_an_edited_part_is_refused_in_one_line(tmp_path, capsys, edited, words):
    paths = written(tmp_path, [part(number, parts=2) for number in (1, 2)])
    first = Path(paths[0])
    first.write_text(json.dumps(json.loads(first.read_text()) | edited))
    assert main(["merge", *paths]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert words in said.err


def test_parts_that_count_different_vertices_are_refused():
    def counted(name):
        return {"vertices": [{"name": name, "cycles": 1, "by_length": {4: 1}}]}

    with pytest.raises(OptionError, match=r"count the cycles through different vertices"):
        check_parts([part(1, 2, participation=counted("a")), part(2, 2, participation=counted("b"))])


@pytest.fixture
def folders(tmp_path):
    """Make the run directories of a listing in three parts."""
    paths = []
    for number in (1, 2, 3):
        path = tmp_path / f"part-{number}"
        found = CYCLES[number - 1 :: 3]
        asked = RunCommand("grid:4x5", 0.0, output=str(path), output_format="parts", part=(number, 3))
        with created(path, asked, LOADED) as directory:
            output = RowOutput.to_folder(path / "cycles", LOADED.graph.n)
            output.write(rows_of(found, LOADED.graph.n), lambda: False)
            checkpoint(directory, output.position(), finished=True)
            output.close()
            # As version 0.4.0 has recorded it; run.json knows the graph and the program.
            end = dataclasses.replace(part(number).finished, graph_hash=None, program=None, listed=len(found))
            start = Started("grid:4x5", end.n, end.m, 4, "cpu", "a processor", 0.5, 1, {}, directory=str(path))
            directory.events.write_text("".join(event_to_json(event, time=7.0) + "\n" for event in (start, end)))
        paths.append(str(path))
    return paths


def test_the_cycles_of_all_parts_are_exported_together(tmp_path, folders, capsys):
    output = tmp_path / "all.txt"
    assert main(["export", *reversed(folders), "-o", str(output)]) == 0
    expected = [cycle for number in range(3) for cycle in CYCLES[number::3]]
    assert output.read_text().splitlines() == [
        " ".join(str(LOADED.graph.names[v]) for v in cycle) for cycle in expected
    ]
    assert main(["merge", *folders, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == len(CYCLES)
    assert main(["export", folders[0], folders[2], "-o", str(output)]) == 2
    assert "part 2 of 3 is missing" in capsys.readouterr().err
    assert main(["export", folders[0], str(output), "-o", str(tmp_path / "no.txt")]) == 2


@pytest.mark.parametrize("command", ["merge", "export"])
def test_a_copy_of_a_part_that_calls_itself_another_is_refused(tmp_path, folders, capsys, command):
    shutil.rmtree(folders[1])
    shutil.copytree(folders[0], folders[1])
    edited = Path(folders[1], "run.json")
    values = json.loads(edited.read_text())
    values["command"]["part"] = [2, 3]
    edited.write_text(json.dumps(values))
    assert main([command, *folders]) == CheckpointError.exit_code
    told = "belongs to a run with other options: part is [1, 3] there and [2, 3] in run.json"
    assert told in capsys.readouterr().err


def test_a_report_of_all_parts(tmp_path, folders, capsys):
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    assert main(["report", *folders, "-o", str(page)]) == 0
    assert f"{len(CYCLES):,}" in page.read_text()
    assert "--part" not in page.read_text()
    assert ", begun 1970-01-01 00:00 UTC" in page.read_text()  # as the fixture records it
    assert main(["report", *folders[:2], "-o", str(page)]) == 2
    assert "part 3 of 3 is missing" in capsys.readouterr().err


def test_a_report_of_parts_without_a_date_tells_none(tmp_path):
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    parts = written(tmp_path, [part(number) for number in (1, 2, 3)])
    assert main(["report", *parts, "-o", str(page)]) == 0
    assert "a run of chordless" in page.read_text()
    assert "begun" not in page.read_text().split("</p>")[0]


@pytest.mark.slow
def test_a_search_in_parts_is_merged_to_the_whole(tmp_path):
    paths = [tmp_path / "1.json", tmp_path / "2"]
    first = chordless("count", "grid:5x6", "--arch", "cpu", "--part", "1/2", "--json")
    paths[0].write_text(first.stdout)
    assert chordless("count", "grid:5x6", "--arch", "cpu", "--part", "2/2", "--checkpoint", paths[1]).returncode == 0
    done = chordless("merge", *paths, "--json")
    assert done.returncode == 0, done.stderr
    whole, _ = count("grid:5x6", "--arch", "cpu")
    result = json.loads(done.stdout)
    for field in ("graph", "n", "m", "by_length", "total", "triangles", "graph_hash", "program", "part"):
        assert result[field] == whole[field], field
