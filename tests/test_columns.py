"""Cycles as columns: Parquet and Arrow files, which are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from chordless.cycles.columns import ColumnOutput, column_file, column_output
from chordless.graphs.load import load_graph
from patience import PATIENCE
from program import ENVIRONMENT, REFERENCE, chordless, command, slow_command
from test_export import COLUMNS, read_columns

from kernels_ti import EngineError, OptionError
from kernels_ti.cycles import Cycles
from kernels_ti.reference.algorithm import chordless_cycles

pytest.importorskip("pyarrow")

GRAPH = load_graph("grid:4x5").graph
LISTS = list(chordless_cycles(GRAPH))
CYCLES = Cycles.of_lists(LISTS)
NAMED = [[GRAPH.names[v] for v in cycle] for cycle in LISTS]

pytestmark = pytest.mark.parametrize("suffix", COLUMNS)


def never():
    return False


def file_with(path, suffix, cycles):
    with column_file(str(path), GRAPH, suffix) as add:
        add(cycles)


@pytest.mark.parametrize("at_once", [1, 7, 1 << 17])
@pytest.mark.parametrize("limit", [None, 0, 20, 21])
def test_slices_become_row_groups(tmp_path, monkeypatch, suffix, at_once, limit):
    monkeypatch.setattr("chordless.cycles.columns._CYCLES_AT_ONCE", at_once)
    path = tmp_path / f"cycles.{suffix}"
    wanted = len(LISTS) if limit is None else limit
    cuts = [0, 1, 2, 12, 20, len(LISTS)]
    with column_output(str(path), GRAPH, suffix, limit) as output:
        for start, stop in pairwise(cuts):
            assert output.write(CYCLES.part(start, stop), never) == (stop <= wanted)
        assert output.listed == wanted
        assert not path.exists()
    table = read_columns(path)
    assert table["vertices"].to_pylist() == NAMED[:wanted]
    assert table["length"].to_pylist() == [len(cycle) for cycle in LISTS[:wanted]]
    assert {len(chunk) for chunk in table["length"].chunks[:-1]} <= {at_once, wanted}


@pytest.mark.parametrize("at_once", [1, 9, 50])
def test_row_groups_have_few_vertices(tmp_path, monkeypatch, suffix, at_once):
    monkeypatch.setattr("chordless.cycles.columns._VERTICES_AT_ONCE", at_once)
    path = tmp_path / f"cycles.{suffix}"
    with column_output(str(path), GRAPH, suffix, None) as output:
        for start, stop in pairwise([0, 1, 12, len(LISTS)]):
            assert output.write(CYCLES.part(start, stop), never)
    table = read_columns(path)
    assert table["vertices"].to_pylist() == NAMED
    groups = [chunk.to_pylist() for chunk in table["length"].chunks]
    assert all(len(group) == 1 or sum(group) <= at_once for group in groups)
    # No two neighbours would have fitted in one.
    assert all(sum(before) + after[0] > at_once for before, after in pairwise(groups))


@pytest.mark.slow
def test_a_listing_stays_within_its_memory(tmp_path, suffix):
    path = tmp_path / f"cycles.{suffix}"
    line = command("list", "grid:6x9", "--arch", "cpu", "--memory", "256M", "-q", "-o", path)
    # A process of its own: what the tests take is not counted.
    measure = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", measure, *line], capture_output=True, text=True, env=ENVIRONMENT, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    kilobytes = int(done.stdout)
    assert kilobytes <= 256 * 1024
    assert read_columns(path).num_rows == 196_918


def test_what_is_given_up_is_not_taken(monkeypatch, suffix):
    monkeypatch.setattr("chordless.cycles.columns._CYCLES_AT_ONCE", 5)
    written = []
    output = ColumnOutput("c", written.append, None)
    answers = iter([False, False, True])
    assert not output.write(CYCLES, lambda: next(answers))
    assert output.listed == 10
    output.close()
    np.testing.assert_array_equal(Cycles.joined(written).vertices, CYCLES.part(0, 10).vertices)


@pytest.mark.parametrize("before", [False, True])
def test_an_error_leaves_what_was_there(tmp_path, suffix, before):
    path = tmp_path / f"cycles.{suffix}"
    if before:
        path.write_text("old")

    def fail():
        with column_file(str(path), GRAPH, suffix) as add:
            add(CYCLES)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert os.listdir(tmp_path) == ([path.name] if before else [])
    assert not before or path.read_text() == "old"


@pytest.mark.parametrize("room", [1, 3000])
def test_a_full_disk_is_one_line_and_leaves_what_was_there(tmp_path, suffix, room):
    path = tmp_path / f"cycles.{suffix}"
    path.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    many = Cycles.joined([CYCLES] * 300)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(EngineError, match=r"cannot write .*: File too large; no part of it is kept$"):
            file_with(path, suffix, many)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (os.listdir(tmp_path), path.read_text()) == ([path.name], "old")


def test_a_row_group_is_written_while_the_caller_goes_on(tmp_path, monkeypatch, suffix):
    free = threading.Event()
    free.set()

    class SlowDisk(io.FileIO):
        def write(self, data):
            assert free.wait(PATIENCE)
            return super().write(data)

    @contextlib.contextmanager
    def slow(path, **how):
        with SlowDisk(path, "w") as stream:
            yield stream

    monkeypatch.setattr("chordless.cycles.columns.replaced", slow)
    path = tmp_path / f"cycles.{suffix}"
    with column_file(str(path), GRAPH, suffix) as add:
        free.clear()
        add(CYCLES)
        threading.Timer(0.05, free.set).start()
        add(CYCLES.part(0, 2))
        assert free.is_set(), "a second row group waits for the first"
    assert read_columns(path)["vertices"].to_pylist() == NAMED + NAMED[:2]


def test_only_a_file_can_have_columns(tmp_path, suffix):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", "/dev/full"):
        with pytest.raises(OptionError, match="is not a file"):
            file_with(path, suffix, CYCLES)
    with pytest.raises(EngineError, match=r"cannot write .*: No such file or directory"):
        file_with(tmp_path / "no" / "c", suffix, CYCLES)
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "file").touch()
    file_with(tmp_path / "link", suffix, CYCLES)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").stat().st_size > 0


def test_two_files_of_one_name_at_a_time(tmp_path, suffix):
    """The second leaves alone what the first is writing, and takes away what a killed process left."""
    path = tmp_path / f"cycles.{suffix}"
    (tmp_path / f".cycles.{suffix}.{'0' * 16}.new").touch()
    with column_file(str(path), GRAPH, suffix) as first:
        assert len(os.listdir(tmp_path)) == 1
        first(CYCLES)
        file_with(path, suffix, CYCLES.part(0, 3))
    assert read_columns(path).num_rows == len(LISTS)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.slow
def test_a_listing(tmp_path, suffix):
    path = tmp_path / f"cycles.{suffix}"
    done = chordless("list", "grid:5x6", "--arch", "cpu", "--min-length", 5, "-o", path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "cycles in" in done.stderr
    lines = chordless("list", "grid:5x6", *REFERENCE, "--min-length", 5).stdout.splitlines()
    assert sorted(read_columns(path)["vertices"].to_pylist()) == sorted(line.split() for line in lines)


@pytest.mark.slow
def test_a_listing_that_a_limit_stopped(tmp_path, suffix):
    path = tmp_path / f"cycles.{suffix}"
    done = chordless("list", "petersen", "-o", path, "--limit", 10)
    assert done.returncode == 4
    assert "10 cycles in" in done.stderr
    found = read_columns(path)["vertices"].to_pylist()
    assert len(set(map(tuple, found))) == 10


def test_a_checkpoint_is_refused(tmp_path, suffix):
    path = tmp_path / f"cycles.{suffix}"
    done = chordless("list", "petersen", "-o", path, "--checkpoint", tmp_path / "run")
    assert done.returncode == 2
    assert f"list to a folder DIR/, then `chordless export DIR -o {path}`" in " ".join(done.stderr.split())
    assert os.listdir(tmp_path) == []


def test_without_pyarrow(tmp_path, monkeypatch, suffix):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(OptionError, match=r"needs pyarrow: pip install 'chordless\[parquet\]'"):
        file_with(tmp_path / "c", suffix, CYCLES)
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_a_listing_that_is_killed_leaves_no_file_of_that_name(tmp_path, suffix):
    path = tmp_path / f"cycles.{suffix}"
    running = subprocess.Popen(
        slow_command("list", "grid:6x9", "--arch", "cpu", "-o", path),
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    with running:
        deadline = time.monotonic() + PATIENCE
        while not os.listdir(tmp_path):
            assert running.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGKILL)
    assert not path.exists()
    assert len(os.listdir(tmp_path)) == 1
    assert chordless("list", "petersen", "-o", path).returncode == 0
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.slow
def test_an_interrupted_listing_keeps_what_was_found(tmp_path, suffix):
    path = tmp_path / f"cycles.{suffix}"
    with subprocess.Popen(
        command("list", "complete:200", *REFERENCE, "-o", path, "--timeout", "1"),
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as running:
        said = running.stderr.read()
    assert running.returncode == 4
    assert f"{read_columns(path).num_rows:,} cycles in" in said
