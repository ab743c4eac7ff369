"""The settings of the dashboard: one TOML file in the user's configuration folder."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from chordless.files import replaced
from chordless.runs.elsewhere import data_folder
from kernels_ti import EngineError
from kernels_ti.choices import PARITIES, Parity
from kernels_ti.folders import base_folder, make_folder

DEFAULT_THEME = "textual-dark"
SOURCES = ("file", "spec", "overlap")
FINDS = ("count", "boundary", "list", "longest", "shortest", "sample")
"""The result of a run: counts by a search or along a boundary, all cycles, one best cycle, cycles at random."""
ANY_PARITY = "any"
THINGS = ("cycles", "paths", "all-paths")
"""The object of a search: chordless cycles, the chordless paths between two vertices, or all chordless paths."""
_BEST = ("longest", "shortest")
_MOST_RECENT = 20
_MOST_WARNINGS, _LONGEST_WARNING = 5, 150
_FILE = "settings.toml"
# What only the Settings screen changes: an editor may have changed the file since, which stays.
_CHOSEN_HERE = ("ascii", "runs_folder", "keys")
_COMMENT = """\
# The dashboard of chordless. It writes what changes there; all else, your comments too, stays as it is.
# keys: an action's name and its keys, such as "run.pause" = "p"; the help screen (F1) lists the names.

"""

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class LastChoices:
    """The last content of the form for a new run, as typed. An empty string is an empty field."""

    source: str = "spec"  # {"file", "spec", "overlap"}: How the graph was given
    graph: str = ""  # Path or spec
    arch: str = "auto"
    find: str = "count"  # One of `FINDS`
    min_length: str = ""
    max_length: str = ""
    limit: str = ""
    memory: str = ""
    threads: str = ""
    directory: str = ""
    expansion: str = "two-ended"  # How paths grow: ``two-ended``, or ``paper``
    cluster: str = ""  # See `kernels_ti.cluster.address.check_cluster`
    things: str = "cycles"  # One of `THINGS`
    path_start: str = ""
    path_end: str = ""
    parity: str = ANY_PARITY  # Or one of `kernels_ti.choices.PARITIES`
    weight: str = ""  # With a best cycle: see `chordless.protocol.orders.RunCommand`

    @property
    def collect(self) -> bool:
        """Whether cycles are listed, not only counted."""
        return self.find == "list" or self.picks

    @property
    def is_of_paths(self) -> bool:
        """Whether paths are searched for, not cycles."""
        return self.things != "cycles"

    @property
    def all_pairs(self) -> bool:
        """Whether all paths of the graph are searched for."""
        return self.things == "all-paths"

    @property
    def between(self) -> tuple[()] | tuple[str, str]:
        """The ends of the paths, if paths between two vertices are searched for."""
        return (self.path_start.strip(), self.path_end.strip()) if self.things == "paths" else ()

    @property
    def only_parity(self) -> Parity | None:
        """The parity of the number of vertices, if only such cycles or paths are searched for."""
        return next((parity for parity in PARITIES if parity == self.parity), None)

    @property
    def picks(self) -> bool:
        """Whether only some cycles are listed."""
        return self.find == "sample" or self.is_best

    @property
    def is_best(self) -> bool:
        """Whether one best cycle is looked for: the only find that has weights."""
        return self.find in _BEST


def default_runs_folder() -> Path:
    """Return the folder of runs if the settings name no other one."""
    return data_folder() / "runs"


@dataclass(frozen=True)
class Settings:
    """The settings of the dashboard."""

    theme: str = DEFAULT_THEME  # The name of a theme of Textual
    ascii: bool = False  # Whether everything is drawn with ASCII only
    # Own keys for actions: for the id of an action, see `chordless.tui.actions.Action.id`, its keys, separated by
    # commas.
    keys: dict[str, str] = field(default_factory=dict)
    recent: tuple[str, ...] = ()  # The graphs of the latest runs, newest first, at most 20
    last: LastChoices = field(default_factory=LastChoices)
    runs_folder: Path = field(default_factory=default_runs_folder)  # The folder in which new runs get their folders

    def with_recent(self, graph: str) -> Settings:
        """Return settings in which `graph` is the newest of the recent ones."""
        others = tuple(other for other in self.recent if other != graph)
        return replace(self, recent=(graph, *others)[:_MOST_RECENT])


def settings_path() -> Path:
    """Return the path of the settings file."""
    return base_folder("XDG_CONFIG_HOME", ".config") / "chordless" / _FILE


def load_settings() -> tuple[Settings, list[str]]:
    """Read the settings; defaults stand for everything that is missing or wrong. Return also a line for each fault."""
    path = settings_path()
    try:
        values = _read(path).unwrap()
    except (FileNotFoundError, NotADirectoryError):
        return Settings(), []
    except (OSError, UnicodeDecodeError, TOMLKitError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return Settings(), [f"the file is ignored: {reason}"]
    warnings: list[str] = []
    settings = _settings_of(values, warnings.append)
    return settings, warnings


def notice_of(warnings: Sequence[str]) -> str:
    """Return the text of one notice about all faults, short enough for a terminal of 24 lines."""
    lines = [f"- {textwrap.shorten(warning, _LONGEST_WARNING, placeholder=' ...')}" for warning in warnings]
    left = len(lines) - _MOST_WARNINGS
    return "\n".join([*lines[:_MOST_WARNINGS], *[f"and {left} more"] * (left > 0)])


def save_settings(settings: Settings, before: Settings | None = None) -> None:
    """Save theme, recent graphs and last choices, and what else differs from the settings `before`.

    The file is replaced as a whole, or stays as it was.

    Everything else in the file stays, comments too. A file that cannot be parsed is kept as ``settings.toml.broken``. A
    new file gets all settings. Raise EngineError if the file cannot be written.
    """
    path = settings_path()
    try:
        make_folder(path.parent)
        document, wanted = _kept(path), _values(settings)
        if document is None:
            new = {name: wanted[name] for name in _CHOSEN_HERE if wanted[name] is not None}
            document = tomlkit.parse(_COMMENT + tomlkit.dumps(new))
        # A wrong value in the file stays until it is replaced.
        was, chosen = _values(_settings_of(document.unwrap(), lambda fault: None)), _values(before or settings)
        set_values(document, _differing(wanted, was | {name: chosen[name] for name in _CHOSEN_HERE}))
        with replaced(path, private=True) as stream:
            stream.write(tomlkit.dumps(document).encode())
    except OSError as error:
        raise EngineError(f"cannot write {path}: {error.strerror}") from error


def _values(settings: Settings) -> dict[str, Any]:
    """Return the settings as in the file. The usual folder of runs is None, so that it follows the user's data."""
    folder = settings.runs_folder
    return {
        "theme": settings.theme,
        "ascii": settings.ascii,
        "runs_folder": None if folder == default_runs_folder() else str(folder),
        "recent": list(settings.recent),
        "keys": settings.keys,
        "last": asdict(settings.last),
    }


def _differing(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Return the new value of each name whose value differs, None for a name that is gone; of a table its changes."""
    changes = {}
    for name in {**before, **now}:
        new, old = now.get(name), before.get(name)
        if new != old:
            changes[name] = _differing(new, old) if isinstance(new, dict) and isinstance(old, dict) else new
    return changes


def _settings_of(values: dict[str, Any], report: Callable[[str], None]) -> Settings:
    default = Settings()

    def take(table: dict[str, Any], name: str, kind: type[_Value], otherwise: _Value, prefix: str = "") -> _Value:
        value = table.get(name, otherwise)
        if type(value) is kind:
            return value
        report(f"{prefix}{name} = {value!r} is ignored: it must be {_KINDS[kind]}")
        return otherwise

    recent = take(values, "recent", list, [])
    keys = take(values, "keys", dict, {})
    last = take(values, "last", dict, {})
    for name, value in keys.items():
        if not isinstance(value, str):
            report(f"keys.{name} = {value!r} is ignored: it must be text")
    chosen: dict[str, Any] = {}
    for name, otherwise in asdict(LastChoices()).items():
        chosen[name] = take(last, name, type(otherwise), otherwise, "last.")
    if "find" not in last and last.get("collect") is True:
        # Version 0.5.0 knew only counts and lists.
        chosen["find"] = "list"
    choices = LastChoices(**chosen)
    for name, known in (("find", FINDS), ("source", SOURCES), ("things", THINGS), ("parity", (ANY_PARITY, *PARITIES))):
        if (value := chosen[name]) not in known:
            report(f"last.{name} = {value!r} is ignored: it must be one of {', '.join(known)}")
            choices = replace(choices, **{name: getattr(LastChoices, name)})
    return Settings(
        theme=take(values, "theme", str, default.theme),
        ascii=take(values, "ascii", bool, default.ascii),
        keys={name: value for name, value in keys.items() if isinstance(value, str)},
        recent=tuple(graph for graph in recent if isinstance(graph, str))[:_MOST_RECENT],
        last=choices,
        runs_folder=Path(take(values, "runs_folder", str, str(default.runs_folder))).expanduser(),
    )


_KINDS: dict[type, str] = {str: "text", bool: "true or false", list: "a list", dict: "a table"}


def _kept(path: Path) -> TOMLDocument | None:
    """Read the file for an edit. Return None where it is missing, or broken and therefore renamed."""
    try:
        return _read(path)
    except FileNotFoundError:
        return None
    except (UnicodeDecodeError, TOMLKitError):
        os.replace(path, path.with_name(path.name + ".broken"))
        return None


def _read(path: Path) -> TOMLDocument:
    # Bytes, so that line ends stay as they are.
    return tomlkit.parse(path.read_bytes())


def set_values(document: TOMLDocument | Table, changes: dict[str, Any]) -> None:
    """Set values in a TOML document, in place. Comments, order and all other keys stay.

    The changes are new values of keys at the top. A dict holds new values for some keys of the table of that name. A
    key whose value is None is taken out.
    """
    for name, value in changes.items():
        if isinstance(value, dict) and isinstance(document.get(name), dict):
            set_values(document[name], value)
        elif value is None:
            document.pop(name, None)
        else:
            document[name] = value
