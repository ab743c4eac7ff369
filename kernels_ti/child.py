"""Child processes that end at once when their parent ends, however it ends.

The parent holds one end of a pipe into which nobody writes. The system closes it when the parent dies, and sends the
child a signal then. That needs neither Python's lock, which Taichi holds while it compiles and launches, nor a thread
of the parent that must live as long as the child. Systems that cannot choose the signal have a thread of the child
wait at the pipe instead: it ends the child as soon as it gets Python's lock.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

# The child looks for modules where its parent looks, and nowhere else: `-m` and `-c` alone would put the current
# folder first, where a user may well have a module of the same name.
_BOOT = (
    "import sys; _pipe, _count = map(int, sys.argv[1:3]); sys.path[:] = sys.argv[3 + _count :]; "
    "sys.argv[1:] = sys.argv[3 : 3 + _count]; "
    "from kernels_ti.child import end_with_parent; end_with_parent(_pipe); "
)
_NO_PIPE = -1
_pipe = _NO_PIPE


class Lifeline:
    """A pipe that tells a child process when its parent has ended.

    The child inherits the descriptor `below` and gives it to `end_with_parent`.
    """

    def __init__(self) -> None:
        self.below, self._above = os.pipe()

    def hold(self, process: object) -> None:
        """Hold the line until `process`, the parent's handle on the child that has inherited it, is forgotten."""
        os.close(self.below)
        weakref.finalize(process, os.close, self._above)

    def hold_group(self, leader: int) -> None:
        """Have a whole process group killed when the parent ends, whatever programs run in it.

        The leader must have inherited the line. Only Linux can do that; elsewhere this does nothing.
        """
        if _can_choose_signal():
            _watch(self.below, -leader, signal.SIGKILL)

    def take(self) -> None:
        """End with the parent, in a child that was forked."""
        os.close(self._above)
        end_with_parent(self.below)

    def cut(self) -> None:
        """Close both ends: in the parent when the child has ended, or in another child that was forked."""
        os.close(self.below)
        os.close(self._above)


def command(code: str, *arguments: str, lifeline: Lifeline | None = None) -> tuple[str, ...]:
    """Return the command line of a Python process; without a lifeline it goes on when its parent ends.

    The code is Python statements on one line, which find the arguments in ``sys.argv[1:]``.
    """
    pipe = _NO_PIPE if lifeline is None else lifeline.below
    return (sys.executable, "-c", _BOOT + code, str(pipe), str(len(arguments)), *arguments, *sys.path)


def start(code: str, *arguments: str, pass_fds: Sequence[int] = (), **more: Any) -> subprocess.Popen[bytes]:
    """Start a Python process that ends when this process ends, or when the handle that is returned is forgotten.

    The code and its arguments are those of `command`, and `more` are parameters of `subprocess.Popen`. The child
    inherits the descriptors `pass_fds`. An OSError says that it cannot be started.
    """
    lifeline = Lifeline()
    try:
        process = subprocess.Popen(
            command(code, *arguments, lifeline=lifeline), pass_fds=(*pass_fds, lifeline.below), **more
        )
    except BaseException:
        lifeline.cut()
        raise
    lifeline.hold(process)
    return process


def end_with_parent(pipe: int) -> None:
    """Let the system kill this process when its parent ends; `pipe` is the end of a lifeline, or negative for none."""
    global _pipe, _act
    if pipe < 0:
        return
    _pipe, _act = pipe, _kill_self
    os.set_inheritable(pipe, False)
    if not _can_choose_signal():
        threading.Thread(target=_wait, args=(pipe,), name="lifeline", daemon=True).start()
        return
    _watch(pipe, os.getpid(), signal.SIGKILL)
    if _ended(pipe, 0):
        _kill_self()


def when_orphaned(act: Callable[[], None]) -> None:
    """Call a function, on Linux in the main thread, when the parent ends; never without a lifeline."""
    global _act
    _act = act
    if _pipe < 0 or not _can_choose_signal():
        return

    def look(number: int, frame: object) -> None:
        if _ended(_pipe, 0):
            act()

    # A stopped process acts on no other signal that it can handle. A shell sends it, too, so the pipe is asked.
    signal.signal(signal.SIGCONT, look)
    _watch(_pipe, os.getpid(), signal.SIGCONT)
    if _ended(_pipe, 0):
        act()


def _can_choose_signal() -> bool:
    """Return whether the system sends any signal that is wished when a pipe closes; Linux does."""
    import fcntl

    return hasattr(fcntl, "F_SETSIG")


def _watch(pipe: int, owner: int, number: int) -> None:
    """Have the system send a signal when a pipe closes, to a process or, where `owner` is negative, to its group."""
    import fcntl

    fcntl.fcntl(pipe, fcntl.F_SETOWN, owner)
    fcntl.fcntl(pipe, fcntl.F_SETSIG, number)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def _ended(pipe: int, milliseconds: int | None) -> bool:
    """Return whether the parent ends within a time, or wait until it does."""
    look = select.poll()  # unlike select.select it takes descriptors of 1,024 and more
    look.register(pipe, select.POLLIN)
    return bool(look.poll(milliseconds))


def _wait(pipe: int) -> None:
    _ended(pipe, None)
    _act()


def _kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


_act: Callable[[], None] = _kill_self
