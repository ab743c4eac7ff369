"""The graphs of a batch in one picture: small charts of the cycles by length, all with the same axes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from chordless.batch.output import read_lines
from chordless.pictures.charts import LARGEST_DRAWN, TOO_LARGE
from chordless.pictures.style import PALETTE, add_title, new_figure, shortened
from chordless.protocol.codec import is_by_length, is_count
from kernels_ti import OptionError
from kernels_ti.errors import quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CHARTS = 60
_COLUMNS = 4
# In inches: a chart with the space around it, the title above all, and the line below all.
_WIDTH, _HEIGHT, _ABOVE, _BELOW = 2.25, 1.75, 0.85, 0.3
_LEFT, _RIGHT, _TITLE = 0.5, 0.12, 0.5
_LONGEST_NAME = 26
_HOLE = 4


def is_batch(path: str) -> bool:
    """Return whether a file has the lines of a batch."""
    return os.path.isfile(path) and next(read_lines(path), None) is not None


def small_multiples(path: str, *, log: bool = True) -> Figure:
    """Draw the cycles by length of the first `MOST_CHARTS` graphs of a batch that did not fail, triangles grey."""
    counted = (line for line in read_lines(path) if isinstance(line.get("by_length"), dict))
    lines = list(islice(counted, MOST_CHARTS))
    more = sum(1 for _ in counted)
    if not lines:
        raise OptionError(f"{path}: no graph of this batch was counted, there is nothing to draw")
    for line in lines:
        if wrong := _wrong(line):
            raise OptionError(f"{path} was changed or damaged: {wrong} in a line of {line['graph']!r:.80}")
        if max(line["by_length"].values(), default=0) > LARGEST_DRAWN:
            raise OptionError(f"{path}: {line['graph']} has {TOO_LARGE}")
    columns = min(_COLUMNS, len(lines))
    rows = -(-len(lines) // columns)
    # The title needs the width of three charts.
    width, height = max(columns, 3) * _WIDTH, rows * _HEIGHT + _ABOVE + _BELOW
    figure = new_figure(width, height)
    shown = f"the first {len(lines)} of {len(lines) + more:,} graphs" if more else quantity(len(lines), "graph")
    add_title(figure, path, f"chordless cycles by length, triangles grey; {shown}")
    made = [_axes(figure, place, columns, width, height) for place in range(len(lines))]
    for axes, line in zip(made, lines, strict=True):
        _chart(axes, line)
    _common_scale(made, lines, log=log)
    return figure


def _wrong(line: dict[str, Any]) -> str | None:
    """Return the first field of a line that no batch writes; None if all that are drawn are whole."""
    is_fit = {
        "graph": isinstance(line["graph"], str),
        "name": isinstance(line.get("name"), str | None),
        "by_length": is_by_length(line["by_length"]),
        "n": is_count(line.get("n")),
        "chordless_cycles": is_count(line.get("chordless_cycles")),
        "complete": isinstance(line.get("complete"), bool),
        "interval": line.get("interval") in (True, False, None),
    }
    return next((f"{name} is {line.get(name)!r:.80}" for name, fits in is_fit.items() if not fits), None)


def _axes(figure: Figure, place: int, columns: int, width: float, height: float) -> Axes:
    row, column = divmod(place, columns)
    left, top = column * _WIDTH + _LEFT, _ABOVE + row * _HEIGHT + _TITLE
    size = (_WIDTH - _LEFT - _RIGHT) / width, (_HEIGHT - _TITLE - _BELOW) / height
    return figure.add_axes((left / width, 1 - top / height - size[1], *size))


def _chart(axes: Axes, line: dict[str, Any]) -> None:
    counts = {int(length): float(count) for length, count in line["by_length"].items() if count}
    colours = [PALETTE.vertex if length < _HOLE else PALETTE.cycles for length in counts]
    axes.bar(list(counts), list(counts.values()), 0.8, color=colours)
    name = line.get("name") or PurePath(line["graph"]).name
    axes.set_title(shortened(name, _LONGEST_NAME), loc="left", size=8.5, weight="bold", pad=14, parse_math=False)
    hole = f"{line['parity']} hole" if line.get("parity") else "hole"
    holes = quantity(line["chordless_cycles"], hole) if line["chordless_cycles"] else f"no {hole}"
    least_length, most = line.get("min_length") or _HOLE, line.get("max_length")
    if most is not None:
        holes += f" of {max(least_length, _HOLE):,} to {most:,} vertices"
    elif least_length > _HOLE:
        holes += f" of {least_length:,} or more vertices"
    least = "" if line["complete"] else "at least "
    verdict = {True: ", interval", False: ", not interval", None: ""}[line.get("interval")]
    note = shortened(f"n {line['n']:,}, {least}{holes}{verdict}", 48)
    axes.text(0, 1.04, note, transform=axes.transAxes, size=7, color=PALETTE.muted, parse_math=False)
    axes.tick_params(labelsize=6.5, length=2, pad=1.5)


def _common_scale(made: Sequence[Axes], lines: Sequence[dict[str, Any]], *, log: bool) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    from chordless.words.numbers import short_number

    counts = [(int(length), count) for line in lines for length, count in line["by_length"].items() if count]
    last = max((length for length, _ in counts), default=_HOLE)
    most = max((float(count) for _, count in counts), default=1.0)
    for axes in made:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.set_xlim(min([3, *(length for length, _ in counts)]) - 0.7, last + 0.7)
        if log:
            axes.set_yscale("log")
        else:
            axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylim(0.7 if log else 0, most * (2 if log else 1.1))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
        axes.minorticks_off()
