"""The command ``chordless``: parses the command line, calls a subcommand, turns errors into exit codes."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from chordless.commands.parser import COMMAND_ALONE, USAGE_EXIT_CODE, ProgramParser, examples
from chordless.termination import TerminatedError, termination_interrupts
from chordless.words.shown import error_line, fault_text, long_counts, silence
from kernels_ti import ChordlessError, EngineError, OptionError
from kernels_ti.errors import in_words_of_command_line

_INTERRUPTED_EXIT_CODE = 130
_READER_GONE_EXIT_CODE = 4
# The process, or the system, has as many files open as it may.
_NO_MORE_FILES = (errno.EMFILE, errno.ENFILE)

_EVERYWHERE = ("help", "completion")
_NEEDS_POSIX = (
    "the command line needs Linux, macOS or another POSIX system, such as WSL on Windows: it stops its engine by "
    "signals, talks to it over inherited pipes and locks its files. The Python library needs none of that: "
    "import chordless"
)

DESCRIPTION = """\
Find every chordless cycle of a graph, on CPU, CUDA or Vulkan.

A chordless cycle is a cycle in which no two vertices are joined by an edge but
those next to each other on it. Triangles count as well.
"""


_GROUPS = {
    "find": {
        "count": "count the chordless cycles of a graph, by length",
        "list": "list the chordless cycles of a graph, one a line",
        "first": "print one chordless cycle of 4 or more vertices, if there is one",
    },
    "ask": {
        "estimate": "estimate the number of cycles or paths, and the time of a run",
        "longest": "find the longest, shortest, heaviest or lightest chordless cycle",
        "paths": "count, list or find chordless paths between two vertices, or all",
        "sample": "draw chordless cycles uniformly at random",
        "overlap": "the niche overlap graphs of food webs, and their holes",
    },
    "long runs": {
        "resume": "continue a run that was stopped or killed",
        "merge": "add up the counts of the parts of one search (--part I/N)",
        "export": "turn bit rows into text, JSON lines, Parquet or Arrow",
    },
    "many graphs": {
        "batch": "count the cycles of many graphs: files, patterns, molecules",
    },
    "look": {
        "tui": "the dashboard: start, watch, stop and compare runs",
        "replay": "watch a recorded run in the dashboard",
        "plot": "draw a run: paths and cycles by length, or a cycle in its graph",
        "report": "write a run as one self-contained page of HTML",
    },
    "other": {
        "generate": "write a generated graph, such as grid:7x10, to a file",
        "info": "show versions, and the arches that this machine can use",
        "bench": "measure speed: Table 1, other programs, lists, clusters ...",
        "completion": "print a script that completes this program in bash, zsh or fish",
        "help": "show the help of a command, or of a topic",
    },
}
"""The modules of the commands, in groups, each with its line in the help."""


class _Version(argparse.Action):
    """Prints the version. It is looked up only on request, because that takes longer than everything else."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help="print the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from chordless.commands.info import version_of

        print(f"{parser.prog} {version_of('chordless') or '(not installed)'}")
        parser.exit()


def main(argv: list[str] | None = None) -> int:
    """Run the program with a command line, by default that of this process; return the exit code."""
    program_start = time.monotonic()
    _mend_standard_streams()
    try:
        with in_words_of_command_line(), long_counts():
            exit_code = _run(sys.argv[1:] if argv is None else argv, program_start)
        sys.stdout.flush()
    except OSError as error:
        if error.errno in _NO_MORE_FILES:
            what = "another file" if error.filename is None else error.filename
            return _fail(f"cannot open {what}: {error.strerror}; `ulimit -n` tells the limit", EngineError.exit_code)
        silence(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return _READER_GONE_EXIT_CODE
        what = "write standard output" if error.filename is None else f"use {error.filename}"
        return _fail(f"cannot {what}: {error.strerror}", EngineError.exit_code)
    return exit_code


def make_parser(only: Sequence[str] | None = None) -> ProgramParser:
    """Return the parser of the whole command line; if `only` some commands are given, the others get no arguments."""
    parser = ProgramParser(prog="chordless", description=DESCRIPTION)
    parser.below.append(_text_below)
    parser.add_argument("--version", action=_Version)
    for title, commands in _GROUPS.items():
        parser.add_commands(title, commands, only)
    return parser


def _text_below() -> str:
    from chordless.commands.help import topic_list

    lines = examples("chordless count grid:7x10", "chordless list graph.txt -o cycles.txt")
    return f"chordless COMMAND --help says more.\n\n{topic_list()}\n\n{lines}"


def _run(argv: list[str], program_start: float) -> int:
    try:
        with termination_interrupts():
            options = _asked(argv, program_start)
            if isinstance(options, int):
                return options
            _require_current_folder()
            return int(options.act(options))
    except (ChordlessError, TerminatedError) as error:
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _fail("interrupted", _INTERRUPTED_EXIT_CODE)
    except MemoryError:
        return _fail("out of memory", EngineError.exit_code)
    except OSError:
        raise
    except Exception as error:
        if os.environ.get("CHORDLESS_DEBUG"):
            import traceback

            traceback.print_exc()
        return _fail(fault_text(error), EngineError.exit_code)


def _asked(argv: list[str], program_start: float) -> argparse.Namespace | int:
    """Return the options of a command line, or the exit code where it is answered, or wrong."""
    named = [word for word in argv if any(word in group for group in _GROUPS.values())] or [COMMAND_ALONE]
    parser = make_parser(None if named[0] == "completion" else named[: 2 if named[0] == "help" else 1])
    try:
        options: argparse.Namespace = parser.parse_args(argv)
        if os.name != "posix" and options.command not in _EVERYWHERE:
            return _fail(_NEEDS_POSIX, USAGE_EXIT_CODE)
        if options.command is None:
            from chordless.commands.tui import is_usable_terminal

            if is_usable_terminal():
                options = parser.parse_args([COMMAND_ALONE])
        if options.command is None:
            parser.print_help()
            return 0
        options.program_start, options.whole_parser = program_start, parser
        if options.check is not None:
            options.check(options.parser, options)
    except SystemExit as leaving:
        return USAGE_EXIT_CODE if leaving.code else 0
    return options


def _require_current_folder() -> None:
    """Raise OptionError where the current folder is gone: no relative name has a place, and Taichi does not start."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise OptionError("the current folder was removed: change to one that exists, such as `cd ~`") from None


def _mend_standard_streams() -> None:
    """Make standard input, output and error usable, even if the program was started without them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # A stream is closed. If its number stayed free, a pipe of ours would get it, and the engine would take
            # that pipe for the stream. Reading from a closed input stays an error, and so does writing.
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY if number else os.O_WRONLY), True)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A path with characters that the terminal cannot encode must not end the program.
        sys.stdout.reconfigure(errors="backslashreplace")


def _fail(message: str, exit_code: int) -> int:
    try:
        sys.stderr.write(f"chordless: error: {error_line(message, sys.stderr)}\n")
        sys.stderr.flush()
    except OSError:
        # Nobody can read it. The exit code tells what happened.
        silence(sys.stderr)
    return exit_code
