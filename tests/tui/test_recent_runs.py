"""The list of the latest runs: a line for each, at any width."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from chordless.protocol.orders import RunCommand
from chordless.runs.history import RunSummary
from chordless.tui.run_list import COLUMNS
from chordless.tui.widgets.recent_runs import RecentRuns
from rich.cells import cell_len
from textual.app import App

from tui.pilots import drive, text_of

RUN = RunSummary(
    Path("run"), "gnp:100,0.2,3", 100, 961, "cpu", "", 2_081_558_863, 0, False, 1.0, 1.0, "complete", "", 1.0, 4096
)


class Stage(App[None]):
    # As on the New screen.
    CSS = "OptionList { height: auto; border: none; padding: 0; scrollbar-size-vertical: 1; }"
    ascii_only = False

    def compose(self):
        yield RecentRuns()


def drawn_with(cycles, width):
    """Return the list with one run that found so many cycles, in a terminal of a width."""

    async def steps(pilot):
        recent = pilot.app.query_one(RecentRuns)
        recent.runs = [replace(RUN, cycles=cycles)]
        recent._fill()
        await pilot.pause()
        return text_of(pilot.app)

    return drive(Stage(), (width, 20), steps)


def test_one_cycle_is_one():
    assert " 1 cycle  " in drawn_with(1, 90)


def test_other_characters_hold_as_soon_as_the_runs_are_looked_at(monkeypatch):
    monkeypatch.setattr("chordless.tui.widgets.recent_runs.list_runs", lambda *folders: [RUN])

    async def steps(pilot):
        recent, lists = pilot.app.query_one(RecentRuns), []
        for ascii_only in (False, True, False):
            pilot.app.ascii_only = ascii_only
            await recent.look(Path("runs")).wait()
            await pilot.pause()
            lists.append(text_of(pilot.app))
        return lists

    all_characters, ascii_alone, again = drive(Stage(), (60, 20), steps)
    assert "\n✔ gnp" in all_characters
    assert "\nOK gnp" in ascii_alone
    assert again == all_characters


@pytest.mark.parametrize("width", [36, 90])
def test_a_count_that_no_float_can_hold_is_shown(width):
    assert "over 1e308" in drawn_with(10**334, width)


@pytest.mark.parametrize("width", [36, 58, 62, 70, 73, 90])
def test_a_run_takes_one_line(width):
    async def steps(pilot):
        recent = pilot.app.query_one(RecentRuns)
        recent.runs = [replace(RUN, path=Path(str(number))) for number in range(3)]
        recent._fill()
        await pilot.pause()
        return [line for line in text_of(pilot.app).splitlines() if line.strip()]

    heading, *lines = drive(Stage(), (width, 20), steps)
    assert heading.strip() == "Recent runs"
    assert len(lines) == 3
    assert all("2,081,558,863" in line and "gnp:100" in line for line in lines)


def test_of_a_name_without_room_the_end_is_shown_too():
    graph = "webs/" + "caribbean-reef-" * 3 + "small.net"
    command = RunCommand(graph, 1.0, method="boundary")

    async def steps(pilot):
        recent = pilot.app.query_one(RecentRuns)
        recent.runs = [replace(RUN, graph=graph), replace(RUN, path=Path("other"), graph=graph, command=command)]
        recent._fill()
        await pilot.pause()
        return [line.split()[1:-1] for line in text_of(pilot.app).splitlines()[1:3]]

    assert drive(Stage(), (49, 20), steps) == [
        ["caribbean-reef-c…-reef-small.net"],
        ["caribbean-reef-c…l.net,", "boundary"],
    ]


@pytest.mark.parametrize("width", [42, 90])
def test_a_name_in_wide_characters_leaves_the_counts_below_each_other(width):
    async def steps(pilot):
        recent = pilot.app.query_one(RecentRuns)
        recent.runs = [RUN, replace(RUN, path=Path("wide"), graph="図グラフ.net")]
        recent._fill()
        await pilot.pause()
        return [recent._line(run).plain for run in recent.runs]

    plain, wide = drive(Stage(), (width, 20), steps)
    count = "2,081,558,863"
    assert cell_len(plain.split(count)[0]) == cell_len(wide.split(count)[0])
    assert cell_len(plain) == cell_len(wide)


@pytest.mark.parametrize("width", [36, 90])
@pytest.mark.parametrize("cycles", [42_159_230_888, 105_743_278_934, 14_138_533_757_973_013_145])
def test_a_count_is_written_as_on_runs(cycles, width):
    column = next(column for column in COLUMNS if column.name == "cycles")
    assert f" {column.text(replace(RUN, cycles=cycles))} " in f"{drawn_with(cycles, width)} "
