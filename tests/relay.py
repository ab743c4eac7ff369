"""A relay of TCP connections that can stop to forward, as a network does that is down for a while."""

from __future__ import annotations

import contextlib
import socket
import threading


class Relay:
    """Listens on a port of this machine, and forwards what comes to another port, and back.

    Parameters
    ----------
    target : int

    Attributes
    ----------
    port : int
        Where it listens.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._up = threading.Event()
        self._up.set()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def pause(self) -> None:
        """Forward nothing from now on; the connections stay open."""
        self._up.clear()

    def go_on(self) -> None:
        """Forward again, first what came in the meantime."""
        self._up.set()

    def close(self) -> None:
        """Close all connections."""
        self._up.set()
        for each in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                near, _ = self._listener.accept()
                self._up.wait()
                try:
                    far = socket.create_connection(("127.0.0.1", self._target))
                except OSError:
                    near.close()
                    continue
                self._sockets += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._forward, args=(source, sink), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self._up.wait()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
