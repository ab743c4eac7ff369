"""Programs of users that use Taichi themselves: neither side changes the other."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import PATIENCE

from kernels_ti.taichi_door.libraries import library

TI = f"import {library().package} as ti\n"

GRAPHS = """
import networkx as nx
import kernels_ti
from kernels_ti import count_cycles
grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 7))
right = count_cycles(grid, arch="reference").by_length
"""

KERNELS = """
@ti.kernel
def third() -> float:
    return 1.0 / 3

@ti.kernel
def large() -> int:
    one = 1
    return one << 40

@ti.kernel
def failing():
    assert third_of(1) == 1

@ti.func
def third_of(x):
    return x // 3
"""

BEFORE = {
    "types and debug": (
        "ti.init(arch=ti.cpu, default_fp=ti.f64, default_ip=ti.i64, debug=True)\n",
        """
for _ in range(2):
    assert (third(), large()) == (1 / 3, 1 << 40), (third(), large())
    try:
        failing()
    except AssertionError:
        pass
    else:
        raise SystemExit("the assert passed")
    COUNT
""",
    ),
    "gradients": (
        "ti.init(arch=ti.cpu)\n",
        """
x, loss = ti.field(ti.f32, shape=3, needs_grad=True), ti.field(ti.f32, shape=(), needs_grad=True)

@ti.kernel
def squares():
    for i in x:
        loss[None] += x[i] ** 2

x.from_numpy(__import__("numpy").arange(3, dtype="float32"))
for _ in range(2):
    loss[None] = 0
    with ti.ad.Tape(loss):
        squares()
    assert (loss[None], x.grad.to_numpy().tolist()) == (5, [0, 2, 4])
    COUNT
""",
    ),
    "a field and an array": (
        "ti.init(arch=ti.cpu, random_seed=3)\n",
        """
kept, array = ti.field(ti.i32, shape=4), ti.ndarray(ti.i32, 4)
kept.fill(7)
array.fill(8)
for _ in range(2):
    COUNT
    assert (kept.to_numpy().tolist(), array.to_numpy().tolist()) == ([7] * 4, [8] * 4)
""",
    ),
}

COUNT = "assert count_cycles(grid).by_length == right"


def run_script(folder: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program of a user, from a file: Taichi reads the sources of its kernels."""
    script = folder / "program.py"
    script.write_text(code)
    return subprocess.run(
        [sys.executable, script],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.slow
@pytest.mark.parametrize("what", BEFORE)
@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.slow_on("types and debug", "gradients")
def test_a_count_leaves_a_program_that_is_running_alone(what: str, first: str, tmp_path: Path) -> None:
    begin, go_on = BEFORE[what]
    # Where ours comes first, the program starts Taichi over our open device.
    head = GRAPHS + (COUNT if first == "ours" else "") + "\n" + TI + begin
    done = run_script(tmp_path, head + KERNELS + go_on.replace("COUNT", COUNT) + "print('done')\n")
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stdout + done.stderr
    assert "compiled again" not in done.stderr


@pytest.mark.slow
def test_a_device_that_a_program_has_reset_is_opened_again(tmp_path: Path) -> None:
    code = f"""{GRAPHS}
from kernels_ti import DeviceError, enumerate_cycles, open_device
{COUNT}
{TI}
cycles = enumerate_cycles(nx.grid_2d_graph(8, 9), arch="cpu")  # which takes many slices
next(cycles)
ti.init(arch=ti.cpu, default_ip=ti.i64)
{COUNT}
try:
    list(cycles)
except DeviceError as error:
    print(error)
try:
    open_device("cpu")
except DeviceError as error:
    print(error)
ti.reset()
open_device("cpu")
{COUNT}
assert sum(1 for _ in enumerate_cycles(grid, arch="cpu")) == sum(right.values())
"""
    done = run_script(tmp_path, code)
    assert done.returncode == 0, done.stderr
    lost, taken = [line for line in done.stdout.splitlines() if not line.startswith("[")]
    assert lost.startswith("arch cpu is no longer open: this process has started or reset")
    assert "would lose its fields: count and list with count_cycles" in taken


@pytest.mark.slow
def test_every_function_of_the_library_works_in_a_process_of_its_own(tmp_path: Path) -> None:
    code = f"""{TI}{GRAPHS}
import os
from kernels_ti import (
    GraphError, collect_cycles, count_participation, enumerate_cycles, enumerate_paths, longest_cycle, participation,
    sample_cycles,
)
from kernels_ti.device import own_process
ti.init(arch=ti.cpu)
kept = ti.field(ti.i32, shape=4)
kept.fill(7)
named = nx.relabel_nodes(grid, lambda v: ("v", v))
total, edge = sum(right.values()), (("v", 0), ("v", 1))
table = collect_cycles(named, avoid_edges=iter([edge]), arch="cpu")
wanted = collect_cycles(named, avoid_edges=[edge], arch="reference")
assert sorted(map(sorted, table)) == sorted(map(sorted, wanted)) != []
stream = enumerate_cycles(named)
first = next(stream)
assert count_cycles(named).total == total  # while the stream has a process of its own
assert first[0][0] == "v"
assert 1 + sum(1 for _ in stream) == total
next(enumerate_cycles(named))  # and no more of it
told = []
assert sum(1 for _ in enumerate_cycles(named, arch="cpu", progress=told.append)) == total
paths = enumerate_paths(named, ("v", 0), ("v", 41), arch="cpu", progress=told.append)
assert sum(1 for _ in paths) == kernels_ti.count_paths(grid, 0, 41, arch="reference").total
assert (told[-1].stage, told[-1].share) == ("searching", 1.0)
assert count_participation(named, arch="cpu").vertices.sum() == sum(length * n for length, n in right.items())
assert longest_cycle(named, arch="cpu").length == max(right)
assert participation(named).total == total
drawn = sample_cycles(named, 5, seed=1, arch="cpu")
assert len(list(drawn)) == 5
assert count_cycles(named, method="boundary", arch="cpu").by_length == right
(child,) = own_process._idle
assert count_cycles(nx.petersen_graph()).total == 22
assert kernels_ti.is_chordal(nx.complete_graph(4))
assert own_process._idle == [child]
child._process.kill()
try:
    count_cycles(named)
except kernels_ti.EngineError as error:
    print("ended" in str(error))
assert count_cycles(named).by_length == right
assert kept.to_numpy().tolist() == [7] * 4
"""
    done = run_script(tmp_path, code)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["True"]), done.stdout + done.stderr
    assert done.stderr == ""


@pytest.mark.slow
def test_any_name_of_a_vertex_comes_back_itself(tmp_path: Path) -> None:
    code = f"""{TI}{GRAPHS}
class Town:
    pass
towns = {{v: Town() for v in grid}}
towns[3] = float("nan")
there = nx.relabel_nodes(grid, towns)
nx.set_edge_attributes(there, 2, "length")
places, edge = set(map(id, there)), (towns[3], towns[4])
asked = {{"through": [towns[3]], "avoid": [towns[30]], "avoid_edges": iter([edge])}}
table = kernels_ti.collect_cycles(there, arch="cpu", **asked)
assert {{id(town) for cycle in table for town in cycle}} <= places
assert len(table) == len(kernels_ti.collect_cycles(grid, through=[3], avoid=[30], avoid_edges=[(3, 4)]))
asked["avoid_edges"] = [edge]
assert list(kernels_ti.enumerate_cycles(there, arch="cpu", **asked)) == table.lists()
assert all(map(dict.fromkeys(there).__contains__, kernels_ti.count_participation(there, arch="cpu").names))
best = {{"arch": "cpu", "method": "boundary", "order": there, **asked}}
longest = kernels_ti.longest_cycle(there, weight="length", **best)
assert (longest.weight, set(map(id, longest.cycle)) <= places) == (2 * len(longest.cycle), True)
assert kernels_ti.longest_cycle(there, weight=dict.fromkeys(there.edges, 2), **best).cycle == longest.cycle
assert kernels_ti.longest_cycle(there, weight=dict.fromkeys(there, 1), **best).weight == len(longest.cycle)
path = kernels_ti.shortest_path(there, towns[3], towns[20], arch="cpu", method="boundary").path
assert (path[0], path[-1]) == (towns[3], towns[20])
"""
    done = run_script(tmp_path, code)
    assert done.returncode == 0, done.stderr


def test_what_another_thread_starts_for_us_is_ours(tmp_path: Path) -> None:
    code = f"""{GRAPHS}
import threading
from kernels_ti import taichi_door
first = threading.Thread(target=count_cycles, args=[grid], kwargs={{"arch": "cpu"}})
first.start()
seen = set()
while first.is_alive():
    seen.add(taichi_door.is_used_by_others())
print(seen)
"""
    done = run_script(tmp_path, code)
    assert (done.returncode, done.stdout) == (0, "{False}\n"), done.stdout + done.stderr


def test_no_child_outlives_its_program(tmp_path: Path) -> None:
    code = f"""{TI}{GRAPHS}
import os, signal
from kernels_ti.device import own_process
{COUNT}
print(own_process._idle[0]._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = run_script(tmp_path, code)
    child = Path("/proc", done.stdout.splitlines()[-1], "stat")
    deadline = time.monotonic() + PATIENCE
    while child.exists() and child.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_a_gpu_that_is_looked_for_first_is_used_in_this_process(arch):
    code = (
        "import networkx as nx; from kernels_ti import count_cycles, taichi_door; "
        f"print(count_cycles(nx.grid_2d_graph(5, 6), arch={arch!r}, method='search').total, "
        "taichi_door.is_open(), taichi_door.is_used_by_others())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout == "749 True False\n"
