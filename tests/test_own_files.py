"""Files that must not be lost: the graph itself, and what somebody has put in the place of a run's output."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from chordless.cli import main
from program import chordless, fails

RING = "1 2\n2 3\n3 4\n4 1\n"


@pytest.mark.parametrize(
    "words",
    [
        ("count", "g.txt", "--events", "g.txt"),
        ("list", "g.txt", "-o", "g.txt"),
        ("list", "g.txt", "-o", "hard.txt"),
        ("sample", "g.txt", "-k", "1", "-o", "g.txt"),
        ("longest", "g.txt", "--write-order", "g.txt"),
    ],
    ids=lambda words: f"{words[0]} {words[-2]} {words[-1]}",
)
def test_the_file_of_the_graph_is_no_output(tmp_path, words):
    graph = tmp_path / "g.txt"
    graph.write_text(RING)
    os.link(graph, tmp_path / "hard.txt")
    named = [tmp_path / word if word.endswith(".txt") else word for word in words]
    assert fails(chordless(*named), 2, "this is the file of the graph, which would be lost; name another file")
    assert graph.read_text() == RING


def test_the_file_behind_standard_input_is_no_output(tmp_path):
    graph = tmp_path / "g.txt"
    graph.write_text(RING)
    with graph.open() as redirected:
        done = chordless("list", "-", "-o", graph, stdin=redirected)
    assert fails(done, 2, "this is the file of the graph, which would be lost; name another file")
    assert graph.read_text() == RING


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("list g.txt -o S/checkpoint --checkpoint S", "-o S/checkpoint: this lies in the folder of the run, S"),
        ("list g.txt -o S --checkpoint S", "-o S: this lies in the folder of the run, S"),
        ("count g.txt --checkpoint S --events S/e.jsonl", "--events S/e.jsonl: this lies in the folder of the run, S"),
        ("list g.txt -o S/ --events S/events.jsonl", "--events S/events.jsonl: this lies in the folder of the run, S/"),
        ("list g.txt -o a.txt --events ./a.txt", "-o a.txt and --events ./a.txt: this is one file"),
        ("sample g.txt -k 1 -o a.txt --write-order a.txt", "a.txt: this is one file; name another for one of them"),
        (
            "longest g.txt --write-order a.txt --events link.txt",
            "a.txt and --events link.txt: this is one file",
        ),
        ("longest g.txt --weight w.txt --events w.txt", "--events w.txt: this is the file of --weight, which would be"),
        ("longest g.txt --order o.txt --write-order o.txt", "o.txt: this is the file of --order, which would be"),
        ("paths g.txt 1 3 -o g.txt", "-o g.txt: this is the file of the graph, which would be lost"),
        ("overlap w.net -o w.net", "-o w.net: this is the file of the food web, which would be lost"),
        ("batch g.txt -o a.jsonl --events a.jsonl", "-o a.jsonl and --events a.jsonl: this is one file"),
        ("batch g.txt -o a.csv --events a.csv.jsonl", "a.csv.jsonl and --events a.csv.jsonl: this is one file"),
        ("batch g.txt -o a.jsonl --events g.txt", "--events g.txt: this is the file of the graph, which would be lost"),
        ("batch --manifest m.toml -o a.jsonl --events m.toml", "--events m.toml: this is the manifest, which would be"),
        (
            "export run -o run/events.jsonl",
            "-o run/events.jsonl: this is a file of the run in",
        ),
        ("export run -o g.txt", "-o g.txt: this is the file of the graph, which would be lost"),
        ("batch g.txt --bfile total -o g.txt --resume", "g.txt is there already: write to another file"),
        ("list g.txt -o run/checkpoint", "-o run/checkpoint: this is a file of the run in"),
        ("resume run --events run/checkpoint", "--events run/checkpoint: this is a file of the run in"),
    ],
)
def test_outputs_are_files_of_their_own(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    files = {
        "g.txt": RING,
        "w.txt": "1 1\n",
        "o.txt": "1\n",
        "w.net": "*Vertices 1\n",
        "m.toml": '[[jobs]]\ngraph = "g.txt"\n',
    }
    for name, content in files.items():
        Path(name).write_text(content)
    os.symlink("a.txt", "link.txt")
    if " run" in words:
        assert main(["list", "g.txt", "-o", "run/", "-q"]) == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert main(words.split()) == 2
    written = capsys.readouterr()
    assert (written.out, written.err.count("\n")) == ("", 1)
    assert said in written.err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("named", [["cycles.txt", "--graph", "net.geojson"], ["run", "--longest"]])
def test_a_map_does_not_replace_the_streets_that_it_shows(tmp_path, monkeypatch, capsys, named):
    monkeypatch.chdir(tmp_path)
    corners = [[0, 0], [0, 1], [1, 1], [1, 0]]
    features = [
        {
            "type": "Feature",
            "properties": {},
            "geometry": {"type": "LineString", "coordinates": [corners[i - 1], corners[i]]},
        }
        for i in range(4)
    ]
    before = json.dumps({"type": "FeatureCollection", "features": features})
    Path("net.geojson").write_text(before)
    for output in ("cycles.txt", "run/"):
        assert main(["list", "net.geojson", "-o", output, "-q"]) == 0
    assert main(["plot", *named, "-o", "./net.geojson"]) == 2
    assert "this is the file of the graph, which would be lost" in capsys.readouterr().err
    assert Path("net.geojson").read_text() == before
    assert main(["plot", *named, "-o", "map.geojson"]) == 0


def test_a_device_takes_several_outputs(tmp_path):
    assert chordless("longest", "grid:3x3", "--write-order", os.devnull, "--events", os.devnull).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["s.txt", "s.jsonl", "s.npy"])
def test_a_sample_that_goes_on_leaves_the_files_of_others_alone(tmp_path, name):
    path, run = tmp_path / name, tmp_path / "run"
    assert chordless("sample", "grid:5x5", "-k", "20", "-o", path, "--checkpoint", run).returncode == 0
    drawn = path.read_bytes()
    path.unlink()
    assert chordless("resume", run).returncode == 0
    assert path.read_bytes() == drawn
    assert chordless("resume", run).returncode == 0
    assert path.read_bytes() == drawn
    for foreign in (b"precious\n", np.arange(3).tobytes()):
        path.write_bytes(foreign)
        assert fails(chordless("resume", run), 2, "it is not the file that the run wrote, so it is left as it is")
        assert path.read_bytes() == foreign


@pytest.mark.slow
def test_bit_rows_of_a_finished_listing_are_looked_at_again(tmp_path):
    path, run = tmp_path / "c.npy", tmp_path / "run"
    assert chordless("list", "grid:4x4", "-o", path, "--checkpoint", run).returncode == 0
    whole = path.read_bytes()
    assert chordless("resume", run).returncode == 0
    assert path.read_bytes() == whole
    path.write_bytes(b"precious\n")
    assert fails(chordless("resume", run), 2, "it is not the file that the run wrote, so it is left as it is")
    assert path.read_bytes() == b"precious\n"
    path.unlink()
    assert fails(chordless("resume", run), 2, "put the run's file back in its place")


@pytest.mark.parametrize(
    "line",
    [
        "generate grid:2x2 -o w.txt/",
        "generate grid:2x2 -o w.txt/.",
        "list hypercube:3 --up-to-symmetry -o w.txt/",
        "count grid:2x2 --method boundary --write-order w.txt/",
        "longest grid:2x2 --write-order w.txt/",
        "count grid:2x2 --events w.txt/",
        "report run -o w.html/",
        "plot run -o w.svg/",
        "export run -o w.txt/",
        "paths grid:2x2 --all-pairs --sample 2 -o w.txt/",
        "paths grid:2x2 --all-pairs -o w.txt/",
        "batch grid:2x2 -o w.csv/",
        "overlap web.net -o w.txt/",
        "overlap web.net --species w.csv/",
        "bench table1 --json w.json/",
    ],
)
def test_a_name_with_a_slash_at_its_end_is_no_file_to_write(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for suffix in ("txt", "html", "svg", "csv", "json"):
        (tmp_path / f"w.{suffix}").write_text("mine")
    assert main(line.split()) == 2
    assert f"{line.split()[-1]}: this is a folder; the output is a file" in capsys.readouterr().err
    assert {path.read_text() for path in tmp_path.iterdir()} == {"mine"}


def test_an_export_among_the_parts_of_a_run_is_no_part(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text(RING)
    assert main(["list", "g.txt", "-o", "run/", "-q"]) == 0
    assert main(["export", "run", "-o", "run/cycles/part-000000.npy", "-q"]) == 0
    assert main(["export", "run", "-o", "cycles.txt", "-q"]) == 0
    assert Path("cycles.txt").read_text().count("\n") == 1
