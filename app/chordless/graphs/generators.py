"""Generators: graphs made from a spec such as ``grid:7x10``."""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chordless.graphs import further_families  # noqa: F401 - it adds to the families
from chordless.graphs.families import FAMILIES, LARGEST_NETWORKX_SIZE, Family, Size, check_size, edge_array
from chordless.graphs.graph6 import decoded
from chordless.graphs.named import GRAPH6
from chordless.networkx_backend import backend
from kernels_ti import Graph, GraphError
from kernels_ti.options import require_memory

_MOST_DIMENSIONS = 32  # the limit of numpy
_MOST_DIGITS = 18


@dataclass(frozen=True)
class Kind:
    """One kind of graph, for the help."""

    name: str  # The word before the colon of a spec
    example: str  # A valid spec
    summary: str  # One line about it


def _gnp(spec: str, n: int, probability: float, seed: int, memory: int | None) -> Graph:
    if not 0 <= probability <= 1:
        raise GraphError(f"{spec}: the probability must be from 0 to 1, found {probability}")
    pairs = n * (n - 1) // 2
    check_size(spec, n, pairs)
    _check_random(spec, n, round(pairs * probability), memory)
    import networkx as nx

    return Graph.from_edge_array(edge_array(nx.gnp_random_graph(n, probability, seed=seed).edges()), n=n)


def _regular(spec: str, degree: int, n: int, seed: int, memory: int | None) -> Graph:
    if degree >= n or degree * n % 2:
        raise GraphError(
            f"{spec}: a {degree}-regular graph on {n} vertices does not exist; "
            "the degree must be below the number of vertices and their product even"
        )
    check_size(spec, n, degree * n // 2)
    _check_random(spec, n, degree * n // 2, memory)
    import networkx as nx

    # Drawing a dense graph edge by edge seldom succeeds, so its complement is drawn.
    drawn = nx.random_regular_graph(min(degree, n - 1 - degree), n, seed=seed)
    if degree > n - 1 - degree:
        drawn = nx.complement(drawn)
    # networkx lists the vertices in the order in which the edges were drawn; order them by number instead.
    return Graph.from_edge_array(edge_array(drawn.edges()), n=n)


def _planar(spec: str, n: int, seed: int, memory: int | None) -> Graph:
    check_size(spec, n, 3 * n // 2, memory=memory)
    columns = math.isqrt(max(n - 1, 0)) + 1
    v = np.arange(n)
    inner = v % columns + 1 < columns
    right, down = v[inner & (v + 1 < n)], v[v + columns < n]
    square = v[inner & (v + columns + 1 < n)]
    # Raw random bits: for a given seed they are the same in every version of numpy.
    source = np.random.PCG64(seed)
    falling = source.random_raw(len(square)) >> np.uint64(63) == 0
    pairs = np.concatenate(
        (
            np.column_stack((right, right + 1)),
            np.column_stack((down, down + columns)),
            np.column_stack((square + ~falling, square + columns + falling)),
        )
    )
    drawn = source.random_raw(len(pairs)).argsort(kind="stable")[: 3 * n // 2]
    return Graph.from_edge_array(pairs[drawn], n=n)


def _check_random(spec: str, n: int, m: int, memory: int | None) -> None:
    if m > LARGEST_NETWORKX_SIZE:
        raise GraphError(f"{spec}: about {m:,} edges are more than the {LARGEST_NETWORKX_SIZE:,} of a random graph")
    check_size(spec, n, m, LARGEST_NETWORKX_SIZE, memory)


_RANDOM: dict[str, tuple[str, str, Callable[..., Graph]]] = {
    "gnp": ("gnp:60,0.1,1", "random: vertices, probability of an edge, seed", _gnp),
    "regular": ("regular:3,60,1", "random: degree, vertices, seed", _regular),
    "planar": (
        "planar:1000,1",
        "random: vertices, seed; a square grid with diagonals, cut down to average degree 3",
        _planar,
    ),
}


def _product(spec: str, kind: str, factors: str, memory: int | None) -> Graph:
    """Multiply graphs as networkx does; a vertex is named by the names of its factors, separated by commas."""
    specs = factors.split("+")
    if len(specs) < 2 or not all(specs):
        raise GraphError(f"{spec}: a product has two specs or more with + between them; right is {_PRODUCTS[kind][0]}")
    if any(factor.partition(":")[0] in _PRODUCTS for factor in specs):
        raise GraphError(f"{spec}: a factor of a product must not be a product")
    import networkx as nx

    product, *others = (generate(factor, memory=memory) for factor in specs)
    for factor in others:
        n, size = product.n * factor.n, _SIZES_OF_PRODUCTS[kind](product, factor)
        check_size(spec, n, size, LARGEST_NETWORKX_SIZE, memory)
        drawn = getattr(nx, f"{kind}_product")(numbered(product), numbered(factor))
        edges = [(u * factor.n + v, x * factor.n + y) for (u, v), (x, y) in drawn.edges()]
        names = [f"{first},{second}" for first in product.names for second in factor.names]
        product = Graph.from_edge_array(edge_array(edges), names=names, n=n)
    return product


def numbered(graph: Graph) -> Any:
    """Return a graph as one of networkx, whose vertices are their numbers."""
    return backend.convert_to_nx(replace(graph, vertex_names=None))


_SIZES_OF_PRODUCTS: dict[str, Callable[[Graph, Graph], int]] = {
    "cartesian": lambda g, h: g.n * h.m + h.n * g.m,
    "tensor": lambda g, h: 2 * g.m * h.m,
    "strong": lambda g, h: g.n * h.m + h.n * g.m + 2 * g.m * h.m,
    "lexicographic": lambda g, h: g.n * h.m + h.n**2 * g.m,
}

_PRODUCTS = {
    "cartesian": ("cartesian:hypercube:3+cycle:5", "cartesian product of specs"),
    "strong": ("strong:cycle:5+path:4", "strong product of specs"),
    "tensor": ("tensor:petersen+path:2", "tensor (direct, Kronecker) product of specs"),
    "lexicographic": ("lexicographic:cycle:5+path:2", "lexicographic product of specs"),
}


def _complement(spec: str, graph: Graph, memory: int | None) -> Graph:
    pairs = graph.n * (graph.n - 1) // 2
    check_size(spec, graph.n, pairs, LARGEST_NETWORKX_SIZE, memory)
    return graph.complement()


def _line(spec: str, graph: Graph, memory: int | None) -> Graph:
    """Return the line graph; its vertices are named by the ends of the edges of the graph."""
    degrees = graph.degrees
    check_size(spec, graph.m, int((degrees * (degrees - 1) // 2).sum()), LARGEST_NETWORKX_SIZE, memory)
    ends = graph.edges().tolist()
    at: list[list[int]] = [[] for _ in range(graph.n)]
    for edge, (u, v) in enumerate(ends):
        at[u].append(edge)
        at[v].append(edge)
    pairs = [pair for edges in at for pair in itertools.combinations(edges, 2)]
    return Graph.from_edge_array(
        edge_array(pairs), names=[f"{graph.names[u]}-{graph.names[v]}" for u, v in ends], n=graph.m
    )


_DERIVED = {
    "complement": ("complement:cycle:7", "the complement of a spec", _complement),
    "line": ("line:petersen", "the line graph of a spec: its edges, joined where they meet", _line),
}
_MOST_DERIVED = 8


def _derive(spec: str, kind: str, source: str, memory: int | None) -> Graph:
    example, _, derive = _DERIVED[kind]
    if not source:
        raise GraphError(f"{spec}: a spec comes after {kind}: right is {example}")
    if sum(word in _DERIVED for word in spec.split(":")) > _MOST_DERIVED:
        raise GraphError(f"{spec[:60]}: at most {_MOST_DERIVED} complements and line graphs are taken of one another")
    return derive(spec, generate(source, memory=memory), memory)


_NAMED = {name: f"{name}_graph" for name in GRAPH6} | {
    "davis_women": "davis_southern_women_graph",
    "florentine": "florentine_families_graph",
    "karate": "karate_club_graph",
    "les_miserables": "les_miserables_graph",
}
_NAMED = {name: _NAMED[name] for name in sorted(_NAMED)}

_SMILES = Kind("smiles", "smiles:c1ccccc1", "the molecule of a SMILES, with its atoms and bonds")
_KINDS = tuple(dict.fromkeys((*FAMILIES, *_PRODUCTS, *_DERIVED, *_RANDOM, _SMILES.name, *_NAMED)))


def known_kinds() -> tuple[Kind, ...]:
    """List every kind of graph with an example and a line of help."""
    families = [Kind(name, family.example, family.summary) for name, family in FAMILIES.items()]
    tables = (_PRODUCTS, _DERIVED, _RANDOM)
    others = [Kind(name, *about[:2]) for table in tables for name, about in table.items()]
    named = [Kind(name, name, f"{function} of networkx") for name, function in _NAMED.items()]
    # A family that has the name of one graph comes behind it.
    behind = [kind for kind in families if kind.name in _NAMED]
    return (*(kind for kind in families if kind not in behind), *others, _SMILES, *named, *behind)


def is_spec(text: str) -> bool:
    """Return whether a text starts with a known kind; the rest of the text may still be wrong."""
    return text.partition(":")[0] in _KINDS


def unknown_kind(kind: str) -> str:
    """Return the message for an unknown kind of graph, with kinds of similar spelling."""
    close = difflib.get_close_matches(kind.lower(), _KINDS, n=3)
    hint = f"did you mean {' or '.join(close)}?" if close else "`chordless help specs` lists the kinds"
    return f"there is no kind of graph called {kind!r}; {hint}"


def generate(spec: str, *, memory: int | None = None) -> Graph:
    """Make the graph of a spec.

    Vertices are numbered as networkx numbers them, from 0. Grids, tori and boards are numbered row by row, with
    names ``row,column``. The names of a hypercube's vertices are its corners in binary. A Fibonacci cube has those
    of them without two ones side by side; the points of a Sierpinski gasket are ``x,y``. Those of a Kneser graph
    are the subsets, such as ``0,3``, and so are those of a Johnson graph. Of ``petersen:n,k``, prisms, crowns and
    the like the first half is 0 to n - 1, and vertex v + n belongs to v. A vertex of a line graph is named by the
    ends of its edge, ``0-3``. Products are those of networkx (``cartesian_product`` and so on). Named graphs keep
    the names of networkx. Random graphs are those of networkx' ``gnp_random_graph`` and ``random_regular_graph``
    with that seed; a regular graph in which more than half of all pairs are joined is the complement of one. A
    planar graph is a square grid, numbered row by row and its last row cut short. Each square has one of its two
    diagonals. Of all these edges 3 n / 2 are drawn, so it need not be connected. ``smiles:TEXT`` is a molecule, with
    names such as ``C1``.

    Parameters
    ----------
    spec : str
        ``kind:sizes``, or the name of a graph; see `known_kinds`.
    memory : int, optional
        Bytes that making the graph may use; by default any number.

    Returns
    -------
    Graph

    Raises
    ------
    GraphError
        For a kind or a size that does not exist, or a graph too large to make.
    OptionError
        If `memory` is not a number of bytes, or a molecule is asked for without RDKit.

    Examples
    --------
    >>> from chordless import generate
    >>> generate("grid:7x10")
    Graph(n=70, m=123)
    """
    if not isinstance(spec, str):
        raise GraphError(f"a generated graph is named by a text such as 'grid:7x10', not {spec!r}")
    require_memory(memory)
    kind, colon, sizes = spec.partition(":")
    if kind in FAMILIES and (colon or kind not in _NAMED):
        return _generate_family(spec, sizes, memory)
    if kind in _DERIVED:
        return _derive(spec, kind, sizes, memory)
    if kind in _PRODUCTS:
        return _product(spec, kind, sizes, memory)
    if kind in _RANDOM:
        return _generate_random(spec, kind, memory)
    if kind == _SMILES.name:
        from chordless.graphs.molecules import molecule_of_smiles

        return molecule_of_smiles(sizes)
    if kind not in _NAMED:
        raise GraphError(f"{spec}: {unknown_kind(kind)}")
    if colon:
        raise GraphError(f"{spec}: {kind} is one graph and takes no size; write {kind}")
    if kind in GRAPH6:
        return decoded(GRAPH6[kind].encode()).graphs.graph(0)
    import networkx as nx

    return Graph.from_networkx(getattr(nx, _NAMED[kind])())


def family_size(spec: str) -> tuple[Family, Size] | None:
    """Return the family of a spec and the size of its graph without making it; None for another kind of graph."""
    kind, colon, sizes = spec.partition(":")
    if kind not in FAMILIES or (kind in _NAMED and not colon):
        return None
    numbers = _numbers(spec, FAMILIES[kind], sizes)
    try:
        return FAMILIES[kind], FAMILIES[kind].size(*numbers)
    except ValueError as error:
        raise GraphError(f"{spec}: {error}") from None


def _generate_family(spec: str, sizes: str, memory: int | None) -> Graph:
    known = family_size(spec)
    assert known is not None
    family, size = known
    check_size(spec, size.n, size.m, family.largest, memory)
    return family.make(*_numbers(spec, family, sizes))


def _numbers(spec: str, family: Family, sizes: str) -> tuple[int, ...]:
    numbers = sizes.split(family.separator)
    if not all(re.fullmatch("[0-9]+", number) for number in numbers):
        raise GraphError(f"{spec}: the size {sizes!r} is not made of whole numbers; right is {family.example}")
    if max(map(len, numbers)) > _MOST_DIGITS:
        raise GraphError(f"{spec}: a size of more than {_MOST_DIGITS} digits is too large; right is {family.example}")
    if family.count not in (None, len(numbers)):
        plural = "s" * (family.count != 1)
        raise GraphError(
            f"{spec}: {family.count} number{plural} expected, found {len(numbers)}; right is {family.example}"
        )
    if len(numbers) < family.fewest:
        raise GraphError(f"{spec}: at least {family.fewest} numbers expected; right is {family.example}")
    if min(map(int, numbers)) < family.least:
        raise GraphError(f"{spec}: sizes start at {family.least}; right is {family.example}")
    if len(numbers) > _MOST_DIMENSIONS and family.separator == "x":
        raise GraphError(f"{spec}: a grid of {len(numbers)} dimensions; up to {_MOST_DIMENSIONS} are made")
    return tuple(map(int, numbers))


def random_numbers(spec: str) -> tuple[Any, ...] | None:
    """Return the numbers of the spec of a random graph, the seed last; None for any other spec."""
    whole, fraction = r"([0-9]{1,18})", r"([0-9]*\.?[0-9]+(?:e-?[0-9]{1,3})?)"
    parts = {"gnp": (whole, fraction, whole), "regular": (whole, whole, whole), "planar": (whole, whole)}
    kind, _, sizes = spec.partition(":")
    found = re.fullmatch(",".join(parts[kind]), sizes) if kind in parts else None
    if found is None:
        return None
    read = [int if part == whole else float for part in parts[kind]]
    return tuple(number(text) for number, text in zip(read, found.groups(), strict=True))


def _generate_random(spec: str, kind: str, memory: int | None) -> Graph:
    example, summary, make = _RANDOM[kind]
    if (numbers := random_numbers(spec)) is None:
        needs = summary.removeprefix("random: ").partition(";")[0]
        raise GraphError(f"{spec}: {kind} takes {needs}, separated by commas; right is {example}")
    return make(spec, *numbers, memory)
