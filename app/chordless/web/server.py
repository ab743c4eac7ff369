"""The server: textual-serve with access control and our own page. Before it ends, it ends its dashboards."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from aiohttp import web
from textual_serve import app_service, server

from chordless.web.admission import Admission, Places, most_sessions

HOST = "localhost"
# A dashboard needs time to end, since its run writes a checkpoint first.
_SECONDS_TO_END = 60.0
_HERE = Path(__file__).parent
_SECONDS_BETWEEN_KNOCKS = 0.02


class PatientService(app_service.AppService):
    """Waits for the end of its dashboard. Otherwise asyncio would warn about a child of a closed loop."""

    async def stop(self) -> None:
        """End the dashboard. Kill it if that takes too long."""
        if self._process is None:
            return
        try:
            await asyncio.wait_for(super().stop(), _SECONDS_TO_END)
        except asyncio.TimeoutError:
            self._process.kill()
        await self._process.wait()


class GuardedServer(server.Server):
    """Serves dashboards to the browsers of this machine.

    Parameters
    ----------
    command : str
        The shell command that starts a dashboard.
    port : int
    most : int, optional
        Most dashboards at the same time. The default is `most_sessions`.
    """

    def __init__(self, command: str, port: int, most: int | None = None) -> None:
        super().__init__(command, host=HOST, port=port, title="chordless")
        self.admission = Admission(port)
        self._places = Places(most or most_sessions())
        self._browsers: set[asyncio.Task[object]] = set()

    def initialize_logging(self) -> None:
        """Log only failures."""

    async def _make_app(self) -> web.Application:
        application = await super()._make_app()
        application.router.add_get("/page.js", self._handle_script)
        self.admission.guard(application)
        return application

    async def on_startup(self, app: web.Application) -> None:
        """Print the address of the dashboard once the server listens, which is later than this call."""
        self._announcement = asyncio.create_task(self._announce())

    async def _announce(self) -> None:
        while not await _accepts(self.host, self.port):
            await asyncio.sleep(_SECONDS_BETWEEN_KNOCKS)
        sys.stderr.write(
            f"the dashboard is at {self.admission.address}\n"
            "for this machine alone; a closed tab ends its dashboard, and its run goes on; Ctrl-C ends all dashboards\n"
        )
        sys.stderr.flush()

    async def handle_index(self, request: web.Request) -> Any:
        """Answer with the page, if there is a free place for a dashboard."""
        if not await self._places.taken():
            return self._places.refusal()
        # The page takes its place later, when it opens its websocket.
        self._places.give_back()
        return web.FileResponse(_HERE / "page.html")

    async def _handle_script(self, request: web.Request) -> web.FileResponse:
        return web.FileResponse(_HERE / "page.js")

    async def handle_websocket(self, request: web.Request) -> Any:
        """Start a dashboard for a page, and connect both until one of them ends."""
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
        """End the dashboards. Otherwise an open browser would delay the end of the server for a minute."""
        for browser in self._browsers:
            browser.cancel()
        await asyncio.gather(*self._browsers, return_exceptions=True)


# The base class has no parameter for the service, so its module variable is replaced.
server.AppService = PatientService  # type: ignore[attr-defined]


async def _accepts(host: str, port: int) -> bool:
    """Whether somebody listens at an address."""
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    return True
