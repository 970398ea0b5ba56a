"""Markov chains, and everything one asks of them.

What is computed here is post-processing of a chain that is public already: it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.checks import choice, integer, shown, within
from veil.core.errors import InvalidArgument, optional
from veil.core.intake import Names
from veil.core.record import frozen
from veil.matrices.chain_intake import ROUNDING, CommunicatingClass, Reducible, take_chain
from veil.matrices.numerics import stationary as algebra
from veil.matrices.numerics.elimination import hitting_times_to, stationary_dense
from veil.matrices.numerics.paths import Walker, Walks
from veil.matrices.numerics.sparse_stationary import stationary_sparse

if TYPE_CHECKING:
    import networkx
    import pandas
    from matplotlib.figure import Figure
    from scipy.sparse import csr_array

    from veil.matrices.chain_summary import ChainComparison

MOST_DENSE = 3_000
# Up to here all eigenvalues; beyond it only the leading ones.
_ALL_EIGENVALUES = 600


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
        taken, labels = take_chain(matrix, states)
        self.matrix: Final[Floats | csr_array] = taken
        """The transition probabilities; not to be written to."""
        self.states: Final[Names] = labels
        """The labels of the states."""
        self._stationary: Floats | None = None
        self._group_inverse: Floats | None = None

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.matrix, np.ndarray)

    @property
    def pairs(self) -> int:
        """How many pairs of states (from, to) have a probability above 0."""
        matrix = self.matrix
        return int(np.count_nonzero(matrix) if isinstance(matrix, np.ndarray) else matrix.nnz)

    def __setattr__(self, name: str, value: Any) -> None:
        # A chain is a value: only what it computes for itself is added later.
        if name in ("matrix", "states") and name in self.__dict__:
            raise AttributeError(f"{name} of a chain cannot be changed")
        super().__setattr__(name, value)

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        kind = f", sparse with {self.to_scipy().nnz:,} probabilities" if self.is_sparse else ""
        return f"<veil.Chain of {len(self):,} states{kind}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chain) or self.states != other.states:
            return False
        if isinstance(self.matrix, np.ndarray) and isinstance(other.matrix, np.ndarray):
            return bool(np.array_equal(self.matrix, other.matrix))
        return int((self.to_scipy() != other.to_scipy()).nnz) == 0

    def __hash__(self) -> int:
        return hash((self.states, self.matrix.shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.to_numpy(), dtype=dtype)

    def index(self, state: Hashable) -> int:
        """The number of a state."""
        try:
            return self._places[state]
        except (KeyError, TypeError):
            expected = f"one of {', '.join(map(str, self.states[:6]))}{', ...' if len(self) > 6 else ''}"
            raise InvalidArgument("state", expected=expected, found=shown(state)) from None

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {state: place for place, state in enumerate(self.states)}

    # What the chain looks like

    @cached_property
    def _labels_of_classes(self) -> tuple[int, NDArray[Any]]:
        from scipy.sparse import csgraph, csr_array

        count, labels = csgraph.connected_components(csr_array(self.matrix), connection="strong")
        return int(count), labels

    @property
    def is_irreducible(self) -> bool:
        """Whether every state reaches every other."""
        return self._labels_of_classes[0] == 1

    def classes(self) -> tuple[CommunicatingClass, ...]:
        """The communicating classes, the closed ones and the largest first."""
        from scipy.sparse import csr_array

        sparse, size, (_, labels) = csr_array(self.matrix), len(self), self._labels_of_classes
        origins = np.repeat(np.arange(size), np.diff(sparse.indptr))
        open_classes = set(labels[origins[labels[origins] != labels[sparse.indices]]].tolist())
        order = np.argsort(labels, kind="stable")
        inside, level = np.zeros(size, dtype=bool), np.full(size, -1)
        classes = [
            CommunicatingClass(
                tuple(self.states[i] for i in members),
                label not in open_classes,
                algebra.period_of_class(sparse.indptr, sparse.indices, members, inside, level),
            )
            for label, members in enumerate(np.split(order, np.bincount(labels).cumsum()[:-1]))
        ]
        return tuple(sorted(classes, key=lambda group: (not group.closed, -len(group.states))))

    def period(self) -> int:
        """The period of an irreducible chain; 1 means that it forgets its start."""
        if not self.is_irreducible:
            raise Reducible.into(self._labels_of_classes, "a period")
        return self.classes()[0].period

    def restrict(self, states: Sequence[Hashable]) -> Chain:
        """The chain on some of its states, such as a closed class; rows are scaled to sum to 1 again."""
        places = [self.index(state) for state in states]
        part = self.to_scipy()[places][:, places]
        totals = np.asarray(part.sum(axis=1)).ravel()
        if not places or (totals <= 0.0).any():
            raise InvalidArgument("states", expected="states that lead to one another", found="others")
        from scipy.sparse import diags_array

        scaled = diags_array(1.0 / np.where(np.abs(totals - 1.0) < ROUNDING, 1.0, totals)) @ part
        return Chain(scaled if self.is_sparse else scaled.toarray(), states=list(states))

    def _dense(self, what: str) -> Floats:
        if isinstance(self.matrix, np.ndarray):
            return self.matrix
        if len(self) > MOST_DENSE:
            expected = f"at most {MOST_DENSE:,} states for {what}"
            raise InvalidArgument("matrix", expected=expected, found=f"{len(self):,}")
        return self._dense_copy

    @cached_property
    def _dense_copy(self) -> Floats:
        return self.to_numpy()

    # Where it goes in the long run

    def stationary(self) -> Floats:
        """The stationary distribution: the long-run share of time in each state.

        By elimination without subtractions (Grassmann, Taksar and Heyman), so that every entry, however
        small, is accurate relative to itself.
        """
        if self._stationary is None:
            if not self.is_irreducible:
                raise Reducible.into(self._labels_of_classes, "a stationary distribution")
            dense = isinstance(self.matrix, np.ndarray)
            self._stationary = frozen((stationary_dense if dense else stationary_sparse)(self.matrix))
        return self._stationary

    def group_inverse(self) -> Floats:
        """The group inverse of I - P: how a change of the transitions moves the stationary distribution."""
        if self._group_inverse is None:
            dense = self._dense("the group inverse")
            self._group_inverse = frozen(algebra.group_inverse(dense, self.stationary()))
        return self._group_inverse

    def fundamental(self) -> Floats:
        """The fundamental matrix (I - P + 1 pi')^-1. (The papers print a minus before 1 pi'.)"""
        return self.group_inverse() + self.stationary()

    def condition(self) -> float:
        """How much the stationary distribution can move: tau_1 of the group inverse of I - P.

        |pi - pi'|_1 <= condition() * (the largest L1 distance of two rows P_i, P'_i), for every P'.
        """
        return algebra.row_spread(self.group_inverse())

    def ergodicity(self, norm: int | str = 1) -> float:
        """An ergodicity coefficient of P, exactly.

        norm=1: half the largest L1 distance of two rows, at most 1; bounds |lambda_2|.
        norm="inf": that of the data-driven chains paper, Definition 7: the largest column sum of distances
        from the column's median; it can exceed 1.
        """
        kind = choice("norm", str(norm), ("1", "inf"))
        dense = self._dense("ergodicity coefficients")
        return algebra.row_spread(dense) if kind == "1" else algebra.column_spread(dense)

    def mixing_time(self, distance: float = 0.25) -> float:
        """The number of steps after which the start matters by at most `distance` in total variation.

        Infinite for a periodic chain.
        """
        distance = within("distance", distance, 1e-12, 1.0, expected="a number above 0 and at most 1")
        if self.period() > 1:
            return math.inf
        return algebra.mixing_time(self._dense("the mixing time"), self.stationary(), distance)

    def hitting_times(self, target: Hashable | None = None) -> Floats:
        """The mean number of steps to a target from each state; without one [i, j] from i to j.

        With a target the chain need not be irreducible, if every state reaches it.
        """
        dense = self._dense("hitting times")
        if target is None:
            if not self.is_irreducible:
                raise Reducible.into(self._labels_of_classes, "a hitting time")
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
        if (size := len(self)) == 1:
            return 0.0
        if size > _ALL_EIGENVALUES:
            from scipy.sparse.linalg import ArpackError, eigs

            start = np.random.default_rng(0).random(size)
            try:
                leading = eigs(self.matrix, k=6, ncv=40, v0=start, maxiter=100, return_eigenvectors=False)
                return float(min(1.0, np.sort(np.abs(leading))[-2]))
            except ArpackError:
                if size > MOST_DENSE:
                    expected = f"at most {MOST_DENSE:,} states, or a chain whose eigenvalues lie apart"
                    raise InvalidArgument("matrix", expected=expected, found=f"{size:,}") from None
        from scipy.linalg import eigvals

        return float(min(1.0, np.sort(np.abs(eigvals(self.to_numpy())))[-2]))

    def entropy_rate(self, base: float | None = None) -> float:
        """The mean surprise of a step, in nats (base=2: in bits)."""
        shares, matrix = self.stationary(), self.matrix
        if isinstance(matrix, np.ndarray):
            logs = np.log(matrix, out=np.zeros_like(matrix), where=matrix > 0.0)
            total = shares @ (matrix * logs).sum(axis=1)
        else:
            entries = matrix.tocoo()
            total = (shares[entries.row] * entries.data * np.log(entries.data)).sum()
        rate = max(0.0, float(-total))
        return rate if base is None else rate / math.log(within("base", base, 1.001, 1e9, expected="above 1"))

    # Where it goes from here

    @cached_property
    def walker(self) -> Walks:
        """What walks it: `walker.paths(starts, steps, rng)`, by numbers of states."""
        return Walker.of(self.matrix)

    def simulate(
        self, steps: int, *, start: Hashable | None = None, paths: int | None = None, rng: Any = None
    ) -> NDArray[Any]:
        """Random walks: the labels of the states at times 0 to `steps`.

        start: the state at time 0; None draws it from the stationary distribution. paths: how many,
        each a row; None for a single one, without that axis. rng: a seed or a NumPy Generator.
        """
        visited = self.simulate_indices(steps, start=start, paths=paths, rng=rng)
        if all(type(state) is int and state == i for i, state in enumerate(self.states)):
            return visited
        plain = all(isinstance(state, str) for state in self.states)
        labels = np.array(self.states) if plain else np.fromiter(self.states, dtype=object)
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
        visited = self.walker.paths(starts, steps, random)
        return visited[0] if paths is None else visited

    def after(self, steps: int, start: Hashable) -> Floats:
        """The distribution over the states a number of steps after a start."""
        steps = integer("steps", steps, least=0)
        law = np.zeros(len(self))
        law[self.index(start)] = 1.0
        for _ in range(steps):
            law = law @ self.matrix
        return law

    def destinations(self, state: Hashable, most: int = 10) -> list[tuple[Hashable, float]]:
        """The likeliest next states after one, each with its probability, the likeliest first."""
        row = self._row(self.index(state))
        order = np.argsort(-row, kind="stable")[: integer("most", most, least=1)]
        return [(self.states[i], float(row[i])) for i in order if row[i] > 0.0]

    def _row(self, place: int) -> Floats:
        matrix = self.matrix
        row: Floats = matrix[place] if isinstance(matrix, np.ndarray) else matrix[[place]].toarray()[0]
        return row

    def compare(self, other: Chain) -> ChainComparison:
        """How another chain on the same states differs from this one."""
        from veil.matrices.chain_summary import compare_chains

        if isinstance(other, Chain) and type(other) is not type(self):
            # The other one knows how to do without the full matrix.
            return other._compared_with(self)
        return compare_chains(self, other)

    def _compared_with(self, first: Chain) -> ChainComparison:
        """How this chain differs from a first one of another form."""
        return first.compare(Chain(self.to_scipy(), states=self.states))

    # Handing it on

    def plot(self) -> Figure:
        """A picture: the matrix in colours; of more states than can be drawn, the most visited ones."""
        from veil.matrices.report.chain import chain_figure

        return chain_figure(self)

    def report(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the analysis of the chain, one HTML page that needs nothing else."""
        from veil.core.writing import path_of, write_text
        from veil.matrices.report.chain import ChainReport

        write_text(path_of(path), ChainReport.of(self).html(), overwrite=overwrite)

    def _repr_html_(self) -> str:
        """For notebooks: a small table."""
        from veil.matrices.kind import chain_card

        return f"<div><b>Markov chain</b> of {len(self):,} states<table>{chain_card(self)}</table></div>"

    def to_numpy(self) -> Floats:
        """The matrix as a new NumPy array."""
        return self.matrix.copy() if isinstance(self.matrix, np.ndarray) else self.matrix.toarray()

    def to_scipy(self) -> csr_array:
        """The matrix as a new SciPy sparse array."""
        from scipy.sparse import csr_array

        return csr_array(self.matrix, copy=True)

    def to_pandas(self) -> pandas.DataFrame:
        """The matrix as a frame with the states as its labels."""
        frame = optional("pandas", "pandas").DataFrame
        return frame(self.to_numpy(), index=list(self.states), columns=list(self.states))

    def to_networkx(self) -> networkx.DiGraph:
        """The chain as a digraph whose edges carry 'weight', the probability."""
        graph = optional("networkx", "networkx").DiGraph()
        graph.add_nodes_from(self.states)
        entries = self.to_scipy().tocoo()
        graph.add_weighted_edges_from(
            (self.states[i], self.states[j], float(p))
            for i, j, p in zip(entries.row, entries.col, entries.data, strict=True)
        )
        return graph
