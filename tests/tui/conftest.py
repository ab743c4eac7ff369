"""Fixtures of the dashboard's tests, which keep away from the settings and the runs of the user."""

import pytest
from program import slow_boot


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
