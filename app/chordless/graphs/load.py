"""Loading a graph from a file of any format, standard input or a generator spec."""

from __future__ import annotations

import codecs
import errno
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from chordless.graphs import generators
from chordless.graphs.readers.columns import length_of_graph6
from chordless.graphs.readers.foreign import require_no_other_format
from chordless.graphs.readers.incoming import (
    STANDARD_INPUT,
    Limits,
    ends_in_time,
    read_bytes,
    shown_name,
    with_newlines,
)
from chordless.graphs.readers.source import UTF_8, Parsed, Positions, Source, format_options
from kernels_ti import Graph, GraphError, OptionError
from kernels_ti.errors import DIRECTED, MULTIGRAPH, SIMPLIFY

if TYPE_CHECKING:
    import argparse

    from chordless.graphs.molecules import MoleculeFormat
    from chordless.protocol.orders import GraphOrder
    from kernels_ti.boundary.values.weights import Weights

FORMATS = (
    "edgelist",
    "dimacs",
    "pajek",
    "graphml",
    "gml",
    "graph6",
    "mtx",
    "adjlist",
    "matrix",
    "json",
    "table",
    "metis",
)
MOLECULE_FORMATS = ("sdf", "smiles")
"""The formats that `chordless.graphs.molecules` reads."""

_SAYING_DIRECTION = (*MOLECULE_FORMATS, "graph6", "graphml", "gml", "json", "metis")
_START_BYTES = 1 << 16

# Extensions that belong to one format. For .txt, .dat and all others the content decides.
_EXTENSIONS = {
    extension: file_format
    for file_format, extensions in (
        ("edgelist", ".edges .edgelist .el"),
        ("dimacs", ".col .dimacs .clq"),
        ("pajek", ".net"),
        ("graphml", ".graphml"),
        ("gml", ".gml"),
        ("graph6", ".g6 .graph6 .s6 .sparse6 .d6 .digraph6"),
        ("mtx", ".mtx"),
        ("adjlist", ".adjlist"),
        ("json", ".json .geojson"),
        ("table", ".tntp"),
        ("metis", ".metis"),
    )
    for extension in extensions.split()
}

_TWO_WORDS = re.compile(rb"[^\s,;|][ \t,;|]+[^\s,;|]")
_GRAPH6_LINE = re.compile(rb"\s*[&:;]?[?-~]+\s*(?:\n|\Z)")

# The numbers of atoms and bonds, each three characters wide, further numbers, and the version. An edge, `12 V2000`, has
# no blank between its digits.
_COUNTS_LINE = rb"(?=[ \d]*\d +\d) *\d{1,3}(?:\d{3}| \d\d|  \d)[ \d]* V[23]000[ \t]*(?:\n|\Z)"

# Formats that the first bytes identify, in the order of the tests.
_SIGNATURES = (
    (re.compile(rb"%%MatrixMarket", re.I), "mtx"),
    (re.compile(rb"(?:%.*\n|\s)*\*(?:vertices|network)", re.I), "pajek"),
    (re.compile(rb"\s*<(?:\?xml|graphml|!--|!DOCTYPE)"), "graphml"),
    (re.compile(rb"(?:\s*(?:#.*\n|Creator.*\n|Version.*\n|comment.*\n))*\s*graph\s*\[", re.I), "gml"),
    (re.compile(rb"(?:\s|c(?:[ \t].*)?\n)*p[ \t]+(?:edge|edges|col|sp)\b"), "dimacs"),
    (re.compile(rb"\s*\{\s*\""), "json"),
    (re.compile(rb"(?:.*\n){3}" + _COUNTS_LINE), "sdf"),
    (re.compile(rb">>(?:graph6|sparse6|digraph6)<<"), "graph6"),
    (_GRAPH6_LINE, "graph6"),
)

ALL_FORMATS = (*FORMATS, *MOLECULE_FORMATS)

_OWN_READERS = {
    "pajek": "pajek",
    "edgelist": "edge_list",
    "dimacs": "dimacs",
    "mtx": "matrix_market",
    "matrix": "matrix",
    "metis": "metis",
}
"""Formats that networkx does not read, each with the module of `chordless.graphs.readers` that has its ``read_``."""

_HOW_TO_READ = ("simplify", "directed", "multigraph", "file_format", "encoding")


@dataclass(frozen=True)
class LoadedGraph:
    """A graph and where it came from."""

    graph: Graph  # The graph. Files give names of type str.
    title: str  # The spec or the path as given
    positions: Positions | None = None  # Place of each vertex index that the file gives one for
    # Parts of the file that were ignored or interpreted, which the user should know of: one line of text each
    notes: tuple[str, ...] = ()


def load_graph(
    source: str,
    *,
    simplify: bool = False,
    directed: bool = False,
    multigraph: bool = False,
    file_format: str | None = None,
    encoding: str | None = None,
    limits: Limits | None = None,
) -> LoadedGraph:
    """Load a graph as `chordless.load_graph` does, within `limits` of memory and time, with its places and notes.

    In a file of many graphs, ``FILE:12`` is also the twelfth molecule of an SDF, and ``FILE:caffeine`` the molecule of
    that name. The message of a GraphError is one line: the file, the line number if known, what is wrong and what would
    be right. An OptionError is raised for a format or an encoding that does not exist, and for `directed` where it is
    not possible.
    """
    if file_format is not None:
        checked_format(file_format)
    limits = limits or Limits()
    for option, is_given, what in ((DIRECTED, directed, "directions"), (MULTIGRAPH, multigraph, "repeated edges")):
        if is_given and simplify:
            raise OptionError(f"{option} and {SIMPLIFY} exclude each other: the second drops {what}")
    how = Source("", b"", checked_encoding(encoding), limits, directed=directed, multigraph=multigraph)
    with ends_in_time(shown_name(source), limits):
        if source == STANDARD_INPUT or os.path.lexists(source):
            return _read_file(source, how, file_format, simplify=simplify)
        # The name of a molecule may have colons, too.
        for colon in (at for at in range(len(source) - 2, 0, -1) if source[at] == ":"):
            if os.path.isfile(source[:colon]):
                return _read_file(source[:colon], how, file_format, source[colon + 1 :], simplify=simplify)
        if generators.is_spec(source):
            if directed:
                raise OptionError(f"{source}: a spec makes an undirected graph; leave {DIRECTED} out")
            unused = f"the format {file_format} is not used: {source} is a spec, not a file"
            return LoadedGraph(
                generators.generate(source, memory=limits.most_bytes), source, notes=(unused,) if file_format else ()
            )
    raise _no_such_graph(source)


def load_as(order: GraphOrder | argparse.Namespace, limits: Limits | None = None) -> LoadedGraph:
    """Load the graph that an order or a command line names, and read it as that says; see `load_graph`."""
    how = {name: getattr(order, name) for name in _HOW_TO_READ}
    return load_graph(order.graph, limits=limits, **how)


def read_weight_file(
    path: str,
    graph: Graph,
    *,
    encoding: str | None = None,
    data: bytes | None = None,
    graph_file: str | None = None,
) -> Weights:
    """Read the weights of a graph, see `readers.weights.read_weights`; `data` is the content of the file, if read."""
    from chordless.graphs.readers.weights import read_weights

    source = Source(shown_name(path), read_bytes(path) if data is None else data, checked_encoding(encoding))
    is_the_graph = all(map(os.path.isfile, (path, graph_file or ""))) and os.path.samefile(path, graph_file or "")
    return read_weights(source, graph, is_the_graph=is_the_graph)


def require_direction_unsaid(kind: str) -> None:
    """Raise an OptionError for a format that says itself whether its graph is directed."""
    if kind in _SAYING_DIRECTION:
        raise OptionError(f"a file of the format {kind} says itself whether it is directed; leave {DIRECTED} out")


_ENCODINGS_OF_NAMES = ("idna", "punycode")
"""Codecs of Python for the parts of a host's name. They do not decode a text."""


def checked_format(name: str) -> str:
    """Return the name of a format of graph files; an OptionError if there is no such format."""
    if name not in ALL_FORMATS:
        raise OptionError(f"there is no file format {name!r}; the formats are {', '.join(ALL_FORMATS)}")
    return name


def checked_encoding(name: str | None) -> str:
    """Return the name of an encoding of text, UTF-8 for None; an OptionError if there is no such encoding."""
    if name is not None and not isinstance(name, str):
        raise OptionError(f"an encoding is named by a text such as latin-1, not {name!r}")
    try:
        # Some codecs turn bytes into bytes; they are not encodings of text.
        " ".encode(UTF_8 if name is None else name)
        known = codecs.lookup(UTF_8 if name is None else name).name
    except (LookupError, ValueError):
        known = ""
    if known in ("", *_ENCODINGS_OF_NAMES):
        raise OptionError(f"there is no encoding {name!r}; common ones are utf-8, latin-1, cp1252, utf-16")
    return known


def _read_file(
    path: str, how: Source, file_format: str | None, which: str | None = None, *, simplify: bool
) -> LoadedGraph:
    """Read a file as the empty source `how` says; of a file of many graphs the one that is called `which`."""
    source = replace(how, name=shown_name(path), data=read_bytes(path, how.limits))
    if which is None and not source.data.strip():
        raise source.error("the file is empty; an edge list has a line `u v` for each edge")
    kind = format_of_file(path, source, file_format)
    if source.directed:
        require_direction_unsaid(kind)
    title = path if which is None else f"{path}:{which}"
    if kind in MOLECULE_FORMATS:
        from chordless.graphs.molecules import read_molecule

        graph, positions = read_molecule(source, cast("MoleculeFormat", kind), which)
    else:
        read = source if which is None else _line_of_many(source, path, kind, which)
        try:
            graph, positions = _reader(kind)(read, simplify=simplify)
        except GraphError as error:
            if file_format is None and kind in ("table", "edgelist") and _may_be_a_matrix(source):
                raise GraphError(f"{error}; if it is a matrix, {format_options('matrix')} reads it") from error
            raise
    return LoadedGraph(graph, title, positions, tuple(source.notes))


def _line_of_many(source: Source, path: str, kind: str, which: str) -> Source:
    """Return a line of a file of graph6 by its number, from 1."""
    title = f"{path}:{which}"
    if kind != "graph6":
        raise GraphError(f"{title}: {path} holds one graph; leave :{which} out")
    lines = source.data.split(b"\n")
    if not re.fullmatch(r"[1-9][0-9]{0,17}", which) or int(which) > len(lines) or not lines[int(which) - 1].strip():
        raise GraphError(f"{title}: there is no graph in this line")
    return replace(source, name=title, data=lines[int(which) - 1])


def _no_such_graph(source: str) -> GraphError:
    if not source.strip():
        return GraphError(f"{source!r} is neither a file nor a spec such as grid:7x10")
    with suppress(ValueError):  # no file can have such a name
        try:
            os.lstat(source)
        except OSError as error:
            if error.errno == errno.EACCES:
                return GraphError(f"{source}: cannot be read: {error.strerror}")
    kind = source.partition(":")[0]
    if re.search(r"[./\\]", kind) or not kind:
        return GraphError(f"{source}: no such file")
    return GraphError(f"{source}: no such file, and {generators.unknown_kind(kind)}")


def format_of_file(path: str, source: Source, file_format: str | None = None) -> str:
    """Return the format of a file: the one that the user says, or else by its name, or else by its content."""
    from chordless.graphs.readers.metis import is_metis

    if known := file_format or format_of_name(path):
        return known
    kind = format_of_content(_as_utf8(source), source.name)
    if kind == "edgelist" and is_metis(source):
        source.note("read as METIS: each line has the neighbours of a vertex")
        return "metis"
    if kind == "table" and (ends := _may_be_a_matrix(source)):
        source.note(f"taken for a table of edges between {ends}; it may be a matrix, which the format matrix reads")
    return kind


def _may_be_a_matrix(source: Source) -> str:
    """Return the ends of a table of edges that may be columns of a matrix as well; "" where that is sure."""
    from chordless.graphs.readers.attributed import what_may_be_a_matrix

    return what_may_be_a_matrix(_start_of(_as_utf8(source)))


def format_of_name(path: str) -> str | None:
    """Return the format that belongs to the extension of a file; None if the extension is unknown."""
    from chordless.graphs.molecules import EXTENSIONS

    return EXTENSIONS.get(extension_of(path)) or _EXTENSIONS.get(extension_of(path))


def format_of_content(data: bytes, name: str) -> str:
    """Return the format that the beginning of a file looks like; a GraphError if it may be SMILES or edges."""
    from chordless.graphs.molecules import looks_like_smiles

    start = _start_of(data)
    if signed := _signed_format(start, name):
        return signed
    smiles = looks_like_smiles(start)
    if smiles is None:
        raise GraphError(
            f"{name}: this may be SMILES or a list of edges; say which, {format_options('smiles', 'edgelist')}"
        )
    if smiles:
        return "smiles"
    # Lines of one word are no edges; of graph6, the first may be damaged.
    return "graph6" if not _TWO_WORDS.search(start) and _has_graph6(start) else "edgelist"


def _start_of(data: bytes) -> bytes:
    return with_newlines(data[:_START_BYTES].removeprefix(b"\xef\xbb\xbf"))


def _signed_format(start: bytes, name: str) -> str | None:
    """Return the format that the beginning of a file can only have; None for a list of edges, or SMILES.

    A GraphError says that it is a format that is not read.
    """
    from chordless.graphs.readers.attributed import looks_like_table
    from chordless.graphs.readers.matrix import looks_like_matrix

    for signature, file_format in _SIGNATURES:
        if (found := signature.match(start)) is None:
            continue
        if signature is not _GRAPH6_LINE or found[0].strip()[:1] in b"&:;~" or _has_graph6(start):
            return file_format
    text = start.decode(errors="replace")
    if looks_like_table(text):
        return "table"
    if looks_like_matrix(text):
        return "matrix"
    require_no_other_format(start, name)
    return None


def _has_graph6(start: bytes) -> bool:
    """Return whether some line is as long as graph6 of its first character, which a list of ``a|b`` has not."""
    lines = [line for line in map(bytes.strip, start.split(b"\n")) if line]
    return any(len(line) == length_of_graph6(line[0]) for line in lines)


def read_arcs(path: str, source: Source) -> Graph | None:
    """Read a web of any format but Pajek, in which entries of a matrix are arcs; None for Pajek."""
    from chordless.graphs.readers.attributed import tells_who_eats_whom
    from chordless.graphs.readers.columns import feeding_columns

    kind = format_of_web(path, source)
    if kind == "pajek":
        return None
    if kind in MOLECULE_FORMATS:
        raise source.error("this is a file of molecules, which have no arcs; a food web has arcs")
    columns = feeding_columns(source) if kind == "edgelist" else None
    are_arcs = kind in ("matrix", "mtx") or (kind == "table" and tells_who_eats_whom(_start_of(_as_utf8(source))))
    source = replace(source, directed=are_arcs or columns is not None, multigraph=True)
    graph = _reader(kind)(source, simplify=False)[0]
    if columns is None:
        return graph
    return Graph.from_edge_array(
        graph.edges()[:, columns], n=graph.n, names=graph.names, directed=True, multigraph=not graph.is_simple
    )


def format_of_web(path: str, source: Source) -> str:
    """Return the format of a file of arcs, by its name or its content: a matrix rather than a table of edges."""
    from chordless.graphs.readers.attributed import what_may_be_a_matrix

    start = _start_of(_as_utf8(source))
    kind = format_of_name(path) or _signed_format(start, source.name) or "edgelist"
    return "matrix" if kind == "table" and what_may_be_a_matrix(start) else kind


def _as_utf8(source: Source) -> bytes:
    start = source.data[:_START_BYTES]
    return start if source.encoding == UTF_8 else start.decode(source.encoding, "ignore").encode()


def extension_of(path: str) -> str:
    """Return the extension of a file in lower case, without that of its compression."""
    name = PurePath(path.lower())
    return (PurePath(name.stem) if name.suffix == ".gz" else name).suffix


def _reader(file_format: str) -> Callable[..., Parsed]:
    if (module := _OWN_READERS.get(file_format)) is not None:
        reader: Callable[..., Parsed] = getattr(import_module(f"chordless.graphs.readers.{module}"), f"read_{module}")
        return reader
    from chordless.graphs.readers.library import LIBRARY_READERS

    return LIBRARY_READERS[file_format]
