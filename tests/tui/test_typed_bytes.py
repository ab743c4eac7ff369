"""Bytes that a terminal may send, and that are no text."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import struct
import termios
import threading
import time
from collections import deque
from types import SimpleNamespace

import pytest
from chordless.commands.lasting_terminal import MOST_WAITING, LastingDriver, LastingFile
from patience import PATIENCE
from textual.events import Key


def unread(descriptor):
    """Return how many bytes wait in a pipe."""
    return struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4))[0]


@pytest.mark.parametrize("typed", [b"\xff\xfe", b"caf\xe9 au lait", b"\xc3("])
def test_bytes_that_are_no_utf_8_do_not_end_the_dashboard(typed):
    keys, pressed = [], threading.Event()

    def take(message):
        if isinstance(message, Key):
            keys.append(message.key)
            pressed.set()

    terminal, keyboard = os.pipe()
    driver = object.__new__(LastingDriver)
    driver.fileno, driver.exit_event, driver._debug, driver.process_message = terminal, threading.Event(), False, take
    thread = threading.Thread(target=driver.run_input_thread, daemon=True)
    thread.start()
    try:
        os.write(keyboard, typed)
        deadline = time.monotonic() + PATIENCE
        while unread(terminal):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.write(keyboard, b"q")
        while not pressed.wait(0.05):
            assert thread.is_alive()
            assert time.monotonic() < deadline
        assert keys == ["q"]
    finally:
        driver.exit_event.set()
        thread.join(PATIENCE)
        os.close(terminal)
        os.close(keyboard)
    assert not thread.is_alive()


def driver_of(waiting):
    """A driver without a terminal, whose messages wait in this queue."""

    class App:
        screen_stack = (SimpleNamespace(message_queue_size=0, focused=None),)
        message_queue_size = property(lambda self: len(waiting))

        async def _post_message(self, message):
            waiting.append(message)

    driver = object.__new__(LastingDriver)
    driver.exit_event, driver._app, driver._sent = threading.Event(), App(), 0
    return driver


def test_the_thread_that_reads_waits_while_many_keys_wait_and_ends_when_it_is_told_to():
    """A signal would be heard after all keys that wait in the dashboard, and a text may be pasted as a million keys."""
    waiting, taken = deque(), []

    def send_all():
        for number in range(10 * MOST_WAITING):
            driver.send_message(number)

    async def take_slowly():
        driver._loop = asyncio.get_running_loop()
        thread.start()
        while len(taken) < 1000:
            await asyncio.sleep(0.2 if len(taken) == 100 else 0)
            assert len(waiting) <= 2 * MOST_WAITING
            if waiting:
                taken.append(waiting.popleft())
        driver.exit_event.set()
        await asyncio.to_thread(thread.join, PATIENCE)

    driver, thread = driver_of(waiting), threading.Thread(target=send_all, daemon=True)
    asyncio.run(take_slowly())
    assert taken == list(range(1000))
    assert not thread.is_alive()


def test_a_text_that_comes_as_keys_is_handed_on_without_waiting_for_each_letter():
    waiting = deque()
    driver, letters = driver_of(waiting), range(MOST_WAITING - 1)
    # Nothing is obeyed before the loop runs.
    driver._loop = asyncio.new_event_loop()
    thread = threading.Thread(target=lambda: [driver.send_message(letter) for letter in letters], daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    driver._loop.run_until_complete(asyncio.sleep(0))
    driver._loop.close()
    assert list(waiting) == list(letters)


def test_a_terminal_that_is_gone_is_not_read_again_and_again():
    """What cannot be drawn on a terminal that is there, such as on a full disk, does not keep keys from being read."""
    mine, terminal = pty.openpty()
    driver = driver_of(deque())
    driver.fileno = terminal
    with open("/dev/full", "w") as full:
        file = LastingFile(full, driver._end_reading)
        file.write("a" * 100_000)
        assert not driver.exit_event.is_set()
    os.close(mine)
    with open("/dev/full", "w") as full:
        file = LastingFile(full, driver._end_reading)
        file.write("a" * 100_000)
        assert driver.exit_event.is_set()
    os.close(terminal)
