"""A pilot for the dashboard: runs an app without a terminal and lets a test press its keys."""

from __future__ import annotations

import asyncio

SMALL, LARGE = (80, 24), (160, 50)
_SECONDS = 60


def drive(app, size, steps):
    """Run `steps`, an async function of the pilot, on `app` at the size (columns, rows); return what it returns."""

    async def run():
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            return await asyncio.wait_for(steps(pilot), _SECONDS)

    return asyncio.run(run())


async def until(pilot, condition, seconds=30):
    """Wait until `condition()` holds; fail if it does not come to."""
    deadline = asyncio.get_running_loop().time() + seconds
    await pilot.pause()
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "waited in vain"
        await asyncio.sleep(0.02)


def text_of(app):
    """Return what the app shows, a line of text for each row."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())
