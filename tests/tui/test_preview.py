"""What the first screen shows beside the form: a drawing, one cycle lit, an estimate, and the latest runs."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from threading import Event

import pytest
from chordless.engine.rates import Expected
from chordless.graphs.load import load_graph
from chordless.protocol.orders import RunCommand
from chordless.tui import outlook as outlook_module
from chordless.tui.app import ChordlessApp
from chordless.tui.outlook import Outlook, outlooks_of
from chordless.tui.screens import new_preview
from chordless.tui.screens.new import NewScreen
from chordless.tui.settings import LastChoices, Settings
from chordless.tui.widgets.choice import Choice
from chordless.tui.widgets.graph_panel import GraphPanel
from chordless.tui.widgets.graph_view import GraphView
from chordless.words.numbers import CycleRange, large_number, range_text
from patience import PATIENCE
from textual.widgets import Input, OptionList

from kernels_ti import Options
from tui.pilots import LARGE, SMALL, drive, text_of, until
from tui.stage import notices
from tui.test_runs_screen import SUMMARY


def said(app, name):
    return str(app.screen.query_one(name).content)


def lit(app):
    """Return how many vertices are lit in the drawing, which is to the right of the form."""
    return sum(line[line.rfind("│") :].count("●") for line in text_of(app).splitlines() if "│" in line)


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "160x50"])
def test_the_typed_graph_is_drawn_with_a_cycle_lit_and_an_estimate(size):
    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: lit(app) >= 5 and "exactly" in said(app, "#preview-estimate"))
        assert said(app, "#preview-estimate").splitlines() == [
            "22 chordless cycles, exactly.",
            "About 1 ms of search on 2 threads.",
            "Method: search.",
        ]
        # Only cycles within the bounds are lit: the longest of the Petersen graph have six vertices.
        app.screen.query_one("#parity", Choice).choose("even")
        await until(pilot, lambda: lit(app) == 6)
        app.screen.query_one("#parity", Choice).choose("any")
        app.screen.query_one("#max-length", Input).value = "5"
        await until(pilot, lambda: lit(app) == 5)
        app.screen.query_one("#graph", Input).value = "nonsense:1"
        await until(pilot, lambda: said(app, "#preview-estimate") == "")
        await until(pilot, lambda: lit(app) == 0)
        app.screen.query_one("#graph", Input).value = "grid:300x300"
        await until(pilot, lambda: "Too large to draw" in said(app, "#preview-estimate"))

    drive(ChordlessApp(Settings(last=LastChoices(graph="petersen"))), size, steps)


def test_the_vertices_are_named_while_the_ends_of_paths_are_chosen():
    last = LastChoices(graph="grid:6x6", things="paths")

    async def steps(pilot):
        await until(pilot, lambda: "Name both ends" in text_of(pilot.app) and "5,5" in text_of(pilot.app))

    drive(ChordlessApp(Settings(last=last)), (120, 40), steps)


def test_a_path_is_drawn_open_from_end_to_end_and_estimated():
    async def steps(pilot):
        app = pilot.app
        view = app.screen.query_one("#preview-graph", GraphView)
        await until(pilot, lambda: "Name both ends" in said(app, "#preview-estimate"))
        await until(pilot, lambda: view._layout_of_graph is not None)
        drawn = view._layout_of_graph
        app.screen.query_one("#path-end", Input).value = "2,2"
        await until(pilot, lambda: len(view._cycle) == 5)
        assert view._layout_of_graph is drawn, "the graph is the same"
        names = [view._names[v] for v in view._cycle]
        assert (names[0], names[-1], view.thing) == ("0,0", "2,2", "path")
        await until(pilot, lambda: said(app, "#preview-estimate").startswith("22 chordless paths, exactly."))
        app.screen.query_one("#things", Choice).choose("all-paths")
        await until(pilot, lambda: len(view._cycle) > 5)
        assert view.thing == "path"
        app.screen.query_one("#things", Choice).choose("cycles")
        await until(pilot, lambda: len(view._cycle) and view.thing == "cycle")

    choices = LastChoices(graph="grid:3x3", things="paths", path_start="0,0")
    drive(ChordlessApp(Settings(last=choices)), SMALL, steps)


@pytest.mark.parametrize(
    ("command", "number"),
    [
        (RunCommand("grid:5x5", 0.0, min_length=2, between=("0,0", "4,4")), "92"),
        (RunCommand("grid:5x5", 0.0, min_length=10, max_length=13, between=("0,0", "4,4")), "16"),
        (RunCommand("grid:3x3", 0.0, min_length=2, all_pairs=True), "94"),
        (RunCommand("grid:5x5", 0.0, min_length=2, between=("0,0", "4,4"), parity="odd"), "92"),
        (RunCommand("petersen", 0.0, parity="odd"), "12"),
    ],
)
def test_the_estimate_is_that_of_what_is_asked_for(command, number, monkeypatch):
    monkeypatch.setattr(outlook_module, "_SECONDS", PATIENCE)
    graph = load_graph(command.graph).graph
    *_, last = outlooks_of(*outlook_module.search_of(command, graph), lambda: False)
    assert replace(last, thing=command.thing).lines()[0] == f"{number} chordless {command.thing}s, exactly."


def test_another_cycle_is_lit_after_a_while_unless_nothing_moves(monkeypatch):
    monkeypatch.setattr("chordless.tui.widgets.graph_preview._SECONDS_OF_A_CYCLE", 0.05)

    async def steps(pilot):
        met = set()

        def both():
            met.add(lit(pilot.app))
            return {5, 6} <= met

        await until(pilot, both)

    drive(ChordlessApp(Settings(last=LastChoices(graph="petersen"))), SMALL, steps)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "is_drawn"), [(20, False), (30, True)])
def test_a_narrow_terminal_has_the_estimate_below_the_form_and_a_drawing_if_there_are_rows(rows, is_drawn):
    async def steps(pilot):
        await until(pilot, lambda: "22 chordless cycles, exactly." in text_of(pilot.app))
        await until(pilot, lambda: "10 vertices" in text_of(pilot.app))
        assert "Method: search." in " ".join(text_of(pilot.app).split())
        await until(pilot, lambda: (pilot.app.screen.query_one("#preview-graph").size.height > 0) == is_drawn)

    drive(ChordlessApp(Settings(last=LastChoices(graph="petersen"))), (60, rows), steps)


def test_a_recent_run_is_opened(finished):
    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: "229 cycles" in text_of(app))
        app.screen.query_one("#recent-runs OptionList", OptionList).focus()
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.current_mode == "run" and app.run_state.cycles == 229)

    drive(ChordlessApp(Settings(runs_folder=finished.parent)), LARGE, steps)


def test_what_it_is_stands_on_the_first_screen():
    async def steps(pilot):
        assert isinstance(pilot.app.screen, NewScreen)
        assert "A chordless cycle is a ring of vertices" in text_of(pilot.app)

    drive(ChordlessApp(Settings()), (60, 20), steps)


def test_a_small_graph_is_counted_exactly():
    (outlook,) = outlooks_of(load_graph("petersen").graph, Options(), lambda: False)
    assert outlook.lines()[0] == "22 chordless cycles, exactly."
    assert not list(outlooks_of(load_graph("grid:7x10").graph, Options(), lambda: True))


def test_a_search_breadth_first_has_no_time_of_its_own():
    outlook = Outlook(CycleRange(7.4e8, 6.3e8, 8.9e8), 25.0, QUICK, 2)
    assert outlook.lines(breadth_first=True) == (
        "About 740 million chordless cycles (630 to 890 million).",
        "Breadth first, a search takes far longer than with two ends.",
    )


def test_what_is_chosen_is_not_advised():
    outlook = Outlook(CycleRange(7.4e8, 6.3e8, 8.9e8), 25.0, QUICK, 2)
    assert outlook.lines(along_boundary=True)[-1] == "A count along a boundary takes about 200 ms."
    vague = replace(outlook, cycles=CycleRange(0, 0, math.inf), is_last=False)
    assert vague.lines(along_boundary=True) == ("estimating ...", "A count along a boundary takes about 200 ms.")


def test_of_a_run_that_picks_cycles_only_their_number_is_estimated():
    outlook = Outlook(CycleRange(7.4e8, 6.3e8, 8.9e8), 25.0, QUICK, 2)
    assert outlook.lines(picks=True) == ("About 740 million chordless cycles (630 to 890 million).",)
    vague = replace(outlook, cycles=CycleRange(0, 0, math.inf), is_last=False)
    assert vague.lines(picks=True) == ("estimating ...",)


@pytest.mark.parametrize(("memory", "fits"), [(None, True), (200 << 20, False), (1 << 20, None)])
def test_a_count_along_a_boundary_is_advised_if_it_fits_into_the_memory_that_is_allowed(memory, fits, monkeypatch):
    monkeypatch.setattr("kernels_ti.device.memory.resident_bytes", lambda: 150 << 20)
    monkeypatch.setattr("kernels_ti.device.memory._free_host_memory", lambda: 1 << 36)
    monkeypatch.setattr("chordless.engine.rates.known_rates", lambda *_, **__: None)
    monkeypatch.setattr(outlook_module, "_SECONDS", 0.01)
    monkeypatch.setattr(outlook_module, "_SECONDS_IF_VAGUE", 0.01)
    graph = load_graph("grid:16x16").graph
    command = RunCommand("grid:16x16", 0.0, memory=memory)
    *_, last = outlooks_of(*outlook_module.search_of(command, graph), lambda: False)
    assert (None if last.along is None else last.along.fits) is fits


def test_a_vague_estimate_is_followed_by_a_better_one(monkeypatch):
    """At first no walk fits into a probe. The count along a boundary is told even before the number of cycles is."""
    monkeypatch.setattr(outlook_module, "_SECONDS", 0.0)
    monkeypatch.setattr(outlook_module, "_PROBE_SECONDS", 1e-6)
    monkeypatch.setattr(outlook_module, "_SECONDS_IF_VAGUE", PATIENCE)
    vague, clear = outlooks_of(load_graph("grid:7x10").graph, Options(), lambda: False)
    assert vague.lines()[0] == "estimating ..."
    assert vague.lines()[1].startswith("A count along a boundary takes")
    assert clear.is_last
    assert 0 < clear.cycles.low < clear.cycles.high < math.inf  # a busy machine makes few walks
    assert math.isfinite(clear.cycles.high)


def test_an_estimate_for_which_a_busy_machine_had_no_time_is_vague(monkeypatch):
    """Its range may be narrow and far from the truth."""

    def probe(estimator, *arguments, **more):
        seconds = 0.5
        while not estimator.probed or outlook_module._range_of(estimator.estimate()).is_vague:
            estimator.probe(seconds)
            seconds *= 2  # After a slow walk no other fits into a short probe.

    monkeypatch.setattr(outlook_module, "_probe", probe)
    monkeypatch.setattr(outlook_module.time, "thread_time", lambda: 0.0)
    first, last = outlooks_of(load_graph("grid:7x8").graph, Options(), lambda: False)
    assert first.cycles.is_vague
    assert last.cycles.is_vague
    assert last.is_last


QUICK = Expected(0.2, 1e6, True)


@pytest.mark.parametrize(
    ("outlook", "words"),
    [
        (
            Outlook(CycleRange(7.4e12, 6.3e12, 8.9e12), 2e5, Expected(6840.0, 4.6 * 2**34, False), 2, is_settled=False),
            [
                "About 7.4 trillion chordless cycles (6.3 to 8.9 trillion).",
                "About 2.3 days of search on 2 threads.",
                "A count along a boundary does not fit into the memory here: it takes 73.6 GiB at least."
                " Stop after some, or bound the length.",
            ],
        ),
        (
            Outlook(CycleRange(7.4e8, 6.3e8, 8.9e8), 25.0, QUICK, 2),
            [
                "About 740 million chordless cycles (630 to 890 million).",
                "About 25 s of search on 2 threads.",
                "A count along a boundary takes about 200 ms (Find: along a boundary).",
            ],
        ),
        (
            Outlook(CycleRange(7.4e8, 6.3e8, 8.9e8), 25.0, QUICK, 2, is_settled=False),
            [
                "About 740 million chordless cycles (630 to 890 million).",
                "About 25 s of search on 2 threads.",
                "A count along a boundary takes about 200 ms or less (Find: along a boundary).",
            ],
        ),
        (
            Outlook(CycleRange(7.4e8, 6.3e8, 8.9e8), 9000.0, Expected(50.0, 1e6, True), 2, is_settled=False),
            [
                "About 740 million chordless cycles (630 to 890 million).",
                "About 2.5 hours of search on 2 threads.",
                "A count along a boundary takes about 50 s, often far less (Find: along a boundary).",
            ],
        ),
        (
            Outlook(CycleRange(330, 330, math.inf), 3e6, Expected(1e6, 1e6, True), 1),
            [
                "At least 330 chordless cycles.",
                "How long a search takes cannot be said.",
                "A count along a boundary takes about 12 days. Stop after some, or bound the length.",
            ],
        ),
        (
            Outlook(CycleRange(330, 330, math.inf), 1.0, None, 1),
            [
                "At least 330 chordless cycles.",
                "How long a search takes cannot be said.",
                "Method: search. Stop after some, or bound the length.",
            ],
        ),
        (
            # The time is that of a single walk: no more is known than that the boundary is quick.
            Outlook(CycleRange(330, 330, math.inf), 0.1, QUICK, 1),
            [
                "At least 330 chordless cycles.",
                "How long a search takes cannot be said.",
                "A count along a boundary takes about 200 ms (Find: along a boundary).",
            ],
        ),
        (
            Outlook(CycleRange(1e39, 1e37, 1e41), 1e31, None, 1),
            [
                "At least 1.0e37 chordless cycles.",
                "How long a search takes cannot be said.",
                "Method: search. Stop after some, or bound the length.",
            ],
        ),
        (
            Outlook(CycleRange(1e39, 2e38, 1e40), 1e31, None, 1),
            [
                "About 1.0e39 chordless cycles (2.0e38 to 1.0e40).",
                "About 3.2e23 years of search on 1 thread.",
                "Method: search. Stop after some, or bound the length.",
            ],
        ),
        (
            Outlook(CycleRange(1, 1, 1, exact=True), 0.5, QUICK, 1),
            ["1 chordless cycle, exactly.", "About 500 ms of search on 1 thread.", "Method: search."],
        ),
    ],
)
def test_an_estimate_in_words(outlook, words):
    assert list(outlook.lines()) == words


@pytest.mark.parametrize(
    ("outlook", "find", "words"),
    [
        (
            Outlook(CycleRange(1e9, 9e8, 1.1e9), 42.0, QUICK, 2),
            "count",
            "A search: about 42 s. Along a boundary: about 200 ms.",
        ),
        (
            Outlook(CycleRange(1e9, 9e8, 1.1e9), 42.0, QUICK, 2),
            "boundary",
            "Along a boundary: about 200 ms. A search: about 42 s.",
        ),
        (Outlook(CycleRange(330, 330, math.inf), 0.1, QUICK, 1, is_last=False), "count", ""),
        (
            Outlook(CycleRange(330, 330, math.inf), 0.1, QUICK, 1, is_settled=False),
            "count",
            "A search: how long cannot be said. Along a boundary: about 200 ms or less.",
        ),
        (Outlook(CycleRange(1e9, 9e8, 1.1e9), 42.0, Expected(5.0, 1e6, True), 2), "count", ""),
        (Outlook(CycleRange(1e9, 9e8, 1.1e9), 42.0, Expected(0.2, 1e15, False), 2), "count", ""),
        (Outlook(CycleRange(1e39, 1e37, 1e41), 1e31, Expected(1e6, 1e6, True), 1), "count", ""),
        (
            Outlook(CycleRange(1e21, 9e20, 2e21), 1e14, Expected(1e6, 1e6, True), 1),
            "count",
            "A search: about 3.2 million years. Along a boundary: about 12 days.",
        ),
        (Outlook(CycleRange(1e9, 9e8, 1.1e9), 42.0, None, 2), "count", ""),
        (Outlook(CycleRange(1e9, 9e8, 1.1e9), 9.0, QUICK, 2), "count", ""),
        (
            Outlook(CycleRange(1e9, 9e8, 1.1e9), 9.0, None, 2),
            "boundary",
            "A search of all cycles takes about 9 s.",
        ),
        (
            Outlook(CycleRange(1e9, 9e8, 1.1e9), 42.0, Expected(0.2, 1 << 40, False), 2),
            "boundary",
            "Along a boundary: at least 1.0 TiB, more than there is. A search: about 42 s.",
        ),
    ],
)
def test_both_times_are_told_where_the_boundary_is_much_sooner(outlook, find, words):
    assert outlook.both_times(find) == words


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (1e14, "A search: about 3.2 million years. Along a boundary: about 200 ms."),
        (None, "A search: how long cannot be said. Along a boundary: about 200 ms."),
        (299.0, ""),
    ],
)
def test_both_times_are_told_of_a_search_at_work_that_takes_very_long(left, words):
    planned = Outlook(CycleRange(0, 0, math.inf), math.inf, QUICK, 2)
    assert planned.times_if_long(left) == words
    assert replace(planned, along=Expected(0.2, 1e15, False)).times_if_long(left) == ""


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 20), SMALL, LARGE], ids=["60x20", "80x24", "160x50"])
def test_one_key_takes_the_other_way_to_count(size, monkeypatch):
    outlook = Outlook(CycleRange(7.4e8, 6.3e8, 8.9e8), 42.0, Expected(1.0, 1e6, True), 2)
    monkeypatch.setattr("chordless.tui.widgets.graph_preview.outlooks_of", lambda *question: [outlook])

    async def steps(pilot):
        app = pilot.app

        def line():
            return " ".join(said(app, "#status").split())

        await until(pilot, lambda: line().endswith("Along a boundary: about 1 s. f2 takes the boundary."))
        assert "f2 takes" in text_of(app)
        assert "boundary." in text_of(app)
        await pilot.press("f2")
        await until(pilot, lambda: line().endswith("A search: about 42 s. f2 takes the search."))
        assert app.screen.query_one("#what", Choice).chosen == "boundary"
        assert "Find: along" not in said(app, "#preview-estimate")
        await pilot.press("f2")
        await until(pilot, lambda: line().endswith("f2 takes the boundary."))
        # A count of some cycles is none along a boundary.
        app.screen.query_one("#limit", Input).value = "7"
        await until(pilot, lambda: "f2" not in line())
        await pilot.press("f2")
        assert app.screen.query_one("#what", Choice).chosen == "count"

    drive(ChordlessApp(Settings(last=LastChoices(graph="petersen"))), size, steps)


@pytest.mark.parametrize("along", [Expected(290.0, 1e6, True), Expected(1.0, 1 << 40, False)])
def test_both_times_and_the_key_fit_beside_start(along, monkeypatch):
    unknown = Outlook(CycleRange(330, 330, math.inf), 0.1, along, 2, is_settled=False)
    monkeypatch.setattr("chordless.tui.widgets.graph_preview.outlooks_of", lambda *question: [unknown])

    async def steps(pilot):
        await until(pilot, lambda: "f2 takes the search." in " ".join(text_of(pilot.app).split()))

    drive(ChordlessApp(Settings(last=LastChoices(graph="petersen", find="boundary"))), (60, 20), steps)


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "way"), [(299.0, "count"), (301.0, "boundary")])
def test_a_search_of_more_than_five_minutes_begins_along_the_boundary(seconds, way, monkeypatch):
    outlooks = {
        16: Outlook(CycleRange(7.4e9, 6.3e9, 8.9e9), seconds, Expected(1.0, 1e6, True), 2),
        10: Outlook(CycleRange(22, 22, 22, exact=True), 0.001, None, 2),
    }
    monkeypatch.setattr("chordless.tui.widgets.graph_preview.outlooks_of", lambda graph, *question: [outlooks[graph.n]])

    async def steps(pilot):
        app = pilot.app
        what = app.screen.query_one("#what", Choice)
        other = {"count": "boundary", "boundary": "search"}[way]
        await until(pilot, lambda: f"f2 takes the {other}." in said(app, "#status"))
        assert what.chosen == way
        app.screen.query_one("#graph", Input).value = "petersen"
        await until(pilot, lambda: "22 chordless" in said(app, "#preview-estimate"))
        await until(pilot, lambda: what.chosen == "count")
        app.screen.query_one("#graph", Input).value = "grid:4x4"
        await until(pilot, lambda: f"f2 takes the {other}." in said(app, "#status"))
        await pilot.press("f2")
        await until(pilot, lambda: f"f2 takes the {other}." not in said(app, "#status"))
        # The user's own way stays, for this graph.
        assert what.chosen == {"count": "boundary", "boundary": "count"}[way]

    drive(ChordlessApp(Settings(last=LastChoices(graph="grid:4x4"))), SMALL, steps)


def test_the_runs_are_looked_through_once_per_change(monkeypatch):
    looks, changes = [], []
    look, change = new_preview.counted_before, NewScreen._show_status
    monkeypatch.setattr(new_preview, "counted_before", lambda *question: looks.append(question) or look(*question))
    monkeypatch.setattr(NewScreen, "_show_status", lambda screen: changes.append(screen) or change(screen))

    async def steps(pilot):
        await until(pilot, lambda: "chordless cycles, exactly" in said(pilot.app, "#preview-estimate"))
        assert 0 < len(looks) <= len(changes)

    drive(ChordlessApp(Settings(last=LastChoices(graph="grid:4x4"))), SMALL, steps)


@pytest.mark.parametrize(("method", "chosen"), [("search", "count"), ("boundary", "boundary")])
def test_a_search_that_was_made_before_tells_its_time(method, chosen, monkeypatch):
    outlook = Outlook(CycleRange(20, 20, math.inf), 42.0, Expected(1.0, 1e6, True), 2)
    monkeypatch.setattr("chordless.tui.widgets.graph_preview.outlooks_of", lambda *question: [outlook])
    command = RunCommand("grid:4x4", 1.0, method=method)
    before = replace(SUMMARY, graph="grid:4x4", command=command, cycles=20, seconds=0.003)
    monkeypatch.setattr("chordless.tui.widgets.recent_runs.list_runs", lambda *folders: [before])

    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: "20 chordless cycles: counted" in said(app, "#preview-estimate"))
        await until(pilot, lambda: app.screen.query_one("#what", Choice).chosen == chosen)
        assert ("cannot be said" in said(app, "#status")) == (method == "boundary")

    drive(ChordlessApp(Settings(last=LastChoices(graph="grid:4x4"))), SMALL, steps)


def test_the_other_way_is_not_taken_before_the_estimate_is_there(monkeypatch):
    known = Event()
    vague, clear = (CycleRange(20, 20, math.inf), False), (CycleRange(7.4e8, 6.3e8, 8.9e8), True)

    def outlooks(*question):
        yield Outlook(vague[0], 42.0, Expected(1.0, 1e6, True), 2, is_last=vague[1])
        assert known.wait(PATIENCE)
        yield Outlook(clear[0], 42.0, Expected(1.0, 1e6, True), 2, is_last=clear[1])

    monkeypatch.setattr("chordless.tui.widgets.graph_preview.outlooks_of", outlooks)

    async def steps(pilot):
        app = pilot.app
        what = app.screen.query_one("#what", Choice)
        await until(pilot, lambda: "estimating" in said(app, "#preview-estimate"))
        await pilot.press("f2")
        assert notices(app) == ["The estimate is not there yet: it tells which way is sooner."]
        assert what.chosen == "count"
        known.set()
        await until(pilot, lambda: "f2 takes" in said(app, "#status"))
        await pilot.press("f2")
        await until(pilot, lambda: what.chosen == "boundary")

    drive(ChordlessApp(Settings(last=LastChoices(graph="petersen"))), SMALL, steps)


def test_an_estimate_stays_while_other_screens_are_shown_until_its_file_changes(monkeypatch, tmp_path):
    looked = []

    def outlooks(graph, *question):
        looked.append(graph.m)
        return [Outlook(CycleRange(7.4e8, 6.3e8, 8.9e8), 42.0, None, 2)]

    monkeypatch.setattr("chordless.tui.widgets.graph_preview.outlooks_of", outlooks)
    path = tmp_path / "g.txt"
    path.write_text("1 2\n2 3\n3 1\n")

    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: "About 740 million" in said(app, "#preview-estimate"))
        for key, screen in (("alt+4", "RunsScreen"), ("1", "NewScreen")):
            await pilot.press(key)
            await until(pilot, lambda screen=screen: type(app.screen).__name__ == screen)
        await pilot.pause(0.2)
        assert looked == [3]
        assert "About 740 million" in said(app, "#preview-estimate")
        await pilot.press("alt+4")
        await until(pilot, lambda: type(app.screen).__name__ == "RunsScreen")
        path.write_text("1 2\n2 3\n3 1\n3 4\n")
        os.utime(path, (0, 0))
        await pilot.press("1")
        await until(pilot, lambda: looked == [3, 4])

    drive(ChordlessApp(Settings(last=LastChoices(graph=str(path)))), SMALL, steps)


def test_large_numbers_in_words():
    assert [large_number(value) for value in (950, 43210, 6.94e8, 2.21e9, 3.3e14, 999e12, 7.12e21, 10**400)] == [
        "950",
        "43,000",
        "690 million",
        "2.2 billion",
        "330 trillion",
        "1.0e15",
        "7.1e21",
        "over 1e308",
    ]
    assert large_number(math.inf) == "over 1e308"
    assert range_text(4.3e8, 2.2e9) == " (430 million to 2.2 billion)"
    assert range_text(5.0e8, 5.01e8) == ""


def test_the_line_at_the_cursor_of_a_list_is_seen_without_colour():
    async def steps(pilot):
        screen = pilot.app.screen
        screen.query_one(GraphPanel).unfold("examples")
        examples = screen.query_one("#examples", OptionList)
        line = "option-list--option-highlighted"
        assert not examples.get_component_rich_style(line).underline
        examples.focus()
        await until(pilot, lambda: examples.has_focus)
        assert examples.get_component_rich_style(line).underline

    drive(ChordlessApp(Settings()), SMALL, steps)
