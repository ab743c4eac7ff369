"""Graphs of other libraries and adjacency matrices. They are recognised by their methods; no library is imported."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Integral, Number
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import IntArray, checked_names, require_numbers, require_square
from kernels_ti.errors import SIMPLIFY, GraphError, require_flags, type_of

Made = TypeVar("Made", bound="LibraryGraphs")


class LibraryGraphs:
    """The constructors of `kernels_ti.graph.Graph` that take a graph of another library."""

    @classmethod
    def from_edge_array(cls: type[Made], *arguments: Any, **options: Any) -> Made:
        """Build a graph from an array of vertex pairs; see `kernels_ti.graph.Graph.from_edge_array`."""
        raise NotImplementedError

    @classmethod
    def from_networkx(cls: type[Made], graph: Any, *, simplify: bool = False) -> Made:
        """Build a graph from a networkx graph, or anything with its methods.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            Its nodes become the vertices, in the order of iteration, and keep their names.
        simplify : bool
            Drop directions, parallel edges and self-loops.
        """
        _require_methods(graph, "graph of networkx", "nodes", "edges", "is_directed")
        names = tuple(graph.nodes())
        index = {name: v for v, name in enumerate(names)}
        edges = [(index[edge[0]], index[edge[1]]) for edge in graph.edges()]
        return cls.from_edge_array(
            edges, n=len(names), names=names, simplify=simplify, directed=bool(graph.is_directed()), multigraph=True
        )

    @classmethod
    def from_igraph(cls: type[Made], graph: Any, *, simplify: bool = False) -> Made:
        """Build a graph from an igraph graph, or any object with its methods.

        Parameters
        ----------
        graph : igraph.Graph
            Its vertices keep their order. Their names are taken from the vertex attribute ``name`` if there is one.
        simplify : bool
            Drop directions, parallel edges and self-loops.

        Raises
        ------
        GraphError
            For two vertices with the same name.
        """
        _require_methods(graph, "graph of igraph", "vs", "get_edgelist", "vcount", "is_directed")
        names = graph.vs["name"] if "name" in graph.vs.attributes() else None
        return cls.from_edge_array(
            graph.get_edgelist(),
            n=graph.vcount(),
            names=names,
            simplify=simplify,
            directed=bool(graph.is_directed()),
            multigraph=True,
        )

    @classmethod
    def from_rustworkx(cls: type[Made], graph: Any, *, simplify: bool = False) -> Made:
        """Build a graph from a rustworkx graph, or any object with its methods.

        Parameters
        ----------
        graph : rustworkx.PyGraph or PyDiGraph
            The vertices are named by their indices in `graph`. Those have gaps where nodes were removed.
        simplify : bool
            Drop directions, parallel edges and self-loops.
        """
        _require_methods(graph, "graph of rustworkx", "node_indices", "edge_list")
        directed = hasattr(graph, "to_undirected")  # a PyGraph has no such method
        indices = np.asarray(graph.node_indices(), np.int64)
        edges = np.searchsorted(indices, np.asarray(graph.edge_list(), np.int64).reshape(-1, 2))
        gaps = len(indices) > 0 and indices[-1] >= len(indices)
        names = indices.tolist() if gaps else None
        return cls.from_edge_array(
            edges, n=len(indices), names=names, simplify=simplify, directed=directed, multigraph=True
        )

    @classmethod
    def from_rdkit(cls: type[Made], molecule: Any, *, names: Sequence[Hashable] | None = None) -> Made:
        """Build a graph from a molecule of RDKit, or any object with its methods: atoms for vertices, bonds for edges.

        Parameters
        ----------
        molecule : rdkit.Chem.Mol
            The vertices are the indices of its atoms, from 0 on.
        names : sequence of hashable, optional
            Other names of the vertices.
        """
        _require_methods(molecule, "molecule of RDKit", "GetNumAtoms", "GetBonds")
        bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
        return cls.from_edge_array(bonds, n=molecule.GetNumAtoms(), names=names)

    @classmethod
    def from_scipy(
        cls: type[Made],
        matrix: Any,
        *,
        names: Sequence[Hashable] | None = None,
        simplify: bool = False,
        directed: bool = False,
    ) -> Made:
        """Build a graph from a square sparse adjacency matrix of scipy, or any object with ``tocoo``.

        Parameters
        ----------
        matrix : scipy.sparse matrix or array, shape (n, n)
            An edge wherever an entry is not zero; entries of the same place are added up, as scipy does. The matrix
            must be symmetric unless the graph is directed.
        names : sequence of hashable, optional
            Names of the vertices.
        simplify : bool
            Drop the diagonal and take an entry on either side of it as an edge.
        directed : bool
            The entry in row u and column v is an arc from u to v, on the diagonal a self-loop.

        Raises
        ------
        GraphError
            For a matrix that is not square or has entries that are not numbers. Unless `simplify` or `directed`, also
            for one that is not symmetric or has an entry on its diagonal.
        """
        _require_methods(matrix, "sparse matrix", "shape", "tocoo")
        size = require_square(matrix.shape)
        entries = matrix.tocoo()
        values = require_numbers(np.asarray(entries.data))
        places = np.asarray(entries.row).astype(np.int64) * size + np.asarray(entries.col)
        keys = np.unique(places)
        sums = np.zeros(len(keys), values.dtype)
        np.add.at(sums, np.searchsorted(keys, places), values)
        return _from_entries(cls, size, keys[sums != 0], names, simplify, directed, "scipy")

    @classmethod
    def from_numpy(
        cls: type[Made],
        matrix: npt.ArrayLike,
        *,
        names: Sequence[Hashable] | None = None,
        simplify: bool = False,
        directed: bool = False,
    ) -> Made:
        """Build a graph from a square adjacency matrix.

        Parameters
        ----------
        matrix : array_like of bool or number, shape (n, n)
            An edge wherever an entry is not zero; a masked entry is missing.
        names, simplify, directed
            As for `from_scipy`.

        Raises
        ------
        GraphError
            As for `from_scipy`.

        Examples
        --------
        >>> from chordless import Graph
        >>> Graph.from_numpy([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
        Graph(n=3, m=3)
        """
        try:
            array = np.asarray(np.ma.filled(matrix, 0))
        except ValueError as error:
            raise GraphError(f"an adjacency matrix is square: {error}") from None
        size = require_square(array.shape)
        return _from_entries(cls, size, np.flatnonzero(require_numbers(array)), names, simplify, directed, "numpy")

    @classmethod
    def from_pandas(cls: type[Made], frame: Any, *, simplify: bool = False, directed: bool = False) -> Made:
        """Build a graph from a matrix in a data frame of pandas, or any object with its methods.

        Parameters
        ----------
        frame : pandas.DataFrame
            An edge wherever an entry is neither 0 nor missing. Rows and columns have the same names, in any order.
            Where the rows are called by numbers, the texts of these numbers are the same names.
        simplify : bool
            Drop the diagonal and take an entry on either side of it as an edge.
        directed : bool
            An entry is an arc from its row to its column. These need not have the same names then: the rows of a
            predation matrix are prey, its columns predators.

        Returns
        -------
        Graph
            The names of its rows come first, then those that only columns have.

        Raises
        ------
        GraphError
            For entries that are not numbers, for two rows or two columns of the same name, for one without a name
            (NaN), and for numbered rows below columns that are not, as in a list of edges. Unless
            `simplify` or `directed`, also for rows and columns with different names, and as for `from_scipy`.
        """
        if not is_frame(frame) or isinstance(frame, type):
            raise GraphError(f"{type_of(frame)} is not a data frame")
        require_flags(simplify=simplify, directed=directed)
        rows, columns = list(frame.index), list(frame.columns)
        if set(map(str, rows)) == set(columns) and all(isinstance(name, Integral) for name in rows):
            columns = [int(name) for name in columns]  # pandas.read_csv makes numbers of the rows' names alone
        names = list(dict.fromkeys([*rows, *columns]))
        if any(map(_is_missing, names)):
            # It is not equal to itself: that of a row could not be told from that of a column.
            raise GraphError("a row or a column of the data frame has no name (NaN): each needs one")
        if len(set(rows)) < len(rows) or len(set(columns)) < len(columns):
            raise GraphError("two rows or two columns of the data frame have the same name: names must differ")
        if not (simplify or directed or len(names) == len(rows) == len(columns)):
            raise GraphError(
                "an adjacency matrix has the same names in rows and columns, this data frame has not "
                "(Graph.from_pandas takes a predation matrix with directed=True, chordless.overlap_graph too; "
                "Graph.from_edges takes a list of edges)"
            )
        hint = "names of rows belong to the index, as pandas.read_csv makes it with index_col=0"
        is_complex = any(getattr(kind, "kind", None) == "c" for kind in frame.dtypes)
        try:
            entries = np.argwhere(require_numbers(_cells(frame, complex if is_complex else float)))
        except (TypeError, ValueError) as error:
            raise GraphError(f"a matrix holds numbers, 0 or nothing where there is no edge: {error} ({hint})") from None
        # A list of edges has the numbers of its lines for names of the rows.
        are_numbered = [{isinstance(name, Integral) for name in side} for side in (rows, columns)]
        if are_numbered == [{True}, {False}]:
            raise GraphError(
                "the rows of this data frame are numbered, its columns are not: it is no matrix, unless the rows have "
                f"names ({hint}; `frame.columns.astype(int)` makes numbers of the columns' names; "
                "Graph.from_edges takes a list of edges)"
            )
        place = {name: v for v, name in enumerate(names)}
        to = np.array([place[name] for name in columns], np.int64)[entries[:, 1]]
        keys = np.sort(entries[:, 0] * len(names) + to)
        return _from_entries(cls, len(names), keys, names, simplify, directed, "pandas")


def _require_methods(thing: Any, what: str, *names: str) -> None:
    if isinstance(thing, type) or not all(hasattr(thing, name) for name in names):
        raise GraphError(f"{type_of(thing)} is not a {what} (chordless.as_graph takes the graphs of every library)")


def _is_missing(name: Hashable) -> bool:
    """Return whether a name, or a part of it, is a number that is not equal to itself (NaN)."""
    if isinstance(name, tuple):
        return any(map(_is_missing, name))
    return isinstance(name, (Number, np.generic)) and bool(name != name)


def _cells(frame: Any, kind: type) -> npt.NDArray[Any]:
    """Return the entries of a data frame as numbers, those that are missing as 0."""
    try:
        cells: npt.NDArray[Any] = frame.to_numpy(dtype=kind, na_value=0)
        return cells
    except (TypeError, ValueError):
        # A column of texts takes no 0, and pandas.NA among objects is made a number before it is replaced.
        return np.where(frame.isna(), 0, frame.to_numpy(dtype=object)).astype(kind)


def is_frame(thing: Any) -> bool:
    """Return whether something is a data frame with names of rows and columns, as those of pandas are."""
    return all(hasattr(thing, name) for name in ("index", "columns", "to_numpy"))


def _from_entries(
    made: type[Made],
    n: int,
    keys: IntArray,
    names: Sequence[Hashable] | None,
    simplify: bool,
    directed: bool,
    library: str,
) -> Made:
    """Build a graph from the ascending positions of the non-zero entries of an n x n matrix of a library."""
    require_flags(simplify=simplify, directed=directed)
    if names is not None:
        checked_names(names, n)
        names = tuple(names)
    u, v = np.divmod(keys, max(n, 1))
    directed = directed and not simplify
    if not (simplify or directed):
        one_way = ~np.isin(v * n + u, keys)
        if one_way.any():
            at = int(np.argmax(one_way))
            one, other = (int(u[at]), int(v[at])) if names is None else (names[u[at]], names[v[at]])
            raise GraphError(
                f"the matrix is directed: it has entry ({one}, {other}) but not ({other}, {one}) "
                f"({SIMPLIFY} takes either as an edge, Graph.from_{library}(matrix, directed=True) makes a directed "
                "graph)"
            )
        if (u == v).any():
            loop = int(u[np.argmax(u == v)])
            name = loop if names is None else names[loop]
            raise GraphError(
                f"the matrix has an entry on its diagonal: {name} is joined to itself ({SIMPLIFY} drops it)"
            )
        upper = u <= v
        u, v = u[upper], v[upper]
    return made.from_edge_array(np.column_stack((u, v)), n=n, names=names, simplify=simplify, directed=directed)
