"""How busy the processors are, and how that is shown."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest
from chordless.tui.widgets import load_meter
from chordless.tui.widgets.load_meter import Load, LoadMeter, ProcessLoads, machine_load, means
from textual.app import App

from tui.pilots import SMALL, drive, text_of, until
from tui.stage import RUNNING, Stage, play


class NVMLError(Exception):
    pass


def nvml(loads, fails_at=""):
    """Stands for NVIDIA's library, on a machine with these GPUs."""

    def call(name, answer):
        def ask(*arguments):
            if name == fails_at:
                raise NVMLError
            return answer(*arguments)

        return ask

    functions = {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetCount": lambda: len(loads),
        "nvmlDeviceGetHandleByIndex": lambda i: i,
        "nvmlDeviceGetUtilizationRates": lambda i: SimpleNamespace(gpu=loads[i]),
    }
    return SimpleNamespace(NVMLError=NVMLError, **{name: call(name, answer) for name, answer in functions.items()})


@pytest.mark.parametrize(
    ("library", "gpus"),
    [
        (None, ()),
        (nvml([60, 5]), (0.6, 0.05)),
        (nvml([]), ()),
        (nvml([60], "nvmlInit"), ()),
        (nvml([60], "nvmlDeviceGetUtilizationRates"), ()),
    ],
    ids=["no library", "two GPUs", "no GPU", "no driver", "a GPU that does not tell"],
)
def test_the_load_of_the_machine(monkeypatch, library, gpus):
    monkeypatch.setitem(sys.modules, "pynvml", library)
    monkeypatch.setattr(load_meter.psutil, "cpu_percent", lambda percpu: [12.0, 100.0])
    load_meter._gpus.cache_clear()
    assert machine_load() == Load((0.12, 1.0), gpus)
    load_meter._gpus.cache_clear()


def test_the_part_of_a_process(monkeypatch):
    monkeypatch.setattr(load_meter.psutil, "cpu_count", lambda: 4)
    monkeypatch.setattr(load_meter.psutil.Process, "cpu_percent", lambda process: 300.0)
    children = {os.getpid(): []}
    monkeypatch.setattr(load_meter.psutil.Process, "children", lambda process: children.get(process.pid, []))
    loads = ProcessLoads()
    assert [loads.of(os.getpid()) for _ in range(2)] == [None, 0.75]
    # Its workers are a part of it.
    monkeypatch.setattr(load_meter.psutil.Process, "cpu_percent", lambda process: 100.0)
    children[os.getpid()] = [psutil.Process(os.getppid())]
    assert [loads.of(os.getpid()) for _ in range(2)] == [0.25, 0.5]
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    assert [loads.of(gone.pid) for _ in range(2)] == [None, None]


def test_the_run_has_a_row_beside_the_machine(monkeypatch):
    monkeypatch.setattr(load_meter, "machine_load", lambda: Load((1.0, 1.0)))
    monkeypatch.setattr(ProcessLoads, "of", lambda self, pid: {7: 0.25}[pid])
    app = Stage(replace(RUNNING, pid=7))

    async def steps(pilot):
        app.screen.query_one(LoadMeter).look()
        await until(pilot, lambda: "run ▃ 25%" in text_of(app))

    play(app, (120, 40), steps)


def test_many_cores_share_a_bar():
    assert means((0.1, 0.2), 8) == [0.1, 0.2]
    assert means((0.0, 1.0) * 8, 8) == [0.5] * 8
    assert len(means((0.5,) * 100, 8)) == 8


@pytest.mark.parametrize(
    ("load", "height", "lines"),
    [
        (Load((0.0, 1.0)), 1, ["cpu ▁█ 50%"]),
        (Load((0.5,) * 64), 1, ["cpu ▅▅▅▅▅▅▅▅ 50%"]),
        (Load((0.5,) * 64, (0.99,)), 1, ["cpu ▅▅▅ gpu █ 99%"]),
        (Load((0.0, 1.0), (0.25, 0.75)), 2, ["cpu ▁█ 50%", "gpu ▃▇ 50%"]),
        (Load((1.0,) * 64), 2, ["cpu █████████ 100%", ""]),
    ],
)
def test_each_processor_has_a_bar_while_a_run_is_at_work(monkeypatch, load, height, lines):
    monkeypatch.setattr(load_meter, "machine_load", lambda: load)

    class Screen(App[None]):
        def compose(self):
            yield LoadMeter(id="meter")

    app = Screen()

    async def steps(pilot):
        meter = app.query_one(LoadMeter)
        meter.styles.height = height
        await pilot.pause()
        assert text_of(app).split() == ([] if height == 1 else ["no", "run", "is", "at", "work"])
        meter.watch_run(is_at_work=True)
        await pilot.pause()
        assert not text_of(app).split(), "the load is not known yet"
        meter.look()
        await pilot.pause()
        assert [line.rstrip() for line in text_of(app).splitlines()[:height]] == lines
        meter.watch_run(is_at_work=False)
        await pilot.pause()
        assert text_of(app).split() == ([] if height == 1 else ["no", "run", "is", "at", "work"])

    drive(app, (18, 4), steps)


@pytest.mark.parametrize(("size", "words"), [(SMALL, "cpu ▁█ gpu ▆ 62%"), ((120, 40), "gpu █▃ 62%")])
def test_the_screen_of_a_run_shows_the_load_of_gpus(monkeypatch, size, words):
    monkeypatch.setitem(sys.modules, "pynvml", nvml([100, 25]))
    monkeypatch.setattr(load_meter.psutil, "cpu_percent", lambda percpu: [0.0, 100.0])
    load_meter._gpus.cache_clear()
    app = Stage(RUNNING)

    async def steps(pilot):
        app.screen.query_one(LoadMeter).look()
        await until(pilot, lambda: words in text_of(app))

    play(app, size, steps)
    load_meter._gpus.cache_clear()
