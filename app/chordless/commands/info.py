"""``chordless info``: versions, and the arches that this machine can use."""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import sys
import textwrap
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from chordless.engine.process import EngineProcess
from chordless.protocol.events import DeviceReport
from chordless.protocol.orders import ProbeCommand
from chordless.words.shown import on_terminal
from kernels_ti import DeviceError
from kernels_ti.choices import ARCHES
from kernels_ti.taichi_door.libraries import LIBRARIES, library

_PROBE_SECONDS = 120.0
DESCRIPTION = "Show versions, and for each arch whether it can be used here: each is\nopened and tested."
EXAMPLES = ("chordless info", "chordless info --json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def act(options: argparse.Namespace) -> int:
    """Probe every arch, print what was found, return the exit code."""
    versions = {package: version_of(package) for package in _packages()}
    versions["python"] = platform.python_version()
    reports = probe_all()
    if options.json:
        print(json.dumps({"versions": versions, "arches": [asdict(report) for report in reports]}))
        return 0
    for package, found in versions.items():
        print(f"{package:<11}{found or 'not installed'}")
    print()
    for report in reports:
        tested = "; needs no self-test" if report.arch == "reference" else "; self-test passed"
        text = report.summary + tested * report.available
        for line in textwrap.wrap(text, 78, initial_indent=f"{report.arch:<11}", subsequent_indent=" " * 11):
            print(on_terminal(line, sys.stdout))
    return 0


def _packages() -> list[str]:
    """Return the packages whose versions are shown, among them the library below: Taichi or its fork."""
    try:
        below = [library().package]
    except DeviceError:  # each arch says so
        below = [each.package for each in LIBRARIES]
    return ["chordless", *below, "numpy", "networkx", "textual"]


def version_of(package: str) -> str | None:
    """Return the installed version of `package`, None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def probe_all() -> list[DeviceReport]:
    """Open every arch, each in an engine of its own, at the same time; the reports come in the order shown to users."""
    arches = [arch for arch in ARCHES if arch != "auto"]
    with contextlib.ExitStack() as stack:
        engines = [(arch, stack.enter_context(EngineProcess(ProbeCommand(arch)))) for arch in arches]
        return [_answer(arch, engine) for arch, engine in engines]


def _answer(arch: str, engine: Any) -> DeviceReport:
    answer = engine.answer(_PROBE_SECONDS)
    if isinstance(answer, DeviceReport):
        return answer
    message = f"gave no answer in {_PROBE_SECONDS:.0f} s" if answer is None else answer.message
    return DeviceReport(arch, available=False, message=message)
