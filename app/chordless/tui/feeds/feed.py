"""The base class of all sources of events: a thread, batches of events, and the orders to an engine."""

from __future__ import annotations

import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from chordless.protocol.events import Event, Failed
from chordless.protocol.orders import CheckpointCommand, GoCommand, PauseCommand, StopCommand
from chordless.runs.mailbox import Order
from chordless.runs.state import RunState
from kernels_ti import ChordlessError, EngineError

Batch = tuple[tuple[float, Event], ...]
"""Events, each with the time at which it was recorded, in seconds since 1970."""

SECONDS_BETWEEN_BATCHES = 0.1
_NO_ENGINE = "there is no engine here to control"


class Feed(ABC):
    """A source of events."""

    directory: Path | None = None  # The run directory, if it is known
    owns_engine = False  # Whether the engine is a child of this process, and ends with it
    at_work = False  # Whether an engine is running, as far as the feed knows

    def __init__(self) -> None:
        self._deliver: Callable[[Batch], None] = lambda batch: None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name=type(self).__name__, daemon=True)
        self._batch: list[tuple[float, Event]] = []
        self._delivered = 0.0

    @property
    def can_control(self) -> bool:
        """Whether there is an engine that takes orders: pause, stop and so on."""
        return False

    def begin(self, deliver: Callable[[Batch], None]) -> None:
        """Start the thread. It calls `deliver` with each batch; an empty one says that `at_work` has changed."""
        self._deliver = deliver
        self._thread.start()

    def close(self) -> None:
        """Let the thread end. If the feed has its own engine, that ends too."""
        self._closing.set()

    def join(self, seconds: float) -> None:
        """Wait for the end of the thread, at most `seconds`."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    def base(self, state: RunState) -> RunState:
        """Return the state to which the next batch is added: the newest one, unless a replay has gone back."""
        return state

    def settle(self, state: RunState) -> RunState:
        """Return the state with corrections that only the feed knows, not the events."""
        return state

    def post(self, order: Order) -> None:
        """Give the engine an order."""
        raise EngineError(_NO_ENGINE)

    def pause(self) -> None:
        """Ask the engine to pause after the current slice."""
        self.post(PauseCommand())

    def go_on(self) -> None:
        """Ask a paused engine to continue."""
        self.post(GoCommand())

    def stop(self) -> None:
        """Ask the engine to end and to report its results."""
        self.post(StopCommand())

    def checkpoint(self) -> None:
        """Ask the engine for a checkpoint."""
        self.post(CheckpointCommand())

    def kill(self) -> None:
        """End the engine of this process at once."""
        raise EngineError(_NO_ENGINE)

    def _work(self) -> None:
        try:
            self._feed()
        except (ChordlessError, OSError) as error:
            self._add(time.time(), Failed(type(error).__name__, str(error), EngineError.exit_code))
        except Exception as error:
            # This thread must report the error itself. Otherwise the run would seem to go on for ever.
            message = f"internal error: {type(error).__name__}: {error}"
            self._add(time.time(), Failed(type(error).__name__, message, EngineError.exit_code, traceback.format_exc()))
        # Whoever sees that the engine is not at work any more has the state that it ended in.
        self._flush()
        self.at_work = False
        self._flush()

    @abstractmethod
    def _feed(self) -> None:
        """Add events until there are no more, or `_closing` is set."""

    def _add(self, when: float, event: Event) -> None:
        self._batch.append((when, event))

    def _flush_if_due(self) -> None:
        if self._batch and time.monotonic() - self._delivered >= SECONDS_BETWEEN_BATCHES:
            self._flush()

    def _flush(self) -> None:
        batch, self._batch = tuple(self._batch), []
        self._delivered = time.monotonic()
        self._deliver(batch)
