"""What is declared in pyproject.toml is what the code needs."""

from __future__ import annotations

import ast
import fnmatch
import importlib
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from program import chordless as program

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from kernels_ti.taichi_door.libraries import LIBRARIES

ROOT = Path(__file__).parent.parent
if not (ROOT / "pyproject.toml").exists():
    pytest.skip("the checkout with its pyproject.toml is not here", allow_module_level=True)
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
SHIPPED = [path for folder in ("app", "kernels_ti") for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
SOURCES = [path for path in SHIPPED if path.suffix == ".py"]


def source_root(path):
    """Return the folder that holds the package of a file."""
    return ROOT / "app" if path.is_relative_to(ROOT / "app") else ROOT


def distributions(requirements):
    """Return the names of what is required, as package indexes compare them."""
    return {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in requirements}


def imported(path):
    """Yield the first part of every module that a file imports, and whether loading the file imports it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[0], node in tree.body) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0], node in tree.body
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
            yield from ((name.split(".")[0], False) for name in names)


@pytest.mark.slow
def test_every_import_is_a_dependency_or_an_extra():
    needed = distributions(PROJECT["dependencies"])
    optional = distributions(
        line
        for name in ("scipy", "parquet", "pandas", "plot", "molecules", "web", "cluster", "symmetry", "nvidia")
        for line in EXTRAS[name]
    )
    # The machine of the tests may lack the first; the second comes with `distributed`.
    installed = {"pynvml": ["nvidia-ml-py"], **packages_distributions(), "dask": ["distributed"]}
    own = {*sys.stdlib_module_names, "chordless", "kernels_ti", "tomli"}
    wrong, met = [], set()
    for path in SOURCES:
        whole_file_is_optional = path.parent.name == "web" or path.name == "servers.py"
        for name, at_once in imported(path):
            if name not in own:
                found = {each.lower().replace("_", "-") for each in installed.get(name, [name])}
                met |= found
                if not found & (needed | optional if whole_file_is_optional or not at_once else needed):
                    wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert wrong == []
    assert {"taichi", "numpy", "networkx", "textual", "shtab", "pyarrow"} <= met


def test_every_folder_of_code_is_a_package_that_the_wheel_takes():
    patterns = PYPROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    for path in SOURCES:
        folder = path.parent.relative_to(source_root(path))
        assert (path.parent / "__init__.py").exists(), f"{folder} has no __init__.py: the wheel would leave it out"
        assert any(fnmatch.fnmatch(".".join(folder.parts), pattern) for pattern in patterns)


def test_every_other_file_is_package_data():
    data = PYPROJECT["tool"]["setuptools"]["package-data"]
    for path in SHIPPED:
        package, *parts = path.relative_to(source_root(path)).parts
        if path.suffix in (".py", ".pyc") or "__pycache__" in parts:
            continue
        assert any(fnmatch.fnmatch("/".join(parts), pattern) for pattern in data[package]), f"{path} is not shipped"


@pytest.mark.slow
def test_the_source_distribution_has_the_tests_and_what_they_read(tmp_path):
    """What a packager needs to run the tests, and nothing compiled."""
    source = tmp_path / "source"
    passed = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "build", "dist")
    shutil.copytree(ROOT, source, ignore=passed)
    build = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", build, tmp_path], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.py")}
    wanted |= {"CHANGELOG.md", "assets/schemas/count.json", "assets/tutorial.py", "tests/data/known_counts.json"}
    assert wanted <= found
    assert not [name for name in found if name.endswith(".pyc")]


def test_every_entry_point_leads_somewhere():
    groups = {"console_scripts": PROJECT["scripts"], **PROJECT["entry-points"]}
    assert {"console_scripts", "networkx.backends", "networkx.backend_info"} <= groups.keys()
    for group in groups.values():
        for target in group.values():
            module, _, name = target.partition(":")
            assert getattr(importlib.import_module(module), name) is not None


def test_one_table_has_every_extra():
    table = (ROOT / "assets" / "docs" / "python.md").read_text().partition("## Extras\n")[2]
    assert sorted(re.findall(r"^\| `'\.\[(\w+)\]'` \|", table, re.MULTILINE)) == sorted(EXTRAS)


def test_python_m_chordless_is_the_program():
    done = program("--version")
    assert done.returncode == 0
    assert done.stdout.split()[0] == "chordless"


@pytest.mark.parametrize(
    ("python", "system", "machine", "wanted"),
    [
        ("3.10", "linux", "x86_64", "taichi"),
        ("3.13", "linux", "x86_64", "taichi"),
        ("3.13", "darwin", "arm64", "taichi"),
        ("3.13", "win32", "AMD64", "taichi"),
        ("3.13", "linux", "aarch64", "quadrants"),
        ("3.14", "linux", "x86_64", "quadrants"),
        ("3.14", "darwin", "arm64", "quadrants"),
    ],
)
def test_one_library_compiles_the_kernels_on_each_machine(python, system, machine, wanted):
    """Taichi where it has a wheel, else its fork."""
    here = {"python_version": python, "sys_platform": system, "platform_machine": machine}
    required = [Requirement(line) for line in PROJECT["dependencies"]]
    taken = [each.name for each in required if each.marker is None or each.marker.evaluate(here)]
    assert [name for name in taken if name in ("taichi", "quadrants")] == [wanted]


def test_the_versions_that_are_required_are_those_that_the_program_knows():
    for each in map(Requirement, (*PROJECT["dependencies"], *EXTRAS["quadrants"])):
        for below in LIBRARIES:
            if below.package == each.name:
                known = [f"{begins}3" if begins.endswith(".") else begins for begins in below.versions]
                assert [version for version in (*known, "1.5.0") if version in each.specifier] == known
