"""Snapshots: the screens, cell by cell, as they were when somebody looked at them last.

``CHORDLESS_SNAPSHOTS=write pytest tests/tui/test_snapshots.py`` takes them anew; look at each before it is committed.
"""

from __future__ import annotations

import os
import re
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from chordless.graphs.load import load_graph
from chordless.protocol.codec import event_to_json
from chordless.protocol.events import Finished, Started
from rich.console import Console
from rich.text import Text
from test_export import make_run

from tui.pilots import LARGE, SMALL
from tui.scenes import home_folder, picture_of, pictures_of_a_wave, words_of

FOLDER = Path(__file__).parent / "snapshots"
SNAPSHOTS = {
    "new": ("new", SMALL, False),
    "run": ("run", SMALL, False),
    "run-large": ("run", LARGE, False),
    "finished-ascii": ("finished", SMALL, True),
    "cycles-wide": ("cycles", (120, 30), False),
    "runs": ("runs", SMALL, False),
    "compare": ("compare", SMALL, False),
    "help": ("help", SMALL, False),
}
_CELL_WIDTH, _CELL_HEIGHT = 12.2, 24.4
# By so much the parts of a colour may differ: another version of Textual mixes some a little differently.
_SHADES = 8
_SHOWN = 5


@pytest.fixture
def home(tmp_path):
    with home_folder(tmp_path / "ada") as home:
        home.listing = small_listing(home.path / "grid-5x6")
        yield home


def small_listing(path):
    """Make a complete run with few cycles."""
    graph, title = load_graph("grid:5x6").graph, "grid:5x6"
    count = len(make_run(path, graph, title=title))
    size = (title, graph.n, graph.m, 4)
    events = (
        Started(*size, "reference", "", 0.1, 1),
        Finished("complete", *size, count, {}, 999, 0, {}, count, 0, "reference", "", 0.1, 1, 1, 1.0),
    )
    (path / "events.jsonl").write_text("".join(event_to_json(event, time=1.0) + "\n" for event in events))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", SNAPSHOTS)
def test_screens_look_as_they_did(name, home, tmp_path):
    scene, size, ascii_only = SNAPSHOTS[name]
    picture = repeatable(picture_of(scene, size, home, ascii_only=ascii_only))
    old, new = FOLDER / f"{name}.svg", tmp_path / f"{name}.svg"
    if os.environ.get("CHORDLESS_SNAPSHOTS") == "write":
        old.write_text(picture, encoding="utf-8")
        pytest.skip(f"{old} is written: look at it")
    new.write_text(picture, encoding="utf-8")
    found = differences(old.read_text(encoding="utf-8"), picture) if old.exists() else ["there is no snapshot yet"]
    if found:
        more = len(found) - _SHOWN
        pytest.fail(
            "\n".join(
                [
                    f"The screen {name!r} has changed:",
                    *found[:_SHOWN],
                    *([f"... and {more} more"] if more > 0 else []),
                    f"Look at {old} and {new} in a browser. If the new one is right:",
                    "    CHORDLESS_SNAPSHOTS=write pytest tests/tui/test_snapshots.py",
                ]
            ),
            pytrace=False,
        )


def drawn(*pieces):
    console = Console(width=20, file=StringIO(), record=True, force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(*pieces))
    return console.export_svg(title="")


@pytest.mark.parametrize(
    ("new", "change"),
    [
        ([("to", "#102030 on #405060"), " & fro"], None),
        ([("to", "#132333 on #3d4d5d"), " & fro"], None),
        ([("ta", "#102030 on #405060"), " & fro"], "row 1, column 2: 'o' has become 'a'"),
        ([("to", "#102030 on #405060"), " & fr"], "row 1, column 8: 'o' has become ' '"),
        ([("to", "bold #102030 on #405060"), " & fro"], "row 1, column 1: 't' looked #102030"),
        ([("to", "#502030 on #405060"), " & fro"], "row 1, column 1: 't' looked #102030"),
        ([("to", "#102030 on #40a060"), " & fro"], "row 1, column 1: 't' looked #102030"),
        ([("to", "#102030"), " & fro"], "row 1, column 1: 't' looked #102030"),
        ([("to ", "#102030 on #405060"), "& fro"], "row 1, column 3: ' ' looked"),
    ],
)
def test_a_change_of_one_cell_is_noticed(new, change):
    found = differences(repeatable(drawn(("to", "#102030 on #405060"), " & fro")), drawn(*new))
    assert len(found) <= 2
    assert (found[0].startswith(change) if found else False) if change else not found


def repeatable(svg):
    """Return a picture with neither the id of the day nor fonts from elsewhere."""
    without_id = re.sub(r"terminal-\d+", "terminal", svg)
    return re.sub(r"@font-face {.*?}\s*", "", without_id, flags=re.DOTALL)


def differences(old, new):
    """Compare two pictures cell by cell; return a line for each cell that has changed."""
    before, after = cells(old), cells(new)
    found = []
    for place in sorted(before.keys() | after.keys()):
        (was, *looked), (now, *looks) = before.get(place, (" ", "", "", "")), after.get(place, (" ", "", "", ""))
        where = f"row {place[0] + 1}, column {place[1] + 1}:"
        if was != now:
            found.append(f"{where} {was!r} has become {now!r}")
        elif not all(map(alike, looked, looks)):
            found.append(f"{where} {was!r} looked {' '.join(looked)} and looks {' '.join(looks)}")
    return found


def cells(svg):
    """Return what is in each cell of a picture: character, its colour, bold and the like, the colour behind it."""
    styles = {}
    for name, rules in re.findall(r"\.([\w-]+-r\d+) {(.*?)}", svg):
        colour, *others = sorted(rules.replace(" ", "").strip(";").split(";"), key=lambda rule: rule[:4] != "fill")
        styles[name] = (colour.removeprefix("fill:"), ",".join(sorted(filter(None, others))))
    found = {}
    root = ElementTree.fromstring(svg)
    for rect in root.iterfind(".//{*}rect[@shape-rendering]"):
        row, column = round((float(rect.get("y")) - 1.5) / _CELL_HEIGHT), round(float(rect.get("x")) / _CELL_WIDTH)
        for place in range(column, column + round(float(rect.get("width")) / _CELL_WIDTH)):
            found[row, place] = (" ", "", "", rect.get("fill"))
    for text in root.iterfind(".//{*}text[@clip-path]"):
        row, column = round((float(text.get("y")) - 20) / _CELL_HEIGHT), round(float(text.get("x")) / _CELL_WIDTH)
        colour, others = styles[text.get("class")]
        for place, character in enumerate(text.text.replace("\xa0", " "), column):
            behind = found.get((row, place), ("", "", "", ""))[3]
            # Of a blank only a line through it or under it is to be seen.
            visible = character != " " or "text-decoration" in others
            found[row, place] = (character, *((colour, others) if visible else ("", "")), behind)
    return found


def alike(one, other):
    """Say whether two looks are the same, or two colours nearly."""
    if one[:1] != "#" or other[:1] != "#":
        return one == other
    return all(abs(a - b) <= _SHADES for a, b in zip(channels(one), channels(other), strict=True))


def channels(colour):
    """Return red, green and blue of ``#rrggbb``."""
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


@pytest.mark.slow
def test_the_moving_picture_of_the_readme_is_of_todays_screen(tmp_path):
    """It has the words of its last moment in it."""
    image = pytest.importorskip("PIL.Image")
    path = Path(__file__).parents[2] / "assets" / "screens" / "wave.gif"
    if not path.exists():
        pytest.skip("the checkout with its assets is not here")
    with image.open(path) as picture:
        kept = picture.info.get("comment", b"").decode()
    with home_folder(tmp_path / "ada") as home:
        (now,) = pictures_of_a_wave((120, 40), home, 1)
    assert words_of(now).splitlines() == kept.splitlines(), "python assets/pictures.py wave draws it anew"
