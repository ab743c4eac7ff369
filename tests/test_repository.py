"""The files with which strangers begin: workflows and forms are well made, and agree with the package."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from patience import PATIENCE
from program import ENVIRONMENT
from test_browser import BROWSERS

from kernels_ti import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
if not GITHUB.exists():
    pytest.skip("the checkout with its .github is not here", allow_module_level=True)
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml"))
PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]


def read(path):
    return yaml.safe_load(path.read_text())


def jobs_of(path):
    return read(path)["jobs"]


def commands_of(path):
    """Return all that the steps of a workflow run in a shell."""
    return "\n".join(step.get("run", "") for job in jobs_of(path).values() for step in job.get("steps", ()))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_well_made(path):
    workflow = read(path)
    # YAML 1.1 reads the key `on` as true.
    assert {"name", True, "permissions", "jobs"} <= workflow.keys()
    assert workflow["permissions"] == {"contents": "read"}, "a job that needs more asks for it itself"
    for name, job in workflow["jobs"].items():
        if "uses" in job:
            assert (ROOT / job["uses"]).exists()
            continue
        assert "runs-on" in job, name
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), (name, step)
            assert "uses" not in step or re.fullmatch(r"[\w/-]+@[\w./-]+", step["uses"])
            # Nothing that a job runs needs the token with which the checkout was made.
            assert "checkout" not in step.get("uses", "") or step["with"] == {"persist-credentials": False}
        assert {job["needs"]} <= workflow["jobs"].keys() if isinstance(job.get("needs"), str) else True
    checked = subprocess.run(["bash", "-n"], input=commands_of(path), text=True, capture_output=True, timeout=PATIENCE)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_runs_on_the_node_that_runners_have(path):
    """Runners have lost Node 20; each version here is an action's first on Node 24."""
    first = {"checkout": 5, "setup-python": 6, "upload-artifact": 6, "download-artifact": 7}
    first["attest-build-provenance"] = 3
    for job in jobs_of(path).values():
        for step in job.get("steps", ()):
            owner, _, action = step.get("uses", "").partition("/")
            if owner == "actions":
                name, _, version = action.partition("@v")
                assert int(version) >= first[name], step["uses"]


def test_ci_takes_each_browser_that_the_tests_take():
    assert f"command -v {' '.join(BROWSERS)} >" in (ROOT / ".ci" / "run").read_text()


def test_the_files_that_workflows_run_are_there():
    said = "".join(map(commands_of, WORKFLOWS))
    named = {path for path in re.findall(r"(?<![\w/.])(?:tests|assets|\.ci)/[\w./{},]+", said) if "{" not in path}
    named |= {
        f"tests/test_{name}.py"
        for group in re.findall(r"tests/test_\{([\w,]+)\}\.py", said)
        for name in group.split(",")
    }
    assert {".ci/run", "tests/smoke.py", "assets/reference.py", "tests/test_step.py"} <= named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_each_python_is_tried_on_each_system():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert all(version in SpecifierSet(project["requires-python"]) for version in PYTHONS)
    assert "3.9" not in SpecifierSet(project["requires-python"])
    jobs = jobs_of(GITHUB / "workflows" / "tests.yml")
    for system in ("linux", "macos", "windows"):
        assert jobs[system]["strategy"]["matrix"]["python"] == PYTHONS
    classified = [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert classified == PYTHONS


def test_a_release_tells_one_version():
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == __version__
    steps = commands_of(GITHUB / "workflows" / "release.yml")
    for path in ("kernels_ti/__init__.py", "CHANGELOG.md", "CITATION.cff", "tests/data/released_outputs.json"):
        assert path in steps
    assert re.search(
        rf'^__version__ = "{re.escape(__version__)}"$', (ROOT / "kernels_ti/__init__.py").read_text(), re.M
    )
    assert re.search(rf"^version: {re.escape(__version__)}$", (ROOT / "CITATION.cff").read_text(), re.M)


def test_the_changelog_begins_with_this_version_and_dates_the_earlier_ones():
    top, *earlier = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert re.fullmatch(rf"{re.escape(__version__)} - (unreleased|\d{{4}}-\d\d-\d\d)", top)
    assert earlier
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", line) for line in earlier)
    wanted = re.search(r'grep -Ex "(## .*)" CHANGELOG', commands_of(GITHUB / "workflows" / "release.yml"))[1]
    # A version that has no date is not released.
    assert re.fullmatch(wanted.replace("$version", __version__), f"## {__version__} - 2026-01-31")
    assert not re.fullmatch(wanted.replace("$version", __version__), f"## {__version__} - unreleased")


def test_the_citation_has_the_fields_of_the_citation_file_format():
    """What version 1.2.0 of the format requires, and nothing that it does not know."""
    citation = read(ROOT / "CITATION.cff")
    known = {"cff-version", "message", "type", "title", "abstract", "authors", "license", "version", "keywords"}
    assert known | {"preferred-citation", "references"} == citation.keys()
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] in ("software", "dataset")
    assert all(isinstance(citation[name], str) for name in ("message", "title", "abstract", "license", "version"))
    for work in (citation, citation["preferred-citation"], *citation["references"]):
        assert {"type", "title", "authors"} <= work.keys()
        for author in work["authors"]:
            assert author.keys() in ({"name"}, {"family-names"}, {"family-names", "given-names"})
    papers = (citation["preferred-citation"], *citation["references"])
    assert all(paper["title"] in " ".join((ROOT / "README.md").read_text().split()) for paper in papers)


@pytest.mark.parametrize("path", [each for each in FORMS if each.name != "config.yml"], ids=lambda path: path.name)
def test_a_form_asks_for_what_it_needs(path):
    form = read(path)
    assert {"name", "description", "body"} <= form.keys()
    asked = [field["id"] for field in form["body"]]
    assert len(set(asked)) == len(asked)
    assert all(
        field["type"] in ("textarea", "input", "dropdown") and field["attributes"]["label"] for field in form["body"]
    )
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().split()) <= 900


def test_dependabot_watches_packages_and_workflows():
    updates = read(GITHUB / "dependabot.yml")["updates"]
    assert {each["package-ecosystem"] for each in updates} == {"pip", "github-actions"}


def test_what_contributors_read_names_what_is_there():
    for page in ("CONTRIBUTING.md", "SECURITY.md"):
        text = (ROOT / page).read_text()
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            assert (ROOT / target).exists(), (page, target)
        for path in re.findall(r"`((?:tests|assets|kernels_ti|app|\.ci)/[\w./]*)`", text):
            assert (ROOT / path).exists(), (page, path)


def test_the_events_of_a_run_become_metrics():
    if shutil.which("jq") is None:
        pytest.skip("needs jq")
    script = ROOT / "assets" / "deploy" / "metrics.jq"
    recorded = ROOT / "tests" / "tui" / "recorded" / "grid-7x10.jsonl"
    done = subprocess.run(["jq", "-rsf", script, recorded], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    values = dict(line.split() for line in lines if not line.startswith("#"))
    assert values["chordless_cycles"] == "8136453"
    assert values["chordless_finished"] == "1"
    assert all(re.fullmatch(r"[0-9.e+-]+", value) for value in values.values())
    assert [line.split()[2] for line in lines if line.startswith("# TYPE")] == list(values)


def test_the_image_is_built_from_what_the_wheel_needs():
    """What `.dockerignore` lets through is there, and holds every folder and file that pyproject.toml names."""
    ignored = (ROOT / ".dockerignore").read_text().split()
    let_through = {line[1:] for line in ignored if line.startswith("!")}
    assert all((ROOT / path).exists() for path in let_through)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = {"app", "kernels_ti"}
    assert (
        packages | {project["project"]["readme"], *project["project"]["license-files"], "pyproject.toml"} == let_through
    )
    script = (ROOT / "assets" / "deploy" / "Dockerfile").read_text()
    assert re.findall(r"^(FROM|ENTRYPOINT|USER)", script, re.MULTILINE) == ["FROM", "FROM", "USER", "ENTRYPOINT"]


def test_the_conda_recipe_says_what_pyproject_says():
    recipe = read(ROOT / "assets" / "deploy" / "recipe.yaml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert recipe["context"]["version"] == __version__
    assert (recipe["about"]["summary"], recipe["about"]["license"]) == (project["description"], project["license"])
    entries = [f"{name} = {target}" for name, target in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == entries
    python, *others = recipe["requirements"]["run"]
    # There is no wheel of Taichi for newer ones, and Quadrants is on PyPI alone.
    assert python == f"python {project['requires-python']},<3.14"
    required = {Requirement(line).name: Requirement(line).specifier for line in project["dependencies"]}
    del required["quadrants"]
    assert {line.split()[0]: SpecifierSet(line.split()[1]) for line in others} == required


@pytest.mark.slow
def test_the_smoke_test_passes():
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "smoke.py"], capture_output=True, text=True, timeout=PATIENCE, env=ENVIRONMENT
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.startswith("22 chordless cycles")


def test_the_paper_is_whole_and_says_what_the_documentation_says():
    """Every reference and picture is there; every long number is in the documentation, with its command."""
    folder = ROOT / "assets" / "paper"
    _, head, text = (folder / "paper.md").read_text().split("---\n", 2)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= yaml.safe_load(head).keys()
    assert 250 <= len(text.split()) <= 900
    headings = re.findall(r"^# (.+)$", text, re.MULTILINE)
    assert {"Summary", "Statement of need", "State of the field", "References"} <= set(headings)
    entries = re.findall(r"^@\w+\{(\w+),", (folder / "paper.bib").read_text(), re.MULTILINE)
    assert sorted(set(re.findall(r"(?<!\w)@(\w+)", text))) == sorted(entries)
    assert all((folder / picture).exists() for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text))
    documented = "".join(page.read_text() for page in (ROOT / "assets" / "docs").glob("*.md"))
    numbers = re.findall(r"\d+(?:,\d{3})+|\d+\.\d+", text)
    assert len(numbers) > 5
    assert [number for number in numbers if number not in documented] == []
