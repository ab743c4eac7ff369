"""Draw the charts of `assets/docs/measurements.md` and the figure of the paper: ``python assets/charts.py``.

They show what the files of `assets/bench` hold. Needs the extra plot.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BENCH = HERE / "bench"
Series = dict[str, dict[str, float]]
"""For each name in the legend the seconds of each graph or command."""

_OURS, _BOUNDARY, _OTHERS = "#1f77b4", "#2ca02c", "#7f7f7f"
_MARKS = {
    "chordless, 1 thread": ("o", _OURS),
    "chordless, 2 threads": ("s", _OURS),
    "chordless, cuda": ("^", _OURS),
    "chordless, boundary": ("D", _BOUNDARY),
    "C++ two-ended": ("v", _OTHERS),
    "C++ the paper": ("x", "#d62728"),
    "nauty-countg": ("+", "#9467bd"),
    "T_par-total": ("o", _OURS),
    "T_par-proc": ("^", _OURS),
    "the paper's T_par-total": ("o", _OTHERS),
    "the paper's T_par-proc": ("^", _OTHERS),
    "cold": ("s", _OTHERS),
    "warm": ("o", _OURS),
    "seconds": ("o", _OURS),
}


def read(name: str) -> dict[str, Any]:
    """Return what a file of `assets/bench` holds."""
    found: dict[str, Any] = json.loads((BENCH / f"{name}.json").read_text(encoding="utf-8"))
    return found


def machine_and_date(report: Mapping[str, Any]) -> str:
    """Return on what machine a measurement was made, and when."""
    machine = report["machine"]
    return f"{machine['device']}, {machine['cores']} cores, {report['date'][:10]}"


def medians(rows: Sequence[Mapping[str, Any]], key: str, inside: str) -> Series:
    """Return the median of each series of each row."""
    found: Series = {}
    for row in rows:
        for each in row[inside]:
            if each["median"] is not None:
                found.setdefault(each["name"], {})[row[key].rpartition("/")[2].removesuffix(".txt")] = each["median"]
    return found


def peers() -> Series:
    """Return the seconds of each program on each graph."""
    found = medians(read("peers-cpu")["rows"], "graph", "programs")
    found["chordless, cuda"] = medians(read("peers-cuda-h200")["rows"], "graph", "programs")["chordless, cuda"]
    return found


def table1() -> Series:
    """Return the seconds of the paper and ours on its graphs, where it took more than 5 ms."""
    rows = [row for row in read("table1-cuda-h200")["rows"] if row["here"] and row["paper"]["t_par_total_ms"] > 5]
    ours = medians([{"name": row["name"], "times": row["here"]["times"]} for row in rows], "name", "times")
    theirs = {
        f"the paper's T_par-{name}": {row["name"]: row["paper"][f"t_par_{name}_ms"] / 1000 for row in rows}
        for name in ("total", "proc")
    }
    return {name: ours[name] for name in ("T_par-total", "T_par-proc")} | theirs


def start() -> Series:
    """Return the seconds of whole commands, cold and warm."""
    found = medians([*read("start-cpu")["rows"], *read("start-cuda-h200")["rows"]], "command", "series")
    return {name: found[name] for name in ("cold", "warm")}


def listing() -> Series:
    """Return the seconds of each way to have all cycles."""
    rows = medians(read("listing-cpu")["rows"], "graph", "series")
    return {"seconds": {name: seconds["grid:7x10"] for name, seconds in rows.items()}}


CHARTS = {
    "peers": (peers, ("peers-cpu", "peers-cuda-h200")),
    "table1": (table1, ("table1-cuda-h200",)),
    "start": (start, ("start-cpu", "start-cuda-h200")),
    "listing": (listing, ("listing-cpu",)),
}
"""Each chart: its series, and the files that they come from."""


def draw(series: Series, path: Path, graphs: Sequence[str], below: str = "") -> None:
    """Draw marks over a logarithmic axis of seconds, a line for each graph, and write the picture."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.2, 1.0 + 0.28 * len(graphs)), layout="constrained")
    for name in filter(series.__contains__, _MARKS):
        marker, colour = _MARKS[name]
        drawn = {graph: seconds for graph, seconds in series[name].items() if graph in graphs}
        axes.scatter([*drawn.values()], [*map(graphs.index, drawn)], marker=marker, color=colour, label=name, s=28)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda seconds, _: f"{seconds:g}")
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel(f"seconds\n{below}".rstrip(), fontsize=8)
    axes.set_yticks(range(len(graphs)), graphs, fontsize=8)
    axes.invert_yaxis()
    axes.grid(linewidth=0.4)
    if len(series) > 1:
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.savefig(path, dpi=200, metadata={"Software" if path.suffix == ".png" else "Date": None})
    pyplot.close(figure)


def main() -> None:
    """Write the charts beside the measurements, and the figure beside the paper."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "chordless", "font.family": "sans-serif"})
    for name, (measured, sources) in CHARTS.items():
        series = measured()
        graphs = list(dict.fromkeys(graph for seconds in series.values() for graph in seconds))
        below = "; ".join(machine_and_date(read(source)) for source in sources)
        draw(series, BENCH / f"{name}.svg", graphs, below)
    chosen = ("grid:6x10", "grid:7x10", "grid:8x10", "gnp:60,0.1,1", "gnp:70,0.1,1", "gnp:80,0.1,1")
    draw(peers(), HERE / "paper" / "peers.png", chosen)


if __name__ == "__main__":
    main()
