"""Bit rows on disk: files and parts, written, paused, continued and read back."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from chordless.cycles.read import CycleStore, part_path, read_rows, row_words
from chordless.cycles.write import LARGEST_GRAPH, RowOutput, npy_header
from chordless.engine import search_run
from chordless.protocol.orders import RunCommand
from patience import PATIENCE
from program import ENVIRONMENT

from kernels_ti import EngineError, OptionError
from kernels_ti.errors import CheckpointError

N, WORDS = 130, 3
ROWS = np.random.default_rng(1).integers(0, 1 << 63, (100, WORDS)).astype(np.uint64)
ROW_BYTES = WORDS * 8


def never():
    return False


def to_file(tmp_path, **more):
    return RowOutput(tmp_path / "cycles.npy", N, **more)


def to_parts(tmp_path, **more):
    return RowOutput.to_folder(tmp_path / "run" / "cycles", N, part_bytes=7 * ROW_BYTES + 5, **more)


def read(tmp_path, position=None):
    path = tmp_path / "run" if (tmp_path / "run").exists() else tmp_path / "cycles.npy"
    return read_rows(path, position)


@pytest.fixture(params=[to_file, to_parts])
def opened(request, tmp_path):
    """How to open one of the two kinds of output."""
    return lambda **more: request.param(tmp_path, **more)


def written(tmp_path):
    return np.concatenate(read(tmp_path))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 100])
def test_rows_come_back(opened, tmp_path, count):
    output = opened()
    assert output.rows
    assert output.write(ROWS[:count], never)
    assert not output.reader_is_gone()
    output.close()
    assert np.array_equal(written(tmp_path), ROWS[:count])
    assert output.listed == count


def test_no_cycles_make_a_whole_empty_file(opened, tmp_path):
    opened().close()
    [part] = read(tmp_path)
    assert (part.shape, part.dtype) == ((0, WORDS), np.dtype("<u8"))


def test_a_file_is_whole_at_every_moment(tmp_path):
    output = to_file(tmp_path)
    for row in range(5):
        mapped = np.load(tmp_path / "cycles.npy", mmap_mode="r")
        assert isinstance(mapped, np.memmap)
        assert np.array_equal(mapped, ROWS[:row])
        output.write(ROWS[row : row + 1], never)
    output.close()


def test_the_header_has_room_for_any_number_of_rows(tmp_path):
    path = tmp_path / "cycles.npy"
    to_file(tmp_path).close()
    size = path.stat().st_size
    output = to_file(tmp_path)
    for _ in range(1000):
        output.write(ROWS, never)
    output.close()
    assert path.stat().st_size - size == 100_000 * ROW_BYTES
    assert np.load(path).shape == (100_000, WORDS)


def test_parts_are_of_one_size_and_valid_each_for_itself(tmp_path):
    output = to_parts(tmp_path)
    for start in range(0, 100, 9):
        output.write(ROWS[start : start + 9], never)
    output.close()
    parts = [np.load(part_path(tmp_path / "run" / "cycles", part)) for part in range(15)]
    assert [len(part) for part in parts] == [7] * 14 + [2]
    assert np.array_equal(np.concatenate(parts), ROWS)


def test_rows_of_any_layout(opened, tmp_path):
    output = opened()
    output.write(np.asfortranarray(ROWS)[::2], never)
    output.close()
    assert np.array_equal(written(tmp_path), ROWS[::2])


@pytest.mark.parametrize("limit", [1, 7, 8, 50, 99, 100, 101])
def test_limit_is_exact(opened, tmp_path, limit):
    output = opened(limit=limit)
    results = [output.write(piece, never) for piece in (ROWS[:30], ROWS[30:])]
    output.close()
    assert results == [limit >= 30, limit >= 100]
    assert output.listed == min(limit, 100)
    assert np.array_equal(written(tmp_path), ROWS[:limit])


def test_stop_is_heard_between_pieces(tmp_path):
    answers = iter([False, False, True])
    output = to_parts(tmp_path)
    assert not output.write(ROWS, lambda: next(answers))
    output.close()
    assert output.listed == 14
    assert np.array_equal(written(tmp_path), ROWS[:14])


@pytest.mark.parametrize("before", [0, 1, 6, 7, 8, 14])
@pytest.mark.parametrize("lost", [0, 1, 7, 30])
def test_rows_go_on_from_every_position(opened, tmp_path, before, lost):
    output = opened()
    output.write(ROWS[:before], never)
    position = json.loads(json.dumps(output.position()))
    output.write(ROWS[50 : 50 + lost], never)
    output.close()
    assert position["listed"] == before
    assert np.array_equal(np.concatenate(read(tmp_path, position)), ROWS[:before])
    output = opened(position=position, limit=40)
    assert np.array_equal(written(tmp_path), ROWS[:before])
    assert not output.write(ROWS[before:], never)
    assert output.listed == 40
    assert np.array_equal(np.concatenate(read(tmp_path, output.position())), ROWS[:40])
    output.close()
    assert np.array_equal(written(tmp_path), ROWS[:40])


def killed_after(tmp_path, code):
    """Run `code` in a process of its own that kills itself at the end."""
    program = f"import os, sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\nfrom test_parts import *\n"
    program += f"from pathlib import Path\ntmp_path = Path({str(tmp_path)!r})\n{code}\nos.kill(os.getpid(), 9)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == -9, done.stderr


@pytest.mark.parametrize("kind", ["to_file", "to_parts"])
def test_a_killed_run_leaves_whole_files(tmp_path, kind):
    killed_after(tmp_path, f"output = {kind}(tmp_path)\noutput.write(ROWS[:20], never)")
    assert np.array_equal(written(tmp_path), ROWS[:20])


def test_a_torn_row_is_no_hindrance(tmp_path):
    output = to_file(tmp_path)
    output.write(ROWS[:5], never)
    position = output.position()
    output.close()
    with open(tmp_path / "cycles.npy", "ab") as stream:
        stream.write(b"torn")
    assert np.array_equal(written(tmp_path), ROWS[:5])
    output = to_file(tmp_path, position=position)
    output.write(ROWS[5:9], never)
    output.close()
    assert np.array_equal(written(tmp_path), ROWS[:9])


@pytest.mark.parametrize("kept", [0, 3, 10])
def test_a_full_disk_keeps_whole_rows(opened, tmp_path, kept):
    header = 128
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    output = opened()
    whole_parts = kept // 7 if (tmp_path / "run").exists() else 0
    in_file = kept - 7 * whole_parts
    output.write(ROWS[: 7 * whole_parts], never)
    # Half of one more row than those that are kept.
    resource.setrlimit(resource.RLIMIT_FSIZE, (header + in_file * ROW_BYTES + ROW_BYTES // 2, limits[1]))
    try:
        if whole_parts:
            output.write(ROWS[7 * whole_parts : kept], never)
        with pytest.raises(EngineError) as caught:
            output.write(ROWS[kept if whole_parts else 0 :], never)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot write " in str(caught.value)
    assert "File too large" in str(caught.value)
    assert ("whole cycles written before: 10" in str(caught.value)) == (kept == 10)
    assert output.listed == kept == output.position()["listed"]
    output.close()
    assert np.array_equal(written(tmp_path), ROWS[:kept])


def test_a_part_that_cannot_begin_leaves_nothing(tmp_path, monkeypatch):
    output = to_parts(tmp_path)
    output.write(ROWS[:7], never)
    really_write = os.pwrite

    def write_no_header(descriptor, data, offset):
        if b"(0," in data:
            raise OSError(28, "No space left on device")
        return really_write(descriptor, data, offset)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", write_no_header)
        with pytest.raises(EngineError, match="No space left on device; whole cycles written before: 7"):
            output.write(ROWS[7:], never)
    assert os.listdir(tmp_path / "run" / "cycles") == ["part-00000.npy"]
    output.write(ROWS[7:], never)
    output.close()
    assert np.array_equal(written(tmp_path), ROWS)


def test_a_file_of_something_else_is_not_gone_on_with(tmp_path):
    output = to_file(tmp_path)
    output.write(ROWS[:5], never)
    position = output.position()
    output.close()
    path = tmp_path / "cycles.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(CheckpointError, match="shorter than the run left it"):
        to_file(tmp_path, position=position)
    assert path.read_bytes() == whole[:-1]
    for wrong in (b"", b"x" * len(whole)):
        path.write_bytes(wrong)
        with pytest.raises(CheckpointError, match="not the file that the run wrote"):
            to_file(tmp_path, position=position)
        assert path.read_bytes() == wrong
    np.save(path, ROWS[:, :2])
    with pytest.raises(CheckpointError, match="not the file that the run wrote"):
        to_file(tmp_path, position=position)
    path.unlink()
    with pytest.raises(EngineError, match=r"cannot go on with .*No such file"):
        to_file(tmp_path, position=position)


@pytest.mark.parametrize("to_output", [to_file, to_parts])
@pytest.mark.parametrize("place", [3, 17])
def test_rows_that_were_changed_are_not_gone_on_with(tmp_path, to_output, place):
    output = to_output(tmp_path)
    output.write(ROWS[:10], never)
    output.write(ROWS[10:20], never)
    position = output.position()
    output.write(ROWS[20:], never)
    output.close()
    is_file = to_output is to_file
    part = 0 if is_file else place // 7
    path = tmp_path / "cycles.npy" if is_file else part_path(tmp_path / "run" / "cycles", part)
    whole = path.read_bytes()
    at = len(npy_header(0, WORDS)) + (place if is_file else place % 7) * ROW_BYTES
    for wrong in (whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], whole[: at + 1]):
        path.write_bytes(wrong)
        with pytest.raises(
            CheckpointError, match=r"what the run has written there was changed|is not the file|shorter"
        ):
            to_output(tmp_path, position=position)
        assert path.read_bytes() == wrong
    path.write_bytes(whole)
    output = to_output(tmp_path, position=position)
    output.write(ROWS[20:40], never)
    position = output.position()
    output.close()
    to_output(tmp_path, position=position).close()
    assert CycleStore(read_rows(path if is_file else tmp_path / "run"))[0:100].tolist() == ROWS[:40].tolist()


def test_the_cycles_of_another_run_are_left_alone(tmp_path):
    to_parts(tmp_path).close()
    output = to_parts(tmp_path)
    output.write(ROWS, never)
    output.close()
    with pytest.raises(OptionError, match="cycles of another run"):
        to_parts(tmp_path)
    assert np.array_equal(written(tmp_path), ROWS)


def test_a_pipe_takes_no_rows(tmp_path):
    os.mkfifo(tmp_path / "cycles.npy")
    with pytest.raises(OptionError, match="can only be written to a file"):
        to_file(tmp_path)


def test_a_large_graph_is_refused(tmp_path):
    RowOutput(tmp_path / "cycles.npy", LARGEST_GRAPH).close()
    for open_it in (RowOutput, RowOutput.to_folder):
        with pytest.raises(OptionError, match=r"131,073 vertices .*\.txt or \.jsonl"):
            open_it(tmp_path / "x.npy", LARGEST_GRAPH + 1)
    assert not (tmp_path / "x.npy").exists()


def test_rows_of_another_width_are_refused(opened):
    output = opened()
    with pytest.raises(EngineError, match="2 words"):
        output.write(ROWS[:, :2], never)
    output.close()


def test_words_of_a_row():
    assert [row_words(n) for n in (0, 1, 64, 65, 128)] == [0, 1, 1, 2, 2]


def test_a_store_reads_any_slice(tmp_path):
    output = to_parts(tmp_path)
    output.write(ROWS, never)
    output.close()
    store = CycleStore(read_rows(tmp_path / "run"))
    assert (len(store), store.words) == (100, WORDS)
    for start, stop in [
        (0, 100),
        (3, 5),
        (6, 8),
        (7, 14),
        (99, 200),
        (20, 20),
        (30, 10),
        (-5, None),
        (0, 0),
        (100, 101),
    ]:
        assert np.array_equal(store[start:stop], ROWS[start:stop])
    assert [len(chunk) for chunk in store.chunks(40)] == [40, 40, 20]
    assert np.array_equal(np.concatenate(list(store.chunks(33))), ROWS)
    assert store.is_kept_in(part_path(tmp_path / "run" / "cycles", 3))
    assert not store.is_kept_in(tmp_path / "elsewhere")


def test_a_full_disk_leaves_no_empty_file(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.pwrite", full)
    with pytest.raises(EngineError, match="No space left on device"):
        to_file(tmp_path)
    assert not (tmp_path / "cycles.npy").exists()


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    output = to_file(tmp_path)
    output.write(ROWS, never)
    output.close()
    [part] = read_rows(tmp_path / "cycles.npy")
    assert isinstance(part, np.memmap)
    assert np.shares_memory(CycleStore([part])[10:20], part)


def test_a_damaged_run_is_one_line(tmp_path):
    output = to_parts(tmp_path)
    output.write(ROWS, never)
    position = output.position()
    output.close()
    folder = tmp_path / "run" / "cycles"
    with pytest.raises(CheckpointError, match="the checkpoint says 3"):
        read(tmp_path, {**position, "rows": 3})
    part_path(folder, 4).unlink()
    with pytest.raises(CheckpointError, match=r"part-00004.npy: this part of the cycles is missing"):
        read(tmp_path)
    np.save(part_path(folder, 4), ROWS[:, :1])
    with pytest.raises(CheckpointError, match="different graphs"):
        read(tmp_path)
    for damage in (b"", b"no", b"\x80\x04K\x01."):
        part_path(folder, 4).write_bytes(damage)
        with pytest.raises(OptionError, match=r"part-00004.npy: not a whole .npy file, as"):
            read(tmp_path)
    np.save(part_path(folder, 4), np.zeros((3, WORDS)))
    with pytest.raises(OptionError, match="not a file of cycles"):
        read(tmp_path)
    with pytest.raises(OptionError, match="holds no cycles"):
        read_rows(tmp_path)
    with pytest.raises(OptionError, match="cannot be read: No such file"):
        read_rows(tmp_path / "nothing.npy")


@pytest.mark.parametrize("output_format", ["npy", "parts"])
def test_too_large_a_graph_is_refused_before_a_device_is_opened(tmp_path, monkeypatch, output_format):
    def opened(*_, **__):
        raise AssertionError("a device was opened")

    monkeypatch.setattr("kernels_ti.estimate.device_choice.device_for", opened)
    output = str(tmp_path / "big")
    command = RunCommand(f"path:{LARGEST_GRAPH + 1}", 0.0, output=output, output_format=output_format)
    with pytest.raises(OptionError, match="131,072 vertices are the most"):
        search_run.run(command, SimpleNamespace(), -1)
    assert not list(tmp_path.iterdir())


def test_a_position_in_a_part_that_never_was_is_refused(tmp_path):
    (tmp_path / "cycles").mkdir()
    with pytest.raises(CheckpointError, match="this part of the cycles is missing"):
        read_rows(tmp_path, {"part": 1 << 61, "rows": 0})
