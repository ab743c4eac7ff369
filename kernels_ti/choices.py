"""The choices that a search offers, by name. Importing this module is cheap: each command line needs it."""

from __future__ import annotations

from typing import Literal, get_args

Arch = Literal["auto", "cpu", "cuda", "vulkan", "reference"]
"""Where a search runs; ``auto`` is CUDA if it is available and the search is large enough, else the CPU."""

Method = Literal["search", "boundary", "auto"]
"""How cycles are counted: the search visits each one, the boundary method counts without listing, and ``auto`` takes
what is estimated to be faster."""

Expansion = Literal["two-ended", "paper"]
"""How a path grows, see `Options`."""

Parity = Literal["odd", "even"]
"""Whether cycles have an odd or an even number of vertices."""

ARCHES: tuple[Arch, ...] = get_args(Arch)
EXPANSIONS: tuple[Expansion, ...] = get_args(Expansion)
METHODS: tuple[Method, ...] = get_args(Method)
PARITIES: tuple[Parity, ...] = get_args(Parity)
PARTICIPATIONS = ("none", "vertices", "edges")
