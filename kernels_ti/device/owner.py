"""The one thread that calls Taichi.

Taichi wants `ti.init` and every call after it from one thread. Callers may be on any thread, so the library has a
thread of its own: `call` hands it a piece of work, such as the opening of a device or a slice of a search, and waits.
Pieces are carried out in the order in which they came, so two searches take turns.

A program that searches only in its main thread, such as the engine, makes that thread the owner with `own`. This saves
the hand-over, a tenth of a millisecond for each slice.

At exit the thread ends with the piece of work in hand, or the process at once with Ctrl-C. A forked child has no such
thread, and only a part of what Taichi needs: there `call` raises an error.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

from kernels_ti.errors import DeviceError

P = ParamSpec("P")
T = TypeVar("T")

SECONDS_TO_FINISH = 0.15
"""Seconds that an interrupted caller waits for the current piece of work, so that its search stays consistent."""

STACK_BYTES = 16 << 20
"""Stack of the thread in bytes: a compiler runs on it, and some systems give a thread only half a megabyte."""

_jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
_thread: threading.Thread | None = None
_server: threading.Thread | None = None  # the library's own thread, if it is the owner
_starting = threading.Lock()
_closing: list[Callable[[], None]] = []
_ended = ""  # why no more work can be carried out; "" if it can


def own() -> None:
    """Make this thread the one that calls Taichi. Calls of other threads are refused from now on.

    Raise DeviceError if another thread is the owner already.
    """
    global _thread
    with _starting:
        if _thread is not None and not is_owner():
            raise DeviceError("another thread of this process calls Taichi already")
        if _thread is None:
            _thread = threading.current_thread()
            atexit.register(_end, os.getpid())


def call(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Carry out `work` on the thread that owns Taichi; return what it returns, raise what it raises.

    A DeviceError is raised in a process forked after Taichi was used, while the interpreter shuts down, and where
    another thread has made itself the owner.
    """
    if is_owner():
        _free_dropped()
        return work(*args, **kwargs)
    _begin()
    future: Future[T] = Future()
    _jobs.put((future, partial(work, *args, **kwargs)))
    try:
        return future.result()
    except BaseException:
        if not future.done() and not future.cancel():
            wait([future], SECONDS_TO_FINISH)
        raise
    finally:
        del future  # it holds the error, whose traceback holds this frame


def send(work: Callable[[], None]) -> None:
    """Let the owner carry out `work` later; do not wait for it. May be called during Python's garbage collection."""
    if _thread is not None and not _ended:
        _jobs.put((Future(), work))


def may_work() -> bool:
    """Whether `call` would carry out a piece of work of this thread."""
    return not _ended and (_thread is None or _thread is _server or is_owner())


def is_owner() -> bool:
    """Whether this is the thread that owns Taichi."""
    return _thread is threading.current_thread()


def at_end(close: Callable[[], None]) -> None:
    """Let the owner carry out `close` as its last work."""
    _closing.append(close)


def _begin() -> None:
    global _thread, _server
    with _starting:
        if _ended:
            raise DeviceError(_ended)
        if _thread is not None and _thread is not _server:
            raise DeviceError(f"only the thread {_thread.name} of this process may use a device")
        if _thread is None:
            before = threading.stack_size(STACK_BYTES)
            try:
                server = threading.Thread(target=_serve, name="chordless", daemon=True)
                server.start()
                _thread = _server = server
            finally:
                threading.stack_size(before)
            atexit.register(_end, os.getpid())


def _serve() -> None:
    while (job := _jobs.get()) is not None:
        _carry_out(*job)
        del job  # otherwise it would keep the objects of a search alive until the next job


def _free_dropped() -> None:
    """Free the buffers that other threads have dropped, if no thread of the library does it."""
    while _server is None and not _jobs.empty():
        job = _jobs.get()
        assert job is not None
        _carry_out(*job)


def _carry_out(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


def _end(process: int) -> None:
    """End the thread before Python shuts the interpreter down."""
    global _ended
    if os.getpid() != process or _thread is None:
        return
    with _ending_at_interrupts():
        for close in _closing:
            call(close)
        _ended = "the interpreter is shutting down: no device can be used any more"
        if _server is not None:
            _jobs.put(None)
            _server.join()


@contextmanager
def _ending_at_interrupts() -> Iterator[None]:
    """Let Ctrl-C end the process at once: after a KeyboardInterrupt Taichi would abort it from its own thread.

    Exit handlers that have not run by then, those that were registered before the first device, do not run.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # None, broken or closed
            stream.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _after_fork() -> None:
    global _ended, _starting, _thread, _server
    _starting = threading.Lock()
    if _thread is not None:
        # Where a thread had made itself the owner, it lives on in the child, but Taichi's own threads do not.
        _thread = _server = None
        _ended = (
            "this process was forked from one that had used a device, and Taichi does not survive that: start "
            'processes with multiprocessing.get_context("spawn") or "forkserver"; a search with arch="reference" needs '
            "none"
        )


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_after_fork)
