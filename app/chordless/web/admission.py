"""Access control of the server. It admits only its own page, in browsers of this machine that know its token."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

import psutil
from aiohttp import web

from kernels_ti.device.machine import cores

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

# Memory of a dashboard and the engine of its run, roughly.
_SESSION_BYTES = 1 << 30
# In seconds. When a page is loaded again, its earlier dashboard needs time to end.
_PATIENCE = 3.0
_DEFAULT_PORT = 80

_HEADERS = {
    "Cache-Control": "no-store",
    # The page loads nothing from another server. Inline styles are allowed, because xterm.js writes them.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Admission:
    """Access control for every request. The program prints an address with a random token.

    The first visit exchanges the token for a cookie, so that no later request contains it. Every request must name this
    machine as its host; this defeats DNS rebinding. If a request has an origin, that must be the server's own page.
    """

    def __init__(self, port: int) -> None:
        suffix = "" if port == _DEFAULT_PORT else f":{port}"
        self._hosts = {f"{name}{suffix}" for name in ("localhost", "127.0.0.1", "[::1]")}
        # Cookies are shared by all ports of a host, so the name contains the port.
        self._cookie = f"chordless-{port}"
        self._token, self._ticket = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.address = f"http://localhost{suffix}/?{urlencode({'token': self._token})}"

    def guard(self, application: web.Application) -> None:
        """Check every request to `application`, and add the security headers to every answer."""

        @web.middleware
        async def admit(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._admit(request, handler)

        async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
            response.headers.update(_HEADERS)

        application.middlewares.append(admit)
        application.on_response_prepare.append(add_headers)

    async def _admit(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        host = request.headers.get("Host", "").lower()
        if host not in self._hosts:
            return refusal(403, "This is another server", "The dashboard answers to the name localhost only.")
        if request.headers.get("Origin", f"http://{host}").lower() != f"http://{host}":
            return refusal(403, "Another page asks", "The dashboard obeys its own page only.")
        if _equal(request.cookies.get(self._cookie, ""), self._ticket):
            return await handler(request)
        if request.path == "/" and _equal(request.query.get("token", ""), self._token):
            rest = {name: value for name, value in request.query.items() if name != "token"}
            response = web.Response(status=303, headers={"Location": f"/?{urlencode(rest)}" if rest else "/"})
            response.set_cookie(self._cookie, self._ticket, httponly=True, samesite="Lax")
            return response
        why = "The address that chordless printed in the terminal ends in a token. Open that address."
        return refusal(403, "The token is missing or wrong", why)


class Places:
    """Limits the dashboards open at the same time to `most`; a new one waits `patience` seconds."""

    def __init__(self, most: int, patience: float = _PATIENCE) -> None:
        self.most = most
        self._patience = patience
        self._free = asyncio.Semaphore(most)

    async def taken(self) -> bool:
        """Take a place. Return whether one was free."""
        try:
            await asyncio.wait_for(self._free.acquire(), self._patience)
        except asyncio.TimeoutError:
            return False
        return True

    def give_back(self) -> None:
        """Give a place back."""
        self._free.release()

    def refusal(self) -> web.Response:
        """Return the page for a browser that gets no place."""
        many = "1 dashboard is" if self.most == 1 else f"{self.most} dashboards are"
        why = f"{many} open, as many as this machine can bear. Close one, then load this page again."
        return refusal(503, "Too many dashboards", why)


def most_sessions() -> int:
    """Return how many dashboards this machine can run: one for each core, as far as there is free memory."""
    return max(1, min(cores(), int(psutil.virtual_memory().available) // _SESSION_BYTES))


def refusal(status: int, title: str, why: str) -> web.Response:
    """Return a page that explains why there is no dashboard. `title` and `why` are HTML."""
    text = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>chordless: {title}</title>\n'
        "<style>body { margin: 15vh auto; max-width: 34rem; padding: 0 1rem; font: 1.1rem/1.5 system-ui, sans-serif; "
        "color-scheme: light dark }</style>\n</head>\n"
        f"<body>\n<h1>{title}</h1>\n<p>{why}</p>\n</body>\n</html>\n"
    )
    return web.Response(status=status, text=text, content_type="text/html")


def _equal(given: str, wanted: str) -> bool:
    """Compare in constant time, so that timing reveals nothing about the token."""
    return secrets.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())
