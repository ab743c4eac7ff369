"""Each JSON output has the keys and types that its schema in `assets/schemas` promises, no more and no fewer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from json_schemas import NAMES, exit_codes, faults, outputs, schema_of
from program import chordless

from kernels_ti import __version__

if not NAMES:
    pytest.skip("the checkout with its assets is not here", allow_module_level=True)
ROOT = Path(__file__).parent.parent
RELEASED = json.loads((ROOT / "tests" / "data" / "released_outputs.json").read_text())
GONE_SINCE_THE_RELEASE = {("estimate", "$.boundary.rounds"), ("estimate", "$.boundary.devices[].rounds")}
"""Keys that went with a minor version; the changelog names each. Empty when a release is recorded."""


def obeys(name, *arguments, exit_code=0, **more):
    """Run a command; check that each line of its output is as the schema says, and return the lines."""
    done = chordless(*arguments, **more)
    assert done.returncode == exit_code, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines
    assert [fault for line in lines for fault in faults(line, schema_of(name))] == []
    return lines


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--arch", "cpu"),
        ("--per-vertex", "--per-edge"),
        ("--through", "0", "--through-edge", "0-2", "--avoid", "1", "--avoid-edge", "2-3", "--min-length", "4"),
        ("--method", "boundary", "--per-vertex"),
        ("--method", "boundary", "--total-only"),
        ("--part", "1/2", "--arch", "cpu"),
        ("--proof",),
        ("--odd",),
        ("--even",),
    ],
    ids=" ".join,
)
def test_a_count(options):
    obeys("count", "count", "karate", "--json", *options)


@pytest.mark.slow
def test_a_count_up_to_symmetry():
    pytest.importorskip("igraph")
    (found,) = obeys("count", "count", "hypercube:4", "--json", "--symmetry")
    assert {"automorphisms", "orbits_begun"} <= found.keys()
    obeys("orbits", "count", "hypercube:4", "--json", "--up-to-symmetry")


def test_a_line_of_each_orbit(tmp_path):
    pytest.importorskip("igraph")
    path = tmp_path / "orbits.jsonl"
    assert chordless("list", "hypercube:3", "--up-to-symmetry", "-o", path).returncode == 0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(line["orbit"] for line in lines) == [4, 6]
    assert [fault for line in lines for fault in faults(line, schema_of("orbit"))] == []


@pytest.mark.slow
def test_a_count_that_is_stopped():
    (found,) = obeys("count", "count", "grid:8x8", "--json", "--arch", "reference", "--limit", "10", exit_code=4)
    assert not found["complete"]


@pytest.mark.slow
def test_what_is_merged_or_resumed(tmp_path):
    for part in ("1/2", "2/2"):
        (found,) = obeys("count", "count", "karate", "--json", "--part", part, "--arch", "cpu")
        (tmp_path / f"{part[0]}.json").write_text(json.dumps(found))
    merged = chordless("merge", tmp_path / "1.json", tmp_path / "2.json", "--json")
    assert list(faults(json.loads(merged.stdout), schema_of("count"))) == []
    obeys("count", "count", "karate", "--json", "--checkpoint", tmp_path / "run")
    obeys("count", "resume", tmp_path / "run", "--json")
    obeys("longest", "longest", "grid:4x4", "--json", "--checkpoint", tmp_path / "longest")
    obeys("longest", "resume", tmp_path / "longest", "--json")
    obeys("paths", "paths", "grid:4x4", "0,0", "3,3", "--json", "--checkpoint", tmp_path / "paths")
    obeys("paths", "resume", tmp_path / "paths", "--json")


@pytest.mark.slow
def test_a_longest_cycle(tmp_path):
    obeys("longest", "longest", "grid:4x4", "--json")
    obeys("longest", "longest", "cycle:5", "--json", "--shortest")
    (tmp_path / "graph.txt").write_text("a b\nb c\nc d\nd a\n")
    (tmp_path / "weights.txt").write_text("a 0.5\nb 1\nc 2\nd 3\n")
    (found,) = obeys("longest", "longest", tmp_path / "graph.txt", "--weight", tmp_path / "weights.txt", "--json")
    assert found["weight"] == 6.5


def test_a_first_cycle():
    for arguments in (("karate",), ("karate", "--odd"), ("karate", "--max-length", "3", "--min-length", "3")):
        done = chordless("first", *arguments, "--json")
        assert list(faults(json.loads(done.stdout), schema_of("first"))) == []
    done = chordless("first", "complete:4", "--certificate", "--json")
    found = json.loads(done.stdout)
    assert list(faults(found, schema_of("first"))) == []
    assert (found["cycle"], found["chordal"], len(found["elimination_ordering"])) == (None, True, 4)


def test_cycles_that_are_drawn_or_listed(tmp_path):
    assert len(obeys("cycle", "sample", "petersen", "-k", "3", "--json")) == 3
    path = tmp_path / "cycles.jsonl"
    assert chordless("list", "grid:3x3", "-o", path).returncode == 0
    listed = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(listed) == 5
    assert [fault for cycle in listed for fault in faults(cycle, schema_of("cycle"))] == []


@pytest.mark.slow
def test_an_estimate():
    obeys("estimate", "estimate", "karate", "--json", "--seconds", "0.5")
    obeys("estimate", "estimate", "gnp:200,0.3,1", "--json", "--seconds", "0.5")


def test_the_lines_of_a_batch(tmp_path):
    output, bad = tmp_path / "lines.jsonl", tmp_path / "bad.g6"
    bad.write_text("not a graph\n")
    options = ("--arch", "cpu", "-q", "-o", output)
    assert chordless("batch", "karate", "grid:5x5", bad, *options).returncode == 5
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert {line["status"] for line in lines} == {"complete", "error"}
    assert [fault for line in lines for fault in faults(line, schema_of("batch"))] == []


def test_food_webs(tmp_path):
    """A line of niches, a web without one that is chordal, and one with a hole; then all as a table."""
    (tmp_path / "bad.net").write_text("no web\n")
    webs = {"line": "0 1, 1 2", "legs": "0 1, 1 2, 0 3, 3 4, 0 5, 5 6", "ring": "0 1, 1 2, 2 3, 3 0"}
    for name, groups in webs.items():
        lines = [f"prey{i} -> {v}" for i, group in enumerate(groups.split(", ")) for v in group.split()]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    told = ("--types", "none", "--json", "--arch", "reference", "-q")
    found = obeys("overlap", "overlap", *(tmp_path / f"{name}.txt" for name in webs), "--report", *told)
    assert [(each["interval"], each["chordal"]) for each in found] == [(True, True), (False, True), (False, False)]
    rows = obeys("overlap_row", "overlap", tmp_path / "*.txt", tmp_path / "bad.net", *told, exit_code=5)
    assert [row["holes"] for row in rows] == [0, 0, 1, None]


@pytest.mark.slow
def test_what_this_machine_can():
    (found,) = obeys("info", "info", "--json")
    assert {each["arch"] for each in found["arches"]} == {"cpu", "cuda", "vulkan", "reference"}


def test_the_check_finds_what_is_wrong():
    schema = schema_of("count")
    (found,) = obeys("count", "count", "petersen", "--json")
    for wrong in (
        {"total": "22"},
        {"total": True},
        {"total": -1},
        {"by_length": {"5": 1.5}},
        {"method": "luck"},
        {"new": 1},
    ):
        assert len(list(faults({**found, **wrong}, schema))) == 1, wrong
    del found["paths"]
    assert list(faults(found, schema)) == ["$ lacks paths"]


def test_the_types_in_a_schema_are_different():
    """JSON Schema wants that, and other programs refuse a schema in which one comes twice."""
    for name, path in NAMES.items():
        for types in re.findall(r'"type": \[([^\]]*)\]', path.read_text()):
            kinds = re.findall(r'"(\w+)"', types)
            assert len(set(kinds)) == len(kinds), name


def test_the_documentation_names_every_schema():
    page = (ROOT / "assets" / "docs" / "output.md").read_text()
    assert {name for name in NAMES if f"../schemas/{name}.json" not in page} == set()


def changed_since_the_release():
    """Yield the places in outputs whose key went or whose type changed."""
    now = outputs()
    for name, places in RELEASED["outputs"].items():
        for place, types in places.items():
            if now[name].get(place) != types:
                yield name, place


def test_no_key_goes_or_changes_its_type_within_a_minor_version():
    is_same_minor = RELEASED["version"].split(".")[:2] == __version__.split(".")[:2]
    assert set(changed_since_the_release()) == (set() if is_same_minor else GONE_SINCE_THE_RELEASE)
    changelog = (ROOT / "CHANGELOG.md").read_text().split(f"\n## {RELEASED['version']}")[0]
    for name, place in GONE_SINCE_THE_RELEASE:
        assert f"{name} --json`" in changelog
        assert f"`{place.rpartition('.')[2]}`" in changelog


def test_an_error_keeps_its_exit_code():
    assert RELEASED["exit_codes"].items() <= exit_codes().items()


def test_the_documentation_and_the_help_name_the_same_exit_codes():
    page = (ROOT / "assets" / "docs" / "output.md").read_text().partition("## Exit codes\n")[2]
    documented = re.findall(r"^\| (\d[\d, ]*) \|", page, re.MULTILINE)
    helped = re.findall(r"^  (\d[\d, ]*)(?:$|  )", chordless("help", "exit-codes").stdout, re.MULTILINE)
    assert documented == [codes.strip() for codes in helped]
    assert set(map(str, exit_codes().values())) <= set(documented)


def test_a_key_that_goes_is_seen(monkeypatch):
    promised = {"$": "object", "$.total": "integer", "$.luck": "integer"}
    monkeypatch.setitem(RELEASED["outputs"], "count", promised)
    assert ("count", "$.luck") in set(changed_since_the_release())
    assert ("count", "$.total") not in set(changed_since_the_release())
    promised["$.total"] = "string"
    assert ("count", "$.total") in set(changed_since_the_release())
