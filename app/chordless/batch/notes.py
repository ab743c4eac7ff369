"""What the readers of many graphs have to tell."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kernels_ti.errors import quantity

_LINE_NUMBER = re.compile(r":[0-9]+(?=: )")


@dataclass
class Notes:
    """Collects the notes of the readers of many graphs, such as weights that are left out: a line for each kind."""

    _first: dict[str, str] = field(default_factory=dict)  # The first note of each kind
    _graphs: dict[str, set[str]] = field(default_factory=dict)  # The titles of the graphs with a note of each kind

    def take(self, title: str, note: str) -> None:
        """Take a note, ``TITLE: what: more`` or ``TITLE:LINE: what: more``; equal texts `what` are one kind."""
        message = _LINE_NUMBER.sub("", note.removeprefix(title), count=1).removeprefix(": ")
        kind = message.partition(": ")[0]
        self._first.setdefault(kind, note)
        self._graphs.setdefault(kind, set()).add(title)

    def lines(self) -> list[str]:
        """Return the first note of each kind, with the number of other graphs that have one."""
        others = {kind: len(graphs) - 1 for kind, graphs in self._graphs.items()}
        return [
            f"{note} (and so in {quantity(others[kind], 'other graph')})" if others[kind] else note
            for kind, note in self._first.items()
        ]
