"""The look at a graph before the start: right where the graph is made, and where it is only worked out."""

from __future__ import annotations

import os

import chordless.graphs.check
import pytest
from chordless.graphs.check import GraphFacts, check_graph, check_overlap
from chordless.graphs.generators import known_kinds
from chordless.graphs.load import load_graph

from kernels_ti import GraphError

SMALL = (
    "grid:1", "grid:1x1", "grid:2x3x4", "cycle:3", "path:1", "path:2", "path:3", "wheel:3", "wheel:4", "complete:1",
    "complete:7", "bipartite:1x1", "bipartite:2x9", "hypercube:1", "hypercube:5", "ladder:1", "ladder:2",
    "ladder:3", "regular:3,60,1", "regular:0,4,1", "king:1x1", "king:2x9", "queens:1x1", "queens:3x7", "queens:8x8",
    "kneser:4,4", "kneser:4,3", "kneser:6,1", "circulant:8,4", "knight:1x1", "knight:2x5", "rook:1x4", "bishop:1x4",
    "bishop:3x7", "hexagonal:1x1", "hexagonal:1x3", "crown:2", "cocktail:1", "johnson:4,4", "hamming:1,2",
    "petersen:3,1", "moebius:2", "triangular:1x4", "mycielski:1", "mycielski:2", "mycielski:3", "paley:5",
    "torus:3x3x4", "fibonacci:1", "fibonacci:2", "sierpinski:1",
)  # fmt: skip


@pytest.mark.parametrize("spec", [*SMALL, *(kind.example for kind in known_kinds() if kind.example != kind.name)])
def test_what_is_worked_out_is_what_is_made(spec, monkeypatch):
    made = check_graph(spec)
    monkeypatch.setattr(chordless.graphs.check, "LARGEST_MADE", -1)
    found = check_graph(spec)
    assert found.n == made.n
    assert found.m in (made.m, None)
    assert found.max_degree in (made.max_degree, None)


def test_large_graphs_are_not_made(monkeypatch):
    monkeypatch.setattr(chordless.graphs.check, "load_graph", None)
    for spec, said in (
        ("complete:5000", "5,000 vertices, 12,497,500 edges, largest degree 4,999"),
        ("grid:1000x1000", "1,000,000 vertices, 1,998,000 edges, largest degree 4"),
        ("gnp:5000,0.01,1", "5,000 vertices, about 124,975 edges drawn at random"),
        ("planar:1000000,1", "1,000,000 vertices, 1,500,000 edges"),
        ("queens:200x200", "40,000 vertices, 13,253,400 edges"),
        ("mycielski:12", "3,071 vertices, 203,600 edges, largest degree 1,535"),
    ):
        assert str(check_graph(spec)) == said


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("complete:10000", "more than the 20,000,000 allowed"),
        ("complete:-5000", "not made of whole numbers"),
        ("grid:0x1000000", "sizes start at 1"),
        ("cycle:1000000x9", "1 number expected, found 2"),
        ("hypercube:999999999999999999", "more than the 20,000,000"),
        ("gnp:5000,2,1", "the probability must be from 0 to 1"),
        ("gnp:5000,0.1", "right is gnp:60,0.1,1"),
        ("gnp:6000,0.9,1", "more than the 5,000,000 of a random graph"),
        ("regular:3000,10000,1", "more than the 5,000,000 of a random graph"),
        ("regular:3,1000001,1", "does not exist"),
        ("-", "standard input is the keyboard here"),
        ("gri", "did you mean grid?"),
    ],
)
def test_what_is_wrong_is_said_as_the_engine_says_it(spec, why):
    with pytest.raises(GraphError) as caught:
        check_graph(spec)
    assert why in str(caught.value)


def test_what_the_reader_notes_is_among_the_facts(tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text("from,to,km\na,b,1.5\nb,c,2\na,c,1\n")
    facts = check_graph(str(path))
    assert (facts.n, facts.m) == (3, 3)
    assert facts.reader_notes == load_graph(str(path)).notes
    assert [note.partition(": ")[0] for note in facts.reader_notes] == [f"{path}:1", str(path)]


def test_a_large_file_is_left_to_the_engine(tmp_path, monkeypatch):
    path = tmp_path / "graph.txt"
    path.write_text("1 2\n2 3\n")
    assert check_graph(str(path)) == GraphFacts(3, 2, 2)
    monkeypatch.setattr(chordless.graphs.check, "LARGEST_READ", 7)
    assert str(check_graph(str(path))) == "a file of 8 bytes: too large to look into before the start"
    assert check_overlap(str(path), None).note.startswith("a file of 8 bytes")
    with pytest.raises(GraphError, match="no such file; a food web is a file"):
        check_overlap("grid:7x10", None)


def test_devices_and_pipes_are_refused_unread(tmp_path, monkeypatch):
    pipe, web = str(tmp_path / "pipe"), tmp_path / "web.net"
    os.mkfifo(pipe)
    web.write_text("*Vertices 2\n*Arcs\n1 2\n")
    (tmp_path / "link.txt").symlink_to(pipe)
    monkeypatch.setattr(chordless.graphs.check, "load_graph", None)
    monkeypatch.setattr("chordless.graphs.overlap.niche_overlap", None)
    for path in ("/dev/zero", pipe, str(tmp_path / "link.txt")):
        for look in (check_graph, lambda path: check_overlap(path, None), lambda path: check_overlap(str(web), path)):
            with pytest.raises(GraphError, match=f"^{path}: this is a device or a pipe, not a graph file; name a file"):
                look(path)
    os.mkfifo(web.with_suffix(".clu"))
    with pytest.raises(GraphError, match=r"web\.clu: this is a device or a pipe"):
        check_overlap(str(web), None)


def test_a_folder_is_refused_as_one(tmp_path):
    with pytest.raises(GraphError, match="this is a folder, not a graph file"):
        check_graph(str(tmp_path))


def test_a_food_web_without_types_says_so(tmp_path):
    web = tmp_path / "web.net"
    web.write_text("*Vertices 3\n*Arcs\n1 2 1\n1 3 1\n")
    assert "every vertex counts as living" in str(check_overlap(str(web), None))
    (tmp_path / "web.clu").write_text("*Vertices 3\n1\n1\n1\n")
    assert "living" not in str(check_overlap(str(web), None))


def test_a_file_that_blocks_is_not_waited_for(tmp_path, monkeypatch):
    path = tmp_path / "graph.txt"
    path.write_text("1 2\n")
    whole, waited = chordless.graphs.check.load_graph, []
    monkeypatch.setattr(
        chordless.graphs.check,
        "load_graph",
        lambda source, **how: (waited.append(how["limits"].patience), whole(source, **how))[1],
    )
    assert check_graph(str(path)) == GraphFacts(2, 1, 1)
    assert waited == [1.0]
