"""Completions while a graph is typed: recent graphs, examples of specs, files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable

from textual.suggester import Suggester

from chordless.graphs.generators import known_kinds

_MOST_ENTRIES = 2000


class GraphSuggester(Suggester):
    """Completes paths, and with `specs` specs, too; `recent` returns the recent graphs, the newest first."""

    def __init__(self, recent: Callable[[], Iterable[str]] = tuple, *, specs: bool = True) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._recent = recent
        self._completes_graphs = specs
        self._specs = [kind.example for kind in known_kinds()] if specs else []

    async def get_suggestion(self, value: str) -> str | None:
        """Return a known name that begins with `value`, or None."""
        for known in (*self._recent(), *self._specs):
            if known.startswith(value) and known != value:
                return known
        return await asyncio.to_thread(complete_path, value, types_first=not self._completes_graphs)


def complete_path(text: str, *, types_first: bool = False) -> str | None:
    """Return the first path that begins with `text`, or None. A folder gets a slash at its end.

    The types file of a food web lies beside the web and has almost the same name. Such files come last, or first with
    `types_first`.
    """
    folder, start = os.path.split(text)
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:
            found = [
                f"{entry.name}{os.sep * entry.is_dir()}"
                for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)
                if entry.name.startswith(start) and (start or not entry.name.startswith("."))
            ]
    except OSError:
        # There is no such folder.
        return None
    first = min(found, key=lambda name: (name.endswith(".clu") != types_first, name), default=start)
    return None if first == start else os.path.join(folder, first)
