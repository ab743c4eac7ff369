"""Scenes of the dashboard that are the same on every day and machine: for the snapshots, and for the README's pictures.

The runs in them were recorded; their folders are made anew in a home folder of their own.
"""

from __future__ import annotations

import calendar
import html
import json
import math
import os
import re
import shutil
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from chordless.graphs.load import load_graph
from chordless.protocol.events import DeviceReport
from chordless.protocol.orders import RunCommand
from chordless.protocol.recording import recorded
from chordless.runs.directory import created, reopened
from chordless.tui.app import ChordlessApp
from chordless.tui.batch_form import RecentBatch, remember
from chordless.tui.feeds import ReplayFeed
from chordless.tui.messages import CompareRuns
from chordless.tui.outlook import Outlook
from chordless.tui.settings import Settings
from chordless.tui.widgets.arch_field import ArchField
from chordless.tui.widgets.batch_table import BatchTable
from chordless.tui.widgets.graph_source import GraphSource
from chordless.tui.widgets.load_meter import Load
from chordless.words.numbers import CycleRange
from textual.widgets import Input

from tui.new_form import said
from tui.pilots import drive, text_of, until

RECORDINGS = Path(__file__).parent
_DEVICES = {
    "cpu": DeviceReport("cpu", True, "AMD EPYC", 8 << 30, 2),
    "cuda": DeviceReport("cuda", False, message="arch cuda is not available here: no driver was found"),
    "vulkan": DeviceReport("vulkan", True, "llvmpipe (LLVM 15.0.6, 256 bits)"),
}
_OUTLOOK = Outlook(CycleRange(8.0e6, 7.2e6, 8.9e6), 0.26, None, 2)
_NOW = "2026-11-21 15:56"
_BATCH = "many.jsonl"
# Of the recording of the run that is at work, what happened in its first seconds.
_SECONDS_AT_WORK = 11.0


@dataclass(frozen=True)
class Run:
    """A run in the home folder.

    Parameters
    ----------
    recording : str
    began : str
    disk_bytes : int
    is_at_work : bool
    """

    recording: str
    began: str
    disk_bytes: int
    is_at_work: bool = False

    @property
    def folder(self) -> str:
        words = Path(self.recording).stem
        return f"{words}-{self.began.replace(' ', '-').replace(':', '')}00"


RUNS = {
    run.recording: run
    for run in (
        Run("recorded/grid-9x10.jsonl", "2026-11-21 15:54", 98_304, is_at_work=True),
        Run("recorded/grid-7x10-list.jsonl", "2026-11-21 15:31", 130_265_088),
        Run("recorded/grid-7x10-paper.jsonl", "2026-11-21 15:08", 45_056),
        Run("recorded/grid-7x10.jsonl", "2026-11-21 15:06", 24_576),
        Run("recorded/planar.jsonl", "2026-11-20 22:40", 315_392),
        Run("recorded/gnp.jsonl", "2026-11-20 22:17", 9_437_184),
        Run("recorded/les-miserables.jsonl", "2026-11-20 22:02", 20_480),
    )
}


class Home:
    """A home folder with runs in it.

    Attributes
    ----------
    listing : Path
        The run whose cycles are looked at. Of its cycles only the number was recorded: who wants to see them puts them
        there, or names another run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs_folder = path / ".local/share/chordless/runs"
        self.settings = Settings(
            runs_folder=self.runs_folder, recent=("grid:9x10", "grid:7x10", "planar:200,1", "gnp:60,0.1,1")
        )
        self.listing = self.run("recorded/grid-7x10-list.jsonl")

    def run(self, recording: str) -> Path:
        """Return the folder of a run."""
        return self.runs_folder / RUNS[recording].folder


@contextmanager
def home_folder(path: Path):
    """Make a home folder, and let nothing be different from day to day while it is lived in."""
    home = Home(path.resolve())
    environment = {"HOME": str(home.path), "TZ": "UTC", "SSH_CONNECTION": "so that nothing moves"}
    without = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "NO_COLOR", "COLORTERM")
    kept = {name: value for name, value in os.environ.items() if name not in without}
    sizes = {run.folder: run.disk_bytes for run in RUNS.values()}
    clock = SimpleNamespace(
        localtime=lambda seconds=None: time.gmtime(_seconds(_NOW) if seconds is None else seconds),
        strftime=time.strftime,
    )
    with ExitStack() as stack:
        # The time zone is put back last, from the environment that was put back before.
        stack.callback(time.tzset)
        stack.enter_context(patch.dict(os.environ, kept | environment, clear=True))
        time.tzset()
        stack.enter_context(patch("chordless.tui.widgets.arch_field.probe_arch", lambda arch, given_up: _DEVICES[arch]))
        stack.enter_context(patch("chordless.tui.widgets.arch_field._SECONDS_UNTIL_PROBE", 0.001))
        stack.enter_context(patch("chordless.tui.session._SECONDS_OF_QUIET", math.inf))
        stack.enter_context(patch("chordless.tui.widgets.load_meter.machine_load", lambda: Load((0.97, 0.6))))
        stack.enter_context(patch("chordless.tui.widgets.load_meter._SECONDS_BETWEEN_LOOKS", 0.01))
        stack.enter_context(
            patch("chordless.runs.history._disk_bytes", lambda path: sizes.get(Path(path).name, 20_480))
        )
        stack.enter_context(patch("chordless.tui.run_list.time", clock))
        # The same cycles and the same estimate on every machine.
        stack.enter_context(patch("chordless.tui.widgets.graph_preview._SECONDS_TO_SAMPLE", 1000.0))
        stack.enter_context(patch("chordless.tui.widgets.graph_preview.outlooks_of", lambda *question: [_OUTLOOK]))
        home.path.mkdir(exist_ok=True)
        # Paths that are typed are relative to it.
        stack.callback(os.chdir, os.getcwd())
        os.chdir(home.path)
        make_batch(home.path)
        for run in RUNS.values():
            make_run(home.runs_folder / run.folder, run)
            if run.is_at_work:
                stack.enter_context(reopened(home.runs_folder / run.folder))
        yield home


def make_run(path: Path, run: Run) -> None:
    """Make the folder of a run from its recording."""
    events = [json.loads(line) for line in (RECORDINGS / run.recording).read_bytes().splitlines()]
    later = _seconds(run.began) - events[0]["time"]
    if run.is_at_work:
        events = [event for event in events if event["time"] < events[0]["time"] + _SECONDS_AT_WORK]
    known = {field.name for field in fields(RunCommand)}
    asked = {name: value for name, value in events[0]["options"].items() if name in known}
    command = RunCommand(events[0]["graph"], 0.0, **asked)
    with created(path, command, load_graph(command.graph)) as directory:
        directory.checkpoint.touch()
        directory.events.write_text(
            "".join(json.dumps({**event, "time": event["time"] + later}) + "\n" for event in events)
        )
    kept = path / "run.json"
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "began": _seconds(run.began)}))


def make_batch(folder: Path) -> None:
    """Put the file of a batch into a folder, with what the dashboard remembers of it."""
    shutil.copy(RECORDINGS / "recorded/batch.jsonl", folder / _BATCH)
    graphs = [json.loads(line)["graph"] for line in (folder / _BATCH).read_text().splitlines()]
    (folder / "loop.txt").write_text("0 1\n1 2\n2 2\n")
    remember(RecentBatch(str(folder / _BATCH), " ".join(graphs), str(folder)), [])


def _seconds(moment: str) -> float:
    return float(calendar.timegm(time.strptime(moment, "%Y-%m-%d %H:%M")))


# What is done until a scene is to be seen.


async def _form(pilot, home):
    await until(pilot, lambda: pilot.app.screen.query_one(GraphSource).is_known)
    await until(pilot, lambda: len(pilot.app.screen.query_one(ArchField).reports) == len(_DEVICES))
    await until(pilot, lambda: ": counted in " in said(pilot.app, "#preview-estimate"))
    if pilot.app.screen.query_one("#preview-graph").display:
        await until(pilot, lambda: "●" in "".join(line[line.rfind("│") :] for line in text_of(pilot.app).splitlines()))


async def _running(pilot, home):
    *_, (last, _) = recorded(home.run("recorded/grid-9x10.jsonl") / "events.jsonl")
    app = pilot.app
    # The recording comes in pieces, and is drawn at most ten times a second.
    await until(pilot, lambda: app.run_state is not None and app.run_state.changed == last)
    await until(pilot, lambda: app.screen._shown is app.run_state)
    await until(pilot, lambda: "78%" in text_of(app))


async def _finished(pilot, home):
    await until(pilot, lambda: "complete" in text_of(pilot.app))


async def _cycles(pilot, home):
    await _finished(pilot, home)
    await pilot.press("alt+3")
    await until(pilot, lambda: "as found" in text_of(pilot.app))
    await pilot.press("o")
    # Vertices off the cycle are drawn once there is a layout.
    await until(pilot, lambda: all(word in text_of(pilot.app) for word in ("longest first", "▶", "⡷")))


async def _runs(pilot, home):
    await pilot.press("alt+4")
    await until(pilot, lambda: "les_miserables" in text_of(pilot.app))


async def _compared(pilot, home):
    both = (home.run("recorded/grid-7x10.jsonl"), home.run("recorded/grid-7x10-paper.jsonl"))
    pilot.app.post_message(CompareRuns(both))
    await until(pilot, lambda: "breadth first" in text_of(pilot.app))
    # The moment at which the paper's wave is in the middle.
    pilot.app.screen.show_frame(70)


async def _batch(pilot, home):
    await until(pilot, lambda: "✔ complete" in text_of(pilot.app))
    pilot.app.screen.query_one(BatchTable).focus()
    await until(pilot, lambda: isinstance(pilot.app.focused, BatchTable))
    # The graph that could not be read: its line says why.
    await pilot.press("x")
    await until(pilot, lambda: "a simple graph has no loops" in text_of(pilot.app))


async def _help(pilot, home):
    await pilot.press("f1")
    await until(pilot, lambda: "Begin a count anew along a boundary" in text_of(pilot.app))


@dataclass(frozen=True)
class Scene:
    """Something to see.

    Parameters
    ----------
    steps : async function of the pilot and the home folder
    opens : function of the home folder
        Returns the run that is opened first, or None.
    batch : str or None
        The batch that is opened first.
    """

    steps: Callable[..., Awaitable[None]]
    opens: Callable[[Home], Path | None] = lambda home: None
    batch: str | None = None


def _at_work(home: Home) -> Path:
    return home.run("recorded/grid-9x10.jsonl")


# Where no run is to be seen, one is opened all the same: that is faster than to begin with the form for a new one.
SCENES = {
    "new": Scene(_form),
    "run": Scene(_running, _at_work),
    "finished": Scene(_finished, lambda home: home.run("recorded/grid-7x10-list.jsonl")),
    "cycles": Scene(_cycles, lambda home: home.listing),
    "runs": Scene(_runs, _at_work),
    "compare": Scene(_compared, _at_work),
    "batch": Scene(_batch, batch=_BATCH),
    "help": Scene(_help, _at_work),
}


def picture_of(name: str, size: tuple[int, int], home: Home, *, ascii_only: bool = False) -> str:
    """Return a scene as Textual draws it in SVG.

    Parameters
    ----------
    name : str
        One of `SCENES`.
    size : (int, int)
        Columns and rows.
    home : Home
    ascii_only : bool
    """
    scene = SCENES[name]
    app = ChordlessApp(home.settings, directory=scene.opens(home), batch=scene.batch, ascii_only=ascii_only)

    async def steps(pilot):
        await scene.steps(pilot, home)
        for field in app.screen.query(Input):
            field.cursor_blink = False
        return await _drawn(pilot)

    return drive(app, size, steps)


def pictures_of_a_wave(size: tuple[int, int], home: Home, frames: int) -> list[str]:
    """Return moments of a replay of the paper's expansion, equally far apart, as Textual draws them in SVG."""
    feed = ReplayFeed(home.run("recorded/grid-7x10-paper.jsonl"), speed=0)
    app = ChordlessApp(home.settings)
    app._first = feed

    async def steps(pilot):
        await _finished(pilot, home)
        feed.seek(-feed.length)
        await until(pilot, lambda: feed._target is None)
        drawn = []
        for _ in range(frames):
            feed.seek(feed.length / frames)
            await until(pilot, lambda: feed._target is None and app.screen._shown is app.run_state)
            drawn.append(await _drawn(pilot))
        return drawn

    return drive(app, size, steps)


def words_of(svg: str) -> str:
    """Return what a picture of Textual's says, a line for each piece of text."""
    texts = re.findall(r"<text [^>]*>([^<]*)</text>", svg)
    return "\n".join(html.unescape(text).replace("\xa0", " ") for text in texts)


async def _drawn(pilot) -> str:
    await pilot.pause()
    await pilot.pause()
    return pilot.app.export_screenshot(simplify=True)
