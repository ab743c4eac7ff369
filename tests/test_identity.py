"""A run goes on with its own files only: what it did not write is neither cut off nor overwritten."""

from __future__ import annotations

import json
import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from chordless.cli import main
from chordless.cycles.lines import CycleEncoder
from chordless.cycles.output import LineOutput
from chordless.cycles.write import RowOutput
from chordless.engine.keeper import Keeper
from chordless.graphs.load import load_graph
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import created, reopened, way_on_of

from kernels_ti import EngineError, OptionError
from kernels_ti.cycles import Cycles
from kernels_ti.errors import CheckpointError

CYCLES = Cycles.of_lists([[0, 1, 2], [3, 4, 5, 6]])
ROWS = np.array([[7], [0b1111000]], np.uint64)
KINDS = ("a.txt", "a.jsonl", "a.npy")
NAMES = [f"v{i}" for i in range(10)]


def opened(path, position=None):
    if path.suffix == ".npy":
        return RowOutput(path, len(NAMES), position=position)
    encoder = CycleEncoder(NAMES, "jsonl" if path.suffix == ".jsonl" else "text")
    return LineOutput.to_file(str(path), encoder, position=position)


def begun(path, cycles, more=0):
    """Write some cycles, take the position, and write some more; return what a checkpoint keeps."""
    output = opened(path)
    found = ROWS if output.rows else CYCLES
    for _ in range(cycles):
        output.write(found, lambda: False)
    position = json.loads(json.dumps(output.position()))
    for _ in range(more):
        output.write(found, lambda: False)
    output.close()
    return position


def of_version_0_4_0(position):
    return {name: value for name, value in position.items() if name in ("bytes", "part", "rows", "listed")}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("vouched", [0, 2])
@pytest.mark.parametrize("old", [False, True])
def test_the_run_s_own_file_is_gone_on_with(tmp_path, name, vouched, old):
    path = tmp_path / name
    position = begun(path, vouched, more=1)
    if old:
        position = of_version_0_4_0(position)
    output = opened(path, position)
    assert output.listed == 2 * vouched
    output.close()


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("vouched", [0, 1])
@pytest.mark.parametrize("old", [False, True])
def test_a_copy_from_a_backup_is_gone_on_with(tmp_path, name, vouched, old):
    path = tmp_path / name
    position = begun(path, vouched, more=1)
    os.link(path, tmp_path / "keeps-its-inode")
    before = path.stat()
    shutil.copy(path, tmp_path / "copy")
    os.replace(tmp_path / "copy", path)
    assert not os.path.samestat(path.stat(), before)
    opened(path, of_version_0_4_0(position) if old else position).close()


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("vouched", [0, 1])
@pytest.mark.parametrize("old", [False, True])
def test_a_file_of_somebody_else_stays_as_it_is(tmp_path, name, vouched, old):
    path = tmp_path / name
    position = begun(path, vouched)
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious\n" * 1000)
    os.replace(victim, path)
    with pytest.raises(CheckpointError, match="it is not the file that the run wrote"):
        opened(path, of_version_0_4_0(position) if old else position)
    assert path.read_bytes() == b"precious\n" * 1000


@pytest.mark.parametrize("name", KINDS)
def test_another_listing_in_its_place_stays_as_it_is(tmp_path, name):
    position = begun(tmp_path / name, 2)
    path = tmp_path / f"other{name}"
    output = opened(path)
    for _ in range(20):
        output.write(ROWS[1:] if output.rows else Cycles.of_lists([[9, 8, 7]]), lambda: False)
    output.close()
    whole = path.read_bytes()
    with pytest.raises(CheckpointError, match="it is not the file that the run wrote"):
        opened(path, position)
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("line_format", "line", "could"),
    [
        ("text", b"v0 v1 v2\n", True), ("text", b"v0 v1 v2", False), ("text", b"v0 v1 v0\n", False),
        ("text", b"v0 v1 root\n", False), ("text", b"v0 v1\n", False), ("jsonl", b'["v0","v1","v2"]\n', True),
        ("jsonl", b'["v0","v1","x"]\n', False), ("jsonl", b"3\n", False), ("jsonl", b"{\n", False),
        ("jsonl", b'["v0",["v1"],"v2"]\n', False),
    ],
)  # fmt: skip
def test_a_line_of_cycles_is_known(line_format, line, could):
    assert CycleEncoder(NAMES, line_format).could_begin(line) == could


@pytest.mark.parametrize(("line_format", "line"), [("text", b"v0\n"), ("text", b"v0 v1\n"), ("jsonl", b'["v0"]\n')])
def test_a_line_of_a_self_loop_is_known_where_a_run_lists_some(line_format, line):
    assert CycleEncoder(NAMES, line_format, shortest=1).could_begin(line)
    assert not CycleEncoder(NAMES, line_format, shortest=3).could_begin(line)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["drawn.txt", "drawn.jsonl", "drawn.npy"])
def test_a_sample_of_self_loops_is_resumed(tmp_path, name):
    (tmp_path / "loops.txt").write_text("a a\na b\n")
    asked = ["sample", str(tmp_path / "loops.txt"), "--multigraph", "--length", "1", "-k", "5", "-q"]
    assert main([*asked, "-o", str(tmp_path / name), "--checkpoint", str(tmp_path / "run")]) == 0
    assert main(["resume", str(tmp_path / "run"), "-q"]) == 0


def folder_of_a_run(path):
    asked = RunCommand("grid:3x4", 0.0, output=str(path), output_format="parts")
    return created(path, asked, load_graph("grid:3x4"))


def test_links_in_a_run_directory_are_not_followed(tmp_path):
    victim, path = tmp_path / "victim", tmp_path / "run"
    victim.write_bytes(b"precious")
    with folder_of_a_run(path) as directory:
        directory.checkpoint.write_bytes(b"")
        directory.events.symlink_to(victim)
        with pytest.raises(EngineError, match=r"events.jsonl is a symbolic link"):
            directory.record()
    output = RowOutput.to_folder(path / "cycles", 10)
    position = output.position()
    output.close()
    part = path / "cycles" / "part-00000.npy"
    part.rename(tmp_path / "elsewhere.npy")
    part.symlink_to(tmp_path / "elsewhere.npy")
    with pytest.raises(EngineError, match=r"part-00000.npy is a symbolic link"):
        RowOutput.to_folder(path / "cycles", 10, position=position)
    (path / "cycles").rename(tmp_path / "cycles")
    (path / "cycles").symlink_to(tmp_path / "cycles")
    with pytest.raises(OptionError, match="cycles is a symbolic link"):
        RowOutput.to_folder(path / "cycles", 10, position=position)
    assert victim.read_bytes() == b"precious"


@pytest.mark.parametrize("replaced", [True, False])
def test_a_folder_that_was_moved_gets_nothing_in_its_old_place(tmp_path, replaced):
    path, moved = tmp_path / "run", tmp_path / "moved"
    with folder_of_a_run(path) as directory:
        directory.checkpoint.write_bytes(b"")
    with reopened(path) as directory:
        output = RowOutput.to_folder(path / "cycles", 10, part_bytes=8)
        path.rename(moved)
        if replaced:
            path.mkdir()
            (path / "run.json").write_text("of somebody else")
        # What was found is not lost: the parts are where the folder is.
        output.write(ROWS, lambda: False)
        output.close()
        keeper = Keeper(directory, "hash", {}, None)
        with pytest.raises(EngineError, match=rf"no longer the folder of this run.*chordless resume {moved}$"):
            keeper.write(None)
        with pytest.raises(EngineError) as said, keeper.telling_the_way_on("the count", lambda: None):
            keeper.write(None)
        assert str(said.value).count("chordless resume") == 1
        way_on = rf"^no memory; the count is kept, and goes on with: chordless resume {moved}$"
        with pytest.raises(EngineError, match=way_on), keeper.telling_the_way_on("the count", lambda: None):
            raise EngineError("no memory")
    assert sorted(os.listdir(moved / "cycles")) == ["part-00000.npy", "part-00001.npy"]
    assert (os.listdir(path) == ["run.json"]) if replaced else not path.exists()


def test_a_checkpoint_that_takes_long_to_write_is_written_less_often(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("chordless.engine.keeper.time.monotonic", lambda: now[0])
    takes = iter([0.5, 6.5])

    def write(path, checkpoint):
        now[0] += next(takes)
        return 1

    monkeypatch.setattr("chordless.runs.checkpoint.write_checkpoint", write)
    session = SimpleNamespace(command=SimpleNamespace(checkpoint_every=60.0), so_far=lambda seconds: None)
    with folder_of_a_run(tmp_path / "run") as directory:
        keeper = Keeper(directory, "hash", {}, session)
        for wait in (60.0, 65.0):
            keeper.write(None)
            now[0] += wait - 0.25
            assert not keeper.is_due
            now[0] += 0.25
            assert keeper.is_due


def test_the_way_on_does_not_name_a_place_where_the_run_no_longer_is(tmp_path):
    path, moved = tmp_path / "run", tmp_path / "moved"
    with folder_of_a_run(path) as directory:
        directory.checkpoint.write_bytes(b"")
        assert way_on_of(path) == directory.way_on() == f"chordless resume {path}"
        path.rename(moved)
        assert directory.way_on() == f"chordless resume {moved}"
        elsewhere = f"chordless resume FOLDER, where FOLDER is the place to which {path} was moved"
        assert way_on_of(path) == elsewhere
        shutil.rmtree(moved)
        assert directory.way_on() == elsewhere


def test_a_folder_that_replaced_that_of_a_failed_run_is_not_cleared(tmp_path):
    path = tmp_path / "run"
    with folder_of_a_run(path):
        # There is no checkpoint yet, so the run takes away what it has begun.
        path.rename(tmp_path / "moved")
        path.mkdir()
        (path / "run.json").write_text("of somebody else")
    assert os.listdir(path) == ["run.json"]
