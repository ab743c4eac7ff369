"""Pajek networks (.net) and partitions (.clu).

The reader of networkx is not used: it silently merges vertices with equal labels and reads edges after arcs as arcs.
Food webs need the two kinds separate, with loops and weights of 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from chordless.graphs.readers.source import Parsed, Source, build_graph, names_by_label, number_of
from kernels_ti.errors import quantity, vertices_text

_WORD = re.compile(r'"([^"]*)"|(\S+)')
_LINKS = ("*arcs", "*edges", "*arcslist", "*edgeslist")


@dataclass
class PajekNetwork:
    """A Pajek network exactly as in its file, with loops, repeats, weights of 0 and the order of the vertices."""

    n: int  # Number of vertices, those without a line included
    labels: dict[int, str] = field(default_factory=dict)  # Label of each vertex index that has one
    # x and y of each vertex index that has them
    positions: dict[int, tuple[float, float]] = field(default_factory=dict)
    # `arcs`, `edges`: vertex indices of the two ends, and the line number
    arcs: list[tuple[int, int, int]] = field(default_factory=list)
    edges: list[tuple[int, int, int]] = field(default_factory=list)

    def names(self, source: Source) -> tuple[str, ...]:
        """Name every vertex: the labels if every vertex has one and they differ, otherwise the numbers, with a note."""
        return names_by_label(source, [self.labels.get(v) for v in range(self.n)], [str(v + 1) for v in range(self.n)])


def read_pajek(source: Source, *, simplify: bool = False) -> Parsed:
    """Read a Pajek network; with arcs it is a directed graph, in which each edge stands for two opposite arcs.

    Positions are the x and y of the vertex lines. With `simplify`, loops, repeated edges and directions are dropped;
    otherwise a GraphError refuses loops and repeats, as it does anything that is not such a file.
    """
    network = parse_network(source)
    links = network.edges + network.arcs
    if (network.arcs or source.directed) and not simplify:
        links += [(v, u, line) for u, v, line in network.edges if u != v]
    graph = build_graph(
        source,
        [link[:2] for link in links],
        network.names(source),
        simplify=simplify,
        line_of=lambda row: links[row][2],
        directed=bool(network.arcs),
    )
    return graph, network.positions or None


def parse_network(source: Source) -> PajekNetwork:
    """Read the vertices, arcs and edges of a file that holds one Pajek network; a GraphError names a wrong line."""
    network: PajekNetwork | None = None
    section = ""
    rows: list[tuple[int, list[str]]] = []
    for number, content in _content_lines(source):
        if content.startswith("*"):
            section = content.lower().split()[0]
            if section in ("*network", "*vertices"):
                if network is not None:
                    raise source.error(f"{section} after *Vertices: the file holds several networks, give one", number)
                if section == "*vertices":
                    network = PajekNetwork(_vertex_count(source, content, number))
            elif section not in (*_LINKS, "*matrix"):
                raise source.error(f"a section {section} is not part of a network (.net)", number)
            elif network is None:
                raise source.error(f"{section} before *Vertices", number)
        elif network is None:
            raise source.error(f"a Pajek network starts with `*Vertices N`, found {content!r}", number)
        elif section == "*vertices":
            _take_vertex(source, network, content, number)
        elif section == "*matrix":
            rows.append((number, content.split()))
        else:
            _take_links(source, network, section, content, number)
    if network is None:
        raise source.error("no *Vertices section; a Pajek network starts with `*Vertices N`")
    if rows or section == "*matrix":
        _take_matrix(source, network, rows)
    return network


def _content_lines(source: Source) -> Iterator[tuple[int, str]]:
    """List the lines that are neither blank nor comments, with their numbers."""
    for number, line in enumerate(source.text.split("\n"), 1):
        content = line.strip()
        if content and not content.startswith("%"):
            yield number, content


def _vertex_count(source: Source, content: str, number: int) -> int:
    words = content.split()
    if len(words) < 2 or not re.fullmatch(r"[0-9]{1,18}", words[1]):
        raise source.error(f"the vertices must be announced by `*Vertices N`, found {content!r}", number)
    source.check_size(int(words[1]), number)
    return int(words[1])


def _take_vertex(source: Source, network: PajekNetwork, content: str, number: int) -> None:
    words = [quoted or bare for quoted, bare in _WORD.findall(content)]
    v = _vertex(source, network, words[0], number)
    if v in network.labels:
        raise source.error(f"vertex {words[0]} is listed twice", number)
    network.labels[v] = words[1] if len(words) > 1 else ""
    # Coordinates are optional, and the rest of the line after a label has no fixed form.
    x, y = (number_of(word) for word in (*words[2:4], "", "")[:2])
    if x is not None and y is not None:
        network.positions[v] = (x, y)


def _take_links(source: Source, network: PajekNetwork, section: str, content: str, number: int) -> None:
    words = content.split()
    if len(words) < 2:
        raise source.error(f"{section} needs two vertices in each line, found {content!r}", number)
    # In the list sections a line is a vertex and all its neighbours, in the others an edge and its weight.
    ends = words[1:] if section.endswith("list") else words[1:2]
    target = network.arcs if section.startswith("*arcs") else network.edges
    u = _vertex(source, network, words[0], number)
    target += [(u, _vertex(source, network, word, number), number) for word in ends]


def _vertex(source: Source, network: PajekNetwork, word: str, number: int) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", word) or not 1 <= int(word) <= network.n:
        raise source.error(f"{word!r} is not a vertex: they are the numbers 1 to {network.n}", number)
    return int(word) - 1


def _take_matrix(source: Source, network: PajekNetwork, rows: list[tuple[int, list[str]]]) -> None:
    """Read an adjacency matrix: edges if it is symmetric, otherwise arcs."""
    if len(rows) != network.n:
        raise source.error(f"the *Matrix section needs a row for each vertex: {network.n:,} rows, found {len(rows):,}")
    entries: dict[tuple[int, int], int] = {}
    for u, (number, words) in enumerate(rows):
        if len(words) != network.n:
            raise source.error(f"a row of the matrix needs {network.n} entries, found {len(words)}", number)
        for v, word in enumerate(words):
            value = number_of(word)
            if value is None:
                raise source.error(f"{word!r} is not a number", number)
            if value != 0:
                entries[u, v] = number
    if all((v, u) in entries for u, v in entries):
        network.edges += [(u, v, number) for (u, v), number in entries.items() if u <= v]
    else:
        network.arcs += [(u, v, number) for (u, v), number in entries.items()]


def parse_partition(source: Source) -> list[int]:
    """Read a Pajek partition: the class of every vertex, one per line. A GraphError names a line that is wrong."""
    declared: int | None = None
    classes: list[int] = []
    for number, content in _content_lines(source):
        if content.startswith("*"):
            if content.lower().split()[0] != "*vertices" or declared is not None:
                raise source.error(f"a partition has one `*Vertices N` line only, found {content!r}", number)
            declared = _vertex_count(source, content, number)
        elif declared is None:
            raise source.error(f"a Pajek partition starts with `*Vertices N`, found {content!r}", number)
        elif re.fullmatch(r"-?[0-9]{1,9}", content):
            classes.append(int(content))
        else:
            raise source.error(f"each line of a partition is one whole number, found {content!r}", number)
    if declared is None:
        raise source.error("no *Vertices line; a Pajek partition starts with `*Vertices N`")
    if declared != len(classes):
        raise source.error(
            f"the partition has {quantity(len(classes), 'class', 'classes')} for {vertices_text(declared)}"
        )
    return classes
