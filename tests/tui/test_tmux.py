"""The dashboard in a real terminal, which is the user's again afterwards whatever happened."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest
from patience import PATIENCE
from program import SOURCE_PATH

CHORDLESS = f"{shlex.quote(sys.executable)} -m chordless"
BROKEN = (
    "import sys; from chordless.cli import main; from chordless.tui.app import ChordlessApp; "
    "ChordlessApp.action_show = lambda self, name: 1 / 0; sys.exit(main([]))"
)


class Terminal:
    """A shell in tmux."""

    def __init__(self, folder):
        self._tmux = ["tmux", "-S", str(folder / "tmux"), "-f", os.devnull]
        environment = {**os.environ, "PYTHONPATH": SOURCE_PATH, "TERM": "xterm-256color"}
        environment = {name: value for name, value in environment.items() if name not in ("TMUX", "NO_COLOR")}
        self._do("new-session", "-d", "-x", "100", "-y", "30", "env PS1='$ ' sh", env=environment)

    def press(self, *keys):
        self._do("send-keys", *keys)

    def type(self, text):
        self._do("send-keys", "-l", text)

    def screen(self):
        return self._do("capture-pane", "-p")

    def wait_for(self, *words):
        deadline = time.monotonic() + PATIENCE
        while not all(word in self.screen() for word in words):
            assert time.monotonic() < deadline, self.screen()
            time.sleep(0.1)

    def child(self):
        """Return the process id of what the shell has started."""
        shell = psutil.Process(int(self._do("display-message", "-p", "#{pane_pid}")))
        return shell.children()[0].pid

    def close(self):
        self._do("kill-server")

    def _do(self, *arguments, **more):
        done = subprocess.run(
            [*self._tmux, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=True, **more
        )
        return done.stdout


@pytest.fixture
def terminal(tmp_path):
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    terminal = Terminal(tmp_path)
    try:
        yield terminal
    finally:
        terminal.close()


def is_restored(terminal):
    """Say whether what is typed is seen, a line at a time, and on the screen that was there before."""
    terminal.type("clear; stty -a | tr ' ;' '\\n\\n' | grep -xE -- '-?(echo|icanon|isig)' | xargs echo is:")
    terminal.press("Enter")
    terminal.wait_for("is: isig icanon echo")
    return True


@pytest.mark.slow
def test_a_newcomer_counts_the_cycles_of_a_grid(terminal):
    terminal.type(f"{CHORDLESS}; echo code $?")
    terminal.press("Enter")
    terminal.wait_for("A chordless cycle", "70 vertices")
    terminal.press("C-a", "C-k")
    # A key that is bound to something is obeyed later than a letter: what is typed at once would be deleted.
    terminal.wait_for("type a graph")
    terminal.type("grid:6x10")
    terminal.wait_for("60 vertices")
    terminal.press("C-r")
    terminal.wait_for("800,139", "complete")
    terminal.press("F1")
    terminal.wait_for("level by level as in the")
    terminal.press("C-q")
    terminal.wait_for("code 0")
    assert is_restored(terminal)


def test_an_error_in_the_dashboard_gives_the_terminal_back(terminal):
    terminal.type(f"{shlex.quote(sys.executable)} -c {shlex.quote(BROKEN)}; echo code $?")
    terminal.press("Enter")
    terminal.wait_for("A chordless cycle", "Start")
    terminal.press("M-4")
    terminal.wait_for("ZeroDivisionError: division by zero", "The dashboard has failed", "code 1")
    assert len(terminal.screen().strip().splitlines()) < 20
    assert is_restored(terminal)


def test_a_signal_gives_the_terminal_back(terminal):
    terminal.type(f"{CHORDLESS} tui cycle:5; echo code $?")
    terminal.press("Enter")
    terminal.wait_for("A chordless cycle", "cycle:5")
    os.kill(terminal.child(), signal.SIGTERM)
    terminal.wait_for("code 143")
    assert is_restored(terminal)


def test_it_goes_on_after_a_suspension_and_after_a_signal_to_go_on_that_nothing_came_before(terminal):
    """A shell sends such a signal, and so does the system as it tells that the terminal is gone."""
    terminal.type(f"{CHORDLESS} tui cycle:5; echo code $?")
    terminal.press("Enter")
    terminal.wait_for("A chordless cycle", "cycle:5")
    dashboard = terminal.child()
    terminal.press("C-z")
    terminal.wait_for("code 1")
    terminal.type("fg; echo left with $?")
    terminal.press("Enter")
    terminal.wait_for("A chordless cycle", "cycle:5")
    os.kill(dashboard, signal.SIGCONT)
    terminal.press("C-q")
    terminal.wait_for("left with 0")
    assert is_restored(terminal)
