"""Bytes that a terminal may send, and that are no text."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
import threading
import time

import pytest
from chordless.commands.lasting_terminal import LastingDriver
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
