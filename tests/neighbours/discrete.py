"""Pairs of laws with few outcomes, each probability a rational number: divergences by enumeration."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

from flint import arb

from tests.review.divergences import ball
from tests.review.tails import precision

Law = Mapping[Any, Fraction]
_BITS = 160


def divergence(first: Law, second: Law, epsilon: float) -> arb:
    """E_epsilon(first || second): the sum over outcomes of P - e^epsilon Q, where that is positive."""
    with precision(_BITS):
        top = ball(epsilon).exp()
        # Of the right sign but for the last of many digits: the set that is summed over is a set of outcomes.
        edge = Fraction(float(top.mid()))
        chosen = [one for one, chance in first.items() if chance > edge * second.get(one, Fraction(0))]
        p = sum((first[one] for one in chosen), Fraction(0))
        q = sum((second.get(one, Fraction(0)) for one in chosen), Fraction(0))
        return ball(p) - top * ball(q)


def divergences(first: Law, second: Law, epsilon: float) -> list[arb]:
    """Both directions."""
    return [divergence(first, second, epsilon), divergence(second, first, epsilon)]


def largest_loss(first: Law, second: Law) -> arb:
    """The largest log ratio, of either sign: exactly that of the outcomes that floats say are the worst."""
    about = {
        one: abs(math.log(float(chance) / float(second[one]))) for one, chance in first.items() if chance > 0
    }
    most = max(about.values()) * (1.0 - 1e-9)
    ratios = [first[one] / second[one] for one, loss in about.items() if loss >= most]
    with precision(_BITS):
        return ball(max(*ratios, *(1 / ratio for ratio in ratios))).log()


def together(*laws: Law) -> dict[Hashable, Fraction]:
    """Independent outcomes together."""
    joint: dict[Hashable, Fraction] = {(): Fraction(1)}
    for law in laws:
        joint = {
            (*seen, one): chance * more  # type: ignore[misc]
            for seen, chance in joint.items()
            for one, more in law.items()
        }
    return joint
