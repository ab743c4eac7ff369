"""The rings of molecules: against networkx and RDKit, and as one table of a library."""

from __future__ import annotations

import csv
import io
import random

import networkx as nx
import pytest
from chordless import OptionError, as_graph, collect_cycles, count_cycles, load_graph
from chordless.cli import main
from chordless.graphs.rings import rings_of

Chem = pytest.importorskip("rdkit.Chem")

CAFFEINE = "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"
CUBANE = "C12C3C4C1C5C2C3C45"
FUSED = "C1CCCCC2CCCCC1CCCCC2"
LIBRARY = f"{CAFFEINE} caffeine\nC1CC unclosed\n{CUBANE} cubane\nN(C)(C)(C)(C)c1ccccc1 five\nCC ethane\n"


def random_molecule(seed: int):
    """Return a connected molecule of carbons without hydrogens, not sanitised, with some rings."""
    graph = nx.random_labeled_tree(12, seed=seed)
    chosen = random.Random(seed)
    graph.add_edges_from(chosen.sample(range(12), 2) for _ in range(8))
    made = Chem.RWMol()
    for _ in graph:
        made.AddAtom(Chem.Atom("C"))
    for u, v in graph.edges():
        made.AddBond(u, v, Chem.BondType.SINGLE)
    return made.GetMol(), graph


@pytest.mark.parametrize("seed", range(30))
def test_rings_are_those_of_networkx_and_their_families_those_of_rdkit(seed):
    molecule, graph = random_molecule(seed)
    rings = rings_of(molecule)
    assert sorted(sorted(ring.atoms) for ring in rings) == sorted(map(sorted, nx.chordless_cycles(graph)))
    for ring in rings:
        assert all(graph.has_edge(u, v) for u, v in zip(ring.atoms, (*ring.atoms[1:], ring.atoms[0]), strict=True))
    assert sum(ring.sssr for ring in rings) == graph.number_of_edges() - graph.number_of_nodes() + 1
    Chem.FindRingFamilies(molecule)
    families = [ring.family for ring in rings if ring.family is not None]
    assert len(families) == molecule.GetRingInfo().NumRelevantCycles()
    assert set(families) == set(range(1, molecule.GetRingInfo().NumRingFamilies() + 1))
    # All atoms of a family together are those that RDKit gives it.
    atoms = {family: set() for family in families}
    for ring in rings:
        if ring.family is not None:
            atoms[ring.family].update(ring.atoms)
    assert sorted(map(sorted, atoms.values())) == sorted(map(sorted, molecule.GetRingInfo().AtomRingFamilies()))


def test_a_bound_on_the_size_leaves_the_smaller_rings_as_they_are():
    molecule = Chem.MolFromSmiles(FUSED)
    assert rings_of(molecule, 8) == []
    assert rings_of(molecule, 11) == [ring for ring in rings_of(molecule) if len(ring.atoms) <= 11] != []


def test_a_library_becomes_one_table(tmp_path, capsys):
    library, table = tmp_path / "lib.smi", tmp_path / "rings.csv"
    library.write_text(LIBRARY)
    assert main(["batch", str(library), "--rings", "-o", str(table)]) == 5
    told = capsys.readouterr().err
    assert f"13 rings of 5 molecules in {table}, 1 failed" in told
    assert f"{library}:4: RDKit rejects this molecule: " in told
    with open(table, newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["name"] for row in rows] == 2 * ["caffeine"] + 10 * ["cubane"] + ["five"]
    # The indices are RDKit's own.
    caffeine = Chem.MolFromSmiles(CAFFEINE)
    assert [set(map(int, row["atoms"].split())) for row in rows[:2]] == list(map(set, Chem.GetSSSR(caffeine)))
    assert rows[0] == {
        "molecule": f"{library}:1", "name": "caffeine", "ring": "1", "size": "5", "atoms": "1 2 3 4 5",
        "symbols": "N C N C C", "aromatic": "true", "sssr": "true", "relevant": "true", "family": "1",
    }  # fmt: skip
    cubane = rows[2:12]
    assert [row["sssr"] for row in cubane].count("true") == 5
    assert [row["relevant"] for row in cubane] == 6 * ["true"] + 4 * ["false"]
    assert rows[-1]["aromatic"] == ""  # RDKit rejects a nitrogen of five bonds, and says nothing of its bonds
    # Nothing is written over.
    assert main(["batch", str(library), "--rings", "-o", str(table)]) == 2


def test_parquet_has_lists_of_indices_and_lengths_are_kept(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    library, table = tmp_path / "lib.smi", tmp_path / "rings.parquet"
    library.write_text(LIBRARY)
    assert main(["batch", str(library), "--rings", "--min-length", "5", "-q", "-o", str(table)]) == 5
    rows = parquet.read_table(table).to_pylist()
    assert [row["size"] for row in rows] == [5, 6, 6, 6, 6, 6, 6]
    assert rows[0]["atoms"] == [1, 2, 3, 4, 5]
    assert [row["relevant"] for row in rows] == [True, True, False, False, False, False, True]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--resume"], "--resume"),
        (["--cycles", "d"], "--cycles"),
        (["--format", "jsonl"], "--format jsonl"),
        (["--limit", "3"], "--limit"),
    ],
)
def test_what_the_table_of_rings_cannot_do_is_refused(options, named, capsys):
    assert main(["batch", "grid:3x3", "--rings", *options]) == 2
    assert f"--rings makes one table of molecules in CSV or Parquet: leave {named} out" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["r.jsonl", "r.txt", "r"])
def test_the_name_of_the_table_of_rings_tells_its_format(name, capsys):
    assert main(["batch", "grid:3x3", "--rings", "-o", name]) == 2
    assert f"-o {name}: --rings makes one table of molecules; name it .csv or .parquet" in capsys.readouterr().err


def test_molecules_of_standard_input_are_called_as_in_any_batch(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"C1CC1 ring\n")))
    assert main(["batch", "-", "--graph-format", "smiles", "--rings"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("stdin:1,ring,1,3,")


def test_other_graphs_have_no_table_of_rings(capsys):
    assert main(["batch", "grid:3x3", "--rings"]) == 2
    captured = capsys.readouterr()
    assert "grid:3x3: --rings is for whole files of molecules, SMILES or SDF (--graph-format" in captured.err
    assert captured.out == ""


def test_molecules_of_rdkit_and_smiles_go_where_a_graph_goes(tmp_path):
    molecule = Chem.MolFromSmiles(CAFFEINE)
    assert count_cycles(molecule, arch="reference").by_length == {5: 1, 6: 1}
    assert sorted(map(sorted, collect_cycles(molecule, arch="reference").lists())) == [
        [1, 2, 3, 4, 5],
        [4, 5, 6, 8, 9, 11],
    ]
    assert as_graph(molecule).edges().tolist() == load_graph(f"smiles:{CAFFEINE}").edges().tolist()
    library = tmp_path / "lib.smi"
    library.write_text(LIBRARY + f"{CUBANE} cubane\nCCC 1\n")
    assert load_graph(f"{library}:caffeine").names[:3] == ("C1", "N2", "C3")
    assert load_graph(f"{library}:1").n == 14  # a number is that of a line
    with pytest.raises(ValueError, match=r"2 molecules have this name; give one by its number, .*lib\.smi:3"):
        load_graph(f"{library}:cubane")
    with pytest.raises(ValueError, match="there is no molecule theine"):
        load_graph(f"{library}:theine")
    assert main(["batch", "smiles:C1CC1[NH3+]", "-q"]) == 0  # its brackets are no pattern of files
    with pytest.raises(ValueError, match="not a SMILES: 'C1CC'"):
        load_graph("smiles:C1CC")


def test_without_rdkit_one_line_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rdkit.Chem", None)
    with pytest.raises(OptionError, match="need RDKit"):
        load_graph("smiles:CC")
