"""The form for a new run without engines: fill it in, look at what it says."""

from __future__ import annotations

from pathlib import Path

import chordless.tui.app
from chordless.protocol.events import DeviceReport
from chordless.tui.app import ChordlessApp
from chordless.tui.settings import Settings
from chordless.tui.widgets import arch_field
from chordless.tui.widgets.graph_source import GraphSource
from textual.widgets import Input, Static

from tui.pilots import drive, until

REPORTS = {
    "cpu": DeviceReport("cpu", True, "EPYC", 8 << 30, 2),
    "cuda": DeviceReport("cuda", False, message="arch cuda is not available here: no driver was found"),
    "vulkan": DeviceReport("vulkan", True, "llvmpipe"),
}


def answer_probes(monkeypatch):
    """Answer in place of engines; return the list of the arches that are asked for."""
    asked = []
    monkeypatch.setattr(arch_field, "probe_arch", lambda arch, given_up: asked.append(arch) or REPORTS[arch])
    monkeypatch.setattr("chordless.tui.widgets.arch_field._SECONDS_UNTIL_PROBE", 0.001)
    return asked


class Recorder(ChordlessApp):
    """A dashboard that begins no run, and keeps the command."""

    CSS_PATH = Path(chordless.tui.app.__file__).with_name("chordless.tcss")
    command = None

    def on_start_run(self, message):
        message.prevent_default()
        self.command = message.command


def fill(size, steps, settings=None, **more):
    """Run `steps` on the form; return the app."""
    app = Recorder(settings or Settings(), **more)

    async def wait_and_go(pilot):
        await until(pilot, lambda: app.screen.query_one(GraphSource).is_known)
        await steps(pilot)

    drive(app, size, wait_and_go)
    return app


def said(app, name):
    return str(app.screen.query_one(name, Static).content)


def beside(app, name):
    return str(app.screen.query_one(f"#row-{name} .beside", Static).content)


async def put(pilot, name, text):
    pilot.app.screen.query_one(name, Input).value = text
    await pilot.pause()
    await until(pilot, lambda: pilot.app.screen.query_one(GraphSource).is_known)
    await pilot.pause()
