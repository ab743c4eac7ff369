"""The library in threads, in forked children, and at the end of a program."""

import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from oracles import grid
from patience import PATIENCE
from python_process import run_python

from kernels_ti import Device, DeviceError, enumerate_cycles, open_device
from kernels_ti.device import device as devices
from kernels_ti.device import owner
from kernels_ti.device.device import held_device
from kernels_ti.device.turns import Turns

SHORT = 0.05
"""Seconds in which a thread that need not wait would have gone on."""


@pytest.mark.slow
def test_several_threads_use_the_library_from_its_first_call_on() -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
import networkx as nx
from kernels_ti import collect_cycles, count_cycles, count_participation, enumerate_cycles
nx.config.warnings_to_ignore.add("cache")
graphs = [nx.petersen_graph(), nx.grid_2d_graph(4, 5), nx.cycle_graph(7), nx.complete_graph(5)]
ways = [
    lambda graph, arch: count_cycles(graph, arch=arch).total,
    lambda graph, arch: len(collect_cycles(graph, arch=arch)),
    lambda graph, arch: sum(1 for _ in enumerate_cycles(graph, arch=arch)),
    lambda graph, arch: int(count_participation(graph, arch=arch).vertices.sum()),
    lambda graph, arch: sum(1 for _ in nx.chordless_cycles(graph, backend="chordless")),
]
cases = [(way, graph) for graph in graphs for way in ways] * 2
with ThreadPoolExecutor(4) as pool:
    found = list(pool.map(lambda case: case[0](case[1], "cpu"), cases))
print(found == [way(graph, "reference") for way, graph in cases])
"""
    done = run_python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


# From Python 3.12 on, a fork beside threads warns.
FORKED = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from kernels_ti import ChordlessError, Graph, count_cycles
square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
if USED:
    count_cycles(square, arch="cpu")
child = os.fork()
if child == 0:
    try:
        print(count_cycles(square, arch="reference").total, count_cycles(square, method="boundary").total)
        print(count_cycles(square, arch="cpu").total)
    except ChordlessError as error:
        print(type(error).__name__, "spawn" in str(error), "forkserver" in str(error))
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), count_cycles(square, arch="cpu").total)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("used", "said"), [(True, "1 1\nDeviceError True True\n7 1\n"), (False, "1 1\n1\n7 1\n")], ids=["after", "before"]
)
def test_a_child_forked_after_use_raises_at_once_and_ends(used: bool, said: str) -> None:
    done = run_python(FORKED.replace("USED", str(used)))
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


@pytest.mark.slow
def test_a_program_ends_while_its_threads_still_count() -> None:
    """A thread that Python waits for finishes its count, one that is a daemon does not hold the program up."""
    code = """
import threading, time
import networkx as nx
from kernels_ti import count_cycles
count_cycles(nx.petersen_graph(), arch="cpu")
threading.Thread(target=lambda: count_cycles(nx.grid_2d_graph(8, 8), arch="cpu", timeout=1000), daemon=True).start()
def late():
    time.sleep(0.2)
    print(count_cycles(nx.petersen_graph(), arch="cpu").total, flush=True)
threading.Thread(target=late).start()
"""
    done = run_python(code)
    assert (done.returncode, done.stdout) == (0, "22\n")


@pytest.mark.slow
def test_an_interrupt_ends_a_count_and_the_next_one_works() -> None:
    code = """
import os, signal, threading
import networkx as nx
from kernels_ti import count_cycles
def interrupted():
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    count_cycles(nx.grid_2d_graph(12, 12), arch="cpu", method="search", timeout=600)
try:
    interrupted()
    print("went on")
except KeyboardInterrupt:
    print("interrupted", count_cycles(nx.petersen_graph(), arch="cpu").total)
"""
    done = run_python(code)
    assert (done.returncode, done.stdout) == (0, "interrupted 22\n")


def test_an_interrupt_at_the_end_of_a_program_ends_it_at_once() -> None:
    code = """
import os, signal, threading, time
from kernels_ti.device import owner

owner.call(int)
owner.send(lambda: time.sleep(600))  # a kernel that compiles
owner.at_end(int)
print("written")

def interrupt():
    while owner._jobs.empty():  # until the end waits
        time.sleep(0.01)
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
"""
    done = run_python(code)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "written\n", "")


def test_an_iterator_that_outlives_its_arch_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    cycles = enumerate_cycles(grid(4, 4), arch="cpu")
    monkeypatch.setattr(devices, "_started", {("vulkan", None): None})
    with pytest.raises(DeviceError, match="arch cpu is no longer open: another one has been opened since"):
        next(cycles)


def test_an_iterator_goes_on_where_another_call_has_another_number_of_threads() -> None:
    batches = enumerate_cycles(grid(7, 9), arch="cpu", threads=1).batches(rows=True)
    first = len(next(batches))
    open_device("cpu", threads=2)
    assert 0 < first < first + sum(map(len, batches)) == 1_535_427


def test_the_owner_hands_back_what_is_raised_and_cancels_what_nobody_waits_for() -> None:
    def fail() -> None:
        raise KeyError("one")

    with pytest.raises(KeyError, match="one"):
        owner.call(fail)
    assert owner.call(owner.is_owner)
    assert owner.call(lambda: owner.call(threading.current_thread)) is owner.call(threading.current_thread)


def test_a_thread_that_cannot_start_fails_each_call_and_leaves_the_next_one_free() -> None:
    program = """
import threading
from kernels_ti.device import owner

def refuse(thread):
    raise RuntimeError("can't start new thread")

start, threading.Thread.start = threading.Thread.start, refuse
for _ in range(2):
    try:
        owner.call(int)
    except RuntimeError as error:
        print(error)
threading.Thread.start = start
print(owner.call(int))
"""
    assert run_python(program).stdout.splitlines() == ["can't start new thread"] * 2 + ["0"]


@pytest.fixture
def slow_arches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arches that are not really started, and the order in which they were."""
    opened: list[str] = []

    def start(arch: str, workers: int | None) -> Device:
        opened.append(arch)
        return Device(arch, arch, None, workers)

    monkeypatch.setattr(devices, "_started", {})
    monkeypatch.setattr(devices, "_open", start)
    monkeypatch.setattr(devices, "_turns", Turns())
    return opened


def test_another_arch_is_opened_when_nobody_holds_the_one_before(slow_arches: list[str]) -> None:
    with held_device("cpu"):
        other = threading.Thread(target=open_device, args=("vulkan",))
        other.start()
        time.sleep(SHORT)
        assert slow_arches == ["cpu"]
        open_device("cuda")  # a thread does not wait for itself
    other.join(PATIENCE)
    assert slow_arches == ["cpu", "cuda", "vulkan"]


def test_turns_come_in_the_order_of_asking() -> None:
    turns, order, threads = Turns(), [], []
    until = time.monotonic() + PATIENCE

    def take(needed: str) -> None:
        with turns.hold(needed):
            order.append(needed)

    with turns.hold("a"):
        for needed in ("b", "a"):
            threads.append(threading.Thread(target=take, args=(needed,)))
            threads[-1].start()
            while len(turns._waiting) < len(threads):
                assert time.monotonic() < until
                time.sleep(0.001)
        assert order == []  # the second would fit, but came later
    for thread in threads:
        thread.join(PATIENCE)
    assert order == ["b", "a"]


def test_the_owner_frees_the_buffers_that_other_threads_drop(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    if device.arch == "cpu":
        pytest.skip("a CPU's buffers are numpy's")
    sent: list[Callable[[], None]] = []
    dropped = device.empty(4, np.int32)
    monkeypatch.setattr(owner, "send", sent.append)
    del dropped
    assert len(sent) == 1
    owner.call(sent[0])


def test_a_thread_may_be_the_owner_itself() -> None:
    code = """
import threading
from kernels_ti import Graph, count_cycles
from kernels_ti.device import owner
owner.own()
triangle = Graph.from_edges(3, [(0, 1), (1, 2), (2, 0)])
print(count_cycles(triangle, arch="cpu").total, [each.name for each in threading.enumerate()])
def elsewhere():
    try:
        count_cycles(triangle, arch="cpu")
    except Exception as error:
        print(type(error).__name__, error)
thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()
print(count_cycles(triangle, arch="cpu").total)
"""
    done = run_python(code)
    refused = "DeviceError only the thread MainThread of this process may use a device"
    assert (done.returncode, done.stdout) == (0, f"1 ['MainThread']\n{refused}\n1\n"), done.stderr


def test_a_child_of_a_thread_that_is_the_owner_raises_at_once() -> None:
    code = """
import os
from kernels_ti import Graph, count_cycles
from kernels_ti.device import owner
owner.own()
triangle = Graph.from_edges(3, [(0, 1), (1, 2), (2, 0)])
count_cycles(triangle, arch="cpu")
if os.fork() == 0:
    try:
        count_cycles(triangle, arch="cpu")
    except Exception as error:
        print("spawn" in str(error), flush=True)
    os._exit(0)
os.wait()
"""
    done = run_python(code)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
