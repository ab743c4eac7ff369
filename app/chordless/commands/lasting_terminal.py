"""A terminal that may go away while the dashboard draws on it, and that may send what is no text."""

from __future__ import annotations

import asyncio
import select
import signal
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any, Final, TextIO

from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from chordless.words.shown import silence

MOST_WAITING: Final = 1000  # Keys and the like that wait for the dashboard
_SECONDS_BETWEEN_LOOKS: Final = 0.01


class LastingFile:
    """The file of a terminal. Text that can no longer be written is dropped, and `lost` is called."""

    def __init__(self, file: TextIO, lost: Callable[[], None]) -> None:
        self._file, self._lost = file, lost

    def fileno(self) -> int:
        """Return the number of the file."""
        return self._file.fileno()

    def write(self, text: str) -> None:
        """Write text."""
        try:
            self._file.write(text)
        except OSError:
            self._lose()

    def flush(self) -> None:
        """Write what is buffered."""
        try:
            self._file.flush()
        except OSError:
            self._lose()

    def _lose(self) -> None:
        silence(self._file)
        self._lost()


class LastingDriver(LinuxDriver):
    """Textual's driver. It outlives its terminal, so that the dashboard can end.

    The thread of `LinuxDriver` that writes ends with an error when the terminal is closed. Whoever writes afterwards
    waits for it for ever, once its queue is full. The thread that reads would read the end of a terminal that is gone
    again and again, and leave little time to the others.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._file: Any = LastingFile(self._file, self._end_reading)
        self._sent = 0
        # In the loop: a signal may come while the driver begins or ends something for another one.
        self._loop.add_signal_handler(signal.SIGTSTP, self._sigtstp_application)
        self._loop.add_signal_handler(signal.SIGCONT, self._sigcont_application)

    def _end_reading(self) -> None:
        poll = select.poll()
        poll.register(self.fileno, 0)
        if any(event & select.POLLHUP for _, event in poll.poll(0)):  # else only what is drawn is lost: a full disk
            self.exit_event.set()

    def _sigcont_application(self, *_: Any) -> None:
        """Take the terminal again, also after a SIGSTOP and for a SIGCONT that nothing came before.

        A second thread that reads keys would keep the first from ending, and with it the dashboard.
        """
        if self._auto_restart and self._key_thread is not None and self._key_thread.is_alive():
            self.suspend_application_mode()
            self._must_signal_resume = True
        if self._must_signal_resume:
            super()._sigcont_application()

    def send_message(self, message: Message) -> None:
        """Send a message to the app. After every thousand, wait until the app has obeyed most of them.

        The app hears a signal after all messages that wait. But a pause after each one would draw the dashboard for
        each letter of a text that comes as keys.
        """
        asyncio.run_coroutine_threadsafe(self._app._post_message(message), self._loop)
        self._sent += 1
        if self._sent % MOST_WAITING == 0:
            sent = asyncio.run_coroutine_threadsafe(self._wait_while_many_wait(), self._loop)
            while not (self.exit_event.is_set() or sent.done()):
                wait([sent], _SECONDS_BETWEEN_LOOKS)

    async def _wait_while_many_wait(self) -> None:
        while self._has_many_waiting():
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)

    def _has_many_waiting(self) -> bool:
        shown = self._app.screen_stack[-1:]
        pumps = (self._app, *shown, *(screen.focused for screen in shown))
        return any(pump.message_queue_size > MOST_WAITING for pump in pumps if pump is not None)

    def run_input_thread(self) -> None:
        """Hand on what is typed. Bytes that are no UTF-8 are dropped, with those that were read along with them."""
        while True:
            try:
                super().run_input_thread()
            except UnicodeDecodeError:
                continue
            return


def lasting(driver: type[Driver]) -> type[Driver]:
    """Return the driver that outlives its terminal instead of Textual's own for a terminal."""
    return LastingDriver if driver is LinuxDriver else driver
