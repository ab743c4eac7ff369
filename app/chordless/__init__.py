"""Every chordless (induced) cycle of a graph, on CPU, CUDA or Vulkan.

`import chordless` offers the names of the compute library `kernels_ti`, `load_graph` and `generate` for files and
specs, and `overlap_graph` and `interval_order` for food webs. Each is loaded when it is first used. ``python -m
chordless`` is the command; its rooms are the packages in here, none of which imports taichi itself.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # The program is not ready for Ctrl-C before `typing` is loaded.
if TYPE_CHECKING:
    from typing import Any

    import kernels_ti
    from chordless.graphs.generators import generate
    from chordless.graphs.interval import interval_order
    from chordless.graphs.public import load_graph, overlap_graph
    from kernels_ti import *  # noqa: F403

    __all__ = ["generate", "interval_order", "load_graph", "overlap_graph"]
    __all__ += kernels_ti.__all__

_OWN = {
    "generate": "chordless.graphs.generators",
    "interval_order": "chordless.graphs.interval",
    "load_graph": "chordless.graphs.public",
    "overlap_graph": "chordless.graphs.public",
}


def __getattr__(name: str) -> Any:
    offered = [*_OWN, *import_module("kernels_ti").__all__]
    if name == "__all__":
        return offered
    if name not in offered:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_OWN.get(name, "kernels_ti")), name)


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))
