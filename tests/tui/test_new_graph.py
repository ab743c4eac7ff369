"""The graph of a new run: typed, picked, completed, checked while it is typed."""

from __future__ import annotations

import os

import pytest
from chordless.tui.readings import AS_IT_IS
from chordless.tui.settings import LastChoices, Settings, load_settings
from chordless.tui.widgets.choice import Choice
from chordless.tui.widgets.graph_panel import GraphPanel
from chordless.tui.widgets.graph_preview import GraphPreview
from chordless.tui.widgets.graph_source import GraphSource
from textual.events import Key
from textual.widgets import Input, OptionList

from tui.new_form import answer_probes, fill, put, said
from tui.pilots import LARGE, SIZES, SMALL, text_of, until


@pytest.fixture(autouse=True)
def probed(monkeypatch):
    return answer_probes(monkeypatch)


def test_an_offered_graph_needs_only_enter():
    async def steps(pilot):
        await until(pilot, lambda: "10 vertices, 15 edges" in said(pilot.app, "#answer"))
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.command is not None)

    assert fill(SMALL, steps, graph="petersen").command.graph == "petersen"


def test_the_graph_of_the_command_line_stands_in_the_form_from_the_first_frame_on(monkeypatch):
    """A key that comes early must not begin a run of the graph before."""
    first, mounted = [], GraphSource.on_mount

    def on_mount(source):
        first.append(source.question)
        mounted(source)

    monkeypatch.setattr(GraphSource, "on_mount", on_mount)

    async def steps(pilot):
        assert pilot.app.focused.id == "start"

    last = LastChoices(source="overlap", graph="web.net")
    fill(SMALL, steps, Settings(last=last), graph="petersen")
    assert [(question.text, question.reading) for question in first] == [("petersen", AS_IT_IS)]


def test_keys_are_obeyed_in_the_order_in_which_they_were_pressed():
    """Also where all of them came before the dashboard looked up."""

    async def steps(pilot):
        field = pilot.app.screen.query_one("#graph", Input)
        field.focus()
        await pilot.pause()
        for key in ("ctrl+u", *"peterx", "backspace", *"se", "left", "right", "n", "home", "end", "1"):
            pilot.app.post_message(Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: field.value.endswith("1"))
        assert field.value == "petersen1"

    fill(SMALL, steps, graph="petersen")


def test_a_spec_may_be_longer_than_the_name_of_a_file():
    async def steps(pilot):
        await until(pilot, lambda: "a size of more than 18 digits is too large" in said(pilot.app, "#answer"))

    fill(LARGE, steps, graph=f"cycle:{'0' * 300}5")


def test_a_file_is_started_by_its_absolute_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.txt").write_text("a a\na b\nb c\n")

    async def steps(pilot):
        await put(pilot, "#graph", ".")
        assert said(pilot.app, "#answer") == "! this is a folder: pick a file of it, or count many on Batch (alt+5)"
        await put(pilot, "#graph", "loop.txt")
        assert "line 1" in said(pilot.app, "#answer")
        assert "`simplified`" in said(pilot.app, "#answer")
        assert "--" not in said(pilot.app, "#answer")
        pilot.app.screen.query_one("#reading", Choice).choose("simplified")
        await until(pilot, lambda: said(pilot.app, "#answer") == "3 vertices, 2 edges, largest degree 2")
        await pilot.press("ctrl+r")

    command = fill(SMALL, steps).command
    assert (command.graph, command.simplify) == (str(tmp_path / "loop.txt"), True)


def test_the_facts_of_one_graph_never_stand_beside_the_name_of_another():
    async def steps(pilot):
        screen = pilot.app.screen
        field = screen.query_one("#graph", Input)
        with field.prevent(Input.Changed):
            # The news that it has changed is still on its way when the form is looked at for another reason.
            field.value = "petersen"
        screen._show_status()
        assert said(pilot.app, "#status") == "looking at petersen ..."
        assert screen.query_one(GraphPreview)._question.graph[0] == "grid:7x10"
        await put(pilot, "#graph", "petersen ")
        await until(pilot, lambda: said(pilot.app, "#preview-size").startswith("10 vertices"))

    fill(SMALL, steps)


def test_a_directed_graph_may_have_short_cycles(tmp_path):
    path = tmp_path / "arcs.txt"
    path.write_text("1 2\n2 1\n2 3\n3 1\n")

    async def steps(pilot):
        pilot.app.screen.query_one("#reading", Choice).choose("directed")
        await put(pilot, "#graph", "petersen")
        assert said(pilot.app, "#answer") == "! a spec makes an undirected graph: choose `as it is`"
        await put(pilot, "#graph", str(path))
        assert said(pilot.app, "#answer") == "3 vertices, 4 arcs, largest degree 2"
        await put(pilot, "#min-length", "2")
        await pilot.press("ctrl+r")

    command = fill(SMALL, steps).command
    assert (command.directed, command.min_length) == (True, 2)


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


@pytest.mark.slow
def test_a_food_web_is_started_by_its_niche_overlap_graph(tmp_path):
    web = tmp_path / "Estuary.net"
    web.write_text(
        "*Vertices 6\n*Arcs\n" + "".join(f"{prey} {species} 1\n" for prey in (1, 2) for species in (3, 4, 5))
    )

    async def steps(pilot):
        await put(pilot, "#graph", str(web))
        assert said(pilot.app, "#answer") == "6 vertices, 6 arcs, largest degree 3"
        pilot.app.screen.query_one("#reading", Choice).choose("overlap")
        facts = "6 vertices, 3 edges, largest degree 2, no .clu beside it: every vertex counts as living, detritus too"
        await until(pilot, lambda: said(pilot.app, "#answer") == facts)
        await put(pilot, "#types", "nowhere.clu")
        assert said(pilot.app, "#answer") == "! nowhere.clu: cannot be read: No such file or directory"
        await put(pilot, "#types", "")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: pilot.app.command is not None)

    command = fill(SMALL, steps).command
    assert (command.graph, command.overlap, command.types) == (str(web), True, None)
    assert os.path.basename(command.checkpoint).startswith("Estuary-overlap-2")
    assert load_settings()[0].last.source == "overlap"


@pytest.mark.slow
def test_a_web_with_living_types_is_offered_as_a_food_web_which_the_next_file_is_not(tmp_path):
    web, other = tmp_path / "Bay.net", tmp_path / "triangle.g6"
    web.write_text("*Vertices 4\n*Arcs\n1 2 1\n1 3 1\n1 4 1\n")
    web.with_suffix(".clu").write_text("*Vertices 4\n1\n1\n1\n2\n")
    other.write_text("Bw\n")

    async def steps(pilot):
        app = pilot.app
        choice = app.screen.query_one("#reading", Choice)
        await put(pilot, "#graph", str(web))
        assert said(app, "#answer").splitlines()[1].startswith("A food web: ")
        await until(pilot, lambda: "A food web: choose" in text_of(app))
        choice.choose("overlap")
        await until(pilot, lambda: said(app, "#answer") == "4 vertices, 1 edge, largest degree 1")
        await put(pilot, "#graph", str(other))
        await until(pilot, lambda: said(app, "#answer") == "3 vertices, 3 edges, largest degree 2")
        assert choice.chosen == "as-is"
        # Who asks for a food web is told why this is none.
        choice.choose("overlap")
        await until(pilot, lambda: "*Vertices" in said(app, "#answer"))
        assert choice.chosen == "overlap"

    fill(SMALL, steps)


@pytest.mark.slow
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
        await until(pilot, lambda: graph.has_focus)
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


@pytest.mark.slow
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


@pytest.mark.parametrize("size", [(60, 20), LARGE], ids=["60x20", "160x50"])
def test_examples_are_filtered_by_their_letters(size):
    async def steps(pilot):
        app = pilot.app
        app.screen.query_one(GraphPanel).unfold("examples")
        examples, letters = (
            app.screen.query_one("#examples", OptionList),
            app.screen.query_one("#examples-filter", Input),
        )
        every = examples.option_count
        letters.value = "Torus"
        await until(pilot, lambda: examples.option_count == 1)
        assert examples.get_option_at_index(0).id == "torus:5x6"
        letters.value = "skips"
        # A long sentence is told to its end.
        await until(pilot, lambda: "petersen:5,2" in text_of(app))
        letters.value = "no such thing"
        await until(pilot, lambda: "none has these letters" in text_of(app))
        letters.value = ""
        await until(pilot, lambda: examples.option_count == every)
        # It is no field of the run.
        assert app.screen.query_one("#graph", Input).value == "grid:7x10"

    fill(size, steps)
