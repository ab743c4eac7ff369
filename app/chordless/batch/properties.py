"""Expressions over the counts of a graph, such as ``odd > 0 and not perfect``: which graphs a batch keeps."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kernels_ti import OptionError

if TYPE_CHECKING:
    from kernels_ti import Graph

Number = int | float

NAMES = (
    "n", "m", "c3..cN", "total", "holes", "odd", "even", "longest", "shortest", "girth", "chordal", "perfect"
)  # fmt: skip
"""The names that an expression may use; c3..cN stand for the cycles of each length."""

SHORTEST_HOLE = 4
_MOST_LETTERS = 500  # a tree that Python can walk by recursion
_LENGTH = re.compile(r"c([1-9][0-9]{0,6})")
_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SIGNS: dict[type[ast.AST], Callable[[Any], Any]] = {ast.Not: operator.not_, ast.USub: operator.neg}


class Property:
    """An expression over the counts of a graph; `needs_graph` says whether counts alone may not decide.

    It has whole numbers and the names of `NAMES`, with ``+ - * // %``, comparisons, ``and``, ``or``, ``not`` and
    parentheses. An OptionError says that a text is no such expression.

    >>> Property("odd > 0 and n < 9").of({"n": 5, "m": 5, "by_length": {"5": 1}}, lambda: None)
    True
    """

    def __init__(self, text: str) -> None:
        if len(text) > _MOST_LETTERS:
            raise OptionError(f"the expression has more than {_MOST_LETTERS:,} letters")
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise OptionError(f"{text!r} is no expression, such as odd > 0 and n < 9") from None
        self._text = text
        for node in ast.walk(self._tree):
            self._check(node)
        self.needs_graph = any(isinstance(node, ast.Name) and node.id == "perfect" for node in ast.walk(self._tree))

    def of(self, line: Mapping[str, Any], graph: Callable[[], Graph]) -> Number | bool:
        """Return the value for a graph by its line; `graph` is called only where the counts do not decide."""
        try:
            value: Number | bool = self._value(self._tree, _Counts(line, graph))
        except ZeroDivisionError:
            raise OptionError(
                f"{self._text!r} divides by zero for {line.get('graph')}; guard it, as in c3 > 0 and n // c3 < 2"
            ) from None
        return value

    def _check(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            if node.id not in NAMES and not _LENGTH.fullmatch(node.id):
                raise OptionError(f"{self._text!r}: there is no {node.id!r}; there are {', '.join(NAMES)}")
        elif isinstance(node, ast.Constant):
            if type(node.value) not in (int, bool):
                raise OptionError(f"{self._text!r}: {node.value!r} is no whole number")
        elif not isinstance(node, (ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Compare, ast.And, ast.Or, ast.Load)) and (
            type(node) not in _OPERATORS and type(node) not in _SIGNS
        ):
            raise OptionError(f"{self._text!r}: only numbers, names, + - * // %, comparisons, and, or, not")

    def _value(self, node: ast.expr, counts: _Counts) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return counts.named(node.id)
        if isinstance(node, ast.BoolOp):
            ends_with = isinstance(node.op, ast.Or)
            return (
                any(self._value(each, counts) for each in node.values)
                if ends_with
                else all(self._value(each, counts) for each in node.values)
            )
        if isinstance(node, ast.UnaryOp):
            return _SIGNS[type(node.op)](self._value(node.operand, counts))
        if isinstance(node, ast.BinOp):
            return _OPERATORS[type(node.op)](self._value(node.left, counts), self._value(node.right, counts))
        assert isinstance(node, ast.Compare)
        left = self._value(node.left, counts)
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self._value(other, counts)
            if not _OPERATORS[type(op)](left, right):
                return False
            left = right
        return True


class _Counts:
    """The values of the names for one graph."""

    def __init__(self, line: Mapping[str, Any], graph: Callable[[], Graph]) -> None:
        self._line = line
        self._graph = graph
        self._cycles = {int(length): int(count) for length, count in (line["by_length"] or {}).items()}
        self._holes = {length: count for length, count in self._cycles.items() if length >= SHORTEST_HOLE and count}

    def named(self, name: str) -> Number | bool:
        """Return the value of a name."""
        if (found := _LENGTH.fullmatch(name)) is not None:
            return self._cycles.get(int(found[1]), 0)
        if name in ("n", "m", "total"):
            return int(self._line[name])
        if name in ("odd", "even"):
            return sum(count for length, count in self._holes.items() if length % 2 == (name == "odd"))
        if name == "holes":
            return sum(self._holes.values())
        if name in ("longest", "shortest"):
            return (max if name == "longest" else min)(self._holes, default=0)
        if name == "girth":
            return min((length for length, count in self._cycles.items() if count), default=math.inf)
        return not self._holes if name == "chordal" else self._is_perfect()

    def _is_perfect(self) -> bool:
        """Whether neither the graph nor its complement has an odd hole (Chudnovsky et al. 2006)."""
        from chordless.graphs.generators import complement

        return not self.named("odd") and not has_odd_hole(complement(self._graph()))


def has_odd_hole(graph: Graph) -> bool:
    """Whether a graph has a chordless cycle of five or more vertices, an odd number of them."""
    from kernels_ti.reference.algorithm import chordless_cycles

    return any(len(cycle) > SHORTEST_HOLE and len(cycle) % 2 for cycle in chordless_cycles(graph))
