"""Each JSON output has the keys and types that its schema in `assets/schemas` promises, no more and no fewer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from program import chordless

SCHEMAS = Path(__file__).parent.parent / "assets" / "schemas"
if not SCHEMAS.exists():
    pytest.skip("the checkout with its assets is not here", allow_module_level=True)
NAMES = {path.stem: path for path in SCHEMAS.glob("*.json")}
_KINDS = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
_KNOWN = {
    "$schema", "title", "description", "type", "properties", "required", "additionalProperties", "items", "minimum",
    "enum",
}  # fmt: skip


def schema_of(name):
    return json.loads(NAMES[name].read_text())


def faults(value, schema, at="$"):
    """Yield where a value is not as a schema says; a key that the schema does not name is a fault, too."""
    assert schema.keys() <= _KNOWN, f"this test does not know all of {sorted(schema)}"
    kinds = schema.get("type", list(_KINDS))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not any(_KINDS[kind](value) for kind in kinds):
        yield f"{at} is {value!r}, not {' or '.join(kinds)}"
    elif value is None:
        return
    elif value not in schema.get("enum", [value]):
        yield f"{at} is {value!r}, not one of {schema['enum']}"
    elif isinstance(value, (int, float)) and value < schema.get("minimum", value):
        yield f"{at} is {value}, less than {schema['minimum']}"
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from faults(item, schema.get("items", {}), f"{at}[{place}]")
    elif isinstance(value, dict):
        named, others = schema.get("properties", {}), schema.get("additionalProperties")
        yield from (f"{at} lacks {key}" for key in schema.get("required", ()) if key not in value)
        for key, item in value.items():
            if key not in named and others is None:
                yield f"{at}.{key} is not in the schema: describe it in assets/schemas"
            yield from faults(item, named.get(key, others or {}), f"{at}.{key}")


def obeys(name, *arguments, exit_code=0, **more):
    """Run a command; check that each line of its output is as the schema says, and return the lines."""
    done = chordless(*arguments, **more)
    assert done.returncode == exit_code, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines
    assert [fault for line in lines for fault in faults(line, schema_of(name))] == []
    return lines


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
    ],
    ids=" ".join,
)
def test_a_count(options):
    obeys("count", "count", "karate", "--json", *options)


def test_a_count_up_to_symmetry():
    pytest.importorskip("igraph")
    (found,) = obeys("count", "count", "hypercube:4", "--json", "--symmetry")
    assert {"automorphisms", "orbits_begun"} <= found.keys()


def test_a_count_that_is_stopped():
    (found,) = obeys("count", "count", "grid:8x8", "--json", "--arch", "reference", "--limit", "10", exit_code=4)
    assert not found["complete"]


def test_merged_and_resumed_counts(tmp_path):
    for part in ("1/2", "2/2"):
        (found,) = obeys("count", "count", "karate", "--json", "--part", part, "--arch", "cpu")
        (tmp_path / f"{part[0]}.json").write_text(json.dumps(found))
    merged = chordless("merge", tmp_path / "1.json", tmp_path / "2.json", "--json")
    assert list(faults(json.loads(merged.stdout), schema_of("count"))) == []
    obeys("count", "count", "karate", "--json", "--checkpoint", tmp_path / "run")
    obeys("count", "resume", tmp_path / "run", "--json")


def test_a_longest_cycle(tmp_path):
    obeys("longest", "longest", "grid:4x4", "--json")
    obeys("longest", "longest", "cycle:5", "--json", "--shortest")
    (tmp_path / "graph.txt").write_text("a b\nb c\nc d\nd a\n")
    (tmp_path / "weights.txt").write_text("a 0.5\nb 1\nc 2\nd 3\n")
    (found,) = obeys("longest", "longest", tmp_path / "graph.txt", "--weight", tmp_path / "weights.txt", "--json")
    assert found["weight"] == 6.5


def test_a_first_cycle():
    for arguments in (("karate",), ("karate", "--max-length", "3", "--min-length", "3")):
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


def test_the_documentation_names_every_schema():
    page = (SCHEMAS.parent / "docs" / "output.md").read_text()
    assert {name for name in NAMES if f"../schemas/{name}.json" not in page} == set()
