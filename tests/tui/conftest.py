"""Fixtures of the dashboard's tests, which keep away from the settings and the runs of the user."""

import gc
import time

import pytest
from chordless.engine.process import EngineProcess
from chordless.protocol.events import DeviceReport, Finished
from chordless.protocol.orders import RunCommand
from chordless.tui.outlook import Outlook
from chordless.words.numbers import CycleRange
from program import slow_boot
from textual.css.stylesheet import Stylesheet

from kernels_ti.errors import in_words_of_command_line
from tui.batch_files import error, line

# The thousands of objects of each dashboard are gone through ten times less often: a quarter of the tests' time.
gc.set_threshold(20_000, 50, 50)

# All dashboards have the same styles. To parse them for each test takes a twelfth of the tests' CPU time.
_parse_rules = Stylesheet._parse_rules
_parsed = {}


def _parsed_once(stylesheet, *source, **more):
    key = (source, *sorted(more.items()), *sorted(stylesheet._variables.items()))
    if key not in _parsed:
        _parsed[key] = _parse_rules(stylesheet, *source, **more)
    return _parsed[key]


Stylesheet._parse_rules = _parsed_once


@pytest.fixture(autouse=True)
def _folders_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for variable in ("SSH_CONNECTION", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(autouse=True)
def _words_of_command_line():
    """Word errors as for `chordless tui`, which is how every dashboard is started."""
    with in_words_of_command_line():
        yield


@pytest.fixture
def slow(monkeypatch):
    """Let engines search in slow motion."""
    monkeypatch.setattr("chordless.engine.process._BOOT", slow_boot())


@pytest.fixture(autouse=True)
def _no_probing(monkeypatch):
    """Answer at once what this machine can run on: an engine for each arch, and test, takes seconds."""
    monkeypatch.setattr(
        "chordless.tui.widgets.arch_field.probe_arch",
        lambda arch, given_up: DeviceReport(arch, arch == "cpu", "a CPU", message="none"),
    )


@pytest.fixture(autouse=True)
def _estimated_at_once(monkeypatch):
    """Give every graph the estimate of the Petersen graph, at once: a real one takes a second of one core."""
    outlook = Outlook(CycleRange(22, 22, 22, exact=True), seconds=0.001, along=None, threads=2)
    monkeypatch.setattr("chordless.tui.widgets.graph_preview.outlooks_of", lambda graph, options, given_up: [outlook])


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The directory of a run that is complete."""
    run = tmp_path_factory.mktemp("runs") / "finished"
    command = RunCommand(
        "grid:5x5", time.monotonic(), arch="cpu", checkpoint=str(run), output=str(run), output_format="parts"
    )
    with EngineProcess(command) as engine:
        assert isinstance(list(engine.events())[-1], Finished)
    return run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder."""
    path = tmp_path / "work"
    path.mkdir()
    monkeypatch.chdir(path)
    return path


@pytest.fixture
def written(folder):
    """The file of a batch that was written elsewhere: of a hundred graphs the 51st failed and the 76th was stopped."""
    lines = [line(f"all.g6:{i}") for i in range(1, 101)]
    lines[50], lines[75] = error("webs/bad.net"), line("grid:9x9", "timeout")
    (folder / "out.jsonl").write_bytes(b"".join(lines))
    return folder / "out.jsonl"
