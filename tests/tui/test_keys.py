"""Keys: one meaning each, obeyed in their order, and the same in every list."""

from __future__ import annotations

from collections import defaultdict

import pytest
from chordless.tui.actions import ACTIONS
from chordless.tui.app import ChordlessApp
from chordless.tui.settings import Settings
from chordless.tui.widgets.choice import Choice, PickList
from chordless.tui.widgets.form_row import FormRow
from chordless.tui.widgets.graph_panel import GraphPanel
from textual.containers import VerticalScroll
from textual.events import Paste
from textual.widgets import Input

from tui.batch_screens import watch
from tui.new_form import Recorder
from tui.pilots import SMALL, drive, text_of, until
from tui.stage import notices


def test_no_key_has_two_meanings():
    meanings = defaultdict(set)
    for action in ACTIONS:
        for key in action.keys.split(","):
            meanings[key].add(action.name)
    assert {key: names for key, names in meanings.items() if len(names) > 1} == {}
    assert {names for key in "soqfgGjk/:" for names in meanings[{"/": "slash", ":": "colon"}.get(key, key)]} == {
        "stop", "sort", "close", "freeze", "first", "last", "down", "up", "filter", "go_to"
    }  # fmt: skip


@pytest.mark.slow
def test_digits_pressed_one_after_another_fall_into_no_field():
    async def steps(pilot):
        app = pilot.app
        await pilot.press("escape", *"23152415")
        assert app.current_mode == "batch"
        await pilot.press(*"1524")
        assert app.current_mode == "runs"
        await pilot.press("1")
        fields = {field.id: field.value for field in app.screen.query(Input)}
        assert fields["graph"] == "grid:7x10"
        assert not any(value for name, value in fields.items() if name not in ("graph", None))
        await pilot.press("colon", *"5")
        assert app.screen.query_one("#graph", Input).value == "5"

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.slow
def test_digits_lead_to_the_screens_while_nobody_has_gone_to_the_field_of_the_graph():
    """At the start, and after a graph was picked from a list, the field has the focus only so that letters go there."""

    async def steps(pilot):
        app = pilot.app
        field = app.screen.query_one("#graph", Input)
        await until(pilot, lambda: app.focused is field and " chordless  1 New" in text_of(app).replace("[1", " 1"))
        await pilot.press("2", "4", "1")
        assert (app.current_mode, field.value) == ("new", "grid:7x10")
        app.screen.query_one(GraphPanel).post_message(GraphPanel.Picked("wheel:7"))
        await until(pilot, lambda: app.focused is field)
        await pilot.press("3", "1")
        assert (app.current_mode, field.value) == ("new", "wheel:7")
        app.screen.query_one(GraphPanel).post_message(GraphPanel.Picked("grid:5x5"))
        await until(pilot, lambda: app.focused is field)
        await pilot.press("end", "2")
        await until(pilot, lambda: "alt+" in text_of(app))
        assert (app.current_mode, field.value) == ("new", "grid:5x52")

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_a_look_at_the_help_is_no_typing_and_the_key_that_closes_it_is_shown():
    async def steps(pilot):
        app = pilot.app
        field = app.screen.query_one("#graph", Input)
        await until(pilot, lambda: app.focused is field)
        for key, screen in (("f1", "help"), ("f3", "settings")):
            await pilot.press(key)
            await until(pilot, lambda screen=screen: app.current_mode == screen)
            await until(pilot, lambda: " q Close " in text_of(app).splitlines()[-1])
            await pilot.press("q")
            await until(pilot, lambda: app.current_mode == "new")
            assert " q Close " not in text_of(app).splitlines()[-1]
        await pilot.press("4")
        assert (app.current_mode, field.value) == ("runs", "grid:7x10")

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_what_is_typed_replaces_the_example_after_the_terminal_lost_the_focus_and_got_it_back():
    async def steps(pilot):
        field = pilot.app.screen.query_one("#graph", Input)
        await until(pilot, lambda: field.selected_text == "grid:7x10")
        pilot.app.app_focus = False
        await until(pilot, lambda: not field.has_focus)
        pilot.app.app_focus = True
        # On a busy machine the row hears late that its field lost the focus.
        field.query_ancestor(FormRow).on_descendant_blur()
        await pilot.press(*"cycle")
        assert field.value == "cycle"

    drive(ChordlessApp(Settings()), SMALL, steps)


# What terminals send for alt and 2, with and without the newer protocol of keys.
@pytest.mark.slow
@pytest.mark.parametrize("key", ["alt+2", "trade_mark_sign"])
def test_from_a_field_alt_and_a_digit_lead_to_a_screen(key):
    async def steps(pilot):
        app = pilot.app
        field = app.screen.query_one("#graph", Input)
        await until(pilot, lambda: app.focused is field)
        await pilot.press(key)
        assert app.current_mode == "run"
        assert field.value == "grid:7x10"

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_the_key_of_the_screen_that_is_shown_leaves_the_focus_where_it_is():
    async def steps(pilot):
        app = pilot.app
        field = app.screen.query_one("#graph", Input)
        await until(pilot, lambda: app.focused is field)
        await pilot.press("alt+1", "7")
        assert app.focused is field
        assert field.value == "7"

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.slow
@pytest.mark.parametrize("back", [False, True])
def test_letters_right_after_tab_go_to_the_field_that_then_has_the_focus(back):
    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: app.screen.query("#max-length"))
        first, second = app.screen.query_one("#min-length", Input), app.screen.query_one("#max-length", Input)
        if back:
            first, second = second, first
        first.focus()
        await until(pilot, lambda: app.focused is first)
        # Nothing is waited for between the keys, as when somebody types fast.
        app.simulate_key("shift+tab" if back else "tab")
        app.simulate_key("7")
        await until(pilot, lambda: first.value or second.value)
        assert (first.value, second.value) == ("", "7")

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_the_first_key_may_be_a_function_key_and_the_next_one_is_for_the_screen_that_it_shows():
    async def steps(pilot):
        app = pilot.app
        field = app.screen.query_one("#graph", Input)
        await until(pilot, lambda: app.focused is field)
        app.simulate_key("f3")
        app.simulate_key("q")
        await until(pilot, lambda: app.current_mode == "new")
        await pilot.pause()
        assert (app.current_mode, field.value) == ("new", "grid:7x10")

    drive(ChordlessApp(Settings()), SMALL, steps)


def typed(app):
    for key in ("ctrl+u", *"petersen"):
        app.simulate_key(key)


def pasted(app):
    app.post_message(Paste("petersen"))


@pytest.mark.parametrize("enter", [typed, pasted])
def test_a_start_waits_for_the_text_that_was_entered_before_it(enter):
    async def steps(pilot):
        app = pilot.app
        field = app.screen.query_one("#graph", Input)
        await until(pilot, lambda: app.focused is field)
        enter(app)
        app.simulate_key("ctrl+r")
        await until(pilot, lambda: app.command is not None)
        assert app.command.graph == "petersen"

    drive(Recorder(Settings()), SMALL, steps)


def test_a_digit_goes_to_the_field_after_a_text_was_pasted_there():
    async def steps(pilot):
        app = pilot.app
        field = app.screen.query_one("#graph", Input)
        await until(pilot, lambda: app.focused is field)
        app.post_message(Paste("path:"))
        app.simulate_key("5")
        await until(pilot, lambda: app.current_mode != "new" or field.value == "path:5")
        assert (app.current_mode, field.value) == ("new", "path:5")

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.parametrize(
    ("text", "told"), [("0 1\n1 2\n2 0\n", ["Only the first line was pasted"]), ("petersen\n", [])]
)
def test_lines_that_a_paste_leaves_out_are_told(text, told):
    async def steps(pilot):
        app = pilot.app
        field = app.screen.query_one("#graph", Input)
        await until(pilot, lambda: app.focused is field)
        app.post_message(Paste(text))
        await until(pilot, lambda: field.value == text.splitlines()[0])
        await pilot.pause()
        assert [words.partition(":")[0] for words in notices(app)] == told

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.slow
def test_q_closes_what_is_on_top():
    async def steps(pilot):
        app = pilot.app
        await pilot.press("escape", "question_mark")
        assert app.current_mode == "help"
        await pilot.press("q")
        assert app.current_mode == "new"
        app.show("runs")
        app.show("compare")
        await pilot.press("q")
        assert app.current_mode == "runs"
        assert app.return_code is None
        await pilot.press("q")

    app = ChordlessApp(Settings())
    drive(app, SMALL, steps)
    assert app.return_code == 0


def test_a_table_of_lines_obeys_the_keys_of_lists(written):
    async def steps(pilot, screen):
        table = screen._table
        table.focus()
        seen = []
        for key in ("g", "j", "j", "k", "G", "k", "g"):
            await pilot.press(key)
            seen.append(table.cursor)
        assert seen == [0, 1, 2, 1, 99, 98, 0]

    watch(steps, batch=str(written))


@pytest.mark.slow
def test_all_other_lists_obey_the_keys_of_lists(finished):
    async def steps(pilot):
        app = pilot.app
        await pilot.press("f1")
        page = app.screen.query_one(VerticalScroll)
        await pilot.press("G")
        await until(pilot, lambda: page.scroll_y == page.max_scroll_y > 0)
        await pilot.press("g")
        await until(pilot, lambda: page.scroll_y == 0)
        await pilot.press("1")
        await pilot.click("#show-examples")
        examples = app.screen.query_one("#examples", PickList)
        examples.focus()
        seen = []
        for key in ("g", "j", "j", "k", "G"):
            await pilot.press(key)
            seen.append(examples.highlighted)
        assert seen == [0, 1, 2, 1, examples.option_count - 1]

    drive(ChordlessApp(Settings(), directory=finished), SMALL, steps)


def test_an_arrow_right_after_tab_chooses_in_the_new_field():
    async def steps(pilot):
        choice = pilot.app.screen.query_one("#what", Choice)
        pilot.app.screen.set_focus(choice)
        # It has not learned of the focus yet.
        choice.action_next_button()
        choice.action_next_button()
        assert choice.chosen == "list"
        await until(pilot, lambda: choice.has_focus)
        await pilot.press("up")
        await until(pilot, lambda: choice.chosen == "boundary")

    drive(ChordlessApp(Settings()), SMALL, steps)
