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
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

SIZES = ((60, 20), (80, 24), (120, 40), (160, 50))
_SECONDS_FOR_A_STEP, _SECONDS_BETWEEN_LOOKS, _SECONDS_TO_SETTLE = 60.0, 0.1, 0.4


@dataclass(frozen=True)
class Step:
    """Keys as tmux names them, text that is typed after them, and words that the screen then shows."""

    name: str
    keys: tuple[str, ...] = ()
    text: str = ""
    shows: tuple[str, ...] = ()


_START = Step("start", shows=("New", "Start"))
JOURNEYS = {
    "tabs": (
        _START,
        Step("run", ("M-2",), shows=("No run is shown",)),
        Step("cycles", ("3",), shows=("No cycles to browse",)),
        Step("runs", ("4",), shows=("There are no runs yet",)),
        Step("batch", ("5",), shows=("Graphs",)),
        Step("help", ("?",), shows=("Go to the field",)),
        Step("end-of-help", ("G",), shows=("batch.open",)),
        Step("closed", ("q",), shows=("Graphs",)),
    ),
    "count": (
        _START,
        Step("typed", ("C-u",), "grid:6x10", ("60 vertices",)),
        Step("run", ("C-r",), shows=("800,139", "complete")),
        Step("cycles", ("3",), shows=("800,139",)),
        Step("runs", ("4",), shows=("grid:6x10",)),
    ),
    "leave": (
        _START,
        Step("typed", ("C-u",), "grid:12x12", ("144 vertices",)),
        Step("run", ("C-r",), shows=("running", "Pause")),
        Step("frozen", ("f",), shows=("FROZEN",)),
        Step("wave", ("B",), shows=("breadth first?",)),
        Step("stay", ("q",), shows=("FROZEN",)),
        Step("leave", ("q",), shows=("still being searched", "Stay")),
        Step("stopped", ("Up", "Enter"), shows=("$",)),
    ),
    "triangle": (
        _START,
        Step("typed", ("C-u",), "complete:3", ("3 vertices",)),
        Step("run", ("C-r",), shows=("✔ complete",)),
        Step("cycles", ("3",), shows=("1 cycle",)),
    ),
    "other-way": (
        _START,
        Step("typed", ("C-u",), "grid:9x10", ("f2", "boundary.")),
        Step("other", ("F2",), shows=("f2", "search.")),
        Step("run", ("C-r",), shows=("complete", "668,179,142")),
    ),
    "list": (
        _START,
        Step("typed", ("C-u",), "petersen", ("10 vertices",)),
        Step("run", ("C-r",), shows=("✔ complete",)),
        Step("offer", ("3",), shows=("List the cycles",)),
        Step("listed", ("Enter",), shows=("as found",)),
        Step("longest", ("o",), shows=("longest first",)),
        Step("filter", ("/",), shows=("Filter",)),
        Step("closed", ("Escape",), shows=("longest first",)),
    ),
    "compare": (
        _START,
        Step("first", ("C-u",), "grid:4x4", ("16 vertices",)),
        Step("first-run", ("C-r",), shows=("✔ complete",)),
        Step("new", ("1", ":", "C-u"), "grid:4x5", ("20 vertices",)),
        Step("second-run", ("C-r",), shows=("✔ complete", "grid:4x5")),
        Step("runs", ("4",), shows=("grid:4x4", "grid:4x5")),
        Step("marked", ("m",), shows=("◆ grid:4x5",)),
        Step("compared", ("j", "m"), shows=("paths T",)),
        Step("back", ("q",), shows=("grid:4x4", "State")),
    ),
    "wave": (
        _START,
        Step("typed", ("C-u",), "grid:6x10", ("60 vertices",)),
        Step("run", ("F4",), shows=("800,139", "complete", "No path waits")),
        Step("replay", ("Space",), shows=("REPLAY",)),
        Step("paused", ("Space",), shows=("REPLAY, paused",)),
        Step("forward", ("Right", "Right", "Right"), shows=("REPLAY, paused", "paths wait")),
    ),
    "boundary": (
        _START,
        Step("typed", ("C-u",), "grid:12x12", ("f2", "search.")),
        Step("run", ("C-r",), shows=("complete", "421,587,920,205,546")),
        Step("by-step", ("b",), shows=("states held",)),
        Step("linear", ("l",), shows=("linear scale",)),
    ),
    "resume": (
        _START,
        Step("typed", ("C-u",), "gnp:100,0.2,3", ("100 vertices",)),
        Step("run", ("C-r",), shows=("running", "Pause")),
        Step("paused", ("Space",), shows=("paused", "Go on")),
        Step("stopped", ("s",), shows=("stopped", "Press r to resume")),
        Step("runs", ("4",), shows=("gnp:100,0.2,3", "It can be resumed")),
        Step("resumed", ("r",), shows=("running", "Pause")),
        Step("at-work", ("4", "d"), shows=("at work",)),
        Step("asked", ("C-q",), shows=("still being searched",)),
        Step("left", ("Up", "Enter"), shows=("$",)),
    ),
    "mistake": (
        _START,
        Step("typed", ("C-u",), "grod:3x3", ("did you mean grid?",)),
        Step("no-start", ("C-r",), shows=("did you mean grid?", "Start")),
        Step("mended", ("C-u",), "grid:3x3", ("9 vertices",)),
    ),
    "heat": (
        _START,
        Step("typed", ("C-u",), "petersen", ("10 vertices",)),
        Step("run", ("C-r",), shows=("✔ complete",)),
        Step("offer", ("3",), shows=("List the cycles",)),
        Step("listed", ("Enter",), shows=("22 cycles", "•")),
        Step("heat", ("h",), shows=("cycles: ", "%")),
        Step("ring", ("h", "a"), shows=("as found",)),
    ),
    "delete": (
        _START,
        Step("typed", ("C-u",), "grid:3x3", ("9 vertices",)),
        Step("run", ("C-r",), shows=("✔ complete",)),
        Step("runs", ("4",), shows=("grid:3x3", "Found")),
        Step("asked", ("d",), shows=("Delete",)),
        Step("kept", ("n",), shows=("grid:3x3", "Open")),
        Step("deleted", ("d", "y"), shows=("There are no runs yet",)),
    ),
    "settings": (
        _START,
        Step("settings", ("F3",), shows=("Theme", "Keys: Enter changes one")),
        Step("light", ("k", "Enter"), shows=("solarized-light",)),
        Step("closed", ("q",), shows=("New", "Start")),
    ),
    "palette": (
        _START,
        Step("palette", ("C-p",), shows=("Search for commands",)),
        Step("found", (), "folder of runs", ("Settings",)),
        Step("settings", ("Enter",), shows=("Keys: Enter changes one",)),
    ),
    "batch": (
        _START,
        Step("empty", ("M-5",), shows=("Graphs",)),
        Step("typed", (":",), "grid:3x3 grid:3x4", ("2 inputs",)),
        Step("done", ("C-r",), shows=("complete",)),
    ),
}
"""The journeys by name."""


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

    def type(self, text: str) -> None:
        """Type a text."""
        self._do("send-keys", "-l", text)

    def screen(self) -> str:
        """Return what is shown, with the escape sequences of its colours."""
        return self._do("capture-pane", "-p", "-e")

    def close(self) -> None:
        """End the shell and what it has started."""
        self._do("kill-server")

    def _do(self, *arguments: str, **more: dict[str, str]) -> str:
        done = subprocess.run([*self._tmux, *arguments], capture_output=True, text=True, check=True, **more)
        return done.stdout


def picture(screen: str, width: int, path: Path) -> None:
    """Write a picture of a screen."""
    console = Console(record=True, width=width, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    console.print(Text.from_ansi(screen), no_wrap=True, overflow="crop")
    console.save_svg(str(path), title=path.stem)


def travel(name: str, size: tuple[int, int], folder: Path) -> bool:
    """Make one journey. Return whether each step has shown its words."""
    with tempfile.TemporaryDirectory(prefix="stranger") as home:
        terminal = Terminal(Path(home), size)
        try:
            terminal.type(f"cd {shlex.quote(home)}; clear; {shlex.quote(sys.executable)} -m chordless")
            terminal.press("Enter")
            for number, step in enumerate(JOURNEYS[name], 1):
                if step.keys:
                    terminal.press(*step.keys)
                if step.text:
                    terminal.type(step.text)
                is_shown = _wait_for(terminal, step.shows)
                path = folder / f"{size[0]}x{size[1]}-{name}-{number:02}-{step.name}.svg"
                picture(terminal.screen(), size[0], path)
                if not is_shown:
                    print(f"{path}: {' and '.join(map(repr, step.shows))} did not come")
                    return False
        finally:
            terminal.close()
    return True


def _wait_for(terminal: Terminal, words: tuple[str, ...]) -> bool:
    deadline = time.monotonic() + _SECONDS_FOR_A_STEP
    while not all(word in Text.from_ansi(terminal.screen()).plain for word in words):
        if time.monotonic() > deadline:
            return False
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    time.sleep(_SECONDS_TO_SETTLE)
    return True


def main(arguments: list[str]) -> int:
    """Make the journeys, at each size."""
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    names = arguments[1:] or list(JOURNEYS)
    return sum(not travel(name, size, folder) for size in SIZES for name in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
