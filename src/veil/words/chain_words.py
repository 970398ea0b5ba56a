"""The feasible paths of a Markov chain."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from veil.core.brief import brief_repr
from veil.core.errors import InvalidArgument
from veil.core.intake import array_of, named_matrix
from veil.core.record import Release
from veil.words.language import Language, labels_from, written
from veil.words.numerics.graph import WordGraph, graph_of
from veil.words.word_batch import Labels

Successors = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, init=False)
class ChainWords(Language):
    """The paths of a Markov chain: words in which every symbol may follow the one before it.

    support: which state may follow which - {state: [states]}, a square matrix (above zero is allowed), a
        veil.Chain or a release of one, a pandas frame, a SciPy sparse array, a NetworkX digraph.
    length: the number of symbols, the start not among them.
    start: the public state before the first symbol; None if a word may begin with any state.
    states: the labels of a bare matrix.

    >>> from veil import words
    >>> language = words.ChainWords({"home": ["shop", "work"], "shop": ["home"], "work": ["home"]}, 2)
    >>> ("shop", "home") in language, ("shop", "work") in language
    (True, False)
    """

    support: Support
    start: Any
    name: ClassVar[str] = "ChainWords"

    __repr__ = brief_repr

    def __init__(
        self,
        support: Any,
        length: int,
        *,
        start: Hashable | None = None,
        states: Sequence[Hashable] | None = None,
    ) -> None:
        object.__setattr__(self, "support", _taken(support, states))
        object.__setattr__(self, "length", length)
        try:
            known = start is None or start in self._places
        except TypeError:
            known = False
        if not known:
            raise InvalidArgument("start", expected="a state of the chain", found="another label")
        object.__setattr__(self, "start", start)
        super().__post_init__()
        if self.graph.is_empty:
            where = "" if start is None else " from the start"
            raise InvalidArgument(
                "support", expected=f"a path of {self.length} symbols{where}", found="only dead ends"
            )

    @property
    def labels(self) -> Labels:
        return self.support.labels

    @property
    def successors(self) -> Successors:
        """For each state, the places of those that may follow."""
        return self.support.successors

    @cached_property
    def graph(self) -> WordGraph:
        first = None if self.start is None else list(self.successors[self._places[self.start]])
        return graph_of([list(row) for row in self.successors], self.length, first=first)

    def of_length(self, length: int) -> Self:
        return type(self)(self.support, length, start=self.start)

    @property
    def words(self) -> str:
        where = "from anywhere" if self.start is None else "from a fixed, public start"
        edges = sum(map(len, self.successors))
        shape = f"{len(self.labels):,} states with {edges:,} allowed steps"
        return f"paths of {self.length} states over {shape}, {where}"

    def describe(self) -> dict[str, Any]:
        states = written(self.labels)
        return {
            "name": self.name,
            "support": {"states": states, "successors": [list(row) for row in self.successors]},
            "length": self.length,
            "start": None if self.start is None else states[self._places[self.start]],
        }


class Support(NamedTuple):
    """The allowed transitions: the states, and for each the places of those that may follow, rising."""

    labels: Labels
    successors: Successors


def _taken(support: Any, states: Sequence[Hashable] | None = None) -> Support:
    """The support that a user gives."""
    if isinstance(support, Support):
        return Support(labels_from("support", support.labels), support.successors)
    if isinstance(support, Release):
        from veil.matrices.chain_summary import to_chain

        support = to_chain(support)
    if isinstance(support, Mapping) and set(support) == {"states", "successors"}:
        labels = labels_from("support", support["states"])
        return Support(labels, _checked(support["successors"], len(labels)))
    if isinstance(support, Mapping) and not any(isinstance(row, Mapping) for row in support.values()):
        return _from_lists(support)
    if hasattr(support, "is_directed") and hasattr(support, "successors"):
        if not support.is_directed():
            raise InvalidArgument(
                "support",
                expected="a directed graph",
                found="an undirected one",
                hint="Use graph.to_directed().",
            )
        return _from_lists({node: list(support.successors(node)) for node in support})
    return _from_matrix(support, states)


def _from_lists(rows: Mapping[Hashable, Any]) -> Support:
    """{state: [states]}; states that only follow others have no successors."""
    if any(isinstance(row, (str, bytes)) or not hasattr(row, "__iter__") for row in rows.values()):
        raise InvalidArgument("support", expected="{state: [the states that may follow]}", found="others")
    lists = {state: list(row) for state, row in rows.items()}
    ends = [end for row in lists.values() for end in row]
    try:
        states = dict.fromkeys([*lists, *ends])
    except TypeError:
        raise InvalidArgument("support", expected="states such as text or numbers", found="others") from None
    labels = labels_from("support", states)
    place = {label: i for i, label in enumerate(labels)}
    after = ({place[end] for end in lists.get(label, ())} for label in labels)
    return Support(labels, tuple(tuple(sorted(row)) for row in after))


def _from_matrix(support: Any, states: Sequence[Hashable] | None) -> Support:
    rows, successors = matrix_support("support", support, InvalidArgument)
    labels = labels_from("states", rows if states is None else states)
    if len(labels) != len(rows):
        raise InvalidArgument("states", expected=f"{len(rows)} labels", found=f"{len(labels)}")
    return Support(labels, successors)


def matrix_support(field: str, value: Any, error: Any, least: float = 0.0) -> Support:
    """What a square matrix allows: entries above 0 and not below least. error: what is raised."""
    from scipy.sparse import csr_array

    if all(kind == np.bool_ for kind in getattr(value, "dtypes", [getattr(value, "dtype", None)])):
        array_of(field, value)
        value = value.astype(np.float64)
    elif isinstance(value, (list, tuple)):
        value = [
            [float(x) if isinstance(x, bool) else x for x in row] if isinstance(row, (list, tuple)) else row
            for row in value
        ]
    taken = named_matrix(field, value)
    shape = taken.entries.shape
    if len(shape) != 2 or not shape[0] or shape[0] != shape[1]:
        raise error(field, expected="as many rows as columns", found=f"an array of shape {shape}")
    numbers = taken.entries if isinstance(taken.entries, np.ndarray) else taken.entries.data
    if not np.isfinite(numbers).all() or (numbers.size and numbers.min() < 0.0):
        raise error(field, expected="finite entries of at least 0", found="others")
    labels = taken.rows or taken.columns or tuple(range(shape[0]))
    place = {str(label): i for i, label in enumerate(labels)}
    columns = list(map(str, taken.columns or labels))
    if set(columns) != set(place):
        raise error(field, expected="the same states as rows and columns", found="different ones")
    rows, places = csr_array(taken.entries), np.array([place[column] for column in columns])
    kept, spans = (rows.data > 0.0) & (rows.data >= least), pairwise(rows.indptr.tolist())
    after = (places[rows.indices[a:b][kept[a:b]]].tolist() for a, b in spans)
    return Support(labels, tuple(tuple(sorted(row)) for row in after))


def _checked(rows: Any, size: int) -> Successors:
    """The successors that a file lists."""
    try:
        rows_of_ends = tuple(tuple(sorted({int(end) for end in row})) for row in rows)
    except (TypeError, ValueError):
        rows_of_ends = ()
    if len(rows_of_ends) != size or any(row and not 0 <= row[0] <= row[-1] < size for row in rows_of_ends):
        raise InvalidArgument("support", expected=f"the successors of {size} states", found="others")
    return rows_of_ends
