"""Where the time of one search went on more and more workers of a cluster: the picture of ``bench scale``."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chordless.pictures.style import NO_TITLE_HEIGHT, PALETTE, RUN_COLOURS, add_axes, new_figure, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _BAR_HEIGHT, _AROUND = 7.0, 0.34, 1.45
_PARTS = ("start", "device", "kernels", "search", "transfer", "idle", "end")
_LONGEST_LABEL = 24


def scale_chart(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the parts of the time as a bar for each graph and number of workers; see `chordless.bench.scale`."""
    bars = [
        (f"{shortened(row['graph'], _LONGEST_LABEL)}, {each['workers']}", parts_of(each["runs"]))
        for row in rows
        for each in row["workers"]
        if each["runs"]
    ]
    figure = new_figure(_WIDTH, _AROUND + _BAR_HEIGHT * max(len(bars), 1))
    (axes,) = add_axes(figure, above=NO_TITLE_HEIGHT + 0.3)
    figure.subplots_adjust(left=0.26)
    places = [len(bars) - number for number in range(len(bars))]
    ends = [0.0] * len(bars)
    colours = (PALETTE.muted, *RUN_COLOURS[: len(_PARTS) - 2], PALETTE.grid)
    for part, colour in zip(_PARTS, colours, strict=True):
        widths = [parts[part] for _, parts in bars]
        axes.barh(places, widths, left=ends, height=0.7, color=colour, label=part)
        ends = [end + width for end, width in zip(ends, widths, strict=True)]
    axes.set_yticks(places, [label for label, _ in bars])
    axes.set_xlabel("seconds; after each graph its number of workers")
    axes.grid(visible=True, axis="x")
    axes.grid(visible=False, axis="y")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.3, 1.0), ncols=len(_PARTS), columnspacing=1.0, handlelength=1.2)
    return figure


def parts_of(runs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the seconds of each part of the time, the medians of some runs."""
    named = ("search", "setup", "device", "kernels", "other")
    median = {name: statistics.median(run[name] for run in runs) for name in named}
    shares = {name: statistics.median(run[name] for run in runs) for name in ("busy", "transfer", "idle")}
    return {
        "start": max(median["setup"] - median["device"] - median["kernels"], 0.0),
        "device": median["device"],
        "kernels": median["kernels"],
        "search": median["search"] * shares["busy"],
        "transfer": median["search"] * shares["transfer"],
        "idle": median["search"] * shares["idle"],
        "end": median["other"],
    }
