"""The table of all actions of the dashboard. Keys, footer, command palette and help are made from it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.binding import Binding, BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.keys import Keys, format_key, key_to_character

if TYPE_CHECKING:
    from textual.app import App
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
WHERE = {
    EVERYWHERE: "on every screen",
    LISTS: "in every list",
    DIALOGS: "in a question",
    QUESTIONS: "in a question of yes or no",
}
_NAMED_KEYS = frozenset(name for key in Keys for name in (key.value, format_key(key.value)))

KEYS_OF_TABS = frozenset(_SAME_AS_ALT) | frozenset(_SAME_AS_ALT.values())
"""Keys that lead to a screen, and that a text field leaves alone."""


@dataclass(frozen=True)
class Action:
    """Something that a user can do."""

    # Its meaning. All actions with a key in common have the same name. The method ``action_<name>`` carries it out.
    # It is a method of the screen, or of the app for an action of `EVERYWHERE`, or of every list for one of `LISTS`. Of
    # ``show_new`` and the like the second word is the argument of one method: ``action_show("new")``.
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

    @property
    def call(self) -> str:
        """What Textual calls, such as ``stop`` or ``show('new')``."""
        verb, _, what = self.name.partition("_")
        return f"{verb}({what!r})" if verb in ("show", "pan", "zoom") else self.name

    def bindings(self) -> list[BindingType]:
        """Return the key bindings for Textual. Those with alt work in a text field too, before it takes the letter."""
        keys = self.keys.split(",")
        direct = [name for key in keys if key in _SAME_AS_ALT for name in (key, _SAME_AS_ALT[key])]
        plain = [key for key in keys if key not in _SAME_AS_ALT]
        first = Binding(",".join(plain), self.call, self.title, show=self.in_footer, id=self.id)
        if not direct:
            return [first]
        return [first, Binding(",".join(direct), self.call, self.title, show=False, id=self.id, priority=True)]


_Row = tuple[str, str, str, str] | tuple[str, str, str, str, bool]
SHOWN = True


def _on(screen: str, *rows: _Row) -> Iterator[Action]:
    """Yield the actions of a screen: of each its name, keys, title and help, and whether the footer shows it."""
    for name, keys, title, *more in rows:
        yield Action(name, screen, keys, title, *more)


# Only on systems where a shell can suspend a program.
_SUSPEND = ("suspend_process", "ctrl+z", "Suspend", "Suspend the dashboard; `fg` in the shell brings it back.")
ACTIONS = (
    *_on(
        EVERYWHERE,
        ("show_new", "1,alt+1", "New", "Choose a graph and begin a run."),
        ("show_run", "2,alt+2", "Run", "Watch the run."),
        ("show_cycles", "3,alt+3", "Cycles", "Browse the cycles that a run has listed."),
        ("show_runs", "4,alt+4", "Runs", "The runs so far: open, resume, compare or delete one."),
        ("show_batch", "5,alt+5", "Batch", "Count many graphs in one go, and look at each."),
        ("show_help", "f1,question_mark", "Help", "Show every key.", SHOWN),
        ("show_settings", "f3", "Settings", "Choose theme, threads, memory, folder of runs and keys."),
        ("back", "escape", "Back", "Leave the field, or go back to the screen before this one."),
        ("command_palette", "ctrl+p", "Palette", "Find any action by its name."),
        ("quit", "ctrl+q", "Quit", "Leave the dashboard; with a run at work, it asks first.", SHOWN),
        ("close", "q", "Close", "Close the help, the settings or a comparison; on the five screens, quit."),
    ),
    *_on(EVERYWHERE, *[_SUSPEND] * hasattr(signal, "SIGTSTP")),
    *_on(
        LISTS,
        ("up", "k,up", "Up", "Go up in a list or a table."),
        ("down", "j,down", "Down", "Go down in a list or a table."),
        ("first", "g,home", "First", "Go to the first line."),
        ("last", "G,end", "Last", "Go to the last line."),
        ("page_up", "pageup", "Page up", "Go up by a page."),
        ("page_down", "pagedown", "Page down", "Go down by a page."),
    ),
    *_on(
        DIALOGS,
        ("back", "escape", "Stay", "Take the question away; nothing happens."),
        ("close", "q", "Close", "Take the question away; nothing happens."),
    ),
    *_on(
        QUESTIONS,
        ("yes", "y", "Yes", "Answer yes."),
        ("no", "n", "No", "Answer no, as Enter does."),
    ),
    *_on(
        "new",
        ("start", "ctrl+r", "Start", "Begin the run.", SHOWN),
        (
            "breadth_first",
            "B,f4",
            "Breadth first",
            "Begin a search that grows paths level by level, as in the paper: watch the wave.",
            SHOWN,
        ),
        (
            "other_way",
            "f2",
            "Other way",
            "Count by a search, or along a boundary, where that is expected to be much sooner.",
        ),
        ("go_to", "colon", "Graph", "Go to the field of the graph.", SHOWN),
    ),
    *_on(
        "run",
        (
            "pause",
            "space",
            "Pause",
            "Pause the search or the replay, or let it go on. Of a run that is over: play it again.",
            SHOWN,
        ),
        ("stop", "s", "Stop", "Stop the search; a run with a folder can be resumed.", SHOWN),
        ("resume", "r", "Resume", "Resume a run that was stopped or has died."),
        (
            "breadth_first",
            "B,f4",
            "Breadth first",
            "Begin the run anew, level by level as in the paper: watch the wave.",
        ),
        ("other_way", "f2", "Other way", "Begin a count anew along a boundary, where the search takes very long."),
        ("freeze", "f", "Freeze", "Freeze the screen; the search goes on.", SHOWN),
        ("checkpoint", "w", "Checkpoint", "Write a checkpoint now."),
        ("rewind", "left", "Back", "Go back in a replay, by a twentieth of it."),
        ("forward", "right", "Forward", "Go on in a replay, by a twentieth of it."),
        ("slower", "less_than_sign", "Slower", "Play a replay at half the speed."),
        ("faster", "greater_than_sign", "Faster", "Play a replay at twice the speed."),
        ("read", "v", "Values", "Read the values of the chart: left and right go from length to length."),
        ("go_to", "colon", "Go to", "Go to a length of the chart, and read its values."),
        ("by_step", "b", "By step", "Along a boundary: draw the states by step, or what was found by length."),
        ("scale", "l", "Scale", "Draw the curves on a logarithmic or on a linear scale."),
    ),
    *_on(
        "cycles",
        ("go_to", "colon", "Go to", "Go to a cycle by its number."),
        ("filter", "slash", "Filter", "Show only cycles of some lengths, or through some vertices.", SHOWN),
        ("sort", "o", "Sort", "Sort by length: longest first, shortest first, as found.", SHOWN),
        ("export", "e", "Export", "Write the cycles that are shown to a file.", SHOWN),
        ("copy", "c", "Copy", "Copy the cycle to the clipboard."),
        ("zoom_in", "plus,equals_sign", "Zoom in", "Show less of the graph, larger."),
        ("zoom_out", "minus", "Zoom out", "Show more of the graph, smaller."),
        ("fit", "0", "Fit", "Show the whole graph."),
        ("pan_left", "shift+left", "Look left", "Move the view of the drawing to the left."),
        ("pan_right", "shift+right", "Look right", "Move the view of the drawing to the right."),
        ("pan_up", "shift+up", "Look up", "Move the view of the drawing up."),
        ("pan_down", "shift+down", "Look down", "Move the view of the drawing down."),
        ("alone", "a", "Alone", "Draw the cycle or path alone, as a ring, or in the graph."),
        ("heat", "h", "Heat map", "Draw how many of the shown cycles pass each edge, or the cycle again.", SHOWN),
        ("drawing", "p", "Drawing", "Show or hide the drawing."),
        ("back", "escape", "Stop sorting", "Stop sorting; otherwise undo the filter; otherwise go back."),
    ),
    *_on(
        "runs",
        ("open", "enter", "Open", "Watch this run, or look at what it found.", SHOWN),
        ("resume", "r", "Resume", "Go on with this run.", SHOWN),
        ("compare", "m", "Compare", "Mark this run; two marked runs are shown side by side.", SHOWN),
        ("sort", "o", "Sort", "Sort by the next column; click on a heading to sort by it, again to reverse.", SHOWN),
        ("filter", "slash", "Filter", "Show only the runs of graphs whose name has these letters.", SHOWN),
        ("back", "escape", "All runs", "Undo the filter; otherwise go back."),
        ("delete", "delete,d", "Delete", "Delete the folder of this run; you are asked first.", SHOWN),
    ),
    *_on(
        "compare",
        ("pause", "space", "Play", "Play both runs from start to end, side by side.", SHOWN),
        ("scale", "l", "Scale", "Draw the curves on a logarithmic or on a linear scale.", SHOWN),
    ),
    *_on(
        "batch",
        ("go_to", "colon", "Graphs", "Go to the field of the graphs.", SHOWN),
        ("start", "ctrl+r", "Start", "Start the batch, or resume one that has lines already."),
        ("stop", "s", "Stop", "Stop the batch after the graphs at work; press again to stop at once.", SHOWN),
        ("failures", "x", "Failures", "Show failed graphs first, or all in the order of the file.", SHOWN),
        ("sort", "o", "Sort", "Sort by the next column; click on a heading to sort by it, again to reverse.", SHOWN),
        ("open", "enter", "Open", "Search the graph on its own, and watch it; you are asked first.", SHOWN),
    ),
)
BY_ID = {action.id: action for action in ACTIONS}


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


SCROLLING = list_bindings(up="scroll_up", down="scroll_down", first="scroll_home", last="scroll_end")
"""The ``BINDINGS`` of what scrolls without a cursor."""


def keys_of(action: Action, chosen: dict[str, str]) -> list[str]:
    """Return the keys of an action. `chosen` maps the ids of some actions to the user's own keys."""
    return [key.strip() for key in chosen.get(action.id, action.keys).split(",")]


def display_of(app: App[Any], keys: list[str]) -> str:
    """Return keys as the dashboard displays them."""
    return ", ".join(app.get_key_display(Binding(key, "")) for key in keys)


def key_of(screen: Screen[Any], action_id: str) -> str:
    """Return a key of an action that works now, as the dashboard displays it."""
    return key_that_works(screen, BY_ID[action_id])


def key_that_works(screen: Screen[Any], action: Action) -> str:
    """Return the shortest key of an action that does not go as a letter to the text field with the focus."""
    keys, focused = keys_of(action, getattr(screen.app, "keys", {})), screen.focused
    if focused is not None:
        keys = [key for key in keys if not focused.check_consume_key(key, key_to_character(key))] or keys
    return min((screen.app.get_key_display(Binding(key, "")) for key in keys), key=len)


def usable_keys(wanted: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Check the keys that a user wants in place of the default ones: for the id of an action, its keys with commas.

    Return those that are valid and free, and the faults of the others.
    """
    own = {action.id: action.keys for action in ACTIONS}
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
        shared = (_split(chosen) & _split(taken)) - (_split(BY_ID[name].keys) & _split(BY_ID[other].keys))
        meet = {BY_ID[name].screen, BY_ID[other].screen}
        if other != name and shared and (len(meet) == 1 or meet & {EVERYWHERE, LISTS}):
            action = BY_ID[other]
            return f"{action.title} {WHERE.get(action.screen, f'on {action.screen.capitalize()}')} has that key"
    return None


def _split(keys: str) -> set[str]:
    """Return the single keys in displayed form, so that ``?`` and ``question_mark`` are equal."""
    return {format_key(key.strip()) for key in keys.split(",")}


def _is_key(shown: str) -> bool:
    """Return whether a text is the name of a key, with or without modifiers."""
    base = shown if len(shown) == 1 else shown.rpartition("+")[2]
    return len(base) == 1 or base in _NAMED_KEYS


class ActionProvider(Provider):
    """The command palette: the table of actions, each with its keys, and every theme by its name."""

    async def discover(self) -> Hits:
        """Yield all commands, before anything is typed."""
        for title, help_text, do in self._commands():
            yield DiscoveryHit(title, do, help=help_text)

    async def search(self, query: str) -> Hits:
        """Yield the commands whose title or help matches the typed text."""
        matcher = self.matcher(query)
        for title, help_text, do in self._commands():
            score = max(matcher.match(title), matcher.match(help_text) / 2)
            if score > 0:
                yield Hit(score, matcher.highlight(title), do, help=help_text)

    def _commands(self) -> Iterator[tuple[str, str, Callable[[], Any]]]:
        app, screen = self.app, self.screen
        # False: the action is not available now. None: it is shown greyed.
        actions = [action for action in actions_of(app.current_mode) if screen.check_action(action.name, ())]
        actions += [action for action in actions_of(EVERYWHERE) if action.name != "command_palette"]
        for action in actions:
            keys = display_of(app, keys_of(action, getattr(app, "keys", {})))
            namespace = app if action.screen == EVERYWHERE else screen
            yield action.title, f"({keys}) {action.help}", partial(app.run_action, action.call, namespace)
        yield "Theme", "Choose other colours, here or in the settings.", app.search_themes
        for theme in sorted(app.available_themes):
            yield f"Theme {theme}", "Take these colours.", partial(setattr, app, "theme", theme)
