"""What the readers of many files have to tell, such as weights that are left out: one line for each kind of note."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kernels_ti.errors import quantity

_LINE_NUMBER = re.compile(r":[0-9]+(?=: )")


@dataclass
class Notes:
    """Collects the notes of many files.

    Attributes
    ----------
    _first : dict of str to str
        The first note of each kind.
    _files : dict of str to set of str
        The files with a note of each kind.
    """

    _first: dict[str, str] = field(default_factory=dict)
    _files: dict[str, set[str]] = field(default_factory=dict)

    def take(self, file: str, note: str) -> None:
        """Take a note, ``FILE: what: more`` or ``FILE:LINE: what: more``; equal texts `what` are one kind."""
        message = _LINE_NUMBER.sub("", note.removeprefix(file), count=1).removeprefix(": ")
        kind = message.partition(": ")[0]
        self._first.setdefault(kind, note)
        self._files.setdefault(kind, set()).add(file)

    def lines(self) -> list[str]:
        """Return the first note of each kind, with the number of other files that have one."""
        return [f"{note}{_and_others(len(self._files[kind]) - 1)}" for kind, note in self._first.items()]


def _and_others(count: int) -> str:
    return f" (and so in {quantity(count, 'other file')})" if count else ""
