"""Fixtures that every test may use."""

import getpass
import hashlib
import math
import os
import platform
import signal
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings

from kernels_ti import Device, DeviceError, open_device, taichi_door
from kernels_ti.boundary.orders import order
from kernels_ti.device import owner
from kernels_ti.device.machine import cpu_name
from kernels_ti.taichi_door.libraries import library

# How long an example takes says nothing on a shared machine. CI tries the same examples each time, so that what it
# says of a change is about that change; new ones are tried wherever else the tests run.
settings.register_profile("untimed", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "untimed")


# What is compiled for the tests, by all workers and the processes that tests start. It stays for the next run.
COMPILED = Path(tempfile.gettempdir(), f"chordless-tests-of-{getpass.getuser()}")


def _kernel_cache() -> Path:
    """Return the folder of the kernels: one for this Taichi, this processor. Taichi keeps it below 100 MiB."""
    made_for = f"{library()} {library().version} {platform.machine()} {cpu_name()}"
    return COMPILED / f"kernels-{hashlib.sha256(made_for.encode()).hexdigest()[:12]}"


KERNEL_CACHE = _kernel_cache()
KERNEL_CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
# Tests neither use nor fill the user's own cache.
os.environ.update(
    {
        library().variable("OFFLINE_CACHE"): "1",
        library().variable("OFFLINE_CACHE_FILE_PATH"): str(KERNEL_CACHE),
        "XDG_CACHE_HOME": str(KERNEL_CACHE.parent / "cache"),
        "XDG_DATA_HOME": str(KERNEL_CACHE.parent / "data"),
    }
)
# As in the engine; the processes that tests start are those of users.
taichi_door.hurry()
if sys.dont_write_bytecode:
    # Nothing may be written beside the sources. Without any bytecode, the start of a process takes twice as long.
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(COMPILED / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

# Processes inherit which signals are ignored, and nohup, cron and `&` ignore some. The processes that tests start must
# hear all; this one still lives on at a hang-up.
for ignored, heard in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGTERM, signal.SIG_DFL),
    (signal.SIGHUP, lambda number, frame: None),
):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, heard)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the tests that draw graphs draw any number of them."""
    told = "random graphs for tests/test_public_doors.py (default: 200, and with -m slow 1,800 others)"
    parser.addoption("--graphs", type=int, help=told)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow where a parameter has a value that `slow_on` names."""
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        values = [value for value in parameters.values() if isinstance(value, (str, int))]
        if any(value in marker.args for marker in item.iter_markers("slow_on") for value in values):
            item.add_marker("slow")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Run the tests marked `owner`, which launch kernels themselves, where the library launches them."""
    if pyfuncitem.get_closest_marker("owner"):
        pyfuncitem.obj = partial(owner.call, pyfuncitem.obj)


@pytest.fixture(autouse=True)
def _no_progress_of_its_own_accord(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no line of progress come between what is expected where a test takes longer than ten seconds."""
    monkeypatch.setattr("chordless.commands.terminal._UNATTENDED_SECONDS", math.inf)


@pytest.fixture(autouse=True)
def _no_orders_of_earlier_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test seek its own orders of vertices."""
    monkeypatch.setattr(order, "_known", order.KnownOrders())


@pytest.fixture(
    scope="session",
    params=["cpu", pytest.param("vulkan", marks=pytest.mark.vulkan), pytest.param("cuda", marks=pytest.mark.cuda)],
)
def arch(request: pytest.FixtureRequest) -> str:
    """Each arch in turn; skipped, by name, where there is no such device."""
    try:
        open_device(request.param)
    except DeviceError as error:
        pytest.skip(f"needs a {request.param} device: {error}")
    return request.param


@pytest.fixture
def device(arch: str) -> Device:
    """The device of the arch, started."""
    return open_device(arch)
