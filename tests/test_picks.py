"""A longest cycle and samples in the engine: what is reported, what the run directory keeps, and stops."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from chordless.cli import main
from chordless.cycles.browse import RunCycles
from chordless.engine.channel import Channel
from chordless.engine.search_run import run
from chordless.graphs.load import load_graph
from chordless.protocol.codec import command_to_json, event_from_json
from chordless.protocol.events import Finished, Progress, Started
from chordless.protocol.orders import RunCommand, StopCommand
from chordless.runs.directory import RunDirectory, created
from chordless.runs.history import list_runs
from chordless.runs.state import RunState
from chordless.tui.run_list import details, title

from kernels_ti import enumerate_paths
from kernels_ti.boundary import longest, sample
from kernels_ti.boundary.in_one_call import set_up
from kernels_ti.reference.algorithm import chordless_cycles


def carried_out(command, *orders):
    """Carry out a command in this process; return its events."""
    reads, writes = os.pipe()
    events = os.memfd_create("events")
    try:
        for order in orders:
            os.write(writes, command_to_json(order).encode() + b"\n")
        run(command, Channel(reads, events), -1)
        os.lseek(events, 0, os.SEEK_SET)
        with open(os.dup(events), "rb") as stream:
            return [event_from_json(line) for line in stream]
    finally:
        for descriptor in (reads, writes, events):
            os.close(descriptor)


def picking(path, graph="grid:5x5", **options):
    return RunCommand(graph, time.monotonic(), checkpoint=str(path), output=str(path), output_format="parts", **options)


@pytest.mark.parametrize(("bounds", "length"), [({}, 16), ({"max_length": 13}, 12), ({"through": ("2,2",)}, 16)])
def test_a_longest_cycle_is_kept_as_a_listing_is(tmp_path, bounds, length):
    first, *reports, last = carried_out(picking(tmp_path / "run", pick="longest", **bounds))
    assert isinstance(first, Started)
    assert isinstance(last, Finished)
    assert (last.reason, last.cycles, last.listed) == ("complete", 1, 1)
    assert last.cycles_by_length == {length: 1}
    cycles = RunCycles(tmp_path / "run")
    (found,) = cycles.found(np.array([0]))
    every = [tuple(cycle) for cycle in chordless_cycles(cycles.loaded.graph)]
    assert tuple(found.vertices.tolist()) in set(every)
    as_long = [cycle for cycle in every if len(cycle) == length]
    if not bounds:
        assert last.boundary["ways"] == len(as_long)
    assert not cycles.at_work
    pictures = [report for report in reports if isinstance(report, Progress) and report.states_by_step]
    assert pictures
    assert max(pictures[-1].states_by_step) == max(pictures[0].expected_by_step)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pick", "worker"), [("longest", (longest, "DeviceOptimum")), ("sample", (sample, "DeviceWays"))]
)
def test_cycles_are_picked_on_the_arch_that_was_chosen(tmp_path, monkeypatch, pick, worker):
    threads = []

    class Noted(getattr(*worker)):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            threads.append(self._device.threads)

    monkeypatch.setattr(*worker, Noted)
    python = carried_out(picking(tmp_path / "python", pick=pick, limit=9 if pick == "sample" else None))[-1]
    assert threads == []
    monkeypatch.setattr("kernels_ti.boundary.count._FEWEST_STATES", 1)
    options = {"pick": pick, "arch": "cpu", "threads": 1, "limit": python.listed if pick == "sample" else None}
    last = carried_out(picking(tmp_path / "cpu", **options))[-1]
    assert threads == [1]
    assert last.listed == python.listed
    assert last.boundary == python.boundary


@pytest.mark.parametrize("pick", ["longest", "sample"])
def test_the_command_picks_on_the_arch_that_was_asked_for(pick, monkeypatch, capfd):
    asked = []

    def noted(space, arch, *more, **options):
        asked.append(arch)
        return set_up(space, "auto", *more, **options)

    monkeypatch.setattr("kernels_ti.boundary.in_one_call.set_up", noted)
    monkeypatch.setattr(
        "chordless.commands.along_boundary.run_engine",
        lambda command, options: (carried_out(replace(command, output=None))[-1], 0),
    )
    assert main([pick, "petersen", "--arch", "cuda"]) == 0
    assert main([pick, "petersen"]) == 0
    assert asked == ["cuda", "auto"]


def test_a_sample_comes_with_the_exact_shares_of_all_cycles(tmp_path):
    options = {"pick": "sample", "limit": 30, "seed": 4, "per_vertex": True, "per_edge": True}
    last = carried_out(picking(tmp_path / "run", **options))[-1]
    cycles = RunCycles(tmp_path / "run")
    every = [tuple(cycle) for cycle in chordless_cycles(cycles.loaded.graph)]
    assert (last.listed, last.boundary["drawn_from"]) == (30, len(every))
    drawn = cycles.found(np.arange(30))
    assert {tuple(cycle.vertices.tolist()) for cycle in drawn} <= set(every)
    for entry, v in zip(last.participation["vertices"], range(25), strict=True):
        assert entry["cycles"] == sum(v in cycle for cycle in every)
    again = carried_out(picking(tmp_path / "again", **options))[-1]
    assert again.cycles_by_length == last.cycles_by_length


@pytest.mark.parametrize("method", ["boundary", "search"])
@pytest.mark.parametrize(("directed", "ends"), [(False, ("0", "5")), (True, ("0", "5")), (False, ("0", "1"))])
def test_a_sample_of_paths_has_the_shares_of_all(tmp_path, directed, ends, method):
    arcs = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5), (2, 3), (4, 3), (5, 6)]
    (tmp_path / "g.txt").write_text("".join(f"{u} {v}\n" for u, v in arcs))
    options = {"pick": "sample", "limit": 3, "per_vertex": True, "per_edge": True, "min_length": 2}
    command = picking(tmp_path / "run", str(tmp_path / "g.txt"), directed=directed, between=ends, **options)
    last = carried_out(replace(command, method=method))[-1]
    graph = load_graph(str(tmp_path / "g.txt"), directed=directed).graph
    paths = list(enumerate_paths(graph, *ends))
    steps = {frozenset(step) for path in paths for step in pairwise(path)}
    assert (last.reason, last.listed, last.boundary["drawn_from"]) == ("complete", 3, len(paths))
    through = {entry["name"]: entry["cycles"] for entry in last.participation["vertices"]}
    assert through == {v: sum(v in path for path in paths) for v in graph.names}
    on = {frozenset(entry["name"]): entry["cycles"] for entry in last.participation["edges"]}
    assert on.keys() == {frozenset(map(str, arc)) for arc in arcs}
    assert {edge for edge, number in on.items() if number} == steps
    assert sum(on.values()) == sum(len(path) - 1 for path in paths)


@pytest.mark.slow
@pytest.mark.parametrize("pick", ["all", "sample"])
def test_the_shares_do_not_depend_on_the_arch_and_are_reported_honestly(tmp_path, monkeypatch, pick):
    options = {"per_vertex": True, "per_edge": True, "method": "boundary", "pick": pick, "limit": 3}
    python = carried_out(RunCommand("grid:8x8", time.monotonic(), **options))[-1]
    monkeypatch.setattr("kernels_ti.boundary.count._FEWEST_STATES", 1)
    monkeypatch.setattr("chordless.engine.boundary._SLICE_SECONDS", 0.0)
    *reports, last = carried_out(RunCommand("grid:8x8", time.monotonic(), arch="cpu", **options))
    assert last.participation == python.participation
    shares = [report.share for report in reports if isinstance(report, Progress)]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    # The count, or the way forward of the sample, is a third of the work.
    assert sum(1 / 3 + 0.01 < share < 0.99 for share in shares) > 64


def test_a_count_along_a_boundary_keeps_its_result_and_is_reported_again(tmp_path):
    counted = carried_out(
        RunCommand("grid:5x5", time.monotonic(), checkpoint=str(tmp_path / "run"), method="boundary")
    )[-1]
    asked = RunCommand("grid:5x5", time.monotonic(), checkpoint=str(tmp_path / "run"), method="boundary", resume=True)
    told = carried_out(asked)[-1]
    assert told.cycles_by_length == counted.cycles_by_length
    assert (told.reason, told.cycles) == ("complete", counted.cycles)


@pytest.mark.parametrize("options", [{"pick": "longest"}, {"pick": "sample", "limit": 30}])
def test_a_run_that_was_stopped_goes_on(tmp_path, options):
    """The stop comes before the first vertex, and then between two of them."""
    path = tmp_path / "run"
    whole = carried_out(picking(tmp_path / "whole", "grid:7x7", **options))[-1]
    last = carried_out(picking(path, "grid:7x7", **options), StopCommand())[-1]
    assert (last.reason, last.cycles, last.listed) == ("interrupted", 0, 0)
    (summary,) = [each for each in list_runs(tmp_path) if each.path == path]
    assert (summary.has_checkpoint, summary.can_resume) == (True, True)
    # A time limit that is up at once ends the session after its first steps.
    asked = replace(RunDirectory(path).command(), program_start=time.monotonic())
    again = carried_out(replace(asked, timeout=1e-9))[-1]
    assert (again.reason, again.listed) == ("timeout", 0)
    last = carried_out(asked)[-1]
    assert (last.reason, last.listed, last.cycles_by_length) == ("complete", whole.listed, whole.cycles_by_length)
    assert len(RunCycles(path)) == whole.listed
    told = carried_out(asked)[-1]
    assert (told.cycles_by_length, told.boundary) == (whole.cycles_by_length, whole.boundary)
    assert told.best == whole.best
    assert len(RunCycles(path)) == whole.listed, "it is not written once more"


def test_without_cycles_nothing_is_picked(tmp_path):
    for pick in ("longest", "sample"):
        last = carried_out(picking(tmp_path / pick, "path:9", pick=pick))[-1]
        assert (last.reason, last.cycles, last.cycles_by_length) == ("complete", 0, {})
        assert len(RunCycles(tmp_path / pick)) == 0


def test_the_list_of_runs_tells_what_was_picked(tmp_path):
    carried_out(picking(tmp_path / "run", pick="longest"))
    (summary,) = list_runs(tmp_path)
    assert summary.pick == "longest"
    assert title(summary) == "longest of grid:5x5"
    assert "One of the longest: " in details(summary)


def test_of_a_lightest_cycle_the_weight_is_told(tmp_path):
    weights = tmp_path / "weights"
    weights.write_text(
        "".join(f"{name} {4 if name == '0,0' else 2.5}\n" for name in load_graph("grid:3x3").graph.names)
    )
    kind = {"pick": "longest", "shortest": True, "weight": str(weights), "min_length": 4}
    last = carried_out(picking(tmp_path / "run", "grid:3x3", **kind))[-1]
    state = RunState().after([(0.0, last)])
    assert (state.weight, state.cycles_by_length, state.boundary["ways"]) == ("10", {4: 1}, 3)
    (summary,) = list_runs(tmp_path)
    assert title(summary) == "lightest of grid:3x3"
    assert "One of the lightest: " in details(summary)


def test_a_run_that_was_killed_while_it_picked_is_not_offered_to_be_resumed(tmp_path):
    with created(tmp_path / "run", picking(tmp_path / "run", pick="longest"), load_graph("grid:5x5")):
        # A process that is killed leaves the folder as it is here.
        shutil.copytree(tmp_path / "run", tmp_path / "killed")
    (summary,) = list_runs(tmp_path)
    assert (summary.has_checkpoint, summary.can_resume) == (False, False)
    assert details(replace(summary, stage="lost")).endswith("It cannot be resumed.")


@pytest.mark.parametrize("options", [{"method": "boundary"}, {"pick": "longest"}, {"pick": "sample"}])
def test_an_engine_that_seeks_an_order_reports_it(tmp_path, monkeypatch, options):
    options = {"method": "boundary", **options}
    monkeypatch.setattr("chordless.engine.boundary._SLICE_SECONDS", 0.0)
    edges = tmp_path / "edges.txt"
    # The lines of the grid are mixed, so that the beam search finds a better order than that of the names.
    edges.write_text("".join(f"{7 * u % 80} {7 * v % 80}\n" for u, v in load_graph("grid:8x10").graph.edges().tolist()))
    events = carried_out(
        RunCommand(str(edges), time.monotonic(), limit=3 if options.get("pick") == "sample" else None, **options)
    )
    reports = [event for event in events if isinstance(event, Progress)]
    seeking = [report for report in reports if report.seeking_order]
    assert seeking[-1].width == 9
    assert all(report.states == report.cycles == 0 for report in seeking)
    assert not reports[-1].seeking_order
    assert reports[reports.index(seeking[-1]) + 1].expected_by_step, "then the steps are reported"
