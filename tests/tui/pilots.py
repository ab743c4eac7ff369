"""A pilot for the dashboard: runs an app without a terminal and lets a test press its keys."""

from __future__ import annotations

import asyncio

import pytest
from patience import PATIENCE
from textual.pilot import WaitForScreenTimeout

SMALL, LARGE = (80, 24), (160, 50)
SIZES = pytest.mark.parametrize(
    "size", [pytest.param(SMALL, id="80x24"), pytest.param(LARGE, id="160x50", marks=pytest.mark.slow)]
)


def drive(app, size, steps):
    """Run `steps`, an async function of the pilot, on `app` at the size (columns, rows); return what it returns."""

    async def run():
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            return await asyncio.wait_for(steps(pilot), PATIENCE)

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
    except WaitForScreenTimeout:
        if not pilot.app._exit:
            raise


def text_of(app):
    """Return what the app shows, a line of text for each row."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())
