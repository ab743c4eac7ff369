"""The command ``chordless``: parses the command line, calls a subcommand, turns errors into exit codes."""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from chordless.commands import (
    batch,
    bench,
    completion,
    count,
    estimate,
    export,
    first,
    generate,
    info,
    longest,
    merge,
    overlap,
    paths,
    plot,
    replay,
    report,
    resume,
    sample,
    tui,
)
from chordless.commands import help as help_
from chordless.commands import list as list_
from chordless.commands.parser import USAGE_EXIT_CODE, ProgramParser, examples
from chordless.termination import TerminatedError, termination_interrupts
from chordless.words.shown import error_line
from kernels_ti import ChordlessError, EngineError
from kernels_ti.errors import in_words_of_command_line

_INTERRUPTED_EXIT_CODE = 130
_READER_GONE_EXIT_CODE = 4

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
    "find": (count, list_, first),
    "ask": (estimate, longest, paths, sample, overlap),
    "long runs": (resume, merge, export),
    "many graphs": (batch,),
    "look": (tui, replay, plot, report),
    "other": (generate, info, bench, completion, help_),
}


class _Version(argparse.Action):
    """Prints the version. It is looked up only on request, because that takes longer than everything else."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help="print the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(f"{parser.prog} {info.version_of('chordless') or '(not installed)'}")
        parser.exit()


def main(argv: list[str] | None = None) -> int:
    """Run the program with a command line, by default that of this process; return the exit code."""
    program_start = time.time()
    _mend_standard_streams()
    try:
        with in_words_of_command_line():
            exit_code = _run(sys.argv[1:] if argv is None else argv, program_start)
        sys.stdout.flush()
    except OSError as error:
        from chordless.commands.writing import silence

        silence(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return _READER_GONE_EXIT_CODE
        return _fail(f"cannot write standard output: {error.strerror}", EngineError.exit_code)
    return exit_code


def make_parser() -> ProgramParser:
    """Return the parser of the whole command line."""
    parser = ProgramParser(prog="chordless", description=DESCRIPTION)
    parser.below.append(_text_below)
    parser.add_argument("--version", action=_Version)
    for title, modules in _GROUPS.items():
        parser.add_commands(title, modules)
    return parser


def _text_below() -> str:
    lines = examples("chordless count grid:7x10", "chordless list graph.txt -o cycles.txt")
    return f"chordless COMMAND --help says more.\n\n{help_.topic_list()}\n\n{lines}"


def _run(argv: list[str], program_start: float) -> int:
    try:
        with termination_interrupts():
            options = _asked(argv, program_start)
            return options if isinstance(options, int) else int(options.act(options))
    except ChordlessError as error:
        return _fail(str(error), error.exit_code)
    except TerminatedError as ended:
        return _fail(str(ended), ended.exit_code)
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
        message = f"internal error: {type(error).__name__}: {error} (CHORDLESS_DEBUG=1 shows where)"
        return _fail(message, EngineError.exit_code)


def _asked(argv: list[str], program_start: float) -> argparse.Namespace | int:
    """Return the options of a command line, or the exit code where it is answered, or wrong."""
    parser = make_parser()
    try:
        options: argparse.Namespace = parser.parse_args(argv)
        if os.name != "posix" and options.command not in _EVERYWHERE:
            return _fail(_NEEDS_POSIX, USAGE_EXIT_CODE)
        if options.command is None and tui.is_usable_terminal():
            options = parser.parse_args(["tui"])
        if options.command is None:
            parser.print_help()
            return 0
        options.program_start, options.whole_parser = program_start, parser
        if options.check is not None:
            options.check(options.parser, options)
    except SystemExit as leaving:
        return USAGE_EXIT_CODE if leaving.code else 0
    return options


def _mend_standard_streams() -> None:
    """Make standard input, output and error usable, even if the program was started without them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # A stream is closed. If its number stayed free, a pipe of ours would get it, and the engine would take
            # that pipe for the stream. Open for reading only: reading finds the end, and writing stays an error.
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
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
        from chordless.commands.writing import silence

        silence(sys.stderr)
    return exit_code
