"""The server: textual-serve with a door, a page of our own and an end that waits for its dashboards."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from aiohttp import web
from textual_serve import app_service, server

from chordless.web.admission import Admission, Places, most_sessions

HOST = "localhost"
# A dashboard that stops a run lets it write a checkpoint first.
_SECONDS_TO_END = 60.0
_HERE = Path(__file__).parent


class PatientService(app_service.AppService):
    """Waits for its dashboard: a loop that is closed before it knows of a child's end complains."""

    async def stop(self) -> None:
        """End the dashboard, by force if it takes too long."""
        if self._process is None:
            return
        try:
            await asyncio.wait_for(super().stop(), _SECONDS_TO_END)
        except asyncio.TimeoutError:
            self._process.kill()
        await self._process.wait()


class GuardedServer(server.Server):
    """Admits the browsers of this machine, prints one line, and ends at once, its dashboards first.

    Parameters
    ----------
    command : str
        The shell command that starts a dashboard.
    port : int
    most : int, optional
        Dashboards at the same time (default: as many as the machine can bear).
    """

    def __init__(self, command: str, port: int, most: int | None = None) -> None:
        super().__init__(command, host=HOST, port=port, title="chordless")
        self.admission = Admission(port)
        self._places = Places(most or most_sessions())
        self._browsers: set[asyncio.Task[object]] = set()

    def initialize_logging(self) -> None:
        """Log nothing but failures."""

    async def _make_app(self) -> web.Application:
        application = await super()._make_app()
        application.router.add_get("/page.js", self._handle_script)
        self.admission.guard(application)
        return application

    async def on_startup(self, app: web.Application) -> None:
        """Print where the dashboard is."""
        sys.stderr.write(
            f"the dashboard is at {self.admission.address}\n"
            "for this machine alone; a closed tab ends its dashboard and stops its run; Ctrl-C ends all\n"
        )
        sys.stderr.flush()

    async def handle_index(self, request: web.Request) -> Any:
        """Answer with the page, if a dashboard more has a place."""
        if not await self._places.taken():
            return self._places.refusal()
        # The page takes the place when it opens its websocket.
        self._places.give_back()
        return web.FileResponse(_HERE / "page.html")

    async def _handle_script(self, request: web.Request) -> web.FileResponse:
        return web.FileResponse(_HERE / "page.js")

    async def handle_websocket(self, request: web.Request) -> Any:
        """Let a page drive a dashboard of its own until either ends."""
        if not await self._places.taken():
            return self._places.refusal()
        browser = asyncio.current_task()
        assert browser is not None
        self._browsers.add(browser)
        try:
            return await super().handle_websocket(request)
        finally:
            self._browsers.remove(browser)
            self._places.give_back()

    async def on_shutdown(self, app: web.Application) -> None:
        """End the dashboards; a browser that stays would hold the server for a minute."""
        for browser in self._browsers:
            browser.cancel()
        await asyncio.gather(*self._browsers, return_exceptions=True)


# The base class looks its service up under this name, and takes no other way to be given one.
server.AppService = PatientService  # type: ignore[attr-defined]
