"""One dashboard behind a browser tab: its process, and what the page may tell it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from typing import Any, cast

from aiohttp import WSCloseCode, WSMsgType, web
from textual_serve import app_service

from kernels_ti import child

# A dashboard needs time to end, since its run writes a checkpoint first.
_SECONDS_TO_END = 60.0
_SIZE = {"width": 80, "height": 24}
# A screen of 3,840 x 2,160 pixels with small letters. A dashboard needs memory for each cell.
_LARGEST = {"width": 500, "height": 200}
_CODE = "from chordless.cli import main; sys.exit(main())"
# Modes of the terminal: mouse, alternate screen, pasted text. That of a picture drawn at once (2026) is left out.
_MODE = re.compile(rb"\x1b\[\?(?!2026)(\d+)[hl]")


class Dashboard(app_service.AppService):
    """A dashboard in a process group of its own, which ends with this process; `arguments` follow ``chordless``.

    It outlives its page: one that is loaded again gets the same dashboard.
    """

    def __init__(self, arguments: list[str], **more: Any) -> None:
        super().__init__("chordless", **more)
        self._arguments = arguments
        self._page_is_gone = self._is_over = False
        self._modes: dict[bytes, bytes] = {}

    @property
    def is_over(self) -> bool:
        """Whether it was left, or its process has ended."""
        return self._is_over or self._process is None or self._process.returncode is not None

    async def run(self) -> None:
        """Draw until the process ends, and then close its page, even if the process could not say that it ends."""
        await super().run()
        self._is_over = True
        await self._close_page()

    async def _close_page(self) -> None:
        if not self._page_is_gone:
            await self.remote_close()

    async def on_meta(self, data: bytes) -> None:
        """Obey the process, and take notice of its end."""
        self._is_over = self._is_over or json.loads(data)["type"] == "exit"
        await super().on_meta(data)

    def leave_page(self) -> None:
        """Draw for nobody until another page comes."""
        self._page_is_gone = True

    async def take_page(self, websocket: web.WebSocketResponse, width: int, height: int) -> None:
        """Draw everything on a page that was loaded again, or close it if the dashboard has ended meanwhile."""
        self.remote_write_bytes, self.remote_write_str = websocket.send_bytes, websocket.send_str
        self.remote_close = cast(Any, websocket.close)
        self._page_is_gone = False
        if self.is_over:
            await self._close_page()
            return
        await self.on_data(b"".join(self._modes.values()))
        await self.set_terminal_size(width, height)
        # Textual draws nothing for the size that it has. A dashboard that is looked at again draws everything.
        await self.focus()

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        lifeline = child.Lifeline()
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                *child.command(_CODE, *self._arguments, lifeline=lifeline),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                env=self._build_environment(width=width, height=height),
                pass_fds=(lifeline.below,),
                start_new_session=True,
            )
        except BaseException:
            lifeline.cut()
            raise
        lifeline.hold(process)
        self._stdin = process.stdin
        return process

    async def on_data(self, payload: bytes) -> None:
        """Send what the dashboard draws to the page. If that is gone, drop it: a full pipe would stop the dashboard."""
        self._modes |= {mode[1]: mode[0] for mode in _MODE.finditer(payload)}
        if not self._page_is_gone:
            try:
                await super().on_data(payload)
            except ConnectionError:
                self._page_is_gone = True

    async def stop(self) -> None:
        """End the dashboard. Kill it, and whatever it has started, if that takes too long."""
        self._page_is_gone = True
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._quit(self._process), _SECONDS_TO_END)
        except asyncio.TimeoutError:
            self.kill()
            await self._process.wait()

    def kill(self) -> None:
        """Kill the dashboard, and whatever it has started."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _quit(self, process: Process) -> None:
        await super().stop()
        # Otherwise asyncio would warn about a child of a closed loop.
        await process.wait()


def size_of(given: Mapping[str, Any]) -> tuple[int, int]:
    """Return the width and height that a page names, in cells; each at least 1, and no larger than a screen."""
    return _cells(given, "width"), _cells(given, "height")


def _cells(given: Mapping[str, Any], name: str) -> int:
    try:
        cells = int(given.get(name, _SIZE[name]))
    except (TypeError, ValueError, OverflowError):
        cells = _SIZE[name]
    return min(max(cells, 1), _LARGEST[name])


async def obey(dashboard: Dashboard, websocket: web.WebSocketResponse) -> None:
    """Hand on what a page says until it goes away. A page that says what no page of ours says is sent away."""
    async for message in websocket:
        if message.type is not WSMsgType.TEXT:
            continue
        match _read(message.data):
            case ["stdin", str(keys)]:
                await dashboard.send_bytes(keys.encode("utf-8", "replace"))
            case ["resize", {"width": _, "height": _} as size]:
                await dashboard.set_terminal_size(*size_of(size))
            case ["ping", data]:
                await websocket.send_json(["pong", data])
            case ["blur", *_]:
                await dashboard.blur()
            case ["focus", *_]:
                await dashboard.focus()
            case _:
                await websocket.close(code=WSCloseCode.UNSUPPORTED_DATA)


def _read(text: str) -> Any:
    """Return the content of a frame; None if it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
