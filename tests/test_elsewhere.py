"""Run folders outside the folder of runs: they are noted by the shell and by the dashboard, and listed."""

from __future__ import annotations

import pytest
from chordless import cli
from chordless.runs import elsewhere
from chordless.runs.elsewhere import note_folder, noted_folders
from chordless.runs.history import list_runs
from test_history import PROGRESS, STARTED, begin, finished

from kernels_ti import EngineError


@pytest.fixture(autouse=True)
def notes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "chordless" / "folders.jsonl"


def test_a_noted_run_is_listed_once_while_its_folder_is_there(tmp_path):
    begin(tmp_path / "runs" / "inside", STARTED, PROGRESS, finished())
    outside = begin(tmp_path / "out\nside", STARTED, PROGRESS, finished())
    assert noted_folders() == []
    for path in (outside, tmp_path / "runs" / "inside", outside, tmp_path / "gone"):
        note_folder(path)
    assert noted_folders() == [outside, tmp_path / "runs" / "inside"]
    runs = list_runs(tmp_path / "runs", noted_folders())
    assert sorted(run.path.name for run in runs) == ["inside", "out\nside"]
    assert [run.path for run in list_runs(tmp_path / "none", [outside])] == [outside]


def test_the_shell_notes_the_folder_of_a_checkpoint(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["count", "grid:4x4", "--arch", "cpu", "--checkpoint", "mine", "--quiet"]) == 0
    assert noted_folders() == [tmp_path / "mine"]
    (run,) = list_runs(tmp_path / "runs", noted_folders())
    assert (run.graph, run.stage) == ("grid:4x4", "complete")


def test_a_noted_folder_that_cannot_be_is_not_there(tmp_path):
    for name in ("x" * 300, "a\0b"):
        note_folder(tmp_path / name)
    assert noted_folders() == []


def test_many_notes_are_shortened_to_the_latest(tmp_path, monkeypatch, notes):
    monkeypatch.setattr(elsewhere, "_MOST_NOTES", 2)
    monkeypatch.setattr(elsewhere, "_MOST_BYTES", 1)
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.mkdir()
        note_folder(path)
    assert noted_folders() == [paths[2], paths[1]]
    assert len(notes.read_text().splitlines()) == 2


@pytest.mark.parametrize("content", ["[1", "7\n"])
def test_damaged_notes_are_told(notes, content):
    notes.parent.mkdir(parents=True)
    notes.write_text(content)
    with pytest.raises(EngineError, match="is damaged"):
        noted_folders()


def test_notes_that_cannot_be_written_are_told(tmp_path):
    (tmp_path / "data").write_text("a file")
    with pytest.raises(EngineError, match="cannot write"):
        note_folder(tmp_path)
    assert noted_folders() == []
