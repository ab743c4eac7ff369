"""The form for a new run: what it says while it is filled in, and the command that comes out."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import chordless.tui.app
import pytest
from chordless.graphs.check import check_graph
from chordless.graphs.load import load_graph
from chordless.protocol.events import DeviceReport
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import created
from chordless.runs.history import list_runs
from chordless.runs.state import RunState
from chordless.tui import probing
from chordless.tui.app import ChordlessApp
from chordless.tui.feeds import FollowFeed
from chordless.tui.messages import RunChanged
from chordless.tui.run_form import listing_of
from chordless.tui.session import RunSession
from chordless.tui.settings import LastChoices, Settings, load_settings
from chordless.tui.widgets.choice import Choice
from chordless.tui.widgets.graph_panel import GraphPanel
from chordless.tui.widgets.graph_source import GraphSource
from patience import PATIENCE
from textual.widgets import Button, Input, OptionList, Static

from tui.pilots import LARGE, SMALL, drive, text_of, until

SIZES = pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "160x50"])
REPORTS = {
    "cpu": DeviceReport("cpu", True, "EPYC", 8 << 30, 2),
    "cuda": DeviceReport("cuda", False, message="arch cuda is not available here: no driver for it was found"),
    "vulkan": DeviceReport("vulkan", True, "llvmpipe"),
}


class Recorder(ChordlessApp):
    """A dashboard that begins no run, and keeps the command."""

    CSS_PATH = Path(chordless.tui.app.__file__).with_name("chordless.tcss")
    command = None

    def on_start_run(self, message):
        message.prevent_default()
        self.command = message.command


@pytest.fixture(autouse=True)
def probed(monkeypatch):
    """Answers in place of engines; the arches that were asked for."""
    asked = []
    monkeypatch.setattr(probing, "probe_arch", lambda arch, given_up: asked.append(arch) or REPORTS[arch])
    monkeypatch.setattr("chordless.tui.widgets.arch_field._SECONDS_UNTIL_PROBE", 0.001)
    return asked


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


@SIZES
def test_a_newcomer_presses_the_key_of_start_and_grid_7x10_runs(size):
    async def steps(pilot):
        shown = text_of(pilot.app)
        assert shown.count("70 vertices, 123 edges, largest degree 4") == 2
        assert "Count all chordless cycles in grid:7x10" in shown
        keys = [key for key in shown.splitlines()[-1].split() if key[0] in "^f" and key[1:].isalnum()]
        assert keys == ["^r", "^q", "f1"]
        # Enter goes on to the next field; only Start starts.
        await pilot.press("enter")
        assert pilot.app.focused is not None
        assert pilot.app.focused.id == "reading"
        assert pilot.app.command is None
        await pilot.press("ctrl+r")

    command = fill(size, steps).command
    assert (command.graph, command.arch, command.output, command.max_length) == ("grid:7x10", "auto", None, None)
    assert os.path.dirname(command.checkpoint) == str(Settings().runs_folder)
    assert os.path.basename(command.checkpoint).startswith("grid-7x10-2")


def test_what_is_typed_replaces_the_example_and_is_looked_at():
    async def steps(pilot):
        await pilot.press(*"complete:5000")
        await until(pilot, lambda: "4,999" in said(pilot.app, "#answer"))
        await put(pilot, "#graph", "grod:3x3")
        assert said(pilot.app, "#answer") == (
            "! no such file, and there is no kind of graph called 'grod'; did you mean grid?"
        )
        assert pilot.app.screen.query_one("#start", Button).disabled
        await pilot.press("ctrl+r")
        await put(pilot, "#graph", "  ")
        assert said(pilot.app, "#status").startswith("! Graph: type a graph, such as grid:7x10")
        assert pilot.app.command is None
        # Start before the answer is there: the run begins as soon as it is.
        await pilot.press(*"petersen", "ctrl+r")
        await until(pilot, lambda: pilot.app.command is not None)

    assert fill(SMALL, steps).command.graph == "petersen"


def test_every_field_comes_out_in_the_command_and_all_but_the_folder_come_back(tmp_path):
    typed = {
        "#min-length": "4", "#max-length": "12", "#limit": "1000", "#threads": "2", "#memory": "1.5GiB",
        "#directory": str(tmp_path / "mine"),
    }  # fmt: skip

    async def steps(pilot):
        for name, text in typed.items():
            await put(pilot, name, text)
        pilot.app.screen.query_one("#arch", Choice).choose("cpu")
        pilot.app.screen.query_one("#what", Choice).choose("list")
        await pilot.pause()
        assert "List up to 1000 chordless cycles of 4 to 12 vertices in grid:7x10" in said(pilot.app, "#status")
        await pilot.press("ctrl+r")

    command = fill(SMALL, steps).command
    directory = str(tmp_path / "mine")
    assert (command.min_length, command.max_length, command.limit, command.threads) == (4, 12, 1000, 2)
    assert (command.memory, command.arch, command.simplify) == (3 << 29, "cpu", False)
    assert (command.output, command.output_format, command.checkpoint) == (directory, "parts", directory)
    settings, _ = load_settings()
    assert settings.last == LastChoices(
        "spec", "grid:7x10", "cpu", True, "4", "12", "1000", "1.5GiB", "2", ""
    )  # fmt: skip

    async def look(pilot):
        found = {name: pilot.app.screen.query_one(name, Input).value for name in typed}
        assert found == typed | {"#directory": ""}
        assert pilot.app.screen.query_one("#what", Choice).chosen == "list"

    # Also one that was kept by an older version is gone.
    fill(LARGE, look, replace(settings, last=replace(settings.last, directory=directory)))


def test_a_run_on_the_reference_has_no_folder_and_says_so(tmp_path):
    async def steps(pilot):
        app = pilot.app
        await put(pilot, "#graph", "cycle:5")
        app.screen.query_one("#arch", Choice).choose("reference")
        app.screen.query_one("#what", Choice).choose("list")
        await put(pilot, "#directory", str(tmp_path / "mine"))
        assert said(app, "#status").startswith("! Find: arch reference keeps no cycles")
        assert beside(app, "directory") == "! arch reference keeps no run folder: leave this empty"
        app.screen.query_one("#what", Choice).choose("count")
        await put(pilot, "#directory", "")
        assert beside(app, "directory") == "none: a run on reference is not kept"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: app.current_mode == "run" and app.run_state.phase in ("finished", "failed"))
        assert (app.run_state.cycles, app.run_state.error, app.run_state.can_resume) == (1, None, False)
        await until(pilot, lambda: "complete" in text_of(app))
        await pilot.press("f4")
        await until(pilot, lambda: app.current_mode == "cycles")
        # What is listed needs a folder, so it runs elsewhere.
        command = listing_of(app.session.command, tmp_path / "listed")
        assert (command.arch, command.checkpoint) == ("auto", str(tmp_path / "listed"))
        assert list_runs(app.settings.runs_folder) == []

    app = ChordlessApp(Settings(runs_folder=tmp_path / "runs"))
    drive(app, SMALL, steps)


def test_mistakes_are_said_beside_the_field_in_the_words_of_the_command_line(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")

    async def steps(pilot):
        app = pilot.app
        start = app.screen.query_one("#start", Button)
        for name, text, fault in [
            ("min-length", "2", "! a cycle has at least 3 vertices, not 2"),
            ("max-length", "x", "! 'x' is not a whole number"),
            ("limit", "0", "! 0 is not above 0"),
            ("memory", "much", "! 'much' is not a size: bytes, or 256M, 1.5GiB"),
            ("directory", str(tmp_path / "full"), "is not empty: a run directory begins as a new or an empty folder"),
            ("directory", "/proc/x", "! /proc cannot be written to: name a folder elsewhere"),
        ]:
            await put(pilot, f"#{name}", text)
            assert beside(app, name.replace("-", "_")).endswith(fault)
            assert start.disabled
            assert said(app, "#status").startswith("! ")
            await pilot.press("ctrl+r")
            await pilot.pause()
            assert app.focused.id == name
            await put(pilot, f"#{name}", "")
            assert not start.disabled
        await put(pilot, "#min-length", "9")
        await put(pilot, "#max-length", "8")
        assert beside(app, "max_length") == "! 8 is below the shortest, 9"

    assert fill(SMALL, steps).command is None


def test_where_a_run_folder_will_be_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home" / "runs").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    async def steps(pilot):
        kept_in = pilot.app.settings.runs_folder
        for typed, place in (
            ("mine", tmp_path),
            ("new/mine", tmp_path / "new"),
            ("~/runs/mine", "~/runs"),
            ("", kept_in),
        ):
            await put(pilot, "#directory", typed)
            assert beside(pilot.app, "directory") == f"in {place}"

    fill(SMALL, steps)


def test_the_folder_of_the_run_that_is_shown_is_not_offered_again(tmp_path):
    with created(tmp_path / "mine", RunCommand("petersen", 1.0), load_graph("petersen")) as directory:
        directory.checkpoint.write_bytes(b"")

    async def steps(pilot):
        app, folder = pilot.app, pilot.app.screen.query_one("#directory", Input)
        for name, left in (("other", str(tmp_path / "other")), ("mine", "")):
            folder.value = str(tmp_path / name)
            app.session = RunSession(FollowFeed(tmp_path / "mine"))
            await pilot.press("f1")
            await until(pilot, lambda: app.current_mode == "help")
            await pilot.press("f1")
            await until(pilot, lambda left=left: app.current_mode == "new" and folder.value == left)

    fill(SMALL, steps)


def test_an_answer_is_shown_no_longer_than_its_question(monkeypatch):
    asked, may_answer = threading.Event(), threading.Event()

    def slow_check(source, *, simplify):
        if source == "petersen":
            asked.set()
            may_answer.wait(PATIENCE)
        return check_graph(source, simplify=simplify)

    async def steps(pilot):
        await put(pilot, "#graph", "grod:3x3")
        row = pilot.app.screen.query_one("#row-graph")
        assert row.has_class("-wrong")
        pilot.app.screen.query_one("#graph", Input).value = "petersen"
        await until(pilot, asked.is_set)
        assert said(pilot.app, "#answer") == ""
        assert not row.has_class("-wrong")
        may_answer.set()
        await until(pilot, lambda: "10 vertices, 15 edges" in said(pilot.app, "#answer"))

    monkeypatch.setattr("chordless.tui.widgets.graph_source.check_graph", slow_check)
    fill(SMALL, steps)


def test_what_this_machine_has_is_shown_and_what_it_has_not_cannot_be_chosen(probed):
    async def steps(pilot):
        arches = pilot.app.screen.query_one("#arch", Choice)
        await until(pilot, lambda: len(arches.reports) == 3)
        await pilot.pause()
        shown = text_of(pilot.app)
        for words in ("EPYC, 2 threads, 8.0 GiB", "llvmpipe", "not available here: no driver for it was found"):
            assert words in shown
        assert said(pilot.app, "#status") == "! Run on: cuda is not available here: no driver for it was found"
        await pilot.press("ctrl+r")
        assert pilot.app.command is None
        arches.choose("vulkan")
        await pilot.pause()
        await pilot.press("f1", "f1", "ctrl+r")
        await until(pilot, lambda: pilot.app.command is not None)

    assert fill(SMALL, steps, Settings(last=LastChoices(arch="cuda"))).command.arch == "vulkan"
    assert probed == ["cpu", "cuda", "vulkan"]


def test_an_offered_graph_needs_only_enter():
    async def steps(pilot):
        await until(pilot, lambda: "10 vertices, 15 edges" in said(pilot.app, "#answer"))
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.command is not None)

    assert fill(SMALL, steps, graph="petersen").command.graph == "petersen"


def test_a_file_is_started_by_its_absolute_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.txt").write_text("a a\na b\nb c\n")

    async def steps(pilot):
        await put(pilot, "#graph", "loop.txt")
        assert "line 1" in said(pilot.app, "#answer")
        assert "`simplified`" in said(pilot.app, "#answer")
        assert "--" not in said(pilot.app, "#answer")
        pilot.app.screen.query_one("#reading", Choice).choose("simplified")
        await until(pilot, lambda: said(pilot.app, "#answer") == "3 vertices, 2 edges, largest degree 2")
        await pilot.press("ctrl+r")

    command = fill(SMALL, steps).command
    assert (command.graph, command.simplify) == (str(tmp_path / "loop.txt"), True)


def test_what_the_reader_notes_stands_beside_the_graph(tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text("from,to,km\na,b,1.5\nb,c,2\na,c,1\n")

    async def steps(pilot):
        await put(pilot, "#graph", str(path))
        assert said(pilot.app, "#answer").splitlines() == [
            "3 vertices, 3 edges, largest degree 2",
            "line 1: taken for a heading, not for an edge: 'from,to,km'",
            "the third column, weights, is not used: every line is an edge",
        ]
        assert "heading" in text_of(pilot.app)

    fill(SMALL, steps)


def test_a_run_that_is_going_on_is_told_in_the_title():
    async def steps(pilot):
        app = pilot.app
        assert said(app, "#new-title") == "New run"
        app.engine_session = object
        app.screen.post_message(RunChanged(RunState()))
        await until(pilot, lambda: said(app, "#new-title") == "New run (1 run is going on: press f3 to see it)")
        del app.engine_session
        app.screen.post_message(RunChanged(RunState()))
        await until(pilot, lambda: said(app, "#new-title") == "New run")

    fill(SMALL, steps)


def test_a_food_web_is_started_by_its_niche_overlap_graph(tmp_path):
    web = tmp_path / "Estuary.net"
    web.write_text(
        "*Vertices 6\n*Arcs\n" + "".join(f"{prey} {species} 1\n" for prey in (1, 2) for species in (3, 4, 5))
    )

    async def steps(pilot):
        await put(pilot, "#graph", str(web))
        assert "choose `simplified`" in said(pilot.app, "#answer")
        assert "`as a food web`" in said(pilot.app, "#answer")
        pilot.app.screen.query_one("#reading", Choice).choose("overlap")
        facts = "6 vertices, 3 edges, largest degree 2, no .clu beside it: every vertex counts as living, detritus too"
        await until(pilot, lambda: said(pilot.app, "#answer") == facts)
        await put(pilot, "#types", "nowhere.clu")
        assert said(pilot.app, "#answer") == "! nowhere.clu: cannot be read: No such file or directory"
        await put(pilot, "#types", "")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: pilot.app.command is not None)

    command = fill(SMALL, steps).command
    assert command.graph == str(Settings().runs_folder / "graphs" / "Estuary-overlap.txt")
    graph = load_graph(command.graph).graph
    assert (graph.n, graph.m) == (6, 3)
    assert os.path.basename(command.checkpoint).startswith("Estuary-overlap-2")
    assert load_settings()[0].last.source == "overlap"


@SIZES
def test_a_graph_is_picked_from_examples_recent_ones_and_files(size, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.txt").write_text("1 2\n")
    (tmp_path / ".hidden").write_text("")

    async def steps(pilot):
        app = pilot.app
        graph, panel = app.screen.query_one("#graph", Input), app.screen.query_one(GraphPanel)
        assert (panel.unfolded == "examples") == (size == LARGE)
        if size == SMALL:
            await pilot.click("#show-examples")
        assert app.screen.query_one("#examples", OptionList).get_option_at_index(0).id == "grid:7x10"
        app.screen.query_one("#examples", OptionList).focus()
        await pilot.press("home", "down", "enter")
        assert graph.value == app.screen.query_one("#examples", OptionList).get_option_at_index(1).id
        await pilot.click("#show-recent")
        await pilot.press("home", "enter")
        assert graph.value == "wheel:7"
        await pilot.click("#show-files")
        await until(pilot, lambda: "web.txt" in text_of(app))
        assert ".hidden" not in text_of(app)
        await pilot.press("down", "enter")
        await until(pilot, lambda: graph.value == "web.txt")
        await pilot.click("#show-files")
        assert panel.unfolded is None
        assert app.focused.id != "files"

    fill(size, steps, Settings(recent=("wheel:7", "wheel:7", "path:3")))


def test_what_is_typed_is_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "roads.txt").write_text("1 2\n")

    async def steps(pilot):
        graph = pilot.app.screen.query_one("#graph", Input)
        for typed, whole in (("gri", "grid:9x10"), ("grid:7", "grid:7x10"), ("graphs/", "graphs/roads.txt")):
            graph.value = ""
            await pilot.press(*(key.replace("/", "slash").replace(":", "colon") for key in typed))
            await until(pilot, lambda whole=whole: graph._suggestion == whole)
            await pilot.press("right")
            assert graph.value == whole

    fill(SMALL, steps, Settings(recent=("grid:9x10",), last=LastChoices(graph="petersen")))


def test_ascii_alone():
    async def steps(pilot):
        await pilot.click("#show-files")
        await pilot.pause()
        form = text_of(pilot.app)
        assert "(x) as it is    ( ) simplified    ( ) as a food web" in form
        assert form.isascii()

    fill(SMALL, steps, ascii_only=True)
