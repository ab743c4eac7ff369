"""Draw the figure of the paper from the measurements in `assets/bench`: ``python assets/paper/figures.py``.

Needs the extra plot.
"""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent
BENCH = HERE.parent / "bench"
_SOURCES = ("peers-cpu.json", "peers-cuda-h200.json")
_GRAPHS = ("grid:6x10", "grid:7x10", "grid:8x10", "gnp:60,0.1,1", "gnp:70,0.1,1", "gnp:80,0.1,1")
_MARKS = {
    "chordless, 1 thread": ("o", "#1f77b4"),
    "chordless, 2 threads": ("s", "#1f77b4"),
    "chordless, cuda": ("^", "#1f77b4"),
    "chordless, boundary": ("D", "#2ca02c"),
    "C++ two-ended": ("v", "#7f7f7f"),
    "C++ the paper": ("x", "#d62728"),
    "nauty-countg": ("+", "#9467bd"),
}


def measured() -> dict[str, dict[str, float]]:
    """Return the median of each program on each graph, in seconds."""
    found: dict[str, dict[str, float]] = {}
    for source in _SOURCES:
        report = json.loads((BENCH / source).read_text(encoding="utf-8"))
        arch = report["machine"]["arch"]
        for row in report["rows"]:
            for program in row["programs"]:
                if program["median"] is not None:
                    name = f"chordless, {arch}" if program["name"] == "chordless" else program["name"]
                    found.setdefault(name, {})[row["graph"]] = program["median"]
    return found


def main() -> None:
    """Write the picture beside the paper."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    medians = measured()
    figure, axes = pyplot.subplots(figsize=(6.4, 3.2), layout="constrained")
    for name, (marker, colour) in _MARKS.items():
        points = [(_GRAPHS.index(graph), seconds) for graph, seconds in medians[name].items() if graph in _GRAPHS]
        axes.scatter(*zip(*points, strict=True), marker=marker, color=colour, label=name, s=28)
    axes.set_yscale("log")
    axes.set_ylabel("seconds")
    axes.set_xticks(range(len(_GRAPHS)), _GRAPHS, fontsize=8)
    axes.grid(axis="y", linewidth=0.4)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.savefig(HERE / "peers.png", dpi=200, metadata={"Software": None})


if __name__ == "__main__":
    main()
