"""Markov chains, and everything one asks of them.

What is computed here is post-processing of a chain that is public already: it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.checks import choice, integer, shown, within
from veil.core.errors import InvalidArgument, InvalidData, optional
from veil.core.intake import Names
from veil.core.record import frozen
from veil.matrices.chain_intake import (
    CommunicatingClass,
    Reducible,
    but_for_rounding,
    communicating_classes,
    take_chain,
)
from veil.matrices.numerics import stationary as algebra
from veil.matrices.numerics.elimination import hitting_times_to, stationary_dense
from veil.matrices.numerics.paths import Walker
from veil.matrices.numerics.sparse_stationary import stationary_sparse
from veil.matrices.numerics.stationary import column_spread, row_spread

if TYPE_CHECKING:
    import networkx
    import pandas
    from scipy.sparse import csr_array

    from veil.matrices.chain_summary import ChainComparison

MOST_DENSE = 3_000


class Chain:
    """A Markov chain on finitely many states.

    matrix: transition probabilities [from, to]; NumPy, nested lists, SciPy sparse, a pandas frame with
        labels, a NetworkX digraph with 'probability' or 'weight', or {from: {to: probability}}.
    states: their labels; by default those that came with the matrix, or 0, 1, ...

    Sparse input stays sparse: the stationary distribution, classes, entropy and simulation then work
    for 100,000 states; what needs a full matrix is for up to 3,000.

    >>> import veil
    >>> chain = veil.Chain([[0.9, 0.1], [0.5, 0.5]], states=["dry", "wet"])
    >>> chain.stationary().round(4).tolist(), chain.mixing_time(), round(chain.condition(), 4)
    ([0.8333, 0.1667], 2, 1.6667)
    """

    def __init__(self, matrix: Any, states: Sequence[Hashable] | None = None) -> None:
        self._matrix, self._states = take_chain(matrix, states)

    @property
    def matrix(self) -> Floats | csr_array:
        """The transition probabilities; not to be written to."""
        return self._matrix

    @property
    def states(self) -> Names:
        """The labels of the states."""
        return self._states

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self._matrix, np.ndarray)

    def __len__(self) -> int:
        return len(self._states)

    def __repr__(self) -> str:
        kind = f", sparse with {self.to_scipy().nnz} transitions" if self.is_sparse else ""
        return f"<veil.Chain of {len(self)} states{kind}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chain) or self.states != other.states:
            return False
        if isinstance(self._matrix, np.ndarray) and isinstance(other._matrix, np.ndarray):
            return bool(np.array_equal(self._matrix, other._matrix))
        return int((self.to_scipy() != other.to_scipy()).nnz) == 0

    def __hash__(self) -> int:
        return hash((self._states, self._matrix.shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.to_numpy(), dtype=dtype)

    def index(self, state: Hashable) -> int:
        """The number of a state."""
        try:
            return self._places[state]
        except (KeyError, TypeError):
            expected = f"one of {', '.join(map(str, self._states[:6]))}{', ...' if len(self) > 6 else ''}"
            raise InvalidArgument("state", expected=expected, found=shown(state)) from None

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {state: place for place, state in enumerate(self._states)}

    # What the chain looks like

    @cached_property
    def _labels_of_classes(self) -> tuple[int, NDArray[Any]]:
        from scipy.sparse.csgraph import connected_components

        count, labels = connected_components(self.to_scipy(), directed=True, connection="strong")
        return int(count), labels

    @property
    def is_irreducible(self) -> bool:
        """Whether every state reaches every other."""
        return self._labels_of_classes[0] == 1

    def classes(self) -> tuple[CommunicatingClass, ...]:
        """The communicating classes, the closed ones and the largest first."""
        matrix = self.to_scipy()
        return communicating_classes(self._states, matrix.indptr, matrix.indices, self._labels_of_classes[1])

    def period(self) -> int:
        """The period of an irreducible chain; 1 means that it forgets its start."""
        self._must_be_irreducible("a period")
        return self.classes()[0].period

    def restrict(self, states: Sequence[Hashable]) -> Chain:
        """The chain on some of its states, such as a closed class; rows are scaled to sum to 1 again."""
        places = [self.index(state) for state in states]
        part = self.to_scipy()[places][:, places]
        totals = np.asarray(part.sum(axis=1)).ravel()
        if not places or (totals <= 0.0).any():
            raise InvalidArgument("states", expected="states that lead to one another", found="others")
        from scipy.sparse import diags_array

        scaled = diags_array(1.0 / but_for_rounding(totals)) @ part
        return Chain(scaled if self.is_sparse else scaled.toarray(), states=list(states))

    def _must_be_irreducible(self, what: str) -> None:
        count, labels = self._labels_of_classes
        if count > 1:
            sizes = sorted(np.bincount(labels).tolist(), reverse=True)
            raise Reducible(
                f"matrix: expected an irreducible chain, for which {what} is unique; found {count} classes "
                f"of states that do not all reach each other (sizes {', '.join(map(str, sizes[:5]))}"
                f"{', ...' if count > 5 else ''}). chain.restrict(chain.classes()[0].states) is one of them."
            )

    def _dense(self, what: str) -> Floats:
        if isinstance(self._matrix, np.ndarray):
            return self._matrix
        if len(self) > MOST_DENSE:
            expected = f"at most {MOST_DENSE:,} states for {what}"
            raise InvalidArgument("matrix", expected=expected, found=f"{len(self):,}")
        return self._dense_copy

    @cached_property
    def _dense_copy(self) -> Floats:
        return self.to_numpy()

    # Where it goes in the long run

    @cached_property
    def _stationary(self) -> Floats:
        self._must_be_irreducible("a stationary distribution")
        dense = isinstance(self._matrix, np.ndarray)
        return frozen(stationary_dense(self._matrix) if dense else stationary_sparse(self._matrix))

    def stationary(self) -> Floats:
        """The stationary distribution: the long-run share of time in each state.

        By elimination without subtractions (Grassmann, Taksar and Heyman), so that every entry, however
        small, is accurate relative to itself.
        """
        return self._stationary

    @cached_property
    def _group_inverse(self) -> Floats:
        return frozen(algebra.group_inverse(self._dense("the group inverse"), self.stationary()))

    def group_inverse(self) -> Floats:
        """The group inverse of I - P: how a change of the transitions moves the stationary distribution."""
        return self._group_inverse

    def fundamental(self) -> Floats:
        """The fundamental matrix (I - P + 1 pi')^-1. (The papers print a minus before 1 pi'.)"""
        return self._group_inverse + self.stationary()

    def condition(self) -> float:
        """How much the stationary distribution can move: tau_1 of the group inverse of I - P.

        |pi - pi'|_1 <= condition() * (the largest L1 distance of two rows P_i, P'_i), for every P'.
        """
        return row_spread(self._group_inverse)

    def ergodicity(self, norm: int | str = 1) -> float:
        """An ergodicity coefficient of P, exactly.

        norm=1: half the largest L1 distance of two rows, at most 1; bounds |lambda_2|.
        norm="inf": that of the data-driven chains paper, Definition 7: the largest column sum of distances
        from the column's median; it can exceed 1.
        """
        kind = choice("norm", str(norm), ("1", "inf"))
        dense = self._dense("ergodicity coefficients")
        return row_spread(dense) if kind == "1" else column_spread(dense)

    def mixing_time(self, distance: float = 0.25) -> float:
        """The number of steps after which the start matters by at most `distance` in total variation.

        Infinite for a periodic chain.
        """
        distance = within("distance", distance, 1e-12, 1.0, expected="a number above 0 and at most 1")
        if self.period() > 1:
            return math.inf
        try:
            return algebra.mixing_time(self._dense("the mixing time"), self.stationary(), distance)
        except ArithmeticError:
            expected = "a chain that mixes within 2^62 steps"
            raise InvalidData("matrix", expected=expected, found="one that does not") from None

    def hitting_times(self, target: Hashable | None = None) -> Floats:
        """The mean number of steps to a target from each state; without one [i, j] from i to j.

        With a target the chain need not be irreducible, if every state reaches it.
        """
        dense = self._dense("hitting times")
        if target is None:
            self._must_be_irreducible("a hitting time")
            return algebra.hitting_times(dense, self.stationary())
        from scipy.sparse.csgraph import breadth_first_order

        place = self.index(target)
        reached = breadth_first_order(self.to_scipy().T.tocsr(), place, return_predecessors=False)
        if len(reached) < len(self):
            raise Reducible(
                f"target: expected a state that all states reach; found {target!r}, which some never do."
            )
        return hitting_times_to(dense, place)

    def second_eigenvalue(self) -> float:
        """The second largest modulus of an eigenvalue: the rate at which the start is forgotten."""
        modulus = algebra.second_eigenvalue(self._matrix, most_dense=MOST_DENSE)
        if modulus is None:
            expected = f"at most {MOST_DENSE:,} states, or a chain whose eigenvalues lie apart"
            raise InvalidArgument("matrix", expected=expected, found=f"{len(self):,}")
        return modulus

    def entropy_rate(self, base: float | None = None) -> float:
        """The mean surprise of a step, in nats (base=2: in bits)."""
        rate = algebra.entropy_rate(self._matrix, self.stationary())
        return rate if base is None else rate / math.log(within("base", base, 1.001, 1e9, expected="above 1"))

    # Where it goes from here

    @cached_property
    def _walker(self) -> Walker:
        return Walker.of(self._matrix)

    def simulate(
        self, steps: int, *, start: Hashable | None = None, paths: int | None = None, rng: Any = None
    ) -> NDArray[Any]:
        """Random walks: the labels of the states at times 0 to `steps`.

        start: the state at time 0; None draws it from the stationary distribution. paths: how many,
        each a row; None for a single one, without that axis. rng: a seed or a NumPy Generator.
        """
        visited = self.simulate_indices(steps, start=start, paths=paths, rng=rng)
        if all(type(state) is int and state == i for i, state in enumerate(self._states)):
            return visited
        plain = all(isinstance(state, str) for state in self._states)
        labels = np.array(self._states) if plain else np.fromiter(self._states, dtype=object)
        return np.asarray(labels[visited])

    def simulate_indices(
        self, steps: int, *, start: Hashable | None = None, paths: int | None = None, rng: Any = None
    ) -> NDArray[np.int32]:
        """As `simulate`, with the numbers of the states."""
        steps = integer("steps", steps, least=0)
        count = 1 if paths is None else integer("paths", paths, least=1)
        try:
            random = np.random.default_rng(rng)
        except (TypeError, ValueError):
            expected = "None, a seed of at least 0, or a numpy Generator"
            raise InvalidArgument("rng", expected=expected, found=shown(rng)) from None
        if start is None:
            starts = random.choice(len(self), size=count, p=self.stationary())
        else:
            starts = np.full(count, self.index(start))
        visited = self._walker.paths(starts, steps, random)
        return visited[0] if paths is None else visited

    def after(self, steps: int, start: Hashable) -> Floats:
        """The distribution over the states a number of steps after a start."""
        steps = integer("steps", steps, least=0)
        law = np.zeros(len(self))
        law[self.index(start)] = 1.0
        for _ in range(steps):
            law = law @ self._matrix
        return law

    def compare(self, other: Chain) -> ChainComparison:
        """How another chain on the same states differs from this one."""
        from veil.matrices.chain_summary import compare_chains

        return compare_chains(self, other)

    # Handing it on

    def to_numpy(self) -> Floats:
        """The matrix as a new NumPy array."""
        return self._matrix.copy() if isinstance(self._matrix, np.ndarray) else self._matrix.toarray()

    def to_scipy(self) -> csr_array:
        """The matrix as a new SciPy sparse array."""
        from scipy.sparse import csr_array

        return csr_array(self._matrix, copy=True)

    def to_pandas(self) -> pandas.DataFrame:
        """The matrix as a frame with the states as its labels."""
        frame = optional("pandas", "pandas").DataFrame
        return frame(self.to_numpy(), index=list(self._states), columns=list(self._states))

    def to_networkx(self) -> networkx.DiGraph:
        """The chain as a digraph whose edges carry 'weight', the probability."""
        graph = optional("networkx", "networkx").DiGraph()
        graph.add_nodes_from(self._states)
        entries = self.to_scipy().tocoo()
        graph.add_weighted_edges_from(
            (self._states[i], self._states[j], float(p))
            for i, j, p in zip(entries.row, entries.col, entries.data, strict=True)
        )
        return graph
