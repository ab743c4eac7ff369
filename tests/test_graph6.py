"""Files of many graphs in graph6 and sparse6 hold what networkx reads in them, line by line."""

import io
import os
import threading

import networkx as nx
import numpy as np
import pytest
from chordless.graphs.graph6 import HEADERS, Chunk, decoded, read_chunks
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE


def line(graph: nx.Graph, *, sparse: bool = False) -> bytes:
    write = nx.to_sparse6_bytes if sparse else nx.to_graph6_bytes
    return write(graph, header=False).rstrip(b"\n")


def edges(graph: nx.Graph) -> set[tuple[int, ...]]:
    return {tuple(sorted(edge)) for edge in graph.edges()}


def check(chunk: Chunk, graphs: list[nx.Graph]) -> None:
    assert chunk.graphs.vertices.tolist() == [len(graph) for graph in graphs]
    assert [edges(graph) for graph in graphs] == [
        set(map(tuple, chunk.graphs.graph(i).edges().tolist())) for i in range(len(graphs))
    ]


def some_graphs() -> list[nx.Graph]:
    sizes = [0, 1, 2, 3, 5, 5, 9, 12, 5, 61, 62, 63, 64, 128, 129, 9, 0]
    return [nx.gnp_random_graph(n, 0.3, seed=seed) for seed, n in enumerate(sizes)]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b" \n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("header", [b"", b">>graph6<<", b">>graph6<<\n"])
def test_lines_of_all_sizes(newline: bytes, last: bool, header: bytes) -> None:
    graphs = some_graphs()
    text = header + newline.join(line(graph) for graph in graphs) + (newline if last else b"")
    chunk = decoded(text, 10)
    check(chunk, graphs)
    first = 11 if header.endswith(b"\n") else 10
    assert chunk.line_numbers.tolist() == list(range(first, first + len(graphs)))
    assert chunk.errors == ()


def test_sparse6_and_graph6_may_be_mixed() -> None:
    graphs = some_graphs()
    chunk = decoded(b">>sparse6<<" + b"\n".join(line(graph, sparse=i % 3 == 0) for i, graph in enumerate(graphs)))
    check(chunk, graphs)
    assert chunk.line_numbers.tolist() == list(range(1, len(graphs) + 1))


def test_the_longest_header_of_a_size() -> None:
    """Six characters stand for the number of vertices after ~~, which is allowed for few vertices as well."""
    graph = nx.cycle_graph(7)
    check(decoded(b"~~" + b"?" * 5 + line(graph)), [graph])


def test_a_bad_line_is_an_error_of_its_own() -> None:
    good = nx.cycle_graph(5)
    bad = {
        b"D": "not a graph6 line: a graph of 5 vertices has 2 characters after its size, this line has 0",
        b"D???": "not a graph6 line: a graph of 5 vertices has 2 characters after its size, this line has 3",
        b"D? ?": "not a graph6 line: its characters are ? to ~, found 'D? ?'",
        b"D\xff?": "not a graph6 line: its characters are ? to ~, found 'D\\xff?'",
        b"~": "not a graph6 line: it ends within the number of vertices",
        b"~~????": "not a graph6 line: it ends within the number of vertices",
        b"~~~~~~~~": "of 68,719,476,735 vertices has 393,530,540,221,957,231,958 characters",
        b";A": "incremental sparse6 needs the graph before it",
        b">>planar_code<<": "not a header that is known here",
        b":": "not a sparse6 line: it ends within",
        b":~~~~~~~~": "68,719,476,735 vertices are too many for sparse6",
        b":B !": "not a sparse6 line: its characters are ? to ~",
        line(nx.MultiGraph([(0, 1), (0, 1), (1, 2)]), sparse=True): "the edge 0 - 1 is there more than once",
        line(nx.Graph([(0, 1), (1, 1)]), sparse=True): "vertex 1 has a self-loop",
    }
    text = b"".join(line(good) + b"\n\n" + wrong + b"\n" for wrong in bad)
    chunk = decoded(text)
    check(chunk, [good] * len(bad))
    assert chunk.line_numbers.tolist() == [1 + 3 * k for k in range(len(bad))]
    assert [number for number, _ in chunk.errors] == [3 + 3 * k for k in range(len(bad))]
    for (_, message), wanted in zip(chunk.errors, bad.values(), strict=True):
        assert wanted in message


def test_lines_that_are_not_simple_are_handed_on() -> None:
    sparse = line(nx.MultiGraph([(0, 1), (0, 1), (1, 2)]), sparse=True)
    text = b"\n".join([b">>digraph6<<&BP_", line(nx.path_graph(2)), sparse, b"&B?"])
    assert decoded(text, 5).apart == ((5, b"&BP_"), (8, b"&B?"))
    assert [number for number, _ in decoded(text).errors] == [3]
    chunk = decoded(text, multigraph=True)
    assert chunk.apart == ((1, b"&BP_"), (3, sparse), (4, b"&B?"))
    assert chunk.errors == ()
    check(chunk, [nx.path_graph(2)])


def test_loops_and_repeats_of_sparse6_are_dropped_if_asked() -> None:
    lines = [line(nx.MultiGraph([(0, 1), (0, 1), (1, 2)]), sparse=True), line(nx.Graph([(0, 1), (1, 1)]), sparse=True)]
    text = b"\n".join(lines)
    assert len(decoded(text).errors) == 2
    check(decoded(text, simplify=True), [nx.path_graph(3), nx.path_graph(2)])
    for chunk in read_chunks(io.BytesIO(text), simplify=True):
        check(chunk, [nx.path_graph(3), nx.path_graph(2)])


characters = st.sampled_from([bytes([c]) for c in (63, 64, 66, 67, 68, 70, 94, 95, 125, 126)])
few = st.lists(characters, max_size=7).map(b"".join)


@given(st.lists(few, max_size=8))
def test_the_same_lines_are_graphs_as_for_networkx(lines: list[bytes]) -> None:
    chunk = decoded(b"\n".join(lines))
    wanted, numbers, wrong = [], [], []
    for number, text in enumerate(lines, 1):
        try:
            graph = nx.from_graph6_bytes(text) if text else None
        except (nx.NetworkXError, IndexError, ValueError):
            wrong.append(number)
            continue
        if graph is not None:
            wanted.append(graph)
            numbers.append(number)
    check(chunk, wanted)
    assert chunk.line_numbers.tolist() == numbers
    assert [number for number, _ in chunk.errors] == wrong


@given(st.binary(max_size=60))
def test_any_bytes_are_read_as_lines(text: bytes) -> None:
    chunk = decoded(text)
    told = [*chunk.line_numbers.tolist(), *(number for number, _ in (*chunk.errors, *chunk.apart))]
    lines = [number for number, content in enumerate(text.split(b"\n"), 1) if content.strip(b" \t\r")]
    assert set(told) <= set(lines)
    assert len(told) == len(set(told))
    assert all(text.split(b"\n")[number - 1].strip(b" \t\r") in HEADERS for number in set(lines) - set(told))


@pytest.mark.parametrize("lines_at_once", [1, 3, 7, 1000])
def test_a_file_comes_in_chunks(lines_at_once: int) -> None:
    graphs = some_graphs() * 4
    text = b"".join(line(graph) + b"\n" + (b"bad line\n" if i == 20 else b"") for i, graph in enumerate(graphs))
    chunks = list(read_chunks(io.BytesIO(text), lines_at_once=lines_at_once))
    assert all(len(chunk.graphs) + len(chunk.errors) == lines_at_once for chunk in chunks[:-1])
    numbers = np.concatenate([chunk.line_numbers for chunk in chunks])
    assert numbers.tolist() == [k for k in range(1, len(graphs) + 2) if k != 22]
    assert [number for chunk in chunks for number, _ in chunk.errors] == [22]
    start = 0
    for chunk in chunks:
        check(chunk, graphs[start : start + len(chunk.graphs)])
        start += len(chunk.graphs)
    assert list(read_chunks(io.BytesIO(b""))) == []


def test_a_pipe_is_read_before_it_ends() -> None:
    """The first chunk is there while the writer waits, and a line that arrives in two pieces is one graph."""
    graph = nx.cycle_graph(6)
    text = line(graph) + b"\n"
    reading, writing = os.pipe()
    first_is_here = threading.Event()

    def write() -> None:
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            pipe.write(text * 3 + text[:2])
            assert first_is_here.wait(PATIENCE)
            pipe.write(text[2:] + text)

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(reading, "rb") as pipe:
        chunks = read_chunks(pipe, lines_at_once=3)
        check(next(chunks), [graph] * 3)
        first_is_here.set()
        rest = list(chunks)
    writer.join()
    assert [number for chunk in rest for number in chunk.line_numbers.tolist()] == [4, 5]
    for chunk in rest:
        check(chunk, [graph] * len(chunk.graphs))
