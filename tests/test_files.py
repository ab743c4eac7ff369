"""Files are replaced as a whole, written by one run at a time, and never through a planted link."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from chordless.batch.output import BatchFile
from chordless.cli import main
from chordless.cycles.lines import CycleEncoder
from chordless.cycles.output import LineOutput, open_output
from chordless.cycles.write import RowOutput
from chordless.files import (
    is_leftover,
    open_alone,
    open_own,
    open_to_read,
    read_file,
    remove_abandoned,
    replaced,
    same_file,
    text_of,
    whole_file,
)
from chordless.graphs.load import load_graph
from chordless.protocol.orders import RunCommand
from patience import PATIENCE
from program import ENVIRONMENT, REFERENCE, chordless, fails

from kernels_ti import EngineError, OptionError


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    with replaced(path) as stream:
        stream.write(b"one")
        assert not path.exists()
    assert path.read_bytes() == b"one"
    with pytest.raises(ZeroDivisionError), replaced(path) as stream:
        stream.write(b"%d" % (1 // 0))
    assert path.read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_permissions_stay_as_they_were(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"one")
    path.chmod(mode)
    with replaced(path) as stream:
        stream.write(b"two")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    with replaced(tmp_path / "new"), open(tmp_path / "usual", "w"):
        pass
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    monkeypatch.setattr("secrets.token_hex", lambda _: "0" * 16)
    for name in ("file.new", f".file.{'0' * 16}.new"):
        (tmp_path / name).symlink_to(victim)
    with pytest.raises(FileExistsError), replaced(tmp_path / "file") as stream:
        stream.write(b"anything")
    (tmp_path / f".file.{'0' * 16}.new").unlink()
    (tmp_path / "file").symlink_to(victim)
    with replaced(tmp_path / "file") as stream:
        stream.write(b"anything")
    assert victim.read_bytes() == b"precious"
    assert not (tmp_path / "file").is_symlink()
    with pytest.raises(EngineError, match="is a symbolic link"):
        open_own(tmp_path / "file.new", os.O_RDWR)


def test_what_the_user_calls_a_link_is_written_through(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with whole_file(link) as stream, text_of(stream) as text:
        text.write("neu\n")
    assert link.is_symlink()
    assert target.read_text() == "neu\n"


def test_leftovers_of_a_killed_process_are_known_and_removed(tmp_path):
    code = (
        "import os; from chordless.files import replaced\n"
        f"with replaced({str(tmp_path / 'checkpoint')!r}) as stream:\n stream.write(b'half'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, timeout=PATIENCE)
    [left] = os.listdir(tmp_path)
    assert is_leftover(left, "checkpoint")
    assert not is_leftover(left, "other")
    remove_abandoned(tmp_path / "other")
    assert os.listdir(tmp_path) == [left]
    remove_abandoned(tmp_path / "checkpoint")
    assert os.listdir(tmp_path) == []


def test_a_file_has_one_writer_and_the_second_learns_which(tmp_path):
    path = tmp_path / "same.txt"
    first = open_alone(path, os.O_CREAT | os.O_TRUNC)
    os.write(first, b"kept\n")
    who = rf"same.txt is being written by another run of chordless \(process {os.getpid()}\)"
    with pytest.raises(OptionError, match=who):
        open_alone(path, os.O_CREAT | os.O_TRUNC, seconds=0.0)
    assert path.read_text() == "kept\n"
    os.close(first)
    os.close(open_alone(path, os.O_TRUNC, seconds=0.0))
    assert path.read_text() == ""


def test_every_output_to_a_single_file_is_locked(tmp_path, monkeypatch):
    monkeypatch.setattr("chordless.files.open_alone.__kwdefaults__", {"seconds": 0.0})
    lines, rows = tmp_path / "a.txt", tmp_path / "a.npy"
    opened = [LineOutput.to_file(str(lines), CycleEncoder(range(3), "text")), RowOutput(rows, 3)]
    with pytest.raises(OptionError, match="another run"):
        LineOutput.to_file(str(lines), CycleEncoder(range(3), "text"))
    with pytest.raises(OptionError, match="another run"):
        RowOutput(rows, 3)
    for output in opened:
        output.close()
    RowOutput(rows, 3).close()


def test_who_waits_for_a_file_that_is_then_removed_makes_it_anew(tmp_path, monkeypatch):
    """A batch removes the file of its lines once they are a table."""
    path = tmp_path / "lines"
    first = open_alone(path, os.O_CREAT)

    def wait(descriptor, seconds):
        if path.exists() and os.path.samestat(os.stat(path), os.fstat(first)):
            path.unlink()
        return True

    monkeypatch.setattr("chordless.files.take_lock", wait)
    second = open_alone(path, os.O_CREAT)
    os.write(second, b"of the second")
    assert path.read_bytes() == b"of the second"
    monkeypatch.setattr("chordless.files.take_lock", lambda descriptor, seconds: path.unlink() is None)
    with pytest.raises(OptionError, match="removed or replaced again and again: write to another file"):
        open_alone(path, os.O_CREAT)
    for descriptor in (first, second):
        os.close(descriptor)


@pytest.mark.parametrize("suffix", ["txt", "npy"])
@pytest.mark.parametrize("put", [lambda path: None, Path.mkdir, Path.touch, lambda path: path.symlink_to(path)])
def test_an_output_that_is_no_longer_in_its_place_is_not_reported_as_written(tmp_path, suffix, put):
    path = tmp_path / f"cycles.{suffix}"
    graph = load_graph("petersen").graph
    command = RunCommand("petersen", 0.0, output=str(path), output_format="text" if suffix == "txt" else "npy")
    with open_output(command, graph, -1):
        pass
    link = tmp_path / f"link.{suffix}"
    link.symlink_to(path)
    with open_output(replace(command, output=str(link)), graph, -1):
        pass
    moved = f"{path} is no longer the file of this output: it was moved, replaced or removed meanwhile"
    with contextlib.ExitStack() as stack:
        stack.enter_context(open_output(command, graph, -1))
        path.rename(tmp_path / "moved")
        put(path)
        with pytest.raises(EngineError, match=re.escape(moved)):
            stack.close()


def test_the_lines_of_a_batch_that_are_no_longer_in_their_place_make_no_table(tmp_path):
    path = tmp_path / "lines.jsonl"
    lines = BatchFile(str(path))
    path.rename(tmp_path / "moved")
    with pytest.raises(EngineError, match=r"lines\.jsonl is no longer the file of this output"):
        lines.complete()
    lines.close()


@pytest.mark.slow
def test_two_listings_to_one_file_do_not_mix(tmp_path):
    path, events = tmp_path / "same.txt", tmp_path / "events.jsonl"
    for held, arguments in (
        (path, ("list", "petersen", "-o")),
        (events, ("count", "petersen", "--events")),
    ):
        descriptor = open_alone(held, os.O_CREAT)
        try:
            os.write(descriptor, b"of the first\n")
            done = chordless(*arguments, held, *REFERENCE)
        finally:
            os.close(descriptor)
        assert fails(done, 2, f"{held} is being written by another run of chordless (process {os.getpid()})")
        assert held.read_text() == "of the first\n"


def test_a_file_that_was_replaced_is_no_longer_the_same(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    descriptor = os.open(path, os.O_RDONLY)
    assert same_file(descriptor, path)
    path.rename(tmp_path / "moved")
    assert not same_file(descriptor, path)
    path.symlink_to(tmp_path / "moved")
    assert not same_file(descriptor, path)
    os.close(descriptor)


def test_what_has_no_end_is_not_read(tmp_path):
    (tmp_path / "file").write_bytes(b"ab")
    assert read_file(tmp_path / "file") == b"ab"
    os.mkfifo(tmp_path / "pipe")
    for path, what in ((tmp_path / "pipe", "a pipe"), ("/dev/zero", "a device"), (tmp_path, "a folder")):
        with pytest.raises(OSError, match=f"this is {what}, not a file"):
            open_to_read(path)
    with pytest.raises(OSError, match="this is a device, not a file"):
        open_to_read("/dev/zero", pipes=True)
    reading, writing = os.pipe()
    os.write(writing, b"cd")
    os.close(writing)
    assert read_file(f"/dev/fd/{reading}", pipes=True) == b"cd"
    os.close(reading)


def test_commands_do_not_read_devices_or_wait_for_pipes(tmp_path, capsys):
    run = tmp_path / "run"
    assert main(["list", "grid:4x4", "--arch", "cpu", "-o", f"{run}/", "-q"]) == 0
    kept = {name: (run / name).read_bytes() for name in ("run.json", "graph.json", "events.jsonl", "checkpoint")}
    asked = [("run.json", 2), ("graph.json", 2), ("events.jsonl", 1), ("checkpoint", 2)]
    for file, make in [("/dev/zero", os.symlink), (None, os.mkfifo)]:
        for name, exit_code in asked:
            (run / name).unlink()
            make(*([file] if file else []), run / name)
            assert main(["merge" if name == "events.jsonl" else "export", str(run)]) == exit_code
            assert "not a file" in capsys.readouterr().err
            (run / name).unlink()
            (run / name).write_bytes(kept[name])
    os.mkfifo(tmp_path / "pipe.npy")
    assert main(["export", str(tmp_path / "pipe.npy"), "--graph", "grid:4x4"]) == 2
    assert "cannot be read: this is a pipe, not a file" in capsys.readouterr().err
    for arguments in (["merge"], ["batch", "--manifest"], ["plot", "-o", "a.svg"], ["report", "-o", "a.html"]):
        assert main([*arguments, "/dev/zero"]) == 2
        assert "/dev/zero: cannot be read: this is a device, not a file" in capsys.readouterr().err


def test_a_listing_whose_cycles_are_gone_is_not_reported_as_written(tmp_path, capsys):
    assert main(["list", "grid:4x4", "--arch", "cpu", "-o", f"{tmp_path}/run/", "-q"]) == 0
    (tmp_path / "run/cycles/part-00000.npy").unlink()
    assert main(["resume", str(tmp_path / "run")]) == 2
    assert "part-00000.npy: this part of the cycles is missing" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["estimate", "petersen"], ["batch", "petersen", *REFERENCE], ["first", "petersen", "--length", "6", *REFERENCE]],
)
def test_no_room_for_temporary_files_is_one_line(monkeypatch, capsys, arguments):
    def full(*_, **__):
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    assert main(arguments) in (1, 2)
    assert capsys.readouterr().err == (
        "chordless: error: cannot make a temporary folder: No usable temporary directory found in ['/tmp']; make room, "
        "or name another place by TMPDIR\n"
    )
