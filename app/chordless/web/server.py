"""The server: textual-serve with access control and our own page. Before it ends, it ends its dashboards."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from aiohttp import WSCloseCode, web
from textual_serve import server

from chordless.termination import SAME_SIGNAL_SECONDS
from chordless.web.admission import Admission, Handler, Places, most_sessions, refusal
from chordless.web.dashboard import Dashboard, obey, size_of
from chordless.words.shown import error_line

HOST = "localhost"
_HERE = Path(__file__).parent
_SECONDS_BETWEEN_KNOCKS = 0.02
_SECONDS_BETWEEN_PINGS = 15.0
_SECONDS_TO_SAY_GOOD_BYE = 2.0
# A page that is loaded again comes back sooner.
_SECONDS_TO_COME_BACK = 5.0


class GuardedServer(server.Server):
    """Serves dashboards, `most` at the same time, to the browsers of this machine; `arguments` follow ``chordless``."""

    def __init__(self, arguments: list[str], port: int, most: int | None = None) -> None:
        super().__init__("chordless", host=HOST, port=port, title="chordless")
        self.admission = Admission(port)
        self._arguments = arguments
        self._places = Places(most or most_sessions())
        self._browsers: set[asyncio.Task[Any]] = set()
        self._dashboards: set[Dashboard] = set()
        self._endings: set[asyncio.Task[None]] = set()
        # By tab, the dashboard of its page; of two pages with one name, that of the later. By tab, the dashboards whose
        # page has gone a moment ago, each with the task that ends it unless the page comes back. Until then it keeps
        # its place.
        self._tabs: dict[str, Dashboard] = {}
        self._left: dict[str, tuple[Dashboard, asyncio.Task[None]]] = {}
        self._asked_to_end: float | None = None

    def initialize_logging(self) -> None:
        """Let aiohttp say nothing of requests that are no HTTP. A request that fails is told by `_answered`."""
        logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)

    async def _make_app(self) -> web.Application:
        application = await super()._make_app()
        application.router.add_get("/page.js", self._handle_script)
        application.router.add_get("/ws/{tab}", self.handle_websocket)
        self.admission.guard(application)
        application.middlewares.append(_answered)
        application.on_cleanup.append(_ignore_signals)
        return application

    def request_exit(self) -> None:
        """End the server at a signal, and at the next one kill the dashboards that have not ended yet."""
        before, self._asked_to_end = self._asked_to_end, time.monotonic()
        if before is None:
            super().request_exit()
        elif self._asked_to_end - before >= SAME_SIGNAL_SECONDS:
            for dashboard in self._dashboards:
                dashboard.kill()
            os._exit(1)

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
        """Answer with the page, if there is a free place for a dashboard, or the page is loaded again."""
        if request.query.get("tab") not in {*self._tabs, *self._left}:
            if not await self._places.taken():
                return self._places.refusal()
            # The page takes its place later, when it opens its websocket.
            self._places.give_back()
        return web.FileResponse(_HERE / "page.html")

    async def _handle_script(self, request: web.Request) -> web.FileResponse:
        return web.FileResponse(_HERE / "page.js")

    async def handle_websocket(self, request: web.Request) -> Any:
        """Connect a page and its dashboard until one of them ends. A page that was loaded again finds its own."""
        websocket = web.WebSocketResponse(heartbeat=_SECONDS_BETWEEN_PINGS)
        if not websocket.can_prepare(request).ok:
            return refusal(400, "This is no page", "Open the address that chordless printed in the terminal.")
        tab = request.match_info.get("tab", "")
        dashboard = self._its_own(tab)
        if dashboard is None and not await self._places.taken():
            return self._places.refusal()
        browser = asyncio.current_task()
        assert browser is not None
        self._browsers.add(browser)
        keeps_place = False
        try:
            keeps_place = await self._connect(request, websocket, dashboard, tab)
        finally:
            self._browsers.remove(browser)
            if not keeps_place:
                self._places.give_back()
        return websocket

    async def _connect(
        self, request: web.Request, websocket: web.WebSocketResponse, dashboard: Dashboard | None, tab: str
    ) -> bool:
        """Return whether the dashboard waits for its page to come back."""
        is_back = dashboard is not None
        dashboard = dashboard or Dashboard(
            self._arguments,
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=websocket.close,
            download_manager=self.download_manager,
        )
        self._dashboards.add(dashboard)
        if tab:
            self._tabs[tab] = dashboard
        waits = False
        try:
            # A page that goes before it is connected leaves its dashboard as one that goes later.
            await websocket.prepare(request)
            if is_back:
                await dashboard.take_page(websocket, *size_of(request.query))
            else:
                await dashboard.start(*size_of(request.query))
            await obey(dashboard, websocket)
            waits = (
                self._tabs.get(tab) is dashboard
                and tab not in self._left
                and not dashboard.is_over
                and websocket.close_code != WSCloseCode.UNSUPPORTED_DATA
            )
        except asyncio.CancelledError:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(websocket.close(), _SECONDS_TO_SAY_GOOD_BYE)
        finally:
            if self._tabs.get(tab) is dashboard:
                del self._tabs[tab]
            # A page that does not read would hold up the last words of its dashboard.
            if request.transport is not None:
                request.transport.abort()
            if waits:
                self._wait_for_page(tab, dashboard)
            else:
                await self._end(dashboard)
        return waits

    async def _end(self, dashboard: Dashboard) -> None:
        """End a dashboard. It ends in order even if the task of its browser is cancelled meanwhile."""

        async def end() -> None:
            await dashboard.stop()
            self._dashboards.remove(dashboard)

        ending = asyncio.create_task(end())
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)
        await asyncio.shield(ending)

    def _wait_for_page(self, tab: str, dashboard: Dashboard) -> None:
        """Keep a dashboard for a moment: its page may be loaded again."""

        async def end_later() -> None:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(_SECONDS_TO_COME_BACK)
            if self._left.get(tab) == (dashboard, waiting):
                del self._left[tab]
                await self._end(dashboard)
                self._places.give_back()

        dashboard.leave_page()
        waiting = asyncio.create_task(end_later())
        self._left[tab] = dashboard, waiting
        # With the server it ends at once.
        self._browsers.add(waiting)
        waiting.add_done_callback(self._browsers.discard)

    def _its_own(self, tab: str) -> Dashboard | None:
        """Return the dashboard of a page that was loaded again; None if it has none."""
        if tab not in self._left:
            return None
        dashboard, waiting = self._left.pop(tab)
        waiting.cancel()
        return dashboard

    async def on_shutdown(self, app: web.Application) -> None:
        """End the dashboards. Otherwise an open browser would delay the end of the server for a minute."""
        for browser in self._browsers:
            browser.cancel()
        await asyncio.gather(*self._browsers, return_exceptions=True)
        await asyncio.gather(*self._endings, return_exceptions=True)


async def _ignore_signals(application: web.Application) -> None:
    """Ignore further signals. This process is about to end by itself, and a closed loop cannot take any."""
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)


@web.middleware
async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer every request, and tell a failure in one line."""
    try:
        return await handler(request)
    except (web.HTTPException, ConnectionResetError):  # an answer, or nobody is there any more
        raise
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise web.HTTPNotFound from error
        return _failed(error)
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> web.Response:
    sys.stderr.write(
        f"chordless: a request of a browser failed: {error_line(f'{type(error).__name__}: {error}', sys.stderr)}\n"
    )
    return refusal(500, "This went wrong", "The terminal of the server says more.")


async def _accepts(host: str, port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    return True
