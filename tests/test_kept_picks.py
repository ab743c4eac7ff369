"""Checkpoints of a search for a best cycle and of a sample: stops, kills, and what goes on from them."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from chordless import generate
from chordless.cli import main
from chordless.commands.session import way_on_from
from chordless.engine import process
from chordless.engine.process import EngineProcess
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory
from chordless.runs.saved import packed, unpacked
from draws import drawn
from patience import PATIENCE
from program import ENVIRONMENT, command

from kernels_ti import open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary import count
from kernels_ti.boundary.longest import best_cycle
from kernels_ti.boundary.spec.block import GivenUp
from kernels_ti.boundary.values.saved import SavedPick
from kernels_ti.boundary.values.weights import Gains
from kernels_ti.boundary.way_back import device_ways
from kernels_ti.boundary.way_back.blocks import Keeping, Means, planned_blocks

GRAPH, NUMBERED = "grid:5x6", "gnp:26,0.2,2"


class Session:
    """Ends after some vertices, and has the state at its end."""

    def __init__(self, vertices):
        self._left = vertices
        self.state = None

    def keep(self, offered, all_came):
        self._left -= 1
        # On the way back there is no state any more.
        state = offered() if all_came else None
        self.state = (lambda: state) if all_came else offered

    def is_over(self):
        return self._left <= 0


def in_sessions(work, rng):
    """Do the work in sessions of some vertices each, with a state that goes through a file's header between them."""
    saved, sessions = None, 0
    while True:
        session = Session(rng.randint(1, 9))
        try:
            return work(Keeping(session.keep, saved), session.is_over), sessions
        except GivenUp:
            state, sessions = session.state(), sessions + 1
            arrays = {}
            header = json.loads(json.dumps(packed(state, arrays, "pick")))
            saved = unpacked(SavedPick, header, arrays.__getitem__)


@pytest.fixture(params=["numpy", "kernels"])
def device(request, monkeypatch):
    if request.param == "numpy":
        return None
    monkeypatch.setattr(count, "_FEWEST_STATES", 0)
    monkeypatch.setattr(device_ways, "_FEWEST_STEPS_BETWEEN", 3)
    return open_device("cpu")


WEIGHTS = Gains(of_vertices={v: v * v % 7 for v in range(64)})


@pytest.mark.parametrize("memory", [None, 3 << 17])
@pytest.mark.parametrize(("gains", "least"), [(Gains(), False), (Gains(), True), (WEIGHTS, False)])
@pytest.mark.slow_on("kernels")
def test_a_best_cycle_is_that_of_an_uninterrupted_search(device, gains, least, memory):
    planned = planned_blocks(SearchSpace(generate("grid:6x7")))
    whole = best_cycle(planned, gains, Means(memory, device=device), least=least)

    def work(keeping, enough):
        means = Means(memory, enough, device=device, keeping=keeping)
        return best_cycle(planned, gains, means, least=least)

    found, sessions = in_sessions(work, random.Random(1))
    assert found == whole
    assert sessions > 3


@pytest.mark.parametrize("memory", [None, 3 << 17])
@pytest.mark.slow_on("kernels")
def test_a_sample_is_that_of_an_uninterrupted_one(device, memory):
    graph = generate("grid:6x7")
    planned = planned_blocks(SearchSpace(graph))

    def work(keeping, enough):
        cycles, total = drawn(graph, planned, 30, 5, Means(memory, enough, device=device, keeping=keeping))
        return cycles.offsets.tolist(), cycles.vertices.tolist(), total

    whole = work(Keeping(), lambda: False)
    assert whole[2] == 13_350

    found, sessions = in_sessions(work, random.Random(2))
    assert found == whole
    assert sessions > 3


def test_blocks_that_are_done_are_not_done_again():
    """Two blocks, and a cycle that is a block of its own."""
    from kernels_ti import Graph

    grid = generate("grid:4x4").edges().tolist()
    edges = [*grid, *([u + 16, v + 16] for u, v in grid), [32, 33], [33, 34], [34, 32]]
    graph = Graph.from_edges(35, edges)
    planned = planned_blocks(SearchSpace(graph))

    def sampled(keeping, enough):
        cycles, total = drawn(graph, planned, 20, 1, Means(enough=enough, keeping=keeping))
        return cycles.offsets.tolist(), cycles.vertices.tolist(), total

    assert len(planned.blocks) == 2
    for work in (
        lambda keeping, enough: best_cycle(planned, Gains(), Means(enough=enough, keeping=keeping)),
        sampled,
    ):
        found, sessions = in_sessions(work, random.Random(4))
        assert found == work(Keeping(), lambda: False)
        assert sessions > 2


@pytest.fixture
def weight_file(tmp_path):
    path = tmp_path / "weights.txt"
    path.write_text("".join(f"{v} {v * v % 7 + 0.5}\n" for v in range(26)))
    return path


def answer(capfd, *arguments):
    assert main([*map(str, arguments), "-q"]) == 0
    return capfd.readouterr().out


def without_time(lines):
    return [line for line in lines.splitlines() if not line.startswith("  time")]


@pytest.mark.parametrize(
    ("done", "words"),
    [
        ({}, " (from the beginning, as no part was done yet)"),
        ({"share": 0.01}, ""),
        ({"paths": 7}, ""),
        ({"cycles": 7}, ""),
    ],
    ids=str,
)
def test_a_checkpoint_of_nothing_says_that_its_run_begins_anew(done, words, tmp_path):
    """An order that was being sought is not kept."""
    finished = SimpleNamespace(**{"share": 0.0, "paths": 0, "cycles": 0, **done})
    (tmp_path / "run.json").touch()
    assert way_on_from(str(tmp_path), finished) == f"chordless resume {tmp_path}{words}"


BOUNDED = ["--max-length", "10", "--through", "2,2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [[], ["--shortest", "--method", "boundary"], BOUNDED, ["--weight"]],
    ids=lambda options: " ".join(options),
)
def test_the_command_goes_on_and_tells_its_answer_again(options, tmp_path, weight_file, capfd, monkeypatch):
    graph, options = (NUMBERED, [*options, weight_file]) if "--weight" in options else (GRAPH, options)
    whole = without_time(answer(capfd, "longest", graph, *options))
    stop_at(monkeypatch, 9)
    assert main(["longest", graph, *map(str, options), "--checkpoint", str(tmp_path / "run"), "-q"]) == 130
    assert f"interrupted; to go on from the checkpoint: chordless resume {tmp_path}/run" in capfd.readouterr().err
    monkeypatch.undo()
    weight_file.unlink()
    for _ in range(2):
        assert without_time(answer(capfd, "resume", tmp_path / "run")) == whole
    assert RunDirectory(tmp_path / "run").command().pick == "longest"


@pytest.mark.slow
def test_a_sample_goes_on_and_is_told_again(tmp_path, capfd, monkeypatch):
    whole = answer(capfd, "sample", GRAPH, "-k", 20, "--seed", 3)
    for name, more in (("run", []), ("other", ["-o", str(tmp_path / "cycles.txt")])):
        stop_at(monkeypatch, 9)
        first = ["sample", GRAPH, "-k", "20", "--seed", "3", "--checkpoint", str(tmp_path / name), "-q", *more]
        assert main(first) == 130
        monkeypatch.undo()
        capfd.readouterr()
        assert [answer(capfd, "resume", tmp_path / name) for _ in range(2)] == [whole if not more else ""] * 2
    assert (tmp_path / "cycles.txt").read_text() == whole


def test_a_sample_in_a_run_directory_is_exported_and_told_again(tmp_path, capfd):
    asked = ["sample", GRAPH, "-k", "20", "--seed", "3"]
    whole = answer(capfd, *asked)
    run = f"{tmp_path / 'run'}/"
    answer(capfd, *asked, "-o", run)
    assert sorted(answer(capfd, "export", run).splitlines()) == sorted(whole.splitlines())
    command = RunDirectory(tmp_path / "run").command()
    assert (command.pick, command.limit, command.output_format) == ("sample", 20, "parts")
    for more, words in (
        (["--checkpoint", str(tmp_path / "other")], "keeps a checkpoint anyway: leave --checkpoint out"),
        (["--method", "search"], "keeps a checkpoint, which is for the method boundary"),
    ):
        assert main([*asked, "-o", f"{tmp_path / 'new'}/", *more]) == 2
        assert words in " ".join(capfd.readouterr().err.split())


STOPS = """
import os, signal
from chordless.engine import pick_clock
offer, left = pick_clock.PickCheckpoints._offer, iter(range({vertex}, -1, -1))
def stopped(self, *more):
    if next(left, 1) == 0:
        os.kill(os.getppid(), signal.SIGINT)
        while not self._channel.stop_asked:
            self._channel.obey(wait=True)
        self._clock.orders.look()
    offer(self, *more)
pick_clock.PickCheckpoints._offer = stopped
"""


def stop_at(monkeypatch, vertex):
    """Let Ctrl-C come before a vertex, while the engine is at work."""
    monkeypatch.setattr(process, "_BOOT", f"import sys\n{STOPS.format(vertex=vertex)}\n{process._BOOT}")


def begun(path, monkeypatch, capfd, *options, graph=GRAPH):
    stop_at(monkeypatch, 9)
    assert main(["longest", graph, "--checkpoint", str(path), "-q", *options]) == 130
    monkeypatch.undo()
    capfd.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_damaged_checkpoint_is_told_in_a_line(share, tmp_path, monkeypatch, capfd):
    path = tmp_path / "run"
    begun(path, monkeypatch, capfd)
    whole = (path / "checkpoint").read_bytes()
    (path / "checkpoint").write_bytes(whole[: int(share * len(whole))])
    assert main(["resume", str(path)]) == 2
    said = capfd.readouterr().err
    assert "is damaged or cut short" in said
    assert said.count("\n") == 1


@pytest.mark.slow
def test_a_checkpoint_of_another_graph_or_of_other_options_is_refused(tmp_path, weight_file, monkeypatch, capfd):
    run, other, heavy = tmp_path / "run", tmp_path / "other", tmp_path / "heavy"
    begun(run, monkeypatch, capfd)
    assert main(["longest", "grid:4x4", "--checkpoint", str(other), "-q"]) == 0
    (run / "checkpoint").write_bytes((other / "checkpoint").read_bytes())
    begun(heavy, monkeypatch, capfd, "--weight", str(weight_file), graph=NUMBERED)
    (heavy / "weights").write_text("0,0 1\n")
    for path, said in ((run, "belongs to another graph"), (heavy, "weights is")):
        assert main(["resume", str(path)]) == 2
        error = capfd.readouterr().err
        assert said in error
        assert error.count("\n") == 1


def test_what_cannot_be_asked_for_is_told(tmp_path, monkeypatch, capfd):
    path = tmp_path / "run"
    begun(path, monkeypatch, capfd)
    assert main(["resume", str(path), "--threads", "2"]) == 2
    assert "--threads is not for a run of chordless longest: leave it out" in capfd.readouterr().err
    assert main(["longest", GRAPH, "--checkpoint", str(path)]) == 2
    assert f"`chordless resume {path}` goes on with it" in capfd.readouterr().err
    assert main(["longest", GRAPH, "--checkpoint-every", "5"]) == 2
    assert "--checkpoint-every needs --checkpoint DIR" in capfd.readouterr().err


def test_a_time_limit_keeps_the_state(tmp_path, monkeypatch, capfd):
    path = tmp_path / "run"
    assert main(["longest", "grid:11x11", "--checkpoint", str(path), "--timeout", "0.05"]) == 4
    # With a best cycle so far it is a note, without one it is the end of an error.
    assert f"checkpoint: chordless resume {path}" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_is_killed_goes_on(how, tmp_path, capfd):
    path = tmp_path / "run"
    first = ["longest", "grid:13x13", "-q", "--checkpoint", path, "--checkpoint-every", "0.05"]
    begun = subprocess.Popen(command(*first), env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while not (path / "checkpoint").exists() or (path / "checkpoint").stat().st_size < 1 << 16:
        assert begun.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    begun.send_signal(how)
    said = begun.communicate(timeout=PATIENCE)[1]
    assert begun.returncode == (-9 if how == signal.SIGKILL else 143)
    assert ("chordless resume" in said) == (how == signal.SIGTERM)
    assert "  longest   104 vertices" in answer(capfd, "resume", path)


@pytest.mark.slow
@pytest.mark.parametrize("pick", ["longest", "sample"])
def test_a_pick_by_a_search_tells_its_answer_again(pick, tmp_path, capfd):
    """As the dashboard orders it: in a folder, by the method that is expected to be faster."""
    run = tmp_path / "run"
    order = RunCommand("hypercube:6", time.monotonic(), pick=pick, method="auto", limit=5, checkpoint=str(run))
    with EngineProcess(order if pick == "sample" else replace(order, limit=None)) as engine:
        *_, last = engine.events()
    assert (last.reason, last.boundary["width"]) == ("complete", 0)
    assert main(["resume", str(run), "-q", "--progress", "none"]) == 0
    told = capfd.readouterr().out
    assert ("26 vertices" in told and "115,200 of this length" in told) if pick == "longest" else last.listed == 0
    assert len(told.splitlines()) == 5
