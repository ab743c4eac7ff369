"""Child processes that end when their parent is killed, whatever they are doing."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from patience import PATIENCE
from program import ENVIRONMENT, ROOT, command, wait_for_end

BUSY = "print('busy', flush=True); sum(range(10**12))"
"""One call that never gives Python's lock away, as Taichi does while it compiles and launches."""

PARENT = """
import subprocess, sys, threading, time
from kernels_ti import child

def start():
    global process
    process = child.start({code!r}, stdout=subprocess.PIPE)

starter = threading.Thread(target=start)
starter.start()
starter.join()  # the child must not end with the thread that started it
process.stdout.readline()
print(process.pid, flush=True)
time.sleep({patience})
"""

WITHOUT_SIGNALS = "import fcntl; del fcntl.F_SETSIG; "


@contextlib.contextmanager
def parent_of(code):
    """Start a process that starts a child in a thread; yield both."""
    line = [sys.executable, "-c", PARENT.format(code=code, patience=PATIENCE)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as parent:
        try:
            yield parent, psutil.Process(int(parent.stdout.readline()))
        finally:
            parent.kill()


def test_a_child_that_holds_pythons_lock_ends_with_its_parent_not_with_a_thread():
    with parent_of(BUSY) as (parent, child):
        time.sleep(0.5)
        assert child.is_running()
        parent.kill()
        wait_for_end([child])


def test_a_system_that_cannot_choose_the_signal_has_a_thread_wait():
    boot = "from kernels_ti import child; child._BOOT = child._BOOT.replace('from kernels', {!r} + 'from kernels', 1); "
    code = PARENT.replace("\ndef start", "\n" + boot.format(WITHOUT_SIGNALS) + "\ndef start")
    idle = f"print('idle', flush=True); import time; time.sleep({PATIENCE})"
    line = [sys.executable, "-c", code.format(code=idle, patience=PATIENCE)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as parent:
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        wait_for_end([child])


def test_a_child_whose_parent_ended_before_it_looked_ends():
    code = (
        "import os, subprocess\nfrom kernels_ti import child\nlifeline = child.Lifeline()\n"
        f"line = child.command({BUSY!r}, lifeline=lifeline)\n"
        "null = subprocess.DEVNULL\n"
        "process = subprocess.Popen(line, pass_fds=(lifeline.below,), stdout=null, stderr=null)\n"
        "os.kill(process.pid, 19)\nprint(process.pid, flush=True)\nos._exit(0)"
    )
    started = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT, check=True)
    child = psutil.Process(int(started.stdout.splitlines()[0]))
    child.send_signal(signal.SIGCONT)
    wait_for_end([child])


def test_a_child_that_tidies_when_its_parent_is_killed_does_so_though_it_is_stopped_and_only_then():
    code = (
        "import os, time; from kernels_ti.child import when_orphaned; when_orphaned(lambda: os._exit(1)); "
        f"print('ready', flush=True); time.sleep({PATIENCE})"
    )
    with parent_of(code) as (parent, child):
        child.send_signal(signal.SIGCONT)
        time.sleep(0.5)
        assert child.is_running()
        child.send_signal(signal.SIGSTOP)
        parent.kill()
        wait_for_end([child])


def test_a_handle_that_is_forgotten_ends_the_child_and_keeps_no_descriptor():
    before = len(os.listdir("/proc/self/fd"))
    from kernels_ti import child

    process = child.start("import time; time.sleep(1000)")
    seen = psutil.Process(process.pid)
    process.kill()
    process.wait()
    del process
    assert not seen.is_running()
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.slow
def test_a_search_apart_from_a_program_that_is_killed_ends():
    """It holds Python's lock, so it cannot see that nobody will send another call."""
    code = (
        "import pickle, time\nfrom kernels_ti.device.own_process import _Child\nchild = _Child()\n"
        "child.begin(pickle.dumps(('re', 'match', {'pattern': '(a+)+b', 'string': 'a' * 50})), ())\n"
        f"print(child._process.pid, flush=True)\ntime.sleep({PATIENCE})"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as parent:
        child = psutil.Process(int(parent.stdout.readline()))
        try:
            deadline = time.monotonic() + PATIENCE
            while child.cpu_times().user < 2.0 and time.monotonic() < deadline:  # its start takes less than a second
                time.sleep(0.1)
        finally:
            parent.kill()
        wait_for_end([child])


@pytest.fixture
def pipe(tmp_path):
    """A graph that never comes: whoever reads it waits."""
    path = tmp_path / "graph.txt"
    os.mkfifo(path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("count", "{graph}"),
        ("list", "{graph}", "-o", "{folder}/cycles.txt"),
        ("batch", "gnp:130,0.15,1", "-o", "{folder}/counts.jsonl"),
        ("count", "{graph}", "--cluster", "local:2"),
        ("count", "grid:11x12", "--method", "search", "--checkpoint", "{folder}/run"),
        ("estimate", "grid:40x41"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_front_end_that_is_killed_leaves_no_process(arguments, pipe, tmp_path):
    """Its engine waits for a graph, loads Taichi, compiles or counts when the front end is killed."""
    (tmp_path / "temporary").mkdir()
    environment = {**ENVIRONMENT, "TMPDIR": str(tmp_path / "temporary")}
    line = command(*(argument.format(graph=pipe, folder=tmp_path) for argument in arguments))
    with subprocess.Popen(
        line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
    ) as client:
        try:
            process, deadline = psutil.Process(client.pid), time.monotonic() + PATIENCE
            while not process.children():
                assert client.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.01)
            time.sleep(1.0)
            family = process.children(recursive=True)
            assert family
        finally:
            client.kill()
        client.wait()
    wait_for_end(family)
