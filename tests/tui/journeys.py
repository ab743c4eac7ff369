"""The journeys of a stranger through the dashboard; see `tui.stranger`."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """Keys as tmux names them, text that is typed after them, and words that the screen then shows.

    Words may go on from one line to the next.
    """

    name: str
    keys: tuple[str, ...] = ()
    text: str = ""
    shows: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()  # Words that the screen does not show then
    shell: bool = False  # Whether the text is a line for the shell
    size: tuple[int, int] | None = None  # Another size of the terminal, in columns and rows
    kills: bool = False  # Whether the engine is killed


def _web(species: int, *groups: tuple[int, ...]) -> str:
    """Return a food web of Pajek's format in which each group of species eats a prey of its own."""
    names = [*(f"species {v}" for v in range(1, species + 1)), *(f"prey {v}" for v in range(1, len(groups) + 1))]
    lines = [f"*Vertices {len(names)}", *(f'{v} "{name}"' for v, name in enumerate(names, 1)), "*Arcs"]
    lines += [f"{prey} {v} 1" for prey, group in enumerate(groups, species + 1) for v in group]
    return "\n".join(lines) + "\n"


def _streets(side: int) -> str:
    """Return a map in GeoJSON: so many streets each way."""
    places = [[[13.4 + x / 100, 52.5 + y / 100] for y in range(side)] for x in range(side)]
    streets = [*places, *([list(street) for street in zip(*places, strict=True)])]
    edges = [[street[i], street[i + 1]] for street in streets for i in range(side - 1)]
    shapes = [{"type": "LineString", "coordinates": edge} for edge in edges]
    features = [{"type": "Feature", "properties": {}, "geometry": shape} for shape in shapes]
    return json.dumps({"type": "FeatureCollection", "features": features})


FILES = {
    "holes.net": _web(4, (1, 2), (2, 3), (3, 4), (4, 1)),
    "holes.clu": "*Vertices 8\n" + 8 * "1\n",
    "line.net": _web(3, (1, 2), (2, 3)),
    "line.clu": "*Vertices 5\n" + 5 * "1\n",
    "roads.geojson": _streets(4),
}
"""Files in the folder in which a journey begins: a food web with a hole, one without, and a map of roads."""


_START = Step("start", text="chordless", shell=True, shows=("New", "Start"))
JOURNEYS = {
    "tabs": (
        _START,
        Step("run", ("M-2",), shows=("No run is shown",)),
        Step("cycles", ("3",), shows=("No cycles to browse",)),
        Step("runs", ("4",), shows=("There are no runs yet",)),
        Step("batch", ("5",), shows=("Graphs",)),
        Step("help", ("?",), shows=("Go to the field",)),
        Step("end-of-help", ("G",), shows=("batch.open",)),
        Step("closed", ("q",), shows=("Graphs",)),
    ),
    "count": (
        _START,
        Step("typed", ("C-u",), "grid:6x10", ("60 vertices",)),
        Step("run", ("C-r",), shows=("800,139", "complete")),
        Step("cycles", ("3",), shows=("800,139",)),
        Step("runs", ("4",), shows=("grid:6x10",)),
    ),
    "leave": (
        _START,
        Step("typed", ("C-u",), "grid:12x12", ("144 vertices",)),
        Step("run", ("C-r",), shows=("running", "Pause")),
        Step("frozen", ("f",), shows=("FROZEN",)),
        Step("wave", ("B",), shows=("breadth first?",)),
        Step("stay", ("q",), shows=("FROZEN",)),
        Step("leave", ("q",), shows=("still being searched", "Stay")),
        Step("stopped", ("Up", "Enter"), shows=("$",)),
    ),
    "triangle": (
        _START,
        Step("typed", ("C-u",), "complete:3", ("3 vertices",)),
        Step("run", ("C-r",), shows=("✔ complete",)),
        Step("cycles", ("3",), shows=("1 cycle",)),
    ),
    "other-way": (
        _START,
        Step("typed", ("C-u",), "grid:9x10", ("f2", "boundary.")),
        Step("other", ("F2",), shows=("f2", "search.")),
        Step("run", ("C-r",), shows=("complete", "668,179,142")),
    ),
    "list": (
        _START,
        Step("typed", ("C-u",), "petersen", ("10 vertices",)),
        Step("run", ("C-r",), shows=("✔ complete",)),
        Step("offer", ("3",), shows=("List the cycles",)),
        Step("listed", ("Enter",), shows=("order: as found",)),
        Step("longest", ("o",), shows=("longest first",)),
        Step("filter", ("/",), shows=("Filter",)),
        Step("closed", ("Escape",), shows=("longest first",)),
    ),
    "compare": (
        _START,
        Step("first", ("C-u",), "grid:4x4", ("16 vertices",)),
        Step("first-run", ("C-r",), shows=("✔ complete",)),
        Step("new", ("1", ":", "C-u"), "grid:4x5", ("20 vertices",)),
        Step("second-run", ("C-r",), shows=("✔ complete", "grid:4x5")),
        Step("runs", ("4",), shows=("grid:4x4", "grid:4x5")),
        Step("marked", ("m",), shows=("◆ grid:4x5",)),
        Step("compared", ("j", "m"), shows=("paths T",)),
        Step("back", ("q",), shows=("grid:4x4", "State")),
    ),
    "wave": (
        _START,
        Step("typed", ("C-u",), "grid:6x10", ("60 vertices",)),
        Step("run", ("F4",), shows=("800,139", "complete", "No path waits")),
        Step("replay", ("Space",), shows=("REPLAY",)),
        Step("paused", ("Space",), shows=("REPLAY, paused",)),
        Step("begin", 20 * ("Left",), shows=("REPLAY, paused, 0",)),
        Step("forward", 12 * ("Right",), shows=("REPLAY, paused", "paths wait")),
    ),
    "boundary": (
        _START,
        Step("typed", ("C-u",), "grid:12x12", ("f2", "search.")),
        Step("run", ("C-r",), shows=("complete", "421,587,920,205,546")),
        Step("by-step", ("b",), shows=("states held",)),
        Step("linear", ("l",), shows=("linear scale",)),
    ),
    "resume": (
        _START,
        Step("typed", ("C-u",), "gnp:100,0.2,3", ("100 vertices",)),
        Step("run", ("C-r",), shows=("running", "Pause")),
        Step("paused", ("Space",), shows=("paused", "Go on")),
        Step("stopped", ("s",), shows=("stopped", "Press r to resume")),
        Step("runs", ("4",), shows=("gnp:100,0.2,3", "It can be resumed")),
        Step("resumed", ("r",), shows=("running", "Pause")),
        Step("at-work", ("4", "d"), shows=("at work",)),
        Step("asked", ("C-q",), shows=("still being searched",)),
        Step("left", ("Up", "Enter"), shows=("$",)),
    ),
    "mistake": (
        _START,
        Step("typed", ("C-u",), "grod:3x3", ("did you mean grid?",)),
        Step("no-start", ("C-r",), shows=("did you mean grid?", "Start")),
        Step("mended", ("C-u",), "grid:3x3", ("9 vertices",)),
    ),
    "heat": (
        _START,
        Step("typed", ("C-u",), "petersen", ("10 vertices",)),
        Step("run", ("C-r",), shows=("✔ complete",)),
        Step("offer", ("3",), shows=("List the cycles",)),
        Step("listed", ("Enter",), shows=("22 cycles", "●")),
        Step("heat", ("h",), shows=("%",)),
        Step("ring", ("h", "a"), shows=("order: as found",)),
    ),
    "delete": (
        _START,
        Step("typed", ("C-u",), "grid:3x3", ("9 vertices",)),
        Step("run", ("C-r",), shows=("✔ complete",)),
        Step("runs", ("4",), shows=("grid:3x3", "Found")),
        Step("asked", ("d",), shows=("Delete",)),
        Step("kept", ("n",), shows=("grid:3x3", "Open")),
        Step("deleted", ("d", "y"), shows=("There are no runs yet",)),
    ),
    "settings": (
        _START,
        Step("settings", ("F3",), shows=("Theme", "Keys: Enter changes one")),
        Step("light", ("k", "Enter"), shows=("solarized-light",)),
        Step("closed", ("q",), shows=("New", "Start")),
    ),
    "early": (
        Step("typed", text="chordless", shows=("$ chordless",)),
        Step("settings", ("Enter", "F3"), shows=("Theme", "Keys: Enter changes one")),
    ),
    "palette": (
        _START,
        Step("palette", ("C-p",), shows=("Search for commands",)),
        Step("found", (), "folder of runs", ("Settings",)),
        Step("settings", ("Enter",), shows=("Keys: Enter changes one",)),
    ),
    "batch": (
        _START,
        Step("empty", ("M-5",), shows=("Graphs",)),
        Step("typed", (":",), "grid:3x3 grid:3x4", ("2 inputs",)),
        Step("done", ("C-r",), shows=("complete",)),
    ),
    "web": (
        _START,
        Step("offered", ("C-u",), "holes.net", ("A food web: choose",)),
        Step("read-as-web", ("Tab", "Up"), shows=("8 vertices, 4 edges",)),
        Step("end", ("C-r",), shows=("complete", "1 hole: no line of niches has all 4 species. In most holes:")),
        Step("other-web", ("1", ":", "C-u"), "line.net", ("5 vertices, 2 edges",)),
        Step("other-end", ("C-r",), shows=("No hole: one line of niches has all 3 species. An order of them: ",)),
    ),
    "holes": (
        _START,
        Step("typed", ("M-5", ":"), "holes.net line.net", ("2 inputs",)),
        Step("done", ("Tab", "Up", "C-r"), shows=("done", "2 of 2 graphs", "no 1", "yes 0")),
    ),
    "attach": (
        Step(
            "shell", text="chordless count gnp:100,0.2,3 --checkpoint elsewhere >log 2>&1 &", shell=True, shows=("$",)
        ),
        _START,
        Step("runs", ("M-4",), shows=("gnp:100,0.2,3", "running", "State")),
        Step("watched", ("Enter",), shows=("running", "paths wait")),
        Step("beside", ("B",), shows=("breadth first?", "The run that is shown")),
        Step("not-beside", ("n",), shows=("running", "paths wait")),
        Step("asked", ("s",), shows=("another process has",)),
        Step("stopped", ("y",), shows=("stopped", "Press r to resume")),
    ),
    "killed": (
        _START,
        Step("typed", ("C-u",), "gnp:100,0.2,3", ("100 vertices",)),
        Step("saved", ("C-r",), shows=("running", "paths wait")),
        Step("checkpoint", ("w",), shows=("just now",)),
        Step("killed", kills=True, shows=("The engine was killed", "r to resume")),
        Step("resumed", ("r",), shows=("running", "paths wait"), hides=("The engine was killed",)),
        Step("asked", ("s",), shows=("stopped",)),
    ),
    "keep": (
        _START,
        Step("typed", ("C-u",), "gnp:100,0.2,3", ("100 vertices",)),
        Step("run", ("C-r",), shows=("running", "paths wait")),
        Step("asked", ("q",), shows=("still being searched", "Leave and keep it running")),
        Step("left", ("Up", "Up", "Up", "Enter"), shows=("the run goes on; to watch it: chordless tui", "$")),
        Step("back", text="clear; chordless tui data/chordless/runs/*", shell=True, shows=("running", "paths wait")),
        Step("asked-again", ("s",), shows=("another process has",)),
        Step("stopped", ("y",), shows=("stopped", "Press r to resume")),
    ),
    "memory": (
        _START,
        Step("settings", ("F3",), shows=("Theme", "Keys: Enter changes one")),
        Step("ascii", ("Tab", "Down"), shows=("(*) ASCII alone",)),
        Step("wrong", ("Tab", "Tab"), "much", ("'much' is not a size",)),
        Step("memory", ("C-u",), "600M", hides=("is not a size",)),
        Step("left-field", ("Escape",), shows=("Keys: Enter changes one",)),
        Step("taken", ("q",), shows=("[1 New]",)),
        Step("typed", (":", "C-u"), "grid:5x6", ("30 vertices",)),
        Step("run", ("C-r",), shows=("complete", "749")),
        Step("kept", ("F3",), shows=("(*) ASCII alone", "600M")),
    ),
    "go-to": (
        _START,
        Step("typed", ("C-u",), "petersen", ("10 vertices",)),
        Step("run", ("C-r",), shows=("complete",)),
        Step("offer", ("3",), shows=("List the cycles",)),
        Step("listed", ("Enter",), shows=("petersen · 22 cycles",)),
        Step("asked", (":",), "20", shows=("Go to the cycle of number",)),
        Step("there", ("Enter",), shows=("▶ 20",)),
        Step("filter", ("/",), "6", ("Filter",)),
        Step("filtered", ("Enter",), shows=("of 22",)),
        Step("longest", ("o",), shows=("longest first",)),
    ),
    "roads": (
        _START,
        Step("typed", ("C-u",), "roads.geojson", ("16 vertices, 24 edges",)),
        Step("run", ("C-r",), shows=("✔ complete",)),
        Step("offer", ("3",), shows=("List the cycles",)),
        Step("listed", ("Enter",), shows=("roads.geojson · 24 cycles",)),
        Step("alone", ("a",), shows=("24 cycles",)),
        Step("closer", ("a", "+", "+"), shows=("24 cycles",)),
        Step("heat", ("0", "h"), shows=("%",)),
    ),
    "paths": (
        _START,
        Step("typed", ("C-u",), "petersen", ("10 vertices",)),
        # From the field of the graph backwards: on a large terminal there are more fields after it.
        Step("no-ends", (*13 * ("BTab",), "Down"), shows=("From", "name a vertex")),
        Step("from", ("Tab",), "1", ("From",)),
        Step("to", ("Tab",), "1", ("two different",)),
        Step("other", ("C-u",), "7", ("from 1 to 7",)),
        Step("run", ("C-r",), shows=("complete", "paths C")),
    ),
    "resize": (
        _START,
        Step("typed", ("C-u",), "gnp:100,0.2,3", ("100 vertices",)),
        Step("run", ("C-r",), shows=("running", "paths wait")),
        Step("small", size=(60, 20), shows=("running", "f1 Help")),
        Step("large", size=(140, 44), shows=("running", "paths wait", "log scale", "f3 Settings")),
        Step("tiny", size=(40, 12), shows=("running",)),
        Step("usual", size=(80, 24), shows=("running", "paths wait", "f1 Help")),
        Step("asked", ("s",), shows=("stopped",)),
    ),
}
"""The journeys by name."""
