"""Several records of one contributor, spread over cells in the worst way.

Proofs: chains/mechanisms/private_chain.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln

from veil.core.arrays import Floats
from veil.core.errors import NoGuarantee
from veil.core.privacy.renyi import RenyiProfile
from veil.vectors.counts import Contributions

# The work grows with its square; and with so many records the Dirichlet mechanism keeps nothing anyway.
_MOST_RECORDS = 200
# What a logarithm of a gamma function may have lost to rounding, relative to its size or (near 1 and 2, where
# it is zero) to one, with room.
_ROUNDING = 8.0 * 2.0**-52


def gaussian_contributions(sigma: float, change: Contributions) -> RenyiProfile:
    """Discrete Gaussian noise of this sigma on every cell.

    A shift by the vector u has a divergence of at most order |u|^2 / (2 sigma^2) (Canonne, Kamath, Steinke
    2020), and |u|^2 is largest where what is added falls into one cell and what is removed into another.
    """
    square = float(change.added**2 + change.removed**2)
    rho = square / (2.0 * sigma**2) * (1.0 + 2.0**-50)
    return RenyiProfile(lambda orders: orders * rho, rho)


def gamma_contributions(prior: float, scale: float, change: Contributions) -> RenyiProfile:
    """Gamma(prior + scale count) in every cell: what Dirichlet rows are made of.

    For each order the worst way to spread the records over cells is found by dynamic programming.
    """
    most = max(change.added, change.removed)
    if most > _MOST_RECORDS:
        raise NoGuarantee(
            f"cap: the Dirichlet mechanism is worked out for at most {_MOST_RECORDS} records of one "
            "contributor, found more. Geometric noise takes any number."
        )
    shifts = scale * np.arange(1, most + 1, dtype=np.float64)[:, None]

    def divergence(orders: Floats) -> Floats:
        up, down = (_worst_spreads(moment(prior, shifts, orders)) for moment in (_more, _less))
        one = up[change.added] + down[change.removed]
        other = down[change.added] + up[change.removed]
        return np.asarray(np.maximum(one, other) / (orders - 1.0), dtype=np.float64)

    return RenyiProfile(divergence)


def _more(prior: float, shift: Floats, orders: Floats) -> Floats:
    """log E_Q[(P/Q)^order], P = Gamma(prior + shift), Q = Gamma(prior)."""
    return _log_moment(orders, prior + orders * shift, prior + shift, prior)


def _less(prior: float, shift: Floats, orders: Floats) -> Floats:
    """log E_Q[(P/Q)^order], P = Gamma(prior), Q = Gamma(prior + shift); infinite from some order on."""
    taken = (orders - 1.0) * shift
    low = prior - taken
    # Where next to nothing is left, it must not be more than there is: near zero log Gamma falls steeply.
    low = np.where(low < 1.0, low - 2.0**-51 * (prior + taken), low)
    known = low > 0.0
    return np.where(known, _log_moment(orders, np.where(known, low, 1.0), prior, prior + shift), np.inf)


def _log_moment(orders: Floats, tilted: Floats, p: Any, q: Any) -> Floats:
    """log Gamma(tilted) - order log Gamma(p) + (order - 1) log Gamma(q), not below the truth."""
    parts = gammaln(tilted), orders * gammaln(p), (orders - 1.0) * gammaln(q)
    rounding = _ROUNDING * (sum(np.abs(part) for part in parts) + 2.0 * orders)
    return np.asarray(parts[0] - parts[1] + parts[2] + rounding, dtype=np.float64)


def _worst_spreads(single: Floats) -> Floats:
    """For each number of records, the largest sum of moments over all ways to spread them over cells.

    single: the moments for one record, two and more in one cell; a column for each order.
    """
    worst = np.zeros((len(single) + 1, single.shape[1]))
    for number in range(1, len(worst)):
        worst[number] = (single[:number] + worst[number - 1 :: -1][:number]).max(axis=0)
    return worst
