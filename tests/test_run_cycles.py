"""The cycles of a run directory that an engine may be adding to, or cutting back."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest
from chordless.cycles.browse import RunCycles, ShownCycles
from chordless.cycles.index import CycleFilter, CycleIndex, build_index
from chordless.cycles.read import part_path
from chordless.cycles.write import RowFile
from chordless.graphs.load import LoadedGraph, load_graph
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import created, reopened
from test_export import make_run
from test_order import rows_of

from kernels_ti import EngineError, OptionError
from kernels_ti.errors import CheckpointError
from kernels_ti.reference.algorithm import chordless_cycles

GRAPH = load_graph("grid:4x5").graph
CYCLES = list(chordless_cycles(GRAPH))


@pytest.fixture
def path(tmp_path):
    """A run whose checkpoint vouches for all but ten of its cycles."""
    assert len(make_run(tmp_path / "run", GRAPH, more=10)) == len(CYCLES) - 10
    return tmp_path / "run"


def last_part(path):
    folder = path / "cycles"
    return part_path(folder, len(os.listdir(folder)) - 1)


def test_what_is_shown_while_an_engine_is_at_work_and_afterwards(path):
    with reopened(path):
        run = RunCycles(path)
        assert run.at_work
        assert len(run) == len(CYCLES)
        assert [cycle.vertices.tolist() for cycle in run.found(np.arange(len(run)))] == CYCLES
        file = RowFile(last_part(path), 1, position={"rows": len(np.load(last_part(path)))})
        file.append(rows_of(CYCLES[:2], GRAPH.n))
        file.close()
        assert run.refresh()
        assert len(run) == len(CYCLES) + 2
        assert not run.refresh()
        assert run.session == 0
    assert run.refresh()
    assert not run.at_work
    assert len(run) == len(CYCLES) - 10


def test_any_cycles_in_any_order(path):
    run = RunCycles(path)
    positions = np.array([5, 6, 7, 2, 30, 31, 0])
    found = run.found(positions)
    assert [cycle.position for cycle in found] == positions.tolist()
    assert [cycle.vertices.tolist() for cycle in found] == [CYCLES[i] for i in positions]
    assert run.found(np.empty(0, np.int64)) == []
    shown = ShownCycles(run, build_index(run.store, CycleFilter(), "longest", GRAPH.n))
    assert len(shown.read(0, 1)[0].vertices) == max(map(len, CYCLES[: len(run)]))
    assert len(shown.read(len(run) - 2, len(run) + 5)) == 2


def test_rows_that_are_cut_off_are_missed_and_nothing_crashes(path):
    with reopened(path):
        run = RunCycles(path)
        store = run.store
        RowFile(last_part(path), 1, position={"rows": 0}).close()
        gone = run.found(np.array([0, len(run) - 1]))
        assert gone[0].vertices.tolist() == CYCLES[0]
        assert gone[1].error == "no longer there"
        with pytest.raises(EngineError, match="cut off"):
            build_index(store, CycleFilter(), "longest", GRAPH.n)
        assert run.refresh()
    assert run.session == 1


def test_a_new_session_is_noticed_even_if_the_files_have_grown(path):
    run = RunCycles(path)
    with open(path / "events.jsonl", "a") as stream:
        stream.write('{"event": "progress"}\n')
    run.refresh()
    assert run.session == 0
    with open(path / "events.jsonl", "a") as stream:
        stream.write('{"event": "started", "graph": "x"}\n')
    assert run.refresh()
    assert run.session == 1
    assert not run.refresh()


def test_a_part_that_is_just_being_made_is_waited_for(path):
    with reopened(path):
        run = RunCycles(path)
        part_path(path / "cycles", len(os.listdir(path / "cycles"))).touch()
        assert not run.refresh()
        assert len(run) == len(CYCLES)


def test_a_row_that_is_no_cycle_is_said_to_be_none(path):
    part = part_path(path / "cycles", 0)
    rows = np.load(part)
    rows[1] = 31
    np.save(part, rows)
    first, second, third = RunCycles(path).found(np.arange(3))
    assert (first.error, second.error, third.error) == (None, "not a chordless cycle of this graph", None)
    assert len(second.vertices) == 0


def test_a_deleted_run_is_no_longer_there(path):
    run = RunCycles(path)
    shutil.rmtree(path)
    assert {cycle.error for cycle in run.found(np.arange(3))} == {"no longer there"}
    assert len(ShownCycles(run, CycleIndex(len(run)))) == len(CYCLES) - 10


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"output": None}, "keeps no cycles; `chordless list -o DIR/` does"),
        ({"output": None, "between": ("a", "b")}, "keeps no paths; `chordless paths -o DIR/` does"),
        ({}, "are in .*c.txt"),
    ],
)
def test_runs_without_cycles_say_so(tmp_path, asked, said):
    values = {"output": str(tmp_path / "c.txt"), "output_format": "text", **asked}
    command = RunCommand(graph="g", program_start=0.0, **values)
    with created(tmp_path / "run", command, LoadedGraph(GRAPH, "g")), pytest.raises(OptionError, match=said):
        RunCycles(tmp_path / "run")
    with pytest.raises(CheckpointError, match="no run in"):
        RunCycles(tmp_path / "run")
