"""Events of an engine that is a child of this process."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from chordless.engine.process import EngineProcess
from chordless.protocol.events import DeviceReport, Failed, Finished, Log, Started
from chordless.protocol.orders import RunCommand, StopCommand
from chordless.protocol.recording import recorded
from chordless.runs.directory import RunDirectory
from chordless.runs.mailbox import Order
from chordless.runs.state import RunState
from chordless.tui.feeds.feed import SECONDS_BETWEEN_BATCHES, Feed
from kernels_ti import EngineError

_LAST_EVENTS = (Finished, Failed, DeviceReport)


class EngineFeed(Feed):
    """An engine that is a child of this process.

    Raise EngineError if the system does not start a process.
    """

    owns_engine = True
    at_work = True

    def __init__(self, command: RunCommand) -> None:
        super().__init__()
        self.command = command
        self.directory = None if command.checkpoint is None else Path(command.checkpoint)
        self._engine = EngineProcess(command, polite=True)
        self._has_begun = False

    @property
    def can_control(self) -> bool:
        """Whether the engine is still at work."""
        return self.at_work

    @property
    def pid(self) -> int:
        """Process id of the engine."""
        return self._engine.pid

    def post(self, order: Order) -> None:
        """Give the engine an order. A stop kills it before the search has begun."""
        if not isinstance(order, StopCommand):
            self._engine.send(order)
        elif self._engine.search_began:
            self._engine.stop()
        else:
            self.kill()

    def kill(self) -> None:
        """End the engine at once."""
        self._engine.kill()

    def settle(self, state: RunState) -> RunState:
        """Mark a resumed run as starting until its engine reports the first event."""
        if self._has_begun:
            return state
        return replace(state, phase="starting", reason=None, error=None, can_resume=False)

    def _feed(self) -> None:
        with self._engine as engine:
            if self.command.resume and self.directory is not None:
                self._recall(self.directory)
            while not self._closing.is_set():
                event = engine.poll(SECONDS_BETWEEN_BATCHES)
                if event is not None:
                    self._has_begun = self._has_begun or isinstance(event, (Started, *_LAST_EVENTS))
                    self._add(time.time(), event)
                if isinstance(event, _LAST_EVENTS):
                    return
                self._flush_if_due()

    def _recall(self, directory: Path) -> None:
        """Deliver the earlier recording of a resumed run, so that it is visible while the engine starts."""
        try:
            for when, event in recorded(RunDirectory(directory).events):
                self._add(when, event)
        except EngineError as error:
            # The engine needs only the checkpoint. The recording is just for display.
            self._add(time.time(), Log(f"the earlier recording cannot be shown: {error}"))
        self._flush()
