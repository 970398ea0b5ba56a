"""How often one state followed another: what a table of trips or a log is reduced to."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from veil.chains.lengths import LengthBins
from veil.core.checks import integer, items, truth
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Names
from veil.core.mechanism import Domain
from veil.vectors.counts import LARGEST_COUNT, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# From here on a full table of states x states would no longer be small.
MOST_FULL = 4_096
# Of a sparse table: one number is kept for each.
_MOST_STATES = 2**28


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where counts come from, as far as a release of them must state it.

    states_found: the labels are those that occurred, so that the list itself tells something.
    layout_guessed: how the file is laid out was found out from it. has_users: the source says who made each
    transition. without_names: sequences of which nobody knows whose they are. of_trips: each row of the
    source was one transition, rather than a row of a log. unchecked: the source is a query or a view of which
    it is not known that each record gives at most one row and affects no other.
    """

    states_found: bool = False
    layout_guessed: bool = False
    has_users: bool = False
    without_names: bool = False
    of_trips: bool = False
    unchecked: bool = False

    def __post_init__(self) -> None:
        for field_ in fields(self):
            object.__setattr__(self, field_.name, truth(field_.name, getattr(self, field_.name)))


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """The users whose sequences have at least `least` states (and fewer than the next stratum's).

    cap: the most transitions counted of one of them. matrix: their counts.
    """

    least: int
    cap: int
    matrix: Integers = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """What is counted once for each sequence. starts, ends: by first and last state; lengths: by bin."""

    starts: Integers = field(repr=False)
    ends: Integers = field(repr=False)
    lengths: Integers = field(repr=False)
    bins: LengthBins


@dataclass(frozen=True, slots=True, eq=False)
class OncePerUser:
    """Each pair of states was counted once for each user: how many users left and entered each state.

    departures, arrivals: the users with a counted transition from each state, and to each.
    """

    departures: Integers = field(repr=False)
    arrivals: Integers = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Visitors:
    """How many users each found state has, from which it is decided whether it may be named.

    users: the number of each state; where users are not counted, how many transitions touch it. most: the
    states that one user (or one transition) counts for, at most. starts, ends: where each pair of states was
    counted once for each user, the users of each pair whose first counted pair from its origin, or to its
    end, it is.
    """

    users: Integers = field(repr=False)
    most: int
    starts: csr_array | None = field(default=None, repr=False)
    ends: csr_array | None = field(default=None, repr=False)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class TransitionCounts:
    """Counts of transitions [from, to] in the order of `states`. This is sensitive data, not a release.

    matrix: whole numbers, NumPy or SciPy sparse; stays (or becomes) sparse above 4,096 states.
    states: the labels, all different; None for 0, 1, ...
    cap: the most transitions that were counted of any one user; None if that was not bounded.
    provenance: where the counts come from.
    sequences, strata, second, groups: further counts, where asked for; second[b, i, j] counts i -> j
        after b, with b = len(states) where i was the first. second_cap: its own cap, where it has one.
    once: where each pair of states was counted once for each user, how many users left and entered a state.
    visitors: where the states are those that were found, and are named privately, the users of each.
    total: how many transitions were counted.

    >>> from veil import chains
    >>> counts = chains.TransitionCounts([[8, 2], [1, 4]], ["home", "work"])
    >>> len(counts), counts.total
    (2, 15)
    """

    matrix: Integers | csr_array
    states: Names
    cap: int | None
    provenance: Provenance
    sequences: Sequences | None
    strata: tuple[Stratum, ...]
    second: Integers | None
    second_cap: int | None
    groups: Mapping[str, Integers] | None
    once: OncePerUser | None
    visitors: Visitors | None
    total: int

    def __init__(
        self,
        matrix: Any,
        states: Sequence[Hashable] | None = None,
        *,
        cap: int | None = None,
        provenance: Provenance | None = None,
        sequences: Sequences | None = None,
        strata: Sequence[Stratum] = (),
        second: Integers | None = None,
        second_cap: int | None = None,
        groups: Mapping[str, Integers] | None = None,
        once: OncePerUser | None = None,
        visitors: Visitors | None = None,
    ) -> None:
        from scipy.sparse import issparse

        if type(matrix).__name__ == "DataFrame":
            matrix, states = _labelled(matrix, states)
        counted: Any = _sparse(matrix) if issparse(matrix) else _table("matrix", matrix)
        size = counted.shape[0]
        for name, given, kind, expected in (
            ("provenance", provenance, Provenance, "a chains.Provenance"),
            ("sequences", sequences, Sequences, "counted sequences"),
            ("groups", groups, Mapping, "a mapping of groups to tables"),
            ("once", once, OncePerUser, "counts of users by state"),
            ("visitors", visitors, Visitors, "numbers of users by state"),
        ):
            if given is not None and not isinstance(given, kind):
                raise InvalidArgument(name, expected=expected, found=type(given).__name__)
        layers = tuple(items("strata", strata, expected="a list of strata"))
        if not all(isinstance(stratum, Stratum) for stratum in layers):
            raise InvalidArgument("strata", expected="counted strata", found="something else")
        most = None if cap is None else integer("cap", cap, least=1)
        second_most = most if second_cap is None else integer("second_cap", second_cap, least=1)
        caps = [second_most, *(stratum.cap for stratum in layers)]
        if any(one is not None and (most is None or one > most) for one in caps):
            raise InvalidArgument("cap", expected="the largest of all caps", found=repr(most))
        for stratum in layers:
            _table("strata", stratum.matrix, (size, size))
        if sequences is not None:
            for name, length in (("starts", size), ("ends", size), ("lengths", len(sequences.bins))):
                _table(name, getattr(sequences, name), (length,))
        if once is not None:
            if most is None:
                raise InvalidArgument("once", expected="{cap} with it", found="none", names=("cap",))
            for name in ("departures", "arrivals"):
                _table(name, getattr(once, name), (size,))
        if visitors is not None:
            _table("visitors", visitors.users, (size,))
            integer("visitors", visitors.most, least=1)
            if (once is None) != (visitors.starts is None or visitors.ends is None):
                raise InvalidArgument("visitors", expected="users of pairs with {once}", found="others")
        by_group = groups and {str(name): _table("groups", one, (size, size)) for name, one in groups.items()}
        origin = Provenance() if provenance is None else provenance
        content = {
            "matrix": counted,
            "states": _checked_states(states, size),
            "cap": most,
            # Who made a transition was known where so many of each user were counted.
            "provenance": replace(origin, has_users=True) if most is not None else origin,
            "sequences": sequences,
            "strata": layers,
            "second": None if second is None else _table("second", second, (size + 1, size, size)),
            "second_cap": second_most,
            "groups": by_group,
            "once": once,
            "visitors": visitors,
            "total": int(counted.sum()),
        }
        for name, value in content.items():
            object.__setattr__(self, name, value)

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.matrix, np.ndarray)

    def filled(self) -> tuple[Integers, Integers]:
        """The pairs of states with a count, by number (from * states + to) and rising, and their counts."""
        from scipy.sparse import csr_array

        matrix = csr_array(self.matrix)
        matrix.sort_indices()
        origins = np.repeat(np.arange(len(self), dtype=np.int64), np.diff(matrix.indptr))
        some = matrix.data > 0
        cells = origins[some] * len(self) + matrix.indices[some]
        return cells, np.asarray(matrix.data[some], dtype=np.int64)

    def margins(self) -> tuple[Integers, Integers]:
        """How often each state was left, and entered; by how many users, where pairs count once for each."""
        if self.once is not None:
            return self.once.departures, self.once.arrivals
        sums = (np.asarray(self.matrix.sum(axis=axis), dtype=np.int64).ravel() for axis in (1, 0))
        left, entered = sums
        return left, entered

    def among(self, places: Integers) -> tuple[Any, Integers | None, Integers | None]:
        """What was counted among some of the states, by their places: the pairs, and where each pair counts
        once a user, how many users left each state and entered it, by the first of their pairs.
        """
        from scipy.sparse import csr_array

        def part(table: Any) -> Any:
            return csr_array(table)[places][:, places]

        visitors = self.visitors
        if visitors is None or visitors.starts is None:
            return part(self.matrix), None, None
        left = np.asarray(part(visitors.starts).sum(axis=1), dtype=np.int64).ravel()
        entered = np.asarray(part(visitors.ends).sum(axis=0), dtype=np.int64).ravel()
        return part(self.matrix), left, entered

    def __len__(self) -> int:
        return len(self.states)

    def __eq__(self, other: object) -> bool:
        return same_content(self, other) if isinstance(other, TransitionCounts) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.states, self.cap, self.second_cap, self.provenance))

    def __repr__(self) -> str:
        # No number that was counted: a repr ends up in logs.
        return f"<chains.TransitionCounts of {len(self)} states>"


def same_content(one: Any, other: Any) -> bool:
    """Whether two values are equal to the last bit, those that hold arrays too."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(same_content(one[key], other[key]) for key in one)
    if isinstance(one, tuple) and one and is_dataclass(one[0]):
        return len(one) == len(other) and all(map(same_content, one, other))
    if is_dataclass(one):
        parts = [field_.name for field_ in fields(one)]
        return all(same_content(getattr(one, part), getattr(other, part)) for part in parts)
    if hasattr(one, "nnz"):
        return one.shape == other.shape and int(abs(one - other).max()) == 0
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else bool(one == other)


def _checked_states(states: Sequence[Hashable] | None, size: int) -> Names:
    if states is not None and not isinstance(states, str):
        states = items("states", states, expected="a list of labels")
    names: Names = tuple(range(size)) if states is None else tuple(states)
    if len(names) != size:
        raise InvalidArgument(
            "states", expected=f"{size} labels, one for each row of the matrix", found=str(len(names))
        )
    if len(set(map(str, names))) != size:
        raise InvalidArgument("states", expected="labels that all differ", found="one that occurs twice")
    return names


def _labelled(matrix: Any, states: Sequence[Hashable] | None) -> tuple[Any, Sequence[Hashable] | None]:
    """The rows and columns of a frame in one order: that of the states, or of its own rows."""
    rows, columns = list(matrix.index), list(matrix.columns)
    if type(matrix.index).__name__ == "RangeIndex" and rows != columns:
        return matrix.to_numpy(), states
    wanted = rows if states is None else list(states)
    for side, names in (("rows", rows), ("columns", columns)):
        if sorted(map(str, names)) != sorted(map(str, wanted)):
            raise InvalidData("matrix", expected=f"the states as labels of its {side}", found="others")
    places = {str(name): i for i, name in enumerate(rows)}, {str(name): i for i, name in enumerate(columns)}
    order = [[place[str(name)] for name in wanted] for place in places]
    return matrix.to_numpy()[np.ix_(*order)], wanted


def _sparse(matrix: Any) -> Any:
    """A sparse matrix as whole numbers of its own; an array where it has few states."""
    from scipy.sparse import csr_array

    if max(matrix.shape) > _MOST_STATES:
        raise InvalidData("matrix", expected=f"at most {_MOST_STATES:,} states", found="more")
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 2:
        raise _not_square(matrix.shape)
    sparse = csr_array(matrix, copy=True)
    sparse.sum_duplicates()
    _table("matrix", sparse.data, sparse.data.shape)
    sparse = sparse.astype(np.int64)
    return sparse if sparse.shape[0] > MOST_FULL else _table("matrix", sparse.toarray())


def _not_square(shape: tuple[int, ...]) -> InvalidData:
    return InvalidData(
        "matrix",
        expected="counts of transitions, as many rows as columns, two or more",
        found=f"shape {shape}",
        hint="A table of trips or a log is counted by chains.read first.",
    )


def _table(field: str, table: Any, shape: tuple[int, ...] | None = None) -> Any:
    """A table as whole numbers of its own; without a shape the matrix itself, sparse above 4,096 states."""
    try:
        array = np.asarray(table)
    except ValueError:
        raise InvalidData(field, expected="a table of counts", found="rows of uneven length") from None
    if shape is None and (array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2):
        raise _not_square(array.shape)
    if shape is not None and array.shape != shape:
        raise InvalidData(field, expected=f"a table of shape {shape}", found=f"shape {array.shape}")
    if array.dtype.kind not in "iuf":
        raise InvalidData(field, expected="counts", found=f"an array of {array.dtype}")
    if not np.isfinite(array).all() or (array < 0).any() or (array != np.floor(array)).any():
        raise InvalidData(field, expected="whole numbers of at least 0", found="others")
    if float(array.sum(dtype=np.float64)) >= LARGEST_COUNT:
        raise InvalidData(field, expected=f"fewer than {LARGEST_COUNT} transitions", found="more")
    whole = array.astype(np.int64)
    whole.setflags(write=False)
    if shape is None and len(whole) > MOST_FULL:
        from scipy.sparse import csr_array

        return csr_array(whole)
    return whole


@dataclass(frozen=True, slots=True)
class TransitionTable(Domain):
    """The domain of counted transitions between so many states."""

    states: int
    words: str = field(init=False, repr=False, compare=False)
    name: ClassVar[str] = "TransitionTable"
    kind: ClassVar[str] = "chain"

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", integer("states", self.states, least=2))
        object.__setattr__(self, "words", f"counts of transitions between {self.states} states")

    def validate(self, value: Any) -> TransitionCounts:
        """The value as counts of transitions; a bare matrix of counts will do."""
        counts = value if isinstance(value, TransitionCounts) else TransitionCounts(value)
        if len(counts.states) != self.states:
            raise InvalidData("counts", expected=f"{self.states} states", found=str(len(counts.states)))
        return counts

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "states": self.states}


@dataclass(frozen=True, slots=True)
class FoundTransitions(Domain):
    """The domain of counted transitions between states that were found, with the users of each."""

    words: str = field(
        init=False, repr=False, compare=False, default="counts of transitions between states that were found"
    )
    name: ClassVar[str] = "FoundTransitions"
    kind: ClassVar[str] = "chain"

    def validate(self, value: Any) -> TransitionCounts:
        """The value as counts of transitions with the users of each state."""
        if not isinstance(value, TransitionCounts) or value.visitors is None:
            expected, found = "counts of {states=discover}", "others"
            raise InvalidData("counts", expected=expected, found=found)
        return value

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}
