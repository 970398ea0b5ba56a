"""Two chains on the same states, side by side."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from veil.core.errors import InvalidArgument

if TYPE_CHECKING:
    from veil.matrices.chain import Chain


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
        return {name: number if math.isfinite(number) else None for name, number in asdict(self).items()}


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
