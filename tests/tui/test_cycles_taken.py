"""What is taken out of the Cycles screen to a file, and a filter that nothing passes."""

from __future__ import annotations

import json

from chordless.tui.screens.question import ExportQuestion
from test_export import make_run
from textual.widgets import Input, Static

from tui.pilots import text_of, until
from tui.test_cycles_screen import CYCLES, GRID, browse, names_of, press


def run_in(folder):
    make_run(folder / "run", GRID.graph, title="grid:5x6", part_bytes=1000)
    return folder / "run"


def notices(app):
    return [notification.message for notification in app._notifications]


def test_the_cycles_that_are_shown_are_written_in_their_order(folder, monkeypatch):
    monkeypatch.setattr("chordless.tui.screens.cycle_actions._CYCLES_AT_ONCE", 100)
    (folder / "cycles.txt").write_text("somebody else's")

    async def steps(pilot, screen):
        app = pilot.app
        await press(pilot, "o")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, ExportQuestion))
        field = app.screen.query_one("#asked", Input)
        # A free name is offered; one that is taken is not accepted.
        assert field.value == "cycles-2.txt"
        for name, fault in (
            ("cycles.txt", "this file exists"),
            ("nowhere/x", "there is no folder nowhere"),
            ("", "name a file"),
            (str(folder), "this is a folder"),
            ("rows.NPY", "`chordless export` writes a .npy file"),
        ):
            field.value = name
            await until(pilot, lambda fault=fault: fault in str(app.screen.query_one("#asked-mistake", Static).content))
            await pilot.press("enter")
            assert isinstance(app.screen, ExportQuestion)
        field.value = "all.txt"
        await pilot.press("enter")
        await until(pilot, lambda: notices(app))
        assert notices(app)[0].startswith(f"{len(CYCLES)} cycles are in ")
        await pilot.press("slash", *"4", "enter")
        await until(pilot, lambda: "length 4" in text_of(app))
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, ExportQuestion))
        app.screen.query_one("#asked", Input).value = "squares.jsonl"
        await pilot.press("enter")
        await until(pilot, lambda: any("squares.jsonl" in notice for notice in notices(app)))

    browse(run_in(folder), steps)
    lines = (folder / "all.txt").read_text().splitlines()
    assert sorted(lines) == sorted(names_of(cycle) for cycle in CYCLES)
    assert [len(line.split()) for line in lines] == sorted(map(len, CYCLES), reverse=True)
    squares = [json.loads(line) for line in (folder / "squares.jsonl").read_text().splitlines()]
    assert len(squares) == sum(len(cycle) == 4 for cycle in CYCLES)
    assert (folder / "cycles.txt").read_text() == "somebody else's"


def test_an_export_that_fails_is_reported(folder):
    async def steps(pilot, screen):
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, ExportQuestion))
        pilot.app.screen.query_one("#asked", Input).value = "/proc/cycles.txt"
        await pilot.press("enter")
        await until(pilot, lambda: notices(pilot.app))
        assert "/proc/cycles.txt" in notices(pilot.app)[0]
        assert screen.exported is None

    browse(run_in(folder), steps)


def test_a_filter_that_nothing_passes_says_how_to_undo_it(folder):
    async def steps(pilot, screen):
        await pilot.press("slash", *"5", "enter")
        await until(
            pilot, lambda: f"0 of {len(CYCLES)} cycles · length 5 · escape undoes the filter" in text_of(pilot.app)
        )
        await press(pilot, "escape")
        await until(pilot, lambda: f"{len(CYCLES)} cycles · order" in text_of(pilot.app))

    browse(run_in(folder), steps)
