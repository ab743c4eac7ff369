"""Runs that are stopped, killed, damaged and resumed: nothing is lost, nothing comes twice."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from chordless.cli import main
from chordless.protocol.events import Checkpointed, Finished, Progress, Started
from program import ENVIRONMENT, chordless, command, count, events_in, fails, lines_of, slowly, whole_run

GRAPH = "grid:6x9"
CPU = ("--arch", "cpu")
OFTEN = ("--checkpoint-every", "0.05")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a run that nobody interrupts finds: counts by length, and the sorted lines."""
    return whole_run(GRAPH, tmp_path_factory.mktemp("whole"))


def stopped(directory, *arguments):
    """Begin a run in slow motion and stop it by a limit; return the process."""
    done = slowly(*arguments, *CPU, "--threads", "1", "--limit", "9000")
    assert done.returncode == 4, done.stderr
    assert f"to go on from the checkpoint: chordless resume {directory}\n" in done.stderr
    return done


@pytest.mark.slow
@pytest.mark.parametrize("bound", [("--limit", "9000"), pytest.param(("--timeout", "1.5"), marks=pytest.mark.slow)])
def test_a_stop_and_a_resumption_make_the_whole_run(tmp_path, bound, whole):
    run = tmp_path / "run"
    done = slowly("count", GRAPH, *CPU, "--checkpoint", run, "--json", *bound)
    assert done.returncode == 4, done.stderr
    assert done.stderr.startswith(f"to go on from the checkpoint: chordless resume {run}\n")
    before = json.loads(done.stdout)
    assert (before["complete"], before["checkpoint"]) == (False, str(run))
    assert 0 <= before["share"] < 1
    assert before["total"] < sum(whole[0].values())
    assert before["peak_memory_bytes"] > 1 << 20
    resumed = chordless("resume", run, "--json")
    assert (resumed.returncode, resumed.stderr) == (0, "")
    after = json.loads(resumed.stdout)
    assert after["by_length"] == whole[0]
    assert (after["complete"], after["share"], after["graph"]) == (True, 1.0, GRAPH)
    for name in ("setup", "enumerate", "total"):
        assert after["seconds"][name] > before["seconds"][name]
    events = events_in(run)
    assert [type(event) for event in events if isinstance(event, (Started, Finished))] == [Started, Finished] * 2
    assert any(isinstance(event, Checkpointed) for event in events)

    for result in (before, after):
        *parts, total = result["seconds"].values()
        assert min(parts) >= 0
        assert result["seconds"]["write"] > 0
        assert sum(parts) == pytest.approx(total, abs=1e-9)

    again = chordless("resume", run, "--json", "--arch", "cpu")
    assert again.returncode == 0
    assert json.loads(again.stdout)["by_length"] == whole[0]
    assert json.loads(again.stdout)["seconds"]["enumerate"] == after["seconds"]["enumerate"]
    assert not any(isinstance(event, (Progress, Checkpointed)) for event in events_in(run)[len(events) :])
    assert "total" in chordless("resume", run).stdout


@pytest.mark.slow
def test_limits_of_a_listing_are_exact_over_sessions(tmp_path, whole):
    path, run = tmp_path / "cycles.txt", tmp_path / "run"
    done = slowly("list", GRAPH, *CPU, "-o", path, "--checkpoint", run, "--limit", "1001")
    assert done.returncode == 4
    assert f"1,001 cycles in {path}" in done.stderr
    for limit in (1002, 9000):
        done = slowly("resume", run, "--limit", limit)
        assert done.returncode == 4, done.stderr
        lines = path.read_text().splitlines()
        assert len(lines) == len(set(lines)) == limit
    done = chordless("resume", run)
    assert done.returncode == 0, done.stderr
    assert f"{len(whole[1]):,} cycles in {path}" in done.stderr
    assert lines_of(path) == whole[1]


@pytest.mark.parametrize("suffix", [".jsonl", ".npy"])
@pytest.mark.slow
def test_every_kind_of_file_is_gone_on_with(tmp_path, suffix, whole):
    path, run = tmp_path / f"cycles{suffix}", tmp_path / "run"
    stopped(run, "list", GRAPH, "-o", path, "--checkpoint", run)
    # What came after the checkpoint of a killed run is cut off.
    with path.open("ab") as stream:
        stream.write(b"torn" * 100)
    done = chordless("resume", run)
    assert done.returncode == 0, done.stderr
    if suffix == ".npy":
        rows = np.load(path)
        assert len(rows) == len(np.unique(rows, axis=0)) == len(whole[1])
    else:
        lines = path.read_text().splitlines()
        assert sorted(" ".join(json.loads(line)) for line in lines) == whole[1]


@pytest.mark.slow
def test_a_run_directory_needs_nothing_outside_it(tmp_path, whole):
    graph = tmp_path / "graph.txt"
    graph.write_text(chordless("generate", GRAPH).stdout)
    begun, run = tmp_path / "begun", tmp_path / "moved"
    stopped(begun, "list", graph, "-o", f"{begun}/")
    graph.unlink()
    begun.rename(run)
    done = chordless("resume", run, cwd="/")
    assert done.returncode == 0, done.stderr
    assert lines_of(run) == whole[1]
    assert {"run.json", "graph.json", "events.jsonl", "cycles", "checkpoint"} == set(os.listdir(run))
    assert fails(chordless("list", GRAPH, "-o", f"{run}/"), 2, "holds a run already", "chordless resume")
    assert fails(chordless("resume", run, "--json"), 2, "--json is for counts")


@pytest.mark.slow
def test_a_run_goes_on_on_every_arch(tmp_path, arch):
    run = tmp_path / "run"
    expected, _ = count("grid:6x9", *CPU)
    done = slowly("count", "grid:6x9", *CPU, "--threads", "1", "--checkpoint", run, "--limit", "8000")
    assert done.returncode == 4, done.stderr
    done = chordless("resume", run, "--arch", arch, "--threads", "2", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["by_length"], result["arch"]) == (expected["by_length"], arch)


@pytest.mark.slow
def test_a_listing_of_every_arch_goes_on_on_the_cpu(tmp_path, arch):
    run, path = tmp_path / "run", tmp_path / "cycles.txt"
    done = slowly("list", "grid:6x7", "--arch", arch, "-o", path, "--checkpoint", run, "--limit", "8000")
    assert done.returncode == 4, done.stderr
    done = chordless("resume", run, *CPU, "--threads", "1")
    assert done.returncode == 0, done.stderr
    assert lines_of(path) == sorted(chordless("list", "grid:6x7", *CPU).stdout.splitlines())


@pytest.mark.slow
def test_a_count_of_a_wave_goes_on_on_the_cpu(tmp_path, arch):
    run = tmp_path / "run"
    expected, _ = count("grid:6x9", *CPU)
    done = slowly("count", "grid:6x9", "--arch", arch, "--threads", "1", "--checkpoint", run, "--limit", "8000")
    assert done.returncode == 4, done.stderr
    done = chordless("resume", run, *CPU, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["by_length"] == expected["by_length"]


@pytest.mark.slow
def test_min_length_and_paper_and_part_are_kept(tmp_path):
    options = ("--min-length", "20", "--max-length", "24", "--expansion", "paper", "--part", "2/3")
    expected, _ = count(GRAPH, *CPU, *options)
    run = tmp_path / "run"
    assert slowly("count", GRAPH, *CPU, *options, "--checkpoint", run, "--timeout", "0.1").returncode == 4
    done = chordless("resume", run, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["by_length"] == expected["by_length"]


@pytest.mark.slow
def test_parts_add_up_and_are_disjoint(tmp_path, whole):
    lines = []
    for i in (1, 2, 3):
        path = tmp_path / f"{i}.txt"
        assert chordless("list", GRAPH, *CPU, "--part", f"{i}/3", "-o", path).returncode == 0
        lines += path.read_text().splitlines()
        assert lines
    assert sorted(lines) == whole[1]


@pytest.fixture(scope="module")
def half_done(tmp_path_factory):
    run = tmp_path_factory.mktemp("half") / "run"
    stopped(run, "count", GRAPH, "--checkpoint", run)
    return run


@pytest.fixture
def half(tmp_path, half_done):
    """A run directory of one's own, of a run that was stopped half way."""
    return Path(shutil.copytree(half_done, tmp_path / "run"))


def member_at(path, name):
    """Return a place in the data of a member of a checkpoint."""
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(name)
        return info.header_offset + 30 + len(name) + info.file_size // 2


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0x10
    path.write_bytes(data)


def rewrite_header(path, **changes):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["header.json"] = json.dumps(json.loads(members["header.json"]) | changes).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.slow
def test_a_damaged_checkpoint_is_one_line(half):
    path = half / "checkpoint"
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        frames = next(name for name in archive.namelist() if name.endswith("allowed.npy"))
    for share in (0.0, 0.3, 0.97):
        path.write_bytes(whole[: int(share * len(whole))])
        assert fails(chordless("resume", half), 2, "damaged or cut short", str(path))
    for name in (frames, "header.json"):
        path.write_bytes(whole)
        flip(path, member_at(path, name))
        assert fails(chordless("resume", half), 2, "damaged or cut short", str(path))
    path.unlink()
    assert fails(chordless("resume", half), 2, "no checkpoint")


@pytest.mark.slow
def test_a_checkpoint_of_something_else_is_one_line(half, tmp_path):
    path = half / "checkpoint"
    whole = path.read_bytes()
    rewrite_header(path, format=99)
    assert fails(chordless("resume", half), 2, "newer format, 99")
    path.write_bytes(whole)
    rewrite_header(path, program="0.5.0", boundary={"states": []})
    assert fails(chordless("resume", half), 2, "was written by chordless 0.5.0", "go on with the version that began")
    path.write_bytes(whole)

    other = tmp_path / "other"
    assert chordless("count", "grid:5x6", *CPU, "--checkpoint", other).returncode == 0
    path.write_bytes((other / "checkpoint").read_bytes())
    assert fails(chordless("resume", half), 2, "another graph")
    path.write_bytes(whole)

    run = json.loads((half / "run.json").read_text())
    run["command"]["max_length"] = 12
    (half / "run.json").write_text(json.dumps(run))
    assert fails(chordless("resume", half), 2, "other options", "max_length is None there and 12")
    run["command"] |= {"max_length": None, "in_order": True}
    (half / "run.json").write_text(json.dumps(run))
    assert fails(chordless("resume", half), 2, "other options", "in_order is None there and True")
    (half / "graph.json").write_bytes((other / "graph.json").read_bytes())
    assert fails(chordless("resume", half), 2, "not the graph")
    assert fails(chordless("resume", tmp_path), 2, "there is no run in")


@pytest.mark.slow
def test_an_output_that_was_changed_is_one_line(tmp_path):
    path, run = tmp_path / "cycles.txt", tmp_path / "run"
    stopped(run, "list", GRAPH, "-o", path, "--checkpoint", run)
    os.truncate(path, 10)
    assert fails(chordless("resume", run), 2, "shorter than the run left it; put the run's file back")
    path.unlink()
    assert fails(chordless("resume", run), 2, "cannot go on with")


@pytest.mark.slow
def test_the_output_of_a_finished_listing_is_looked_at_again(tmp_path):
    path, run = tmp_path / "cycles.txt", tmp_path / "run"
    assert chordless("list", "grid:4x4", "-o", path, "--checkpoint", run).returncode == 0
    whole = path.read_bytes()
    assert chordless("resume", run).returncode == 0
    path.write_text("my own notes\n")
    assert fails(chordless("resume", run), 2, "shorter than the run left it")
    path.write_bytes(b"?" * len(whole))
    assert fails(chordless("resume", run), 2, "it is not the file that the run wrote")
    assert path.read_bytes() == b"?" * len(whole)


@pytest.mark.slow
def test_a_full_disk_stops_the_run_and_keeps_the_checkpoint(tmp_path, whole):
    path, run = tmp_path / "cycles.txt", tmp_path / "run"
    room = 2_000_000
    assert room < sum(map(len, whole[1]))

    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    done = slowly("list", GRAPH, *CPU, "-o", path, "--checkpoint", run, *OFTEN, preexec_fn=small_disk)
    assert fails(done, 1, "cannot write", "File too large", f"chordless resume {run}")
    assert path.stat().st_size <= room
    done = chordless("resume", run)
    assert done.returncode == 0, done.stderr
    assert lines_of(path) == whole[1]


def test_events_that_cannot_be_recorded_leave_a_run_that_goes_on(tmp_path):
    run = tmp_path / "run"
    full = ("--method", "search", "--checkpoint", run, "--events", "/dev/full")
    assert fails(chordless("count", "grid:5x6", *CPU, *full), 1, "cannot record", f"chordless resume {run}")
    done = chordless("resume", run, "--json")
    assert (done.returncode, json.loads(done.stdout)["by_length"]) == (0, count("grid:5x6")[0]["by_length"])


@pytest.mark.slow
def test_a_failed_start_leaves_no_directory(tmp_path):
    run = tmp_path / "run"
    assert fails(chordless("count", "no-such-graph", *CPU, "--checkpoint", run), 2, "no-such-graph")
    assert fails(chordless("count", GRAPH, *CPU, "--checkpoint", run, "--memory", "1M"), 2, "too small")
    output = tmp_path / "none" / "cycles.txt"
    assert fails(chordless("list", GRAPH, *CPU, "-o", output, "--checkpoint", run), 1, "cannot write")
    assert fails(chordless("list", GRAPH, *CPU, "-o", "/dev/null", "--checkpoint", run), 2, "not a file")
    assert fails(chordless("count", GRAPH, "--arch", "reference", "--checkpoint", run), 2, "reference has no")
    assert os.listdir(tmp_path) == []


def test_options_that_cannot_be(tmp_path):
    for arguments in (
        ("list", GRAPH, "--checkpoint", "run"),
        ("list", GRAPH, "-o", "run/", "--checkpoint", "other"),
        ("count", GRAPH, "--checkpoint", "run", "--checkpoint-every", "0"),
        ("count", GRAPH, "--checkpoint-every", "5"),
        ("list", GRAPH, "-o", "cycles.txt", "--checkpoint-every", "5"),
        ("count", GRAPH, "--memory", "lots"),
        ("count", GRAPH, "--memory", "12"),
        ("count", GRAPH, "--part", "4/3"),
        ("count", GRAPH, "--part", "0/3"),
        ("count", GRAPH, "--part", "half"),
        ("count", GRAPH, "--checkpoint", ""),
        ("resume",),
    ):
        done = subprocess.run(command(*arguments), cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 2)
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_a_finished_run_in_a_read_only_folder_prints_its_result_again(tmp_path, monkeypatch, capfd):
    run = tmp_path / "run"
    done = chordless("count", "petersen", *CPU, "--checkpoint", run, "--json")
    assert done.returncode == 0, done.stderr
    moved = run.rename(tmp_path / "moved")
    # Who runs this may be root, whom no folder refuses.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr("chordless.commands.resume.run_engine", None)
    assert main(["resume", str(moved), "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == {**json.loads(done.stdout), "checkpoint": str(moved)}


@pytest.mark.slow
def test_a_search_of_version_0_5_goes_on(half):
    rewrite_header(half / "checkpoint", program="0.5.0")
    assert chordless("resume", half).returncode == 0


@pytest.mark.slow
def test_a_run_of_version_0_4_goes_on(tmp_path):
    run = shutil.copytree(Path(__file__).parent / "data" / "run-0.4.0", tmp_path / "run")
    before = json.loads((run / "events.jsonl").read_text().splitlines()[-1])
    done = chordless("resume", run, "--json")
    assert done.returncode == 0, done.stderr
    assert before["cycles"] < json.loads(done.stdout)["total"] == 8_136_453
