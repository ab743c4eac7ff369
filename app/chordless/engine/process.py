"""The handle on the engine: starts the child process, sends it commands, receives its events, and ends it."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
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
from chordless.protocol.orders import Command, RunCommand, StopCommand
from chordless.values import STANDARD_ERROR, descriptor_named
from kernels_ti import EngineError, child

_BOOT = "from chordless.worker import main; main(int(sys.argv[1]), int(sys.argv[2]))"
_ENVIRONMENT = {"TI_SKIP_VERSION_CHECK": "ON", "ENABLE_TAICHI_HEADER_PRINT": "0"}
# The engine has no linear algebra for which numpy's threads would be worth their start: they spin for 30 ms each.
# Arrow's own pools hold 30 MB more than the system's while a Parquet file is written.
_UNLESS_USER_SAYS = {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
# glibc keeps freed buffers of up to 32 MiB. Under a limit every large one goes back to the system at once.
_UNDER_A_LIMIT = {"MALLOC_MMAP_THRESHOLD_": str(1 << 20)}
_LAST_WORDS_LINES = 200
_SECONDS_TO_EXIT = 10.0
_NICENESS = 10
# Of the progress of a session that is t seconds old, a run directory records one report in t times this: a week's
# recording stays small, and a short run is recorded whole.
_SHARE_BETWEEN_RECORDS = 0.005
# A compilation takes no order, and may last half a minute. An engine that has not answered a stop by then is killed.
_SECONDS_TO_STOP = 1.0
_LONGEST_WAIT = 0.5


class EngineProcess(contextlib.AbstractContextManager["EngineProcess"]):
    """A running engine process; a context manager: however its block ends, no child process stays behind.

    `recording` gets every event as a line of JSON, with the wall-clock ``time`` added; a run with a directory records
    them there as well. A `polite` engine has a lower priority, so that a dashboard answers keys at once; on otherwise
    idle cores it is as fast. One that is to stop while it compiles is killed, for an `impatient` client even where
    cycles are on their way to a file: it `was_cut_short`. `environment` has variables beside those of this process.
    Once `search_began`, `stop` is answered soon. `died` says that the engine ended without a last event, `directory` is
    the absolute path of its run directory, and `last_words` are the last lines that it, or a driver, printed. An
    EngineError says that the process cannot be started.
    """

    def __init__(
        self,
        command: Command,
        *,
        recording: IO[str] | None = None,
        polite: bool = False,
        impatient: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._recording = recording
        self._in_directory: IO[str] | None = None
        self._unrecorded: list[str] = []
        self._began = self._last_record = time.monotonic()
        self._paused = False
        # The last report that was left out of the recording in the directory, and its line.
        self._left_out: Progress | None = None
        self._unwritten = ""
        # The largest frontier of all reports, and the line of that report until it is written.
        self._peak, self._at_peak = 0, ""
        self.directory: str | None = None
        self._pending: deque[Event] = deque()
        self._ended = False
        self._closed = False
        # Orders may come from any thread while another closes, and from a signal handler in the midst of either.
        self._orders = threading.RLock()
        # Pieces of a line whose end has not come. The line of many best cycles may have a hundred megabytes.
        self._unread: dict[str, list[bytes]] = {"events": [], "words": []}
        self._command = command
        self._started: Started | None = None
        self._newest: Progress | None = None
        self._stop_asked: float | None = None
        self._at_stop: Progress | None = None
        self._impatient = impatient
        self._is_cut_short = self._is_killed = False
        self.was_cut_short = False
        self.search_began = False
        self.died = False
        self.last_words: deque[str] = deque(maxlen=_LAST_WORDS_LINES)

        commands_below, self._commands = os.pipe()
        self._events, events_below = os.pipe()
        usual = _UNLESS_USER_SAYS | (_UNDER_A_LIMIT if getattr(command, "memory", None) else {})
        # A terminal or a job manager sends these signals to the whole process group; the engine leaves them to its
        # client. Block them during the start: no Ctrl-C may reach the child before it ignores them.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        try:
            self._process = child.start(
                _BOOT,
                str(commands_below),
                str(events_below),
                bufsize=0,
                stderr=subprocess.PIPE,
                pass_fds=(commands_below, events_below, *_descriptors_of(command)),
                env={**usual, **os.environ, **_ENVIRONMENT, **(environment or {})},
            )
        except OSError as error:
            raise EngineError(f"cannot start the engine: {error.strerror}") from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.close(commands_below)
            os.close(events_below)
        if polite:
            # The process may be gone, which its events will report; or the system does not allow it.
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self.pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICENESS)
        assert self._process.stderr is not None
        self._words = self._process.stderr
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._events, selectors.EVENT_READ, "events")
        self._selector.register(self._words, selectors.EVENT_READ, "words")
        self.send(command)

    @property
    def pid(self) -> int:
        """Process id of the engine."""
        return self._process.pid

    def stop(self) -> None:
        """Ask the engine to end at the next slice and to report its result. May be called in a signal handler.

        While it compiles, it is killed instead; the result is then that of its last report.
        """
        if self._stop_asked is None:
            self._stop_asked, self._at_stop = time.monotonic(), self._newest
        self.send(StopCommand())

    def kill(self) -> None:
        """End the engine at once, without a result; the last event, a `Failed`, says that it was stopped."""
        self._is_killed = True
        self._process.kill()

    def poll(self, timeout: float | None = None) -> Event | None:
        """Return the next event; None if nothing came within `timeout` seconds, or after the last event.

        The last one is a `Finished`, a `BatchFinished`, a `Failed` or a `DeviceReport`, always: for an engine that died
        the client makes a `Failed` that says how, with the engine's last words.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._pending:
            if self._ended:
                return None
            left = _LONGEST_WAIT if deadline is None else max(deadline - time.monotonic(), 0.0)
            ready = self._selector.select(min(left, _LONGEST_WAIT))
            if not ready and left == 0.0:
                return None
            if not ready:
                self._cut_short_if_due()
            # One thread at a time, because reading the last event also empties the other pipe.
            for key, _ in ready[:1]:
                self._read(key.data, key.fd)
        event = self._pending.popleft()
        self._ended = self._ended or isinstance(event, (Finished, BatchFinished, Failed, DeviceReport))
        return event

    def events(self) -> Iterator[Event]:
        """Yield events as they come, up to the last one."""
        while (event := self.poll()) is not None:
            yield event

    def answer(self, seconds: float) -> DeviceReport | Failed | None:
        """Return the answer to a probe; None if there was none within so many seconds."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if isinstance(event := self.poll(left), (DeviceReport, Failed)):
                return event
        return None

    def close(self) -> None:
        """Release the pipes. An engine that has not sent its last event is killed, another ends by itself.

        Only the thread that polls may close. Orders given later, from any thread, have no effect.
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, command: Command) -> None:
        """Give the engine an order, which it obeys after this slice; `stop` ends one that compiles, too."""
        # If the child is already gone, the event pipe tells.
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
        self._unread[source].append(data)
        if b"\n" not in data:
            return
        *lines, rest = b"".join(self._unread[source]).split(b"\n")
        self._unread[source] = [rest]
        for line in lines:
            self._take(event_from_json(line) if source == "events" else Log(line.decode(errors="replace").rstrip()))

    def _cut_short_if_due(self) -> None:
        """Kill an engine that was asked to stop while it compiles, if nothing is lost by it or nobody will wait.

        A search for the longest cycle that compiles only after the stop knows the length, and seeks a cycle of it.
        """
        asked, newest, before = self._stop_asked, self._newest, self._at_stop
        if asked is None or newest is None or time.monotonic() - asked < _SECONDS_TO_STOP or self._is_cut_short:
            return
        seeks_cycle = getattr(self._command, "pick", None) == "longest" and before is not None and not before.compiling
        if newest.compiling and not seeks_cycle and (self._impatient or loses_nothing(self._command)):
            self._is_cut_short = True
            self._process.kill()

    def _obituary(self) -> Failed | Finished:
        code = self._process.wait()
        if self._is_cut_short and code == -signal.SIGKILL and self._started is not None and self._newest is not None:
            self.was_cut_short = True
            return finished_at(self._started, self._newest, self._command)
        if self._is_killed and code == -signal.SIGKILL:
            when = "at once" if self.search_began else "before the search began"
            return Failed("EngineError", f"stopped {when}", EngineError.exit_code, stopped=True)
        # Do not read up to the end: a helper process of a driver may have inherited the pipe and still hold it.
        os.set_blocking(self._words.fileno(), False)
        while data := self._words.read(1 << 16):
            self._split("words", data)
        if any(self._unread["words"]):
            self._split("words", b"\n")
        how = _killed_by(-code) if code < 0 else f"ended with exit code {code}"
        words = [line for line in self.last_words if line.strip()]
        said = f"; its last words: {words[-1].strip()[:300]}" if words else ""
        runs_out = " (the system does that where memory, or the time of `ulimit -t`, runs out)"
        hint = runs_out if code == -signal.SIGKILL else ""
        return Failed("EngineError", f"the engine {how} before it was done{hint}{said}", EngineError.exit_code)

    def _take(self, event: Event) -> None:
        if isinstance(event, Log):
            self.last_words.append(event.text)
        elif isinstance(event, Progress):
            self._newest = event
        elif isinstance(event, (Started, BatchStarted)):
            self.search_began = True
            if isinstance(event, Started):
                self._started, self.directory = event, event.directory
        self._record(event)
        self._pending.append(event)

    def _record(self, event: Event) -> None:
        line = _line_of(event)
        try:
            if self._recording is not None:
                _write_line(self._recording, line)
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
            if self._left_out is not None and (whole := event.with_steps_of(self._left_out)) is not event:
                event, line = whole, _line_of(whole)
            if event.frontier > self._peak:
                self._peak, self._at_peak = event.frontier, line
            if not self._paused and now - self._last_record < _SHARE_BETWEEN_RECORDS * (now - self._began):
                self._left_out, self._unwritten = event, line
                return
            self._last_record = now
            # Followers learn only from this event that the run continues.
            self._paused = False
            lines: tuple[str, ...] = self._at_peak, line
        else:
            self._paused = self._paused or isinstance(event, Paused)
            # The last counts before a pause or a failure are those that were shown.
            lines = self._at_peak, self._unwritten, line
        self._left_out, self._unwritten, self._at_peak = None, "", ""
        _write_line(self._in_directory, "".join(dict.fromkeys(lines)))


def record(recording: IO[str], event: Event) -> None:
    """Write an event to a recording, with the present time. Raise EngineError if it cannot be written."""
    try:
        _write_line(recording, _line_of(event))
    except OSError as error:
        raise EngineError(f"cannot record the events: {error.strerror}") from error


def loses_nothing(command: Command) -> bool:
    """Return whether an engine that compiles may be killed: cycles on their way to a file or pipe would be lost.

    Those of a run with a folder are on the disk, since such a run keeps a checkpoint before it compiles.
    """
    return isinstance(command, RunCommand) and (command.output is None or command.checkpoint is not None)


def finished_at(started: Started, newest: Progress, command: Command) -> Finished:
    """Return the last event of a stopped run whose last report is the `newest`."""
    assert isinstance(command, RunCommand)
    known = {item.name for item in fields(Finished)}
    seconds = max(started.setup_seconds + newest.seconds, time.monotonic() - command.program_start)
    along = {"width": newest.width, "states": newest.states or 0}
    return Finished(
        **{name: value for name, value in {**vars(started), **vars(newest)}.items() if name in known},
        reason="interrupted",
        enumerate_seconds=newest.seconds,
        total_seconds=seconds,
        peak_memory_bytes=newest.memory_bytes,
        checkpoint=None if started.directory is None else command.checkpoint,
        boundary=None if newest.states is None else along,
    )


def _descriptors_of(command: Command) -> Iterator[int]:
    """Yield the descriptors that the files of an order name, as a shell's ``<(...)`` does: the engine inherits them."""
    for field in ("graph", "types", "weight", "order", "output", "write_order"):
        name = str(getattr(command, field, None))
        descriptor = descriptor_named(name)
        if descriptor is not None and descriptor > STANDARD_ERROR and os.path.exists(name):
            yield descriptor


def _line_of(event: Event) -> str:
    return event_to_json(event, time=round(time.time(), 3)) + "\n"


def _write_line(recording: IO[str], line: str) -> None:
    try:
        recording.write(line)
        recording.flush()
    except OSError:
        # Discard the buffer: otherwise closing the file would try to write it once more, and fail again.
        with contextlib.suppress(OSError):
            recording.close()
        raise


def _killed_by(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return f"was killed ({name})"
