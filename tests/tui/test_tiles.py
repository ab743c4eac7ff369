"""Tiles: a sentence is shown as a whole or not at all."""

from __future__ import annotations

from chordless.runs.state import RunState
from chordless.tui import tile_words
from chordless.tui.tile_words import TileWords
from chordless.tui.widgets.tiles import Tile
from textual.app import App

from tui.pilots import drive, text_of

WORDS = TileWords("107", ("about two words", "this sentence needs three rows", "last"), "107")


class OneTile(App[None]):
    CSS = "Tile { width: 16; height: 5; } Tile .words { width: 100%; height: 1fr; }"
    ascii_only = False

    def compose(self):
        yield Tile("", id="tile")

    def on_mount(self):
        self.query_one(Tile).show(WORDS)


def test_a_sentence_that_does_not_fit_is_left_out():
    async def steps(pilot):
        few = text_of(pilot.app)
        pilot.app.query_one(Tile).styles.height = 3
        await pilot.pause()
        return few, text_of(pilot.app)

    high, low = drive(OneTile(), (30, 10), steps)
    assert all(word in high for word in ("107", "about two words", "this", "three"))
    assert "about two words" in low
    assert "this" not in low


def test_a_tile_without_room_waits_for_it():
    async def steps(pilot):
        tile = pilot.app.query_one(Tile)
        tile.display = False
        await pilot.pause()
        tile.show(TileWords("8", (), "short"))
        await pilot.pause()
        before = str(tile.query_one(".words").content)
        tile.display = True
        await pilot.pause()
        return before, str(tile.query_one(".words").content)

    hidden, shown = drive(OneTile(), (30, 10), steps)
    assert hidden.startswith("107")
    assert shown == "8"


def test_rows_are_counted_as_the_words_break():
    async def steps(pilot):
        pilot.app.query_one(Tile).styles.height = 3
        pilot.app.query_one(Tile).show(TileWords("7", ("aaaaaaaaaa bbbbbbbbbb cccccccccc",)))
        await pilot.pause()
        return text_of(pilot.app)

    # 32 letters, of which a row has 16, take three rows.
    shown = drive(OneTile(), (30, 10), steps)
    assert "7" in shown
    assert "aaaaaaaaaa" not in shown


def test_a_long_number_goes_on_in_the_next_line():
    async def steps(pilot):
        tile = pilot.app.query_one(Tile)
        tile.show(TileWords("14,138,533,757,973,013,145", ("one", "two three four five"), "14"))
        await pilot.pause()
        return text_of(pilot.app).split("\n")[:5]

    lines = [line.strip() for line in drive(OneTile(), (30, 10), steps)]
    assert lines == ["14,138,533,757,", "973,013,145", "one", "two three four", "five"]


def test_on_one_line_a_number_without_room_is_rounded_not_cut():
    words = tile_words.cycles_tile(RunState(phase="running", states=9, cycles=14_138_533_757_973_013_145))
    assert words.shorter[-1] == "cycles about 1.4e19"


def test_a_number_that_its_tile_cannot_hold_is_rounded_not_cut():
    async def steps(pilot):
        shown = []
        for digits in (60, 61, 400):
            words = tile_words.cycles_tile(RunState(phase="running", states=9, cycles=10**digits - 1))
            pilot.app.query_one(Tile).show(words)
            await pilot.pause()
            shown.append(text_of(pilot.app))
        return shown

    whole, rounded, huge = drive(OneTile(), (30, 10), steps)
    assert whole.count("9") == 60
    assert "about 1.0e61" in rounded
    assert "over 1e308" in " ".join(huge.split())
