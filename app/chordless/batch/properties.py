"""Expressions over the counts of a graph, such as ``odd > 0 and not perfect``: which graphs a batch keeps."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from chordless.values import SHORTEST_HOLE
from kernels_ti import OptionError

if TYPE_CHECKING:
    from kernels_ti import Graph
    from kernels_ti.choices import Parity

Number = int | float

NAMES = (
    "n", "m", "c3..cN", "total", "holes", "odd", "even", "longest", "shortest", "girth", "chordal", "perfect"
)  # fmt: skip
"""The names that an expression may use; c3..cN stand for the cycles of each length."""

OF_SIMPLE_GRAPHS = {"girth", "chordal", "perfect"}  # Those that only simple undirected graphs have
_FEWEST_OF_ANTIHOLE = 7
_MOST_LETTERS = 500  # a tree that Python can walk by recursion
_LENGTH = re.compile(r"c([3-9]|[1-9][0-9]{1,6})")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ALLOWED = (
    *(ast.Expression, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Compare),
    *(ast.And, ast.Or, ast.Not, ast.USub, ast.Load),
    *_OPERATORS,
)


class Property:
    """An expression over the counts of a graph; `needs_graph` says whether counts alone may not decide.

    It has whole numbers and the names of `NAMES`, with ``+ - * // %``, comparisons, ``and``, ``or``, ``not`` and
    parentheses. An OptionError says that a text is no such expression.

    >>> from chordless.batch.properties import Property
    >>> Property("odd > 0 and n < 9").of({"n": 5, "m": 5, "by_length": {"5": 1}}, lambda: None)
    True
    """

    def __init__(self, text: str) -> None:
        if len(text) > _MOST_LETTERS:
            raise OptionError(f"the expression has more than {_MOST_LETTERS:,} letters")
        self._text = text
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise OptionError(f"{text!r} is no expression, such as odd > 0 and n < 9") from None
        for node in ast.walk(tree):
            self._check(node)
            if isinstance(node, ast.BoolOp):
                node.values = list(map(_truth, node.values))
        # Nothing is in it but what was checked.
        self._code = compile(tree, "<expression>", "eval")
        self.names = frozenset(self._code.co_names)
        self.needs_graph = not self.names.isdisjoint(OF_SIMPLE_GRAPHS)

    def knows_only(self, parity: Parity) -> bool:
        """Whether the cycles of the other parity do not matter to it."""
        lengths = {name: int(found[1]) for name in self.names if (found := _LENGTH.fullmatch(name))}
        others = {name for name, length in lengths.items() if length % 2 != (parity == "odd")}
        return self.names - lengths.keys() <= {"n", "m", parity} and not others

    def of(self, line: Mapping[str, Any], graph: Callable[[], Graph]) -> Number | bool:
        """Return the value for a graph by its line; `graph` is called only where the counts do not decide."""
        try:
            value: Number | bool = eval(self._code, {"__builtins__": {}}, _Values(line, graph))
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
        elif not isinstance(node, _ALLOWED):
            raise OptionError(f"{self._text!r}: only numbers, names, + - * // %, comparisons, and, or, not")


def _truth(node: ast.expr) -> ast.expr:
    """Return true or false for one side of ``and`` or ``or``, whose value Python gives."""
    return ast.copy_location(ast.UnaryOp(ast.Not(), ast.copy_location(ast.UnaryOp(ast.Not(), node), node)), node)


class _Values(dict[str, Any]):
    """The values of the names for a graph; whether it is perfect is found out when that is asked for."""

    def __init__(self, line: Mapping[str, Any], graph: Callable[[], Graph]) -> None:
        cycles = {int(length): int(count) for length, count in (line["by_length"] or {}).items() if count}
        holes = {length: count for length, count in cycles.items() if length >= SHORTEST_HOLE}
        odd = sum(count for length, count in holes.items() if length % 2)
        super().__init__({name: line.get(name) for name in ("n", "m", "total")}, holes=sum(holes.values()), odd=odd)
        self.update(even=self["holes"] - odd, longest=max(holes, default=0), shortest=min(holes, default=0))
        self.update({f"c{length}": count for length, count in cycles.items()}, chordal=not holes)
        self["girth"] = min(cycles, default=math.inf)
        self._graph = graph

    def __missing__(self, name: str) -> Number | bool:
        return self._is_perfect() if name == "perfect" else 0

    def _is_perfect(self) -> bool:
        """Whether neither the graph nor its complement has an odd hole (Chudnovsky et al. 2006)."""
        if self["odd"]:
            return False
        # A hole of 5 is its own complement; that of a longer odd hole has at least 7 triangles and 7 holes of 4.
        if min(self["c3"], self["c4"]) < _FEWEST_OF_ANTIHOLE:
            return True
        return not has_odd_hole(self._graph().complement())


def has_odd_hole(graph: Graph) -> bool:
    """Whether a graph has a chordless cycle of five or more vertices, an odd number of them."""
    from kernels_ti.reference.algorithm import chordless_cycles

    return any(len(cycle) > SHORTEST_HOLE and len(cycle) % 2 for cycle in chordless_cycles(graph))
