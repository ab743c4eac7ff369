"""One module for each screen, and one for each kind of question. A screen is imported when it is first shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from textual.screen import Screen


def _make(name: str) -> Screen[Any]:
    module = import_module(f"chordless.tui.screens.{name}")
    screen: Screen[Any] = getattr(module, f"{name.title()}Screen")()
    return screen


_NAMES = ("new", "run", "cycles", "runs", "compare", "batch", "help", "settings")
SCREENS: dict[str, Callable[[], Screen[Any]]] = {name: partial(_make, name) for name in _NAMES}
"""The screens by name, each with the function that makes it."""
