"""``batch --keep``: expressions over the counts of a graph, and the graphs for which they are true."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import pytest
from batches import ATLAS, graph6
from chordless.batch.properties import Property, has_odd_hole
from chordless.cli import main
from oracles import by_length, nauty, networkx_cycles
from program import REFERENCE, chordless, fails

from kernels_ti import Graph, OptionError


def value(text, graph):
    read = Graph.from_networkx(graph)
    line = {"graph": "a graph", "n": read.n, "m": read.m, "by_length": by_length(networkx_cycles(read))}
    return Property(text).of({**line, "total": sum(line["by_length"].values())}, lambda: read)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("n", 10),
        ("m - n", 5),
        ("c5", 12),
        ("c3 + c7", 0),
        ("total == holes and holes == odd + even", True),
        ("odd", 12),
        ("even", 10),
        ("(shortest, longest)[0]", None),
        ("shortest", 5),
        ("longest", 6),
        ("girth == 5", True),
        ("chordal or perfect", False),
        ("not chordal", True),
        ("4 < shortest <= 5 < longest", True),
        ("-n + 2 * m // 4 % 5", -8),
    ],
)
def test_the_value_of_an_expression(text, right):
    if right is None:
        with pytest.raises(OptionError, match="only numbers, names"):
            Property(text)
    else:
        assert value(text, nx.petersen_graph()) == right


def test_a_forest_has_no_cycle():
    assert value("girth > 1000 and chordal and perfect and longest == 0 and shortest == 0", nx.path_graph(4)) is True


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no expression"),
        ("odd >", "is no expression"),
        ("odds > 0", "there is no 'odds'; there are n, m, c3..cN, total, holes, odd, even, longest"),
        ("c2 > 0", "there is no 'c2'; there are n, m, c3..cN"),
        ("__import__('os').system('true')", "only numbers, names"),
        ("n.__class__", "only numbers, names"),
        ("[n for n in m]", "only numbers, names"),
        ("9 ** 9 ** 9", "only numbers, names"),
        ("n / 2", "only numbers, names"),
        ("n if m else 0", "only numbers, names"),
        ("lambda: n", "only numbers, names"),
        ("n in m", "only numbers, names"),
        ("0.5 < n", "0.5 is no whole number"),
        ("'a' < n", "'a' is no whole number"),
        ("(" * 400, "is no expression"),
        ("n + " * 300 + "n", "more than 500 letters"),
        ("\0", "is no expression"),
    ],
)
def test_what_is_no_expression_is_one_line(text, words, capsys):
    with pytest.raises(OptionError, match=words.replace("(", r"\(")):
        Property(text)
    assert main(["batch", "petersen", f"--keep={text}"]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)


def test_division_by_zero_names_the_graph():
    with pytest.raises(OptionError, match="'m // c3' divides by zero for a graph; guard it, as in c3 > 0 and"):
        value("m // c3", nx.petersen_graph())
    assert not value("c3 > 0 and n // c3 < 2", nx.petersen_graph())


@pytest.mark.parametrize("term", ["girth", "0 - girth", "girth // 2", "girth % 2", "girth - girth"])
def test_a_term_without_an_end_is_one_line(term, capsys):
    assert main(["batch", "path:4", "--bfile", term]) == 2
    assert capsys.readouterr().err.startswith("chordless: error: the term of path:4 is infinite;")


def test_deep_expressions_are_evaluated():
    assert value("-" * 400 + "n", nx.petersen_graph()) == 10


def test_the_complements_of_long_odd_holes_are_not_perfect():
    for n, is_perfect in ((6, True), (7, False), (8, True), (9, False)):
        assert value("perfect and not odd", nx.complement(nx.cycle_graph(n))) == is_perfect
        # Triangles and holes of 4 that are somewhere else decide nothing.
        apart = nx.disjoint_union(nx.cycle_graph(n), nx.complete_multipartite_graph(2, 2, 3))
        assert value("perfect", apart) == (n % 2 == 0)


def test_complement_and_odd_holes_against_networkx():
    for graph in ATLAS[::7]:
        read, other = Graph.from_networkx(graph), nx.convert_node_labels_to_integers(nx.complement(graph))
        mine = nx.Graph([(int(u), int(v)) for u, v in read.complement().edges()])
        mine.add_nodes_from(range(read.n))
        assert nx.utils.graphs_equal(mine, other)
        odd = any(len(cycle) > 4 and len(cycle) % 2 for cycle in networkx_cycles(read))
        assert has_odd_hole(read) == odd


@pytest.mark.slow
def test_perfect_graphs_are_those_of_a052431(tmp_path):
    """A052431: perfect graphs on 1 to 7 vertices."""
    graph6(tmp_path / "atlas.g6", ATLAS)
    done = chordless("batch", "atlas.g6", "--keep", "perfect", "-o", "perfect.g6", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    sizes = Counter(len(graph) for graph in nx.read_graph6(tmp_path / "perfect.g6"))
    assert sizes == {1: 1, 2: 2, 3: 4, 4: 11, 5: 33, 6: 148, 7: 906}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["atlas.g6", "perfect.g6"]


@pytest.mark.slow
def test_odd_holes_of_all_graphs_of_eight_vertices(tmp_path):
    """A052431: 8,887 of the 12,346 graphs are perfect; those with an odd hole are compared with networkx."""
    every = nauty("geng", "-q", "8")
    (tmp_path / "eight.g6").write_bytes(every)
    for chosen in ("odd > 0", "perfect"):
        done = chordless("batch", "eight.g6", "--keep", chosen, "-o", f"{chosen[:3]}.g6", "-q", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert len((tmp_path / "per.g6").read_bytes().splitlines()) == 8887
    graphs = [nx.from_graph6_bytes(line) for line in every.splitlines()]
    right = [
        nx.to_graph6_bytes(graph, header=False)
        for graph in graphs
        if any(len(cycle) in (5, 7) for cycle in nx.chordless_cycles(graph))
    ]
    assert (tmp_path / "odd.g6").read_bytes() == b"".join(right)


def test_kept_graphs_come_through_a_pipe_in_their_order(tmp_path):
    chosen = [graph for graph in ATLAS[::11] if value("odd > 0", graph)]
    every = graph6(tmp_path / "every.g6", ATLAS[::11]).read_text()
    done = chordless("batch", "-", "grid:3x3", "cycle:7", "--keep", "odd > 0", input=every)
    assert done.returncode == 0, done.stderr
    assert chosen
    right = [nx.to_graph6_bytes(graph, header=False).decode() for graph in [*chosen, nx.cycle_graph(7)]]
    assert done.stdout == "".join(right)


def test_graphs_of_every_kind_of_input_are_kept_as_they_are(tmp_path):
    (tmp_path / "a.txt").write_text("b a\na c\nc d\nd b\n")
    (tmp_path / "bad.txt").write_text("1 1\n")
    arguments = ("batch", "a.txt", "bad.txt", "grid:2x3", "--keep", "even", "-o", "even.g6", *REFERENCE)
    done = chordless(*arguments, cwd=tmp_path)
    assert done.returncode == 5
    kept = nx.read_graph6(tmp_path / "even.g6")
    assert [(len(graph), graph.size()) for graph in kept] == [(4, 4), (6, 7)]
    assert (
        "even.g6 has what was asked of them, and even.g6.jsonl their lines, from which --resume goes on" in done.stderr
    )
    (tmp_path / "bad.txt").write_text("1 2\n2 3\n3 4\n4 1\n")
    again = chordless(*arguments, "--resume", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "2 done before" in again.stderr
    assert len(nx.read_graph6(tmp_path / "even.g6")) == 3
    once_more = chordless(*arguments, "--resume", cwd=tmp_path)
    assert fails(once_more, 2, "even.g6 is there already: write to another file")


def test_directed_graphs_and_multigraphs_are_kept(tmp_path):
    ring, path = nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 0)]), nx.DiGraph([(0, 1), (1, 2)])
    (tmp_path / "arcs.d6").write_text("\n".join(digraph6(graph) for graph in (path, ring)) + "\n")
    twice = nx.MultiGraph([(0, 1), (1, 2), (2, 3), (3, 0), (3, 0), (1, 1)])
    (tmp_path / "twice.s6").write_bytes(nx.to_sparse6_bytes(twice, header=False))
    asked = ("batch", "arcs.d6", "--keep", "holes > 0", *REFERENCE, "-q")
    for output in ("-", "kept.d6"):
        done = chordless(*asked, "-o", output, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        text = done.stdout if output == "-" else (tmp_path / output).read_text()
        assert text == digraph6(ring) + "\n"
    asked = ("batch", "twice.s6", "petersen", "--multigraph", "--keep", "m > 0", *REFERENCE, "-q")
    done = chordless(*asked, "-o", "kept.s6", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    kept = nx.read_sparse6(tmp_path / "kept.s6")
    assert [(len(graph), graph.size()) for graph in kept] == [(4, 6), (10, 15)]
    for graph, keep, output, words in (
        ("arcs.d6", "holes", "kept.g6", "arcs.d6:2 is directed, which graph6 cannot hold: write to a file *.d6"),
        ("petersen", "n", "other.d6", "petersen is simple and undirected, which digraph6 cannot hold"),
        ("arcs.d6", "girth > 3", "-", "arcs.d6:1 is directed, and girth of such a graph is not defined"),
    ):
        done = chordless("batch", graph, "--keep", keep, "-o", output, *REFERENCE, "-q", cwd=tmp_path)
        assert fails(done, 2, words)
    done = chordless("batch", "arcs.d6", "--bfile", "perfect", *REFERENCE, "-q", cwd=tmp_path)
    assert fails(done, 2, "arcs.d6:1 is directed, and perfect of such a graph is not defined")


def test_lines_that_a_format_cannot_hold_are_renamed_for_another_file(tmp_path):
    asked = ("batch", "petersen", "--keep", "n", *REFERENCE)
    done = chordless(*asked, "-o", "kept.d6", cwd=tmp_path)
    assert fails(done, 2, "write to a file *.g6", "or with -o FILE once they are named FILE.jsonl")
    (tmp_path / "kept.d6.jsonl").rename(tmp_path / "kept.g6.jsonl")
    done = chordless(*asked, "-o", "kept.g6", "--resume", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 done before" in done.stderr
    assert len((tmp_path / "kept.g6").read_text().splitlines()) == 1


def digraph6(graph):
    """Return a directed graph of fewer than 63 vertices as a line of digraph6."""
    bits = "".join(str(int(graph.has_edge(u, v))) for u in range(len(graph)) for v in range(len(graph)))
    bits += "0" * (-len(bits) % 6)
    groups = (bits[i : i + 6] for i in range(0, len(bits), 6))
    return "&" + "".join(chr(63 + int(value, 2)) for value in (f"{len(graph):06b}", *groups))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--max-length", "6"], "--keep is for cycles of all lengths: leave --max-length out"),
        (["--length", "6"], "--keep is for cycles of all lengths: leave --length out"),
        (["--format", "csv"], "leave --format csv out"),
        (["-o", "x.jsonl"], "-o x.jsonl: --keep writes a file *.g6, *.s6 or *.d6"),
    ],
)
def test_what_does_not_go_with_keep_is_said(arguments, words, capsys):
    assert main(["batch", "petersen", "--keep", "odd", *arguments]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("arguments", "is_taken"),
    [
        (["--odd", "--keep", "odd > 0 and n > m - c3 - c7"], True),
        (["--even", "--bfile", "even + c4"], True),
        (["--odd", "--keep", "odd > c4"], False),
        (["--even", "--keep", "odd > 0"], False),
        (["--odd", "--bfile", "girth"], False),
        (["--odd", "--keep", "perfect"], False),
    ],
)
def test_a_parity_goes_with_an_expression_that_needs_no_other(arguments, is_taken, capsys):
    assert main(["batch", "petersen", "--dry-run", *arguments]) == (0 if is_taken else 2)
    assert ("knows holes by parity" in capsys.readouterr().err) != is_taken


@pytest.mark.slow
def test_a_sequence_of_a_family(tmp_path):
    """A b-file of the chordless cycles of hypercubes; with n from the braces."""
    cubes = {n: Graph.from_networkx(nx.convert_node_labels_to_integers(nx.hypercube_graph(n))) for n in range(1, 5)}
    terms = [f"{n} {sum(1 for _ in networkx_cycles(cube))}" for n, cube in cubes.items()]
    assert terms[:3] == ["1 0", "2 1", "3 10"]
    done = chordless("batch", "hypercube:{1..4}", "--bfile", "total")
    assert (done.returncode, done.stdout.splitlines()) == (0, terms)
    done = chordless("batch", "cycle:{4..6}", "--bfile", "2 * perfect + m", "-o", "b.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "b.txt").read_text() == "4 6\n5 5\n6 8\n"
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]


def test_a_sequence_ends_before_the_first_graph_that_failed(tmp_path):
    (tmp_path / "2.txt").write_text("1 1\n")
    for name in "13":
        (tmp_path / f"{name}.txt").write_text("1 2\n2 3\n3 1\n")
    done = chordless("batch", "{1..3}.txt", "--bfile", "c3", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (5, "1 1\n")


@pytest.mark.parametrize(
    "graph",
    ["cycle:{5..4}", "cycle:{1..9999999}", "cycle:{1..10000000000}", "grid:{1..9999}x{1..9999}", "grid:3x{2..1}"],
)
def test_a_range_without_numbers_or_of_too_many_is_refused(graph, capsys):
    assert main(["batch", graph, "--bfile", "n"]) == 2
    assert "has no number, or there are more than 1,000,000 graphs" in capsys.readouterr().err
