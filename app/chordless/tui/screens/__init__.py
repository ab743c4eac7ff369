"""One module for each screen, and one for each kind of question. A screen is imported when it is first shown."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from textual.screen import Screen


def _screen(name: str) -> Callable[[], Screen[Any]]:
    """Return a function that imports a screen and makes it."""

    def make() -> Screen[Any]:
        module = import_module(f"chordless.tui.screens.{name}")
        screen: Screen[Any] = getattr(module, f"{name.title()}Screen")()
        return screen

    return make


SCREENS = {name: _screen(name) for name in ("new", "run", "cycles", "runs", "compare", "batch", "help", "settings")}
"""The screens by name, each with the function that makes it."""
