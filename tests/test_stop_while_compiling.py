"""A stop while an engine compiles, which takes no orders: it is killed, and what it found is kept."""

from __future__ import annotations

import time

import pytest
from chordless.engine import process
from chordless.engine.process import EngineProcess, loses_nothing
from chordless.protocol.events import Finished, Progress
from chordless.protocol.orders import RunCommand
from chordless.runs.history import summarize
from patience import PATIENCE

# Kernels that take for ever to compile. No Python runs in the engine's process meanwhile, as under Taichi.
_SEARCH = "import kernels_ti.sweep.search as sweep; sweep.SweepSearch._compile = lambda self: {for_ever}; "
_BOUNDARY = "import kernels_ti.boundary.count as count; count.block_in_kernels = lambda *_: {for_ever}; "
_FOR_EVER = "__import__('time').sleep(600)"


def _stopped(monkeypatch, folder, slips, graph, **more):
    """Stop a run once it compiles. Return its last events and the seconds until the end."""
    boot = process._BOOT.replace("from chordless.worker", slips.format(for_ever=_FOR_EVER) + "from chordless.worker")
    monkeypatch.setattr(process, "_BOOT", boot)
    command = RunCommand(graph, time.monotonic(), arch="cpu", checkpoint=str(folder), **more)
    with EngineProcess(command) as engine:
        while not (isinstance(event := engine.poll(PATIENCE), Progress) and event.compiling):
            assert event is not None
        asked = time.monotonic()
        engine.stop()
        rest = list(engine.events())
    return rest, time.monotonic() - asked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slips", "graph", "more"),
    [(_SEARCH, "grid:7x8", {}), (_BOUNDARY, "grid:13x13", {"method": "boundary"})],
    ids=["search", "boundary"],
)
def test_a_stop_while_kernels_compile_is_obeyed_soon_and_loses_nothing(monkeypatch, tmp_path, slips, graph, more):
    folder = tmp_path / "run"
    rest, seconds = _stopped(monkeypatch, folder, slips, graph, **more)
    assert isinstance(rest[-1], Finished)
    assert rest[-1].reason == "interrupted"
    # Two seconds, and time for a busy machine. The compilation itself would take ten minutes.
    assert seconds < 120
    summary = summarize(folder)
    assert summary is not None
    assert summary.stage == "stopped"
    assert summary.can_resume


def test_cycles_on_their_way_to_a_pipe_are_waited_for(tmp_path):
    listing = RunCommand("petersen", time.monotonic(), output="cycles.txt", output_format="text")
    assert not loses_nothing(listing)
    assert loses_nothing(RunCommand("petersen", time.monotonic()))
    assert loses_nothing(RunCommand("petersen", time.monotonic(), output=str(tmp_path), checkpoint=str(tmp_path)))
