"""The command line: help, usage, the commands beside count and list, and outputs that fail."""

from __future__ import annotations

import json
import os
import resource
import subprocess

import pytest
from chordless.commands.options import ARCHES, EXPANSIONS
from patience import PATIENCE
from program import ENVIRONMENT, REFERENCE, chordless, command, count, fails, on_full_disk

COMMANDS = (
    "count", "list", "first", "tui", "resume", "replay", "estimate", "export", "info", "generate", "overlap", "plot",
    "report", "batch", "bench", "completion",
)  # fmt: skip


def test_help_names_every_command_and_exit_code():
    done = chordless("--help")
    assert done.returncode == 0
    for word in (*COMMANDS, "exit codes", "130", "chordless count grid:7x10"):
        assert word in done.stdout
    assert chordless().stdout == done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_an_example_and_fits_80_columns(name):
    done = chordless(name, "--help", env={**ENVIRONMENT, "COLUMNS": "80"})
    assert done.returncode == 0
    assert f"  chordless {name} " in done.stdout or f"  chordless {name}\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_help_of_count_lists_formats_and_specs():
    text = chordless("count", "--help").stdout
    for word in ("graphml", "mtx", "grid:7x10", "gnp:60,0.1,1", "petersen", "les_miserables"):
        assert word in text


def test_version():
    done = chordless("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("chordless ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("cuont", "petersen"),
        ("count",),
        ("count", "petersen", "--min-length", "2"),
        ("count", "petersen", "--min-length", "9", "--max-length", "8"),
        ("count", "petersen", "--limit", "0"),
        ("count", "petersen", "--timeout", "-1"),
        ("count", "petersen", "--timeout", "soon"),
        ("count", "petersen", "--threads", "two"),
        ("count", "petersen", "--arch", "tpu"),
        ("count", "petersen", "--ar", "cpu"),
        ("list", "petersen", "-o", "cycles.csv"),
        ("count", "petersen", "extra"),
    ],
)
def test_wrong_usage_is_two_lines(arguments):
    done = chordless(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("chordless")
    assert done.stderr.count("\n") <= 2


def test_choices_are_those_of_the_engine():
    from kernels_ti.device import device
    from kernels_ti.run import Options

    assert ("auto", *device.ARCHES) == ARCHES
    assert [Options(expansion=expansion).expansion for expansion in EXPANSIONS] == list(EXPANSIONS)


def test_generate_writes_what_count_reads(tmp_path):
    path = tmp_path / "grid.txt"
    assert chordless("generate", "grid:5x6", "-o", path).returncode == 0
    assert path.read_text() == chordless("generate", "grid:5x6").stdout
    result, _ = count(path, *REFERENCE)
    assert (result["graph"], result["total"]) == (str(path), 749)
    assert fails(chordless("generate", "gird:5x6"), 2, "gird")


def test_overlap_writes_what_count_reads(tmp_path):
    web = tmp_path / "web.net"
    web.write_text("*Vertices 5\n1 a\n2 b\n3 c\n4 d\n5 dirt\n*Arcs\n1 2\n1 3\n2 4\n3 4\n5 1\n5 4\n")
    types = tmp_path / "types.clu"
    types.write_text("*Vertices 5\n1\n1\n1\n1\n2\n")
    done = chordless("overlap", web, "--types", types)
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if not line.startswith("#")] == ["2 3"]
    assert fails(chordless("overlap", tmp_path / "none.net"), 2, "none.net")


def test_info_has_a_row_for_every_arch():
    done = chordless("info")
    assert done.returncode == 0
    for arch in ARCHES[1:]:
        assert f"\n{arch} " in done.stdout
    assert "arch " not in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 80
    result = json.loads(chordless("info", "--json").stdout)
    assert [report["arch"] for report in result["arches"]] == list(ARCHES[1:])
    usable = {report["arch"]: report["available"] for report in result["arches"]}
    assert usable["reference"]
    assert usable["cpu"]
    assert result["versions"]["numpy"]


def test_a_closed_pipe_is_quiet_for_every_command():
    for arguments in (["--help"], ["count", "petersen", *REFERENCE], ["generate", "grid:200x200"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            command(*arguments), stdout=writer, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=PATIENCE, check=False
        )
        os.close(writer)
        assert (done.returncode, done.stderr) == (4, b"")


@pytest.mark.parametrize("arguments", [("list", "grid:6x6", *REFERENCE), ("generate", "grid:9x9"), ("--help",)])
def test_a_full_disk_is_one_line(arguments):
    done = on_full_disk(*arguments)
    assert done.returncode == 1
    assert done.stderr == "chordless: error: cannot write standard output: No space left on device\n"


def test_an_unwritable_output_is_one_line(tmp_path):
    assert fails(chordless("list", "petersen", *REFERENCE, "-o", tmp_path / "no" / "c.txt"), 1, "cannot write")
    assert fails(chordless("generate", "petersen", "-o", tmp_path / "no" / "g.txt"), 1, "cannot write")


def test_a_full_disk_leaves_the_file_that_was_there(tmp_path):
    path = tmp_path / "graph.txt"
    assert chordless("generate", "petersen", "-o", path).returncode == 0
    path.chmod(0o640)
    before = path.read_bytes()

    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    done = chordless("generate", "grid:40x40", "-o", path, preexec_fn=small_disk)
    assert fails(done, 1, f"cannot write {path}: File too large")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (before, ["graph.txt"])
    assert chordless("generate", "cycle:4", "-o", path).returncode == 0
    assert (path.read_bytes() == before, path.stat().st_mode & 0o777) == (False, 0o640)


def test_what_is_no_regular_file_is_written_to_directly(tmp_path):
    target, link = tmp_path / "graph.txt", tmp_path / "link.txt"
    target.touch()
    link.symlink_to(target)
    assert chordless("generate", "petersen", "-o", link).returncode == 0
    assert link.is_symlink()
    expected = chordless("generate", "petersen").stdout
    assert target.read_text() == chordless("generate", "petersen", "-o", "/dev/stdout").stdout == expected
    assert fails(chordless("generate", "petersen", "-o", tmp_path), 1, "Is a directory")


def without(number):
    """Run a command whose stream of this number is closed."""
    return lambda *arguments: chordless(*arguments, preexec_fn=lambda: os.close(number))


def test_closed_streams_are_not_mistaken_for_the_pipes_of_the_engine(tmp_path):
    assert fails(without(0)("count", "-", *REFERENCE), 2, "stdin: the file is empty")
    for arguments in (["count", "petersen", *REFERENCE], ["list", "petersen", *REFERENCE], ["generate", "petersen"]):
        assert fails(without(1)(*arguments), 1, "cannot write standard output")
    done = without(2)("list", "petersen", *REFERENCE, "-o", tmp_path / "cycles.txt")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "cycles.txt").read_text().count("\n") == 22
