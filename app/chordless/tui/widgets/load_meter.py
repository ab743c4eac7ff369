"""How busy each core of the CPU and each GPU is, as one bar a core, and how busy the run keeps the CPU."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import ClassVar

import psutil
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from chordless.tui.widgets.glyphs import is_ascii

_BARS, _ASCII_BARS = "▁▂▃▄▅▆▇█", "_.,-=+*#"
_SECONDS_BETWEEN_LOOKS = 1.0
# Bars of the CPU in a meter of one line, alone and beside a GPU. More cores share a bar.
_MOST_BARS, _FEW_BARS = 8, 3
_CELLS_OF_WORDS = len("cpu  100%")
# From these loads on, a bar has the colour of a busy and of a full processor.
_BUSY, _FULL = 0.5, 0.9


@dataclass(frozen=True)
class Load:
    """How busy the processors are, each 0 to 1."""

    # Each core of the CPU since the last look. Empty at the first look.
    cores: tuple[float, ...] = ()
    gpus: tuple[float, ...] = ()  # Each GPU of NVIDIA; empty without one, or without the library that asks it


def machine_load() -> Load:
    """Return the load of this machine since the last call."""
    return Load(tuple(busy / 100 for busy in psutil.cpu_percent(percpu=True)), _gpus()())


class ProcessLoads:
    """How much of all cores each of some processes uses."""

    def __init__(self) -> None:
        self._known: dict[int, psutil.Process] = {}

    def of(self, pid: int) -> float | None:
        """Return the share since the last call, 0 to 1; None at the first call, and for a process that is gone."""
        try:
            is_new = pid not in self._known
            process = self._known.setdefault(pid, psutil.Process(pid))
            share: float = process.cpu_percent() / 100 / (psutil.cpu_count() or 1)
            # Workers on this machine are children of the engine.
            for child in process.children():
                share += self.of(child.pid) or 0.0
        except psutil.Error:
            self._known.pop(pid, None)
            return None
        return None if is_new else min(share, 1.0)


@cache
def _gpus() -> Callable[[], tuple[float, ...]]:
    """Return a function that asks NVIDIA's driver for the load of its GPUs. Where there is none, it returns ()."""
    try:
        nvml = import_module("pynvml")  # of the extra `nvidia`
    except ImportError:
        return tuple
    try:
        nvml.nvmlInit()
        devices = [nvml.nvmlDeviceGetHandleByIndex(i) for i in range(nvml.nvmlDeviceGetCount())]
    except nvml.NVMLError:
        return tuple

    def ask() -> tuple[float, ...]:
        loads = []
        for device in devices:
            # A GPU that was taken away, or that does not tell, is left out.
            with contextlib.suppress(nvml.NVMLError):
                loads.append(nvml.nvmlDeviceGetUtilizationRates(device).gpu / 100)
        return tuple(loads)

    return ask


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
                self.refresh()
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
        if height > 1 and not self._is_watching:
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
