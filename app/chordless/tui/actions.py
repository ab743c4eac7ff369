"""The table of all actions of the dashboard. Keys, footer, command palette and help are made from it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.binding import Binding, BindingType
from textual.keys import Keys, format_key
from textual.widgets import Input

if TYPE_CHECKING:
    from textual.screen import Screen

EVERYWHERE, LISTS, DIALOGS, QUESTIONS = "everywhere", "lists", "dialogs", "questions"
# Terminals without the newer protocol of keys send alt and a digit as two bytes, which Textual reads as the letter
# that a Mac writes with option and the digit.
_SAME_AS_ALT = {
    "alt+1": "inverted_exclamation_mark",
    "alt+2": "trade_mark_sign",
    "alt+3": "pound_sign",
    "alt+4": "cent_sign",
    "alt+5": "infinity",
}
_NAMED_KEYS = frozenset(name for key in Keys for name in (key.value, format_key(key.value)))


KEYS_OF_TABS = frozenset(_SAME_AS_ALT) | frozenset(_SAME_AS_ALT.values())
"""Keys that lead to a screen, and that a text field leaves alone."""


@dataclass(frozen=True)
class Action:
    """Something that a user can do."""

    # Its meaning. All actions with a key in common have the same name. The method ``action_<name>`` carries it out.
    # It is a method of the screen, or of the app for an action of `EVERYWHERE`, or of every list for one of `LISTS`.
    # Screen and name together are the name in the settings: ``run.pause = "p"``.
    name: str
    screen: str  # The screen that offers it, or `EVERYWHERE`, `LISTS`, `DIALOGS`, or `QUESTIONS`
    keys: str  # Keys, separated by commas, as Textual names them
    title: str  # One or two words, for the footer and the palette
    help: str  # A sentence
    # Whether the footer shows it. At most eight are shown at once, with those of `EVERYWHERE`.
    in_footer: bool = False

    @property
    def id(self) -> str:
        """The name in the settings, such as ``run.pause``."""
        return f"{self.screen}.{self.name}"

    def bindings(self) -> list[BindingType]:
        """Return the key bindings for Textual. Those with alt work in a text field too, before it takes the letter."""
        keys = self.keys.split(",")
        direct = [name for key in keys if key in _SAME_AS_ALT for name in (key, _SAME_AS_ALT[key])]
        plain = [key for key in keys if key not in _SAME_AS_ALT]
        first = Binding(",".join(plain), self.name, self.title, show=self.in_footer, id=self.id)
        if not direct:
            return [first]
        return [first, Binding(",".join(direct), self.name, self.title, show=False, id=self.id, priority=True)]


# Only on systems where a shell can suspend a program.
_SUSPEND: tuple[Action, ...] = (
    (
        Action(
            "suspend_process",
            EVERYWHERE,
            "ctrl+z",
            "Suspend",
            "Suspend the dashboard; `fg` in the shell brings it back.",
        ),
    )
    if hasattr(signal, "SIGTSTP")
    else ()
)
ACTIONS = (
    Action("show_new", EVERYWHERE, "1,alt+1", "New", "Choose a graph and begin a run."),
    Action("show_run", EVERYWHERE, "2,alt+2", "Run", "Watch the run."),
    Action("show_cycles", EVERYWHERE, "3,alt+3", "Cycles", "Browse the cycles that a run has listed."),
    Action("show_runs", EVERYWHERE, "4,alt+4", "Runs", "The runs so far: open, resume, compare or delete one."),
    Action("show_batch", EVERYWHERE, "5,alt+5", "Batch", "Count many graphs in one go, and look at each."),
    Action("show_help", EVERYWHERE, "f1,question_mark", "Help", "Show every key.", in_footer=True),
    Action("back", EVERYWHERE, "escape", "Back", "Leave the field, or go back to the screen before this one."),
    Action("command_palette", EVERYWHERE, "ctrl+p", "Palette", "Find any action by its name."),
    Action(
        "quit",
        EVERYWHERE,
        "ctrl+q",
        "Quit",
        "Leave the dashboard; with a run at work, it asks first.",
        in_footer=True,
    ),
    Action("close", EVERYWHERE, "q", "Close", "Close the help or a comparison; on the five screens, quit."),
    *_SUSPEND,
    Action("up", LISTS, "k,up", "Up", "Go up in a list or a table."),
    Action("down", LISTS, "j,down", "Down", "Go down in a list or a table."),
    Action("first", LISTS, "g,home", "First", "Go to the first line."),
    Action("last", LISTS, "G,end", "Last", "Go to the last line."),
    Action("page_up", LISTS, "pageup", "Page up", "Go up by a page."),
    Action("page_down", LISTS, "pagedown", "Page down", "Go down by a page."),
    Action("back", DIALOGS, "escape", "Stay", "Take the question away; nothing happens."),
    Action("close", DIALOGS, "q", "Close", "Take the question away; nothing happens."),
    Action("yes", QUESTIONS, "y", "Yes", "Answer yes."),
    Action("no", QUESTIONS, "n", "No", "Answer no, as Enter does."),
    Action("start", "new", "ctrl+r", "Start", "Begin the run.", in_footer=True),
    Action(
        "breadth_first",
        "new",
        "B",
        "Breadth first",
        "Begin a search that grows paths level by level, as in the paper: watch the wave.",
        in_footer=True,
    ),
    Action(
        "other_way",
        "new",
        "f2",
        "Other way",
        "Count by a search, or along a boundary, where that is expected to be much sooner.",
    ),
    Action("go_to", "new", "colon", "Graph", "Go to the field of the graph.", in_footer=True),
    Action("pause", "run", "space", "Pause", "Pause the search or the replay, or let it go on.", in_footer=True),
    Action("stop", "run", "s", "Stop", "Stop the search; a run with a folder can be resumed.", in_footer=True),
    Action("checkpoint", "run", "w", "Checkpoint", "Write a checkpoint now."),
    Action("resume", "run", "r", "Resume", "Resume a run that was stopped or has died."),
    Action("freeze", "run", "f", "Freeze", "Freeze the screen; the search goes on.", in_footer=True),
    Action(
        "breadth_first",
        "run",
        "B",
        "Breadth first",
        "Begin the run anew, level by level as in the paper: watch the wave.",
    ),
    Action("rewind", "run", "left", "Back", "Go back in a replay, by a twentieth of it."),
    Action("forward", "run", "right", "Forward", "Go on in a replay, by a twentieth of it."),
    Action("slower", "run", "less_than_sign", "Slower", "Play a replay at half the speed."),
    Action("faster", "run", "greater_than_sign", "Faster", "Play a replay at twice the speed."),
    Action("read", "run", "v", "Values", "Read the values of the chart: left and right go from length to length."),
    Action("by_step", "run", "b", "By step", "Along a boundary: draw the states by step, or the cycles by length."),
    Action("scale", "run", "l", "Scale", "Draw the curves on a logarithmic or on a linear scale."),
    Action("go_to", "cycles", "colon", "Go to", "Go to a cycle by its number."),
    Action(
        "filter",
        "cycles",
        "slash",
        "Filter",
        "Show only cycles of some lengths, or through some vertices.",
        in_footer=True,
    ),
    Action("sort", "cycles", "o", "Sort", "Sort by length: longest first, shortest first, as found.", in_footer=True),
    Action("export", "cycles", "e", "Export", "Write the cycles that are shown to a file.", in_footer=True),
    Action("copy", "cycles", "c", "Copy", "Copy the cycle to the clipboard."),
    Action("zoom_in", "cycles", "plus,equals_sign", "Zoom in", "Show less of the graph, larger."),
    Action("zoom_out", "cycles", "minus", "Zoom out", "Show more of the graph, smaller."),
    Action("fit", "cycles", "0", "Fit", "Show the whole graph."),
    Action("pan_left", "cycles", "shift+left", "Look left", "Move the view of the drawing to the left."),
    Action("pan_right", "cycles", "shift+right", "Look right", "Move the view of the drawing to the right."),
    Action("pan_up", "cycles", "shift+up", "Look up", "Move the view of the drawing up."),
    Action("pan_down", "cycles", "shift+down", "Look down", "Move the view of the drawing down."),
    Action("alone", "cycles", "a", "Cycle alone", "Draw the cycle alone, as a ring, or in the graph."),
    Action(
        "heat",
        "cycles",
        "h",
        "Heat map",
        "Draw how many of the shown cycles pass each edge, or the cycle again.",
        in_footer=True,
    ),
    Action("drawing", "cycles", "p", "Drawing", "Show or hide the drawing."),
    Action("back", "cycles", "escape", "Stop sorting", "Stop sorting; otherwise undo the filter; otherwise go back."),
    Action("open", "runs", "enter", "Open", "Watch this run, or look at what it found.", in_footer=True),
    Action("resume", "runs", "r", "Resume", "Go on with this run.", in_footer=True),
    Action("compare", "runs", "m", "Compare", "Mark this run; two marked runs are shown side by side.", in_footer=True),
    Action("sort", "runs", "o", "Sort", "Sort by the next column; click on a heading to sort by it, again to reverse."),
    Action("filter", "runs", "slash", "Filter", "Show only the runs of graphs whose name has these letters."),
    Action("back", "runs", "escape", "All runs", "Undo the filter; otherwise go back."),
    Action("delete", "runs", "delete,d", "Delete", "Delete the folder of this run; you are asked first."),
    Action("pause", "compare", "space", "Play", "Play both runs from start to end, side by side.", in_footer=True),
    Action("scale", "compare", "l", "Scale", "Draw the curves on a logarithmic or on a linear scale.", in_footer=True),
    Action("go_to", "batch", "colon", "Graphs", "Go to the field of the graphs."),
    Action("start", "batch", "ctrl+r", "Start", "Start the batch, or resume one that has lines already."),
    Action(
        "stop",
        "batch",
        "s",
        "Stop",
        "Stop the batch after the graphs at work; press again to stop at once.",
        in_footer=True,
    ),
    Action(
        "failures",
        "batch",
        "x",
        "Failures",
        "Show failed graphs first, or all in the order of the file.",
        in_footer=True,
    ),
    Action(
        "sort",
        "batch",
        "o",
        "Sort",
        "Sort by the next column; click on a heading to sort by it, again to reverse.",
        in_footer=True,
    ),
    Action("open", "batch", "enter", "Open", "Search the graph on its own, and watch it.", in_footer=True),
)


def actions_of(screen: str) -> Iterator[Action]:
    """Yield the actions of one screen, in the order of the table."""
    return (action for action in ACTIONS if action.screen == screen)


def bindings_of(screen: str) -> list[BindingType]:
    """Return the key bindings of one screen, for its ``BINDINGS``."""
    return [binding for action in actions_of(screen) for binding in action.bindings()]


def list_bindings(**methods: str) -> list[BindingType]:
    """Return the ``BINDINGS`` of a list; `methods` names the action of Textual for each action of `LISTS`."""
    keys = {action.name: action for action in actions_of(LISTS)}
    return [
        Binding(keys[name].keys, method, keys[name].title, show=False, id=keys[name].id)
        for name, method in methods.items()
    ]


def keys_of(action: Action, chosen: dict[str, str]) -> list[str]:
    """Return the keys of an action. `chosen` maps the ids of some actions to the user's own keys."""
    return [key.strip() for key in chosen.get(action.id, action.keys).split(",")]


def key_of(screen: Screen[Any], action_id: str) -> str:
    """Return a key of an action that works now, as the dashboard displays it."""
    (action,) = (action for action in ACTIONS if action.id == action_id)
    return key_that_works(screen, action)


def key_that_works(screen: Screen[Any], action: Action) -> str:
    """Return the shortest key of an action. While a text field has the focus, letters and digits go there."""
    keys = keys_of(action, getattr(screen.app, "keys", {}))
    if isinstance(screen.focused, Input):
        keys = [key for key in keys if len(format_key(key)) > 1] or keys
    return min((screen.app.get_key_display(Binding(key, "")) for key in keys), key=len)


_DEFAULT_KEYS = {action.id: action.keys for action in ACTIONS}


def usable_keys(wanted: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Check the keys that a user wants in place of the default ones: for the id of an action, its keys with commas.

    Return those that are valid and free, and the faults of the others.
    """
    own = _DEFAULT_KEYS
    usable = dict(wanted)
    faults: list[str] = []
    while True:
        keys = {**own, **{name: chosen for name, chosen in usable.items() if name in own}}
        for name, chosen in usable.items():
            fault = _fault(name, chosen, keys)
            if fault is not None:
                break
        else:
            return usable, faults
        faults.append(f"keys: {name} = {chosen!r} is ignored: {fault}")
        # The action gets its default keys back, and another wanted key may clash with these.
        del usable[name]


def _fault(name: str, chosen: str, keys: dict[str, str]) -> str | None:
    if name not in keys:
        return "there is no such action; the help screen lists them"
    strange = sorted(key for key in _split(chosen) if not _is_key(key))
    if strange:
        return f"{strange[0]!r} is no key"
    for other, taken in keys.items():
        # Where two actions have a key in common by default, that is on purpose.
        shared = (_split(chosen) & _split(taken)) - (_split(_DEFAULT_KEYS[name]) & _split(_DEFAULT_KEYS[other]))
        meet = {_screen_of(name), _screen_of(other)}
        if other != name and shared and (len(meet) == 1 or meet & {EVERYWHERE, LISTS}):
            return f"{other} has that key"
    return None


def _split(keys: str) -> set[str]:
    """Return the single keys in displayed form, so that ``?`` and ``question_mark`` are equal."""
    return {format_key(key.strip()) for key in keys.split(",")}


def _screen_of(action_id: str) -> str:
    return action_id.partition(".")[0]


def _is_key(shown: str) -> bool:
    """Return whether a text is the name of a key, with or without modifiers."""
    base = shown if len(shown) == 1 else shown.rpartition("+")[2]
    return len(base) == 1 or base in _NAMED_KEYS
