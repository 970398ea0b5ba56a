"""Private logistic regression by a perturbed objective (PPLR), the baseline of the XOR paper.

Chaudhuri and Monteleoni (2009; with Sarwate, 2011): for records x with |x| <= 1 and labels y = +-1, release

    w = argmin  1/n sum log(1 + exp(-y x.w)) + ridge/2 |w|^2 + b.w / n,

b with a density in proportion to exp(-rate |b|): a uniform direction, and a length from Gamma(d, 1/rate).

What it guarantees, between data of n records of which one is replaced:

    loss <= 2 rate + log(1 + 1 / (4 n ridge)).

Proof. The objective is smooth and strongly convex, so w and b determine each other, b(w) = -(n ridge w + sum
of the gradients of the records' losses at w), and the density of w is that of b(w) times |det b'(w)|. The
replaced record has gradients of length at most 1, so b(w) moves by at most 2, and the density of b changes
by at most exp(2 rate). And |det b'(w)| = det(M + a x x^T), M = n ridge I + what the other records add, 0 <=
a <= 1/4: between det M and det M (1 + a x^T M^-1 x) <= det M (1 + 1 / (4 n ridge)), for either record. (The
paper of 2011 squares that factor, which is not needed. The XOR paper's noise, rate = epsilon / 2, leaves no
room for it.)

So at epsilon the rate is (epsilon - log(1 + 1 / (4 n ridge))) / 2; where the ridge is so small that the
second term is above epsilon / 2, the ridge is raised until it is that.

Footnote 7 of the XOR paper prints it without the ridge and without |x| <= 1. Then there is no guarantee at
all: a column without a one makes the objective linear in its weight, so it has no minimum, with probability
1; give one record a one there, and it has a minimum with positive probability. The event "there is a minimum"
has loss infinity. Also |x| is as much as sqrt(P), so that b(w) may move by 2 sqrt(P).

The proof is about real numbers. Here they are floats, and w is the result of finitely many Newton steps: this
is a yardstick, not a mechanism of Veil.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.errors import InvalidArgument
from veil.core.random.streams import Rng

Floats = NDArray[np.float64]
# Steps of Newton's method; with a ridge it needs about ten.
_STEPS = 50
# What counts as no minimum: weights beyond this have grown without end.
_RUNAWAY = 1e4


def certified_loss(rows: int, ridge: float, rate: float) -> float:
    """The proved bound on the loss for records of length at most 1; infinite without a ridge.

    >>> round(certified_loss(240, 0.01, 0.5), 3)
    1.099
    """
    if ridge <= 0.0:
        return math.inf
    return (2.0 * rate + math.log1p(0.25 / (rows * ridge))) * (1.0 + 2.0**-50)


def calibrated(rows: int, ridge: float, epsilon: float) -> tuple[float, float]:
    """The rate of the noise and the ridge, raised if it must be, whose certified loss is epsilon."""
    if not (rows >= 1 and ridge >= 0.0 and epsilon > 0.0):
        raise InvalidArgument(
            "epsilon", expected="positive, with records and a ridge of at least 0", found=f"{epsilon:g}"
        )
    ridge = max(ridge, 0.25 / (rows * math.expm1(epsilon / 2.0)))
    # The last bits keep the certified loss at or below epsilon after rounding.
    rate = (epsilon * (1.0 - 2.0**-48) - math.log1p(0.25 / (rows * ridge))) / 2.0
    return rate, ridge


def unit_records(bits: Any) -> Floats:
    """Records of bits as signs with a constant at the end, of length 1: the scale is public."""
    table = np.asarray(bits, dtype=np.float64)
    signs = np.column_stack([2.0 * table - 1.0, np.ones(len(table))])
    found: Floats = signs / math.sqrt(signs.shape[1])
    return found


def noise(rng: Rng, dimension: int, rate: float) -> Floats:
    """A vector with a density in proportion to exp(-rate |b|)."""
    direction = rng.standard_normal(dimension)
    found: Floats = direction / np.linalg.norm(direction) * rng.gamma(dimension, 1.0 / rate)
    return found


def private_weights(records: Floats, labels: Floats, epsilon: float, rng: Rng, *, ridge: float) -> Floats:
    """PPLR as it is proved above: records of length at most 1, labels +-1."""
    if np.linalg.norm(records, axis=1).max() > 1.0 + 1e-9:
        raise InvalidArgument("records", expected="length at most 1", found="longer ones")
    rate, ridge = calibrated(len(records), ridge, epsilon)
    found, _ = _minimum(records, labels, ridge, noise(rng, records.shape[1], rate))
    return found


def printed_weights(records: Floats, labels: Floats, epsilon: float, rng: Rng) -> tuple[Floats, bool]:
    """PPLR as footnote 7 of the XOR paper prints it, and whether it has a minimum. It guarantees nothing."""
    return _minimum(records, labels, 0.0, noise(rng, records.shape[1], epsilon / 2.0))


def plain_weights(records: Floats, labels: Floats, *, ridge: float) -> Floats:
    """Logistic regression without privacy."""
    found, _ = _minimum(records, labels, ridge, np.zeros(records.shape[1]))
    return found


def accuracy(weights: Floats, records: Floats, labels: Floats) -> float:
    """The share of records on the right side."""
    return float(np.mean(np.where(records @ weights > 0.0, 1.0, -1.0) == labels))


def _minimum(records: Floats, labels: Floats, ridge: float, push: Floats) -> tuple[Floats, bool]:
    """Newton's method with steps halved until they descend, and whether it has arrived."""
    turned = records * labels[:, None]
    rows, dimension = turned.shape
    at = np.zeros(dimension)

    def objective(w: Floats) -> float:
        return float(np.logaddexp(0.0, -turned @ w).mean() + ridge / 2.0 * w @ w + push @ w / rows)

    height = objective(at)
    for _ in range(_STEPS):
        wrong = 1.0 / (1.0 + np.exp(np.clip(turned @ at, -700.0, 700.0)))
        slope = -turned.T @ wrong / rows + ridge * at + push / rows
        if np.linalg.norm(slope) < 1e-9:
            return at, True
        curve = (turned * (wrong * (1.0 - wrong))[:, None]).T @ turned / rows
        curve[np.diag_indices(dimension)] += ridge + 1e-12
        step = np.linalg.solve(curve, slope)
        share = 1.0
        while share > 1e-8 and objective(at - share * step) > height - 1e-4 * share * float(slope @ step):
            share /= 2.0
        at = at - share * step
        height = objective(at)
        if np.linalg.norm(at) > _RUNAWAY:
            return at, False
    return at, False
