"""The handle on the engine: a child process that is started, listened to, stopped and, if need be, killed."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO

from chordless.protocol.codec import command_to_json, event_from_json, event_to_json
from chordless.protocol.events import (
    BatchFinished,
    BatchStarted,
    DeviceReport,
    Event,
    Failed,
    Finished,
    Log,
    Paused,
    Progress,
    Started,
)
from chordless.protocol.orders import CheckpointCommand, Command, GoCommand, PauseCommand, StopCommand
from kernels_ti.errors import EngineError

# The child looks where its parent looks, and nowhere else: `-m` and `-c` alone would put the current folder
# first, where a user may well have a `chordless` of their own.
_BOOT = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from chordless.worker import main; main(int(sys.argv[1]), int(sys.argv[2]))"
)
_ENVIRONMENT = {"TI_SKIP_VERSION_CHECK": "ON", "ENABLE_TAICHI_HEADER_PRINT": "0"}
# Signals that a terminal or a job manager sends to the whole process group; the engine leaves them to its client.
_PARENT_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_LAST_WORDS_LINES = 200
_SECONDS_TO_EXIT = 10.0
_NICENESS = 10
# Of the progress of a session that is t seconds old, a run directory records one report in t times this: a week's
# recording stays small, and a short run is recorded whole.
_SHARE_BETWEEN_RECORDS = 0.005


class Engine:
    """A running engine process.

    Use it as a context manager: however the block is left, no child stays behind.

    Parameters
    ----------
    command : RunCommand, BatchCommand or ProbeCommand
        What it shall do.
    recording : text file, optional
        Gets every event as a line of JSON, with the wall-clock ``time`` added. A run with a directory records them
        there as well.
    polite : bool, default False
        Let a dashboard go first, which would wait its turn behind the engine whenever a key is pressed; where nothing
        else wants the cores, the search is as fast as ever.

    Attributes
    ----------
    search_began : bool
        Whether it has said so; from then on `stop` gets an answer soon.
    died : bool
        Whether it ended without a last event of its own.
    directory : str or None
        The absolute path of its run directory, once it has said so.
    last_words : deque of str
        The last lines that the engine, or a driver below it, printed.

    Raises
    ------
    EngineError
        If the system does not start a process.

    Examples
    --------
    >>> import time
    >>> from chordless.protocol.orders import RunCommand
    >>> with Engine(RunCommand("cycle:5", time.time(), arch="reference")) as engine:
    ...     [event.cycles for event in engine.events() if event.name == "finished"]
    [1]
    """

    def __init__(self, command: Command, *, recording: IO[str] | None = None, polite: bool = False) -> None:
        self._recording = recording
        self._in_directory: IO[str] | None = None
        self._unrecorded: list[str] = []
        self._began = self._last_record = time.monotonic()
        self._paused = False
        self.directory: str | None = None
        self._pending: deque[Event] = deque()
        self._ended = False
        self._closed = False
        # Orders may come from any thread while another closes, and from a signal handler in the midst of either.
        self._orders = threading.RLock()
        self._unread = {"events": b"", "words": b""}
        self.search_began = False
        self.died = False
        self.last_words: deque[str] = deque(maxlen=_LAST_WORDS_LINES)

        commands_below, self._commands = os.pipe()
        self._events, events_below = os.pipe()
        # Blocked while the child is born, so that no Ctrl-C reaches it before it has said that it ignores them.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _PARENT_SIGNALS)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BOOT, str(commands_below), str(events_below), *sys.path],
                bufsize=0,
                stderr=subprocess.PIPE,
                pass_fds=(commands_below, events_below),
                env={**os.environ, **_ENVIRONMENT},
            )
        except OSError as error:
            raise EngineError(f"cannot start the engine: {error.strerror}") from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.close(commands_below)
            os.close(events_below)
        if polite:
            with contextlib.suppress(OSError):  # gone already, as its events will say; or the system does not allow it
                os.setpriority(os.PRIO_PROCESS, self.pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICENESS)
        assert self._process.stderr is not None
        self._words = self._process.stderr
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._events, selectors.EVENT_READ, "events")
        self._selector.register(self._words, selectors.EVENT_READ, "words")
        self._send(command)

    @property
    def pid(self) -> int:
        """Process id of the engine."""
        return self._process.pid

    def stop(self) -> None:
        """Ask the engine to end at the next slice and to report what it found. May be called in a signal handler."""
        self._send(StopCommand())

    def pause(self) -> None:
        """Ask the engine to halt after this slice; it answers with a `Paused`."""
        self._send(PauseCommand())

    def go(self) -> None:
        """Ask a paused engine to go on."""
        self._send(GoCommand())

    def checkpoint(self) -> None:
        """Ask the engine for a checkpoint after this slice; it answers with a `Checkpointed`."""
        self._send(CheckpointCommand())

    def kill(self) -> None:
        """End the engine at once; nothing is reported."""
        self._process.kill()

    def poll(self, timeout: float | None = None) -> Event | None:
        """Return the next event.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait; by default until there is one.

        Returns
        -------
        Event or None
            None if nothing came in time, or after the last event. The last one is a `Finished`, a `BatchFinished`, a
            `Failed` or a `DeviceReport`, always: for an engine that died the client makes a `Failed` that says how,
            with the engine's last words.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._pending:
            if self._ended:
                return None
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left < 0:
                return None
            # One at a time: the end of the events empties the other pipe as well.
            for key, _ in self._selector.select(left)[:1]:
                self._read(key.data, key.fd)
        event = self._pending.popleft()
        self._ended = self._ended or isinstance(event, (Finished, BatchFinished, Failed, DeviceReport))
        return event

    def events(self) -> Iterator[Event]:
        """Yield events as they come, up to the last one."""
        while (event := self.poll()) is not None:
            yield event

    def close(self) -> None:
        """Let the engine end if it has reported its last event, kill it otherwise, and release the pipes.

        Only the thread that polls may close. Orders that come later, from any thread, go nowhere.
        """
        if self._closed:
            return
        if not self._ended:
            self._process.kill()
        with self._orders:
            self._closed = True
            os.close(self._commands)
        self._words.close()
        try:
            self._process.wait(_SECONDS_TO_EXIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._selector.close()
        os.close(self._events)
        if self._in_directory is not None:
            self._in_directory.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, command: Command) -> None:
        # A child that is already gone says so, or is missed, on the event pipe.
        with self._orders, contextlib.suppress(BrokenPipeError):
            if self._closed:
                return
            os.write(self._commands, command_to_json(command).encode() + b"\n")

    def _read(self, source: str, descriptor: int) -> None:
        data = os.read(descriptor, 1 << 16)
        self._split(source, data)
        if not data:
            self._selector.unregister(descriptor)
            if source == "events":
                self.died = True
                self._take(self._obituary())

    def _split(self, source: str, data: bytes) -> None:
        *lines, self._unread[source] = (self._unread[source] + data).split(b"\n")
        for line in lines:
            self._take(event_from_json(line) if source == "events" else Log(line.decode(errors="replace").rstrip()))

    def _obituary(self) -> Failed:
        code = self._process.wait()
        # Not up to its end: a helper of a driver may have inherited the pipe and live on.
        os.set_blocking(self._words.fileno(), False)
        while data := self._words.read(1 << 16):
            self._split("words", data)
        if self._unread["words"]:
            self._split("words", b"\n")
        how = _killed_by(-code) if code < 0 else f"ended with exit code {code}"
        words = [line for line in self.last_words if line.strip()]
        said = f"; its last words: {words[-1].strip()[:300]}" if words else ""
        hint = " (the system does that where memory runs out)" if code == -signal.SIGKILL else ""
        return Failed("EngineError", f"the engine {how} before it was done{hint}{said}", EngineError.exit_code)

    def _take(self, event: Event) -> None:
        if isinstance(event, Log):
            self.last_words.append(event.text)
        self._record(event)
        self._pending.append(event)

    def _record(self, event: Event) -> None:
        line = event_to_json(event, time=round(time.time(), 3)) + "\n"
        try:
            if self._recording is not None:
                _write_line(self._recording, line)
            if isinstance(event, Started):
                self.search_began = True
                self.directory = event.directory
            elif isinstance(event, BatchStarted):
                self.search_began = True
            self._record_in_directory(event, line)
        except OSError as error:
            raise EngineError(f"cannot record the events: {error.strerror}") from error

    def _record_in_directory(self, event: Event, line: str) -> None:
        if not self.search_began:
            # Only an engine that has begun to search holds the lock of its directory.
            self._unrecorded.append(line)
            return
        if self.directory is None:
            return
        if self._in_directory is None:
            from chordless.runs.directory import RunDirectory

            self._in_directory = RunDirectory(Path(self.directory)).record()
            line = "".join([*self._unrecorded, line])
        now = time.monotonic()
        if isinstance(event, Progress):
            if not self._paused and now - self._last_record < _SHARE_BETWEEN_RECORDS * (now - self._began):
                return
            self._last_record = now
            # That it goes on, its followers learn from this one alone.
            self._paused = False
        elif isinstance(event, Paused):
            self._paused = True
        _write_line(self._in_directory, line)


def _write_line(recording: IO[str], line: str) -> None:
    try:
        recording.write(line)
        recording.flush()
    except OSError:
        # What is still buffered must not be tried again, and fail again, when the owner closes the file.
        with contextlib.suppress(OSError):
            recording.close()
        raise


def _killed_by(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return f"was killed ({name})"
