"""Upper bounds on integrals of positive analytic functions, by Gauss-Legendre panels with a proved remainder.

The rule with n points on [-1, 1] is exact for polynomials of degree 2n - 1. If f is analytic in the ellipse
with the foci -1 and 1 and the half axes (rho + 1/rho)/2 and (rho - 1/rho)/2, and |f| <= M there, then its
Chebyshev coefficients are at most 2 M rho^-k, and the rule is off by at most

    4 (1 + 1/(4n^2 - 1)) M rho^-2n / (1 - rho^-2)    (vectors/mechanisms/dirichlet.md, section 4).

Whoever can bound |f| in boxes of the complex plane can so bound the integral: a node is a box of no height.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.rounding import FUNCTION_ERROR, ULP

# bounds(left, right, height) -> (logs, factors), with |f(x + iy)| <= exp(logs) factors for x between left and
# right and y up to height.
Bounds = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]

_POSITIVE_NODES = (
    (0.09501250983763744, 0.1894506104550685),
    (0.2816035507792589, 0.18260341504492358),
    (0.45801677765722737, 0.16915651939500254),
    (0.6178762444026438, 0.14959598881657674),
    (0.755404408355003, 0.12462897125553388),
    (0.8656312023878318, 0.09515851168249279),
    (0.9445750230732326, 0.062253523938647894),
    (0.9894009349916499, 0.027152459411754096),
)
NODES = np.array([sign * node for sign in (-1.0, 1.0) for node, _ in _POSITIVE_NODES])
WEIGHTS = np.array([weight for _, weight in _POSITIVE_NODES] * 2)
_COUNT = len(NODES)
_RHO = np.array([2.3, 2.9, 3.8, 6.0])
# The first box is the panel itself: its length times the largest value bounds the integral, too.
_WIDTHS = np.concatenate([[1.0], 0.5 * (_RHO + 1.0 / _RHO)])
_LEFT, _RIGHT = np.concatenate([NODES, -_WIDTHS]), np.concatenate([NODES, _WIDTHS])
_HEIGHT = np.concatenate([np.zeros(_COUNT + 1), 0.5 * (_RHO - 1.0 / _RHO)])
_CONSTANT = 4.0 * (1.0 + 1.0 / (4.0 * _COUNT**2 - 1.0))
# A hundredth more than the rounding of the bounds, whose logarithms may be sums of hundreds.
_REMAINDERS = 1.01 * np.concatenate([[2.0], _CONSTANT * _RHO ** (-2.0 * _COUNT) / (1.0 - _RHO**-2.0)])
# A panel is halved until what its bound may add is below these shares of itself and of everything.
_OF_ITSELF, _OF_ALL = 2.0**-42, 2.0**-47
_MOST_ROUNDS = 64
# exp, the factors, the weights and the sum of a panel's positive terms lose a few units each.
_SUMMED = 1.0 + 16.0 * FUNCTION_ERROR
_SMALLEST, _LARGEST = -700.0, 700.0


def log_integral_above(bounds: Bounds, breaks: Sequence[float]) -> float:
    """Not below the log of the integral of f from the first break to the last; infinite if nothing is known.

    breaks: increasing, none negative. Panels whose remainder is not small are halved, so only speed depends
    on them. The logs of the bounds are taken to be exact but for rounding to floats.
    """
    left, right = np.array(breaks[:-1]), np.array(breaks[1:])
    total, reference, panels = 0.0, -math.inf, 0
    for rounds in range(_MOST_ROUNDS):
        half, middle, panels = 0.5 * (right - left), 0.5 * (left + right), panels + len(left)
        moved = (4.0 * ULP) * right[:, None]
        low = middle[:, None] + half[:, None] * _LEFT - moved
        np.maximum(low[:, : _COUNT + 1], left[:, None], out=low[:, : _COUNT + 1])
        high = middle[:, None] + half[:, None] * _RIGHT + moved
        logs, factors = bounds(low, high, half[:, None] * _HEIGHT)
        if rounds == 0:
            reference = float(logs[:, :_COUNT].max())
            if not math.isfinite(reference):
                return reference
        values = np.exp(np.minimum(np.maximum((logs - reference) * (1.0 - 8.0 * ULP), _SMALLEST), _LARGEST))
        with np.errstate(over="ignore"):
            values *= factors
            extra = half[:, None] * values[:, _COUNT:] * _REMAINDERS
        found = half * (values[:, :_COUNT] @ WEIGHTS)
        whole, remainder = extra[:, 0], extra[:, 1:].min(axis=1)
        above = np.minimum(whole, found + remainder)
        is_tight = np.minimum(whole, remainder) <= _OF_ITSELF * found + _OF_ALL * (total + found.sum())
        if rounds == _MOST_ROUNDS - 1 or is_tight.all():
            break
        is_tight |= half <= moved[:, 0]
        total += float(above[is_tight].sum())
        left, right, middle = left[~is_tight], right[~is_tight], middle[~is_tight]
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        if not len(left):
            above = np.zeros(0)
            break
    total = (total + float(above.sum())) * (_SUMMED + ULP * panels)
    if not total < math.inf:
        return math.inf
    return reference + math.log(total) + 8.0 * ULP * (1.0 + abs(reference))
