"""The command ``chordless`` as a process: start it, look at what it wrote."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
from chordless.engine import process
from chordless.protocol.codec import event_from_json
from chordless.protocol.events import Progress, Started
from patience import PATIENCE

ROOT = Path(__file__).parent.parent
LONG = "grid:7x10"
REFERENCE = ("--arch", "reference")
COUNT_KEYS = [
    "graph", "n", "m", "max_degree", "min_length", "max_length", "part", "triangles", "chordless_cycles", "total",
    "by_length", "frontier", "paths", "method", "boundary", "complete", "share", "arch", "device", "seconds",
    "peak_memory_bytes", "checkpoint", "expansion", "graph_hash", "program",
]  # fmt: skip
_PROGRESS = re.compile(r"^(stopping .*  )?(\d[\d.]* (ms|s|min|h)( \d\d (s|min))?  .*|reading the graphs, .*)\n", re.M)
SOURCE_PATH = os.pathsep.join([str(ROOT / "app"), str(ROOT)])
_PATHS = os.pathsep.join(filter(None, [SOURCE_PATH, os.environ.get("PYTHONPATH")]))
ENVIRONMENT = {**os.environ, "PYTHONPATH": _PATHS, "PYTHONIOENCODING": "utf-8"}


def refused(path, *_, **__):
    """Stand in for ``open`` and the like of a user who has no right to the file."""
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def command(*arguments):
    return [sys.executable, "-m", "chordless", *map(str, arguments)]


# The engine of a run in slow motion: slices of a fifth of a millisecond, the first of few steps, and rests between.
SLOW_BOOT = (
    "import time, kernels_ti.run as run; run.SLICE_SECONDS = 0.0002; advance = run.Run.advance; "
    "import kernels_ti.sweep.search as sweep; sweep.FIRST_BUDGET = 100_000; "
    "run.Run.advance = lambda self: (time.sleep(0.02), advance(self))[1]; "
)
# A GPU is done with a small graph before it looks up.
ONE_LEVEL = "import kernels_ti.wave.search as wave; wave.FIRST_QUEUE = dict.fromkeys(wave.FIRST_QUEUE, 1); "


def slow_boot():
    """Return what makes an engine start in slow motion, in place of `chordless.engine.process._BOOT`."""
    return process._BOOT.replace("from chordless.worker", SLOW_BOOT + "from chordless.worker")


def slow_command(*arguments):
    """Return the command line of a run in slow motion, so that it can be stopped in the middle."""
    boot = (ONE_LEVEL if {"cuda", "vulkan"} & set(map(str, arguments)) else "") + slow_boot()
    code = (
        "import sys; from chordless.engine import process; from chordless.cli import main; "
        f"process._BOOT = {boot!r}; sys.exit(main())"
    )
    return [sys.executable, "-c", code, *map(str, arguments)]


def without_progress(said):
    """Take away the lines of progress, which no run writes that is over in ten seconds."""
    return _PROGRESS.sub("", said)


def _run(line, arguments, more):
    done = subprocess.run(
        line, **{"capture_output": True, "text": True, "timeout": PATIENCE, "env": ENVIRONMENT, **more}
    )
    if isinstance(done.stderr, str) and "--progress" not in arguments:
        done.stderr = without_progress(done.stderr)
    return done


def slowly(*arguments, **more):
    """Run `chordless` in slow motion."""
    return _run(slow_command(*arguments), arguments, more)


def chordless(*arguments, **more):
    return _run(command(*arguments), arguments, more)


def on_full_disk(*arguments, **more):
    """Run `chordless` with a standard output that takes nothing."""
    with open("/dev/full", "w") as full:
        return chordless(*arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE, **more)


def count(*arguments, **more):
    done = chordless("count", *arguments, "--json", **more)
    return json.loads(done.stdout), done.returncode


def whole_run(graph, folder):
    """Return what a run that nobody interrupts finds: counts by length, and the sorted lines."""
    path = folder / "cycles.txt"
    assert chordless("list", graph, "--arch", "cpu", "-o", path).returncode == 0
    return count(graph, "--arch", "cpu")[0]["by_length"], lines_of(path)


def lines_of(path):
    """Return the cycles of a listing, a file or a run directory, as sorted lines of text."""
    if path.is_dir():
        exported = path.with_suffix(".txt")
        done = chordless("export", path, "--format", "txt", "-o", exported)
        assert done.returncode == 0, done.stderr
        path = exported
    return sorted(path.read_text().splitlines())


def events_in(directory):
    """Return what a run directory has recorded."""
    return [event_from_json(line) for line in (directory / "events.jsonl").read_text().splitlines()]


def fails(done, exit_code, *words):
    """Check that a run said in one line what was wrong."""
    assert done.returncode == exit_code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("chordless")
    assert done.stderr.count("\n") == 1, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
    return True


def wait_for_end(processes):
    """Check that processes end whose parent has ended; kill those that do not.

    A process that has ended may be a zombie for seconds, until the first process of the system asks for its exit code.
    """
    alive, deadline = list(processes), time.monotonic() + PATIENCE
    while (alive := [one for one in alive if not _has_ended(one)]) and time.monotonic() < deadline:
        time.sleep(0.01)
    for one in alive:
        one.kill()
    assert not alive


def _has_ended(process):
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextlib.contextmanager
def running(*arguments, tmp_path, until=Progress):
    """Start a long run in a process group of its own, wait for an event; yield it and its engine's pid."""
    events = tmp_path / "events.jsonl"
    process = subprocess.Popen(
        command(*arguments, *REFERENCE, "--events", events),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    try:
        pid = None
        deadline = time.monotonic() + PATIENCE
        while pid is None and time.monotonic() < deadline:
            time.sleep(0.05)
            lines = events.read_text().split("\n")[:-1] if events.exists() else []
            read = [event_from_json(line) for line in lines]
            if any(isinstance(event, until) for event in read):
                pid = next(event.pid for event in read if isinstance(event, Started))
        assert pid is not None, "the search did not begin"
        yield process, pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
