"""Devices: named, tested before use, refused when they compute wrongly."""

import copy
import os
import pickle
import re
import threading
import time
import tracemalloc
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from laid_out import block_batches
from oracles import grid
from program import ENVIRONMENT, chordless
from python_process import run_python

from kernels_ti import (
    Device,
    DeviceError,
    OptionError,
    Options,
    Run,
    SizeError,
    count_cycles,
    longest_cycle,
    open_device,
    participation,
)
from kernels_ti.device import device as devices
from kernels_ti.device import memory
from kernels_ti.device.device import ARCHES
from kernels_ti.device.machine import cores
from kernels_ti.device.memory import host_budget
from kernels_ti.device.selftest import LEAST_LOOP, failures
from kernels_ti.resident_batch import require_loops
from kernels_ti.state import Layout
from kernels_ti.taichi_door import ti
from kernels_ti.taichi_door.libraries import library


def test_where_a_driver_is_missing_only_the_error_says_so(monkeypatch, capfd):
    """Taichi would print a line of its own to the terminal of the user."""
    monkeypatch.setattr(devices.cuda, "driver_is_here", lambda: False)
    with pytest.raises(DeviceError, match="arch cuda is not available here: no driver was found"):
        open_device("cuda")
    assert capfd.readouterr() == ("", "")


def test_a_device_says_what_it_is(device: Device) -> None:
    assert device.arch in ARCHES
    assert device.name
    assert device.word_bits == (64 if device.arch == "cpu" else 32)
    assert device.loop_rounds >= LEAST_LOOP
    assert (device.memory or 2**40) > 2**28


@pytest.mark.owner
def test_buffers_come_back_as_they_went(device: Device) -> None:
    values = np.arange(1000, dtype=np.uint32) * 4_000_037
    assert np.array_equal(device.download(device.buffer(values)), values)


@pytest.mark.owner
def test_the_self_test_passes_on_a_sound_device(device: Device) -> None:
    found, _ = failures(device.word_bits, device.buffer, device.download)
    assert found == []


@pytest.mark.owner
@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (0, "placed"),
        (1, "placed one behind another"),
        (2, "population"),
        (3, "shifts"),
        (4, "ends early"),
    ],
)
def test_the_self_test_sees_a_device_that_computes_wrongly(broken: int, message: str) -> None:
    """Spoil what comes back from the device, one result at a time."""
    device = open_device("cpu")
    calls = {"n": 0}

    def spoiled(buffer: np.ndarray) -> np.ndarray:
        values = buffer.copy()
        if calls["n"] % 5 == broken:
            values[0] = values[0] + 1
        calls["n"] += 1
        return values

    found, _ = failures(64, device.buffer, spoiled)
    assert len(found) >= 1
    assert message in " ".join(found)


def test_a_graph_that_loops_longer_than_the_device_can_is_refused() -> None:
    device = replace(open_device("cpu"), loop_rounds=1000)
    (group,) = block_batches(grid(40, 40), Layout(), 64)[0]
    with pytest.raises(DeviceError, match='use arch="cpu"'):
        require_loops(device, group)


@pytest.mark.slow
def test_a_graph_that_does_not_fit_is_refused_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "resident_bytes", lambda: 100 << 20)
    with pytest.raises(SizeError, match=r"a block of 22,500 vertices needs 0\.\d\d GiB for its bit rows") as refused:
        Run(grid(150, 150), open_device("cpu"), Options(memory=170 << 20))
    assert refused.value.exit_code == 2


def test_a_graph_that_does_not_fit_is_refused_before_its_bit_rows_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernels_ti.resident_batch.search_budget", lambda *given, **more: 100)
    graph, device = grid(100, 100), open_device("cpu")
    bit_rows = graph.n**2 // 8
    tracemalloc.start()
    try:
        with pytest.raises(SizeError, match="a block of 10,000 vertices needs"):
            Run(graph, device)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < bit_rows


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (Options(), "max_length makes smaller blocks, "),
        (Options(max_length=6), "a smaller max_length makes smaller blocks, "),
        (Options(max_length=6, expansion="paper"), ""),
        (Options(symmetry=True), "max_length in a search without symmetry makes smaller blocks, "),
        (Options(symmetry=True, max_length=6), "a search without symmetry makes smaller blocks, "),
    ],
)
def test_a_graph_that_does_not_fit_is_refused_with_what_would_help(
    monkeypatch: pytest.MonkeyPatch, options: Options, advice: str
) -> None:
    monkeypatch.setattr("kernels_ti.resident_batch.search_budget", lambda *given, **more: 100)
    with pytest.raises(SizeError, match=rf"; {advice}memory allows more memory$"):
        Run(grid(6, 6), open_device("cpu"), options)


def test_a_device_stays_in_its_process() -> None:
    for take in (pickle.dumps, copy.copy):
        with pytest.raises(DeviceError, match=r"^a device .* is not pickled: call open_device\('cpu'\) where it is"):
            take(open_device("cpu"))
    device = open_device("reference")
    assert pickle.loads(pickle.dumps(device)) == device


def test_unknown_arches_and_threads_are_refused() -> None:
    with pytest.raises(OptionError, match="no arch 'metal'"):
        open_device("metal")
    for threads in (0, 1.5):
        with pytest.raises(OptionError, match="threads must be a whole number from 1 to 1024"):
            open_device("cpu", threads=threads)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity") or cores() < 2, reason="needs Linux and two cores")
@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.slow
def test_each_worker_has_a_core_of_its_own_if_there_are_as_many(more: int) -> None:
    code = f"""
import os
import networkx as nx
from kernels_ti import count_cycles
def spent():
    lines = {{thread: open(f"/proc/self/task/{{thread}}/schedstat").read() for thread in os.listdir("/proc/self/task")}}
    return {{int(thread): int(line.split()[0]) for thread, line in lines.items() if int(thread) != os.getpid()}}
def search():
    count_cycles(nx.grid_2d_graph(8, 10), arch="cpu", method="search", threads={cores() + more})
search()  # which compiles, with threads of its own
before = spent()
search()
after = spent()
busiest = sorted(after, key=lambda thread: before[thread] - after[thread])
for thread in busiest[:{cores() + more}]:
    print(*sorted(os.sched_getaffinity(thread)))
"""
    allowed = sorted(os.sched_getaffinity(0))
    wanted = [[core] for core in allowed] if not more else [allowed] * (cores() + 1)
    assert sorted([int(core) for core in line.split()] for line in run_python(code).stdout.splitlines()) == wanted


@pytest.mark.slow
def test_buffers_of_an_earlier_start_take_nothing_away_from_a_later_one(device: Device) -> None:
    if device.arch == "cpu":
        pytest.skip("a CPU's buffers are numpy's")
    code = f"""
import gc
import numpy as np
from kernels_ti.device.device import open_device
wrong, old = 0, []
for turn in range(6):
    open_device("cpu")
    device = open_device({device.arch!r})
    new = [device.buffer(np.full(8, i, np.int32)) for i in range(300)]
    old.clear()
    gc.collect()
    more = [device.buffer(np.full(8, -1, np.int32)) for i in range(300)]
    wrong += sum(not (device.download(buffer) == i).all() for i, buffer in enumerate(new))
    old = new + more
    del new, more
print("wrong:", wrong)
"""
    done = run_python(code)
    assert (done.returncode, done.stdout) == (0, "wrong: 0\n"), done.stderr


def test_an_arch_that_is_not_there_is_an_error_and_no_other_is_taken() -> None:
    code = "from kernels_ti.device.device import open_device; open_device('vulkan')"
    done = run_python(code, VK_ICD_FILENAMES="/nonexistent", VK_DRIVER_FILES="/nonexistent")
    assert done.returncode == 1
    assert "DeviceError: arch vulkan is not available here" in done.stderr


@pytest.mark.parametrize("first", ["", f"import {library().package}; "])
def test_a_current_folder_that_was_removed_is_named(first: str) -> None:
    code = (
        f"{first}import os, tempfile\nfrom chordless import DeviceError, count_cycles, generate\n"
        "gone, grid = tempfile.mkdtemp(), generate('grid:5x6'); os.chdir(gone); os.rmdir(gone)\n"
        "try: count_cycles(grid, arch='cpu', method='search')\n"
        "except DeviceError as error: print(error)\n"
        "os.chdir('/'); print(count_cycles(grid, arch='cpu', method='search').total)"
    )
    done = run_python(code)
    assert done.stdout.splitlines()[-2:] == [  # Taichi says its version before
        "the current folder was removed, and no device starts in it: change to one that exists, such as by os.chdir",
        "749",
    ], done.stderr


def test_starting_a_device_prints_nothing() -> None:
    done = run_python("from kernels_ti.device.device import open_device; open_device('cpu')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_device_starts_without_standard_output() -> None:
    code = "import os; os.close(1); import sys; sys.stdout = None; from kernels_ti.device.device import open_device; "
    done = run_python(code + "print(open_device('cpu').arch, file=sys.stderr)")
    assert done.returncode == 0
    assert done.stderr.endswith("cpu\n")


def test_warnings_of_taichi_are_no_errors_of_ours() -> None:
    done = run_python("from kernels_ti.device.device import cuda_is_here; cuda_is_here()", PYTHONWARNINGS="error")
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_the_library_does_not_load_taichi() -> None:
    code = "import kernels_ti, kernels_ti.run, kernels_ti.api, sys; print('taichi' in sys.modules)"
    assert run_python(code).stdout == "False\n"


@pytest.mark.slow
def test_no_kernel_reads_or_writes_out_of_range() -> None:
    """One run of every kernel with Taichi's own bounds checks."""
    code = """
import networkx as nx
import numpy as np
from kernels_ti import Graph, count_cycles, enumerate_cycles
from laid_out import block_batches
from kernels_ti.device.device import open_device
from kernels_ti.reference.algorithm import chordless_cycles
from kernels_ti.found.stored import ResidentBlocks
from kernels_ti.found.to_host import cycles_of
from kernels_ti.wave.search import WaveSearch
from kernels_ti.state import GroupState, Layout
small = Graph.from_networkx(nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 5)))
ladder = Graph.from_networkx(nx.convert_node_labels_to_integers(nx.grid_2d_graph(2, 300)))
few = len(list(chordless_cycles(small)))
for graph, expected in ((small, few), (ladder, 299)):
    assert len(list(enumerate_cycles(graph, arch="cpu"))) == expected
    assert count_cycles(graph, arch="cpu").total == expected
for expansion in ("paper", "two-ended"):
    for graph, expected in ((small, few), (ladder, 299)):
        if expansion == "paper" and graph is ladder:
            continue
        found = 0
        for group in block_batches(graph, Layout(), 64)[0]:
            blocks = ResidentBlocks(open_device("cpu"), group, graph.n)
            weights = np.ones(blocks.seeds) / blocks.seeds
            search = WaveSearch(blocks, graph.n, True, expansion == "two-ended", GroupState(), weights, 1 << 28)
            while not search.finished:
                search.advance(0.1)
                found += len(cycles_of(search.take_found()))
        assert found == expected, (expansion, found)
print("checked")
"""
    set_up = {library().variable("DEBUG"): "1", library().variable("OFFLINE_CACHE"): "0"}
    done = run_python(code, PYTHONPATH=str(Path(__file__).parent), **set_up)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.endswith("checked\n")
    assert "bound" not in done.stdout + done.stderr


def test_tests_share_their_kernels(device: Device) -> None:
    """Taichi keeps them in a folder of the tests' own, and a process that a test starts looks there as well."""
    assert ti.cfg.offline_cache
    assert ti.cfg.offline_cache_file_path == os.environ[library().variable("OFFLINE_CACHE_FILE_PATH")]
    assert Path.home() / ".cache" not in Path(ti.cfg.offline_cache_file_path).parents


@pytest.mark.parametrize(("seconds_old", "kernels_are_kept"), [(3600, True), (0, False)])
@pytest.mark.slow
def test_kernels_are_kept_again_after_a_process_was_killed_as_it_kept_its_own(
    seconds_old: float, kernels_are_kept: bool, tmp_path: Path
) -> None:
    """Taichi never takes its lock away; one that is fresh is another process's."""
    lock = tmp_path / library().lock
    lock.parent.mkdir(exist_ok=True)
    lock.touch()
    then = time.time() - seconds_old
    os.utime(lock, (then, then))
    keeping = {library().variable("OFFLINE_CACHE"): "1", library().variable("OFFLINE_CACHE_FILE_PATH"): str(tmp_path)}
    done = chordless("count", "petersen", "--arch", "cpu", env={**ENVIRONMENT, **keeping})
    assert done.returncode == 0
    assert lock.exists() != kernels_are_kept
    assert any(tmp_path.rglob("*.[tq][id]c")) == kernels_are_kept


@pytest.mark.skipif(library().package != "taichi", reason="its fork notes lines in its own way")
def test_taichi_notes_the_line_of_an_expression_without_a_picture_of_it() -> None:
    device = open_device("cpu")

    @ti.kernel
    def wrong():
        nobody_has_defined_this  # noqa: B018, F821

    with pytest.raises(ti.TaichiCompilationError) as caught:
        device.call(wrong)
    assert re.search(r'test_device\.py", line \d+, in wrong:', str(caught.value))
    assert "^^^" not in str(caught.value)


DRIVER_IS_WOKEN = """
import ctypes
from types import SimpleNamespace
from kernels_ti.device import cuda
calls = []
ctypes.CDLL = lambda name: SimpleNamespace(
    cuInit=lambda flags: calls.append("init") or 0, cuDevicePrimaryCtxRetain=lambda *_: calls.append("context")
)
cuda.wake().join()
cuda.wake().join()
print(*calls)
"""


def test_the_driver_of_cuda_is_started_once() -> None:
    assert run_python(DRIVER_IS_WOKEN).stdout == "init context\n"


def test_what_other_threads_print_while_a_device_starts_is_not_lost() -> None:
    code = """
import os, sys
from kernels_ti.device.captured_output import captured_output
with captured_output() as said:
    print("a line of another thread")
    os.write(2, b"[T 11/23/26 05:12:27.647 1] a line of the log\\n")
    os.write(2, b"and of its errors\\n")
assert said == ["[T 11/23/26 05:12:27.647 1] a line of the log\\n"], said
"""
    done = run_python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "a line of another thread\n", "and of its errors\n")


def test_a_limit_that_the_process_has_outgrown_is_told_from_what_a_search_needs():
    told = r"1\.0 MiB is too small: this process holds [\d.]+ \wiB itself, and a search needs 40\.0 MiB more at least$"
    with pytest.raises(OptionError, match=rf"^memory {told}"):
        host_budget(1 << 20)
    # Along a boundary it is told before an order of the vertices is sought, which can take half a minute.
    for find in (partial(count_cycles, method="boundary"), partial(longest_cycle, method="boundary"), participation):
        with (
            mock.patch("kernels_ti.boundary.in_one_call.plan_of", side_effect=AssertionError("an order is sought")),
            pytest.raises(OptionError, match=rf"^memory {told}"),
        ):
            find(grid(5, 6), memory=1 << 20)


def test_a_device_is_not_started_where_the_system_allows_too_few_threads(monkeypatch):
    begun = []
    start = threading.Thread.start

    def start_two(thread):
        if len(begun) == 2:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_two)
    monkeypatch.setattr(devices.taichi_door, "start", lambda *_, **__: pytest.fail("Taichi was started"))
    with pytest.raises(DeviceError, match="the system allows no more threads"):
        devices._start("cpu", 2)
    assert len(begun) == 2
    assert not any(thread.is_alive() for thread in begun)
