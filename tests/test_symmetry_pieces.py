"""A count up to symmetry in pieces: parts, checkpoints, clusters and little memory, against the count as a whole."""

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from oracles import by_length, networkx_cycles
from program import chordless, count, slowly
from simulated_workers import QUICK, SimulatedWorkers, finished
from test_symmetry import CUBE_5, CUBE_6, converted, symmetric_graphs

from kernels_ti import Device, EngineError, Graph, Options, Run, open_device
from kernels_ti.cluster.driver import ClusterRun
from kernels_ti.estimate import parts as partition
from kernels_ti.state import RunState
from kernels_ti.symmetry.space import SymmetricSpace
from kernels_ti.wave import search as search_wave

SYMMETRIC = Options(symmetry=True)


@pytest.fixture
def in_short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let slices end early, and few frames be dealt out, so that small graphs have pieces too."""
    monkeypatch.setattr("kernels_ti.run.SLICE_SECONDS", 0.0)
    monkeypatch.setattr("kernels_ti.sweep.search.FIRST_BUDGET", 50)
    for arch in ("cpu", "vulkan", "cuda"):
        monkeypatch.setitem(search_wave.FIRST_SLICE, arch, 30)
        monkeypatch.setitem(search_wave.FIRST_QUEUE, arch, 1)
    monkeypatch.setattr(search_wave, "SOFTWARE_FIRST_SLICE", 30)
    monkeypatch.setattr(search_wave, "SOFTWARE_FIRST_QUEUE", 1)


@pytest.fixture
def few_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "FRAMES_PER_PART", 2)
    monkeypatch.setattr(partition, "FEWEST_FRAMES", 6)


def whole(run: Any) -> Any:
    while not run.finished:
        run.advance()
    return run.snapshot()


def frozen(state: RunState) -> RunState:
    return replace(state, groups=tuple(replace(group, frames=tuple(group.frames)) for group in state.groups))


def added_up(graph: Graph, options: Options, parts: int, arch: str = "cpu") -> dict[int, int]:
    """Search a graph in parts; return the cycles behind the directed cycles of all parts."""
    directed: Counter[int] = Counter()
    for number in range(1, parts + 1):
        part = whole(Run(graph, open_device(arch), replace(options, part=(number, parts))))
        assert part.cycles_by_length == {k: found // (2 * k) for k, found in part.directed_by_length.items()}
        directed.update(part.directed_by_length)
    assert not any(found % (2 * length) for length, found in directed.items())
    return {length: found // (2 * length) for length, found in directed.items()}


@pytest.mark.slow
@pytest.mark.usefixtures("few_frames")
@pytest.mark.parametrize(("name", "graph"), symmetric_graphs()[::2], ids=[name for name, _ in symmetric_graphs()[::2]])
def test_parts_of_symmetric_graphs_add_up(name: str, graph: nx.Graph) -> None:
    mine = converted(graph)
    wanted = by_length(networkx_cycles(mine))
    for parts in (1, 2, 5):
        assert added_up(mine, SYMMETRIC, parts) == wanted


@pytest.mark.slow
@pytest.mark.usefixtures("few_frames")
@pytest.mark.parametrize("seed", range(6))
def test_parts_and_stops_of_random_graphs_add_up(
    seed: int, monkeypatch: pytest.MonkeyPatch, in_short_slices: None
) -> None:
    """Each block is searched up to symmetry, with bounds and restrictions: in parts, and with a stop at each slice."""
    monkeypatch.setattr(SymmetricSpace, "_pays", lambda self, order, paths_of_cycle: True)
    drawn, device = random.Random(seed), open_device("cpu")
    for _ in range(10):
        n = drawn.randint(6, 15)
        graph = converted(nx.gnp_random_graph(n, drawn.choice((0.2, 0.35)), seed=drawn.randrange(10**6)))
        through = tuple(drawn.sample(range(n), drawn.choice((0, 0, 1, 2))))
        avoid = tuple({drawn.randrange(n)} - set(through)) if drawn.random() < 0.4 else ()
        options = Options(
            min_length=4 if drawn.random() < 0.3 else 3,
            max_length=drawn.choice((None, 6, 8)),
            through=through,
            avoid=avoid,
            expansion="paper" if drawn.random() < 0.3 else "two-ended",
        )
        wanted = whole(Run(graph, device, options)).cycles_by_length
        symmetric = replace(options, symmetry=True)
        assert added_up(graph, symmetric, drawn.randint(1, 4)) == wanted
        run = Run(graph, device, symmetric)
        for _ in range(100_000):
            if run.finished:
                break
            run.advance()
            run = Run(graph, device, symmetric, state=frozen(run.state()))
        assert run.snapshot().cycles_by_length == wanted


def test_parts_on_each_arch(arch: str) -> None:
    """Parts of one search may be searched on different devices."""
    assert added_up(converted(nx.hypercube_graph(5)), SYMMETRIC, 3, arch) == CUBE_5


@pytest.mark.usefixtures("in_short_slices")
def test_a_count_goes_from_one_arch_to_another(arch: str) -> None:
    graph = converted(nx.hypercube_graph(5))
    here = Run(graph, open_device("cpu"), SYMMETRIC)
    for _ in range(3):
        here.advance()
    state = frozen(here.state())
    assert whole(Run(graph, open_device(arch), SYMMETRIC, state=state)).cycles_by_length == CUBE_5


@pytest.mark.usefixtures("in_short_slices")
@pytest.mark.parametrize("name", ["copies", "glued", "torus 4x5", "cube 4", "rings", "wreath"])
@pytest.mark.slow_on("vulkan")
def test_workers_that_fail_lose_no_orbit_and_double_none(name: str, device: Device) -> None:
    """The frames of a lease weigh what the orbits of their batch weigh, whoever searches them."""
    graph = converted(dict(symmetric_graphs())[name])
    drawn = random.Random(name)
    faults = {each: drawn.choices(["ok", "die", "fail", "silent", "forget"], [6, 1, 1, 1, 1], k=20) for each in "abc"}
    workers = SimulatedWorkers(dict.fromkeys("abc", 1), faults, joining={k: f"late{k}" for k in range(2, 40, 3)})
    run = ClusterRun(graph, workers, SYMMETRIC, arch=device.arch, pace=replace(QUICK, tries=9))
    assert finished(run) == by_length(networkx_cycles(graph))


@pytest.mark.usefixtures("in_short_slices")
def test_a_count_goes_to_a_cluster_and_back(device: Device) -> None:
    graph = converted(nx.hypercube_graph(5))
    here = Run(graph, device, SYMMETRIC)
    here.advance()
    workers = SimulatedWorkers({"a": 1, "b": 1})
    there = ClusterRun(graph, workers, SYMMETRIC, state=frozen(here.state()), arch=device.arch, pace=QUICK)
    for _ in range(2):
        there.advance()
    assert whole(Run(graph, device, SYMMETRIC, state=there.state())).cycles_by_length == CUBE_5


@pytest.mark.usefixtures("few_frames")
def test_parts_on_a_cluster() -> None:
    graph, directed = converted(nx.hypercube_graph(5)), Counter[int]()
    for number in (1, 2, 3):
        part = replace(SYMMETRIC, part=(number, 3))
        run = ClusterRun(graph, SimulatedWorkers({"a": 1}), part, arch="cpu", pace=QUICK)
        finished(run)
        directed.update(run.snapshot().directed_by_length or {})
    assert {length: found // (2 * length) for length, found in directed.items()} == CUBE_5


def test_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frontier that does not fit is searched in slices, the deepest first."""
    monkeypatch.setitem(search_wave.ARENA_BYTES, "cpu", 1 << 20)
    run = Run(converted(nx.hypercube_graph(6)), open_device("cpu"), replace(SYMMETRIC, expansion="paper"))
    largest = 0
    while not run.finished:
        largest = max(largest, run.advance().device_bytes)
    assert largest < 4 << 20
    found = run.snapshot()
    assert max(found.paths_by_length.values()) * 40 > largest, "the frontier would have fitted"
    assert found.cycles_by_length == CUBE_6


def test_a_part_is_not_the_whole() -> None:
    """The whole must be divisible, a part need not be."""
    made = SymmetricSpace(converted(nx.petersen_graph()), SYMMETRIC)
    with pytest.raises(EngineError, match="no multiple of 10"):
        made.settled({5: 121}, finished=True)


def written(path: Path, *options: Any) -> Path:
    done = chordless("count", "hypercube:5", "--symmetry", "--arch", "cpu", "--json", *options)
    assert done.returncode == 0, done.stderr
    path.write_text(done.stdout)
    return path


@pytest.mark.slow
def test_the_command_merges_files_and_folders_of_parts(tmp_path: Path) -> None:
    files = [written(tmp_path / "1.json", "--part", "1/2"), tmp_path / "run"]
    written(tmp_path / "2.json", "--part", "2/2", "--checkpoint", files[1])
    done = chordless("merge", *files, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert {int(length): found for length, found in result["by_length"].items()} == CUBE_5
    assert (result["automorphisms"], result["total"], result["part"]) == (3840, sum(CUBE_5.values()), None)
    assert "directed_by_length" not in result
    again = chordless("resume", files[1], "--json")
    parts = [json.loads(text) for text in (again.stdout, (tmp_path / "2.json").read_text())]
    assert parts[0]["directed_by_length"] == parts[1]["directed_by_length"]
    assert parts[0]["orbits_begun"] == parts[1]["orbits_begun"] == 2


@pytest.mark.slow
def test_parts_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    first, second = (written(tmp_path / f"{number}.json", "--part", f"{number}/2") for number in (1, 2))
    plain = tmp_path / "plain.json"
    plain.write_text(chordless("count", "hypercube:5", "--part", "2/2", "--json", "--arch", "cpu").stdout)
    refused = chordless("merge", first, plain)
    assert (refused.returncode, "--symmetry is not given" in refused.stderr) == (2, True)
    edited = json.loads(second.read_text())
    edited["directed_by_length"]["14"] += 1
    second.write_text(json.dumps(edited))
    refused = chordless("merge", first, second)
    assert (refused.returncode, "no multiple of 28" in refused.stderr) == (2, True)
    edited["by_length"]["14"] += 1
    edited["total"] += 1
    second.write_text(json.dumps(edited))
    refused = chordless("merge", first, second)
    assert (refused.returncode, "not those of its directed cycles" in refused.stderr) == (2, True)


@pytest.mark.slow
def test_a_part_that_was_stopped_goes_on(tmp_path: Path) -> None:
    """The folder of a part holds the totals of its batch; the part says that its counts are rounded down."""
    run, options = tmp_path / "run", ("--symmetry", "--arch", "cpu", "--threads", "1", "--part", "2/2")
    stopped = slowly("count", "hypercube:6", *options, "--checkpoint", run, "--limit", "9")
    assert stopped.returncode == 4, stopped.stderr
    assert "rounded down" in stopped.stdout
    resumed = chordless("resume", run, "--json")
    assert resumed.returncode == 0, resumed.stderr
    straight, _ = count("hypercube:6", *options)
    for name in ("by_length", "directed_by_length", "total", "automorphisms", "orbits_begun"):
        assert json.loads(resumed.stdout)[name] == straight[name], name


@pytest.mark.slow
def test_a_local_cluster_counts_up_to_symmetry_and_leaves_a_checkpoint(tmp_path: Path) -> None:
    run = tmp_path / "run"
    options = ("--symmetry", "--cluster", "local:1", "--arch", "cpu", "--json", "--checkpoint", run)
    done = chordless("count", "hypercube:6", *options)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert {int(length): found for length, found in result["by_length"].items()} == CUBE_6
    assert (result["automorphisms"], result["arch"]) == (46080, "cluster")
