"""The Settings screen: what is chosen there holds at once, and at the next start."""

from __future__ import annotations

from pathlib import Path

import pytest
from chordless.runs.elsewhere import noted_folders
from chordless.tui.app import ChordlessApp
from chordless.tui.settings import Settings, default_runs_folder, load_settings, settings_path
from chordless.tui.widgets.choice import Choice, PickList
from textual.widgets import Input, Static

from tui.new_form import Recorder
from tui.pilots import LARGE, SMALL, drive, text_of, until


async def _opened(pilot):
    await pilot.press("f3")
    await until(pilot, lambda: pilot.app.screen.query("#keys") and "Keys: Enter" in text_of(pilot.app))
    return pilot.app.screen


async def _picked(pilot, action_id):
    keys = pilot.app.screen.query_one("#keys", PickList)
    keys.focus()
    keys.highlighted = keys.get_option_index(action_id)
    await pilot.press("enter")
    await until(pilot, lambda: "Press the key for" in text_of(pilot.app))


def test_theme_and_characters_hold_at_once_and_at_the_next_start():
    async def steps(pilot):
        app, screen = pilot.app, await _opened(pilot)
        themes = screen.query_one("#theme", PickList)
        assert themes.highlighted_option.id == app.theme == "textual-dark"
        await pilot.press("j")
        await until(pilot, lambda: app.theme == "textual-light")
        screen.query_one("#characters", Choice).choose("ascii")
        await until(pilot, lambda: app.ascii_only and app.has_class("-ascii"))
        assert text_of(app).isascii()

    drive(ChordlessApp(Settings()), SMALL, steps)
    settings, faults = load_settings()
    assert (settings.theme, settings.ascii, faults) == ("textual-light", True, [])


@pytest.mark.slow
def test_threads_memory_and_folder_are_those_of_the_next_run(tmp_path):
    run = default_runs_folder() / "old"
    run.mkdir(parents=True)
    (run / "run.json").write_text("{}")
    folder = tmp_path / "elsewhere"

    async def steps(pilot):
        screen = await _opened(pilot)
        for name, text in (("threads", "1"), ("memory", "300M"), ("runs_folder", str(folder))):
            field = screen.query_one(f"#row-{name} Input", Input)
            field.focus()
            await pilot.pause()
            field.value = text
        # The last one is taken when the screen is left.
        await pilot.press("escape", "escape")
        await until(pilot, lambda: pilot.app.current_mode == "new")
        assert pilot.app.screen.query_one("#threads", Input).value == "1"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: pilot.app.command is not None)

    app = Recorder(Settings())
    drive(app, LARGE, steps)
    assert (app.command.threads, app.command.memory) == (1, 300 << 20)
    assert Path(app.command.checkpoint).parent == folder
    settings, _ = load_settings()
    assert (settings.last.threads, settings.last.memory, settings.runs_folder) == ("1", "300M", folder)
    # The runs of the folder before stay in the list.
    assert noted_folders() == [run]


@pytest.mark.slow
def test_a_wrong_value_is_told_and_not_taken():
    async def steps(pilot):
        app, screen = pilot.app, await _opened(pilot)
        field = screen.query_one("#memory", Input)
        field.focus()
        await pilot.press(*"much")
        fault = "! 'much' is not a size: bytes, or 256M, 1.5GiB"
        await until(pilot, lambda: " ".join(str(screen.query_one("#key-help", Static).content).split()) == fault)
        field = screen.query_one("#runs-folder", Input)
        field.focus()
        field.value = "/proc/runs"
        await until(pilot, lambda: screen.query_one("#row-runs_folder").has_class("-wrong"))
        await pilot.press("tab")
        assert (app.settings.last.memory, app.settings.runs_folder) == ("", default_runs_folder())

    drive(ChordlessApp(Settings()), LARGE, steps)


@pytest.mark.slow
def test_a_key_is_changed_refused_and_brought_back():
    async def steps(pilot):
        app = pilot.app
        await _opened(pilot)
        await _picked(pilot, "everywhere.show_runs")
        await pilot.press("f9")
        await until(pilot, lambda: app.keys == {"everywhere.show_runs": "f9"})
        await until(pilot, lambda: "f9 Runs" in text_of(app))
        await _picked(pilot, "run.pause")
        await pilot.press("r")
        await until(pilot, lambda: app._notifications)
        assert [notice.message for notice in app._notifications] == ["Resume on Run has that key."]
        assert "run.pause" not in app.keys
        await pilot.press("f9")
        await until(pilot, lambda: app.current_mode == "runs")
        assert "f9 = " not in settings_path().read_text()
        assert '"everywhere.show_runs" = "f9"' in settings_path().read_text()
        await pilot.press("f3")
        await _picked(pilot, "everywhere.show_runs")
        await pilot.press("backspace")
        await until(pilot, lambda: app.keys == {})
        await pilot.press("4")
        await until(pilot, lambda: app.current_mode == "runs")

    drive(ChordlessApp(Settings()), SMALL, steps)
    assert load_settings()[0].keys == {}


def test_no_word_about_a_key_is_cut():
    """The list has keys and titles; what the lit one does stands below it, whole."""

    async def steps(pilot):
        screen = await _opened(pilot)
        keys = screen.query_one("#keys", PickList)
        keys.focus()
        keys.highlighted = keys.get_option_index("run.pause")
        help_of_pause = "Pause the search or the replay, or let it go on. Of a run that is over: play it again."
        await until(pilot, lambda: help_of_pause in " ".join(text_of(pilot.app).split()))
        assert not any("…" in line for line in text_of(pilot.app).splitlines())

    drive(ChordlessApp(Settings()), SMALL, steps)
