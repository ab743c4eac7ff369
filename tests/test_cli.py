"""The command line: help, usage, the commands beside count and list, and outputs that fail."""

from __future__ import annotations

import itertools
import json
import os
import re
import resource
import subprocess
import sys
import time

import pytest
from chordless.cli import main, make_parser
from chordless.commands.options import ARCHES, EXPANSIONS
from chordless.graphs.generators import known_kinds
from chordless.graphs.load import FORMATS
from patience import PATIENCE
from program import ENVIRONMENT, REFERENCE, chordless, command, count, fails, on_full_disk

from kernels_ti.taichi_door.libraries import library

COMMANDS = (
    "count", "list", "first", "tui", "resume", "replay", "estimate", "merge", "export", "info", "generate", "overlap",
    "plot", "report", "batch", "bench", "completion", "help",
    "longest", "sample", "paths",
)  # fmt: skip


def test_help_names_every_command_once_in_its_group():
    done = chordless("--help", env={**ENVIRONMENT, "COLUMNS": "80"})
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    listed = [line.split()[0] for line in lines[lines.index("find:") : lines.index("options:")] if line[:2] == "  "]
    assert sorted(listed) == sorted(COMMANDS), "a line for each"
    assert [line for line in lines if line in ("find:", "ask:", "long runs:", "many graphs:", "look:", "other:")]
    assert "  exit-codes   what each exit code means" in lines
    assert "  chordless count grid:7x10" in lines
    assert max(map(len, lines)) <= 80
    for arguments in ((), ("help",)):
        assert chordless(*arguments, env={**ENVIRONMENT, "COLUMNS": "80"}).stdout == done.stdout


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("specs", ("grid:7x10", "gnp:60,0.1,1", "petersen", "les_miserables", "kneser:5,2")),
        ("formats", (*FORMATS, "--graph-format", "--weight of `longest` and `paths`", "--min-length 1")),
        ("exit-codes", ("complete", "130", "143")),
        ("environment", ("NO_COLOR", "CHORDLESS_DEBUG")),
    ],
)
def test_a_topic_says_what_several_commands_share(capfd, topic, words):
    assert main(["help", topic]) == 0
    text = capfd.readouterr().out
    for word in words:
        assert word in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("path", [("count",), ("bench", "peers")])
def test_help_on_a_command_is_the_help_of_the_command(capfd, path):
    assert main(["help", *path]) == main([*path, "--help"]) == 0
    text = capfd.readouterr().out
    assert text[: len(text) // 2] == text[len(text) // 2 :]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("count", "--lenght", "6", "petersen"), "chordless count: error: there is no option --lenght; did you mean"),
        (("count", "--size", "6", "petersen"), "chordless count: error: there is no option --size\n"),
        (("count", "petersen", "--max"), "there is no option --max; did you mean --max-length?"),
        (("count", "petersen", "--ar=cpu"), "there is no option --ar; did you mean --arch?"),
        (("count", "petersen", "-z"), "there is no option -z\n"),
        (("--versoin",), "chordless: error: there is no option --versoin; did you mean --version?"),
        (("count", "petersen", "extra"), "chordless count: error: too many arguments: extra\n(see chordless count"),
        (("cuont", "petersen"), "there is no command 'cuont'; did you mean count?"),
        (("grid:7x10",), "no command 'grid:7x10'; to count the cycles of a graph: chordless count grid:7x10\n(see"),
        (("a b.txt",), "to count the cycles of a graph: chordless count 'a b.txt'\n"),
        (("bench", "grid:7x10"), "chordless bench: error: there is no command 'grid:7x10'\n"),
        (("--json", "count", "petersen"), "there is no option --json before the command: chordless count --json\n"),
        (("--web",), "there is no option --web without a command: chordless tui --web\n"),
        (("--web", "8001"), "there is no option --web without a command: chordless tui --web\n"),
        (("--jsno", "count", "petersen"), "chordless: error: there is no option --jsno\n"),
        (
            ("count", "petersen", "--method", "boundary", "--limit", "3"),
            "--limit is for --method search: leave it out, or --method boundary\n",
        ),
        (("bench", "table"), "chordless bench: error: there is no command 'table'; did you mean table1?"),
        (("batch", "w.net", "--overlap", "--types", "w.clu"), "--types: 'w.clu' cannot stand here, only 'none'"),
        (("count", "petersen", "--arch", "vulcan"), "--arch: 'vulcan' is none of auto, cpu, cuda, vulkan, reference; "),
        (("help", "spec"), "there is no help on 'spec'; did you mean specs?"),
        (("help", "specs", "formats"), "the topic specs stands alone: chordless help specs"),
        (("help", "bench", "peer"), "there is no help on 'bench peer'; did you mean peers?"),
        (("count", "petersen", "--length", "5", "--max-length", "6"), "--length 5 is both bounds"),
        (("resume", ""), "DIR: the name is empty"),
        (("merge", "1.json", ""), "PART: the name is empty"),
        (("export", ""), "DIR|FILE.npy: the name is empty"),
        (("report", "", "-o", "a.html"), "RUN: the name is empty"),
        (("plot", "", "-o", "a.svg"), "RUN: the name is empty"),
        (("count", "petersen", "--order", ""), "--order: the name is empty"),
        (("count", "petersen", "--events", "-"), "--events: standard output has the result: name a file"),
        (("longest", "petersen", "--write-order", "-"), "--write-order: standard output has the result: name a file"),
        (
            ("first", "petersen", "--max-length", "3"),
            "--max-length 3 is below 4, the least that is searched for without",
        ),
    ],
)
def test_wrong_usage_says_what_would_be_right(capfd, arguments, message):
    assert main(list(arguments)) == 2
    assert message in capfd.readouterr().err


@pytest.mark.parametrize(
    "words", [("-qo", "a.txt"), ("-oa.txt", "-q"), ("--output=a.txt", "-q"), ("-q", "-o", "a.txt")]
)
def test_options_are_read_in_every_spelling(words):
    options = make_parser().parse_args(["list", *words, "--", "-graph-"])
    assert (options.quiet, options.output, options.graph) == (True, "a.txt", "-graph-")


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["paths", "g", "--list", "s", "t"], {"graph": "g", "start": "s", "end": "t", "list": True}),
        (["paths", "g", "s", "-qo", "a.txt", "t"], {"start": "s", "end": "t", "output": "a.txt"}),
        (["paths", "g", "-1", "--max-length", "9", "-2"], {"start": "-1", "end": "-2", "max_length": 9}),
        (
            ["paths", "g", "-73.4,5", "-q", "-.5,6", "--avoid", "-7,8"],
            {"start": "-73.4,5", "end": "-.5,6", "avoid": ["-7,8"]},
        ),
        (["paths", "g", "--list", "--", "-s", "-t"], {"start": "-s", "end": "-t"}),
        (["estimate", "--between", "s", "t", "g"], {"between": ["s", "t"], "graph": "g"}),
        (["batch", "a", "--max-length=5", "b", "--odd", "c"], {"graphs": ["a", "b", "c"], "max_length": 5}),
        (["export", "p", "-q", "r"], {"cycles": ["p", "r"]}),
    ],
)
def test_options_stand_anywhere_among_the_arguments(words, values):
    options = vars(make_parser().parse_args(words))
    assert {name: options[name] for name in values} == values


@pytest.mark.parametrize("words", [["paths", "g", "s", "t", "--limit"], ["batch", "a", "--limit", "--odd", "b"]])
def test_no_argument_stands_in_for_the_missing_value_of_an_option(capfd, words):
    assert main(words) == 2
    assert "error: --limit: expected one argument\n" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["count", "list", "first", "estimate", "batch"])
def test_one_length_is_both_bounds(command):
    options = make_parser().parse_args([command, "petersen", "--length", "6", *REFERENCE])
    options.check(options.parser, options)
    assert (options.min_length, options.max_length) == (6, 6)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_an_example_and_fits_80_columns(name):
    done = chordless(name, "--help", env={**ENVIRONMENT, "COLUMNS": "80"})
    assert done.returncode == 0
    assert f"  chordless {name} " in done.stdout or f"  chordless {name}\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("name", ["table1", "peers", "batch", "start", "listing", "scale", "boundary", "dashboard"])
def test_help_of_a_measurement_fits_80_columns(capfd, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["bench", name, "--help"]) == 0
    assert max(map(len, capfd.readouterr().out.splitlines())) <= 80


def test_numbers_that_are_no_gpus_are_not_called_so(capfd):
    assert main(["bench", "scale", "--workers", "x"]) == 2
    assert "--workers: 'x' is no list of whole numbers such as 0,2" in capfd.readouterr().err


def test_the_usage_shows_required_options_behind_the_others():
    assert chordless("plot", "--help").stdout.startswith("usage: chordless plot [options] -o FILE RUN [RUN ...]\n")


def test_version():
    done = chordless("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("chordless ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("cuont", "petersen"),
        ("count",),
        ("count", "petersen", "--min-length", "0"),
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
    from kernels_ti import Options
    from kernels_ti.device import device

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


@pytest.mark.slow
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
    assert result["versions"][library().package] == library().version


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


@pytest.mark.slow
def test_an_unwritable_output_is_one_line(tmp_path):
    assert fails(chordless("list", "petersen", *REFERENCE, "-o", tmp_path / "no" / "c.txt"), 1, "cannot write")
    assert fails(chordless("generate", "petersen", "-o", tmp_path / "no" / "g.txt"), 1, "cannot write")


@pytest.mark.parametrize(
    "arguments",
    [
        ("merge", "{}"),
        ("report", "{}", "-o", "r.html"),
        ("plot", "{}", "-o", "r.svg"),
        ("plot", "{}", "--cycle", "1", "-o", "r.svg"),
        ("export", "{}.npy", "--graph", "petersen"),
        ("resume", "{}"),
        ("count", "petersen", "--checkpoint", "{}"),
    ],
)
def test_an_error_about_a_file_is_not_told_of_standard_output(capfd, arguments):
    name = "x" * 300
    exit_code = main([word.format(name) for word in arguments])
    printed, said = capfd.readouterr()
    assert (exit_code, printed, said.count("\n")) == (2, "", 1)
    assert name in said
    assert "standard output" not in said
    assert "internal error" not in said


@pytest.mark.parametrize("arguments", [("count", "grid:6x8"), ("list", "grid:6x8", "-o", "run/"), ("first", "k5")])
def test_a_current_folder_that_was_removed_is_one_line(tmp_path, monkeypatch, capfd, arguments):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    exit_code = main([*arguments])
    printed, said = capfd.readouterr()
    assert (exit_code, printed, said.count("\n")) == (2, "", 1)
    assert "the current folder was removed" in said


def test_the_exit_code_is_right_even_where_no_message_can_be_written():
    with open("/dev/full", "w") as full:
        done = chordless("count", "no-such-file.txt", capture_output=False, stdout=subprocess.PIPE, stderr=full)
    assert (done.returncode, done.stdout) == (2, "")


def test_too_many_threads_are_one_line(tmp_path):
    boot = (
        "import sys, threading\n"
        "from chordless.cli import main\n"
        'def refuse(thread): raise RuntimeError("can\'t start new thread")\n'
        "threading.Thread.start = refuse\n"
        f"sys.exit(main(['list', 'petersen', '-o', {str(tmp_path / 'cycles.parquet')!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", boot], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert fails(done, 1, "the system allows no more threads; `ulimit -u` tells the limit")
    assert "internal error" not in done.stderr


def test_too_many_open_files_are_one_line():
    boot = (
        "import os, resource, sys\n"
        "from chordless.cli import main\n"
        "free = os.dup(0)\n"
        "os.close(free)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (free, free))\n"
        "sys.exit(main(['report', 'run/', '-o', 'run.html']))\n"
    )
    done = subprocess.run([sys.executable, "-c", boot], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert fails(done, 1, "cannot open", "Too many open files; `ulimit -n` tells the limit")


@pytest.mark.parametrize(
    ("package", "arguments"), [("pyarrow", ["list", "petersen", "-o", "a.parquet"]), ("numpy", ["count", "petersen"])]
)
def test_a_library_that_cannot_be_loaded_is_not_one_that_is_not_installed(tmp_path, package, arguments):
    why = "lib.so: failed to map segment from shared object"
    first = f"try:\n    raise ImportError({why!r})\n"
    fault = f"{first}except ImportError as error:\n    raise ImportError('READ THIS') from error\n"
    (tmp_path / f"{package}.py").write_text(fault)
    done = chordless(*arguments, cwd=tmp_path, env=ENVIRONMENT | {"PYTHONPATH": str(tmp_path)})
    assert fails(done, 1, f"a library cannot be loaded: {why}")


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


@pytest.mark.slow
def test_what_is_no_regular_file_is_written_to_directly(tmp_path):
    target, link = tmp_path / "graph.txt", tmp_path / "link.txt"
    target.touch()
    link.symlink_to(target)
    assert chordless("generate", "petersen", "-o", link).returncode == 0
    assert link.is_symlink()
    expected = chordless("generate", "petersen").stdout
    assert target.read_text() == chordless("generate", "petersen", "-o", "/dev/stdout").stdout == expected
    refused = chordless("generate", "petersen", "-o", tmp_path)
    assert refused.returncode == 2
    assert "this is a folder; the output is a file" in refused.stderr


def without(number):
    """Run a command whose stream of this number is closed."""
    return lambda *arguments: chordless(*arguments, preexec_fn=lambda: os.close(number))


@pytest.mark.slow
def test_closed_streams_are_not_mistaken_for_the_pipes_of_the_engine(tmp_path):
    for arguments in (["count", "-", *REFERENCE], ["overlap", "-"]):
        assert fails(without(0)(*arguments), 2, "standard input: cannot be read")
    unread = without(0)("batch", "-", *REFERENCE)
    assert unread.returncode != 0
    assert "stdin: cannot be read" in unread.stderr
    for arguments in (["count", "petersen", *REFERENCE], ["list", "petersen", *REFERENCE], ["generate", "petersen"]):
        assert fails(without(1)(*arguments), 1, "cannot write standard output")
    done = without(2)("list", "petersen", *REFERENCE, "-o", tmp_path / "cycles.txt")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "cycles.txt").read_text().count("\n") == 22


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_topics_of_help_are_completed(shell):
    script = chordless("completion", shell).stdout
    assert any("specs formats cluster exit-codes environment count" in line for line in script.splitlines())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_specs_of_graphs_are_completed(shell, tmp_path):
    script = chordless("completion", shell).stdout
    assert {kind.example for kind in known_kinds()} <= set(re.split("[ '\";]", script))
    if shell == "bash":
        (tmp_path / "kingdom.txt").touch()
        asked = 'COMP_WORDS=(chordless count kin); COMP_CWORD=2; _shtab_chordless; echo "${COMPREPLY[@]}"'
        done = subprocess.run(
            ["bash", "-c", script + asked], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=True
        )
        assert done.stdout == "kingdom.txt king:6x6\n"


def test_an_interrupt_before_the_command_line_is_read_is_told_in_one_line(monkeypatch, capsys):
    def interrupted(only):
        raise KeyboardInterrupt

    monkeypatch.setattr("chordless.cli.make_parser", interrupted)
    assert main(["count", "petersen"]) == 130
    assert capsys.readouterr() == ("", "chordless: error: interrupted\n")


@pytest.mark.parametrize("text", ["C O\nC N\nO N\nCO ethanol\n", "DQcx\n"])
def test_a_file_of_an_unclear_format_names_the_option_of_each_command(tmp_path, capsys, text):
    (tmp_path / "unclear").write_text(text)
    assert main(["count", str(tmp_path / "unclear")]) != 0
    said = capsys.readouterr().err
    commands = make_parser()._subparsers._group_actions[0].choices
    others = [name for name, parser in commands.items() if "--graph-format" in parser.format_help()]
    assert len(others) == 3
    told = re.search(r"--format \w+ \(of chordless ([\w, ]+): --graph-format\)", said)
    assert set(re.findall(r"\w+", told[1])) - {"and"} == set(others)


@pytest.mark.parametrize("graph", ["petersen", "grid:5x6"])
def test_a_step_of_the_clock_changes_no_duration(graph, monkeypatch, capsys):
    hours = itertools.count(1)
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() - 3600 * next(hours))
    assert main(["count", graph, "--json"]) == 0
    seconds = json.loads(capsys.readouterr().out)["seconds"]
    assert all(0 <= value < PATIENCE for value in seconds.values())
    assert seconds["total"] > 0
