"""New values in the text of a TOML file: comments, order and all other keys stay as the user wrote them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tomli_w

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class _Statement:
    """Whole lines: a comment, a blank line, a heading, or a key with its value.

    `table` is the table that it stands in, or begins; `values` is what it says, read alone.
    """

    text: str
    table: tuple[str, ...]
    values: dict[str, Any]
    is_heading: bool = False


def with_values(text: str, changes: dict[str, Any]) -> str:
    """Return TOML in which some keys have new values.

    Parameters
    ----------
    text : str
        TOML without fault.
    changes : dict
        New values of keys at the top. One that is a dict holds new values of keys of the table of that name, whose
        other keys stay.

    Returns
    -------
    str
    """
    if text and not text.endswith("\n"):
        text += "\n"
    statements = list(_statements(text))
    for name, value in changes.items():
        if isinstance(value, dict):
            statements = _with_table(statements, name, value)
        else:
            statements = _with_keys(statements, (), {name: value})
    return "".join(statement.text for statement in statements)


def _statements(text: str) -> Iterator[_Statement]:
    lines = text.splitlines(keepends=True)
    table: tuple[str, ...] = ()
    start = 0
    while start < len(lines):
        stop = start + 1
        while (values := _read("".join(lines[start:stop]))) is None:
            # A value of several lines.
            stop += 1
        is_heading = lines[start].lstrip().startswith("[")
        if is_heading:
            table = tuple(_path(values))
        yield _Statement("".join(lines[start:stop]), table, values, is_heading)
        start = stop


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _path(values: Any) -> Iterator[str]:
    """Yield the names in a heading, from what it says when it is read alone."""
    while isinstance(values, dict) and values:
        ((name, values),) = values.items()
        yield name


def _with_table(statements: list[_Statement], name: str, values: dict[str, Any]) -> list[_Statement]:
    """Set keys of a table. One that stands in a line, or is no table, becomes a table with a heading."""
    in_lines = [one for one in statements if not one.table and not one.is_heading and name in one.values]
    for one in in_lines:
        if isinstance(one.values[name], dict):
            values = {**one.values[name], **values}
    statements = [one for one in statements if one not in in_lines]
    if not any(one.is_heading and one.table == (name,) for one in statements):
        heading = _Statement(f"\n[{name}]\n", (name,), {name: {}}, is_heading=True)
        statements = [*statements, heading]
    return _with_keys(statements, (name,), values)


def _with_keys(statements: list[_Statement], table: tuple[str, ...], values: dict[str, Any]) -> list[_Statement]:
    """Set keys of a table that has a heading, or at the top; new ones come behind its other keys."""
    left, made, end = dict(values), [], 0
    for one in statements:
        name = next(iter(one.values), None)
        if one.table == table and not one.is_heading and name in left:
            one = _Statement(_line({name: left.pop(name)}, _comment(one.text)), table, {name: values[name]})
        made.append(one)
        if one.table == table and one.text.strip():
            end = len(made)
    added = [_Statement(_line({name: value}), table, {name: value}) for name, value in left.items()]
    return [*made[:end], *added, *made[end:]]


def _line(values: dict[str, Any], comment: str = "") -> str:
    line = tomli_w.dumps(values)
    return f"{line.rstrip()}  {comment}" if comment else line


def _comment(text: str) -> str:
    """Return the comment behind a value, with its line end."""
    last = text.splitlines(keepends=True)[-1]
    before = text[: len(text) - len(last)]
    places = (place for place, letter in enumerate(last) if letter == "#")
    return next((last[place:] for place in places if _read(before + last[:place]) is not None), "")
