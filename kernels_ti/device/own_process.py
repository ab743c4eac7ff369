"""Calls of the library in a process of their own, where this process uses Taichi for something else.

There is one runtime of Taichi in a process, and to start another one ends the first with all its fields. So where a
program has imported Taichi itself, a search that needs a device is made by a child process, which waits for the next
call afterwards. A graph that is searched in Python needs no device, and is searched here.
"""

from __future__ import annotations

import atexit
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any, cast

from kernels_ti import taichi_door
from kernels_ti.child import start
from kernels_ti.device.machine import require_folder
from kernels_ti.errors import ChordlessError, DeviceError, EngineError
from kernels_ti.taichi_door.libraries import library

_RESULT, _ERROR, _STREAM, _PIECE, _CALL = "result", "error", "stream", "piece", "call"

_has_choice: ContextVar[bool] = ContextVar("_has_choice", default=False)  # whether a child can make the present call


class NeedsDeviceError(Exception):
    """A call needs a device, and is to be made in a process of its own."""


def require_here() -> None:
    """Leave a call that `kernels_ti.apart` can make in another process, where Taichi is used for something else."""
    if _has_choice.get() and taichi_door.is_used_by_others():
        raise NeedsDeviceError


@contextmanager
def with_choice() -> Iterator[None]:
    """Let a call that needs a device raise a `NeedsDeviceError` where Taichi is used for something else."""
    token = _has_choice.set(True)
    try:
        yield
    finally:
        _has_choice.reset(token)


@dataclass(frozen=True)
class StandIn:
    """Stands in the child for the name of a vertex: what comes back has the name itself, the very same object."""

    number: int


class _Answers(pickle.Pickler):
    """Writes what the child has to say."""

    def persistent_id(self, thing: Any) -> int | None:
        return thing.number if type(thing) is StandIn else None


class _Answer(pickle.Unpickler):
    """Reads what the child has to say."""

    def __init__(self, source: IO[bytes], names: Sequence[Hashable]) -> None:
        super().__init__(source)
        self._names = names

    def persistent_load(self, number: int) -> Hashable:
        return self._names[number]


class _Child:
    """A process that makes one call of the library after another."""

    def __init__(self) -> None:
        if not sys.executable:
            raise DeviceError(
                f"this process uses {library().title} itself, and Python does not say how to start another "
                "one: search before that, or choose the arch reference"
            )
        require_folder()  # the child would stay in it
        code = f"from {__name__} import serve; serve()"
        self._process = start(code, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        self._functions: Sequence[Callable[..., object]] = ()
        _children.add(self)

    def begin(self, request: bytes, functions: Sequence[Callable[..., object]]) -> None:
        """Send a request, whose callbacks stand for these functions."""
        self._functions = functions
        with suppress(BrokenPipeError):  # `next_answer` says what became of the process
            pickle.dump(request, self._requests)
            self._requests.flush()

    def next_answer(self, names: Sequence[Hashable]) -> tuple[str, Any]:
        """Return what the child says next; make the calls of functions that come before it."""
        kind, value = self._load(names)
        while kind == _CALL:
            number, values = value
            self._functions[number](*values)
            kind, value = self._load(names)
        return kind, value

    def _load(self, names: Sequence[Hashable]) -> tuple[str, Any]:
        try:
            return cast("tuple[str, Any]", _Answer(self._answers, names).load())
        except (EOFError, pickle.UnpicklingError):
            status = self._process.wait()
            raise EngineError(f"the process of the search ended with status {status} before it had an answer") from None

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._requests, self._answers):
            with suppress(OSError):
                pipe.close()


_children: weakref.WeakSet[_Child] = weakref.WeakSet()
_idle: list[_Child] = []  # at most one


@atexit.register
def _end_children() -> None:
    for child in list(_children):
        child.end()


def call_apart(module: str, function: str, arguments: Mapping[str, Any], names: Sequence[Hashable]) -> Any:
    """Make a call in a child; return its result, raise its error, with these names in place of their stand-ins.

    A callable among the arguments is called in this process, and its result is dropped.
    """
    functions: list[Callable[..., object]] = []

    def sent(value: Any) -> Any:
        if not callable(value):
            return value
        functions.append(value)
        return _Callback(len(functions) - 1)

    try:
        request = pickle.dumps((module, function, {name: sent(value) for name, value in arguments.items()}))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _not_sent(error) from error
    try:
        child = _idle.pop()
    except IndexError:
        child = _Child()
    try:
        child.begin(request, functions)
        kind, value = child.next_answer(names)
    except BaseException:  # also where the caller is interrupted: the search must not go on
        child.end()
        raise
    if kind == _STREAM:
        made, graph = value
        return made(graph, _pieces_of(child, names))
    _rest(child)
    if kind == _ERROR:
        raise value
    return value


def _pieces_of(child: _Child, names: Sequence[Hashable]) -> Iterator[Any]:
    """Take the pieces of a stream from the child; it waits while nobody takes them, and ends if nobody ever will."""
    done = False
    try:
        kind, value = child.next_answer(names)
        while kind == _PIECE:
            yield value
            kind, value = child.next_answer(names)
        done = True
    finally:
        _rest(child) if done else child.end()
    if kind == _ERROR:
        raise value


def _rest(child: _Child) -> None:
    """Keep a child for the next call."""
    if _idle:
        child.end()
    else:
        _idle.append(child)


def _forget_children() -> None:
    """In a forked child of this process, leave its children to it."""
    _idle.clear()
    _children.clear()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_forget_children)


def _not_sent(error: BaseException) -> DeviceError:
    return DeviceError(
        f"this process uses {library().title} itself, so the search is made in a process of its own, but "
        f"an argument cannot be sent there ({error}): give numbers as those of Python"
    )


class _Callback:
    """Stands in the child for a function of its parent, which is called there."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __call__(self, *values: Any) -> None:
        _answer(_CALL, (self._number, values))


_answers: Any = None  # where the child writes


def serve() -> None:
    """Make the calls that arrive on the standard input, and answer on the standard output; end with the parent."""
    global _answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and decides
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    _answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not come between the answers
    threading.Thread(target=_take_requests, args=(requests,), daemon=True).start()
    taichi_door.hurry()
    from kernels_ti.device import owner

    owner.own()
    while True:
        _make(requests.get())


def _take_requests(requests: queue.SimpleQueue[bytes]) -> None:
    """Take requests until the parent has gone, then end the process in the middle of its work."""
    source = os.fdopen(os.dup(0), "rb")
    with suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            requests.put(pickle.load(source))
    os._exit(0)


def _make(request: bytes) -> None:
    try:
        module, name, arguments = pickle.loads(request)
    except Exception as error:  # the classes of a script are not here
        _answer(_ERROR, _not_sent(error))
        return
    try:
        result = getattr(import_module(module), name)(**arguments)
        if isinstance(result, Iterator):
            _answer(_STREAM, (type(result), result.graph))  # type: ignore[attr-defined]
            for piece in result.pieces:  # type: ignore[attr-defined]
                _answer(_PIECE, piece)
            result = None
    except ChordlessError as error:
        _answer(_ERROR, error)
    except Exception as error:  # whose class may need more than its text
        _answer(_ERROR, EngineError(f"internal error: {type(error).__name__}: {error}"))
    else:
        _answer(_RESULT, result)


def _answer(kind: str, value: Any) -> None:
    _Answers(_answers, pickle.HIGHEST_PROTOCOL).dump((kind, value))
    _answers.flush()
