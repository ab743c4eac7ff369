"""The history: what each run directory is told to be, from its ends alone, and how one is deleted."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import replace

import chordless.runs.history
import pytest
from chordless.graphs.load import load_graph
from chordless.protocol.codec import event_to_json
from chordless.protocol.events import Checkpointed, Failed, Finished, Log, Paused, Progress, Started
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import created, reopened
from chordless.runs.history import delete_run, foreign_files, list_runs, summarize
from chordless.runs.mailbox import is_at_work

from kernels_ti import EngineError
from kernels_ti.errors import CheckpointError

STARTED = Started("grid:3x4", 12, 17, 4, "cpu", "EPYC", 0.5, 1)
PROGRESS = Progress(2.5, 900, 40, 7, {5: 7}, {4: 40}, 0, listed=30, share=0.25)


def finished(reason="complete", cycles=50):
    return Finished(
        reason, "grid:3x4", 12, 17, 4, cycles, {4: cycles}, 99, 0, {}, cycles, 0, "vulkan", "llvmpipe", 0.5, 2, 3.5, 1.0
    )


def begin(path, *events, lists=False):
    """Make the directory of a run that is over, with these events."""
    command = RunCommand("grid:3x4", 1.0, output="x" if lists else None, output_format="parts" if lists else "text")
    with created(path, command, load_graph("grid:3x4")) as directory:
        directory.checkpoint.write_bytes(b"x" * 5000)
    if lists:
        (path / "cycles").mkdir()
        (path / "cycles" / "part-00000.npy").write_bytes(b"x" * 100_000)
    directory.events.write_text("".join(event_to_json(event, time=1.0) + "\n" for event in events))
    return path


def test_a_pipe_in_the_place_of_a_recording_is_not_waited_for(tmp_path):
    path = begin(tmp_path / "run", STARTED)
    (path / "events.jsonl").unlink()
    os.mkfifo(path / "events.jsonl")
    summary = summarize(path)
    assert (summary.stage, summary.why) == ("damaged", "events.jsonl cannot be read: this is a pipe, not a file")


@pytest.mark.parametrize(
    ("events", "stage", "why", "cycles", "seconds", "share"),
    [
        ([STARTED, PROGRESS, finished()], "complete", "", 50, 2, 1.0),
        ([STARTED, PROGRESS, finished("limit")], "stopped", "limit", 50, 2, 1.0),
        ([STARTED, PROGRESS, Failed("EngineError", "disk full", 1)], "failed", "disk full", 40, 2.5, 0.25),
        ([STARTED, PROGRESS, Failed("EngineError", "", 1, stopped=True)], "stopped", "interrupted", 40, 2.5, 0.25),
        ([STARTED, PROGRESS, Log("words")], "lost", "", 40, 2.5, 0.25),
        ([STARTED, PROGRESS, Checkpointed("p", 45, 45, 9)], "lost", "", 45, 2.5, 0.25),
        ([STARTED, finished("interrupted"), STARTED, Log("")], "lost", "", 50, 2, 1.0),
        ([STARTED], "lost", "", 0, 0.0, 0.0),
    ],
)
def test_the_end_of_the_recording_tells_how_a_run_stands(tmp_path, events, stage, why, cycles, seconds, share):
    summary = summarize(begin(tmp_path / "run", *events))
    assert (summary.stage, summary.why, summary.cycles, summary.seconds) == (stage, why, cycles, seconds)
    assert (summary.graph, summary.n, summary.m, summary.share) == ("grid:3x4", 12, 17, share)
    assert summary.can_resume == (stage != "complete")
    assert abs(summary.began - time.time()) < 60
    assert summary.arch == next(event.arch for event in reversed(events) if isinstance(event, (Started, Finished)))


def test_a_stopped_run_tells_what_its_list_lacks_and_how_far_a_wave_has_come(tmp_path):
    end = replace(finished("interrupted"), listed=42, waiting_by_length={7: 1, 8: 5})
    summary = summarize(begin(tmp_path / "list", STARTED, end, lists=True))
    assert (summary.unlisted, summary.level) == (8, 8)
    assert summarize(begin(tmp_path / "count", STARTED, end)).unlisted == 0
    killed = Failed("EngineError", "stopped at once", 1, stopped=True)
    # The last report is newer than the checkpoint.
    assert summarize(begin(tmp_path / "killed", STARTED, PROGRESS, killed, lists=True)).unlisted == 0


def test_a_run_without_a_recording_tells_what_was_asked(tmp_path):
    path = begin(tmp_path / "run", lists=True)
    (path / "events.jsonl").unlink()
    summary = summarize(path)
    assert (summary.graph, summary.n, summary.cycles, summary.arch, summary.stage) == (
        "grid:3x4", None, 0, "auto", "lost",
    )  # fmt: skip
    assert summary.lists


def test_torn_and_foreign_lines_are_passed_over(tmp_path):
    path = begin(tmp_path / "run", STARTED, PROGRESS, finished("timeout"))
    with open(path / "events.jsonl", "a") as stream:
        stream.write("[]\nnonsense\n" + json.dumps({"event": "tomorrow"}) + '\n{"event": "finished", "rea')
    assert (summarize(path).stage, summarize(path).why) == ("stopped", "timeout")
    (path / "events.jsonl").write_text("torn")
    assert summarize(path).stage == "lost"


def test_only_the_ends_of_a_long_recording_are_read(tmp_path, monkeypatch):
    long = [Log("x" * 100_000)] * 30
    path = begin(tmp_path / "run", STARTED, *long, PROGRESS, *long[:5])
    assert (summarize(path).cycles, summarize(path).n) == (40, 12)
    monkeypatch.setattr(chordless.runs.history, "_MOST_BYTES", 400_000)
    read = []
    real = chordless.runs.history.event_from_json
    monkeypatch.setattr(chordless.runs.history, "event_from_json", lambda line: read.append(len(line)) or real(line))
    summary = summarize(path)
    assert (summary.cycles, summary.n) == (0, 12)
    assert sum(read) < 400_000


def test_the_newest_is_first_and_other_folders_are_passed_over(tmp_path):
    assert list_runs(tmp_path / "none") == []
    for name, began in (("old", 100.0), ("new", 300.0), ("middle", 200.0)):
        run = begin(tmp_path / name, STARTED, finished()) / "run.json"
        run.write_text(json.dumps({**json.loads(run.read_text()), "began": began}))
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "run.json").write_text('{"scripts": {}}')
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert [(run.path.name, run.began) for run in list_runs(tmp_path)] == [
        ("new", 300.0), ("middle", 200.0), ("old", 100.0),
    ]  # fmt: skip
    with pytest.raises(EngineError, match="cannot read"):
        list_runs(tmp_path / "file")


def test_the_lock_tells_a_run_that_goes_on(tmp_path):
    path = begin(tmp_path / "run", STARTED, finished("limit"), STARTED, PROGRESS)
    with reopened(path):
        assert is_at_work(path)
        summary = summarize(path)
        assert (summary.stage, summary.cycles, summary.can_resume) == ("running", 40, False)
        with pytest.raises(CheckpointError, match=r"an engine is at work in .*: stop it first"):
            delete_run(path)
        with path.joinpath("events.jsonl").open("a") as events:
            events.write(event_to_json(Paused(), time=2.0) + "\n")
        assert (summarize(path).stage, summarize(path).cycles) == ("paused", 40)
    assert not is_at_work(path)
    assert len(os.listdir(path)) == 4


def test_a_run_that_is_just_beginning_is_not_touched(tmp_path):
    path = tmp_path / "run"
    path.mkdir()
    run = path / "run.json"
    run.touch()
    assert summarize(path).stage == "running"
    with pytest.raises(CheckpointError, match="at work"):
        delete_run(path)
    os.utime(run, (0, 0))
    summary = summarize(path)
    assert (summary.stage, summary.can_resume) == ("damaged", False)
    assert summary.why.startswith("run.json is damaged")
    delete_run(path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "why"), [("checkpoint", "it has no checkpoint"), ("graph.json", "it has no graph.json")]
)
def test_a_run_that_nothing_can_be_done_with_is_damaged(tmp_path, name, why):
    path = begin(tmp_path / "run", STARTED, finished())
    (path / name).unlink()
    summary = summarize(path)
    assert (summary.stage, summary.why, summary.can_resume, summary.cycles) == ("damaged", why, False, 50)


def test_a_run_of_another_format_is_damaged_and_says_so(tmp_path):
    path = begin(tmp_path / "run", STARTED, finished())
    (path / "run.json").write_text('{"format": 99}')
    summary = summarize(path)
    assert (summary.stage, summary.why) == ("damaged", "run.json is of format 99; this program reads format 1")


def test_a_deleted_run_is_gone_with_all_that_is_in_it(tmp_path):
    path = begin(tmp_path / "run", STARTED, finished(), lists=True)
    assert summarize(path).disk_bytes >= 105_000
    assert foreign_files(path) == []
    (path / "thesis.csv").write_text("")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("")
    (path / "link").symlink_to(tmp_path / "precious")
    assert foreign_files(path) == ["link", "thesis.csv"]
    delete_run(path)
    assert os.listdir(tmp_path) == ["precious"]
    assert os.listdir(tmp_path / "precious") == ["file"]


def test_a_run_that_lies_elsewhere_is_deleted_with_its_link(tmp_path):
    path = begin(tmp_path / "elsewhere", STARTED, finished())
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "link").symlink_to(path)
    assert [run.stage for run in list_runs(runs)] == ["complete"]
    delete_run(runs / "link")
    assert os.listdir(runs) == []
    assert not path.exists()


@pytest.mark.parametrize("content", [None, '{"scripts": {}}', "not json"])
def test_what_is_no_run_is_not_deleted(tmp_path, content):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(CheckpointError, match="is not the folder of a run: nothing was deleted"):
        delete_run(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "all of it"


def test_a_run_deleted_in_part_cannot_be_resumed_and_can_be_deleted_again(tmp_path, monkeypatch):
    begin(tmp_path / "whole", STARTED, PROGRESS, lists=True)
    real = chordless.runs.history.remove
    for steps in range(5):
        path = tmp_path / "run"
        shutil.copytree(tmp_path / "whole", path)
        left = iter(range(steps))

        def remove(entry, left=left):
            if next(left, None) is None:
                raise OSError(5, "killed", str(entry))
            real(entry)

        monkeypatch.setattr(chordless.runs.history, "remove", remove)
        if steps < 3:
            with pytest.raises(EngineError, match=r"cannot delete .*: killed"):
                delete_run(path)
            assert (summarize(path).stage, summarize(path).can_resume) == ("damaged", False)
            monkeypatch.setattr(chordless.runs.history, "remove", real)
        delete_run(path)
        assert not path.exists()
