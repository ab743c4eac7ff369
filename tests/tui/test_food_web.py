"""The end of a food web: holes, the line of niches, and the species in most holes."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from chordless.graphs.overlap_report import OverlapReport, SpeciesHoles
from chordless.protocol.orders import RunCommand
from chordless.tui.app import ChordlessApp
from chordless.tui.messages import StartRun
from chordless.tui.settings import Settings
from chordless.tui.widgets.web_verdict import is_known_in_full, report_of_web, verdict_words
from food_webs import write_web
from textual.widgets import Static

from kernels_ti import GraphError
from tui.pilots import SMALL, drive, text_of, until
from tui.stage import COMPLETE, Stage, play

NO_HOLES = {"web": "x.net", "n": 9, "types": None, "living": 9, "links": 9, "sharing_prey": 4, "m": 3}


def web_of_groups(path, *groups):
    """Write a web whose species have letters."""
    species = 1 + max(v for group in groups for v in group)
    return str(write_web(path, *groups, names="ABCDEFGHIJKLMNOP"[: species + len(groups)]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (((0, 1), (1, 2), (2, 3), (3, 0)), "1 hole: no line of niches has all 4 species. In most holes: "),
        (((0,), (1,)), "No two species share prey."),
        (((0, 1), (1, 2)), "No hole: one line of niches has all 3 species. An order of them: "),
        (((0, 1), (1, 2), (0, 3), (3, 4), (0, 5), (5, 6)), "No hole, but no line of niches has all 7 species: "),
    ],
    ids=("a hole", "nothing shared", "a line", "a spider"),
)
def test_the_verdict_on_a_web(tmp_path, groups, words):
    web = web_of_groups(tmp_path / "web.net", *groups)
    report = report_of_web(web, None, lambda: False)
    said = verdict_words(report)
    assert said.startswith(words)
    rest = said.removeprefix(words)
    if not report.sharing_prey:
        assert rest == ""
    elif report.holes:
        assert rest == "A (1), B (1), C (1)."
    elif report.order is None:
        assert rest.endswith(" are an asteroidal triple.")
        assert set(rest.removesuffix(" are an asteroidal triple.").split("; ")) == {"C", "E", "G"}
    else:
        assert rest in ("A, B, C.", "C, B, A.")


def test_the_words_of_many_holes_name_three_species():
    species = tuple(
        SpeciesHoles(name, holes, {4: holes}) for name, holes in (("a", 900), ("b", 80), ("c", 7), ("d", 6))
    )
    report = OverlapReport(
        **NO_HOLES,
        holes_by_length={4: 1000, 5: 234},
        species=species,
        order=None,
        asteroidal_triple=None,
        chordal=False,
        complete=True,
    )
    words = "1,234 holes: no line of niches has all 4 species. In most holes: a (900), b (80), c (7)."
    assert verdict_words(report) == words


def test_nothing_is_reported_once_it_is_given_up_and_a_file_that_is_gone_is_named(tmp_path):
    web = web_of_groups(tmp_path / "web.net", (0, 1), (1, 2), (2, 3), (3, 0))
    assert report_of_web(web, None, lambda: True) is None
    with pytest.raises(GraphError, match="nowhere"):
        report_of_web(str(tmp_path / "nowhere.net"), None, lambda: False)


def test_only_a_web_whose_cycles_are_all_known_gets_a_verdict():
    assert is_known_in_full({"overlap": True, "pick": "all"}, "complete")
    assert not is_known_in_full({"overlap": True}, "interrupted")
    assert not is_known_in_full({"overlap": True, "pick": "sample"}, "complete")
    assert not is_known_in_full({"overlap": False}, "complete")


def test_an_order_of_many_species_is_told_to_its_end(tmp_path):
    species = [f"species with a long name {letter}" for letter in "ABCDEFGHIJKL"]
    groups = [(v, v + 1) for v in range(len(species) - 1)]
    web = write_web(tmp_path / "web.net", *groups, names=[*species, *(f"prey {v}" for v in range(len(groups)))])
    app = Stage(replace(COMPLETE, graph=str(web), options={"overlap": True}))

    async def steps(pilot):
        await until(pilot, lambda: all(f"name {letter}" in " ".join(text_of(app).split()) for letter in "AL"))

    play(app, SMALL, steps)


@pytest.mark.slow
def test_the_run_of_a_web_ends_with_the_verdict(tmp_path):
    web = web_of_groups(tmp_path / "web.net", (0, 1), (1, 2), (2, 3), (3, 0))

    async def steps(pilot):
        app = pilot.app
        command = RunCommand(web, time.monotonic(), arch="cpu", overlap=True, checkpoint=str(tmp_path / "run"))
        app.post_message(StartRun(command))
        await until(pilot, lambda: app.run_state is not None and app.run_state.reason == "complete")
        await until(pilot, lambda: "In most holes" in str(app.screen.query_one("#run-web", Static).content))
        assert "1 hole: no line of niches has all 4 species." in text_of(app)
        assert "niche overlap" in str(app.screen.query_one("#run-phase", Static).content)

    drive(ChordlessApp(Settings()), SMALL, steps)
