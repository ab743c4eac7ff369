"""Damaged files of every format: each is a graph or one line that says what is wrong."""

from __future__ import annotations

import gzip
import io
import random

import networkx as nx
import numpy as np
import pytest
from chordless.batch.manifest import read_manifest
from chordless.cycles.read import read_rows
from chordless.graphs.load import load_graph
from chordless.graphs.readers.incoming import Limits
from chordless.protocol.orders import BatchJob
from chordless.runs.directory import RunDirectory

from kernels_ti import GraphError, OptionError
from kernels_ti.errors import CheckpointError

ROUNDS = 25
LITTLE = Limits(memory=1 << 28)


def _written(writer, graph):
    stream = io.BytesIO()
    writer(graph, stream)
    return stream.getvalue()


NAMED = nx.Graph([("a b", "c"), ("c", "d")])
WHOLE = {
    "txt": b"# n=4 m=3\n# label 1 a\n# label 2 b\n# label 3 c\n# label 4 d\n# xy 1 0.5 1\n1 2\n2 3\n3 4\n",
    "csv": b"source,target,weight\n1,2,0.5\n2,3,1e3\n",
    "dat": b"a b {'w': 1}\nb c {}\n",
    "col": b"c x\np edge 4 3\ne 1 2\ne 2 3\ne 3 4\n",
    "net": b'*Vertices 3\n1 "a" 0.5 0.5\n2 "b"\n3 "c"\n*Edges\n1 2\n2 3 1.5\n',
    "graphml": _written(nx.write_graphml, NAMED),
    "gml": _written(nx.write_gml, NAMED),
    "g6": nx.to_graph6_bytes(nx.petersen_graph()),
    "s6": nx.to_sparse6_bytes(nx.petersen_graph()),
    "mtx": b"%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 1.5\n3 2 1\n",
    "adjlist": b"# c\n1 2 3\n2 3\n",
    "json": b'{"directed": false, "nodes": [{"id": 1, "x": 0}, {"id": 2}, {"id": 3}], '
    b'"links": [{"source": 1, "target": 2}]}',
    "geojson": b'{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"u": 1, "v": 2}, '
    b'"geometry": {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}}, '
    b'{"type": "Feature", "geometry": {"type": "Point", "coordinates": [2, 2]}}]}',
    "tntp": b"<NUMBER OF NODES> 2\n<END OF METADATA>\n"
    b"~\tinit_node\tterm_node\tlength\t;\n\t1\t2\t0.5\t;\n\t2\t3\t1\t;\n",
    "smi": b"CC(=O)Oc1ccccc1C(=O)O aspirin\n",
}
TOKENS = (
    b"1" * 5000, b"9" * 18, b"9" * 25, b"-1", b"1_2", b"nan", b"inf", b"1e999", b"\xd9\xa1", b"\0", b"\xff", b"\r",
    b"\n", b"\t", b",", b'"', b"[", b"]", b"[ a " * 300, b"<graph>", b"</graph>", b"<node id='n'>", b"node [",
    b"edge [ source 1 target 2 ]", b"*Arcs\n", b"~" * 8, b":", b"&", b"(", b"{", b"%", b"#", b"# n=", b"\xff\xfe1\0",
)  # fmt: skip


def damaged(rng: random.Random, whole: bytes) -> bytes:
    data = bytearray(whole)
    for _ in range(rng.choice((1, 1, 2, 4))):
        begin = rng.randrange(len(data) + 1)
        end = min(len(data), begin + rng.randrange(12))
        kind = rng.randrange(5)
        if kind == 0 and data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[begin:]
        elif kind == 2:
            data[begin:begin] = data[rng.randrange(len(data) + 1) :][:40]
        else:
            data[begin:end] = rng.choice(TOKENS) if kind == 3 else b""
    return bytes(data) if rng.random() < 0.95 else gzip.compress(bytes(data), mtime=0)[: rng.randrange(5, 90)]


@pytest.mark.parametrize("extension", WHOLE)
def test_a_damaged_file_is_a_graph_or_one_line(tmp_path, extension):
    if extension == "smi":
        pytest.importorskip("rdkit")
    rng = random.Random(extension)
    path = tmp_path / f"graph.{extension}"
    path.write_bytes(WHOLE[extension])
    assert load_graph(str(path)).graph.n > 2
    for _ in range(ROUNDS):
        path.write_bytes(damaged(rng, WHOLE[extension]))
        said = f"{path}"
        try:
            load_graph(str(path), simplify=rng.random() < 0.5, limits=LITTLE)
        except GraphError as error:
            said = str(error)
        assert str(path) in said
        assert "\n" not in said


def test_damaged_rows_are_one_line(tmp_path):
    stream = io.BytesIO()
    np.save(stream, np.ones((4, 2), np.uint64))
    path = tmp_path / "rows.npy"
    rng = random.Random(1)
    headers = [b"{'descr': '<u8', 'fortran_order': False, 'shape': (" + b"9" * size + b", 2), }" for size in (18, 5000)]
    whole = stream.getvalue()
    inputs = [damaged(rng, whole) for _ in range(300)]
    inputs += [whole[:8] + len(head).to_bytes(2, "little") + head + whole[128:] for head in headers]
    inputs.append(whole[:8] + (3000).to_bytes(2, "little") + b"(" * 3000)
    for data in inputs:
        path.write_bytes(data)
        said = f"{path}"
        try:
            assert read_rows(path)[0].dtype == np.uint64
        except OptionError as error:
            said = str(error)
        assert str(path) in said
        assert "\n" not in said


@pytest.mark.parametrize("value", ["1" * 5000, "[" * 100_000])
def test_numbers_and_depth_without_end_are_one_line(tmp_path, value):
    (tmp_path / "jobs.toml").write_text(f"[[jobs]]\ngraph = {value}\n")
    with pytest.raises(OptionError, match=r"jobs\.toml"):
        read_manifest(str(tmp_path / "jobs.toml"), BatchJob(""))
    for name in ("run.json", "graph.json"):
        (tmp_path / name).write_text(f'{{"format": {value}')
    for read in (RunDirectory(tmp_path).command, RunDirectory(tmp_path).graph):
        with pytest.raises(CheckpointError, match="is damaged"):
            read()
    with pytest.raises(GraphError):
        load_graph(f"{tmp_path}/jobs.toml:{value}")
