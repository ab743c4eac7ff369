"""Molecules as graphs, and the benchmark that counts them beside nauty."""

from __future__ import annotations

import gzip
import io
import json

import chordless
import program
import pytest
from benches import report
from chordless.batch.inputs import read_job
from chordless.cli import main
from chordless.graphs.load import format_of_content, load_graph
from chordless.graphs.molecules import looks_like_smiles, read_molecules
from chordless.graphs.readers.incoming import Limits
from chordless.protocol.orders import BatchJob
from program import REFERENCE

from kernels_ti import GraphError

pytest.importorskip("rdkit")

SMILES = (
    b"# drugs\n\nCC(=O)Oc1ccccc1C(=O)O aspirin\nCN1C=NC2=C1C(=O)N(C(=O)N2C)C caffeine 12.5\nC1CC\tnot closed\n"
    b"C12C3C4C1C5C2C3C45 cubane\r\n[Na+].[Cl-]\n"
)
# A triangle of atoms that no chemist would join, with a hydrogen that is to be counted.
MOL_BLOCK = """{name}
  made by hand

  4  4  0  0  0  0  0  0  0  0999 V2000
    0.0000    0.0000    0.0000 F   0  0
    1.0000    0.0000    0.0000 F   0  0
    1.0000    1.0000    0.0000 C   0  0
    2.0000    1.0000    0.0000 H   0  0
  1  2  1  0
  2  3  1  0
  1  3  1  0
  3  4  1  0
M  END
"""


def test_a_file_of_smiles(tmp_path, capsys):
    path = tmp_path / "drugs.smi.gz"
    path.write_bytes(gzip.compress(SMILES))
    output = tmp_path / "out.jsonl"
    assert main(["batch", str(path), "-o", str(output), *REFERENCE]) == 5
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(line["name"], line["graph"].removeprefix(f"{path}:"), line["by_length"]) for line in lines] == [
        ("aspirin", "3", {"6": 1}),
        ("caffeine", "4", {"5": 1, "6": 1}),
        ("not closed", "5", None),
        ("cubane", "6", {"4": 6, "6": 4}),
        (None, "7", {}),
    ]
    assert (lines[0]["n"], lines[0]["m"], lines[0]["max_degree"]) == (13, 13, 3)
    assert lines[2]["error"] == f"{path}:5: not a SMILES: 'C1CC'"
    assert load_graph(f"{path}:6").graph.m == 12
    with pytest.raises(GraphError, match=r"drugs\.smi\.gz:5: not a SMILES: 'C1CC'"):
        load_graph(f"{path}:5")
    with pytest.raises(GraphError, match="there is no molecule 99"):
        load_graph(f"{path}:99")
    assert "1 failed" in capsys.readouterr().err


@pytest.mark.parametrize("end", ["$$$$\n", ""])
@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_a_file_of_tables(end, at_once):
    broken = MOL_BLOCK.format(name="broken").replace("  1  3  1", "  1  9  1")
    records = [MOL_BLOCK.format(name="first"), broken, MOL_BLOCK.format(name="last")]
    stream = io.BytesIO(("$$$$\n".join(records) + end).encode())
    chunks = list(read_molecules(stream, "sdf", at_once))
    assert [number for chunk in chunks for number in chunk.numbers] == [1, 2, 3]
    assert [name for chunk in chunks for name in chunk.names] == ["first", "broken", "last"]
    assert [list(chunk.errors) for chunk in chunks] == [[], [0], []] if at_once == 1 else [[1], *[[]] * (at_once == 2)]
    edges = [edge for chunk in chunks for edge in chunk.edges.tolist()]
    assert edges == 2 * [[0, 1], [0, 2], [1, 2], [2, 3]]
    firsts = {1: [[0, 4], [0], [0, 4]], 2: [[0, 4], [0, 4]], 100: [[0, 4, 8]]}[at_once]
    assert [chunk.first_vertex.tolist() for chunk in chunks] == firsts
    assert [chunk.first_edge.tolist() for chunk in chunks] == firsts  # as many bonds as atoms


def test_an_empty_file_of_molecules(tmp_path, capsys):
    path, output = tmp_path / "empty.sdf", tmp_path / "out.jsonl"
    path.write_bytes(b"")
    assert main(["batch", str(path), "-o", str(output), *REFERENCE]) == 0
    assert output.read_text() == ""
    assert capsys.readouterr().err.endswith(f"{path}: no molecule in it\n")


@pytest.mark.slow
def test_bench_batch_agrees_with_nauty(capsys):
    exit_code, result, errors = report(
        capsys, "batch", "--vertices", "5", "--molecules", "200", "--repeat", "1", "--arch", "cpu"
    )
    assert (exit_code, result["problems"], result["bench"]) == (0, [], "batch")
    assert "200 molecules" in errors
    for row in result["rows"]:
        ours, theirs = row["programs"]
        assert row["count"]["graphs"] == {"geng 5": 34, "200 molecules": 200}[row["graphs"]]
        assert len(ours["seconds"]) == 1
        assert (theirs["stopped"], theirs["agree"]) in [(None, True), ("not installed", None)]


def test_bench_batch_says_what_is_left_out(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    _, result, _ = report(capsys, "batch", "--molecules", "5", "--repeat", "1", "--arch", "reference")
    assert result["notes"] == ["all small graphs are left out: geng of nauty is not installed"]
    assert [row["graphs"] for row in result["rows"]] == ["5 molecules"]


@pytest.mark.parametrize("name", ["a.smi", "a.sdf", "A.SMI.gz", "a.txt"])
def test_one_molecule_is_a_graph_and_several_are_not(tmp_path, name):
    path = tmp_path / name
    sdf = name.endswith("sdf")
    ring = MOL_BLOCK.format(name="ring") if sdf else "C1NC1[H] ring\n"
    path.write_text(ring)
    graph = load_graph(str(path)).graph
    assert graph.names == (("F1", "F2", "C3", "H4") if sdf else ("C1", "N2", "C3", "H4"))
    assert graph.edges().tolist() == [[0, 1], [0, 2], [1, 2], [2, 3]]
    path.write_text(ring + "$$$$\n" * sdf + ring)
    with pytest.raises(
        GraphError,
        match=f"{name}: a file of 2 molecules; give one, .*{name}:1, or give all of them to `chordless batch`",
    ):
        load_graph(str(path))
    assert load_graph(f"{path}:2").graph.names == graph.names
    path.write_bytes(b"\n")
    with pytest.raises(GraphError, match="the file is empty"):
        load_graph(str(path))


TABLE = 'c=O?,Canonical_SMILES,Name\n1,C1CC1,"ring, small"\n2,CCO,ethanol\n'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("SMILES NAME\nC1CC1 ring 0.5\n# c\nCCO ethanol 2\n", ["ring", "ethanol"]),
        ("C1CC1\tsmall ring\t0.5\nCCO\tethanol\t2\n", ["small ring", "ethanol"]),
        (TABLE, ["ring, small", "ethanol"]),
        (TABLE.replace(",", ";").replace("g; s", "g, s"), ["ring, small", "ethanol"]),
        ("smiles,activity\nC1CC1,0.5\nCCO,2\n", ["", ""]),
    ],
)
def test_headings_and_columns_of_smiles(tmp_path, content, names):
    (some,) = read_molecules(io.BytesIO(content.encode()), "smiles")
    assert list(some.names) == names
    assert not some.errors
    assert some.edges.tolist() == [[0, 1], [0, 2], [1, 2], [0, 1], [1, 2]]
    assert some.atom_names(1) == ("C1", "C2", "O3")
    path, output = tmp_path / ("table.csv" if "smiles" in content.lower() else "a.smi"), tmp_path / "out.jsonl"
    path.write_text(content)
    assert main(["batch", str(path), "-o", str(output), "-q", *REFERENCE]) == 0
    assert [json.loads(line)["by_length"] for line in output.read_text().splitlines()] == [{"3": 1}, {}]


@pytest.mark.parametrize(
    ("start", "is_smiles"),
    [
        ("C1CC1\nCCO\n", True),
        ("C=O formaldehyde\nCCO ethanol\n", True),
        ("CCO ethanol\nCC ethane\n", None),
        ("C N\nN O\n", False),
        ("C -> A\nC -> B\n", False),
        ("C1 C2\nC2 C3\n", False),
        ("1 2\n2 3\n", False),
        ("bob carol\ncarol bob\n", False),
        ("# only words\n", False),
        # A malformed line among the others.
        ("C1CCQCC1 broken\nC1CCC(=O)CC1 ketone\nCCO ethanol\n", True),
        ("C1CCQCC1\nc1ccccc1\nCCO\n", True),
        ("C1CCQCC1 broken\nc1ccccc1 benzene\nCCO ethanol\n", None),
        ("N(1) C(2)\nC(2) N(3)\nQ(4) N(1)\n", None),
        ("A1 B2\nB2 C3\nC3 N4\nN4 A1\n", False),
        ("?!C~\nCF\nCp\nCb\nCn\nCo\nC?\nCn\n", False),  # graph6
        ("(A) (B)\n(B) C=O\nC=O (A)\n", False),
    ],
)
def test_smiles_are_told_from_edges(start, is_smiles):
    assert looks_like_smiles(start.encode()) is is_smiles


def test_a_malformed_first_line_of_smiles_is_one_error(tmp_path, capsys):
    path = tmp_path / "library"
    path.write_text("C1CCQCC1 broken\nC1CCC(=O)CC1 ketone\nCCO ethanol\n")
    assert main(["batch", str(path), "-q", *REFERENCE]) == 5
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["error"] for line in lines] == [f"{path}:1: not a SMILES: 'C1CCQCC1'", None, None]
    assert [line["by_length"] for line in lines] == [None, {"6": 1}, {}]


@pytest.mark.slow
def test_smiles_on_standard_input(tmp_path):
    output = tmp_path / "out.jsonl"
    done = program.chordless("batch", "-", "-o", output, *REFERENCE, "-q", input="C1CC1(=O) ring\nCCO ethanol\n")
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["name"] for line in output.read_text().splitlines()] == ["ring", "ethanol"]
    output.unlink()
    done = program.chordless("batch", "-", "-o", output, *REFERENCE, "-q", input="CCO ethanol\nCC ethane\n")
    assert done.returncode == 5
    assert "standard input: this may be SMILES or a list of edges; say which" in json.loads(output.read_text())["error"]
    done = program.chordless("list", "-", "--format", "smiles", *REFERENCE, "-q", input="C1NC1 ring\n")
    assert (done.returncode, done.stdout) == (0, "C1 N2 C3\n"), done.stderr


def test_rings_are_listed_with_the_symbols_of_their_atoms(tmp_path):
    path, folder = tmp_path / "rings.smi", tmp_path / "rings"
    path.write_text("C1CC\nC1NO1 b\n")
    main(["batch", str(path), "-o", str(tmp_path / "out.jsonl"), "--cycles", str(folder), "-q", *REFERENCE])
    assert [file.read_text() for file in folder.iterdir()] == ["C1 N2 O3\n"]


def test_the_name_behind_an_extension_of_chemaxon(tmp_path):
    lines = [
        "[2H]C1CC1 |$;;$| b",
        "C1CC1 |(1,2,;3,4,;5,6,),r|\tcyclo propane\t42",
        "C1CC1",
        "C1CC1 |lone",
        "C1CC1 |m:1:2|",
    ]
    (some,) = read_molecules(io.BytesIO("\n".join(lines).encode()), "smiles")
    assert some.names == ("b", "cyclo propane", "", "|lone", "")
    assert not some.errors
    path = tmp_path / "a.smi"
    path.write_text(lines[0])
    assert load_graph(str(path)).graph.names == ("H1", "C2", "C3", "C4")


def test_a_record_whose_problem_rdkit_cannot_tell_loses_no_other(tmp_path):
    symbol = "".join(f"    {x}    0.0000    0.0000 {atom}\n" for x, atom in
                     (("1.0000", "C"), ("2.0000", " 0               900"), ("3.0000", "C")))  # fmt: skip
    bonds = "".join(f"  {u}  {v}  1  0\n" for u, v in ((1, 2), (2, 3), (3, 1)))
    damaged = f"\n     RDKit\n\n  3  3  0  0  0  0  0  0  0  0999 V2000\n{symbol}{bonds}M  END\n$$$$\n"
    path = tmp_path / "a.sdf"
    path.write_text(damaged)
    loaded = load_graph(str(path))
    assert (loaded.graph.m, len(loaded.notes)) == (3, 1)
    assert "RDKit rejects this molecule: Pre-condition Violation" in loaded.notes[0]
    done = program.chordless("batch", path, "cycle:5", *REFERENCE)
    assert (done.returncode, done.stdout.count('"status": "complete"')) == (0, 2)


def test_what_rdkit_rejects_gets_a_word(tmp_path):
    path = tmp_path / "a.smi"
    path.write_text("c1ccccc1 good\nCN(C)(C)(C)C\nc1cccc1 odd\n")
    rejected = "RDKit rejects this molecule: Explicit valence for atom # 1 N, 5, is greater than permitted; its atoms"
    loaded = load_graph(f"{path}:2")
    assert (loaded.graph.n, len(loaded.notes)) == (6, 1)
    assert loaded.notes[0].startswith(f"{path}:2: {rejected}")
    assert load_graph(f"{path}:1").notes == ()
    with pytest.warns(UserWarning, match="RDKit rejects this molecule: Can't kekulize mol"):
        assert chordless.load_graph(f"{path}:3").m == 5
    done = program.chordless("batch", path, *REFERENCE)
    assert done.stdout.count('"status":') == 3
    assert f"{path}:2: {rejected}" in done.stderr
    assert "are taken as they are (and so in 1 other graph)" in done.stderr
    path.write_text("CN(C)(C)(C)C\n")
    assert rejected in program.chordless("count", path, *REFERENCE).stderr


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n"])
def test_any_line_end_ends_a_molecule(end):
    lines = end.join([b"C1CC1\ta", b"C1CCC1\tb", b"C1CCCC1\tc", b""])
    (some,) = read_molecules(io.BytesIO(lines), "smiles")
    assert list(some.names) == ["a", "b", "c"]
    assert not some.errors


@pytest.mark.parametrize("name", ["CHEBI:15377", "a:b", "2:1"])
def test_a_molecule_whose_name_has_a_colon(tmp_path, name):
    (tmp_path / "lib.smi").write_bytes(f"C1CC1\t{name}\nC1CCC1\tother\n".encode())
    assert load_graph(f"{tmp_path}/lib.smi:{name}").graph.n == 3


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_content_tells_an_sdf(tmp_path, monkeypatch, end):
    block = MOL_BLOCK.format(name="caffeine").replace("\n", end).encode()
    (tmp_path / "molecules").write_bytes(block)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(block)))
    for source in (str(tmp_path / "molecules"), "-"):
        assert load_graph(source).graph.names == ("F1", "F2", "C3", "H4")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_batch_recognises_an_sdf_of_standard_input(end):
    text = "".join(f"{MOL_BLOCK.format(name=name)}$$$$\n" for name in ("first", "second")).replace("\n", end)
    done = program.chordless("batch", "-", "-q", *REFERENCE, input=text)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["graph"], line["name"], line["total"]) for line in lines] == [
        ("stdin:1", "first", 1),
        ("stdin:2", "second", 1),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_batch_counts_and_reads_graphs_whatever_ends_their_lines(tmp_path, capsys, end):
    texts = {"sdf": 2 * (MOL_BLOCK.format(name="ring") + "$$$$\n"), "smi": "C1CC1 a\nC1CCC1 b\n", "g6": "Bw\nC~"}
    for suffix, text in texts.items():
        path = tmp_path / f"two.{suffix}"
        path.write_bytes(text.replace("\n", end).encode())
        assert main(["batch", str(path), "--dry-run"]) == 0
        assert "  2 graphs  " in capsys.readouterr().out
        (chunk,) = read_job(BatchJob(str(path)), Limits())
        assert (list(chunk.titles), chunk.errors) == ([f"{path}:1", f"{path}:2"], {})


@pytest.mark.parametrize(
    "counts",
    [
        "  4  4  0     1  0  0  0  0  0999 V2000",
        " 21 22  0  0  1  0            999 V2000",
        "123130  0  0  0  0  0  0  0  0999 V2000",
        "  4  4  0  0  0 V2000 ",
        "  4  4 V2000",
        "4  4  0  0  0  0  0  0  0  0999 V2000",
        "  0  0  0     0  0            999 V3000",
    ],
)
@pytest.mark.parametrize("title", ["", "A_", "~x"])  # the last two look like graph6
def test_the_line_of_counts_tells_an_sdf(counts, title):
    assert format_of_content(f"{title}\n  by hand\n\n{counts}\n".encode(), "x") == "sdf"


@pytest.mark.parametrize(
    "last", ["V1 V2000", "1 V2000", "V2000 V3000", "123456 V2000", " 1234 V2000", "1\tV2000", "1,V3000"]
)
def test_vertices_called_like_the_version_of_a_molfile_are_vertices(last):
    between = next((each for each in "\t," if each in last), " ")
    lines = [between.join(edge) for edge in (("1", "2"), ("2", "3"), ("3", "1"))]
    assert format_of_content("\n".join([*lines, last, between.join(("V2000", "2"))]).encode(), "x") == "edgelist"


def test_other_formats_may_name_the_version_of_a_molfile():
    for text, file_format in (
        ("p edge 3 3\ne 1 2\ne 2 3\ne 1  3 V2000\n", "dimacs"),
        ("*Vertices 2\n1 a\n2 b\n  1  2 V2000\n", "pajek"),
    ):
        assert format_of_content(text.encode(), "x") == file_format
