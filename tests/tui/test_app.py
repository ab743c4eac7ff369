"""The dashboard as a whole: screens, palette, help, runs that are begun, killed and resumed."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from chordless.cycles.index import CycleFilter
from chordless.graphs.load import load_graph
from chordless.runs.history import summarize
from chordless.tui.actions import ACTIONS, EVERYWHERE, actions_of
from chordless.tui.app import ChordlessApp
from chordless.tui.messages import CompareRuns, RunNews
from chordless.tui.screens.leave import LeaveScreen
from chordless.tui.screens.question import AskDelete, FilterQuestion, GoToQuestion, Question
from chordless.tui.settings import Settings, load_settings
from chordless.tui.widgets.graph_panel import GraphPanel
from program import SOURCE_PATH, chordless, fails
from textual.command import CommandList
from textual.containers import VerticalScroll
from textual.events import Click, Key, Resize
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Input

from tui.pilots import LARGE, SIZES, SMALL, drive, text_of, until

SCREENS = ("new", "run", "cycles", "runs", "compare", "help")


@pytest.mark.slow
def test_every_screen_is_shown_and_fits(finished):
    async def steps(pilot):
        app = pilot.app
        app.prepare()
        await until(pilot, lambda: app.run_state.phase == "finished")
        for size in (SMALL, LARGE):
            await pilot.resize_terminal(*size)
            for name in SCREENS:
                app.show(name)
                actions = [action for action in (*actions_of(EVERYWHERE), *actions_of(name)) if action.in_footer]

                def can_be_read(actions=actions):
                    # All that the footer offers; on the screen of the run that is what can be done with it.
                    footer = text_of(app).splitlines()[-1]
                    bindings = [key.binding for key in app.screen.active_bindings.values()]
                    shown = {binding.id: binding.description for binding in bindings if binding.show}
                    # A run that is over offers to be replayed by the key that pauses it.
                    return all(
                        shown.get(x.id, x.title) in footer
                        for x in actions
                        if (x.id in shown if x.screen == "run" else app.screen.check_action(x.name, ()) is not False)
                    )

                await until(pilot, can_be_read)
                assert app.current_mode == name
                assert app.screen.size == size
                assert app.screen.max_scroll_x == 0

    drive(ChordlessApp(Settings(), directory=finished), SMALL, steps)


@pytest.mark.slow
def test_keys_lead_to_the_screens():
    async def steps(pilot):
        app = pilot.app
        assert app.current_mode == "new"
        for key, name in [
            # A digit belongs to the field that has the focus at the beginning; with alt it is a key.
            ("alt+2", "run"),
            ("infinity", "batch"),
            ("3", "cycles"),
            ("5", "batch"),
            ("colon", "batch"),
            ("2", "batch"),
            # Escape leaves the field, then the screen.
            ("escape", "batch"),
            ("4", "runs"),
            ("f1", "help"),
            ("f1", "runs"),
            ("question_mark", "help"),
            ("escape", "runs"),
            ("3", "cycles"),
            ("escape", "runs"),
            ("escape", "batch"),
            ("escape", "cycles"),
            ("escape", "run"),
            ("escape", "new"),
            ("escape", "new"),
            ("question_mark", "help"),
            ("q", "new"),
            ("colon", "new"),
            ("q", "new"),
            ("escape", "new"),
        ]:
            await pilot.press(key)
            await pilot.pause()
            assert app.current_mode == name
        assert app.screen.query_one("#graph", Input).value == "q"
        await pilot.press("q")

    app = ChordlessApp(Settings())
    drive(app, SMALL, steps)
    assert app.return_code == 0


@pytest.mark.slow
def test_every_screen_has_the_tabs_with_a_key_that_works_and_its_own_is_lit():
    async def steps(pilot):
        app = pilot.app
        for name, title in [("new", "New"), ("run", "Run"), ("cycles", "Cycles"), ("runs", "Runs"), ("batch", "Batch")]:
            app.show(name)
            await until(pilot, lambda name=name: app.current_mode == name)
            app.screen.set_focus(None)
            await until(pilot, lambda title=title: f"{title}]" in text_of(app).splitlines()[0])
            tabs = text_of(app).splitlines()[0].replace("[", " ").replace("]", " ").split()
            assert tabs == ["chordless", "1", "New", "2", "Run", "3", "Cycles", "f9", "Runs", "5", "Batch"]
        app.screen.query(Input).first().focus()
        await until(pilot, lambda: "alt+  1 New" in text_of(app).splitlines()[0])
        await pilot.click("TabBar", offset=(text_of(app).splitlines()[0].index("Cycles"), 0))
        await until(pilot, lambda: app.current_mode == "cycles")

    drive(ChordlessApp(Settings(keys={"everywhere.show_runs": "f9"})), (60, 20), steps)


@SIZES
def test_help_has_every_action_with_the_keys_of_the_user(size):
    async def steps(pilot):
        await pilot.press("f1")
        await pilot.pause()
        app, shown = pilot.app, ""
        scroll = app.screen.query_one(VerticalScroll)
        while True:
            shown += text_of(app) + "\n"
            if scroll.scroll_offset.y >= scroll.max_scroll_y:
                break
            scroll.scroll_page_down(animate=False)
            await pilot.pause()
        for action in ACTIONS:
            assert action.title in shown
        assert any(line.split()[:2] == ["f9", "Pause"] for line in shown.splitlines())
        assert "settings.toml" in shown
        # The columns of all tables agree.
        rows = [line for line in shown.splitlines() if any(f" {action.help[:20]}" in line for action in ACTIONS)]
        starts = {line.index(action.help[:20]) for line in rows for action in ACTIONS if action.help[:20] in line}
        assert len(starts) == 1
        # The names for the settings stand at the end, not beside the keys.
        assert all(any(action.id in line for line in shown.splitlines()) for action in ACTIONS)
        assert "everywhere" not in shown[: shown.index("Other keys")]

    drive(ChordlessApp(Settings(keys={"run.pause": "f9"})), size, steps)


@pytest.mark.slow
def test_the_help_begins_with_the_keys_of_the_screen_before_it():
    async def steps(pilot):
        app = pilot.app
        for name, title in (("run", "Run"), ("batch", "Batch"), ("new", "New run")):
            app.show(name)
            await pilot.press("f1")
            await until(pilot, lambda title=title: text_of(app).splitlines()[1].strip() == title)
            assert "How to read the chart" in text_of(app)

    drive(ChordlessApp(Settings()), (80, 36), steps)


@pytest.mark.slow
def test_the_palette_tells_the_key_of_each_action_and_offers_the_themes():
    async def steps(pilot):
        app = pilot.app
        app.show("run")

        async def offered(words):
            await pilot.press("ctrl+p", *words)
            lines = app.screen.query_one("CommandList")
            await until(pilot, lambda: lines.option_count and words in str(lines.get_option_at_index(0).prompt).lower())
            return str(lines.get_option_at_index(0).prompt)

        assert await offered("stop") == "Stop\n(s) Stop the search; a run with a folder can be resumed."
        await pilot.press("escape")
        assert (await offered("settings")).startswith("Settings\n(f3) ")
        await pilot.press("escape")
        assert (await offered("nord")).startswith("Theme nord\n")
        await pilot.press("enter")
        await until(pilot, lambda: app.theme == "nord")

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.fixture
def laid_out(monkeypatch):
    """Return a list that gets an entry whenever a screen is laid out."""
    times, lay_out = [], Screen._refresh_layout

    def noted(*given, **more):
        times.append(given)
        return lay_out(*given, **more)

    monkeypatch.setattr(Screen, "_refresh_layout", noted)
    return times


@pytest.mark.parametrize(("size", "least"), [((3, 8), (20, 8)), ((1, 1), (20, 6)), ((20, 6), (20, 6))])
def test_a_terminal_of_a_few_columns_is_laid_out_once(size, least, laid_out):
    """Textual would lay it out again and again."""

    async def steps(pilot):
        pilot.app.show("runs")
        await until(pilot, lambda: pilot.app.current_mode == "runs")
        laid_out.clear()
        await pilot.resize_terminal(*size)
        await until(pilot, lambda: pilot.app.size == least)
        await pilot.pause(0.5)
        assert len(laid_out) < 10

    drive(ChordlessApp(Settings()), LARGE, steps)


@pytest.mark.parametrize("asks", [False, True])
def test_a_size_of_before_is_not_laid_out_again(asks, laid_out):
    """With two sizes to tell, Textual would tell each again after the other, for ever."""

    async def steps(pilot):
        app = pilot.app
        if asks:
            await app.push_screen(Question("Is it so?", "Yes"))
        laid_out.clear()
        for size in (Size(60, 24), Size(70, 30), app.size):
            app.screen.post_message(Resize(size, size))
            # Sizes that follow each other at once are one.
            app.screen.post_message(Key("f12", None))
        await pilot.pause(0.5)
        assert len(laid_out) < 10

    drive(ChordlessApp(Settings()), LARGE, steps)


def test_a_palette_is_made_while_another_screen_comes_and_has_its_actions_when_it_is_shown_again():
    async def steps(pilot):
        app, mode = pilot.app, pilot.app.current_mode
        app.action_command_palette()
        app.show("runs")
        await until(pilot, lambda: app.current_mode == "runs")
        app.switch_mode(mode)
        await until(pilot, lambda: app.screen.query_one(CommandList).option_count > 1)
        await pilot.press("escape")
        await until(pilot, lambda: not app.screen.query(CommandList))

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_a_palette_that_is_gone_looks_for_no_actions():
    async def steps(pilot):
        app, below = pilot.app, pilot.app.screen
        await pilot.press("ctrl+p")
        palette = app.screen
        palette.dismiss()
        await until(pilot, lambda: app.screen is below and not palette.children)
        palette._gather_commands("run")
        await until(pilot, lambda: all(worker.is_finished for worker in app.workers if worker.node is palette))

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_keys_that_come_too_soon_for_the_palette_do_no_harm():
    async def steps(pilot):
        app, below = pilot.app, pilot.app.screen
        await pilot.press("ctrl+p")
        palette = app.screen
        offered = palette.query_one("CommandList")
        await until(pilot, lambda: offered.highlighted is not None)
        offered.styles.display = "none"
        await until(pilot, lambda: not offered.scrollable_content_region)
        # The list forgets its lines when its options change, and finds no room for new ones.
        offered._clear_caches()
        await pilot.press("pageup", "pagedown")
        app.show("runs")
        palette.dismiss()
        assert app.current_mode == "runs"
        app.show("new")
        await until(pilot, lambda: app.screen is palette)
        palette.dismiss()
        palette.dismiss()
        await until(pilot, lambda: app.screen is below)

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_a_click_beyond_the_edge_of_a_smaller_terminal_does_not_end_the_palette():
    async def steps(pilot):
        await pilot.press("ctrl+p")
        palette, (x, y) = pilot.app.screen, SMALL
        palette.post_message(Click(palette, x, y, 0, 0, 1, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=y))
        await pilot.pause()
        assert pilot.app.screen is palette
        await pilot.click(offset=(0, y - 1))
        await until(pilot, lambda: pilot.app.screen is not palette)

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.slow
def test_the_palette_has_every_action_of_the_screen_and_does_it(finished):
    async def steps(pilot):
        app = pilot.app
        app.show("run")
        await pilot.press("ctrl+p")
        options = app.screen.query_one("CommandList")

        def titles():
            return {str(options.get_option_at_index(i).prompt).splitlines()[0] for i in range(options.option_count)}

        of_run = [action for action in actions_of("run") if app.screen_stack[0].check_action(action.name, ())]
        wanted = {action.title for action in (*of_run, *actions_of(EVERYWHERE))} - {"Palette"}
        await until(pilot, lambda: titles() >= wanted | {"Theme"})
        assert "Keys" not in titles()
        await pilot.press(*"history"[:4])
        await pilot.press("escape")
        await pilot.press("ctrl+p", *"Browse the cycles")
        options = app.screen.query_one("CommandList")
        await until(
            pilot,
            lambda: options.option_count and "Browse the cycles" in str(options.get_option_at_index(0).prompt),
        )
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "cycles")

    drive(ChordlessApp(Settings(), directory=finished), SMALL, steps)


def test_keys_are_remapped_and_what_is_wrong_is_said():
    settings = Settings(theme="none such", keys={"everywhere.show_runs": "f9", "run.stop": "k", "run.dance": "d"})

    async def steps(pilot):
        app = pilot.app
        (notice,) = app._notifications
        words = notice.message
        for fault in ("no theme 'none such'", "run.stop = 'k'", "run.dance = 'd'", "settings.toml: broken"):
            assert fault in words
        await pilot.press("alt+4")
        assert app.current_mode == "new"
        await pilot.press("f9")
        assert app.current_mode == "runs"

    drive(ChordlessApp(settings, warnings=["settings.toml: broken"]), SMALL, steps)


def test_it_is_put_aside(monkeypatch):
    sent = []

    async def steps(pilot):
        monkeypatch.setattr(type(pilot.app._driver), "can_suspend", True)
        monkeypatch.setattr("textual.app.os.kill", lambda *order: sent.append(order))
        await pilot.press("ctrl+z")
        await until(pilot, lambda: sent)
        monkeypatch.undo()

    drive(ChordlessApp(Settings()), SMALL, steps)
    assert sent == [(os.getpid(), signal.SIGTSTP)]


def test_it_ends_while_the_run_screen_is_being_made():
    async def steps(pilot):
        pilot.app.prepare()
        pilot.app.exit(return_code=143)

    app = ChordlessApp(Settings())
    drive(app, SMALL, steps)
    assert app.return_code == 143


@pytest.mark.slow
def test_a_theme_is_kept_and_taken_up():
    async def choose(pilot):
        pilot.app.theme = "nord"
        await pilot.pause()

    async def look(pilot):
        assert pilot.app.theme == "nord"

    drive(ChordlessApp(Settings()), SMALL, choose)
    settings, warnings = load_settings()
    assert (settings, warnings) == (Settings("nord"), [])
    drive(ChordlessApp(settings), SMALL, look)


def test_settings_that_cannot_be_written_are_no_reason_to_fail(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))

    async def steps(pilot):
        pilot.app.theme = "nord"
        await pilot.pause()
        assert any("cannot write" in notification.message for notification in pilot.app._notifications)

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.slow
def test_it_is_calm_over_ssh(monkeypatch):
    async def steps(pilot):
        return pilot.app.animation_level

    assert drive(ChordlessApp(Settings()), SMALL, steps) == "full"
    monkeypatch.setenv("SSH_CONNECTION", "1.2.3.4 5 6.7.8.9 10")
    assert drive(ChordlessApp(Settings()), SMALL, steps) == "none"


@pytest.mark.slow
def test_no_color_leaves_no_colour(monkeypatch):
    async def steps(pilot):
        app = pilot.app
        await pilot.press("f1")
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        styles = {segment.style for strip in strips for segment in strip if segment.style is not None}
        colours = {colour.triplet for style in styles for colour in (style.color, style.bgcolor) if colour is not None}
        return all(red == green == blue for red, green, blue in filter(None, colours))

    assert not drive(ChordlessApp(Settings()), SMALL, steps)
    monkeypatch.setenv("NO_COLOR", "1")
    assert drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.slow
def test_with_ascii_alone_nothing_else_is_drawn(finished):
    async def steps(pilot):
        app, strange, drawn = pilot.app, {}, []

        def take(name):
            drawn.append(text_of(app))
            strange[name] = "".join(sorted({letter for letter in drawn[-1] if not letter.isascii()}))

        async def look(name):
            await pilot.pause(0.1)
            take(name)

        await until(pilot, lambda: app.run_state.phase == "finished")
        for size in (SMALL, LARGE):
            await pilot.resize_terminal(*size)
            for name in app.SCREENS:
                app.show(name)
                await look(name)
        app.post_message(CompareRuns((finished, finished)))
        await until(pilot, lambda: "grid:5x5" in text_of(app))
        await look("comparison")
        app.action_command_palette()
        await look("palette")
        await pilot.press("escape")
        app.show("new")
        for name in ("examples", "recent", "files"):
            app.screen.query_one(GraphPanel).unfold(name)
            await look(name)
        app.screen.query_one("#graph", Input).value = "café ♥"
        await look("typed")
        assert "caf? ?" in drawn[-1]
        grid = load_graph("grid:5x5").graph
        # The last goes away by itself, for there is nothing to ask.
        delete, which = AskDelete(summarize(finished), ["notes.txt"]), FilterQuestion(grid, CycleFilter(), "cycle")
        for question in (delete, which, GoToQuestion(9, "cycle"), LeaveScreen(app.session)):
            await app.push_screen(question)
            take(question)
            if not isinstance(question, LeaveScreen):
                await app.pop_screen()
        assert not any(strange.values()), strange

    drive(ChordlessApp(Settings(), directory=finished, ascii_only=True), SMALL, steps)


@pytest.mark.slow
def test_without_a_terminal_it_says_so(finished):
    more = {"stdin": subprocess.DEVNULL, "env": {**os.environ, "PYTHONPATH": SOURCE_PATH}}
    for arguments in (["tui"], ["replay", finished]):
        assert fails(chordless(*arguments, **more), 2, "the dashboard needs a terminal")
    assert "is not a speed" in chordless("replay", finished, "--speed", "-1", **more).stderr


def test_a_click_on_a_key_presses_it():
    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: "Help" in text_of(app).splitlines()[-1])
        last = text_of(app).splitlines()[-1]
        await pilot.click("KeyBar", offset=(last.index("Help"), 0))
        await until(pilot, lambda: app.current_mode == "help")

    drive(ChordlessApp(Settings()), (60, 20), steps)


def test_a_screen_that_is_shown_again_keeps_its_styles():
    async def steps(pilot):
        app, styled = pilot.app, []
        for name in ("run", "runs", "run"):
            app.show(name)
            await until(pilot, lambda name=name: app.current_mode == name and app.screen.query("KeyBar"))
            await pilot.pause()
        apply = app.stylesheet.apply
        app.stylesheet.apply = lambda node, **more: (styled.append(node), apply(node, **more))
        app.show("runs")
        await until(pilot, lambda: "[4 Runs]" in text_of(app))
        app.show("run")
        await until(pilot, lambda: "[2 Run]" in text_of(app))
        assert len(styled) < len(app.screen.query("*")) / 2

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_letters_that_follow_a_key_at_once_go_where_it_leads():
    async def steps(pilot):
        app = pilot.app
        for tab, field, graph in (("5", "#batch-graphs", "grid:3x3"), ("1", "#graph", "4:3x5")):
            app.screen.set_focus(None)
            for letter in (tab, ":", *graph):
                app.post_message(Key("colon" if letter == ":" else letter, letter))
            await until(
                pilot, lambda field=field, graph=graph: app.screen.query_one(field, Input).value.endswith(graph)
            )

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.slow
def test_a_screen_that_is_made_beforehand_reads_no_runs(finished):
    async def steps(pilot):
        app = pilot.app
        for _ in range(5):
            app.prepare()
            await pilot.pause()
        runs = app.get_screen_stack("runs")[0]
        assert not [worker for worker in app.workers if worker.node is runs]
        assert not runs._runs

    drive(ChordlessApp(Settings(runs_folder=finished.parent)), SMALL, steps)


def test_news_of_a_run_may_come_when_the_screens_are_gone(finished):
    app, sessions = ChordlessApp(Settings(), directory=finished), []

    async def steps(pilot):
        await until(pilot, lambda: app.run_state is not None and app.run_state.phase == "finished")
        sessions.append(app.session)

    drive(app, SMALL, steps)
    app.session = sessions[0]
    assert app.current_mode in app.SCREENS
    assert not app.screen_stack
    app.on_run_news(RunNews(sessions[0]))


def test_a_name_in_a_notice_is_never_taken_for_markup():
    async def steps(pilot):
        pilot.app.screen.notify("The run of a[1][bold].txt is deleted.")
        await pilot.pause()
        assert [told.markup for told in pilot.app._notifications] == [False]

    drive(ChordlessApp(Settings()), SMALL, steps)
