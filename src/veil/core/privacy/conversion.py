"""How much Renyi divergence an (epsilon, delta) has room for.

A divergence of at most r at one order a gives delta <= exp((a - 1)(r - epsilon)) (1 - 1/a)^a / (a - 1)
(Canonne, Kamath, Steinke 2020, Proposition 12). Solved for r, with log delta known:

    r(a) = epsilon + (log delta + log(a - 1) - a log(1 - 1/a)) / (a - 1).

zCDP with rho means r <= rho a at every order, so any a may be fixed beforehand: rho = max over a of r(a) / a.
What is returned is lowered by far more than the rounding of these few operations.
"""

from __future__ import annotations

import math

import numpy as np

from veil.core.checks import delta_of, positive
from veil.core.errors import InvalidArgument
from veil.core.privacy.profile import order_of

_ROUNDING = 1e-12


def divergence_within(epsilon: float, delta: float, order: float) -> float:
    """The divergence of this order that is surely within (epsilon, delta); 0 if there is no room for any."""
    epsilon, delta, order = positive("epsilon", epsilon), delta_of(delta), order_of(order)
    if delta == 0.0:
        raise InvalidArgument("delta", expected="a number above 0", found="0")
    if delta == 1.0:
        return math.inf
    extra = math.log(delta) + math.log(order - 1.0) - order * math.log1p(-1.0 / order)
    found = epsilon + extra / (order - 1.0)
    rounding = _ROUNDING * (epsilon + (abs(math.log(delta)) + order + 40.0) / (order - 1.0))
    return max(0.0, found - rounding)


def rho_within(epsilon: float, delta: float) -> float:
    """The zCDP parameter that is surely within (epsilon, delta)."""
    orders = 1.0 + np.geomspace(1e-3, 1e7, 2_001)
    rates = [divergence_within(epsilon, delta, float(order)) / float(order) for order in orders]
    best = int(np.argmax(rates))
    fine = np.linspace(orders[max(best - 1, 0)], orders[min(best + 1, len(orders) - 1)], 201)
    return max(divergence_within(epsilon, delta, float(order)) / float(order) for order in fine) * (
        1.0 - _ROUNDING
    )
