"""The documentation: public names are explained, examples are true, links lead somewhere, rooms are named."""

from __future__ import annotations

import ast
import builtins
import doctest
import importlib
import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from program import ENVIRONMENT

import kernels_ti

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "assets" / "docs"
REFERENCE = ROOT / "assets" / "reference.py"
if not REFERENCE.exists():
    pytest.skip("the checkout with its assets is not here", allow_module_level=True)
WIDEST_CODE = 103  # characters, in the widest page of the site
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
ARCHITECTURE = (DOCS / "architecture.md").read_text()
FUNCTIONS = [name for name in kernels_ti.__all__ if inspect.isfunction(getattr(kernels_ti, name))]
CLASSES = [name for name in kernels_ti.__all__ if inspect.isclass(getattr(kernels_ti, name))]
WITH_EXAMPLES = {
    ".".join(path.relative_to(base).with_suffix("").parts): text
    for base, package in ((ROOT, "kernels_ti"), (ROOT / "app", "chordless"))
    for path in sorted((base / package).rglob("*.py"))
    if ">>> " in (text := path.read_text())
}


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
    # A function that takes nothing and returns nothing has neither section.
    takes, returns = parameters(function), inspect.signature(function).return_annotation != "None"
    assert {"Raises", "Examples", *(["Parameters"] if takes else [])} <= found.keys()
    assert ("Returns" in found or "Yields" in found) == returns
    assert described(found.get("Parameters", "")) == takes


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


def test_every_example_imports_from_chordless():
    assert {"kernels_ti.api", "kernels_ti.sample", "chordless.graphs.public"} <= WITH_EXAMPLES.keys()
    for module, source in WITH_EXAMPLES.items():
        explained = (each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.ClassDef | ast.FunctionDef))
        for text in filter(None, map(ast.get_docstring, explained)):
            imports = re.search(r"^ *>>> (from chordless[\w.]* import|import chordless)", text, re.MULTILINE)
            assert imports or ">>> " not in text, (module, text)


@pytest.mark.slow
@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_are_true(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0
    assert result.attempted > 0


def test_the_examples_of_the_page_on_python_import_what_they_use():
    examples = "\n".join(re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text(), re.DOTALL))
    nodes = list(ast.walk(ast.parse(examples)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    made = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    made |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    made |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler)}
    imported = [alias for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    made |= {(alias.asname or alias.name).partition(".")[0] for alias in imported}
    used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    assert len(used) > 20
    assert used - made - set(dir(builtins)) == set()


def test_a_line_of_code_fits_into_a_page_of_the_site():
    """A longer one is cut there, and its remark with it."""
    pages = {path.name: path.read_text() for path in DOCS.glob("*.md")}
    page_of_program = runpy.run_path(str(REFERENCE))["page_of_program"]
    pages["tutorial.py"] = page_of_program((DOCS.parent / "tutorial.py").read_text())
    blocks = {
        name: re.findall(r"^ *```\w*\n(.*?)^ *```", page, re.DOTALL | re.MULTILINE) for name, page in pages.items()
    }
    assert sum(map(len, blocks.values())) > 40
    lines = [(name, line) for name, found in blocks.items() for block in found for line in block.splitlines()]
    assert [(name, line) for name, line in lines if len(line) > WIDEST_CODE] == []


def test_code_stays_with_the_punctuation_around_it():
    page = "<p>A (<code>b</code>), <code>c d</code>.</p><pre><span></span><code>e\n</code></pre>"
    kept = runpy.run_path(str(REFERENCE))["on_page_content"](page)
    assert re.findall(r'<span class="whole">(.*?)</span>', kept) == ["(<code>b</code>),", "<code>c d</code>."]
    assert "<code>e\n</code>" in kept


@pytest.mark.slow
def test_the_site_is_made_and_its_links_lead_somewhere(tmp_path):
    """Mkdocs is strict: a page, picture or heading that is linked and not there is an error."""
    pytest.importorskip("mkdocs")
    done = subprocess.run(
        [sys.executable, REFERENCE, tmp_path], capture_output=True, text=True, timeout=PATIENCE, env=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "reference.html").read_text()
    for name in (*FUNCTIONS, *CLASSES):
        assert f'id="kernels_ti.{name}"' in page
    assert "<p>Count the chordless cycles of a graph.</p>" in page
    assert 'id="chordless.networkx_backend"' in page
    assert {path.stem for path in DOCS.glob("*.md")} <= {path.stem for path in tmp_path.glob("*.html")}
    tutorial = (tmp_path / "tutorial.html").read_text()
    assert all(f'id="{heading}"' in tutorial for heading in ("1-count", "4-have-them-in-arrays"))
    assert 'href="tutorial.html"' in (tmp_path / "python.html").read_text()
    loaded = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)', (tmp_path / "index.html").read_text())
    assert loaded == [], "the pages load nothing from other servers"


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])
def test_links_between_files_lead_somewhere(page):
    """Also where the pages are read in the repository, not in the site."""
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


DRAWING = "import rooms; print(rooms.drawing(), end='')"


def rooms():
    """Return every room that the layers of import-linter name, as its path."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    for contract in contracts:
        for layer in contract.get("layers", ()):
            (package,) = contract["containers"]
            folder = Path("app" if package == "chordless" else "", *package.split("."))
            for room in re.split(r" [|:] ", layer):
                yield f"{folder / room}/" if (ROOT / folder / room).is_dir() else f"{folder / room}.py"


def test_each_room_has_its_line_and_its_place_in_the_picture():
    tables = "".join(re.findall(r"^## The rooms of .*?(?=^## )", ARCHITECTURE, re.MULTILINE | re.DOTALL))
    assert sorted(re.findall(r"^\| `([^`]+)` \|", tables, re.MULTILINE)) == sorted(rooms())
    made = subprocess.run(
        [sys.executable, "-c", DRAWING], capture_output=True, text=True, cwd=ROOT / "assets", check=True
    )
    assert (DOCS / "rooms.svg").read_text() == made.stdout, "python assets/rooms.py draws it anew"


def test_what_the_architecture_names_is_there():
    """Paths are those from the top, or from the room that the sentence is about."""
    bases = [ROOT, *(ROOT / base for base in ("app/chordless", "kernels_ti"))]
    named = set(re.findall(r"`([\w./]+(?:/|\.py|\.yml|\.toml))`", ARCHITECTURE))
    assert len(named) > 50
    assert [path for path in named if not any((base / path).exists() for base in bases)] == []
    functions = re.findall(r"`(\w+)` in `([\w/]+\.py)`", ARCHITECTURE)
    tables = re.findall(r"`(\w+)` of `([\w/]+\.py)`", ARCHITECTURE)
    assert len(functions) > 5
    for name, path in functions:
        assert re.search(rf"^def {name}\(", (ROOT / path).read_text(), re.MULTILINE), (name, path)
    for name, path in tables:
        assert re.search(rf"^\s*{name}\b.* = ", (ROOT / path).read_text(), re.MULTILINE), (name, path)
