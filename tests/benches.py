"""``chordless bench`` in the process of the test; its engines are processes of their own, as always."""

from __future__ import annotations

import json
import shlex
import sys
import time
from functools import cache

import pytest
from chordless.bench import measure
from chordless.cli import make_parser
from json_schemas import is_promised

REFERENCE = ("--arch", "reference", "--repeat", "1")
TIMES = {"name", "command", "seconds", "median", "stopped", "error", "count"}


def run(*argv: str) -> int:
    """Run ``chordless bench`` in this process; its engines are processes of their own, as always."""
    options = make_parser().parse_args(["bench", *argv])
    options.program_start = time.monotonic()
    options.check(options.parser, options)
    return options.act(options)


def report(capsys, *argv):
    """Run it with ``--json``; return the exit code, the report, and what went to standard error."""
    exit_code = run(*argv, "--json")
    printed = capsys.readouterr()
    return exit_code, is_promised("bench", json.loads(printed.out)), printed.err


def script(tmp_path, name, code):
    """Make a program of some lines of Python; return its path."""
    path = tmp_path / name
    path.write_text(f"#!{sys.executable}\n{code}\n")
    path.chmod(0o755)
    return str(path)


def python(code):
    """Return a command that runs a line of Python on the graph's file."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)} {{el}}"


@pytest.fixture(autouse=True, scope="module")
def probed_once():
    """Each arch is opened once, to say what it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "probe", cache(measure.probe))
        yield


@pytest.fixture
def no_nauty(monkeypatch, tmp_path):
    """A system without ``countg``."""
    monkeypatch.setenv("PATH", str(tmp_path))
