"""The one door to Taichi: nobody else knows its private names, and a user's process stays as it was."""

import ast
import json
import os
from importlib.metadata import version
from pathlib import Path

import pytest
from program import ENVIRONMENT, chordless
from python_process import run_python

from kernels_ti import DeviceError, taichi_door
from kernels_ti.taichi_door.libraries import LIBRARIES, library

ROOT = Path(__file__).parent.parent
PACKAGES = {each.package for each in LIBRARIES}
DOOR = Path("kernels_ti/taichi_door")


def imported_names(tree: ast.AST) -> list[str]:
    """Return the full names of all that a file imports, also by a call with a text."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found += [f"{node.module}.{each.name}" for each in node.names]
        elif isinstance(node, ast.Call):
            found += [
                each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
            ]
    return found


def private_names(tree: ast.AST) -> list[str]:
    """Return the private names of the library below that a file asks for through `ti`, such as ``ti._lib``."""
    return [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "ti"
        and (node.attr.startswith("_") or node.attr in ("lang", "init", "reset", "cfg", "set_logging_level"))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["kernels_ti", "app"])
def test_nobody_but_the_door_imports_taichi_or_uses_its_private_names(folder: str) -> None:
    wrong = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        file = path.relative_to(ROOT)
        if DOOR in file.parents:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [name for name in imported_names(tree) if name.partition(".")[0] in PACKAGES]
        wrong += [(str(file), name) for name in names + private_names(tree)]
    assert wrong == []


def test_the_check_of_imports_sees_what_it_looks_for() -> None:
    code = "import taichi.lang\nfrom quadrants.lang import impl\nimport_module('taichi._lib')\nti._lib.core\nti.i32"
    tree = ast.parse(code)
    assert sorted(imported_names(tree)) == ["quadrants.lang.impl", "taichi._lib", "taichi.lang"]
    assert private_names(tree) == ["_lib"]


DESCRIBED = """
import json, os, signal, sys, threading, warnings
import ast, builtins, inspect, linecache, textwrap, traceback, urllib.request, logging, subprocess, types

def of(value, deep=True):
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type) and deep:
        return {name: of(each, False) for name, each in vars(value).items()}
    if isinstance(value, types.FunctionType):
        code = value.__code__
        return f"{code.co_filename}:{code.co_firstlineno} {code.co_name}"
    return f"{type(value).__module__}.{type(value).__qualname__}"

STANDARD = ("ast", "builtins", "inspect", "linecache", "logging", "os", "signal", "subprocess", "sys", "textwrap",
            "threading", "traceback", "urllib.request", "warnings")
modules = {
    name: {key: of(value) for key, value in vars(module).items() if of(value) != "module"}
    for name, module in sorted(sys.modules.items())
    if name in STANDARD or name.partition(".")[0] == PACKAGE
}
signals = [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())]
environment = dict(os.environ)
filters = [str(each) for each in warnings.filters]
print(json.dumps([modules, signals, environment, filters, threading.stack_size()]))
"""

SEARCH = """
import chordless
import kernels_ti
square = kernels_ti.Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
assert kernels_ti.count_cycles(square, arch="cpu").by_length == {4: 1}
assert kernels_ti.longest_cycle(square, arch="cpu").length == 4
"""

OF_A_RUNTIME = {("lang.impl", "_root_fb"), ("lang.misc", "runtime")}
"""Names of the library below that are its runtime's: whoever starts one changes them."""


@pytest.mark.slow
def test_a_search_leaves_the_names_of_taichi_and_python_as_they_were() -> None:
    described = DESCRIBED.replace("PACKAGE", repr(library().package))
    both = []
    for begin in ("", SEARCH):
        done = run_python(f"{begin}\nimport {library().package}\n{described}")
        assert done.returncode == 0, done.stderr
        both.append(json.loads(done.stdout.splitlines()[-1]))
    (before, *others_before), (after, *others_after) = both
    assert others_after == others_before
    changed = [
        (name, key)
        for name, names in before.items()
        for key in names.keys() | after[name].keys()
        if names.get(key) != after[name].get(key)
    ]
    package = library().package
    allowed = {(f"{package}.{module}", key) for module, key in OF_A_RUNTIME}
    assert set(changed) <= allowed
    assert len(before) > 50


@pytest.mark.parametrize("arguments", [("count", "petersen"), ("list", "grid:4x4", "-q"), ("sample", "petersen", "-q")])
def test_the_program_does_not_import_torch(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "torch.py").write_text("raise RuntimeError('torch was imported')\n")
    path = os.pathsep.join([str(tmp_path), ENVIRONMENT["PYTHONPATH"]])
    done = chordless(*arguments, "--arch", "cpu", env=ENVIRONMENT | {"PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    assert "torch" not in done.stderr


def test_nothing_is_printed_into_a_notebook() -> None:
    """There standard output is not that of Python, and Taichi says so for each of its kernels."""
    done = run_python(f"import io, sys\nsys.stdout = shown = io.StringIO()\n{SEARCH}\nassert shown.getvalue() == ''")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ARCH", "DEFAULT_IP", "DEFAULT_FP", "LOG_LEVEL"])
@pytest.mark.slow_on("DEFAULT_IP", "DEFAULT_FP", "LOG_LEVEL")
def test_variables_for_programs_of_the_user_are_not_for_us(name: str) -> None:
    values = {"ARCH": "opengl", "DEFAULT_IP": "64", "DEFAULT_FP": "64", "LOG_LEVEL": "trace"}
    done = run_python(SEARCH, **{library().variable(name): values[name]})
    assert done.returncode == 0, done.stderr
    assert "overridden" not in done.stderr


def test_a_version_whose_private_names_are_unknown_is_refused() -> None:
    with pytest.raises(DeviceError, match=f"this program knows {library().title} .*, but 9.9 is installed"):
        taichi_door._require_known("9.9")


def test_a_library_that_is_not_there_is_named() -> None:
    code = "import kernels_ti.taichi_door as door; door.library()"
    done = run_python(code, CHORDLESS_TAICHI="nothing")
    assert "DeviceError: CHORDLESS_TAICHI is taichi or quadrants, not 'nothing'" in done.stderr
    for packages, wanted in ((("taichi", "quadrants"), "taichi or quadrants"), (("taichi",), "quadrants")):
        code = f"""
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in {packages} else find(name, *rest)
import kernels_ti.taichi_door as door
print(door.library().package)
"""
        done = run_python(code, CHORDLESS_TAICHI="")
        if wanted == "quadrants" and done.returncode == 0:
            assert done.stdout == "quadrants\n"
        else:
            assert "is not installed: install it with pip, or choose the arch reference" in done.stderr


@pytest.mark.slow
def test_a_result_names_the_library_that_searched() -> None:
    done = chordless("count", "grid:4x5", "--arch", "cpu", "--json")
    assert json.loads(done.stdout)["program"] == f"{version('chordless')} ({library().package} {library().version})"
    tiny = chordless("count", "petersen", "--json")
    assert json.loads(tiny.stdout)["program"] == version("chordless")
