"""Released matrices as chains, the figures of a chain in one call, and how two chains differ."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from veil.core.errors import InvalidArgument, VeilError
from veil.core.intake import NamedMatrix
from veil.core.record import Release, checked_release
from veil.matrices.chain import MOST_DENSE, Chain

# Beyond it the eigenvalues would take minutes; `Chain.second_eigenvalue` still gives them.
_MOST_EIGENVALUES = 1_000


def _plain(record: Any) -> dict[str, Any]:
    """The numbers of a record, for JSON; what is infinite or not known becomes None."""
    numbers = asdict(record).items()
    return {
        name: number if number is not None and math.isfinite(number) else None for name, number in numbers
    }


def to_chain(release: Release[Any]) -> Chain:
    """The released value as a Markov chain, ready to be analysed.

    A released chain is returned; a square matrix of transitions becomes one.
    """
    checked_release(release)
    value = release.value
    if isinstance(value, Chain):
        return value
    shape: tuple[int, ...] = getattr(value, "shape", ())
    if release.kind.name != "matrix" or len(shape) != 2 or shape[0] != shape[1]:
        found = f"shape {shape} of {release.domain.words}" if shape else release.domain.words
        raise InvalidArgument("value", expected="a square matrix of transitions", found=found)
    return Chain(NamedMatrix(value, release.row_labels, release.labels))


@dataclass(frozen=True, slots=True)
class ChainComparison:
    """How a second chain differs from a first.

    stationary_tv: total variation between the stationary distributions.
    largest_row_tv: the same between two rows, the largest; mean_row_tv: its mean under the first
        chain's stationary distribution.
    kl_rate: the divergence of the second from the first, a step, in nats; infinite where the second
        forbids a step that the first takes.
    ergodicity_1, ergodicity_inf: the ergodicity coefficients of the second less those of the first.
    bound: what stationary_tv cannot exceed, by the condition of the second chain and mean_row_tv.

    The last three need all pairs of states: of chains too large for that they are not a number.
    """

    stationary_tv: float
    largest_row_tv: float
    mean_row_tv: float
    kl_rate: float
    ergodicity_1: float
    ergodicity_inf: float
    bound: float

    def to_dict(self) -> dict[str, float | None]:
        """Plain numbers, for JSON; what is infinite becomes None."""
        return _plain(self)


def compare_chains(one: Chain, other: Chain) -> ChainComparison:
    """The comparison; the second chain's states may stand in another order."""
    if type(other) is not type(one):
        raise InvalidArgument("other", expected="a veil.Chain", found=type(other).__name__)
    if set(one.states) != set(other.states):
        raise InvalidArgument("other", expected="a chain on the same states", found="other states")
    if one.states != other.states:
        other = other.restrict(one.states)
    p, q = one._dense("a comparison"), other._dense("a comparison")
    first, second = one.stationary(), other.stationary()
    rows = 0.5 * np.abs(p - q).sum(axis=1)
    mean = float(first @ rows)
    taken = p > 0.0
    with np.errstate(divide="ignore"):
        logs = np.log(p, out=np.zeros_like(p), where=taken) - np.log(q, out=np.zeros_like(q), where=taken)
    return ChainComparison(
        stationary_tv=0.5 * float(np.abs(first - second).sum()),
        largest_row_tv=float(rows.max()),
        mean_row_tv=mean,
        kl_rate=max(0.0, float(first @ (p * logs).sum(axis=1))),
        ergodicity_1=other.ergodicity(1) - one.ergodicity(1),
        ergodicity_inf=other.ergodicity("inf") - one.ergodicity("inf"),
        # pi' - pi~' = pi' (P - P~) A~#, and pi' (P - P~) sums to zero
        bound=other.condition() * mean,
    )


@dataclass(frozen=True, slots=True)
class ChainFacts:
    """The figures of a chain, a number each; None where one does not apply.

    pairs: how many pairs of states (from, to) have a probability above 0. kemeny: the
    mean number of steps to a state drawn from the stationary distribution, which is the
    same from every start. likely_ways: e^entropy, how many equally likely ways out would be as uncertain.
    """

    states: int
    pairs: int
    classes: int
    period: int | None
    second_eigenvalue: float | None
    mixing_time: float | None
    ergodicity_1: float | None
    ergodicity_inf: float | None
    condition: float | None
    kemeny: float | None
    entropy_rate: float | None
    likely_ways: float | None

    @property
    def words(self) -> str:
        """How large the chain is: its states, and how many of the pairs of them are possible steps."""
        states = f"{self.states:,} state{'' if self.states == 1 else 's'}"
        every = self.states**2
        if self.pairs == every > 1:
            return f"{states}; every pair of states ({every:,}) is a possible step"
        return f"{states}; {self.pairs:,} of {every:,} pairs of states are possible steps"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return _plain(self)


def chain_facts(chain: Chain) -> ChainFacts:
    """All figures of the chain; of a large or a reducible one those that exist."""
    if not isinstance(chain, Chain):
        raise InvalidArgument("chain", expected="a veil.Chain", found=type(chain).__name__)
    classes = chain.classes()
    dense, whole = len(chain) <= MOST_DENSE, len(classes) == 1
    entropy = chain.entropy_rate() if whole else None
    mixing = None
    if dense and whole:
        with suppress(VeilError):
            mixing = chain.mixing_time()
    return ChainFacts(
        states=len(chain),
        pairs=chain.pairs,
        classes=len(classes),
        period=classes[0].period if whole else None,
        second_eigenvalue=chain.second_eigenvalue() if len(chain) <= _MOST_EIGENVALUES else None,
        mixing_time=mixing,
        ergodicity_1=chain.ergodicity(1) if dense else None,
        ergodicity_inf=chain.ergodicity("inf") if dense else None,
        condition=chain.condition() if dense and whole else None,
        kemeny=float(chain.group_inverse().trace()) if dense and whole else None,
        entropy_rate=entropy,
        likely_ways=None if entropy is None else math.exp(entropy),
    )
