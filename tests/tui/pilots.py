"""A pilot for the dashboard: runs an app without a terminal and lets a test press its keys."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from unittest.mock import patch

import pytest
from patience import PATIENCE
from textual._context import active_app
from textual.app import ScreenStackError
from textual.pilot import Pilot

SMALL, LARGE = (80, 24), (160, 50)
SIZES = pytest.mark.parametrize(
    "size", [pytest.param(SMALL, id="80x24"), pytest.param(LARGE, id="160x50", marks=pytest.mark.slow)]
)


def drive(app, size, steps):
    """Run `steps`, an async function of the pilot, on `app` at the size (columns, rows); return what it returns."""

    async def run():
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            try:
                return await asyncio.wait_for(steps(pilot), PATIENCE)
            except BaseException:
                # Beside the report of the failure.
                print(f"The screen {app.screen}:\n{text_of(app)}" if app.screen_stack else "No screen is left.")
                raise

    # On a busy machine a notice would be gone before a test looks at it.
    app.NOTIFICATION_TIMEOUT = PATIENCE
    with ExitStack() as stack:
        for place in ("textual.app.wait_for_idle", "textual.pilot.wait_for_idle"):
            stack.enter_context(patch(place, _at_rest))
        stack.enter_context(patch.object(Pilot, "_wait_for_screen", _answered))
        return asyncio.run(run())


async def until(pilot, condition):
    """Wait until `condition()` holds, and what made it so is to be seen."""
    await _settled(pilot)
    while not condition():
        await asyncio.sleep(0.02)
    # The screen is laid out and drawn later than what it shows is known.
    await _settled(pilot)


async def _settled(pilot):
    """Wait until the screen has answered all that came before. An app that is leaving answers no more."""
    if pilot.app._exit:
        return
    try:
        await pilot.pause()
    except ScreenStackError:
        if not pilot.app._exit:
            raise


async def _at_rest(least=0.0, most=0.0):
    """Wait until nothing is left to do but what a thread, a late timer or a user begins, and draw what has changed.

    Textual asks how much of the processor was taken, which is nothing where other processes have it.
    """
    loop, app = asyncio.get_running_loop(), active_app.get()
    for _ in range(2):
        await _without_callbacks(loop)
        now = loop.time()
        # A change of the size is told to the screen a hundredth of a second later.
        soon = [timer.when() - now for timer in loop._scheduled if not timer.cancelled() and timer.when() < now + 0.02]
        await asyncio.sleep(max(soon, default=0.0))
        await _without_callbacks(loop)
        # A button takes no click while it shows the one before.
        while app.screen_stack and not app._exit and app.screen.query("Button.-active"):
            await asyncio.sleep(0.02)
        if app.screen_stack and not app._exit:
            app.screen._on_timer_update()


async def _without_callbacks(loop):
    """Wait until no callback is ready to be called."""
    while loop._ready:
        await asyncio.sleep(0)


_wait_for_screen = Pilot._wait_for_screen


async def _answered(pilot):
    """Wait as long as a busy machine takes, and for no answer of an app that is leaving."""
    answer = asyncio.ensure_future(_wait_for_screen(pilot, PATIENCE))
    try:
        while not answer.done() and not pilot.app._exit:
            await asyncio.wait({answer}, timeout=0.05)
    finally:
        answer.cancel()
    return answer.done() and answer.result()


def text_of(app):
    """Return what the app shows, a line of text for each row."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())
