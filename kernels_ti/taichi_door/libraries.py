"""The library below: Taichi or its fork, which of them is taken, and what differs between them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from kernels_ti.errors import DeviceError

CHOICE = "CHORDLESS_TAICHI"
"""The environment variable that chooses the library below where both are installed."""


@dataclass(frozen=True)
class Library:
    """The differences between Taichi and its fork."""

    package: str  # The name under which it is installed and imported
    title: str  # Its name for people
    versions: tuple[str, ...]  # Beginnings of the versions whose private names are known
    variables: str  # Beginning of the names of its environment variables
    program: str  # The attribute of its runtime that is None unless the runtime is started
    # `cache` and `lock`: its folder of compiled kernels below ``XDG_CACHE_HOME``, and its lock on them in that folder.
    cache: str
    lock: str
    fence: str  # Its function in ``simt.grid`` that orders the writes of a work item before its later ones
    has_graphs: bool  # Whether several launches can be compiled to one

    @property
    def version(self) -> str:
        """The version that is installed; it is not imported."""
        from importlib.metadata import version  # which takes a hundredth of a second to import

        return version(self.package)

    def variable(self, name: str) -> str:
        """Return the full name of one of its environment variables."""
        return f"{self.variables}_{name}"


LIBRARIES = (
    Library("taichi", "Taichi", ("1.7.4",), "TI", "prog", "taichi/ticache", "ticache.lock", "memfence", True),
    Library(
        "quadrants",
        "Quadrants",
        ("1.3.", "1.4."),
        "QD",
        "_prog",
        "quadrants/qdcache",
        "kernel_compilation_manager/qdcache.lock",
        "mem_fence",
        False,
    ),
)
"""By preference: the first that is installed is taken, unless `CHOICE` names another."""


@cache
def library() -> Library:
    """Return the library below; it is not imported. A DeviceError says that it is not installed."""
    chosen = os.environ.get(CHOICE, "")
    packages = [each.package for each in LIBRARIES]
    if chosen and chosen not in packages:
        raise DeviceError(f"{CHOICE} is {' or '.join(packages)}, not {chosen!r}")
    for each in LIBRARIES:
        if chosen in ("", each.package) and find_spec(each.package) is not None:
            return each
    raise DeviceError(
        f"{chosen or ' or '.join(packages)} is not installed: install it with pip, or choose the arch reference"
    )


def others() -> list[Library]:
    """Return the libraries that are installed beside the one below."""
    return [each for each in LIBRARIES if each is not library() and find_spec(each.package) is not None]
