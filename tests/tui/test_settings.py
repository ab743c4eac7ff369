"""The settings file: written whole, read with care, never robbed of what somebody else has written into it."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import tomlkit
from chordless.tui.actions import ACTIONS, EVERYWHERE, actions_of, usable_keys
from chordless.tui.settings import (
    LastChoices,
    Settings,
    default_runs_folder,
    load_settings,
    notice_of,
    save_settings,
    set_values,
    settings_path,
)

from kernels_ti import EngineError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def written(text):
    path = settings_path()
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_what_is_saved_is_loaded():
    assert load_settings() == (Settings(), [])
    last = LastChoices(source="file", graph='C:\\a "b"\n', arch="cpu", find="list", min_length="4", memory="1 GiB")
    settings = Settings("nord", True, {"run.pause": "p"}, ("grid:6x10", "é.net"), last, Path("/elsewhere/runs"))
    for wanted in (settings, Settings()):
        settings_path().unlink(missing_ok=True)
        save_settings(wanted)
        assert load_settings() == (wanted, [])
        assert [path.name for path in settings_path().parent.iterdir()] == ["settings.toml"]


def test_the_folders_are_those_of_the_user(tmp_path, monkeypatch):
    assert settings_path() == tmp_path / "config" / "chordless" / "settings.toml"
    assert default_runs_folder() == tmp_path / "data" / "chordless" / "runs"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert settings_path() == tmp_path / ".config/chordless/settings.toml"
    assert default_runs_folder() == tmp_path / ".local/share/chordless/runs"


@pytest.mark.parametrize("content", [b'theme = "nord', b"\xff\xfe", b"theme = 1\ntheme = 2\n"])
def test_a_broken_file_is_reported_and_kept(content):
    path = written("")
    path.write_bytes(content)
    settings, warnings = load_settings()
    assert settings == Settings()
    assert len(warnings) == 1
    assert warnings[0].startswith("the file is ignored: ")
    assert path.read_bytes() == content
    save_settings(replace(settings, theme="nord"))
    assert path.with_name("settings.toml.broken").read_bytes() == content
    assert load_settings() == (Settings("nord"), [])


def test_wrong_values_are_reported_one_by_one():
    written(
        'theme = 7\nascii = "yes"\nrecent = ["a", 1]\nfuture = true\n'
        '[keys]\n"run.pause" = 5\n"run.stop" = "x"\n[last]\nfind = 1\nsource = "cloud"\ngraph = "b"\n'
    )
    settings, warnings = load_settings()
    assert settings == Settings(keys={"run.stop": "x"}, recent=("a",), last=LastChoices(graph="b"))
    faults = ["theme = 7", "ascii = 'yes'", "keys.run.pause = 5", "last.find = 1", "last.source = 'cloud'"]
    assert [warning.partition(" is ignored: it must be ")[0] for warning in sorted(warnings)] == sorted(faults)


def test_many_faults_fit_into_one_notice():
    text = notice_of([f"key{i} = {'x ' * 200}" for i in range(8)])
    assert [line[:6] for line in text.splitlines()] == ["- key0", "- key1", "- key2", "- key3", "- key4", "and 3 "]
    assert max(map(len, text.splitlines())) <= 152
    assert notice_of(["a", "b"]) == "- a\n- b"


def test_what_the_dashboard_does_not_set_itself_stays_as_it_is_in_the_file():
    path = written('recent = ["a"]\n[keys]\n"run.stop" = "x"\n[last]\narch = "cpu"\n')
    settings, _ = load_settings()
    # An editor changes the file while the dashboard is open.
    path.write_text(
        'ascii = "yes"\nfuture = true\nruns_folder = "~/runs"\nrecent = ["a"]\n'
        '[keys]\n"run.pause" = "p"\n"run.stop" = 5\n[last]\nfind = 1\nlater = "x"\n'
    )
    last = replace(settings.last, graph="b", arch="auto")
    save_settings(replace(settings, theme="nord", last=last).with_recent("b"))
    assert tomllib.loads(path.read_text()) == {
        "ascii": "yes",
        "future": True,
        "runs_folder": "~/runs",
        "recent": ["b", "a"],
        "keys": {"run.pause": "p", "run.stop": 5},
        "last": {"find": 1, "later": "x", "graph": "b"},
        "theme": "nord",
    }


def test_what_is_passed_over_stays_until_there_is_something_else():
    path = written('theme = 7\nrecent = ["a", 1]\nlast = "x"\n')
    settings, _ = load_settings()
    save_settings(settings)
    assert tomllib.loads(path.read_text()) == {"theme": 7, "recent": ["a", 1], "last": "x"}
    save_settings(replace(settings, theme="nord", last=LastChoices(graph="b")).with_recent("b"))
    assert tomllib.loads(path.read_text()) == {"theme": "nord", "recent": ["b", "a"], "last": {"graph": "b"}}


COMMENTED = """\
# My own settings.
theme = "nord"  # "#" is no colour
recent = [  # newest first
  "a",  # mine
]
ascii = true # for the old terminal

# Keys.
[keys]
"run.pause" = "p"  # as in less

[last] # of the form
graph = "a"
# The end.
"""


def test_comments_and_order_stay():
    path = written(COMMENTED)
    settings, warnings = load_settings()
    assert warnings == []
    save_settings(settings)
    assert path.read_text() == COMMENTED
    save_settings(replace(settings, theme="dracula", last=replace(settings.last, graph="b", arch="cpu")))
    saved = path.read_text()
    expected = COMMENTED.replace('theme = "nord"', 'theme = "dracula"').replace('graph = "a"', 'graph = "b"')
    assert saved == expected + 'arch = "cpu"\n'
    settings, _ = load_settings()
    save_settings(settings.with_recent("c"))
    kept = [line for line in COMMENTED.splitlines() if line.startswith(("#", "ascii", "[", '"run'))]
    assert [line for line in path.read_text().splitlines() if line in kept] == kept
    assert load_settings() == (settings.with_recent("c"), [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing",
        'theme = "x"',
        'last = { graph = "a", later = 1 }\n[keys]\n"run.stop" = "x"\n',
        'last.graph = "a"\nlast.later = 1\n',
        '"last" = 7 # wrong\n[keys]\n',
        "[other]\na = 1\n\n[[others]]\nb = 2\n",
        "recent = [\"a\",\n \"b # c\",\n]\ntext = '''\n[last]\n# no comment'''\n[last]\n[keys]\n",
        '[last]\ngraph = "a"\n[last.deep]\nx = 1\n',
        "theme = 'a'\r\n[last]\r\narch = 'cpu'\r\n",
    ],
)
def test_new_values_are_those_that_are_read(text):
    changes = {"theme": 'a "b" # c', "recent": ["x", "y"], "last": {"graph": "g", "find": "list"}}
    values = tomllib.loads(text)
    last = values.get("last")
    wanted = {**values, **changes, "last": {**(last if isinstance(last, dict) else {}), **changes["last"]}}
    document = tomlkit.parse(text)
    set_values(document, changes)
    assert tomllib.loads(tomlkit.dumps(document)) == wanted


def test_a_failed_write_leaves_the_old_file(monkeypatch):
    save_settings(Settings("nord"))
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(EngineError, match=r"cannot write .*settings\.toml: No space left on device"):
        save_settings(Settings("dracula"))
    assert load_settings() == (Settings("nord"), [])
    assert [path.name for path in settings_path().parent.iterdir()] == ["settings.toml"]


def test_it_is_nobody_elses_business():
    save_settings(Settings())
    assert stat.S_IMODE(settings_path().stat().st_mode) == 0o600


def test_recent_graphs_are_the_newest_twenty_each_once():
    settings = Settings()
    for i in [*range(25), 10]:
        settings = settings.with_recent(f"cycle:{i}")
    assert settings.recent[:3] == ("cycle:10", "cycle:24", "cycle:23")
    assert len(settings.recent) == len(set(settings.recent)) == 20


def test_keys_that_can_be_had_and_keys_that_cannot():
    for good in (
        {"run.pause": "p", "cycles.sort": "ctrl+s,f9"},
        {"run.freeze": "ampersand,+,ctrl+pageup,é"},
        # What one action gives up another may take.
        {"run.stop": "space", "run.pause": "s"},
    ):
        assert usable_keys(good) == (good, [])
    bad = {
        "run.jump": ("j", "no such action"),
        "run.freeze": ("S,s", "Stop on Run has that key"),
        "cycles.copy": ("?", "Help on every screen has that key"),
        "everywhere.show_new": ("k", "Up in every list has that key"),
        "runs.delete": ("sapce", "'sapce' is no key"),
        "runs.open": ("", "'' is no key"),
    }
    wanted = {name: key for name, (key, _) in bad.items()}
    usable, faults = usable_keys({**wanted, "run.pause": "p"})
    assert usable == {"run.pause": "p"}
    assert len(faults) == len(bad)
    for (name, (key, reason)), fault in zip(bad.items(), faults, strict=True):
        assert f"{name} = {key!r}" in fault
        assert reason in fault
    # A key whose new owner is turned away goes back to the old one, and nobody else has it.
    usable, faults = usable_keys({"run.stop": "space", "run.pause": "sapce"})
    assert usable == {}
    assert len(faults) == 2


def test_the_table_has_no_clash_and_a_footer_of_eight():
    footer = [action for action in actions_of(EVERYWHERE) if action.in_footer]
    for screen in {action.screen for action in ACTIONS} - {EVERYWHERE}:
        assert len(footer) + sum(action.in_footer for action in actions_of(screen)) <= 8
    for action in ACTIONS:
        assert usable_keys({action.id: action.keys}) == ({action.id: action.keys}, [])


@pytest.mark.parametrize(
    ("last", "find"),
    [("collect = true", "list"), ("collect = false", "count"), ('collect = true\nfind = "longest"', "longest")],
)
def test_the_choice_of_version_0_5_0_is_still_understood(last, find):
    written(f"[last]\n{last}\n")
    settings, warnings = load_settings()
    assert (settings.last.find, warnings) == (find, [])


def test_a_thing_to_find_that_does_not_exist_is_told():
    written('[last]\nfind = "gold"\n')
    settings, (warning,) = load_settings()
    assert settings.last.find == "count"
    assert (
        warning == "last.find = 'gold' is ignored: it must be one of count, boundary, list, longest, shortest, sample"
    )
