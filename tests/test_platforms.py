"""Systems without POSIX: the library imports and counts, the command line says at once why it does not work there.

Windows is not here; a child process does without the modules and functions that it lacks.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from chordless import cli
from patience import PATIENCE
from program import ENVIRONMENT

# The library below and psutil are loaded first: they are made for the system that is really below.
WITHOUT_POSIX = """
import os, select, signal, subprocess, sys, asyncio, multiprocessing, socket, tempfile, ctypes
import networkx, numpy, psutil
from kernels_ti.taichi_door.libraries import library
library()
try:
    import taichi
except ModuleNotFoundError:
    import quadrants
for name in [each for each in sys.modules if each.split(".")[0] in ("kernels_ti", "chordless")]:
    del sys.modules[name]
MODULES = ("fcntl", "termios", "resource", "pwd", "grp", "tty", "pty")

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in MODULES:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Lacking())
for module, names in (
    (os, "register_at_fork fork getuid geteuid sysconf sched_getaffinity sched_setaffinity killpg O_NOFOLLOW O_CLOEXEC"
         " O_NONBLOCK O_NOCTTY O_DIRECTORY statvfs mkfifo"),
    (signal, "SIGHUP SIGKILL SIGSTOP SIGCONT pthread_sigmask setitimer ITIMER_REAL"),
    (select, "poll"),
):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
"""
COUNTS = """
from chordless import collect_cycles, count_cycles, enumerate_cycles, generate, load_graph
graph = networkx.petersen_graph()
assert dict(count_cycles(graph, arch="reference").by_length) == {5: 12, 6: 10}
assert dict(count_cycles(graph, method="boundary").by_length) == {5: 12, 6: 10}
assert len(list(enumerate_cycles(graph, arch="reference"))) == 22
assert generate("grid:3x3").n == 9
assert load_graph(sys.argv[1]).n == 3
"""
SAYS = """
os.name = "another"  # not "nt": pathlib would take paths of Windows, which the system below does not have
from chordless.cli import _GROUPS, main
for arguments in (["count", "petersen"], [], ["tui"], ["info", "--json"]):
    assert main(arguments) == 2
assert main(["--version"]) == 0
for command in [name for group in _GROUPS.values() for name in group]:
    assert main([command, "--help"]) == 0, command
"""


def without_posix(program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX + program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=ENVIRONMENT,
    )


def test_the_library_counts_without_posix(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("a b\nb c\nc a\n")
    done = without_posix(COUNTS, path)
    assert done.returncode == 0, done.stderr


def test_the_program_says_what_it_needs():
    done = without_posix(SAYS)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("chordless: error: the command line needs Linux, macOS or ") for line in lines)
    assert "import chordless" in lines[0]


@pytest.mark.skipif(os.name != "posix", reason="this is no POSIX system")
def test_posix_systems_are_not_refused(capsys):
    assert cli.main(["completion", "bash"]) == 0
    assert "needs Linux" not in capsys.readouterr().err
