"""What users import and install: `import chordless`, the wheel, and its place beside packages of their own."""

import doctest
import inspect
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import chordless
import pytest
from patience import PATIENCE

import kernels_ti
from kernels_ti.errors import in_words_of_command_line

ROOT = Path(__file__).parent.parent
USERS_OWN = ("app", "tests", "assets", "commands")
USE = """
import warnings
warnings.simplefilter("error")
import networkx as nx
import app, tests, assets, commands
import chordless
assert app.MINE and tests.MINE and assets.MINE and commands.MINE
print(chordless.__version__, chordless.count_cycles(chordless.load_graph("petersen"), arch="reference").total)
print(sum(1 for _ in nx.chordless_cycles(nx.petersen_graph(), backend="chordless", arch="reference")))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder in which a user has packages that are called like folders of this project."""
    for name in USERS_OWN:
        (tmp_path / "project" / name).mkdir(parents=True)
        (tmp_path / "project" / name / "__init__.py").write_text("MINE = True\n")
    return tmp_path / "project"


def use(python: Path | str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, "-c", USE], cwd=folder, capture_output=True, text=True, timeout=PATIENCE)


def test_the_package_offers_the_library_and_loading() -> None:
    assert set(chordless.__all__) == {*kernels_ti.__all__, "generate", "interval_order", "load_graph", "overlap_graph"}
    for name in kernels_ti.__all__:
        assert getattr(chordless, name) is getattr(kernels_ti, name)
    assert set(chordless.__all__) == set(dir(chordless))
    with pytest.raises(AttributeError, match="module 'chordless' has no attribute 'nothing'"):
        chordless.nothing  # noqa: B018
    assert chordless.load_graph("grid:2x3").n == chordless.generate("grid:2x3").n == 6


def test_the_hints_of_each_function_are_known_when_a_program_asks_for_them() -> None:
    for name in chordless.__all__:
        offered = getattr(chordless, name)
        if inspect.isfunction(offered):
            inspect.signature(offered, eval_str=True)


def test_loading_names_the_parameter_of_python(tmp_path: Path) -> None:
    (tmp_path / "loop.txt").write_text("1 2\n2 2\n")
    with pytest.raises(chordless.GraphError, match=r"loop.txt:2: .* simplify=True drops them"):
        chordless.load_graph(str(tmp_path / "loop.txt"))
    assert chordless.load_graph(str(tmp_path / "loop.txt"), simplify=True).m == 1


def test_a_graph_is_loaded_from_a_path_in_an_encoding(tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    path.write_bytes("Ål Bø\n".encode("latin-1"))
    with pytest.raises(chordless.GraphError, match=r'such as encoding="latin-1"$') as refused:
        chordless.load_graph(path)
    with in_words_of_command_line():
        assert str(refused.value).endswith("such as --encoding latin-1")
    assert chordless.load_graph(path, encoding="latin-1").names == ("Ål", "Bø")


@pytest.mark.parametrize(
    ("text", "python", "command_line"),
    [
        ("*Vertices 9999999\n", "(memory sets another limit)", "(--memory sets another limit)"),
        ("CCO ethanol\nCC ethane\n", 'file_format="smiles" or file_f', "--format smiles or --format edgelist"),
        ("1 1\n", "simplify=True drops them", "--simplify drops them"),
    ],
)
def test_hints_name_parameters_in_python_and_options_in_the_shell(
    tmp_path: Path, text: str, python: str, command_line: str
) -> None:
    path = tmp_path / "graph"
    path.write_text(text)
    with pytest.raises(chordless.GraphError) as refused:
        chordless.load_graph(path, memory=1)
    assert python in str(refused.value)
    with in_words_of_command_line():
        assert command_line in str(refused.value)


def test_importing_it_loads_nothing_but_itself() -> None:
    code = "import sys, chordless; print([name for name in sys.modules if name.startswith(('chordless.', 'kernels'))])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_it_works_beside_packages_of_the_user(project: Path) -> None:
    done = use(sys.executable, project)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{kernels_ti.__version__} 22\n22\n", "")


def test_only_two_packages_are_installed() -> None:
    from setuptools import find_packages

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("the checkout with its pyproject.toml is not here")
    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]
    names = {name for where in found["where"] for name in find_packages(str(ROOT / where), include=found["include"])}
    assert {name.partition(".")[0] for name in names} == {"chordless", "kernels_ti"}


@pytest.mark.slow
def test_the_wheel_is_installed_beside_packages_of_the_user(project: Path, tmp_path: Path) -> None:
    """A wheel in a folder of its own stands for a fresh environment; what it depends on is taken from this one."""
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("the checkout with its pyproject.toml is not here")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    source = tmp_path / "source"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(source)], check=True, timeout=PATIENCE)
    built = subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path / "wheels"), str(source)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "wheels").iterdir()
    folder = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    tops = {path.name for path in folder.iterdir()}
    assert tops == {"chordless", "kernels_ti", f"chordless-{kernels_ti.__version__}.dist-info"}
    code = f"import sys; sys.path.insert(1, {str(folder)!r})\n{USE}\nprint(chordless.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(folder / "chordless" / "__init__.py")


def documented() -> Iterator[tuple[str, str]]:
    """Yield the names of the package and the methods of its classes, with their docstrings."""
    for name in chordless.__all__:
        value = getattr(chordless, name)
        if not callable(value):
            continue
        yield name, inspect.getdoc(value) or ""
        if inspect.isclass(value):
            for method in vars(value):
                if not method.startswith("_"):
                    yield f"{name}.{method}", inspect.getdoc(getattr(value, method)) or ""


EXAMPLES = {name: text for name, text in documented() if ">>>" in text}


def test_each_function_shows_an_example() -> None:
    functions = {name for name in chordless.__all__ if inspect.isfunction(getattr(chordless, name))}
    assert functions <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_imports_what_it_needs_from_this_package(name: str) -> None:
    examples = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, None)
    told: list[str] = []
    results = doctest.DocTestRunner().run(examples, out=told.append)
    assert not results.failed, "".join(told)
    assert "from kernels_ti" not in EXAMPLES[name]
