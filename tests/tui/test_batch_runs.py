"""A batch from the Batch screen, with a real engine, and what comes after it."""

from __future__ import annotations

import json
import os
import signal

import pytest
from chordless.batch.output import read_lines
from chordless.engine.process import EngineProcess
from chordless.tui.app import ChordlessApp
from chordless.tui.batch_form import BatchQuestion
from chordless.tui.screens.batch import BatchScreen
from chordless.tui.screens.leave import LeaveBatch
from chordless.tui.screens.question import AskRun
from chordless.tui.settings import Settings
from chordless.tui.widgets.batch_form import BatchForm
from chordless.tui.widgets.batch_table import BatchTable
from patience import PATIENCE

from kernels_ti import OptionError
from tui.batch_files import TRIANGLE
from tui.batch_screens import fill, shown, watch
from tui.pilots import LARGE, SMALL, drive, text_of, until


@pytest.mark.parametrize("size", [SMALL, pytest.param(LARGE, marks=pytest.mark.slow)], ids=["80x24", "160x50"])
@pytest.mark.slow
def test_a_batch_from_the_form_to_the_run_of_one_of_its_graphs(folder, size):
    (folder / "some.g6").write_bytes(b"".join([TRIANGLE, b"\n", b"!!\n", b"C~\n"]))
    # On this arch an engine begins soonest.
    (folder / "jobs.toml").write_text('[[jobs]]\ngraph = ["grid:4x4", "some.g6"]\narch = "reference"\n')

    async def steps(pilot, screen):
        app = pilot.app
        await pilot.press("tab", *"jobs.toml")
        await until(pilot, lambda: screen.query_one(BatchForm).plan is not None)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: app.batch is not None and not app.batch.is_at_work)
        await until(pilot, lambda: len(screen.lines or ()) == 4 and "done" in shown(screen, "#batch-phase"))
        text = text_of(app)
        assert "4 of 4 graphs  1 failed" in text
        assert "100%" in text
        (row,) = [row for row in text.splitlines() if "✔ complete  grid:4x4" in row]
        assert row.partition("grid:4x4")[2].split()[:5] == ["16", "24", "24", "12", "24"]
        assert [found["status"] for found in read_lines("batch.jsonl")] == ["complete", "complete", "error", "complete"]
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(app.screen, AskRun))
        assert "A new run lists its cycles" in text_of(app)
        # No run begins unasked.
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, BatchScreen))
        assert app.session is None
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, AskRun))
        await pilot.press("y")
        await until(pilot, lambda: app.current_mode == "run" and app.run_state.phase == "finished")
        assert app.session.command.graph == str(folder / "some.g6:3")
        assert app.run_state.cycles == 4
        await pilot.press("alt+5")
        await until(pilot, lambda: isinstance(app.screen, BatchScreen))

    watch(steps, size)
    # Next time it is there again.
    watch(lambda pilot, screen: until(pilot, lambda: len(screen.lines or ()) == 4), size)


def test_a_batch_is_counted_on_the_cluster_that_is_named(folder, monkeypatch):
    pytest.importorskip("distributed", reason="needs Dask (pip install distributed)")
    asked = []
    monkeypatch.setattr("chordless.tui.screens.batch.BatchCommand", lambda *_, **more: asked.append(more) or stop())

    def stop():
        raise OptionError("that is enough")

    async def steps(pilot, screen):
        plan = await fill(pilot, graphs="grid:4x4", output="x.jsonl", cluster="nowhere")
        assert not plan.can_start
        assert "there is no cluster 'nowhere'" in text_of(pilot.app)
        await fill(pilot, cluster="local:2")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: asked)

    watch(steps)
    assert asked == [{"cluster": "local:2"}]


def test_a_stop_before_the_first_graph_is_no_failure(folder, monkeypatch):
    monkeypatch.setattr("chordless.batch.client.BatchClient.search_began", False)

    async def steps(pilot, screen):
        await fill(pilot, graphs="grid:9x10", output="x.jsonl")
        await pilot.press("ctrl+r")
        await pilot.click("#batch-stop")
        await until(pilot, lambda: "■ stopped" in shown(screen, "#batch-phase"))
        assert shown(screen, "#batch-now") == "! stopped before the first graph"

    watch(steps)


@pytest.mark.slow
def test_a_batch_is_stopped_and_gone_on_with_and_leaving_asks(folder):
    (folder / "jobs.toml").write_text('[[jobs]]\ngraph = ["grid:4x4", "grid:9x10"]\narch = "cpu"\ntimeout = "10m"\n')

    async def steps(pilot, screen):
        app = pilot.app
        assert screen.query_one(BatchForm).question == BatchQuestion("jobs.toml", "jobs.jsonl")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: app.batch is not None and "now grid:9x10" in shown(screen, "#batch-now"))
        # Until its first line comes, the field of the graphs has the focus, where a letter is text.
        await until(pilot, lambda: screen.query_one(BatchTable).has_focus)
        await pilot.press("s")
        await until(pilot, lambda: not app.batch.is_at_work)
        await until(pilot, lambda: "stopped" in shown(screen, "#batch-phase"))
        assert [found["graph"] for found in read_lines("jobs.jsonl")] == ["grid:4x4"]
        await until(pilot, lambda: screen.query_one(BatchForm).plan is not None)
        # What is asked for is the same: no question.
        await pilot.click("#batch-start")
        await until(pilot, lambda: app.batch.is_at_work and app.batch.state.kept == 1)
        await until(pilot, lambda: app.batch.state.graph == "grid:9x10")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, LeaveBatch))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, BatchScreen))
        assert app.batch.is_at_work
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, LeaveBatch))
        # A key that was meant for the screen below changes nothing.
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BatchScreen))
        assert app.batch.is_at_work
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, LeaveBatch))
        await pilot.click("#stop")
        await until(pilot, lambda: not app.is_running)

    app = ChordlessApp(Settings(), batch="jobs.toml")

    async def show_and_go(pilot):
        await until(pilot, lambda: isinstance(app.screen, BatchScreen) and app.screen.query_one(BatchForm).plan)
        await until(pilot, lambda: app.screen.query_one(BatchForm).plan and app.screen.query_one(BatchForm).plan.jobs)
        await steps(pilot, app.screen)

    drive(app, SMALL, show_and_go)
    assert app.batch.state.phase == "interrupted"
    assert not app.batch.is_at_work


def test_an_engine_that_does_not_come_up_is_an_error_of_the_batch(folder, monkeypatch):
    pids = []
    # It is killed before it reports anything, however late that is.
    monkeypatch.setattr("chordless.engine.process._BOOT", f"import time; time.sleep({PATIENCE})")
    monkeypatch.setattr(
        "chordless.batch.client.EngineProcess",
        lambda command, **more: pids.append(engine := EngineProcess(command, **more)) or engine,
    )

    async def steps(pilot, screen):
        await fill(pilot, graphs="grid:9x10", output="x.jsonl")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: pids)
        assert os.getpriority(os.PRIO_PROCESS, pids[0].pid) > os.getpriority(os.PRIO_PROCESS, 0)
        os.kill(pids[0].pid, signal.SIGKILL)
        await until(pilot, lambda: "failed" in shown(screen, "#batch-phase"))
        assert "the engine was killed (SIGKILL)" in shown(screen, "#batch-now")

    watch(steps)


def test_the_settings_of_earlier_batches_may_be_broken(folder, tmp_path):
    (tmp_path / "config" / "chordless").mkdir(parents=True)
    (tmp_path / "config" / "chordless" / "batches.json").write_text(json.dumps([{"nonsense": 1}]))

    async def steps(pilot, screen):
        await until(pilot, lambda: any("is ignored" in said.message for said in pilot.app._notifications))

    watch(steps)
