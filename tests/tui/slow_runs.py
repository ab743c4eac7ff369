"""Runs in slow motion (see the fixture ``slow``), so that they can be met in the middle."""

from __future__ import annotations

import time

from chordless.engine import process
from chordless.protocol.orders import RunCommand
from chordless.tui.messages import StartRun

from tui.pilots import until

GRAPH, CYCLES = "grid:6x9", 196_918
_BOOT = process._BOOT


def command(run, *, graph=GRAPH, **more):
    """Return the command of such a run in a directory."""
    return RunCommand(graph, time.monotonic(), **{"arch": "cpu", "threads": 1, "checkpoint": str(run), **more})


async def begin(pilot, run, *, halt=False, **more):
    """Begin a run in the dashboard and wait until it has found something; halted, it cannot end by itself."""
    app = pilot.app
    app.post_message(StartRun(command(run, **more)))
    await until(pilot, lambda: app.run_state is not None and app.run_state.cycles > 0)
    assert app.current_mode == "run"
    if halt:
        app.session.feed.pause()
        await until(pilot, lambda: app.run_state.phase == "paused")


def at_full_speed(monkeypatch):
    """Let the engines that are started from now on search as fast as they can."""
    monkeypatch.setattr("chordless.engine.process._BOOT", _BOOT)
