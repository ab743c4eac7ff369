"""The lines that cycles are written as, against a plain Python loop; pauses, and what happens where writing fails."""

from __future__ import annotations

import itertools
import json
import os
import random
import select
import sys
import threading
import zlib

import numpy as np
import pytest
from chordless.cycles.lines import CycleEncoder
from chordless.cycles.output import LineOutput, open_output
from chordless.cycles.read import read_rows
from chordless.protocol.orders import RunCommand
from hypothesis import given
from hypothesis import strategies as st

from kernels_ti import EngineError, Graph, OptionError
from kernels_ti.cycles import Cycles
from kernels_ti.errors import CheckpointError


def encoded(cycles, names, line_format):
    pieces = list(CycleEncoder(names, line_format).encode(Cycles.of_lists(cycles)))
    data = b"".join(data for _, data in pieces)
    assert sum(lines for lines, _ in pieces) == len(cycles) == data.count(b"\n")
    return data.decode()


@st.composite
def cycles_and_names(draw, alphabet):
    names = draw(st.lists(st.text(alphabet, min_size=1, max_size=30), min_size=3, max_size=20, unique=True))
    cycle = st.lists(st.integers(0, len(names) - 1), min_size=1, max_size=len(names), unique=True)
    return draw(st.lists(cycle, max_size=30)), names


# Blanks and letters of one to four bytes; TAB and line breaks have a test of their own.
TEXT = st.characters(codec="utf-8", exclude_characters="\t\n\r\v\f\0") | st.sampled_from(" ab")


@given(cycles_and_names(TEXT))
def test_text_is_what_a_loop_writes(drawn):
    cycles, names = drawn
    separator = "\t" if any(character.isspace() for name in names for character in name) else " "
    expected = "".join(separator.join(names[v] for v in cycle) + "\n" for cycle in cycles)
    assert encoded(cycles, names, "text") == expected


@given(cycles_and_names(st.characters(codec="utf-8")))
def test_jsonl_reads_back_as_the_names(drawn):
    cycles, names = drawn
    lines = encoded(cycles, names, "jsonl").split("\n")[:-1]
    assert [json.loads(line) for line in lines] == [[names[v] for v in cycle] for cycle in cycles]


def test_jsonl_keeps_integers_and_makes_text_of_the_rest():
    names = (7, np.int64(8), True, (0, 1), "9", 10**30)
    assert encoded([[0, 1, 2], [3, 4, 5]], names, "jsonl") == f'[7,8,"True"]\n["(0, 1)","9",{10**30}]\n'


def test_half_a_surrogate_pair_does_not_stop_a_listing():
    names = ("a\udc80", "b", "c")
    assert encoded([[0, 1, 2]], names, "text") == "a\\udc80 b c\n"
    assert json.loads(encoded([[0, 1, 2]], names, "jsonl")) == ["a\udc80", "b", "c"]


def test_a_cycle_of_one_vertex_is_a_whole_line():
    assert encoded([[0], [1, 0], [1]], ("a", "bc"), "jsonl") == '["a"]\n["bc","a"]\n["bc"]\n'
    assert encoded([[0], [1, 0], [1]], ("a", "bc"), "text") == "a\nbc a\nbc\n"


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\rb", "a\0b"])
def test_text_refuses_a_name_that_breaks_a_line(name):
    with pytest.raises(OptionError, match="jsonl"):
        CycleEncoder(("x", name, "y"), "text")
    assert json.loads(encoded([[0, 1, 2]], ("x", name, "y"), "jsonl")) == ["x", name, "y"]


def test_pieces_of_a_large_slice_join_without_a_seam():
    cycles = [[v % 50, v % 50 + 50, v % 50 + 100] for v in range(60_000)] + [list(range(1000)) * 200]
    expected = "".join(" ".join(map(str, cycle)) + "\n" for cycle in cycles)
    assert encoded(cycles, range(1000), "text") == expected


def test_few_pieces_are_made_before_they_are_taken(monkeypatch):
    monkeypatch.setattr("chordless.cycles.lines._PIECE_VERTICES", 30)
    monkeypatch.setattr("kernels_ti.device.made_ahead.cores", lambda: 2)
    taken = []

    class Cycle(np.ndarray):
        """Vertices that note who reads them."""

        def __getitem__(self, key):
            taken.append(threading.current_thread())
            return super().__getitem__(key)

    cycles = Cycles.of_lists([[v, v + 1, v + 2] for v in range(1000)])
    cycles = Cycles(cycles.offsets, cycles.vertices.view(Cycle))
    encoder = CycleEncoder(range(1002), "text")
    pieces = encoder.encode(cycles)
    first, _ = next(pieces)
    assert first == 10
    assert threading.main_thread() not in taken
    assert len(taken) <= 4 * 4, "four reads for each of four pieces"
    assert first + sum(lines for lines, _ in pieces) == 1000


@pytest.mark.parametrize("names", [range(10, 99), range(95, 110), ["x" * i for i in range(1, 40)]])
@pytest.mark.parametrize("line_format", ["text", "jsonl"])
def test_names_of_one_width_and_of_many(names, line_format):
    names = list(names)
    cycles = [list(range(start, start + 3 + start % 5)) for start in range(len(names) - 8)]
    named = [[names[v] for v in cycle] for cycle in cycles]
    if line_format == "text":
        expected = "".join(" ".join(map(str, cycle)) + "\n" for cycle in named)
    else:
        expected = "".join(json.dumps(cycle, separators=(",", ":")) + "\n" for cycle in named)
    assert encoded(cycles, names, line_format) == expected


def test_no_cycles_and_no_vertices():
    assert encoded([], ("a", "b"), "text") == ""
    assert encoded([], (), "jsonl") == ""


@pytest.fixture
def pipe():
    """Open a pipe as two unbuffered files."""
    reader, writer = os.pipe()
    with open(reader, "rb", buffering=0) as read, open(writer, "wb", buffering=0) as write:
        yield read, write


def output_to(stream, names=range(10), *, limit=None):
    return LineOutput(stream.fileno(), "FILE", CycleEncoder(names, "text"), limit=limit)


def never():
    return False


CYCLES = [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9]]


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_limit_is_exact(tmp_path, limit):
    path = tmp_path / "cycles.txt"
    with path.open("wb") as stream:
        output = output_to(stream, limit=limit)
        assert output.write(Cycles.of_lists(CYCLES), never) == (limit >= 3)
        assert output.listed == min(limit, 3)
    assert path.read_text() == "".join(["0 1 2\n", "3 4 5 6\n", "7 8 9\n"][:limit])


def test_limit_counts_over_slices(tmp_path):
    path = tmp_path / "cycles.txt"
    with path.open("wb") as stream:
        output = output_to(stream, limit=4)
        assert output.write(Cycles.of_lists(CYCLES), never)
        assert not output.write(Cycles.of_lists(CYCLES), never)
    assert path.read_text() == "0 1 2\n3 4 5 6\n7 8 9\n0 1 2\n"


def test_stop_is_heard_while_a_file_is_written(tmp_path):
    path = tmp_path / "cycles.txt"
    answers = iter([False, False, True])
    with path.open("wb") as stream:
        output = output_to(stream)
        assert not output.write(Cycles.of_lists(CYCLES * 100_000), lambda: next(answers))
    assert 0 < output.listed == path.read_text().count("\n") < 300_000


def test_no_write_to_a_pipe_blocks_and_few_are_needed(pipe, monkeypatch):
    read, write = pipe
    os.set_blocking(write.fileno(), False)
    os.set_blocking(read.fileno(), False)
    really_write, sizes, taken = os.write, [], []
    reader = random.Random(1)

    def whole_write(descriptor, data):
        sizes.append(really_write(descriptor, data))
        assert sizes[-1] == len(data)
        return sizes[-1]

    def take_some():
        taken.append(read.read(reader.choice([1, 100, 4096, 5000, 70_000])) or b"")
        return False

    monkeypatch.setattr(os, "write", whole_write)
    monkeypatch.setattr("chordless.cycles.output._SECONDS_BETWEEN_QUESTIONS", 0.0)
    cycles = Cycles.of_lists([list(range(reader.randrange(3, 1000))) for _ in range(1000)])
    output = output_to(write, range(1000))
    assert output.write(cycles, take_some)
    while more := read.read():
        taken.append(more)
    expected = b"".join(lines for _, lines in CycleEncoder(range(1000), "text").encode(cycles))
    assert b"".join(taken) == expected
    assert output.listed == 1000
    if sys.platform == "linux":
        assert max(sizes) > 4 * select.PIPE_BUF


def test_full_device_is_an_error():
    with open("/dev/full", "wb") as stream, pytest.raises(EngineError, match="FILE: No space left"):
        output_to(stream).write(Cycles.of_lists(CYCLES), never)


def test_torn_line_is_cut_off_when_the_disk_is_full(tmp_path, monkeypatch):
    path = tmp_path / "cycles.txt"
    path.write_text("before\n")
    really_write = os.write

    def write_nine_bytes(descriptor, data):
        if len(data) < 20:
            raise OSError(28, "No space left on device")
        return really_write(descriptor, data[:9])

    with path.open("ab") as stream:
        output = output_to(stream)
        monkeypatch.setattr(os, "write", write_nine_bytes)
        with pytest.raises(EngineError, match="whole lines written before: 1"):
            output.write(Cycles.of_lists(CYCLES), never)
        assert output.listed == 1
    assert path.read_text() == "before\n0 1 2\n"


def test_closed_pipe_is_noticed_before_and_while_writing(pipe):
    reader, writer = pipe
    output = output_to(writer)
    assert not output.reader_is_gone()
    reader.close()
    assert output.reader_is_gone()
    with pytest.raises(BrokenPipeError):
        output.write(Cycles.of_lists(CYCLES), never)


def test_stop_is_heard_while_the_reader_sleeps(pipe):
    reader, writer = pipe
    output = output_to(writer)
    answers = itertools.chain([False] * 5, itertools.repeat(True))
    assert not output.write(Cycles.of_lists(CYCLES * 100_000), lambda: next(answers))
    writer.close()
    data = reader.readall()
    assert data.endswith(b"\n")
    assert output.listed == data.count(b"\n") < 300_000


@pytest.mark.parametrize("written_after", [0, 1, 2])
def test_lines_go_on_from_a_position(tmp_path, written_after):
    path = tmp_path / "cycles.txt"
    output = LineOutput.to_file(str(path), CycleEncoder(range(10), "text"))
    output.write(Cycles.of_lists(CYCLES), never)
    position = json.loads(json.dumps(output.position()))
    for _ in range(written_after):
        output.write(Cycles.of_lists(CYCLES), never)
    output.close()
    before = path.read_text()
    assert len(before.splitlines()) == 3 * (1 + written_after)
    output = LineOutput.to_file(str(path), CycleEncoder(range(10), "text"), position=position, limit=5)
    assert output.listed == 3
    assert not output.write(Cycles.of_lists(CYCLES), never)
    assert output.position().items() >= {"bytes": path.stat().st_size, "listed": 5}.items()
    output.close()
    assert path.read_text() == "0 1 2\n3 4 5 6\n7 8 9\n0 1 2\n3 4 5 6\n"


def test_position_after_an_error_is_of_whole_lines(tmp_path, monkeypatch):
    path = tmp_path / "cycles.txt"
    output = LineOutput.to_file(str(path), CycleEncoder(range(10), "text"))
    really_write = os.write

    def write_nine_bytes(descriptor, data):
        if len(data) < 20:
            raise OSError(28, "No space left on device")
        return really_write(descriptor, data[:9])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write_nine_bytes)
        with pytest.raises(EngineError):
            output.write(Cycles.of_lists(CYCLES), never)
    position = output.position()
    assert position.items() >= {"bytes": 6, "listed": 1, "checksum": zlib.crc32(b"0 1 2\n")}.items()
    output.close()


def test_lines_that_were_changed_are_not_gone_on_with(tmp_path):
    path = tmp_path / "cycles.txt"
    encoder = CycleEncoder(range(10), "text")
    output = LineOutput.to_file(str(path), encoder)
    for _ in range(20):
        output.write(Cycles.of_lists(CYCLES * 400), never)
    position = output.position()
    output.close()
    whole = path.read_bytes()
    assert len(whole) > 1 << 17  # The beginning tells nothing of the middle.
    at = len(whole) // 2
    wrong = whole[:at] + whole[at:].replace(b"3 4 5 6", b"3 4 5 7", 1)
    path.write_bytes(wrong)
    with pytest.raises(CheckpointError, match="what the run has written there was changed, so it is left as it is"):
        LineOutput.to_file(str(path), encoder, position=position)
    assert path.read_bytes() == wrong

    path.write_bytes(whole + b"0 1")
    output = LineOutput.to_file(str(path), encoder, position=position)
    output.write(Cycles.of_lists(CYCLES), never)
    later = output.position()
    output.close()
    LineOutput.to_file(str(path), encoder, position=later).close()
    assert path.read_bytes().startswith(whole)


def test_notes_written_over_a_listing_that_has_no_cycle_yet_stay(tmp_path):
    path = tmp_path / "cycles.txt"
    encoder = CycleEncoder(range(10), "text")
    output = LineOutput.to_file(str(path), encoder)
    position = output.position()
    output.close()
    # The same file, as a shell writes into it.
    path.write_text("my own notes\n")
    with pytest.raises(CheckpointError, match="it is not the file that the run wrote"):
        LineOutput.to_file(str(path), encoder, position=position)
    assert path.read_text() == "my own notes\n"
    path.write_text("0 1 2\n")
    output = LineOutput.to_file(str(path), encoder, position=position)
    output.close()
    assert path.read_text() == ""


def test_a_file_that_has_shrunk_or_gone_is_not_gone_on_with(tmp_path):
    path = tmp_path / "cycles.txt"
    encoder = CycleEncoder(range(10), "text")
    path.write_text("0 1 2\n")
    with pytest.raises(CheckpointError, match="shorter than the run left it"):
        LineOutput.to_file(str(path), encoder, position={"bytes": 7, "listed": 2})
    assert path.read_text() == "0 1 2\n"
    path.unlink()
    with pytest.raises(CheckpointError, match=r"cannot go on with .*No such file"):
        LineOutput.to_file(str(path), encoder, position={"bytes": 0, "listed": 0})
    assert not path.exists()


def test_a_pipe_has_no_position(pipe):
    _, writer = pipe
    with pytest.raises(OptionError, match="FILE is not a file"):
        output_to(writer).position()


def command(output, output_format, **more):
    return RunCommand(graph="-", program_start=0.0, output=str(output), output_format=output_format, **more)


def test_open_output_takes_each_kind_up_where_it_was(tmp_path):
    graph = Graph.from_edges(70, [(0, 1), (1, 2), (0, 2)], names=[f"v{i}" for i in range(70)])
    rows = np.array([[7, 0], [7, 1]], np.uint64)
    for name, output_format, found in [
        ("a.txt", "text", Cycles.of_lists(CYCLES)),
        ("a.jsonl", "jsonl", Cycles.of_lists(CYCLES)),
        ("a.npy", "npy", rows),
        ("run", "parts", rows),
    ]:
        asked = command(tmp_path / name, output_format, limit=100)
        with open_output(asked, graph, -1) as output:
            assert output.rows == (output_format in ("npy", "parts"))
            output.write(found, never)
            position = output.position()
            output.write(found, never)
        with open_output(asked, graph, -1, position) as output:
            output.write(found, never)
            assert output.listed == 2 * position["listed"] > 0
    assert (tmp_path / "a.txt").read_text() == 2 * "v0 v1 v2\nv3 v4 v5 v6\nv7 v8 v9\n"
    assert (tmp_path / "a.jsonl").read_text() == 2 * '["v0","v1","v2"]\n["v3","v4","v5","v6"]\n["v7","v8","v9"]\n'
    for name in ("a.npy", "run"):
        assert [part.tolist() for part in read_rows(tmp_path / name)] == [rows.tolist() * 2]


def test_open_output_ends_standard_output(pipe):
    reader, writer = pipe
    graph = Graph.from_edges(10, [])
    with open_output(command("-", "text"), graph, os.dup(writer.fileno())) as output:
        assert output.write(Cycles.of_lists(CYCLES), never)
    writer.close()
    assert reader.readall() == b"0 1 2\n3 4 5 6\n7 8 9\n"


@pytest.mark.parametrize(("name", "output_format"), [("no/cycles.txt", "text"), ("no/cycles.npy", "npy")])
def test_an_output_that_cannot_be_opened_is_one_line(tmp_path, name, output_format):
    graph = Graph.from_edges(3, [(0, 1), (1, 2), (0, 2)])
    asked = command(tmp_path / name, output_format)
    with pytest.raises(EngineError, match=f"cannot write .*{name}: No such file"), open_output(asked, graph, -1):
        pass
