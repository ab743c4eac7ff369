"""``chordless tui --web`` as a process, and a browser's side of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import chordless as chordless_package
import psutil
import pytest
from chordless.termination import SAME_SIGNAL_SECONDS
from patience import PATIENCE
from program import ENVIRONMENT, chordless, command, wait_for_end


def free_port():
    with socket.create_server(("localhost", 0)) as server:
        return server.getsockname()[1]


@contextlib.contextmanager
def served(tmp_path, port, *target, environment=None, **more):
    """Serve dashboards from a process; yield it and the address that it prints."""
    environment = {
        **ENVIRONMENT,
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": "",
        "XDG_DATA_HOME": "",
        **(environment or {}),
    }
    process = subprocess.Popen(
        command("tui", *target, "--web", port), stderr=subprocess.PIPE, text=True, env=environment, **more
    )
    try:
        printed = re.fullmatch(r"the dashboard is at (\S+)\n", process.stderr.readline())
        assert process.stderr.readline().startswith("for this machine alone; a closed tab ends its dashboard")
        yield process, printed[1]
    finally:
        process.kill()
        process.stderr.close()


async def seen(address, interrupt):
    """Return the page, the page of a second browser, and how the dashboard goes after an interrupt."""
    import aiohttp

    async with aiohttp.ClientSession() as session:
        async with session.get(address) as answer:
            page = await answer.text()
            root = str(answer.url)
        drawn = b""
        async with session.ws_connect(f"{root}ws?width=100&height=30") as browser:
            second = asyncio.ensure_future(status_and_text(session, root))
            async for message in browser:
                drawn += message.data if message.type is aiohttp.WSMsgType.BINARY else b""
                if b"A chordless cycle" in drawn:
                    break
            one_too_many = await second
            interrupt()
            async for message in browser:
                assert message.type is aiohttp.WSMsgType.BINARY
            return page, one_too_many, drawn, browser.close_code


async def root_of(session, address):
    """Follow the address with the token to that of the page."""
    async with session.get(address) as answer:
        return str(answer.url)


async def status_and_text(session, url, **more):
    async with session.get(url, **more) as answer:
        return answer.status, await answer.text()


@pytest.mark.slow
def test_a_browser_sees_the_dashboard_until_ctrl_c(tmp_path):
    pytest.importorskip("textual_serve")
    core = min(os.sched_getaffinity(0))
    port = free_port()
    with served(tmp_path, port, "petersen", preexec_fn=lambda: os.sched_setaffinity(0, {core})) as (process, address):
        assert address.startswith(f"http://localhost:{port}/?token=")
        looked = seen(address, lambda: process.send_signal(signal.SIGINT))
        page, one_too_many, drawn, close_code = asyncio.run(asyncio.wait_for(looked, PATIENCE))
        assert "<title>chordless</title>" in page
        assert b"A chordless cycle" in drawn
        # One core bears one dashboard.
        assert (one_too_many[0], "1 dashboard is open, as many as" in one_too_many[1]) == (503, True)
        # The server has said good-bye to a browser that would have stayed.
        assert close_code == 1000
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == ""


# A dashboard that is slow to end once it has said its last word.
LATE = """
import atexit, os, pathlib, time
if "TEXTUAL_DRIVER" in os.environ:
    atexit.register(lambda: (os.close(1), time.sleep(3), pathlib.Path(__file__).with_name("ended").touch()))
"""


@pytest.mark.slow
def test_the_server_waits_for_a_dashboard_that_is_ending_as_the_signal_comes(tmp_path):
    pytest.importorskip("textual_serve")
    import aiohttp

    async def leave(address):
        async with aiohttp.ClientSession() as session:
            root = await root_of(session, address)
            async with session.ws_connect(f"{root}ws?width=80&height=24") as browser:
                await browser.receive()
                await browser.send_str("{")

    def has_said_its_last_word(dashboard):
        return not Path(f"/proc/{dashboard.pid}/fd/1").exists()

    (tmp_path / "sitecustomize.py").write_text(LATE)
    late = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ENVIRONMENT['PYTHONPATH']}"}
    with served(tmp_path, free_port(), "petersen", environment=late) as (process, address):
        asyncio.run(asyncio.wait_for(leave(address), PATIENCE))
        (dashboard,) = psutil.Process(process.pid).children()
        deadline = time.monotonic() + PATIENCE
        while not has_said_its_last_word(dashboard):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert (tmp_path / "ended").exists()
        assert process.stderr.read() == ""


HOSTILE_REQUESTS = [
    (b"GET / HTTP/1.1\r\n\r\n", 400),
    (b"GET / HTTP/1.0\r\n\r\n", 403),
    (b"GET /static/" + b"a" * 5000 + b" HTTP/1.1\r\n{known}\r\n", 404),
    (b"GET /" + b"a" * 50_000 + b" HTTP/1.1\r\n{known}\r\n", 400),
    (b"GET /ws HTTP/1.1\r\n{known}\r\n", 400),
    (b"no request\r\n\r\n", 400),
]
HOSTILE_FRAMES = ["{", "[]", "5", '["stdin"]', '["stdin", 5]', '["resize", 5]', "[" * 100_000, "\x00"]


@pytest.mark.slow
def test_a_page_that_asks_for_an_endless_screen_gets_a_large_one_and_goes_when_it_talks_nonsense(tmp_path):
    pytest.importorskip("textual_serve")
    import aiohttp

    async def ask(address):
        async with aiohttp.ClientSession() as session:
            root = await root_of(session, address)
            drawn = b""
            async with session.ws_connect(f"{root}ws?width=20000&height=20000") as browser:
                async for message in browser:
                    drawn += message.data if message.type is aiohttp.WSMsgType.BINARY else b""
                    # The foot of the screen is drawn after the rest.
                    if b"A chordless cycle" in drawn and b"\x1b[200;" in drawn:
                        break
                await browser.send_json(["resize", {"width": 10**9, "height": 10**9}])
                await browser.send_str("{")
                async for message in browser:
                    drawn += message.data if message.type is aiohttp.WSMsgType.BINARY else b""
                return browser.close_code, re.findall(rb"\x1b\[(\d+);(\d+)H", drawn)

    with served(tmp_path, free_port(), "petersen") as (process, address):
        family = psutil.Process(process.pid).children
        close_code, places = asyncio.run(asyncio.wait_for(ask(address), PATIENCE))
        assert close_code == aiohttp.WSCloseCode.UNSUPPORTED_DATA
        assert (max(int(row) for row, _ in places), max(int(column) for _, column in places)) == (200, 500)
        _, alive = psutil.wait_procs(family(recursive=True), timeout=PATIENCE)
        assert not alive
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == ""


@pytest.mark.slow
def test_a_second_signal_ends_a_server_whose_dashboard_does_not_answer(tmp_path):
    pytest.importorskip("textual_serve")
    import aiohttp

    async def ask(address):
        async with aiohttp.ClientSession() as session:
            root = await root_of(session, address)
            browser = await session.ws_connect(f"{root}ws?width=80&height=24")
            await browser.receive()
            family = psutil.Process(process.pid).children(recursive=True)
            for child in family:
                child.suspend()
            process.send_signal(signal.SIGTERM)
            await asyncio.sleep(2 * SAME_SIGNAL_SECONDS)
            process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(process.wait, PATIENCE)
            return family

    with served(tmp_path, free_port()) as (process, address):
        wait_for_end(asyncio.run(asyncio.wait_for(ask(address), PATIENCE)))
        assert (process.returncode, process.stderr.read()) == (1, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "signals",
    # A job manager and `timeout` send each signal to the process and to its group.
    [(signal.SIGINT,), (signal.SIGTERM,), (signal.SIGTERM, signal.SIGTERM), (signal.SIGKILL,)],
    ids=lambda signals: "+".join(number.name for number in signals),
)
def test_no_request_makes_the_server_print_and_no_end_of_it_leaves_a_dashboard(tmp_path, signals):
    pytest.importorskip("textual_serve")
    import aiohttp

    port = free_port()

    def status(request, known):
        with socket.create_connection(("localhost", port)) as connection:
            connection.sendall(request.replace(b"{known}", known))
            return int(connection.makefile("rb").readline().split()[1])

    async def ask(address):
        async with aiohttp.ClientSession() as session:
            root = await root_of(session, address)
            cookie = "; ".join(f"{one.key}={one.value}" for one in session.cookie_jar)
            known = f"Host: localhost:{port}\r\nCookie: {cookie}\r\n".encode()
            for request, expected in HOSTILE_REQUESTS:
                assert await asyncio.to_thread(status, request, known) == expected, request[:30]
            browser = await session.ws_connect(f"{root}ws?width=20000&height=many")
            await browser.receive()
            family = psutil.Process(process.pid).children(recursive=True)
            assert family
            for number in signals:
                process.send_signal(number)
            async for message in browser:
                assert message.type is aiohttp.WSMsgType.BINARY
            await asyncio.to_thread(process.wait, PATIENCE)
            return family, browser.close_code

    with served(tmp_path, port) as (process, address):
        family, close_code = asyncio.run(asyncio.wait_for(ask(address), PATIENCE))
        wait_for_end(family)
        ended = (-signal.SIGKILL, aiohttp.WSCloseCode.ABNORMAL_CLOSURE) if signal.SIGKILL in signals else (0, 1000)
        assert (process.returncode, close_code) == ended
        assert process.stderr.read() == ""


@pytest.mark.parametrize("frame", HOSTILE_FRAMES, ids=lambda frame: frame[:30])
def test_a_frame_that_no_page_of_ours_sends_ends_the_connection(frame):
    pytest.importorskip("textual_serve")
    import aiohttp
    from aiohttp import test_utils, web
    from chordless.web.dashboard import obey

    async def ask():
        async def websocket(request):
            answer = web.WebSocketResponse()
            await answer.prepare(request)
            await obey(None, answer)
            return answer

        application = web.Application()
        application.add_routes([web.get("/", websocket)])
        async with test_utils.TestClient(test_utils.TestServer(application)) as client:
            browser = await client.ws_connect("/")
            await browser.send_str('["ping", 1]')
            await browser.send_str(frame)
            return await browser.receive_json(), (await browser.receive()).data

    assert asyncio.run(ask()) == (["pong", 1], aiohttp.WSCloseCode.UNSUPPORTED_DATA)


def test_a_page_gets_no_screen_larger_than_a_screen():
    pytest.importorskip("textual_serve")
    from chordless.web.dashboard import size_of

    assert size_of({"width": "20000", "height": "20000"}) == (500, 200)
    assert size_of({"width": -5, "height": "x"}) == (1, 24)
    assert size_of({"width": float("inf"), "height": None}) == (80, 24)
    assert size_of({"width": "100", "height": 30}) == (100, 30)


@contextlib.asynccontextmanager
async def guarded():
    """Serve a page and a websocket behind the door; yield a session of a browser, the door and the root address."""
    import aiohttp
    from aiohttp import test_utils, web
    from chordless.web.admission import Admission

    async def page(request):
        return web.Response(text="the page")

    async def websocket(request):
        answer = web.WebSocketResponse()
        await answer.prepare(request)
        return answer

    port = free_port()
    admission = Admission(port)
    application = web.Application()
    application.add_routes([web.get("/", page), web.get("/ws", websocket)])
    admission.guard(application)
    server = test_utils.TestServer(application, host="localhost", port=port)
    async with server, aiohttp.ClientSession() as session:
        yield session, admission, f"http://localhost:{port}/"


@pytest.mark.parametrize("path", ["", "ws"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, None),
        ({"Origin": "http://localhost:{port}"}, None),
        ({"Host": "127.0.0.1:{port}", "Origin": "http://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://localhost:1"}, 403),
        ({"Origin": "https://localhost:{port}"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example:{port}"}, 403),
        ({"Host": "localhost.evil.example:{port}"}, 403),
        ({"Host": "localhost"}, 403),
    ],
)
def test_only_the_page_of_the_server_itself_is_obeyed(path, headers, status):
    """The browser has the cookie; another page, or a rebound name, uses it. A cookie goes to no other name."""
    pytest.importorskip("aiohttp")

    async def ask():
        async with guarded() as (session, admission, root):
            port = root.rsplit(":", 1)[1].strip("/")
            assert await status_and_text(session, admission.address) == (200, "the page")
            asked = {name: value.format(port=port) for name, value in headers.items()}
            if "127.0.0.1" in asked.get("Host", ""):
                session.cookie_jar.clear()
            upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
            upgrade |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} if path == "ws" else {}
            async with session.get(root + path, headers={**(upgrade if path else {}), **asked}) as answer:
                return answer.status

    assert asyncio.run(ask()) == (status or (101 if path == "ws" else 200))


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token=\u00e9", "ws", "ws?token={token}"])
def test_without_the_token_nothing_is_served(query):
    pytest.importorskip("aiohttp")

    async def ask():
        async with guarded() as (session, admission, root):
            token = admission.address.partition("=")[2]
            return await status_and_text(session, root + query.format(token=token))

    status, text = asyncio.run(ask())
    assert (status, "The token is missing or wrong" in text) == (403, True)


def test_the_token_is_changed_for_a_cookie_and_is_in_no_later_request():
    pytest.importorskip("aiohttp")

    async def ask():
        async with guarded() as (session, admission, root):
            async with session.get(f"{admission.address}&fontsize=20", allow_redirects=False) as answer:
                first = answer.status, answer.headers["Location"], answer.headers["Set-Cookie"]
            async with session.get(root) as answer:
                return admission, first, answer.status, answer.headers

    admission, (status, location, cookie), second, headers = asyncio.run(ask())
    token = admission.address.partition("=")[2]
    assert len(token) >= 40
    assert (status, location, second) == (303, "/?fontsize=20", 200)
    assert token not in cookie
    assert ("HttpOnly" in cookie, "SameSite=Lax" in cookie) == (True, True)
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"


def test_a_place_is_free_again_when_a_dashboard_has_ended():
    pytest.importorskip("aiohttp")
    from chordless.web.admission import Places

    async def take():
        places = Places(2, patience=0.01)
        taken = [await places.taken() for _ in range(3)]
        places.give_back()
        return [*taken, await places.taken()], places.refusal().text

    taken, page = asyncio.run(take())
    assert taken == [True, True, False, True]
    assert "2 dashboards are open, as many as this machine can bear" in page


def test_the_page_needs_no_other_server():
    folder = Path(chordless_package.__file__).parent / "web"
    text = (folder / "page.html").read_text() + (folder / "page.js").read_text()
    assert not re.search(r"https?:|[\"']//", text)
    loaded = re.findall(r"(?:src|href)=\"(.*?)\"|url\(\"(.*?)\"\)", text)
    assert len(loaded) >= 6
    assert all((first or second).startswith(("/", "data:,")) for first, second in loaded)


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


@pytest.mark.parametrize("wrong", ["grid:3x3", "\uff18\uff10\uff10\uff10", "0", "65536"])
def test_what_is_no_port_is_refused(wrong):
    done = chordless("tui", "--web", wrong)
    assert (done.returncode, f"{wrong!r} is not a port" in done.stderr) == (2, True)


@pytest.mark.slow
def test_a_page_that_is_loaded_again_comes_back_to_its_screen_and_a_closed_one_ends_its_dashboard(tmp_path):
    pytest.importorskip("textual_serve")
    import aiohttp

    async def until(browser, words):
        drawn = b""
        async for message in browser:
            drawn += message.data if message.type is aiohttp.WSMsgType.BINARY else b""
            if all(word in drawn for word in words):
                return drawn
        raise AssertionError(f"{words} did not come")

    async def ask(address, family):
        async with aiohttp.ClientSession() as session:
            root = await root_of(session, address)
            place = f"{root}ws/a-tab?width=80&height=24"
            async with session.ws_connect(place) as browser:
                await until(browser, [b"A chordless cycle"])
                await browser.send_json(["stdin", "\x1b4"])
                await until(browser, [b"no runs yet"])
                # One core bears one dashboard, which the page asks for while its old content still stands.
                again = await status_and_text(session, f"{root}?tab=a-tab")
            before = family(recursive=True)
            async with session.ws_connect(place) as browser:
                drawn = await until(browser, [b"no runs yet", b"[4 Runs]"])
                # The mouse works again, too.
                assert b"\x1b[?1003h" in drawn
                assert family(recursive=True) == before
            return again[0], before

    core = min(os.sched_getaffinity(0))
    with served(tmp_path, free_port(), preexec_fn=lambda: os.sched_setaffinity(0, {core})) as (process, address):
        family = psutil.Process(process.pid).children
        status, dashboards = asyncio.run(asyncio.wait_for(ask(address, family), PATIENCE))
        assert status == 200
        assert dashboards
        wait_for_end(dashboards)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == ""


# Says what a dashboard says first, and ends when it is told to, or its server is gone.
_SMALL_DASHBOARD = """
import os
os.write(1, b"__GANGLION__\\nD\\0\\0\\0\\1.")
while (told := os.read(0, 1000)) and b"quit" not in told:
    pass
"""


@contextlib.asynccontextmanager
async def small_dashboards(monkeypatch, most):
    """Serve dashboards that only end when they are told to; yield the server, a session and its address."""
    import aiohttp
    from aiohttp.test_utils import TestServer
    from chordless.web import server

    class SmallDashboard(server.Dashboard):
        async def _open_app_process(self, width=80, height=24):
            self._process = process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _SMALL_DASHBOARD, stdin=-1, stdout=-1, stderr=-1, start_new_session=True
            )
            self._stdin = process.stdin
            return process

    monkeypatch.setattr(server, "Dashboard", SmallDashboard)
    monkeypatch.setattr(server, "_SECONDS_TO_COME_BACK", 0.1)
    port = free_port()
    guarded_server = server.GuardedServer([], port, most)
    application = await guarded_server._make_app()
    application.on_startup.clear()
    application.on_cleanup.clear()
    async with (
        TestServer(application, host="localhost", port=port),
        aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session,
    ):
        await root_of(session, guarded_server.admission.address)
        yield guarded_server, session, f"http://localhost:{port}/ws/a-tab"


def test_two_pages_of_one_name_leave_no_dashboard(monkeypatch):
    """A copied tab of a browser has the address of the first."""
    pytest.importorskip("textual_serve")

    async def copy_a_tab():
        async with small_dashboards(monkeypatch, most=2) as (server, session, address):
            for _ in range(2):
                async with session.ws_connect(address) as first, session.ws_connect(address) as second:
                    assert [(await page.receive()).data for page in (first, second)] == [b".", b"."]
                    assert len(server._dashboards) == 2
                while server._dashboards:
                    await asyncio.sleep(0.01)
            assert not server._tabs

    asyncio.run(asyncio.wait_for(copy_a_tab(), PATIENCE))


def test_a_page_is_closed_when_its_dashboard_is_killed(monkeypatch):
    pytest.importorskip("textual_serve")

    async def kill():
        async with small_dashboards(monkeypatch, most=1) as (server, session, address):
            async with session.ws_connect(address) as page:
                assert (await page.receive()).data == b"."
                (dashboard,) = server._dashboards
                dashboard.kill()
                assert [message async for message in page] == []
                assert page.close_code == 1000
            while server._dashboards:
                await asyncio.sleep(0.01)
            # Its place is free for another.
            async with session.ws_connect(address) as page:
                assert (await page.receive()).data == b"."

    asyncio.run(asyncio.wait_for(kill(), PATIENCE))


def test_a_page_that_comes_back_and_goes_before_it_is_connected_leaves_no_dashboard(monkeypatch):
    pytest.importorskip("textual_serve")
    aiohttp = pytest.importorskip("aiohttp")

    async def gone(websocket, request):
        raise ConnectionResetError

    async def come_back_and_go():
        async with small_dashboards(monkeypatch, most=1) as (server, session, address):
            async with session.ws_connect(address) as page:
                assert (await page.receive()).data == b"."
            while not server._left:
                await asyncio.sleep(0.01)
            with monkeypatch.context() as patch:
                patch.setattr(aiohttp.web.WebSocketResponse, "prepare", gone)
                with pytest.raises(aiohttp.ClientError):
                    await session.ws_connect(address)
            while server._dashboards:
                await asyncio.sleep(0.01)
            # Its place is free for another.
            async with session.ws_connect(address) as page:
                assert (await page.receive()).data == b"."

    asyncio.run(asyncio.wait_for(come_back_and_go(), PATIENCE))
