"""The dashboard in a real browser: headless Chromium, driven by its DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import re
import shutil
import subprocess

import pytest
from patience import PATIENCE
from test_web import free_port, served

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# How much of a cell of the terminal a letter covers.
_COVERED = """(letter => {
  const cell = document.createElement("canvas").getContext("2d");
  cell.font = '16px "Roboto Mono"';
  const { width, fontBoundingBoxAscent, fontBoundingBoxDescent } = cell.measureText("M");
  const size = [Math.floor(width), Math.round(fontBoundingBoxAscent + fontBoundingBoxDescent)];
  cell.fillText(letter, 0, size[1]);
  const alphas = cell.getImageData(0, 0, ...size).data.filter((_, i) => i % 4 === 3);
  return alphas.filter(alpha => alpha === 255).length / alphas.length;
})"""
# The keys that are left to the browser.
_LEFT_TO_IT = """[["v", 86], ["k", 75], ["F5", 116], ["F9", 120], ["F11", 122]].filter(([key, keyCode]) => {
  const press = { key, keyCode, ctrlKey: key.length === 1, bubbles: true, cancelable: true };
  return document.querySelector(".xterm-helper-textarea").dispatchEvent(new KeyboardEvent("keydown", press));
}).map(([key]) => key).join()"""
_COLOURS_AND_MOVES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


class Page:
    """A page of the browser.

    Parameters
    ----------
    connection : aiohttp.ClientWebSocketResponse
        To the page's DevTools.
    """

    def __init__(self, connection):
        self._connection = connection
        self._numbers = itertools.count(1)
        self._answers = {}
        self._told = asyncio.Event()
        self._frames = b""
        self.exceptions = []
        self._listening = asyncio.ensure_future(self._listen())

    async def _listen(self):
        async for message in self._connection:
            event = message.json()
            if "id" in event:
                self._answers[event["id"]].set_result(event)
            elif event["method"] == "Runtime.exceptionThrown":
                self.exceptions.append(event)
            elif event["method"] == "Network.webSocketFrameReceived":
                frame = event["params"]["response"]
                if frame["opcode"] == 2:
                    self._frames += base64.b64decode(frame["payloadData"])
            self._told.set()

    async def ask(self, method, **parameters):
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._connection.send_json({"id": number, "method": method, "params": parameters})
        return (await answer)["result"]

    async def value(self, expression):
        """Return what an expression of JavaScript is in the page, after its promise is kept."""
        answer = await self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return answer["result"].get("value")

    async def press(self, key, code, *, control=False):
        for kind in ("rawKeyDown", "keyUp"):
            await self.ask(
                "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, modifiers=2 * control
            )

    async def type(self, letter):
        code = {"key": letter, "windowsVirtualKeyCode": ord(letter.upper())}
        await self.ask("Input.dispatchKeyEvent", type="keyDown", text=letter, **code)
        await self.ask("Input.dispatchKeyEvent", type="keyUp", **code)

    async def until_drawn(self, words):
        """Wait until these words are drawn, and forget what was drawn before."""
        try:
            await asyncio.wait_for(self._until(lambda: words in self._drawn()), PATIENCE)
        except asyncio.TimeoutError:
            pytest.fail(f"{words!r} was not drawn, only {self._drawn()[-4000:].decode('utf-8', 'replace')}")
        self._frames = b""

    def _drawn(self):
        # A colour or a move may begin in one frame and end in the next.
        return _COLOURS_AND_MOVES.sub(b"", self._frames)

    async def _until(self, holds):
        while not holds():
            self._told.clear()
            await self._told.wait()


@contextlib.asynccontextmanager
async def opened(folder):
    """Start headless Chromium; yield its empty page."""
    import aiohttp

    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("needs chromium")
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += ["--window-size=1200,800", "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = folder / "DevToolsActivePort"
        while not port.exists() or (not port.read_text().endswith("\n") and len(port.read_text().split()) < 2):
            assert process.poll() is None
            await asyncio.sleep(0.05)
        root = f"http://127.0.0.1:{port.read_text().split()[0]}"
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{root}/json/list") as answer:
                (tab,) = [tab for tab in await answer.json() if tab["type"] == "page"]
            async with session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0) as connection:
                page = Page(connection)
                for domain in ("Network", "Page", "Runtime"):
                    await page.ask(f"{domain}.enable")
                yield page
    finally:
        process.terminate()
        process.wait()


async def held(page, condition):
    """Wait until a condition holds in a page."""
    while not await page.value(condition):
        await asyncio.sleep(0.01)


async def counted(folder, address):
    """Type a spec, start, and wait for the count; return how a page of another origin and ours are answered."""
    websocket = f"{address.partition('?')[0].replace('http', 'ws')}ws?width=80&height=24"
    answer = (
        f"new Promise(done => {{ const socket = new WebSocket('{websocket}');"
        " socket.onopen = () => done('admitted'); socket.onerror = () => done('refused') })"
    )
    async with opened(folder) as page:
        await page.ask("Page.navigate", url="data:text/html,<title>foreign</title>")
        foreign = await page.value(answer)
        # The page waits for its fonts, and the keys for the page.
        slow = {"offline": False, "latency": 3000, "downloadThroughput": -1, "uploadThroughput": -1}
        await page.ask("Network.emulateNetworkConditions", **slow)
        await page.ask("Page.navigate", url=address)
        # The terminal has the focus without a click. What is typed before there is a terminal replaces the example.
        await asyncio.wait_for(held(page, "document.querySelector('#starting') !== null"), PATIENCE)
        for letter in "grid:5x7":
            await page.type(letter)
        assert not await page.value("document.body.classList.contains('-loaded')")
        await page.press("Backspace", 8)
        await asyncio.wait_for(held(page, "document.body.classList.contains('-loaded')"), PATIENCE)
        # The dots of braille touch, so that lines do not fall apart.
        assert await page.value(f"{_COVERED}('⣿')") == 1
        assert await page.value(f"{_COVERED}('⠛') + {_COVERED}('⣤')") == 1
        await page.type("6")
        await page.until_drawn(b"chordless cycles in grid:5x6")
        await page.press("r", 82, control=True)
        await page.until_drawn(b"749")
        assert await page.value(_LEFT_TO_IT) == "v,F5,F11"
        assert page.exceptions == []
        ours = await page.value(answer)
        # A page whose server has ended says how to start it.
        await page.ask("Network.emulateNetworkConditions", **{**slow, "offline": True})
        await page.value("document.querySelector('#again').click()")
        await asyncio.wait_for(
            held(page, "document.querySelector('#ended').textContent.includes('tui --web')"), PATIENCE
        )
        return foreign, ours


@pytest.mark.slow
def test_a_graph_is_counted_in_chromium_and_a_foreign_page_is_refused(tmp_path):
    pytest.importorskip("textual_serve")
    # No kernels are compiled for it.
    settings = tmp_path / ".config" / "chordless" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('last.arch = "reference"\n')
    with served(tmp_path, free_port()) as (_, address):
        assert asyncio.run(counted(tmp_path / "browser", address)) == ("refused", "admitted")
