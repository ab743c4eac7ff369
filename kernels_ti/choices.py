"""The choices of a search by name, and what decides between its methods. Importing this module is cheap."""

from __future__ import annotations

from typing import Literal, get_args

Arch = Literal["auto", "cpu", "cuda", "vulkan", "reference"]
"""Where a search runs; ``auto`` is CUDA if it is available and the search is large enough, else the CPU."""

Method = Literal["search", "boundary", "auto"]
"""How cycles are counted: the search visits each one, the boundary method counts without listing, and ``auto`` takes
what is estimated to be faster."""

Expansion = Literal["two-ended", "paper"]  # How a path grows, see `Options`
Parity = Literal["odd", "even"]  # Whether cycles have an odd or an even number of vertices

ARCHES: tuple[Arch, ...] = get_args(Arch)
EXPANSIONS: tuple[Expansion, ...] = get_args(Expansion)
METHODS: tuple[Method, ...] = get_args(Method)
PARITIES: tuple[Parity, ...] = get_args(Parity)
PARTICIPATIONS = ("none", "vertices", "edges")

SHORT_SEARCH = 1.0  # Seconds of a search that is made without asking for the other method
TIMES_FASTER = 10.0  # How much faster than a search the boundary method must be, to be chosen
LONGEST_COUNT = 86400.0  # Seconds of the longest count along a boundary that is chosen

COST_OF_LENGTHS = 4
"""How much longer a count by length takes than the total alone, which is what a plan estimates."""
