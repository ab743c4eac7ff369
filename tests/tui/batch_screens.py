"""The Batch screen as tests use it."""

from __future__ import annotations

from chordless.tui.app import ChordlessApp
from chordless.tui.screens.batch import BatchScreen
from chordless.tui.settings import Settings
from chordless.tui.widgets.batch_form import BatchForm
from textual.widgets import Static

from tui.pilots import SMALL, drive, until


def watch(steps, size=SMALL, **more):
    """Take `steps` on the Batch screen; return the app."""
    app = ChordlessApp(Settings(), **more)

    async def show_and_go(pilot):
        if "batch" in more:
            await until(pilot, lambda: isinstance(app.screen, BatchScreen) and len(app.screen.lines or ()) > 0)
        else:
            await pilot.press("alt+5")
            await until(pilot, lambda: isinstance(app.screen, BatchScreen))
        await until(pilot, lambda: app.screen.query_one(BatchForm).plan is not None)
        await pilot.pause()
        return await steps(pilot, app.screen)

    drive(app, size, show_and_go)
    return app


async def fill(pilot, **texts):
    """Put texts into the form, and wait until it is known what they mean."""
    form = pilot.app.screen.query_one(BatchForm)
    form.put(**texts)
    await pilot.pause()
    await until(pilot, lambda: form.plan is not None)
    await pilot.pause()
    return form.plan


def shown(screen, name):
    return str(screen.query_one(name, Static).content)
