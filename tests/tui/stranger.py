"""Journeys of a stranger through the dashboard in a real terminal, with a picture of each step to look at.

    python -m tui.stranger FOLDER [JOURNEY ...]      # in the folder tests/; needs tmux

For each size of the terminal and each journey FOLDER gets the pictures SIZE-JOURNEY-STEP.svg. A step that does not show
its words within a minute ends its journey; the exit code tells how many journeys ended so.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from rich.console import Console
from rich.text import Text

from tui.journeys import FILES, JOURNEYS, Step

SIZES = ((60, 20), (80, 24), (120, 40), (160, 50))
_SECONDS_FOR_A_STEP, _SECONDS_BETWEEN_LOOKS, _SECONDS_TO_SETTLE = 60.0, 0.1, 0.4


class Terminal:
    """A shell in tmux, with folders of its own for settings and runs."""

    def __init__(self, home: Path, size: tuple[int, int]) -> None:
        self._tmux = ["tmux", "-S", str(home / "tmux"), "-f", os.devnull]
        environment = {name: value for name, value in os.environ.items() if name not in ("TMUX", "NO_COLOR")}
        environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        environment |= {"XDG_CONFIG_HOME": str(home / "config"), "XDG_DATA_HOME": str(home / "data")}
        width, height = map(str, size)
        self._do("new-session", "-d", "-x", width, "-y", height, "env PS1='$ ' sh", env=environment)
        self._do("set", "-g", "status", "off")

    def press(self, *keys: str) -> None:
        """Press keys."""
        self._do("send-keys", *keys)

    def resize(self, size: tuple[int, int]) -> None:
        """Give the terminal another size."""
        width, height = map(str, size)
        self._do("resize-window", "-x", width, "-y", height)

    def kill_engine(self) -> None:
        """Kill what the dashboard has started."""
        shell = psutil.Process(int(self._do("display-message", "-p", "#{pane_pid}")))
        for engine in (child for dashboard in shell.children() for child in dashboard.children()):
            engine.kill()

    def type(self, text: str) -> None:
        """Type a text."""
        self._do("send-keys", "-l", text)

    def screen(self) -> str:
        """Return what is shown, with the escape sequences of its colours."""
        return self._do("capture-pane", "-p", "-e", "-N")

    def close(self) -> None:
        """End the shell and what it has started."""
        self._do("kill-server")

    def _do(self, *arguments: str, **more: dict[str, str]) -> str:
        done = subprocess.run([*self._tmux, *arguments], capture_output=True, text=True, check=True, **more)
        return done.stdout


def picture(screen: str, path: Path) -> None:
    """Write a picture of a screen."""
    width = max(len(line) for line in Text.from_ansi(screen).plain.splitlines())
    console = Console(record=True, width=width, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    console.print(Text.from_ansi(screen), no_wrap=True, overflow="crop")
    console.save_svg(str(path), title=path.stem)


def travel(name: str, size: tuple[int, int], folder: Path) -> bool:
    """Make one journey. Return whether each step has shown its words, and none that it must not show."""
    with tempfile.TemporaryDirectory(prefix="stranger") as home:
        for file, text in FILES.items():
            Path(home, file).write_text(text)
        terminal = Terminal(Path(home), size)
        try:
            terminal.type(
                f"cd {shlex.quote(home)}; alias chordless={shlex.quote(f'{sys.executable} -m chordless')}; clear"
            )
            terminal.press("Enter")
            # What is typed before would be cleared.
            while _plain(terminal) != "$":
                time.sleep(_SECONDS_BETWEEN_LOOKS)
            for number, step in enumerate(JOURNEYS[name], 1):
                if step.keys:
                    terminal.press(*step.keys)
                if step.text:
                    terminal.type(step.text)
                if step.shell:
                    terminal.press("Enter")
                if step.size is not None:
                    terminal.resize(step.size)
                if step.kills:
                    terminal.kill_engine()
                fault = _fault(terminal, step)
                path = folder / f"{size[0]}x{size[1]}-{name}-{number:02}-{step.name}.svg"
                picture(terminal.screen(), path)
                if fault:
                    print(f"{path}: {fault}")
                    return False
        finally:
            terminal.close()
    return True


def _fault(terminal: Terminal, step: Step) -> str:
    """Wait for the words of a step. Return what is missing, or too much; "" if nothing is."""
    deadline = time.monotonic() + _SECONDS_FOR_A_STEP
    while lacking := [word for word in step.shows if word not in _plain(terminal)]:
        if time.monotonic() > deadline:
            return f"{' and '.join(map(repr, lacking))} did not come"
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    time.sleep(_SECONDS_TO_SETTLE)
    hidden = [word for word in step.hides if word in _plain(terminal)]
    return f"{' and '.join(map(repr, hidden))} should be gone" if hidden else ""


def _plain(terminal: Terminal) -> str:
    """Return what is shown, its lines joined by blanks: a sentence may go on in the next line."""
    return " ".join(Text.from_ansi(terminal.screen()).plain.split())


def main(arguments: list[str]) -> int:
    """Make the journeys, at each size."""
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    names = arguments[1:] or list(JOURNEYS)
    return sum(not travel(name, size, folder) for size in SIZES for name in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
