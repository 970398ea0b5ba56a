"""Graphs: which pairs of nodes are joined; and their domain."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from veil.core.checks import items, truth
from veil.core.errors import InvalidArgument, InvalidData, MissingExtra
from veil.core.mechanism import Domain
from veil.graphs.numerics.pairs import MOST_NODES, Codes, PairSpace

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Labels = tuple[Hashable, ...]
NODES_ARE_PUBLIC = "the list of nodes is public"


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """The edges of a graph as sorted numbers of pairs. Make one with `Graph.of` or `Graph.from_edges`.

    space: which pairs there are. labels: of the nodes, or None for 0, 1, 2 ...; column_labels: of the other
    side of a bipartite graph.
    """

    space: PairSpace
    codes: Codes
    labels: Labels | None = None
    column_labels: Labels | None = None

    def __post_init__(self) -> None:
        codes = np.ascontiguousarray(self.codes, dtype=np.int64)
        if codes.ndim != 1 or (len(codes) and (codes[0] < 0 or codes[-1] >= self.space.count)):
            raise InvalidArgument("codes", expected=f"numbers below {self.space.count}", found="others")
        if len(codes) > 1 and (np.diff(codes) <= 0).any():
            raise InvalidArgument("codes", expected="sorted numbers, each once", found="others")
        if codes is self.codes and codes.flags.writeable:
            codes = codes.copy()
        codes.setflags(write=False)
        object.__setattr__(self, "codes", codes)
        for field, size in {"labels": self.space.rows, "column_labels": self.columns}.items():
            labels = getattr(self, field)
            if labels is not None and (len(labels) != size or len(set(labels)) != size):
                raise InvalidArgument(field, expected=f"{size} different labels", found=f"{len(labels)}")

    @property
    def columns(self) -> int:
        """The nodes of the other side; 0 unless bipartite."""
        return self.space.columns if self.space.kind == "bipartite" else 0

    def __repr__(self) -> str:
        # The edges may be those to be hidden, and so may be their number.
        return f"<{self.space.kind} Graph of {self.space.nodes} nodes>"

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Graph)
            and self.space == other.space
            and self.node_labels == other.node_labels
            and self.other_labels == other.other_labels
            and np.array_equal(self.codes, other.codes)
        )

    def __hash__(self) -> int:
        return hash((self.space, self.codes.tobytes()))

    # Making

    @classmethod
    def of(cls, value: Any, *, directed: bool = False, bipartite: bool = False, loops: bool = False) -> Graph:
        """A graph of NetworkX or a SciPy sparse adjacency matrix as a Graph.

        directed: of a matrix, that entry (i, j) is an edge from i to j; a NetworkX graph says so itself.
        bipartite: rows and columns are different nodes (NetworkX: the node attribute "bipartite" says which).
        loops: whether an edge may join a node to itself.
        """
        from veil.graphs.intake import from_networkx, from_sparse

        directed, bipartite = truth("directed", directed), truth("bipartite", bipartite)
        loops = truth("loops", loops)
        if isinstance(value, Graph):
            return value
        if hasattr(value, "tocoo"):
            return from_sparse(value, directed=directed, bipartite=bipartite, loops=loops)
        if hasattr(value, "is_directed") and hasattr(value, "nodes"):
            return from_networkx(value, bipartite=bipartite, loops=loops)
        raise InvalidData(
            "graph",
            expected="a NetworkX graph or a SciPy sparse adjacency matrix",
            found=type(value).__name__,
            hint="scipy.sparse.csr_array(matrix) makes one; graphs.read takes pairs of nodes and tables.",
        )

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[Hashable, Hashable]],
        nodes: int | Iterable[Hashable],
        *,
        directed: bool = False,
        loops: bool = False,
    ) -> Graph:
        """A graph from pairs of nodes. nodes: their list, or how many there are (0, 1, 2 ...); public.

        >>> from veil import graphs
        >>> friends = graphs.Graph.from_edges([("ann", "bob"), ("bob", "cy")], ["ann", "bob", "cy", "dee"])
        >>> len(friends), friends.space.count
        (2, 6)
        """
        from veil.graphs.intake import distinct_codes

        labels: Labels | None = None
        if not isinstance(nodes, (int, np.integer)):
            labels = tuple(items("nodes", nodes, expected="how many there are, or their list"))
        count = check_nodes(int(cast("int", nodes)) if labels is None else len(labels))
        if type(edges).__name__ == "DataFrame":
            frame: Any = edges
            edges = zip(frame.iloc[:, 0], frame.iloc[:, 1], strict=True)
        directed, loops = truth("directed", directed), truth("loops", loops)
        try:
            # Nodes that are only counted are not made: a number may say far more of them than fit.
            place: Any = range(count) if labels is None else {label: i for i, label in enumerate(labels)}
        except TypeError:
            expected = "labels such as text or numbers"
            raise InvalidArgument("nodes", expected=expected, found="others") from None
        if len(place) != count:
            raise InvalidArgument("nodes", expected="different labels", found="one of them twice")
        ends = []
        if not isinstance(edges, Iterable) or hasattr(edges, "tocoo"):
            raise InvalidData("edges", expected="pairs of nodes", found=type(edges).__name__)
        edge: Any
        for number, edge in enumerate(edges):
            try:
                first, second = edge
                if labels is None and (first < 0 or second < 0):
                    raise IndexError
                ends.append((place[first], place[second]))
            except (TypeError, ValueError, LookupError):
                found = f"something else at position {number}"
                raise InvalidData("edges", expected="pairs of nodes that are listed", found=found) from None
        space = PairSpace.among(count, directed=directed, loops=loops)
        return Graph(space, distinct_codes(space, *np.array(ends, dtype=np.int64).reshape(-1, 2).T), labels)

    # Looking

    @property
    def node_labels(self) -> Labels:
        return tuple(range(self.space.rows)) if self.labels is None else self.labels

    @property
    def other_labels(self) -> Labels:
        """Those of the other side of a bipartite graph."""
        return tuple(range(self.columns)) if self.column_labels is None else self.column_labels

    def edges(self, *, loops: bool = True) -> tuple[Codes, Codes]:
        """The two ends of every edge, as places among the nodes. loops: with or without those."""
        rows, columns = self.space.ends(self.codes)
        apart = slice(None) if loops else rows != columns
        return rows[apart], columns[apart]

    def labelled_edges(self) -> list[tuple[Hashable, Hashable]]:
        """The two ends of every edge, by their labels."""
        rows, columns = self.edges()
        left = self.node_labels
        right = self.other_labels if self.space.kind == "bipartite" else left
        return [(left[i], right[j]) for i, j in zip(rows.tolist(), columns.tolist(), strict=True)]

    def matrix(self, dtype: Any = np.bool_) -> csr_array:
        """The adjacency matrix, of an undirected graph with both halves."""
        from scipy.sparse import coo_array

        rows, columns = self.edges()
        if self.space.kind == "undirected":
            apart = rows != columns
            rows, columns = np.append(rows, columns[apart]), np.append(columns, rows[apart])
        shape = (self.space.rows, self.space.columns)
        return coo_array((np.ones(len(rows), dtype=dtype), (rows, columns)), shape=shape).tocsr()

    # Making others of the same nodes

    def replaced(self, codes: Codes) -> Graph:
        """The same nodes with other edges."""
        return Graph(self.space, codes, self.labels, self.column_labels)

    def to_networkx(self) -> Any:
        """A NetworkX graph of the same nodes, in their order; attributes are not part of a graph here."""
        try:
            import networkx
        except ImportError:
            raise MissingExtra("networkx", "networkx") from None
        made = networkx.DiGraph() if self.space.kind == "directed" else networkx.Graph()
        if self.space.kind == "bipartite":
            made.add_nodes_from(self.node_labels, bipartite=0)
            made.add_nodes_from(self.other_labels, bipartite=1)
            if len(made) != self.space.nodes:
                raise InvalidArgument(
                    "labels", expected="labels that differ between the two sides", found="shared ones"
                )
        else:
            made.add_nodes_from(self.node_labels)
        made.add_edges_from(self.labelled_edges())
        return made


def check_nodes(count: int) -> int:
    """The number of nodes, of a size that can be counted with."""
    if not 1 <= count <= MOST_NODES:
        raise InvalidData("nodes", expected=f"between 1 and {MOST_NODES:,} nodes", found=f"{count:,}")
    return count


def checked_labels(field: str, labels: Sequence[Any], side: str = "") -> tuple[Any, ...]:
    """Labels that files can hold: text or whole numbers, different as text. side: which one errors name."""
    for label in labels:
        if isinstance(label, bool) or not isinstance(label, (str, int)) or label == "":
            raise InvalidArgument(
                field,
                expected=f"labels that are text or whole numbers{side}",
                found="an empty one" if label == "" else f"one of type {type(label).__name__}",
            )
    if len(set(map(str, labels))) < len(labels):
        raise InvalidArgument(field, expected=f"labels that all differ{side}", found="one of them twice")
    return tuple(labels)


@dataclass(frozen=True, slots=True)
class Graphs(Domain):
    """Graphs on any public list of nodes; each pair of nodes is a bit."""

    name: ClassVar[str] = "Graphs"
    kind: ClassVar[str] = "graph"

    @property
    def words(self) -> str:
        return "graphs"

    def validate(self, value: Any) -> Graph:
        """The value as a Graph in which two nodes could be joined."""
        graph = Graph.of(value)
        if graph.space.count < 1:
            raise InvalidData("nodes", expected="at least two nodes", found=f"{graph.space.nodes}")
        return graph

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}
