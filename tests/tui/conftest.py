"""Fixtures of the dashboard's tests, which keep away from the settings and the runs of the user."""

import gc

import pytest
from program import slow_boot

from app.events import DeviceReport

# The thousands of objects of each dashboard are gone through ten times less often: a quarter of the tests' time.
gc.set_threshold(20_000, 50, 50)


@pytest.fixture(autouse=True)
def _folders_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for variable in ("SSH_CONNECTION", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def slow(monkeypatch):
    """Let engines search in slow motion."""
    monkeypatch.setattr("app.client._BOOT", slow_boot())


@pytest.fixture(autouse=True)
def _no_probing(monkeypatch):
    """Answer at once what this machine can run on: an engine for each arch, and test, takes seconds."""
    monkeypatch.setattr(
        "app.tui.probing.probe_arch", lambda arch, given_up: DeviceReport(arch, arch == "cpu", "a CPU", message="none")
    )
