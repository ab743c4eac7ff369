"""What `assets/schemas` promises of each JSON output, and where a value is not so.

`python tests/json_schemas.py` prints the keys and types, and the exit codes, of this version. A release writes them to
`tests/data/released_outputs.json`, and the next versions are compared with them.
"""

from __future__ import annotations

import json
from pathlib import Path

from kernels_ti import __version__, errors

SCHEMAS = Path(__file__).parent.parent / "assets" / "schemas"
NAMES = {path.stem: path for path in sorted(SCHEMAS.glob("*.json"))}
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
    kinds = _kinds_of(schema)
    if not schema:  # anything may be here
        return
    if not any(_KINDS[kind](value) for kind in kinds):
        yield f"{at} is {value!r}, not {' or '.join(kinds)}"
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


def is_promised(name, value):
    """Check a JSON output in a test of something else; where there is only the package, there are no schemas."""
    if NAMES:
        wrong = list(faults(value, schema_of(name)))
        assert not wrong, wrong
    return value


def keys_and_types(schema, at="$", *, optional=False):
    """Yield the places in the values of a schema, each with its types; a key that may be left out has a `?`."""
    yield at, " | ".join(_kinds_of(schema)) + ("?" if optional else "")
    required = schema.get("required", ())
    for key, below in schema.get("properties", {}).items():
        yield from keys_and_types(below, f"{at}.{key}", optional=key not in required)
    for name, place in (("additionalProperties", ".*"), ("items", "[]")):
        if name in schema:
            yield from keys_and_types(schema[name], at + place)


def outputs():
    """Return the keys and types of each output of this version."""
    return {name: dict(keys_and_types(schema_of(name))) for name in NAMES}


def exit_codes():
    """Return the exit code of each error of this version."""
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.ChordlessError)
    ]
    return {kind.__name__: kind.exit_code for kind in kinds}


def _kinds_of(schema):
    kinds = schema.get("type", list(_KINDS))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    assert len(set(kinds)) == len(kinds), f"JSON Schema allows no type twice: {kinds}"
    return sorted(kinds)


if __name__ == "__main__":
    print(json.dumps({"version": __version__, "exit_codes": exit_codes(), "outputs": outputs()}, indent=1))
