"""Markov chains of very many states: the likely steps of each state, and one law for all the others.

The transition matrix is S + b q': S holds few entries of each row, and what a row lacks to 1, b, goes to
a state drawn from the law q, the same for all rows. So a chain on n states in which every step is possible
needs far fewer than n^2 numbers. A state h that is only passed through, from i with probability b_i and on
to j with probability q_j, makes an ordinary sparse chain of it: `with_hub`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.checks import integer, shown
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import as_floats
from veil.core.record import frozen
from veil.matrices.chain import MOST_DENSE, Chain
from veil.matrices.chain_intake import CommunicatingClass, Reducible, different_names
from veil.matrices.numerics.back_off import Differences, HubWalker, mean_steps, visits
from veil.matrices.numerics.paths import Walker, Walks
from veil.vectors.simplex import SUM_TOLERANCE

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from veil.matrices.chain_summary import ChainComparison

HUB = "(any state)"


class BackOffChain(Chain):
    """A Markov chain whose matrix is sparse plus a law that all rows share: `likely + rest * law`.

    likely: probabilities [from, to] of the steps that have one of their own; SciPy sparse.
    law: where any state goes otherwise, one probability for each state.
    states: the labels; 0, 1, ... by default.

    What a row of `likely` lacks to 1 is how much of it follows the law. The stationary distribution, walks,
    hitting times, entropy and comparisons work for millions of states; what needs all n^2 probabilities is
    for up to 3,000.

    >>> from scipy.sparse import csr_array
    >>> from veil.matrices import BackOffChain
    >>> chain = BackOffChain(csr_array([[0.0, 0.5], [0.8, 0.0]]), [0.5, 0.5], states=["a", "b"])
    >>> chain.to_numpy().round(3).tolist(), chain.stationary().round(4).tolist()
    ([[0.25, 0.75], [0.9, 0.1]], [0.5455, 0.4545])
    """

    likely: csr_array
    rest: Floats
    law: Floats

    # The matrix is made for few states only: the class above holds its own.
    def __init__(self, likely: Any, law: Any, states: Sequence[Hashable] | None = None) -> None:
        from scipy.sparse import csr_array, issparse

        if not issparse(likely) or likely.ndim != 2 or likely.shape[0] != likely.shape[1]:
            raise InvalidData("likely", expected="a square SciPy sparse matrix", found=type(likely).__name__)
        if likely.dtype.kind not in "iuf":
            raise InvalidData("likely", expected="probabilities", found=f"entries of {likely.dtype}")
        # The law first: a sparse matrix may be far wider than what fits into memory.
        shares, size = as_floats("law", law), likely.shape[0]
        if shares.shape != (size,) or not ((shares >= 0.0) & (shares <= 1.0 + SUM_TOLERANCE)).all():
            raise InvalidData("law", expected=f"{size} probabilities", found="others")
        entries = csr_array(likely, dtype=np.float64, copy=True)
        entries.sum_duplicates()
        entries.eliminate_zeros()
        if not np.isfinite(entries.data).all() or (entries.data < 0.0).any():
            raise InvalidData("likely", expected="probabilities", found="others")
        if abs(float(shares.sum()) - 1.0) > SUM_TOLERANCE:
            raise InvalidData("law", expected="a sum of 1", found=f"{float(shares.sum()):.6g}")
        sums = np.asarray(entries.sum(axis=1)).ravel()
        if (sums > 1.0 + SUM_TOLERANCE).any():
            raise InvalidData("likely", expected="rows of at most 1 in all", found=f"{sums.max():.6g}")
        for part in (entries.data, entries.indices, entries.indptr):
            part.setflags(write=False)
        self.likely, self.law = entries, frozen(shares / shares.sum())
        self.rest = frozen(np.maximum(1.0 - sums, 0.0))
        self.__dict__["states"] = different_names("states", states, size, "labels")
        self._stationary: Floats | None = None
        self._group_inverse: Floats | None = None

    @property  # type: ignore[misc]
    def matrix(self) -> Floats:
        """All probabilities, of a chain of few states."""
        return self._dense("the whole matrix")

    @property
    def is_sparse(self) -> bool:
        return True

    @property
    def pairs(self) -> int:
        # Those of the law, and the likely steps that are not among them.
        follows, reached, own = self.rest > 0.0, self.law > 0.0, self.likely.tocoo()
        further = ~(follows[own.row] & reached[own.col])
        return int(follows.sum()) * int(reached.sum()) + int(further.sum())

    def __repr__(self) -> str:
        return f"<veil.Chain of {len(self):,} states, {self.likely.nnz:,} likely steps and one law>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BackOffChain):
            return False
        same = self.states == other.states and np.array_equal(self.law, other.law)
        return same and int((self.likely != other.likely).nnz) == 0

    def __hash__(self) -> int:
        return hash((self.states, self.likely.nnz))

    def _dense(self, what: str) -> Floats:
        if len(self) > MOST_DENSE:
            expected = f"at most {MOST_DENSE:,} states for {what}"
            raise InvalidArgument("matrix", expected=expected, found=f"{len(self):,}")
        return self._dense_copy

    @cached_property
    def _dense_copy(self) -> Floats:
        return frozen(self.likely.toarray() + self.rest[:, None] * self.law)

    # As an ordinary chain

    def with_hub(self, label: Hashable = HUB) -> Chain:
        """The same chain as a sparse one of one state more, through which all steps of the law pass.

        Seen without that state, it moves as this chain does.
        """
        return Chain(self._hub_matrix, states=(*self.states, label))

    @classmethod
    def of_hub(cls, chain: Chain, hub: Hashable = HUB) -> BackOffChain:
        """The chain that `with_hub` was made from."""
        place, matrix = chain.index(hub), chain.to_scipy()
        others = np.delete(np.arange(len(chain)), place)
        law = matrix[[place]].toarray()[0]
        if law[place] > 0.0:
            raise InvalidArgument("hub", expected="a state that is always left", found=shown(hub))
        return cls(matrix[others][:, others], law[others], states=[chain.states[i] for i in others])

    @cached_property
    def _hub_matrix(self) -> Any:
        from scipy.sparse import block_array, csr_array

        return csr_array(
            block_array([[self.likely, csr_array(self.rest[:, None])], [csr_array(self.law[None, :]), None]])
        )

    def to_numpy(self) -> Floats:
        """The matrix as a new NumPy array, of up to 3,000 states."""
        return self._dense("the whole matrix").copy()

    def to_scipy(self) -> csr_array:
        """All probabilities as a SciPy sparse array, of up to 3,000 states; `with_hub` has them for more."""
        from scipy.sparse import csr_array

        return csr_array(self._dense("the whole matrix"))

    # What the chain looks like

    @cached_property
    def _labels_of_classes(self) -> tuple[int, NDArray[Any]]:
        if (self.rest > 0.0).all() and (self.law > 0.0).all():
            return 1, np.zeros(len(self), dtype=np.int32)
        from scipy.sparse import csgraph

        _, labels = csgraph.connected_components(self._hub_matrix, connection="strong")
        found, own = np.unique(labels[:-1], return_inverse=True)
        return len(found), own

    def classes(self) -> tuple[CommunicatingClass, ...]:
        if self.is_irreducible and ((self.rest > 0.0) & (self.law > 0.0)).any():
            # Some state may be followed by itself.
            return (CommunicatingClass(self.states, True, 1),)
        if len(self) > MOST_DENSE:
            expected = f"an irreducible chain, of more than {MOST_DENSE:,} states"
            raise InvalidArgument("matrix", expected=expected, found="another")
        return Chain(self.to_numpy(), states=self.states).classes()

    def restrict(self, states: Sequence[Hashable]) -> BackOffChain:
        """The chain on some of its states; rows are scaled to sum to 1 again."""
        from scipy.sparse import diags_array

        places = np.array([self.index(state) for state in states], dtype=np.int64)
        part, law = self.likely[places][:, places], self.law[places]
        inside = float(law.sum())
        totals = np.asarray(part.sum(axis=1)).ravel() + self.rest[places] * inside
        if not len(places) or (totals <= 0.0).any():
            raise InvalidArgument("states", expected="states that lead to one another", found="others")
        # Where the law leads to none of them, nobody follows it.
        law = law / inside if inside > 0.0 else np.full(len(places), 1.0 / len(places))
        return BackOffChain(diags_array(1.0 / totals) @ part, law, states=list(states))

    # Where it goes in the long run

    def stationary(self) -> Floats:
        """The stationary distribution, every entry accurate relative to itself."""
        if self._stationary is None:
            if not self.is_irreducible:
                raise Reducible.into(self._labels_of_classes, "a stationary distribution")
            found = visits(self.likely, self.law)
            if found is None:
                # Where the law is hardly ever followed, the way to it is long.
                found = self.with_hub().stationary()[:-1]
            self._stationary = frozen(found / found.sum())
        return self._stationary

    def hitting_times(self, target: Hashable | None = None) -> Floats:
        """The mean number of steps to a target from each state; of few states, [i, j] from i to j."""
        if target is None or len(self) <= MOST_DENSE:
            return Chain(self._dense("all hitting times"), states=self.states).hitting_times(target)
        place = self.index(target)
        if not self.is_irreducible:
            raise Reducible.into(self._labels_of_classes, "a hitting time")
        return mean_steps(self.likely, self.rest, self.law, place)

    def second_eigenvalue(self) -> float:
        return Chain(self._dense("the second eigenvalue"), states=self.states).second_eigenvalue()

    def entropy_rate(self, base: float | None = None) -> float:
        """The mean surprise of a step, in nats (base=2: in bits)."""
        shares, entries = self.stationary(), self.likely.tocoo()
        rest, law = self.rest, self.law
        # Of a row that followed the law alone, then with the likely steps in some of its entries.
        own = rest * _xlogx(law).sum() + _xlogx(rest)
        common = rest[entries.row] * law[entries.col]
        changed = _xlogx(entries.data + common) - _xlogx(common)
        total = float(shares @ own + shares[entries.row] @ changed)
        rate = max(0.0, -total)
        return rate if base is None else rate / math.log(base)

    # Where it goes from here

    @cached_property
    def walker(self) -> Walks:
        """What walks it."""
        return HubWalker(Walker.of(self._hub_matrix), len(self))

    def after(self, steps: int, start: Hashable) -> Floats:
        """The distribution over the states a number of steps after a start."""
        steps = integer("steps", steps, least=0)
        law = np.zeros(len(self))
        law[self.index(start)] = 1.0
        for _ in range(steps):
            law = law @ self.likely + (law @ self.rest) * self.law
        return law

    def _row(self, place: int) -> Floats:
        row: Floats = self.rest[place] * self.law
        part = slice(self.likely.indptr[place], self.likely.indptr[place + 1])
        row[self.likely.indices[part]] += self.likely.data[part]
        return row

    def compare(self, other: Chain) -> ChainComparison:
        """How another chain differs from this one."""
        if not isinstance(other, Chain):
            raise InvalidArgument("other", expected="a veil.Chain", found=type(other).__name__)
        return _compared(self, other)

    def _compared_with(self, first: Chain) -> ChainComparison:
        return _compared(first, self)


def _compared(one: Chain, other: Chain) -> ChainComparison:
    """The comparison of two chains, one of them at least with a law that all rows share."""
    from veil.matrices.chain_summary import ChainComparison, compare_chains

    if len(one) <= MOST_DENSE and len(other) <= MOST_DENSE:
        return compare_chains(*(Chain(chain.to_numpy(), states=chain.states) for chain in (one, other)))
    if set(one.states) != set(other.states):
        raise InvalidArgument("other", expected="a chain on the same states", found="other states")
    if one.states != other.states:
        other = other.restrict(one.states)
    first, second = one.stationary(), other.stationary()
    found = Differences.of(_parts(one), _parts(other))
    return ChainComparison(
        stationary_tv=0.5 * float(np.abs(first - second).sum()),
        largest_row_tv=float(found.total_variation.max()),
        mean_row_tv=float(first @ found.total_variation),
        kl_rate=max(0.0, float(first @ found.divergence)),
        # They need all pairs of states.
        ergodicity_1=math.nan,
        ergodicity_inf=math.nan,
        bound=math.nan,
    )


def _parts(chain: Chain) -> tuple[Any, Floats, Floats]:
    """The likely steps, the rest and the law; of another chain all its steps, and a law that none follows."""
    if isinstance(chain, BackOffChain):
        return chain.likely, chain.rest, chain.law
    return chain.to_scipy(), np.zeros(len(chain)), np.full(len(chain), 1.0 / len(chain))


def _xlogx(values: Floats) -> Floats:
    from scipy.special import xlogy

    return np.asarray(xlogy(values, values))
