"""The form for a new run: what it says while it is filled in, and the command that comes out."""

from __future__ import annotations

import math
import os
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
from chordless.graphs.check import check_graph
from chordless.graphs.load import load_graph
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import created
from chordless.runs.history import list_runs
from chordless.runs.state import RunState
from chordless.tui.app import ChordlessApp
from chordless.tui.feeds import FollowFeed
from chordless.tui.messages import RunChanged
from chordless.tui.outlook import Outlook
from chordless.tui.run_form import listing_of
from chordless.tui.session import RunSession
from chordless.tui.settings import LastChoices, Settings, load_settings
from chordless.tui.widgets.arch_field import ArchField
from chordless.tui.widgets.choice import Choice
from chordless.tui.widgets.graph_source import GraphSource
from chordless.words.numbers import CycleRange
from patience import PATIENCE
from textual.widgets import Button, Input, RadioButton, Static

from tui.new_form import answer_probes, beside, fill, put, said
from tui.pilots import LARGE, SIZES, SMALL, drive, text_of, until

FAIR = CycleRange(3.5e8, 3e8, 4e8)


def weights_of(folder, names):
    """Write a weight for each of these vertices."""
    path = folder / "weights.tsv"
    path.write_text("".join(f"{name}\t1\n" for name in names))
    return path


@pytest.fixture(autouse=True)
def probed(monkeypatch):
    return answer_probes(monkeypatch)


@SIZES
def test_a_newcomer_presses_the_key_of_start_and_grid_7x10_runs(size):
    async def steps(pilot):
        shown = text_of(pilot.app)
        assert said(pilot.app, "#answer") == "70 vertices, 123 edges, largest degree 4"
        assert "Count all chordless cycles in grid:7x10" in shown
        assert shown.splitlines()[-1].split() == ["^r", "Start", "f4", "Breadth", "first", "^q", "Quit", "f1", "Help"]
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


@pytest.mark.slow
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


def test_a_start_that_waits_for_the_graph_outlives_a_test_of_a_device_but_not_another_graph():
    async def steps(pilot):
        screen = pilot.app.screen
        graph, source = screen.query_one("#graph", Input), screen.query_one(GraphSource)
        graph.value = "petersen"
        screen.action_start()
        graph.value = "grid:3x3"
        await pilot.pause()
        await until(pilot, lambda: source.is_known)
        await pilot.pause()
        assert pilot.app.command is None
        graph.value = "petersen"
        screen.action_start()
        screen.query_one(ArchField).post_message(ArchField.Probed())
        await until(pilot, lambda: pilot.app.command is not None)

    assert fill(SMALL, steps).command.graph == "petersen"


@pytest.mark.slow
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
        pilot.app.screen.query_one("#expansion", Choice).choose("paper")
        await pilot.pause()
        assert "List up to 1000 chordless cycles of 4 to 12 vertices in grid:7x10" in said(pilot.app, "#status")
        await pilot.press("ctrl+r")

    command = fill(SMALL, steps).command
    directory = str(tmp_path / "mine")
    assert (command.min_length, command.max_length, command.limit, command.threads) == (4, 12, 1000, 2)
    assert (command.memory, command.arch, command.simplify) == (3 << 29, "cpu", False)
    assert command.expansion == "paper"
    assert (command.output, command.output_format, command.checkpoint) == (directory, "parts", directory)
    settings, _ = load_settings()
    assert settings.last == LastChoices(
        "spec", "grid:7x10", "cpu", "list", "4", "12", "1000", "1.5GiB", "2", "", "paper"
    )  # fmt: skip

    async def look(pilot):
        found = {name: pilot.app.screen.query_one(name, Input).value for name in typed}
        assert found == typed | {"#directory": ""}
        assert pilot.app.screen.query_one("#what", Choice).chosen == "list"
        assert pilot.app.screen.query_one("#expansion", Choice).chosen == "paper"

    # Also one that was kept by an older version is gone.
    fill(LARGE, look, replace(settings, last=replace(settings.last, directory=directory)))


def test_a_choice_tells_at_once_what_was_chosen():
    """What looks at the form before the message has come would take the option before for a choice of the user."""

    async def steps(pilot):
        what = pilot.app.screen.query_one("#what", Choice)
        for name in ("list", "list", "count"):
            what.choose(name)
            assert what.chosen == name
        await pilot.pause()
        assert what.chosen == "count"
        assert [mark.value for mark in what.query(RadioButton)].count(True) == 1

    fill(SMALL, steps)


@pytest.mark.slow
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
        await pilot.press("alt+3")
        await until(pilot, lambda: app.current_mode == "cycles")
        # What is listed needs a folder, so it runs elsewhere.
        command = listing_of(app.session.command, tmp_path / "listed")
        assert (command.arch, command.checkpoint) == ("auto", str(tmp_path / "listed"))
        assert list_runs(app.settings.runs_folder) == []

    app = ChordlessApp(Settings(runs_folder=tmp_path / "runs"))
    drive(app, SMALL, steps)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cycles", "free", "limit", "words"),
    [
        (
            CycleRange(1e300, 1e299, math.inf),
            1 << 40,
            "",
            "! It takes more than 1.0 EiB on the disk; only 1.0 TiB are free.",
        ),
        (FAIR, 1 << 40, "", "It takes about 5.2 GiB on the disk; 1.0 TiB are free."),
        (FAIR, 1 << 30, "", "! It takes about 5.2 GiB on the disk; only 1.0 GiB are free."),
        (FAIR, 1 << 30, "1000", "It takes 15.6 KiB on the disk; 1.0 GiB are free."),
    ],
)
def test_a_list_tells_its_size_beside_the_free_room_before_it_begins(monkeypatch, cycles, free, limit, words):
    estimate = Outlook(cycles, seconds=10.0, along=None, threads=2)
    monkeypatch.setattr("chordless.tui.widgets.graph_preview.outlooks_of", lambda *question: [estimate])
    monkeypatch.setattr("chordless.tui.outlook.shutil.disk_usage", lambda place: SimpleNamespace(free=free))

    async def steps(pilot):
        screen = pilot.app.screen
        assert "disk" not in said(pilot.app, "#status")
        screen.query_one("#what", Choice).choose("list")
        await put(pilot, "#limit", limit)
        await until(pilot, lambda: said(pilot.app, "#status").splitlines()[-1] == words)
        assert screen.query_one("#status").has_class("-wrong") == words.startswith("!")
        assert not screen.query_one("#start", Button).disabled
        await pilot.press("f2")
        assert [notice.message for notice in pilot.app._notifications] == [
            "Only a count can go along a boundary: choose one under Find."
        ]

    fill(SMALL, steps, graph="grid:9x10")


def test_the_arrow_keys_choose():
    async def steps(pilot):
        what = pilot.app.screen.query_one("#what", Choice)
        what.choose("list")
        what.focus()
        await pilot.pause()
        keys = ("down", "longest"), ("down", "shortest"), ("down", "sample"), ("up", "shortest"), ("space", "shortest")
        for key, chosen in keys:
            await pilot.press(key)
            await until(pilot, lambda chosen=chosen: what.chosen == chosen)
        await until(pilot, lambda: said(pilot.app, "#status").startswith("Draw one of the shortest"))

    fill(SMALL, steps, graph="petersen")


def test_the_whole_form_is_seen_on_a_large_terminal():
    async def steps(pilot):
        form = pilot.app.screen.query_one("#form")
        assert form.max_scroll_y == 0, "the last field is out of sight"

    fill(LARGE, steps, graph="grid:3x3")


def check_kept_for_the_graph(row, words, of_another):
    """Check that a row of the form is shown again with its words, and that another graph begins without them."""
    settings, _ = load_settings()

    async def again(pilot):
        assert pilot.app.screen.query_one(row).display
        assert words in said(pilot.app, "#status")

    fill(SMALL, again, settings=settings)

    async def other(pilot):
        assert said(pilot.app, "#status") == of_another

    fill(SMALL, other, settings=settings, graph="petersen")


def test_the_lightest_even_cycle_is_asked_for_by_its_weights(tmp_path):
    file = weights_of(tmp_path, load_graph("grid:3x3").graph.names)

    async def steps(pilot):
        screen = pilot.app.screen
        assert not screen.query_one("#row-weight").display
        screen.query_one("#what", Choice).choose("shortest")
        await until(pilot, lambda: screen.query_one("#row-weight").display)
        assert screen.query_one("#min-length", Input).placeholder == "4"
        await put(pilot, "#weight", str(file))
        screen.query_one("#parity", Choice).choose("even")
        await until(pilot, lambda: said(pilot.app, "#status").startswith("Draw one of the lightest even"))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: pilot.app.command is not None)

    command = fill(SMALL, steps, graph="grid:3x3").command
    assert (command.pick, command.shortest, command.weight, command.parity) == ("longest", True, str(file), "even")
    check_kept_for_the_graph(
        "#row-weight",
        "lightest even chordless cycles in grid:3x3",
        "Draw one of the shortest even chordless cycles in petersen",
    )


def test_weights_that_a_graph_has_not_are_told_before_the_start(tmp_path):
    file = weights_of(tmp_path, load_graph("grid:3x3").graph.names[1:])

    async def steps(pilot):
        screen = pilot.app.screen
        screen.query_one("#what", Choice).choose("longest")
        await put(pilot, "#weight", "lenght")
        fault = "there is no such file, and no such attribute: the edges of grid:3x3 have no attributes"
        await until(pilot, lambda: beside(pilot.app, "weight") == f"! {fault}")
        assert (said(pilot.app, "#status"), screen.query_one("#start").disabled) == (f"! Weights: {fault}", True)
        long = tmp_path / "long.txt"
        long.write_text(f"0,0 {'x' * 100_000}\n")
        await put(pilot, "#weight", str(long))
        await until(pilot, lambda: beside(pilot.app, "weight").startswith("! line 1: a line of weights is"))
        assert len(beside(pilot.app, "weight")) < 160
        # A start that comes at once waits for the weights.
        screen.query_one("#weight", Input).value = str(file)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "no weight" in beside(pilot.app, "weight"))
        assert pilot.app.command is None
        screen.query_one("#what", Choice).choose("count")
        await until(pilot, lambda: said(pilot.app, "#status").startswith("Count all"))

    fill(SMALL, steps, graph="grid:3x3")


def test_the_word_of_the_empty_field_of_weights_may_be_typed():
    async def steps(pilot):
        pilot.app.screen.query_one("#what", Choice).choose("longest")
        await put(pilot, "#weight", "none")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: pilot.app.command is not None or beside(pilot.app, "weight").startswith("!"))

    command = fill(SMALL, steps, graph="grid:3x3").command
    assert command is not None
    assert command.weight is None


@pytest.mark.slow
def test_paths_are_asked_for_by_their_ends():
    async def steps(pilot):
        screen = pilot.app.screen
        assert not screen.query_one("#row-path_start").display
        screen.query_one("#things", Choice).choose("paths")
        await until(pilot, lambda: said(pilot.app, "#status") == "! From: name a vertex, such as 0,0")
        assert screen.query_one("#start", Button).disabled
        assert said(pilot.app, "#new-words").startswith("On a chordless path")
        assert screen.query_one("#min-length", Input).placeholder == "2"
        await put(pilot, "#path-start", "0,0")
        await put(pilot, "#path-end", "9,9")
        assert beside(pilot.app, "path_end") == "! there is no vertex '9,9' in the graph (its first is called '0,0')"
        await put(pilot, "#path-end", "2,2")
        await until(pilot, lambda: said(pilot.app, "#status").endswith("paths from 0,0 to 2,2 in grid:3x3"))
        await pilot.press("ctrl+r")

    command = fill(SMALL, steps, graph="grid:3x3").command
    assert (command.between, command.min_length) == (("0,0", "2,2"), 2)
    check_kept_for_the_graph("#row-path_start", "paths from 0,0 to 2,2", "Count all chordless cycles in petersen")


@pytest.mark.slow
def test_mistakes_are_said_beside_the_field_in_the_words_of_the_command_line(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")

    async def steps(pilot):
        app = pilot.app
        start = app.screen.query_one("#start", Button)
        for name, text, fault in [
            ("min-length", "2", "! a cycle of a simple graph has at least 3 vertices, not 2"),
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


@pytest.mark.slow
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

    def slow_check(source):
        if source == "petersen":
            asked.set()
            may_answer.wait(PATIENCE)
        return check_graph(source)

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


def test_a_graph_that_is_read_while_the_dashboard_closes_asks_no_field_that_is_gone(monkeypatch):
    asked, may_answer = threading.Event(), threading.Event()

    def slow_check(source):
        if source == "petersen":
            asked.set()
            may_answer.wait(PATIENCE)
        return check_graph(source)

    async def steps(pilot):
        screen = pilot.app.screen
        await put(pilot, "#graph", "cycle:5")
        screen.query_one("#graph", Input).value = "petersen"
        await until(pilot, asked.is_set)
        await screen.query_one("#answer").remove()
        [reading] = [worker for worker in pilot.app.workers if worker.name == "_check"]
        may_answer.set()
        await reading.wait()

    monkeypatch.setattr("chordless.tui.widgets.graph_source.check_graph", slow_check)
    fill(SMALL, steps)


@pytest.mark.slow
def test_what_this_machine_has_is_shown_and_what_it_has_not_cannot_be_chosen(probed):
    async def steps(pilot):
        arches = pilot.app.screen.query_one("#arch", Choice)
        await until(pilot, lambda: len(arches.reports) == 3)
        await pilot.pause()
        shown = " ".join(str(mark.label) for mark in arches.query(RadioButton))
        for words in ("EPYC, 2 threads, 8.0 GiB", "software, slow: llvmpipe", "cuda      no driver was found"):
            assert words in shown
        assert said(pilot.app, "#status") == "! Run on: cuda is not available here: no driver was found"
        await pilot.press("ctrl+r")
        assert pilot.app.command is None
        arches.choose("vulkan")
        await pilot.pause()
        await pilot.press("f1", "f1", "ctrl+r")
        await until(pilot, lambda: pilot.app.command is not None)

    assert fill(SMALL, steps, Settings(last=LastChoices(arch="cuda"))).command.arch == "vulkan"
    assert probed == ["cpu", "cuda", "vulkan"]


def test_a_run_that_is_going_on_is_told_in_the_title():
    async def steps(pilot):
        app = pilot.app
        title = app.screen.query_one("#new-title")
        assert not title.display
        await pilot.click("#graph")
        app.engine_session = object
        app.screen.post_message(RunChanged(RunState()))
        await until(pilot, lambda: said(app, "#new-title") == "1 run is going on: press alt+2 to see it.")
        del app.engine_session
        app.screen.post_message(RunChanged(RunState()))
        await until(pilot, lambda: not title.display)

    fill(SMALL, steps)


def test_ascii_alone():
    async def steps(pilot):
        await pilot.click("#show-files")
        await pilot.pause()
        form = text_of(pilot.app)
        assert "(x) as it is" in form
        assert form.isascii()

    fill(SMALL, steps, ascii_only=True)


def test_the_label_of_the_field_with_the_focus_stands_out():
    async def steps(pilot):
        labels = []
        for _ in range(3):
            found = pilot.app.screen.query(".-focused > .label").results(Static)
            labels.append([str(label.content) for label in found])
            await pilot.press("tab")
            await pilot.pause()
        assert labels == [["Graph"], ["Read it"], []]

    fill(SMALL, steps)
