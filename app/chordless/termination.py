"""SIGTERM and hang-up end a command of this process as Ctrl-C does: in one line, with temporary files removed."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

SAME_SIGNAL_SECONDS = 0.2
"""Signals within it count as one: job managers and ``timeout`` send each to the process and to its group."""


class TerminatedError(KeyboardInterrupt):
    """A signal, `number`, other than Ctrl-C is to end the program, with `exit_code`."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        self.exit_code = 128 + number

    def __str__(self) -> str:
        return f"ended by {signal.Signals(self.number).name}"


@contextlib.contextmanager
def termination_interrupts() -> Iterator[None]:
    """Raise a TerminatedError at SIGTERM and at a hang-up, unless they are ignored or handled, while the block runs.

    An error that a library makes of this, or of Ctrl-C, while it is imported ends the block as the signal does. Outside
    the main thread nothing changes, since Python handles signals nowhere else. The same signal again must not disturb
    what is cleaned up after the first.
    """
    at = -SAME_SIGNAL_SECONDS
    raised: KeyboardInterrupt | None = None

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal at, raised
        before, at = at, time.monotonic()
        if at - before >= SAME_SIGNAL_SECONDS:
            raised = KeyboardInterrupt() if number == signal.SIGINT else TerminatedError(number)
            raise raised

    # Windows has no hang-up.
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    usual = {number: signal.getsignal(number) for number in numbers}
    usual = {number: each for number, each in usual.items() if each in (signal.SIG_DFL, signal.default_int_handler)}
    if threading.current_thread() is not threading.main_thread():
        usual = {}
    for number in usual:
        signal.signal(number, interrupt)
    try:
        yield
    except Exception as error:
        if raised is not None:
            raise raised from error
        raise
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
