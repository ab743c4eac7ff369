"""The paper's evolution chart (|T_t| and |C_t| by length t) and the histogram of lengths, for one or several runs.

And where the time of a search went on more and more workers of a cluster: the picture of ``bench scale``.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chordless.pictures import style
from chordless.pictures.recorded_run import RecordedRun
from chordless.values import first_missing
from chordless.words.numbers import short_number, size_text
from kernels_ti import OptionError
from kernels_ti.errors import quantity

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

MOST_RUNS = len(style.RUN_COLOURS)

_PATHS, _FOUND = "{}s $|T_t|$", "chordless {}s $|C_t|$"
_WIDTH, _HEIGHT = 7.0, 4.2
_LEGEND_LINE = 0.24
_BAR_HEIGHT, _AROUND = 0.34, 1.45
_PARTS = ("start", "device", "kernels", "search", "transfer", "idle", "end")
_LONGEST_LABEL = 24
_MARKED_LENGTHS = 60
_LABELLED_BARS = 14
LARGEST_DRAWN = 10**250
"""Above it a count is no number of a chart: a logarithmic axis looks for its ticks far above what it shows."""
TOO_LARGE = "counts beyond 10^250, which no chart holds"


def evolution_chart(runs: Sequence[RecordedRun], *, log: bool = True, titled: bool = True) -> Figure:
    """Draw the numbers of chordless paths and cycles by length, on a logarithmic scale if `log`.

    Both curves of one run share the axes; if `titled`, the graph is the title. Several runs have two axes, paths on the
    left and cycles on the right, or one, where no run looked at paths. Lengths with a count of 0 are left out, on both
    scales. For example, a grid has no chordless cycle of odd length. An OptionError is raised if a run has no counts by
    length, or there are too many runs.
    """
    _check(runs)
    if len(runs) == 1:
        return _one_evolution(runs[0], log=log, titled=titled)
    curves = [[run.state.frontier_by_length for run in runs], [run.state.cycles_by_length for run in runs]]
    # The boundary method has no frontier of paths.
    without = 0 if any(curves[0]) else 1
    figure, many = _figure_of_many(runs, columns=2 - without)
    for axes, what, of_runs in zip(many, _names(runs)[without:], curves[without:], strict=True):
        lines = [
            _curve(axes, counts, style.RUN_COLOURS[i], style.RUN_MARKERS[i], above=i)
            for i, counts in enumerate(of_runs)
        ]
        axes.set_title(what, loc="left", size=10)
        axes.set_xlabel(_length_label(runs))
    _finish(many, log=log)
    many[0].set_ylabel("how many")
    _legend_below(figure, lines, runs)
    return figure


def frontier_chart(run: RecordedRun, *, titled: bool = True) -> Figure:
    """Draw the frontier over time: how many paths waited, and how many paths of each length were looked at when.

    The number of waiting paths is above; below is the heat strip of time and length, on a logarithmic scale of colour.
    The run is a search with at least two reports. If `titled`, the graph is the title.
    """
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import MaxNLocator

    figure, (axes,) = _figure_of_one(run, titled=titled)
    course, paths = run.state.frontier_course, run.state.path_course
    lengths, seconds = paths.lengths, run.state.seconds
    counts = np.array([[piece.get(length, 0) for piece in paths.pieces] for length in lengths], np.float64)
    shown = np.ma.masked_equal(counts, 0)
    edges = np.linspace(0, seconds, len(paths.pieces) + 1)
    mesh = axes.pcolormesh(
        edges, np.arange(lengths.start, lengths.stop + 1) - 0.5, shown, norm=LogNorm(), cmap="viridis", rasterized=True
    )
    axes.set_xlabel("seconds of search")
    axes.set_ylabel("vertices of the path")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    figure.colorbar(mesh, ax=axes, label=f"{run.state.step}s looked at", pad=0.16)
    waiting = axes.twinx()
    # Lines across the strip would look like lengths of which no path was looked at.
    waiting.grid(visible=False)
    times = np.linspace(0, seconds, len(course.pieces))
    waiting.plot(times, course.pieces, color=style.PALETTE.cycles, linewidth=1.6, drawstyle="steps-mid")
    waiting.set_ylabel(f"{run.state.step}s that wait (line)", color=style.PALETTE.cycles)
    waiting.set_ylim(0, max(waiting.get_ylim()[1], 1))
    waiting.yaxis.set_major_locator(MaxNLocator(integer=True))
    waiting.tick_params(axis="y", colors=style.PALETTE.cycles)
    waiting.yaxis.set_major_formatter(lambda value, _: short_number(value))
    return figure


def length_histogram(runs: Sequence[RecordedRun], *, log: bool = False, titled: bool = True) -> Figure:
    """Draw the number of chordless cycles, or paths, of each length as bars, on a logarithmic scale if `log`.

    The bars of several runs stand side by side; if `titled`, the graph is the title of one. An OptionError is raised if
    a run has no counts by length, or there are too many runs.
    """
    from matplotlib.patches import Patch

    _check(runs)
    figure, (axes,) = _figure_of_many(runs, columns=1) if len(runs) > 1 else _figure_of_one(runs[0], titled=titled)
    colours = style.RUN_COLOURS if len(runs) > 1 else (style.PALETTE.cycles,)
    lengths = sorted({length for run in runs for length, count in run.state.cycles_by_length.items() if count})
    # The width of a bar depends on the smallest gap: the cycles of a grid have even lengths only.
    step = min((later - length for length, later in itertools.pairwise(lengths)), default=1)
    width = 0.82 * step / len(runs)
    for i, run in enumerate(runs):
        counts = {length: count for length, count in sorted(run.state.cycles_by_length.items()) if count}
        places = [length + (i - (len(runs) - 1) / 2) * width for length in counts]
        bars = axes.bar(places, [float(count) for count in counts.values()], width, color=colours[i])
        if len(runs) == 1 and 0 < len(counts) <= _LABELLED_BARS:
            axes.bar_label(bars, [short_number(count) for count in counts.values()], size=8.5, padding=2)
    thing = _thing(runs)
    axes.set_xlabel(f"length: vertices of the {thing}")
    axes.set_ylabel(f"chordless {thing}s")
    _finish([axes], log=log)
    if len(runs) > 1:
        _legend_below(figure, [Patch(color=colour) for colour in colours[: len(runs)]], runs)
    return figure


def run_note(run: RecordedRun) -> str:
    """Return the size of the graph, the number of cycles, and why there may be more cycles."""
    state, why = run.state, run.shortfall()
    cycles = quantity(state.cycles, f"{'picked ' if run.picks else ''}chordless {state.thing}")
    size = f"{size_text(state.n, state.m)}, "
    return f"{size}at least {cycles} ({why})" if why else f"{size}{cycles}"


def _thing(runs: Sequence[RecordedRun]) -> str:
    """Return the word for what the runs have found: ``cycle``, ``path``, or both."""
    return " or ".join(dict.fromkeys(run.state.thing for run in runs))


def _length_label(runs: Sequence[RecordedRun]) -> str:
    """Return what t counts in an evolution chart: also the vertices of the paths that lead to what was found."""
    return "t, vertices of the path" + ("" if _thing(runs) == "path" else " or the cycle")


def _names(runs: Sequence[RecordedRun]) -> tuple[str, str]:
    """Return the names of the curve of the paths that were looked at, and of the curve of what was found."""
    begun = all(run.state.thing == "path" for run in runs)
    return _PATHS.format("begun path" if begun else "chordless path"), _FOUND.format(_thing(runs))


def fits_a_chart(run: RecordedRun) -> bool:
    """Return whether a chart holds the counts of a run."""
    state = run.state
    by_length = [state.cycles_by_length, state.frontier_by_length, *state.path_course.pieces]
    drawn = itertools.chain(state.frontier_course.pieces, *(counts.values() for counts in by_length))
    return max(drawn, default=0) <= LARGEST_DRAWN


def _check(runs: Sequence[RecordedRun]) -> None:
    if len(runs) > MOST_RUNS:
        raise OptionError(f"{len(runs)} runs are too many for one picture; up to {MOST_RUNS} can be told apart")
    for run in runs:
        if not run.has_lengths:
            raise OptionError(f"{run.path}: this count (--total-only) tells no lengths apart, there is nothing to draw")
        if not fits_a_chart(run):
            raise OptionError(f"{run.path}: it has {TOO_LARGE}")


def _one_evolution(run: RecordedRun, *, log: bool, titled: bool) -> Figure:
    figure, (axes,) = _figure_of_one(run, titled=titled)
    lines, names = [], []
    paths, found = _names([run])
    # The boundary method has no frontier of paths.
    if run.state.frontier_by_length:
        lines.append(_curve(axes, run.state.frontier_by_length, style.PALETTE.paths, style.RUN_MARKERS[0]))
        names.append(paths)
    lines.append(_curve(axes, run.state.cycles_by_length, style.PALETTE.cycles, style.RUN_MARKERS[1]))
    names.append(found)
    axes.set_xlabel(_length_label([run]))
    axes.set_ylabel("how many")
    _finish([axes], log=log)
    axes.legend(lines, names, loc="best", handlelength=2.2)
    return figure


def _figure_of_one(run: RecordedRun, *, titled: bool) -> tuple[Figure, list[Axes]]:
    above = style.TITLE_HEIGHT if titled else style.NO_TITLE_HEIGHT
    figure = style.new_figure(_WIDTH, _HEIGHT - style.TITLE_HEIGHT + above)
    if titled:
        style.add_title(figure, run.state.graph, run_note(run))
    return figure, style.add_axes(figure, above=above)


def _figure_of_many(runs: Sequence[RecordedRun], columns: int) -> tuple[Figure, list[Axes]]:
    """Return axes side by side, with room for a legend below them."""
    below = 0.78 + _LEGEND_LINE * len(runs)
    figure = style.new_figure(_WIDTH * (1.3 if columns > 1 else 1), _HEIGHT + below - 0.6)
    graphs = {run.state.graph for run in runs}
    cut_short = [str(run.path) for run in runs if run.shortfall()]
    note = f"not complete, the counts are lower bounds: {', '.join(cut_short)}" if cut_short else ""
    style.add_title(figure, graphs.pop() if len(graphs) == 1 else f"{len(runs)} runs", note)
    # Each of several axes has its own title, which needs room above.
    return figure, style.add_axes(figure, columns, above=style.TITLE_HEIGHT + _LEGEND_LINE * (columns > 1), below=below)


def _legend_below(figure: Figure, handles: Sequence[Artist], runs: Sequence[RecordedRun]) -> None:
    width, height = figure.get_size_inches()
    same = len({run.state.graph for run in runs}) == 1
    # The names are set afterwards, since matplotlib leaves out labels that begin with an underscore.
    numbers = [str(i) for i in range(len(runs))]
    place = (0.65 / width, 0.08 / height)
    legend = figure.legend(handles, numbers, loc="lower left", bbox_to_anchor=place, borderaxespad=0)
    for text, run in zip(legend.get_texts(), runs, strict=True):
        name = str(run.path) if same else f"{run.path}: {style.shortened(run.state.graph, 40)}"
        text.set_parse_math(False)
        text.set_text(style.shortened(name, 80))


def _curve(axes: Axes, counts: dict[int, int], colour: str, marker: str, *, above: int = 0) -> Line2D:
    """Draw a curve on top of `above` others. Its markers leave the others visible where the curves are equal.

    It breaks where lengths are missing.
    """
    known = {length: float(count) for length, count in sorted(counts.items()) if count}
    points = sorted({**known, **dict.fromkeys(first_missing(list(known)), math.nan)}.items())
    ends = [math.nan, *(count for _, count in points), math.nan]
    # A line has no place for a point between two breaks.
    alone = [i for i in range(len(points)) if math.isnan(ends[i]) and math.isnan(ends[i + 2])]
    (line,) = axes.plot(
        [length for length, _ in points],
        [count for _, count in points],
        color=colour,
        marker=marker,
        markevery=None if len(known) <= _MARKED_LENGTHS else alone,
        linestyle=(0, (3, 1 + above)) if above else "-",
        markersize=max(7 - 2 * above, 2.5) if above else None,
    )
    return line


def _finish(many: Sequence[Axes], *, log: bool) -> None:
    """Set the common scales of axes after everything is drawn."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    drawn = [axes for axes in many if axes.patches or any(np.size(line.get_xdata()) for line in axes.lines)]
    for axes in many:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        if axes not in drawn:
            axes.text(0.5, 0.5, "nothing was found", transform=axes.transAxes, ha="center", color=style.PALETTE.muted)
    first = many[0]
    if not drawn:
        first.set_xlim(3, 10)
        first.set_ylim(1 if log else 0, 10)
        return
    # Without room for lengths far below the smallest one, which no cycle has.
    first.set_xlim(left=max(first.get_xlim()[0], min(axes.dataLim.x0 for axes in drawn) - 0.8))
    if log:
        first.set_yscale("log")
        first.set_ylim(bottom=0.7)
        return
    first.set_ylim(bottom=0)
    for axes in many:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))


def scale_chart(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the parts of the time as a bar for each graph and number of workers; see `chordless.bench.scale`."""
    bars = [
        (f"{style.shortened(row['graph'], _LONGEST_LABEL)}, {each['workers']}", parts_of(each["runs"]))
        for row in rows
        for each in row["workers"]
        if each["runs"]
    ]
    figure = style.new_figure(_WIDTH, _AROUND + _BAR_HEIGHT * max(len(bars), 1))
    (axes,) = style.add_axes(figure, above=style.NO_TITLE_HEIGHT + 0.3)
    figure.subplots_adjust(left=0.26)
    places = [len(bars) - number for number in range(len(bars))]
    ends = [0.0] * len(bars)
    colours = (style.PALETTE.muted, *style.RUN_COLOURS[: len(_PARTS) - 2], style.PALETTE.grid)
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
