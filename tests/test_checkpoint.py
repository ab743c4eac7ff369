"""The checkpoint's file: what is written reads back, and nothing else is ever read."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import random
import resource
import zipfile
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pytest
from chordless.runs import checkpoint as checkpoint_module
from chordless.runs.checkpoint import CHECKPOINT_FORMAT, Checkpoint, open_checkpoint, write_checkpoint
from chordless.runs.saved import Sessions, unpacked
from laid_out import block_batches
from oracles import grid
from typing_extensions import TypeAliasType

from kernels_ti import EngineError, OptionError
from kernels_ti.blocks.resumed import resumed_groups
from kernels_ti.cycles import Cycles
from kernels_ti.errors import CheckpointError
from kernels_ti.state import Frames, GroupState, Layout, RunState

OPTIONS = {"min_length": 3, "max_length": None, "expansion": "two-ended", "part": (1, 2), "output_format": "text"}
SESSIONS = Sessions("cpu", "a processor", 1.5, 7.25, 1 << 33)


def frames_of(rng, count, words, members):
    rows = [rng.integers(0, 2**64, (count, words), np.uint64) for _ in range(3)]
    return Frames(
        rows[0],
        rows[1],
        rows[2] if members else None,
        rng.integers(0, 100, count).astype(np.int32),
        rng.integers(3, 50, count).astype(np.int32),
        rng.random(count),
    )


def checkpoint_of(groups=(), unwritten=(), **more):
    state = RunState(
        Layout(nested=True, radius=4), 2, tuple(groups), {3: 2**70, 4: 1}, {3: np.int64(5)}, seconds=1.25, share=0.375
    )
    values = {
        "graph_hash": "abc", "options": OPTIONS, "state": state, "position": {"bytes": 7, "listed": 3}, "listed": 3,
        "unwritten": tuple(unwritten), "sessions": SESSIONS, "finished": False, **more,
    }  # fmt: skip
    return Checkpoint(**values)


@pytest.fixture
def full():
    """Make a checkpoint with everything in it; its frames come from generators."""
    rng = np.random.default_rng(1)
    chunks = [[frames_of(rng, 40, 3, True), frames_of(rng, 1, 3, True)], [], [frames_of(rng, 5, 1, False)]]
    groups = [GroupState(9, i, (piece for piece in pieces)) for i, pieces in enumerate(chunks)]
    unwritten = (
        Cycles(np.array([0, 3, 7]), np.array([0, 1, 2, 3, 4, 5, 6], np.int32)),
        rng.integers(0, 2**64, (4, 2), np.uint64),
    )
    return chunks, checkpoint_of(groups, unwritten)


def same(a, b):
    assert (a is None) == (b is None)
    if a is not None:
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def check_equal(found, chunks, expected):
    for group, pieces in zip(found.state.groups, chunks, strict=True):
        for _ in range(2):
            read = list(group.frames)
            assert len(read) == len(pieces)
            for one, other in zip(read, pieces, strict=True):
                for array in dataclasses.fields(Frames):
                    same(getattr(one, array.name), getattr(other, array.name))
    assert [(group.surveyed, group.next_seed) for group in found.state.groups] == [(9, 0), (9, 1), (9, 2)]
    for name in ("layout", "batch", "paths_by_length", "cycles_by_length", "seconds", "share"):
        assert getattr(found.state, name) == getattr(expected.state, name)
    for name in ("graph_hash", "position", "listed", "sessions", "finished"):
        assert getattr(found, name) == getattr(expected, name)
    cycles, rows = found.unwritten
    same(cycles.offsets, expected.unwritten[0].offsets)
    same(cycles.vertices, expected.unwritten[0].vertices)
    same(rows, expected.unwritten[1])


def test_a_checkpoint_reads_back_as_it_was(tmp_path, full):
    chunks, checkpoint = full
    path = tmp_path / "checkpoint"
    assert write_checkpoint(path, checkpoint) == path.stat().st_size
    assert os.listdir(tmp_path) == ["checkpoint"]
    with open_checkpoint(path, "abc", OPTIONS) as found:
        check_equal(found, chunks, checkpoint)
        assert found.state.groups[1].frames == ()


def test_vertices_of_eight_bytes_as_version_0_5_0_wrote_them_are_read(tmp_path):
    wide = Cycles(np.array([0, 3]), np.array([0, 1, 2], np.int64))
    write_checkpoint(tmp_path / "checkpoint", checkpoint_of([], [wide]))
    with open_checkpoint(tmp_path / "checkpoint", "abc", OPTIONS) as found:
        same(found.unwritten[0].vertices, wide.vertices.astype(np.int32))


def test_frames_are_neither_made_nor_read_before_they_are_gone_through(tmp_path):
    rng = np.random.default_rng(2)
    made, alive = [], []

    def pieces():
        for i in range(5):
            made.append(i)
            yield frames_of(rng, 10, 2, False)
            alive.append(i)

    path = tmp_path / "checkpoint"
    checkpoint = checkpoint_of([GroupState(0, 0, pieces())])
    assert made == []
    write_checkpoint(path, checkpoint)
    assert made == alive == list(range(5))
    with open_checkpoint(path, "abc", OPTIONS) as found:
        whole = path.read_bytes()
        path.write_bytes(whole[:200] + bytes(len(whole) - 200))
        with pytest.raises(CheckpointError, match="damaged"):
            list(found.state.groups[0].frames)


def refusal(path, graph_hash="abc", options=OPTIONS, **more):
    with pytest.raises(CheckpointError) as caught, open_checkpoint(path, graph_hash, options, **more):
        pass
    message = str(caught.value)
    assert "\n" not in message
    assert str(path.parent) in message
    return message


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_checkpoint_is_refused(tmp_path, full, share):
    path = tmp_path / "checkpoint"
    write_checkpoint(path, full[1])
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    assert "damaged or cut short" in refusal(path)


@pytest.mark.slow
def test_a_changed_byte_is_refused_or_changes_nothing(tmp_path, full):
    chunks, checkpoint = full
    path = tmp_path / "checkpoint"
    write_checkpoint(path, checkpoint)
    whole = path.read_bytes()
    rng = random.Random(3)
    refused = 0
    tries = [rng.randrange(len(whole)) for _ in range(400)] + list(range(len(whole) - 400, len(whole)))
    for at in tries:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << rng.randrange(8))]) + whole[at + 1 :])
        try:
            with open_checkpoint(path, "abc", OPTIONS) as found:
                # A byte that means nothing, such as the time of a member of the zip.
                check_equal(found, chunks, checkpoint)
        except CheckpointError:
            refused += 1
    assert refused > len(tries) // 2


def rewritten(path, **changes):
    """Change the header of a checkpoint, and keep it a whole zip."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"]) | changes
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, json.dumps(header) if name == "header.json" else data)


@pytest.mark.parametrize(("version", "age"), [(CHECKPOINT_FORMAT + 1, "a newer"), (CHECKPOINT_FORMAT - 1, "an older")])
def test_another_format_is_refused(tmp_path, full, version, age):
    path = tmp_path / "checkpoint"
    write_checkpoint(path, full[1])
    rewritten(path, format=version)
    assert f"of {age} format, {version}" in refusal(path)


WRONG = (None, True, -1, 10**20, 2.5, "x", [], [1], {}, {"x": 1}, float("nan"))


@pytest.mark.parametrize(
    ("name", "fitting"),
    [
        ("finished", (True,)), ("position", (None, {}, {"x": 1})), ("listed", ()), ("unwritten", ()), ("sessions", ()),
        ("layout", ()), ("batch", ()), ("groups", ([],)), ("paths_by_length", ({},)), ("cycles_by_length", ({},)),
        ("seconds", (2.5, 10**20)), ("share", (2.5, 10**20)),
    ],
)  # fmt: skip
def test_a_header_that_was_edited_is_refused_by_name(tmp_path, full, name, fitting):
    path = tmp_path / "checkpoint"
    for value in WRONG:
        write_checkpoint(path, full[1])
        rewritten(path, **{name: value})
        if value in fitting:
            with open_checkpoint(path, "abc", OPTIONS):
                continue
        assert refusal(path).count("\n") == 0


def test_a_header_that_has_not_what_its_run_needs_is_refused(tmp_path, full):
    path = tmp_path / "checkpoint"
    write_checkpoint(path, full[1])
    with open_checkpoint(path, "abc", OPTIONS, listing="text"):
        pass
    with pytest.raises(CheckpointError, match="position is"), open_checkpoint(path, "abc", OPTIONS, listing="parts"):
        pass
    rewritten(path, sessions=dataclasses.asdict(SESSIONS) | {"arch": 5})
    assert "arch is 5" in refusal(path)
    rewritten(path, sessions=dataclasses.asdict(SESSIONS), pick={"orders": [], "done": [], "forward": None})
    assert "it is of work of another kind" in refusal(path)


def test_a_state_of_another_search_is_refused():
    groups = block_batches(grid(4, 5), Layout(), 64)[0]
    seeds = len(groups[0].seed_entries)
    state = RunState(Layout(), 3, (GroupState(seeds, seeds),))
    assert len(resumed_groups(state, groups, members=False)) == 1
    state.require_batch(3)
    for kept in ((), (GroupState(), GroupState()), (GroupState(seeds + 1, 0),), (GroupState(0, seeds + 1),)):
        with pytest.raises(OptionError, match="does not fit the graph: it has other groups"):
            resumed_groups(replace(state, groups=kept), groups, members=False)
    with pytest.raises(OptionError, match="batch 3 of 2"):
        state.require_batch(2)


@pytest.mark.parametrize(
    "forged",
    [
        {"end": np.array([20], np.int32)},
        {"end": np.array([-1], np.int32)},
        {"length": np.array([21], np.int32)},
        {"extensions": np.array([[1 << 20]], np.uint64)},
        {"members": np.array([[1 << 63]], np.uint64)},
        {"members": None},
        dict.fromkeys(("allowed", "extensions", "members"), np.array([[1, 0]], np.uint64)),
    ],
    ids=lambda forged: "+".join(forged),
)
def test_a_path_that_leads_out_of_its_block_is_refused(forged):
    """The grid is one block of 20 vertices, in rows of one word; kernels do not check what they are given."""
    groups = block_batches(grid(4, 5), Layout(), 64)[0]
    row = np.array([[1 << 19]], np.uint64)
    whole = Frames(row, row, row, np.array([19], np.int32), np.array([20], np.int32), np.ones(1))

    def read(frames):
        (group,) = resumed_groups(RunState(Layout(), 0, (GroupState(frames=(frames,)),)), groups, members=True)
        return list(group.frames)

    assert read(whole) == [whole]
    with pytest.raises(OptionError, match="does not fit the graph: a path leads out of its block"):
        read(replace(whole, **forged))


def test_another_version_of_the_program_is_refused(tmp_path, full):
    path = tmp_path / "checkpoint"
    write_checkpoint(path, full[1])
    rewritten(path, program="0.0.1")
    assert "was written by chordless 0.0.1, this is" in refusal(path)


def test_what_is_made_for_something_else_is_refused(tmp_path, full):
    path = tmp_path / "checkpoint"
    assert "no checkpoint" in refusal(path)
    write_checkpoint(path, full[1])
    assert "another graph" in refusal(path, graph_hash="abd")
    message = refusal(path, options=OPTIONS | {"max_length": 9})
    assert "max_length is None there and 9 in run.json" in message
    path.write_bytes(b"PK not a zip")
    assert "damaged" in refusal(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("README", "a zip of something else")
    assert "damaged" in refusal(path)


def test_a_missing_member_is_refused(tmp_path, full):
    path = tmp_path / "checkpoint"
    write_checkpoint(path, full[1])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            if name != "groups/0/1/end.npy":
                archive.writestr(name, data)
    assert "something is missing" in refusal(path)


def npy(array, **more):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, **more)
    return stream.getvalue()


def all_frames(path):
    with open_checkpoint(path, "abc", OPTIONS) as found:
        return [list(group.frames) for group in found.state.groups]


FORGERIES = {
    "another type": lambda array: npy(array.astype(np.float32)),
    "one axis": lambda array: npy(array.reshape(-1)[:-1]),
    "twice as many": lambda array: npy(np.concatenate([array, array])),
    "out of range": lambda array: npy(np.full_like(array, 2**31 - 1)),
    "other numbers": lambda array: npy(array[::-1] + array.dtype.type(1)),
    "objects": lambda array: npy(np.array([1, "a", None], object), allow_pickle=True),
    "more than any memory": lambda array: npy(array).replace(b"'shape': (", b"'shape': (9999999999"),
    "no array": lambda array: b"junk",
}


@pytest.mark.parametrize("kind", FORGERIES)
@pytest.mark.parametrize("program", [None, "0.5.0"])
def test_an_array_that_was_forged_is_refused(tmp_path, full, kind, program):
    """A zip that is whole: its checksums are those of the forged array. Version 0.5.0 kept none beside them."""
    path = tmp_path / "checkpoint"
    write_checkpoint(path, full[1])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members.pop("header.json"))
    if program is not None:
        header |= {"program": program, "members": [*members, "header.json"]}
    for name in members:
        is_frame = name.startswith("groups/")
        if program is not None and (not is_frame or kind in ("out of range", "other numbers")):
            continue
        forged = FORGERIES[kind](np.lib.format.read_array(io.BytesIO(members[name])))
        with zipfile.ZipFile(path, "w") as archive:
            for each, data in {**members, name: forged, "header.json": json.dumps(header)}.items():
                archive.writestr(each, data)
        with pytest.raises(CheckpointError, match="is damaged or cut short"):
            all_frames(path)


@pytest.mark.parametrize("room", [1, 100, 5000])
def test_a_full_disk_leaves_the_last_good_one(tmp_path, full, room):
    path = tmp_path / "checkpoint"
    write_checkpoint(path, checkpoint_of(listed=77))
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(EngineError, match="File too large; the last good one is kept: chordless resume"):
            write_checkpoint(path, full[1])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["checkpoint"]


def test_an_error_while_the_frames_are_made_leaves_the_last_good_one(tmp_path):
    path = tmp_path / "checkpoint"
    write_checkpoint(path, checkpoint_of(listed=77))

    def pieces():
        yield frames_of(np.random.default_rng(4), 3, 1, False)
        raise EngineError("out of memory")

    with pytest.raises(EngineError, match="out of memory"):
        write_checkpoint(path, checkpoint_of([GroupState(0, 0, pieces())]))
    assert os.listdir(tmp_path) == ["checkpoint"]
    with open_checkpoint(path, "abc", OPTIONS) as found:
        assert found.listed == 77


def test_an_earlier_checkpoint_of_a_large_graph_is_refused_because_its_labels_differ(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    write_checkpoint(path, checkpoint_of(listed=77))
    with open_checkpoint(path, "abc", OPTIONS, large=True) as found:
        assert found.listed == 77
    monkeypatch.setattr(checkpoint_module, "_LARGE_NUMBERING", checkpoint_module._LARGE_NUMBERING + 1)
    assert "numbers the vertices of so large a graph differently" in refusal(path, large=True)
    with open_checkpoint(path, "abc", OPTIONS) as found:
        assert found.listed == 77


@pytest.mark.parametrize("name", ["alias", "numpy"])
def test_an_array_is_read_whichever_way_numpy_names_its_type(name):
    """From Python 3.12 and numpy 2.5 on, `npt.NDArray` is an alias that is no class."""
    scalar = TypeVar("scalar", bound=np.generic)
    kind = TypeAliasType("kind", npt.NDArray[scalar], type_params=(scalar,)) if name == "alias" else npt.NDArray
    arrays = {"a": np.arange(3, dtype=">i8")}
    read = unpacked(kind[np.int64], "a", arrays.__getitem__)
    assert (read.tolist(), read.dtype) == ([0, 1, 2], np.dtype(np.int64))
    with pytest.raises(TypeError):
        unpacked(kind[np.int32], "a", arrays.__getitem__)
