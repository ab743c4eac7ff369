"""The API reference: every public name is explained, every example is true, and the pages are made."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from program import ENVIRONMENT

import kernels_ti

REFERENCE = Path(__file__).parent.parent / "assets" / "reference.py"
FUNCTIONS = [name for name in kernels_ti.__all__ if inspect.isfunction(getattr(kernels_ti, name))]
CLASSES = [name for name in kernels_ti.__all__ if inspect.isclass(getattr(kernels_ti, name))]
WITH_EXAMPLES = ("api", "chordality", "conversion", "cycles", "graph")


def sections(text):
    """Return the numpydoc sections of a docstring: its title for each body."""
    parts = re.split(r"^([A-Z]\w+)\n-+\n", inspect.cleandoc(text), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(body):
    """Return the names that a section describes."""
    return {name.strip() for line in re.findall(r"^(\w[^:\n]*)", body, re.MULTILINE) for name in line.split(",")}


def parameters(function):
    return {name for name in inspect.signature(function).parameters if name not in ("self", "cls")}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_explained_with_an_example(name):
    function = getattr(kernels_ti, name)
    found = sections(function.__doc__)
    assert {"Parameters", "Raises", "Examples"} <= found.keys()
    assert "Returns" in found or "Yields" in found
    assert described(found["Parameters"]) == parameters(function)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_and_its_public_methods_are_explained(name):
    kind = getattr(kernels_ti, name)
    assert kind.__doc__
    assert not kind.__doc__.startswith(f"{name}("), "that is what dataclass writes where nothing is said"
    if not issubclass(kind, Exception) or "__init__" in vars(kind):
        fields = set(inspect.signature(kind).parameters)
        said = sections(kind.__doc__)
        assert fields <= described(said.get("Parameters", "") + "\n" + said.get("Attributes", ""))
    for method_name, method in vars(kind).items():
        method = getattr(method, "__func__", method)
        if method_name.startswith("_") or not inspect.isfunction(method):
            continue
        assert method.__doc__, f"{name}.{method_name}"
        found = sections(method.__doc__)
        # A line may do for a method that takes nothing new; one that describes its parameters describes all.
        if "Parameters" in found:
            assert described(found["Parameters"]) == parameters(method), f"{name}.{method_name}"


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_are_true(module):
    result = doctest.testmod(importlib.import_module(f"kernels_ti.{module}"))
    assert result.failed == 0
    assert result.attempted > 0


def test_the_pages_are_made(tmp_path):
    pytest.importorskip("pdoc")
    if not REFERENCE.exists():
        pytest.skip("the checkout with its assets is not here")
    done = subprocess.run(
        [sys.executable, REFERENCE, tmp_path], capture_output=True, text=True, timeout=PATIENCE, env=ENVIRONMENT
    )
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "kernels_ti.html").read_text()
    for name in kernels_ti.__all__:
        assert f'id="{name}"' in page
    assert '<div class="docstring"><p>Count the chordless cycles of a graph.</p>' in page
    assert (tmp_path / "chordless" / "networkx_backend.html").exists()
