"""``chordless tui --web`` as a process, and a browser's side of it."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys

import pytest
from patience import PATIENCE
from program import ENVIRONMENT, chordless, command


def free_port():
    with socket.create_server(("localhost", 0)) as server:
        return server.getsockname()[1]


async def seen(port, interrupt):
    """Return the page, what the dashboard draws until it says `New run`, and how it goes after an interrupt."""
    import aiohttp

    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://localhost:{port}/") as answer:
            page = await answer.text()
        drawn = b""
        async with session.ws_connect(f"http://localhost:{port}/ws?width=100&height=30") as browser:
            async for message in browser:
                drawn += message.data if message.type is aiohttp.WSMsgType.BINARY else b""
                if b"New run" in drawn:
                    break
            interrupt()
            async for message in browser:
                assert message.type is aiohttp.WSMsgType.BINARY
            return page, drawn, browser.close_code


def test_a_browser_sees_the_dashboard_until_ctrl_c(tmp_path):
    pytest.importorskip("textual_serve")
    port = free_port()
    environment = {**ENVIRONMENT, "HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": ""}
    served = subprocess.Popen(
        command("tui", "petersen", "--web", port), stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert served.stderr.readline().startswith(f"the dashboard is at http://localhost:{port}, ")
        looked = seen(port, lambda: served.send_signal(signal.SIGINT))
        page, drawn, close_code = asyncio.run(asyncio.wait_for(looked, 60))
        assert "chordless" in page
        assert b"New run" in drawn
        # The server has said good-bye to a browser that would have stayed.
        assert close_code == 1000
        assert served.wait(30) == 0
        assert served.stderr.read() == ""
    finally:
        served.kill()
        served.stderr.close()


def test_a_port_that_is_taken_is_said_in_one_line():
    pytest.importorskip("textual_serve")
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
        done = chordless("tui", "--web", port)
    assert done.returncode == 1
    assert (
        done.stderr
        == f"chordless: error: cannot serve at port {port}: address already in use; --web PORT takes another\n"
    )


def test_without_textual_serve_the_extra_is_named():
    script = (
        "import sys; sys.modules['textual_serve'] = None; "
        "from chordless.cli import main; sys.exit(main(['tui', '--web']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=ENVIRONMENT, timeout=PATIENCE
    )
    assert (done.returncode, "pip install 'chordless[web]'" in done.stderr) == (2, True)


def test_a_graph_is_no_port():
    done = chordless("tui", "--web", "grid:3x3")
    assert (done.returncode, "'grid:3x3' is not a port" in done.stderr) == (2, True)
