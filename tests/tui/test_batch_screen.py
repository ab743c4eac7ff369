"""The Batch screen: the file of lines, and the form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import chordless.tui.app
import pytest
from chordless.tui.app import ChordlessApp
from chordless.tui.batch_form import FROM_STANDARD_INPUT, BatchQuestion, RecentBatch, plan_of, recent_batch_of, remember
from chordless.tui.screens.batch import BatchScreen
from chordless.tui.screens.question import AskResume
from chordless.tui.screens.runs import RunsScreen
from chordless.tui.settings import Settings
from chordless.tui.widgets.batch_form import SECONDS_TO_TYPE, BatchForm
from chordless.tui.widgets.batch_table import BatchTable
from chordless.tui.widgets.choice import Choice
from textual.widgets import Button

from tui.batch_files import error, line
from tui.batch_screens import fill, shown, watch
from tui.pilots import LARGE, SIZES, SMALL, drive, text_of, until


def numbers(app):
    """Return the numbers of the lines that are shown."""
    words = [row.replace("▶", " ").replace(">", " ").split() for row in text_of(app).splitlines()]
    return [int(row[0]) for row in words if len(row) > 3 and row[0].isdecimal() and row[1] in "✔■✘OK[]!!"]


@SIZES
def test_an_empty_screen_says_how_to_begin_and_mistakes_stand_beside_the_field(folder, size):
    async def steps(pilot, screen):
        assert "Then press Start." in text_of(pilot.app)
        assert "a new file" in text_of(pilot.app)
        assert screen.query_one("#batch-start", Button).disabled
        await fill(pilot, graphs="nosuch*.net")
        (row,) = [row for row in text_of(pilot.app).splitlines() if "! nosuch" in row]
        assert row.strip().startswith("Graphs")
        await pilot.press("ctrl+r")
        assert screen.focused.id == "batch-graphs"
        await fill(pilot, graphs="grid:3x3", output="nowhere/x.jsonl")
        await pilot.press("ctrl+r")
        assert screen.focused.id == "batch-output"
        await fill(pilot, output="x.jsonl")
        assert "1 input" in text_of(pilot.app)
        # One wrong name does not keep the other graphs from being counted.
        await fill(pilot, graphs="grid:3x3 nosuch*.net petersen")
        plan = screen.query_one(BatchForm).plan
        assert plan.graphs_words == "2 inputs; 1 left out"
        assert shown(screen, "#batch-detail").startswith("! left out: nosuch*.net: no file matches")
        assert [job.graph for job in plan.jobs] == ["grid:3x3", "petersen"]
        assert not screen.query_one("#batch-start", Button).disabled
        assert pilot.app.batch is None

    watch(steps, size)


def test_a_long_fault_does_not_move_the_form_and_is_told_in_full_below(folder):
    async def steps(pilot, screen):
        before = screen.query_one("#batch-output").region
        folders = "/".join(["a_folder_that_is_not_there"] * 3)
        plan = await fill(pilot, graphs="grid:3x3", output=f"{folders}/out.jsonl")
        assert screen.query_one("#batch-output").region == before
        words = "".join(f"! Write to: {plan.output_fault}".split())
        assert "".join(shown(screen, "#batch-detail").split()) == words
        await fill(pilot, output="out.jsonl")
        assert not screen.query_one("#batch-detail").display

    watch(steps)


def test_a_batch_has_the_columns_that_it_has_values_for(folder):
    def heading(app):
        return next((row.split() for row in text_of(app).splitlines() if " status" in row), [])

    (folder / "out.jsonl").write_bytes(line("aa", seconds=None) + line("bb", seconds=None))

    async def steps(pilot, screen):
        app = pilot.app
        assert heading(app)[3:] == ["n", "m", "cycles", "longest", "holes", "error"]
        assert "8     234" in text_of(app)
        screen.sort_by("holes")
        await pilot.press("o")
        await until(pilot, lambda: screen._sorted_by == "")
        with open(folder / "out.jsonl", "ab") as stream:
            stream.write(line("web.net", interval=False))
        await until(pilot, lambda: heading(app)[-4:] == ["interval", "holes", "seconds", "error"])
        assert "no     234   0.2500" in text_of(app)

    watch(steps, LARGE, batch="out.jsonl")


@pytest.mark.parametrize(
    ("width", "columns", "of_webs"),
    [
        (60, "n cycles holes", "cycles interval holes"),
        (80, "n m cycles longest holes", "n m cycles interval holes"),
        (100, "n m cycles longest holes seconds", "n m cycles longest interval holes seconds"),
    ],
)
def test_columns_that_do_not_fit_are_left_out_but_what_was_asked_stays(written, width, columns, of_webs):
    def heading(app):
        (row,) = [row for row in text_of(app).splitlines() if "no. status" in row]
        return " ".join(row.split()[3:])

    async def steps(pilot, screen):
        assert heading(pilot.app) == columns
        with open(written, "ab") as stream:
            stream.write(line("holes.net", interval=False))
        await until(pilot, lambda: heading(pilot.app) == of_webs)
        table = screen.query_one(BatchTable)
        cells = [text for text, _ in table.parts(table._lines.read(100, 101)[0], table._room)]
        assert "holes.net" in [cell.strip() for cell in cells]

    watch(steps, (width, 24), batch=str(written))


@pytest.mark.parametrize(
    ("size", "ascii_only"), [(SMALL, True), (LARGE, False)], ids=["80x24, ascii", "160x50, unicode"]
)
def test_an_earlier_batch_is_looked_at_with_its_failures_first(written, size, ascii_only):
    async def steps(pilot, screen):
        app = pilot.app
        assert "100 graphs in out.jsonl  1 failed  1 stopped by a limit" in text_of(app)
        rows = numbers(app)
        assert rows == list(range(1, len(rows) + 1))
        await pilot.press("end")
        await until(pilot, lambda: numbers(app)[-1] == 100)
        await pilot.press("x", "home")
        await until(pilot, lambda: numbers(app)[:4] == [51, 76, 1, 2])
        text = text_of(app)
        assert ("!! error" if ascii_only else "✘ error") in text
        assert ("[] timeout" if ascii_only else "■ timeout") in text
        assert ("OK complete" if ascii_only else "✔ complete") in text
        assert "line 4: no such thing" in text
        assert shown(screen, "#batch-detail") == "webs/bad.net\n! webs/bad.net:4: no such thing"
        await pilot.press("down")
        assert "stopped by its timeout: lower bounds\nby length  3: 1,000  8: 234" in shown(screen, "#batch-detail")
        await fill(pilot, graphs="grid:3x3 nosuch*.net")
        assert shown(screen, "#batch-detail").startswith("! left out: nosuch*.net: no file matches this pattern\ngrid:")
        await pilot.press("x")
        assert screen.query_one(BatchTable).cursor == 75
        await pilot.press("home")
        await until(pilot, lambda: numbers(app)[0] == 1)
        await pilot.click(BatchTable, offset=(20, 4))
        await pilot.pause()
        assert screen.query_one(BatchTable).chosen.position == 3
        assert not ascii_only or text_of(app).isascii()

    watch(steps, size, batch=str(written), ascii_only=ascii_only)


def test_the_table_follows_a_file_that_another_writes_and_the_cursor_stays_on_its_graph(written):
    async def steps(pilot, screen):
        await pilot.press("x", "home", "down", "down", "down")
        chosen = screen.query_one(BatchTable).chosen
        assert chosen.graph == "all.g6:2"
        with open(written, "ab") as stream:
            stream.write(b"".join(error(f"late-{i}") for i in range(200)))
        await until(pilot, lambda: len(screen.lines) == 300)
        table = screen.query_one(BatchTable)
        assert table.chosen == chosen
        assert table.cursor == 203
        assert "201 failed" in shown(screen, "#batch-counts")
        written.write_bytes(line("other"))
        await until(pilot, lambda: len(screen.lines) == 1)
        assert table.chosen.graph == "other"

    watch(steps, batch=str(written))


def test_the_file_of_a_batch_that_is_shown_already_gets_the_focus_when_it_is_offered(written):
    async def steps(pilot, screen):
        await until(pilot, lambda: isinstance(screen.focused, BatchTable))
        screen.query_one("#batch-graphs").focus()
        screen.offer("out.jsonl")
        await until(pilot, lambda: isinstance(screen.focused, BatchTable))

    watch(steps, batch="out.jsonl")


def test_a_batch_with_every_line_is_said_to_be_done_and_a_long_field_shows_its_beginning(folder):
    graphs = [f"grid:{rows}x{columns}" for rows in range(2, 6) for columns in range(2, 7)]
    (folder / "out.jsonl").write_bytes(b"".join(map(line, graphs)))
    remember(RecentBatch(str(folder / "out.jsonl"), " ".join(graphs), str(folder)), [])

    async def steps(pilot, screen):
        start = screen.query_one("#batch-start", Button)
        await until(pilot, lambda: isinstance(screen.focused, BatchTable))
        await until(pilot, lambda: str(start.label) == "Run again")
        assert "✔ done  ^r counts what changed" in text_of(pilot.app)
        row = next(row for row in text_of(pilot.app).splitlines() if "Graphs" in row)
        assert row.split()[1:3] == ["grid:2x2", "grid:2x3"]
        await fill(pilot, graphs=f"{' '.join(graphs)} grid:9x9")
        assert str(start.label) == "Resume"
        assert "^r goes on with it" in text_of(pilot.app)

    watch(steps, batch="out.jsonl")


def test_lines_that_may_go_are_asked_for(folder, written):
    before = written.read_bytes()

    async def steps(pilot, screen):
        assert "name its graphs again" in text_of(pilot.app)
        await fill(pilot, graphs="grid:3x3")
        assert str(screen.query_one("#batch-start", Button).label) == "Resume"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(pilot.app.screen, AskResume))
        assert "100 lines" in text_of(pilot.app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, BatchScreen))

    app = watch(steps, batch="out.jsonl")
    assert app.batch is None
    assert written.read_bytes() == before


def test_the_output_is_no_graph_of_the_folder_in_which_it_lies(written):
    (written.parent / "square.txt").write_text("0 1\n1 2\n2 3\n3 0\n")
    plan = plan_of(BatchQuestion(".", "out.jsonl"))
    assert ([job.graph for job in plan.jobs], plan.lines) == (["./square.txt"], 100)


def test_a_long_error_is_shown_whole(folder):
    why = " ".join(f"word-{i}" for i in range(40))
    (folder / "out.jsonl").write_bytes(error("webs/bad.net", why) + line("grid:4x4"))

    async def steps(pilot, screen):
        await until(pilot, lambda: "word-39" in text_of(pilot.app))

    watch(steps, batch="out.jsonl")


def test_columns_are_sorted_by_key_and_by_their_headings(folder):
    lines = [line("b", n=5), line("a", n=70), error("x"), line("c", n=6)]
    (folder / "out.jsonl").write_bytes(b"".join(lines))

    async def steps(pilot, screen):
        def heading():
            return next(row for row in text_of(pilot.app).splitlines() if " status" in row)

        screen.sort_by("n")
        await until(pilot, lambda: numbers(pilot.app) == [2, 4, 1, 3])
        assert "n↓" in heading()
        row = next(i for i, text in enumerate(text_of(pilot.app).splitlines()) if " status" in text)
        await pilot.click(offset=(heading().index("n↓"), row))
        await until(pilot, lambda: numbers(pilot.app) == [1, 4, 2, 3])
        assert "n↑" in heading()
        await pilot.click(offset=(heading().index("graph"), row))
        await until(pilot, lambda: numbers(pilot.app) == [2, 1, 4, 3])
        with open(folder / "out.jsonl", "ab") as stream:
            stream.write(line("aa"))
        await until(pilot, lambda: numbers(pilot.app) == [2, 5, 1, 4, 3])
        screen.sort_by("seconds")
        await pilot.press("o")
        await until(pilot, lambda: numbers(pilot.app) == [1, 2, 3, 4, 5])
        await pilot.press("o")
        await until(pilot, lambda: numbers(pilot.app) == [3, 1, 2, 4, 5])

    watch(steps, LARGE, batch="out.jsonl")


def test_how_graphs_are_read_and_where_they_are_counted_is_remembered_with_the_batch(folder):
    question = BatchQuestion("petersen", "out.jsonl", "directed", " local:2 ")
    remember(recent_batch_of(plan_of(question)), [])
    (folder / "out.jsonl").write_bytes(line("petersen"))

    async def steps(pilot, screen):
        assert screen.query_one(BatchForm).question == replace(question, cluster="local:2")
        assert screen.query_one(BatchForm).plan.jobs[0].directed
        screen.query_one("#batch-reading", Choice).choose("simplified")
        await until(pilot, lambda: screen.query_one(BatchForm).question.reading == "simplified")
        await until(pilot, lambda: screen.query_one(BatchForm).plan is not None)
        assert screen.query_one(BatchForm).plan.jobs[0].simplify

    watch(steps)
    watch(steps, batch="out.jsonl")


def test_fields_that_were_checked_after_the_last_letter_are_not_checked_again(folder, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "chordless.tui.widgets.batch_form.plan_of", lambda question: asked.append(question) or plan_of(question)
    )

    async def steps(pilot, screen):
        form = screen.query_one(BatchForm)
        form.put(graphs="petersen")
        await pilot.pause()
        form.put(reading="simplified")
        await until(pilot, lambda: form.plan is not None)
        await pilot.pause(2 * SECONDS_TO_TYPE)
        assert form.plan is not None
        assert asked.count(form.question) == 1

    watch(steps)


def test_a_graph_from_standard_input_says_why_it_is_not_opened(folder):
    (folder / "out.jsonl").write_bytes(line("stdin:3") + line("stdin"))

    async def steps(pilot, screen):
        for _ in range(2):
            await pilot.press("enter", "down")
            await pilot.pause()
        assert pilot.app.session is None
        notes = {note.message for note in pilot.app._notifications}
        assert notes == {FROM_STANDARD_INPUT}

    watch(steps, batch="out.jsonl")


def test_a_graph_that_cannot_be_read_is_not_opened(written):
    async def steps(pilot, screen):
        await pilot.press("x", "home")
        await until(pilot, lambda: screen.query_one(BatchTable).chosen.position == 50)
        await pilot.press("enter")
        await pilot.pause()
        assert pilot.app.current_mode == "batch"
        assert pilot.app.session is None

    watch(steps, batch=str(written))


def test_the_file_of_the_command_line_is_opened_where_an_early_key_shows_another_screen(written):
    class Hurried(ChordlessApp):
        CSS_PATH = Path(chordless.tui.app.__file__).with_name("chordless.tcss")

        def on_mount(self):
            # As the key does that is obeyed before the first screen is drawn.
            self.call_next(self.show, "runs")

    async def steps(pilot):
        await until(pilot, lambda: not pilot.app.is_running or isinstance(pilot.app.screen, RunsScreen))
        assert pilot.app.is_running
        pilot.app.show("batch")
        await until(pilot, lambda: isinstance(pilot.app.screen, BatchScreen) and pilot.app.screen.lines)

    drive(Hurried(Settings(), batch=str(written)), SMALL, steps)
