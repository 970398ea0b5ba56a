"""Several records of one contributor, spread over cells in the worst way.

Proofs: chains/mechanisms/private_chain.md.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import NoGuarantee
from veil.core.numerics.log_gamma import log_gammas
from veil.core.numerics.rounding import ULP, float_above
from veil.core.privacy.renyi import RenyiProfile
from veil.core.privacy.rigorous import divergences
from veil.vectors.counts import Contributions

# The work grows with its square; and with so many records the Dirichlet mechanism keeps nothing anyway.
_MOST_RECORDS = 200


def gaussian_contributions(sigma: float, change: Contributions) -> RenyiProfile:
    """Discrete Gaussian noise of this sigma on every cell.

    A shift by the vector u has a divergence of at most order |u|^2 / (2 sigma^2) (Canonne, Kamath, Steinke
    2020), and |u|^2 is largest where what is added falls into one cell and what is removed into another.
    """
    return gaussian_shift(Fraction(change.added**2 + change.removed**2) / Fraction(sigma) ** 2)


def gaussian_shift(square: Fraction) -> RenyiProfile:
    """Discrete Gaussian noise on cells that neighbours shift by u.

    square: |u|^2 / sigma^2, of all cells together.
    """
    rho = float_above(square / 2)
    return RenyiProfile(
        lambda orders: orders * rho * (1.0 + 2.0 * ULP), rho, certified=divergences.of_square(square)
    )


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
        return np.asarray(np.maximum(one, other) / (orders - 1.0) * (1.0 + 4.0 * ULP), dtype=np.float64)

    certified = divergences.of_gammas(prior, scale, change.added, change.removed)
    return RenyiProfile(divergence, certified=certified)


def _more(prior: float, shift: Floats, orders: Floats) -> Floats:
    """log E_Q[(P/Q)^order], P = Gamma(prior + shift), Q = Gamma(prior)."""
    return _log_moment(orders, prior + orders * shift, prior + shift, np.full_like(shift, prior))


def _less(prior: float, shift: Floats, orders: Floats) -> Floats:
    """log E_Q[(P/Q)^order], P = Gamma(prior), Q = Gamma(prior + shift); infinite from some order on."""
    taken = (orders - 1.0) * shift
    lost = 2.0 * ULP * (prior + taken)
    # Near zero log Gamma falls steeply, so what is left must not be more than there is. From 1 on its slope
    # is below 1 + log: what is lost is added instead.
    low = prior - taken
    low = np.where(low < 1.0, low - lost, low)
    known = low > 0.0
    low = np.where(known, low, 1.0)
    added = lost * (1.0 + np.log(np.maximum(low, 1.0)))
    log_moment = _log_moment(orders, low, np.full_like(shift, prior), prior + shift)
    return np.where(known, log_moment + 2.0 * added, np.inf)


def _log_moment(orders: Floats, tilted: Floats, p: Floats, q: Floats) -> Floats:
    """log Gamma(tilted) - order log Gamma(p) + (order - 1) log Gamma(q), not below the truth."""
    value, error = log_gammas(tilted)
    error = error + 4.0 * ULP * np.abs(value)
    for weight, (log, off) in ((-orders, log_gammas(p)), (orders - 1.0, log_gammas(q))):
        value = value + weight * log
        error = error + np.abs(weight) * (off + 4.0 * ULP * np.abs(log)) + ULP * np.abs(value)
    return np.asarray(value + error * (1.0 + 16.0 * ULP), dtype=np.float64)


def _worst_spreads(single: Floats) -> Floats:
    """For each number of records, the largest sum of moments over all ways to spread them over cells.

    single: the moments for one record, two and more in one cell; a column for each order.
    """
    worst = np.zeros((len(single) + 1, single.shape[1]))
    for number in range(1, len(worst)):
        worst[number] = (single[:number] + worst[number - 1 :: -1][:number]).max(axis=0)
    # Each is a sum of so many positive numbers at most; a moment below zero is one, rounded.
    rounding = 1.0 + ULP * np.arange(len(worst))
    return np.asarray(np.maximum(worst, 0.0) * rounding[:, None], dtype=np.float64)
