"""Files that must not be lost: the graph itself, and what somebody has put in the place of a run's output."""

from __future__ import annotations

import os

import numpy as np
import pytest
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
