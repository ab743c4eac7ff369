"""Who may load whom: heavy packages stay out of the processes that do not need them."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

import kernels_ti

ROOT = Path(__file__).parent.parent
HEAVY = ("taichi", "textual", "numpy", "networkx", "scipy", "matplotlib")


def loaded_by(code):
    """Run `code` in a fresh process; return which of the heavy packages it loaded, and what it printed."""
    report = f"import sys; print(*[name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "app"), str(ROOT)])},
    )
    return done.stderr.split(), done.stdout


@pytest.mark.parametrize("argv", [["--help"], ["--version"], []])
def test_light_command_lines_load_nothing_heavy(argv):
    loaded, printed = loaded_by(f"from chordless.cli import main; main({argv!r})")
    assert loaded == []
    assert "chordless" in printed


def test_the_help_imports_only_what_it_shows():
    code = "import sys; from chordless.cli import main; main(['--help']); "
    late = ("dataclasses", "json", "tempfile", "socket", "chordless.protocol.events", "chordless.engine.process")
    _, printed = loaded_by(f"{code}print([name for name in {late} if name in sys.modules])")
    assert printed.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", ["count", "list"])
def test_the_parent_of_an_engine_loads_nothing_heavy(command):
    loaded, printed = loaded_by(
        f"from chordless.cli import main; main([{command!r}, 'cycle:5', '--arch', 'reference'])"
    )
    assert loaded == []
    assert printed


def test_info_leaves_taichi_to_its_children():
    loaded, printed = loaded_by("from chordless.cli import main; main(['info'])")
    assert loaded == []
    assert "reference" in printed


def test_the_library_and_the_readers_load_no_taichi():
    code = (
        "import kernels_ti, kernels_ti.graph, kernels_ti.device.device, kernels_ti.boundary.count, "
        "kernels_ti.many.count, kernels_ti.chordality, chordless.graphs.load, chordless.graphs.graph6, "
        "chordless.graphs.generators, chordless.graphs.overlap"
    )
    loaded, _ = loaded_by(code)
    assert loaded == ["numpy"]


def test_the_dashboard_and_the_batch_leave_taichi_to_their_children():
    code = (
        "import chordless.tui.app, chordless.tui.screens.new, chordless.tui.screens.run, "
        "chordless.tui.screens.cycles, chordless.batch.client"
    )
    loaded, _ = loaded_by(code)
    assert "textual" in loaded
    assert "taichi" not in loaded


def imports_of_the_library(*folders):
    """Yield each name that Python files import from `kernels_ti` or a module of it: file, module, name."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "kernels_ti":
                    yield from ((path.relative_to(ROOT), node.module, each.name) for each in node.names)


def test_public_names_come_from_the_top_of_the_library():
    imports = list(imports_of_the_library("app", "tests", "assets"))
    assert ("kernels_ti", "Graph") in {found[1:] for found in imports}
    assert [found for found in imports if found[1] != "kernels_ti" and found[2] in kernels_ti.__all__] == []


def test_commands_and_screens_take_no_search_from_the_library():
    """The import contract cannot see it: a public name loads its module when it is first used."""
    searches = {"Run", "collect_cycles", "count_cycles", "count_participation", "enumerate_cycles", "open_device"}
    rooms = [f"app/chordless/{room}" for room in ("commands", "tui", "pictures", "runs")]
    imports = list(imports_of_the_library(*rooms))
    assert imports
    assert [found for found in imports if found[2] in searches] == []


def test_import_contracts():
    program = shutil.which("lint-imports", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if program is None or not (ROOT / "pyproject.toml").exists():
        pytest.skip("import-linter or pyproject.toml is not here")
    done = subprocess.run([program], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout
