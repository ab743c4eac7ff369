"""Tables of a batch: columns for each length, text that no spreadsheet takes for a formula, names of any bytes."""

from __future__ import annotations

import csv
import io
import json
import os

import pytest
from batches import lines_in
from chordless.batch.output import FIELDS
from chordless.batch.tables import cell_of_text, lines_of_table, text_of_cell, write_csv, write_table
from chordless.cli import main
from chordless.files import is_leftover
from program import REFERENCE, chordless


def line_of(graph, by_length=None, **more):
    counts = {} if by_length is None else {"by_length": by_length, "total": sum(by_length.values()), "min_length": 3}
    return {**dict.fromkeys(FIELDS), "graph": graph, "status": "complete", "hash": "abc", **counts, **more}


LINES = [
    line_of("=1+1", {"3": 2, "6": 1}, name="@name"),
    line_of("-x", {}, min_length=4, max_length=5),
    line_of("bad", status="error", error="+ what"),
    line_of("wide", {"4": 3, "5": 10**37}),
    line_of("caf\udce9.txt", {"4": 10**15}, name="'=quoted"),
]


def written(lines, path):
    write_table(lambda: iter(lines), str(path), path.suffix[1:])
    return list(lines_of_table(str(path), path.suffix[1:]))


def rows_of(lines):
    stream = io.StringIO()
    write_csv(lambda: iter(lines), stream)
    return list(csv.DictReader(io.StringIO(stream.getvalue())))


@pytest.mark.parametrize("option", ["-o", "--cycles"])
def test_an_output_that_cannot_be_written_is_named_as_it_was_asked_for(tmp_path, option):
    (tmp_path / "file").touch()
    output = tmp_path / "file" / "x.csv"
    ended = chordless("batch", "petersen", option, output, *REFERENCE)
    assert (ended.returncode, ended.stderr) == (1, f"chordless: error: cannot write {output}: Not a directory\n")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_reads_back_as_the_lines(tmp_path, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    assert written(LINES, tmp_path / f"table.{suffix}") == LINES


def test_counts_of_any_size_are_numbers_where_a_table_has_such_numbers(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    lines = [
        line_of("small", {"4": 1, "5": 1, "6": 1}),
        line_of("63 bits", {"4": (1 << 63) - 1}),
        line_of("64 bits", {"5": 1 << 63}),
        line_of("39 digits", {"6": 10**38}),
    ]
    assert written(lines, tmp_path / "counts.parquet") == lines
    schema = parquet.read_schema(tmp_path / "counts.parquet")
    types = [str(schema.field(name).type) for name in ("c4", "c5", "c6", "total")]
    assert types == ["int64", "decimal128(38, 0)", "string", "string"]


def test_each_length_has_a_column():
    first, second, bad, _, last = rows_of(LINES)
    assert [name for name in first if name.startswith("c") and name[1:].isdigit()] == ["c3", "c4", "c5", "c6"]
    assert "by_length" not in first
    assert [[row[f"c{length}"] for length in range(3, 7)] for row in (first, second, bad, last)] == [
        ["2", "0", "0", "1"],
        ["", "0", "0", ""],  # what was not asked for is not counted
        ["", "", "", ""],
        ["0", "1000000000000000", "0", "0"],
    ]
    # One long cycle makes no endless table.
    columns = rows_of([line_of("long", {"3": 1, "70000": 1})])[0]
    assert {"c3", "c1000", "c70000"} <= columns.keys()
    assert len(columns) < 1100


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "'=x", "''-x", "x", "'x", "1-2", ""])
def test_a_cell_is_no_formula_and_its_text_comes_back(text):
    cell = cell_of_text(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert text_of_cell(cell) == text
    assert (cell == text) == (text in ("x", "'x", "1-2", ""))


def test_numbers_stay_numbers():
    row = rows_of([line_of("g", {"3": 1}, share=-0.5)])[0]
    assert (row["share"], row["c3"]) == ("-0.5", "1")


def test_the_tables_of_version_0_4_0_are_read(tmp_path):
    path = tmp_path / "old.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(FIELDS)
        by_kind = {"g": {"3": 2}, "h": {}}
        for graph, by_length in by_kind.items():
            values = {**line_of(graph, by_length), "by_length": json.dumps(by_length)}
            writer.writerow(["" if values[field] is None else values[field] for field in FIELDS])
    assert [line["by_length"] for line in lines_of_table(str(path), "csv")] == [{"3": 2}, {}]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_file_names_that_are_no_utf_8(tmp_path, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    good, bad = (os.path.join(os.fsencode(tmp_path), name) for name in (b"caf\xe9.txt", b"b\xe4d.txt"))
    for path, text in ((good, "0 1\n1 2\n2 0\n"), (bad, "0 1 2 3 four\n")):
        with open(path, "w") as stream:
            stream.write(text)
    output = tmp_path / f"out.{suffix}"
    arguments = ["batch", os.fsdecode(good), os.fsdecode(bad), "-o", str(output), *REFERENCE]
    done = chordless(*arguments)
    assert done.returncode == 5
    assert "2 graphs" in done.stderr
    assert "internal" not in done.stderr
    lines = lines_in(output) if suffix == "jsonl" else list(lines_of_table(str(output), suffix))
    assert [(line["graph"], line["total"]) for line in lines] == [(os.fsdecode(good), 1), (os.fsdecode(bad), None)]
    if suffix == "csv":
        assert "caf\\xe9.txt" in output.read_text()
    assert "2 done before" in chordless(*arguments, "--resume").stderr


def test_what_a_killed_process_left_beside_a_table_goes(tmp_path):
    (tmp_path / ".table.csv.0123456789abcdef.new").touch()
    (tmp_path / ".other.csv.0123456789abcdef.new").touch()
    left = [name for name in os.listdir(tmp_path) if is_leftover(name, "table.csv")]
    assert len(left) == 1
    written(LINES, tmp_path / "table.csv")
    assert left[0] not in os.listdir(tmp_path)
    assert len(os.listdir(tmp_path)) == 2


@pytest.mark.parametrize("more", [["--format", "csv"], ["--format", "parquet"], ["--bfile", "total"]])
@pytest.mark.parametrize("resume", [[], ["--resume"]])
def test_a_table_takes_the_place_of_no_link(tmp_path, capsys, more, resume):
    target, link = tmp_path / "target", tmp_path / "stdout.txt"
    target.write_text("my diary\n")
    link.symlink_to(target)
    assert main(["batch", "petersen", "-o", str(link), *more, *resume, *REFERENCE]) == 2
    assert f"{link} is no regular file: a table replaces one, and -o - is standard output" in capsys.readouterr().err
    assert (link.is_symlink(), target.read_text()) == (True, "my diary\n")
    assert sorted(tmp_path.iterdir()) == [link, target]
