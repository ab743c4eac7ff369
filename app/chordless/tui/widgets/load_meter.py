"""How busy each core of the CPU and each GPU is, as one bar a core, and how busy the run keeps the CPU."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from chordless.tui.load import Load, ProcessLoads, machine_load
from chordless.tui.widgets.glyphs import is_ascii

_BARS, _ASCII_BARS = "▁▂▃▄▅▆▇█", "_.,-=+*#"
_SECONDS_BETWEEN_LOOKS = 1.0
# Bars of the CPU in a meter of one line, alone and beside a GPU. More cores share a bar.
_MOST_BARS, _FEW_BARS = 8, 3
_CELLS_OF_WORDS = len("cpu  100%")
# From these loads on, a bar has the colour of a busy and of a full processor.
_BUSY, _FULL = 0.5, 0.9


class LoadMeter(Widget):
    """Looks at the machine once a second while a run is at work, and shows nothing otherwise."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"load--words", "load--idle", "load--busy", "load--full"}

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.border_title = "load"
        self._load = Load()
        self._of_run: float | None = None
        self._processes = ProcessLoads()
        self._is_watching, self._pid = False, 0

    def on_mount(self) -> None:
        """Begin to look at the machine."""
        self.set_interval(_SECONDS_BETWEEN_LOOKS, self.look)

    def watch_run(self, *, is_at_work: bool, pid: int = 0) -> None:
        """Say whether a run is at work, and which process is its engine."""
        self._pid = pid
        if is_at_work != self._is_watching:
            self._is_watching = is_at_work
            if is_at_work:
                # The next look tells the load from now on.
                machine_load()
            else:
                self.look()

    def look(self) -> None:
        """Look at the machine, if a run is at work and shown."""
        if self._is_watching and not self.screen.is_current:
            return
        load = machine_load() if self._is_watching else Load()
        of_run = self._processes.of(self._pid) if self._is_watching and self._pid else None
        if (load, of_run) != (self._load, self._of_run):
            self._load, self._of_run = load, of_run
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one line: of a higher meter the CPU, the part of the run in it, and the GPUs; else CPU and GPUs."""
        width, height = self.size
        cores, gpus = self._load.cores, self._load.gpus
        if height > 1 and not cores:
            # On two lines: the tile may be narrow.
            words = self.get_component_rich_style("load--words")
            rows = [[Segment("no run is", words)], [Segment("at work", words)]]
        elif height > 1:
            most = max(width - _CELLS_OF_WORDS, 1)
            of_run = () if self._of_run is None else (self._of_run,)
            rows = [
                row
                for name, loads in (("cpu", cores), ("run", of_run), ("gpu", gpus))
                if (row := self._row(name, loads, most))
            ]
        elif gpus:
            rows = [[*self._row("cpu", cores, _FEW_BARS)[:-1], *self._row(" gpu", gpus, 1)]]
        else:
            rows = [self._row("cpu", cores, _MOST_BARS)]
        return Strip(rows[y] if y < len(rows) else []).adjust_cell_length(width, self.rich_style)

    def _row(self, name: str, loads: tuple[float, ...], most: int) -> list[Segment]:
        """Return the name, a bar for each processor, and the mean in per cent; nothing for no processor."""
        if not loads:
            return []
        words = self.get_component_rich_style("load--words")
        bars = _ASCII_BARS if is_ascii(self) else _BARS
        drawn = []
        for load in means(loads, most):
            level = "full" if load >= _FULL else "busy" if load >= _BUSY else "idle"
            bar = bars[min(int(load * len(bars)), len(bars) - 1)]
            drawn.append(Segment(bar, self.get_component_rich_style(f"load--{level}")))
        return [Segment(f"{name} ", words), *drawn, Segment(f" {sum(loads) / len(loads):.0%}", words)]


def means(loads: tuple[float, ...], most: int) -> list[float]:
    """Return at most `most` loads: each is the mean of about as many processors."""
    if len(loads) <= most:
        return list(loads)
    ends = [len(loads) * i // most for i in range(most + 1)]
    return [sum(loads[start:end]) / (end - start) for start, end in pairwise(ends)]
